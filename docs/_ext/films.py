"""Saves the figures of the gallery, and films as GIF: matplotlib's player would load icons from the network."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.animation import Animation
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper

from ridgeway._style import STYLE

ORDER = [
    "forgetting_animated",
    "penguins",
    "islands_merged",
    "order_of_schools",
    "patient_withdraws",
    "digits_classes",
    "diabetes_measurements",
    "prior_learned",
    "exam_schools",
    "penguin_species",
    "flight_months",
    "wages_gap",
    "seat_belts",
    "paper_noise",
    "paper_shift",
    "twenty_tasks",
    "own_policy",
    "forget_on_evidence",
]
"""The examples from the first to read to the last."""


def place(name: str) -> int:
    """Return where an example stands in the gallery."""
    return ORDER.index(name.removeprefix("plot_").removesuffix(".py"))


def style(gallery_conf: Any, name: Any) -> None:
    """Give the figures of an example the look of all others."""
    mpl.rcParams.update(STYLE)


def scraper(block: Any, block_vars: Any, gallery_conf: Any) -> str:
    """Return the text that shows the figures of a block; `film` is the animation of `figure`."""
    found = block_vars["example_globals"]
    text, film, figure = "", found.get("film"), found.get("figure")
    if isinstance(film, Animation) and plt.fignum_exists(figure.number):
        path = Path(next(block_vars["image_path_iterator"])).with_suffix(".gif")
        film.save(path, writer="pillow", dpi=100)
        text = figure_rst([str(path)], gallery_conf["src_dir"], figure.get_suptitle())
        plt.close(figure)
    return text + matplotlib_scraper(block, block_vars, gallery_conf)
