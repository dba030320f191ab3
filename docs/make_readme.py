"""Make the picture of the README: who forgets, on the bundled penguins."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib.figure import Figure

from ridgeway import datasets, report
from ridgeway._style import STYLE
from ridgeway.report._figures import draw_all

PICTURE = Path(__file__).with_name("images") / "penguins.png"
METHODS = ("mn", "es", "crr", "sgd", "gr", "oracle")
"""Without those that need an optional package."""


def picture() -> Figure:
    """Return the figure of forgetting of a report, in the words of the penguins."""
    comparison = report.compare(datasets.load_penguins(), methods=METHODS)
    drawn = {name: figure for name, _, figure in draw_all(comparison)}
    figure = drawn["forgetting"]
    figure.suptitle(
        "Penguins on three islands in three years, learned one group at a time:\n"
        "four methods forget the earlier groups, GeneralizedRidge does not",
        x=0.02,
        ha="left",
        fontsize=10.5,
    )
    (axes,) = figure.axes
    axes.set_ylabel("error in predicted body mass (g)")
    axes.set_xticklabels(["just after a group\nwas learned", "after the\nlast group"])
    return figure


def main() -> None:
    """Write the picture."""
    with mpl.rc_context(STYLE):
        picture().savefig(PICTURE, dpi=160, metadata={"Software": None})


if __name__ == "__main__":
    main()
