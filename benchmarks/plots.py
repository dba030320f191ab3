"""The pictures of docs/benchmarks.md: ratios beside their bars, and how times grow."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

from benchmarks.bars import KINDS, speed_bar
from benchmarks.contenders import NUMPY, PEER, RIVER, SGD, TORCH
from benchmarks.scaling import AXES, FIT_FROM, NAMES, Point, exponent
from benchmarks.speed import Result
from ridgeway._style import BLACK, BLUE, GREY, METHODS, PURPLE, STYLE, shade

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
    RIVER: METHODS["river"],
    SGD: METHODS["sgd"],
}


def draw_ratios(results: Sequence[Result], path: Path) -> None:
    """Draw the ratios of every cell on a line of its own, and the bars as upright strokes in the same colours."""
    figure, axes = plt.subplots(figsize=(8.0, 0.55 * len(results) + 1.4), layout="constrained")
    for row, result in enumerate(results):
        cell = result.cell
        for name in result.seconds:
            colour, marker = STYLES[name]
            kind = KINDS.index(name) if name in KINDS else None
            level = row + (0.0 if kind is None else (-0.2, 0.2)[kind])
            ratio = result.ratio(name)
            size, alpha = (34, 1.0) if kind is not None or name == PEER else (22, 0.75)
            axes.scatter(ratio, level, s=size, color=colour, marker=marker, alpha=alpha, zorder=3, linewidths=0)
            bar = speed_bar(cell.n_samples, cell.n_features, every=cell.every, kind=name)
            if bar:
                axes.vlines(bar, level - 0.17, level + 0.17, color=colour, linewidth=2.5)
    axes.axvline(1.0, color="black", linewidth=0.8, zorder=1)
    axes.set_yticks(
        range(len(results)), [f"({r.cell.n_samples}, {r.cell.n_features}), {r.cell.asked}" for r in results]
    )
    axes.set(xscale="log", ylim=(len(results) - 0.5, -0.5))
    axes.set_xlabel(f"time relative to {PEER} (left is faster); upright strokes are the bars")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    shown = list(dict.fromkeys(name for r in results for name in r.seconds))
    for name in shown:
        axes.scatter([], [], color=STYLES[name][0], marker=STYLES[name][1], label=name)
    title = "A marker to the left of its stroke meets the bar"
    figure.legend(loc="outside upper center", ncols=4, frameon=False, title=title)
    _save(path)


def draw_scaling(points: Sequence[Point], path: Path) -> None:
    """Draw time per task against n and p on logarithmic axes, with the fitted exponents in the legend."""
    figure, panels = plt.subplots(1, 2, figsize=(9.0, 4.2), layout="constrained")
    for axes, axis in zip(panels, AXES, strict=True):
        _draw_axis(axes, points, axis)
    panels[0].set_ylabel("seconds per task")
    figure.suptitle("The time of one more task against its size, coefficients not asked for")
    _save(path)


def _draw_axis(axes: Axes, points: Sequence[Point], axis: str) -> None:
    chosen = [point for point in points if point.axis == axis]
    for name in NAMES:
        colour, marker = STYLES[name]
        slope = exponent(points, axis, name)
        times = [point.median(name) for point in chosen]
        sizes = [point.size for point in chosen]
        axes.plot(sizes, times, color=colour, marker=marker, markersize=5, label=rf"{name}: ${axis}^{{{slope:.2f}}}$")
    axes.axvline(FIT_FROM[axis], color="0.6", linestyle=":", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel=AXES[axis] + "; exponents fitted right of the dotted line")
    axes.xaxis.label.set_fontsize(9)
    axes.legend(frameon=False, fontsize=9)


def _save(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    plt.savefig(path, dpi=90)
    plt.close()
