"""The figures of a report. They show no text from the data; names are on the page, where a browser can show them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ridgeway import metrics
from ridgeway.report._method_result import MethodResult
from ridgeway.report._result import MethodComparison

# Okabe and Ito's colours, which colour-blind readers can distinguish; markers repeat the information.
COLOURS = ("#D55E00", "#CC79A7", "#E69F00", "#56B4E9", "#009E73", "#0072B2")
MARKERS = ("o", "s", "^", "D", "v", "P")
STYLE: dict[Any, Any] = {"svg.hashsalt": "ridgeway", "axes.spines.top": False, "axes.spines.right": False}


def draw_all(comparison: MethodComparison) -> Iterator[tuple[str, str, Figure]]:
    """Yield each figure as (name, description, figure); the description is its alternative text."""
    with rc_context(STYLE):
        what = comparison.measure.name
        yield "forgetting", f"{what.capitalize()} when learned, and after the last task", _forgetting(comparison)
        yield "average", f"Average {what} over the tasks seen so far, after each task", _average(comparison)
        yield "orders", f"Average {what} after the last task, for each task order", _orders(comparison)
        limits = _limits(comparison)
        for result in comparison.results:
            yield f"losses-{result.method.slug}", result.method.name, _losses(result, *limits)


def _limits(comparison: MethodComparison) -> tuple[float, float]:
    """Return the limits of the colours of all maps."""
    if comparison.measure.rises:
        return 0.0, 1.0
    losses = np.array([result.losses for result in comparison.results])
    return float(losses.min()), float(min(losses.max(), 1.5 * comparison.results[0].baseline.max()))


def _forgetting(comparison: MethodComparison) -> Figure:
    """Draw the loss of each method just after a task was learned, and after the last task."""
    figure, axes = _lanes(comparison, "hollow: when learned; filled: at the end")
    measure = comparison.measure
    beside = -13 if measure.rises else -4  # below the line that leads to a higher accuracy
    for place, result in enumerate(comparison.results[::-1]):
        colour, marker = _look(comparison, result)
        learned, kept = measure.value(np.array([result.learned_loss, result.kept_loss]))
        axes.plot([learned, kept], [place, place], color=colour, linewidth=2.5, zorder=1)
        axes.plot(learned, place, marker, color="white", markeredgecolor=colour, markersize=8)
        axes.plot(kept, place, marker, color=colour, markersize=8)
        if result.forgets:
            label = measure.mark(result.forgetting, result.learned_loss)
            axes.annotate(label, (kept, place), (8, beside), textcoords="offset points", color=colour)
    axes.margins(x=0.16)
    return figure


def _average(comparison: MethodComparison) -> Figure:
    figure, axes = _panel(3.6)
    tasks = np.arange(1, len(comparison.tasks) + 1)
    for result in comparison.results:
        colour, marker = _look(comparison, result)
        oracle = result.method.key == "oracle"
        axes.plot(
            tasks,
            comparison.measure.value(metrics.average_loss(result.losses)),
            color=colour,
            marker="" if oracle else marker,
            markersize=4,
            linestyle=":" if oracle else "-",
            linewidth=2.5 if oracle else 1.5,
            zorder=3 if oracle else 2,
            label=result.method.name,
        )
    axes.set(xlabel="tasks learned", ylabel=comparison.measure.unit)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(frameon=False, fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def _orders(comparison: MethodComparison) -> Figure:
    n_orders = len(comparison.results[0].order_losses)
    figure, axes = _lanes(comparison, f"one mark for each of {n_orders} task orders")
    for place, result in enumerate(comparison.results[::-1]):
        colour, marker = _look(comparison, result)
        values = comparison.measure.value(result.order_losses)
        axes.plot(values, np.full(n_orders, place), marker, color=colour, alpha=0.7, markersize=7)
    return figure


def _losses(result: MethodResult, floor: float, ceiling: float) -> Figure:
    n_tasks = len(result.losses)
    figure = Figure(figsize=(3.6, 3.2), layout="constrained")
    axes = figure.add_subplot()
    edges = np.arange(n_tasks + 1) + 0.5
    values, colours = result.measure.value(result.losses), "cividis" if result.measure.rises else "cividis_r"
    mesh = axes.pcolormesh(edges, edges, values, cmap=colours, vmin=floor, vmax=ceiling, rasterized=True)
    stairs = np.repeat(edges, 2)
    axes.plot(stairs[1:-1], stairs[:-2], color="white", linewidth=1.2)
    axes.invert_yaxis()
    axes.set(xlabel="on task", ylabel="after task", aspect="equal")
    first, step = (1, 1) if n_tasks <= 12 else (5, 5 * (n_tasks // 40 + 1))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(np.arange(first, n_tasks + 1, step))
    figure.colorbar(mesh, ax=axes, extend="max" if values.max() > ceiling else "neither", shrink=0.85)
    return figure


def _lanes(comparison: MethodComparison, title: str) -> tuple[Figure, Axes]:
    """Return a panel with one line per method, the first at the top."""
    names = [result.method.name for result in comparison.results[::-1]]
    figure, axes = _panel(1.1 + 0.42 * len(names))
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel=comparison.measure.unit)
    axes.set_title(title, fontsize=10)
    return figure, axes


def _panel(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(4.8, height), layout="constrained")
    axes = figure.add_subplot()
    axes.grid(alpha=0.3)
    return figure, axes


def _look(comparison: MethodComparison, result: MethodResult) -> tuple[str, str]:
    """Return the colour and the marker of a method; the oracle is black."""
    if result.method.key == "oracle":
        return "black", "x"
    number = [other.method.key for other in comparison.results if other.method.key != "oracle"].index(result.method.key)
    return COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
