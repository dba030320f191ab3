"""The pictures of docs/benchmarks.md: ratios beside their bars, and how times grow."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np

from benchmarks.bars import KINDS, speed_bar
from benchmarks.contenders import NUMPY, PEER, RIVER, SGD, TORCH
from benchmarks.scaling import AXES, FIT_FROM, NAMES, Point, exponent
from benchmarks.speed import Result
from ridgeway._style import BLACK, BLUE, GREY, PURPLE, STYLE, ink, label_ends, shade, spread
from ridgeway.catalogue import looks

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

mpl.rcParams.update(STYLE)

# Both kinds of ours are blue, and peers have their colours of all figures.
STYLES = {
    "moments": (shade(BLUE, -0.4), "o"),
    "square_root": (BLUE, "s"),
    PEER: (BLACK, "D"),
    NUMPY: (GREY, "^"),
    TORCH: (PURPLE, "v"),
    RIVER: looks(["river"])["river"],
    SGD: looks(["sgd"])["sgd"],
}
LEVELS: dict[str, float] = dict(zip(KINDS, (-0.2, 0.2), strict=True))
"""How far above or below the middle of a line our markers are, so that their bars do not overlap."""


WIDTH, ROW, TITLE = 8.0, 0.5, 10.5
"""Inches of the figure of ratios, and of one of its lines; points of the titles."""


def draw_ratios(results: Sequence[Result], path: Path) -> None:
    """Draw the ratios of every cell on a line of its own, and the bars as upright strokes in the same colours."""
    figure, axes = plt.subplots(figsize=(WIDTH, ROW * len(results) + 1.9), layout="constrained")
    for row, result in enumerate(results):
        _draw_cell(axes, row, result)
    axes.axvline(1.0, color=BLACK, linewidth=0.8, zorder=1)
    axes.set_yticks(
        range(len(results)), [f"({r.cell.n_samples}, {r.cell.n_features}), {r.cell.asked}" for r in results]
    )
    axes.set(xscale="log", ylim=(len(results) - 0.5, -0.6))
    axes.set_xlabel(f"time relative to {PEER} (left is faster)")
    axes.set_ylabel("(rows, features) of a task, and when coefficients are asked for")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    _name_contenders(axes, results[0])
    counts = ", ".join(f"{kind} in {_met(results, kind)} of {len(results)}" for kind in KINDS)
    figure.suptitle(f"A marker left of its upright stroke meets the bar:\n{counts}", fontsize=TITLE)
    _save(path)


def _draw_cell(axes: Axes, row: int, result: Result) -> None:
    """Draw the markers of one cell, and its bars."""
    for name in result.seconds:
        colour, marker = STYLES[name]
        level = row + LEVELS.get(name, 0.0)
        size, alpha = (34, 1.0) if name in KINDS or name == PEER else (22, 0.75)
        axes.scatter(
            result.ratio(name), level, s=size, color=colour, marker=marker, alpha=alpha, zorder=3, linewidths=0
        )
        if bar := _bar(result, name):
            axes.vlines(bar, level - 0.17, level + 0.17, color=colour, linewidth=2.5)


def _bar(result: Result, name: str) -> float | None:
    cell = result.cell
    return speed_bar(cell.n_samples, cell.n_features, every=cell.every, kind=name)


def _met(results: Sequence[Result], kind: str) -> int:
    """Return the number of cells in which a kind meets its bar."""
    return sum(result.ratio(kind) <= (_bar(result, kind) or np.inf) for result in results)


def _name_contenders(axes: Axes, first: Result) -> None:
    """Write the names above the first cell, each above its marker, moved apart if they overlap."""
    axes.get_xlim()  # limits that depend on the data are set now
    to_axes = axes.transScale + axes.transLimits
    wanted = sorted((float(to_axes.transform((first.ratio(name), 0.0))[0]), name) for name in first.seconds)
    for place, (_, name) in zip(spread([place for place, _ in wanted], 0.06), wanted, strict=True):
        axes.text(
            place, 1.01, name, transform=axes.transAxes, color=ink(STYLES[name][0]), fontsize=8.5, rotation=35,
            rotation_mode="anchor", va="center",
        )  # fmt: skip


def draw_scaling(points: Sequence[Point], path: Path) -> None:
    """Draw time per task against n and p on logarithmic axes, with names and fitted exponents where lines end."""
    height = 4.0
    figure, panels = plt.subplots(1, 2, figsize=(9.6, height), layout="constrained")
    for axes, axis in zip(panels, AXES, strict=True):
        _draw_axis(axes, points, axis, 0.75 * height)
    panels[0].set_ylabel("seconds per task, coefficients not asked for")
    grows = " and ".join(rf"${axis}^{{{exponent(points, axis, KINDS[0]):.2f}}}$" for axis in AXES)
    figure.suptitle(f"The time of one more task grows like {grows} ({KINDS[0]})", fontsize=TITLE)
    _save(path)


def _draw_axis(axes: Axes, points: Sequence[Point], axis: str, height: float) -> None:
    chosen = [point for point in points if point.axis == axis]
    sizes = [point.size for point in chosen]
    ends = []
    for name in NAMES:
        colour, marker = STYLES[name]
        times = [point.median(name) for point in chosen]
        axes.plot(sizes, times, color=colour, marker=marker, markersize=5)
        ends.append((times[-1], rf"{name}, ${axis}^{{{exponent(points, axis, name):.2f}}}$", colour))
    axes.axvline(FIT_FROM[axis], color=GREY, linestyle=":", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel=AXES[axis])
    axes.text(FIT_FROM[axis], 0.02, " exponents\n fitted from here", transform=axes.get_xaxis_transform(), fontsize=8)
    label_ends(axes, ends, height)


def _save(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    plt.savefig(path, dpi=130)
    plt.close()
