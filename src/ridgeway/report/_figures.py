"""The figures of a report. They show no text from the data; names are on the page, where a browser can show them."""

from collections.abc import Iterator
from textwrap import fill

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ridgeway import metrics
from ridgeway._style import STYLE, label_ends, looks
from ridgeway.report._result import MethodComparison, MethodResult

UNIT = "error, in the unit of the target"
ORACLE = "oracle"
WIDTH, HEIGHT, LABELS = 5.6, 3.9, 1.75
"""Inches: of a figure of lines, and of the labels to its right."""


def draw_all(comparison: MethodComparison) -> Iterator[tuple[str, str, Figure]]:
    """Yield each figure as (name, description, figure); the description is its alternative text."""
    with rc_context(STYLE):
        yield "forgetting", "Error when learned, and after the last task", _forgetting(comparison)
        yield "average", "Average error over the tasks seen so far, after each task", _average(comparison)
        yield "orders", "Average error after the last task, for each task order", _orders(comparison)
        losses = np.array([result.losses for result in comparison.results])
        floor, ceiling = float(losses.min()), float(min(losses.max(), 1.5 * comparison.results[0].baseline.max()))
        for result in comparison.results:
            yield f"losses-{result.method.slug}", result.method.name, _losses(result, floor, ceiling)


def _forgetting(comparison: MethodComparison) -> Figure:
    """Draw the error of each method just after a task was learned, and after the last task, as a slope."""
    methods = [result for result in comparison.results if result.method.key != ORACLE]
    forgetful = sum(result.forgets for result in methods)
    title = f"{forgetful} of {len(methods)} methods forget: their error on earlier tasks rises"
    figure, axes = _panel(title if forgetful else "No method forgets: the error on earlier tasks does not rise")
    ends = []
    for result in comparison.results:
        colour, marker, line = _look(comparison, result)
        errors = [result.learned_loss, result.kept_loss]
        axes.plot([0, 1], errors, line, color=colour, marker=marker, linewidth=2.0, clip_on=False)
        ends.append((result.kept_loss, _ending(result), colour))
    axes.set(xlim=(-0.1, 1.0), ylabel=f"{UNIT},\non all tasks but the last")
    axes.set_xticks([0, 1], ["just after a task\nwas learned", "after the\nlast task"])
    axes.margins(y=0.12)
    label_ends(axes, ends, 0.7 * HEIGHT)
    return figure


def _ending(result: MethodResult) -> str:
    """Return the label of a line of forgetting: how far the error rises, or falls."""
    if result.method.key == ORACLE:
        return f"{result.method.name} (keeps all rows)"
    changed = result.forgets or result.rise <= -0.005
    return f"{result.method.name} {result.rise:+.0%}".replace("-", "−") if changed else result.method.name


def _average(comparison: MethodComparison) -> Figure:
    methods = sorted(
        (result for result in comparison.results if result.method.key != ORACLE), key=lambda each: each.average_loss
    )
    said = f"{methods[0].method.name} has the smallest average error after the last task"
    figure, axes = _panel(said if len(methods) > 1 else "The average error over the tasks seen so far")
    tasks = np.arange(1, len(comparison.tasks) + 1)
    ends = []
    for result in comparison.results:
        colour, marker, line = _look(comparison, result)
        errors = metrics.average_loss(result.losses)
        axes.plot(tasks, errors, line, color=colour, marker=marker, markersize=4)
        ends.append((float(errors[-1]), result.method.name, colour))
    axes.set(xlabel="tasks learned", ylabel=f"{UNIT},\naveraged over the tasks so far")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    label_ends(axes, ends, 0.7 * HEIGHT)
    return figure


def _orders(comparison: MethodComparison) -> Figure:
    """Draw one line per method, the first at the top, with a mark for each order."""
    results = comparison.results[::-1]
    most = max(results, key=lambda each: each.spread)
    said = f"The order of the tasks matters most to {most.method.name}: its errors differ by up to {most.spread:.3g}"
    figure = Figure(figsize=(WIDTH, 1.5 + 0.36 * len(results)), layout="constrained")
    axes = figure.add_subplot()
    n_orders = len(results[0].order_losses)
    for place, result in enumerate(results):
        colour, marker, _ = _look(comparison, result)
        axes.plot(result.order_losses, np.full(n_orders, place), marker, color=colour, alpha=0.7, markersize=7)
    axes.set_yticks(range(len(results)), [result.method.name for result in results])
    axes.set(xlabel=f"{UNIT}, after the last task\none mark for each of {n_orders} task orders")
    _name(figure, said)
    return figure


def _losses(result: MethodResult, floor: float, ceiling: float) -> Figure:
    n_tasks = len(result.losses)
    figure = Figure(figsize=(3.6, 3.2), layout="constrained")
    axes = figure.add_subplot()
    edges = np.arange(n_tasks + 1) + 0.5
    mesh = axes.pcolormesh(edges, edges, result.losses, cmap="cividis_r", vmin=floor, vmax=ceiling, rasterized=True)
    stairs = np.repeat(edges, 2)
    axes.plot(stairs[1:-1], stairs[:-2], color="white", linewidth=1.2)
    axes.invert_yaxis()
    axes.set(xlabel="on task", ylabel="after task", aspect="equal")
    axes.grid(visible=False)
    first, step = (1, 1) if n_tasks <= 12 else (5, 5 * (n_tasks // 40 + 1))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(np.arange(first, n_tasks + 1, step))
    bar = figure.colorbar(mesh, ax=axes, extend="max" if result.losses.max() > ceiling else "neither", shrink=0.85)
    bar.set_label(UNIT, fontsize=8)
    said = "earlier tasks get worse" if result.forgets else "earlier tasks stay as they were"
    figure.suptitle(fill(f"{result.method.name}: {said}", 44), fontsize=9)
    return figure


def _panel(title: str) -> tuple[Figure, Axes]:
    """Return a figure of lines, with room to the right for their labels."""
    figure = Figure(figsize=(WIDTH, HEIGHT))
    figure.subplots_adjust(left=0.17, right=1.0 - LABELS / WIDTH, bottom=0.15, top=0.88)
    _name(figure, title)
    return figure, figure.add_subplot()


def _name(figure: Figure, title: str) -> None:
    """Write the title, in two lines if it is long."""
    figure.suptitle(fill(title, 64), x=0.02, ha="left", fontsize=10.5)


def _look(comparison: MethodComparison, result: MethodResult) -> tuple[str, str, str]:
    """Return the colour, the marker and the line of a method; that of the oracle is dotted, so that others show."""
    colour, marker = looks(each.method.key for each in comparison.results)[result.method.key]
    return colour, marker, ":" if result.method.key == ORACLE else "-"
