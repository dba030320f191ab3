"""The figures about methods: lines have labels, a method keeps its colour, and the picture of the README is today's."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from figures import texts
from matplotlib import image, rc_context
from matplotlib.colors import to_hex
from report.tables import shifted

from ridgeway import catalogue, report
from ridgeway._style import BLUE, STYLE
from ridgeway.report._figures import draw_all

ROOT = Path(__file__).parents[2]


def drawn(methods):
    frame = shifted(np.random.default_rng(12))
    found = report.compare(frame, target="y", task_column="site", methods=methods)
    return found, {name: figure for name, _, figure in draw_all(found)}


@pytest.fixture(scope="module")
def several():
    return drawn(["mn", "crr:0.1", "crr:1", "gr"])


@pytest.fixture(scope="module")
def single():
    return drawn(["gr"])


def colours(figure, places=2):
    """Return the colours of the lines by the last values that they show."""
    lines = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) == places]
    return {float(line.get_ydata()[-1]): to_hex(line.get_color()).upper() for line in lines}


def test_a_line_of_forgetting_goes_from_learned_to_kept(several):
    found, figures = several
    axes = figures["forgetting"].axes[0]
    for line, result in zip(axes.get_lines(), found.results, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), [[0.0, result.learned_loss], [1.0, result.kept_loss]])
    labels = [text.get_text() for text in axes.texts]
    assert f"MinimumNorm +{found['mn'].kept_loss / found['mn'].learned_loss - 1.0:.0%}" in labels
    assert "Oracle (keeps all rows)" in labels
    assert len(labels) == len(found.results) == len(axes.get_lines())
    assert axes.get_legend() is None
    forgetful = sum(result.forgets for result in found.results)
    assert figures["forgetting"].get_suptitle().startswith(f"{forgetful} of 4 methods forget")


def test_every_figure_says_what_to_see_and_has_a_unit(several):
    _, figures = several
    for name, figure in figures.items():
        assert len(figure.get_suptitle().split()) >= 5, name
        assert any("unit of the target" in text for text in texts(figure)), name


def test_the_colour_of_a_method_is_the_same_in_another_company(several, single):
    (found, figures), (_, others) = several, single
    for name, places in (("forgetting", 2), ("average", len(found.tasks))):
        last = {"forgetting": "kept_loss", "average": "average_loss"}[name]
        many, few = colours(figures[name], places), colours(others[name], places)
        mine = [many[value] for value in many if value == pytest.approx(getattr(found["gr"], last), rel=1e-12)]
        assert BLUE.upper() in mine
        assert BLUE.upper() in few.values()


def test_if_nobody_forgets_the_title_says_so(single):
    _, figures = single
    assert figures["forgetting"].get_suptitle() == "No method forgets: the error on earlier tasks does not rise"


def test_the_picture_of_the_readme_is_the_one_that_is_made(tmp_path):
    made = runpy.run_path(str(ROOT / "docs" / "make_readme.py"))
    assert set(made["METHODS"]) == set(catalogue.COMPARED["gaussian"]) - {"river"}
    figure = made["picture"]()
    with rc_context(STYLE):
        figure.savefig(tmp_path / "now.png", dpi=160)
    before, now = image.imread(made["PICTURE"]), image.imread(tmp_path / "now.png")
    assert before.shape == now.shape
    assert np.abs(before - now).mean() < 1e-3
    assert np.abs(np.roll(before, 20, axis=0) - now).mean() > 1e-2  # the control
    labels = {text.get_text() for text in figure.axes[0].texts}
    alternative = re.search(
        r"!\[([^]]*)\]\(docs/images/penguins.png\)", (ROOT / "README.md").read_text(encoding="utf-8")
    )
    said = re.findall(r"by (\d+) %", alternative[1])
    assert said
    shown = {label.rpartition(" +")[2] for label in labels}
    assert {f"{percent}%" for percent in said} <= shown
    assert "99%" not in shown


def test_the_oracle_can_be_drawn_alone():
    _, figures = drawn(["oracle"])
    assert figures["average"].get_suptitle() == "The average error over the tasks seen so far"
