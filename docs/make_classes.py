"""Make the results in docs/classification.md, a table and a figure, from docs/classes.json."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from matplotlib.figure import Figure
from paper_figures import label, panels

from ridgeway._style import BLACK, BLUE, OTHERS, ink, shade
from ridgeway.catalogue import looks

PAGE = Path(__file__).with_name("classification.md")
RESULTS: dict[str, Any] = json.loads(PAGE.with_name("classes.json").read_text(encoding="utf-8"))
START, END = "<!-- results: made by `make classes` -->\n", "<!-- end of results -->\n"
FIGURE = "\n![Accuracy on the classes seen so far, after each class](images/classes.png)\n"
PUBLISHED = {"MNIST": 98.3}
SGD, MLP = looks(["sgd"])["sgd"], OTHERS[0]
STYLES = ((BLUE, "-", "P"), (shade(BLUE, -0.4), "--", "P"), (SGD[0], "-", SGD[1]), (MLP[0], ":", MLP[1]))
HEIGHTS = (81.0, 73.0, 38.0, 30.0)
"""Where the names of the lines stand."""


def main() -> None:
    """Draw the figure, and put it into the page with the table."""
    curves().savefig(PAGE.with_name("images") / "classes.png", dpi=150)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    PAGE.write_text(before + START + "".join(table()) + FIGURE + END + after, encoding="utf-8")


def lines_of(found: dict[str, Any]) -> dict[str, list[float]]:
    """Return the curves of a data set by name."""
    own: dict[str, list[float]] = {f"GeneralizedRidge, p = {run['p']:,}": run["curve"] for run in found["runs"]}
    own.update(found["contrast"]["curves"])
    return own


def curves() -> Figure:
    """Draw the accuracy on the classes seen so far, after each class."""
    figure, axes = panels(len(RESULTS))
    for axis, (name, found) in zip(axes, RESULTS.items(), strict=True):
        for number, ((what, curve), (colour, dashes, marker)) in enumerate(
            zip(lines_of(found).items(), STYLES, strict=True)
        ):
            axis.plot(np.arange(1, len(curve) + 1), curve, color=colour, ls=dashes, marker=marker, ms=5)
            axis.text(10.2, HEIGHTS[number], what, color=ink(colour), fontsize=9, ha="right")
        if name in PUBLISHED:
            axis.axhline(PUBLISHED[name], color=BLACK, lw=1, ls=":")
            axis.text(10.2, 65.0, f"dotted: RanDumb, published, {PUBLISHED[name]} %", fontsize=9, ha="right")
        axis.set_ylim(0.0, 104.0)
        label(axis, f"{name}: one method keeps every class", "classes learned", "% correct, of the classes seen")
    return figure


def table() -> Iterator[str]:
    """Yield the lines of the table, in Markdown."""
    yield f"| | {' | '.join(RESULTS)} |\n|---|{'---:|' * len(RESULTS)}\n"
    for what in lines_of(next(iter(RESULTS.values()))):
        yield _line(f"`{what.replace(',', '`,', 1)}" if "," in what else f"`{what}`", "{:.2f} %", what)
    runs = [found["runs"] for found in RESULTS.values()]
    for number, run in enumerate(runs[0]):
        times = [f"{each[number]['seconds']:.0f} s, {each[number]['bytes'] / 1e9:.1f} GB" for each in runs]
        yield f"| time and memory, p = {run['p']:,} | {' | '.join(times)} |\n"
    changed = [found["contrast"]["changed"] for found in RESULTS.values()]
    counts = " | ".join(str(sum(each)) for each in changed)
    yield f"| test images that any of {len(changed[0])} random orders of the classes changes | {counts} |\n"


def _line(title: str, form: str, what: str) -> str:
    values = (form.format(lines_of(found)[what][-1]) for found in RESULTS.values())
    return f"| {title} | {' | '.join(values)} |\n"


if __name__ == "__main__":
    main()
