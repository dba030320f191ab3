"""The figures of a report. They show no text from the data; names are on the page, where a browser can show them."""

from collections.abc import Iterator
from textwrap import fill

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ridgeway import metrics
from ridgeway._style import STYLE, label_ends
from ridgeway.catalogue import looks
from ridgeway.report._method_result import MethodResult
from ridgeway.report._result import MethodComparison

ORACLE = "oracle"
WIDTH, HEIGHT, LABELS, CHARACTER = 5.6, 3.9, 1.75, 0.073
"""Inches: of a figure of lines, of the labels to its right, and of a character if they are longer."""


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
    """Draw the loss or accuracy of each method just after a task was learned, and after the last task, as a slope."""
    methods = [result for result in comparison.results if result.method.key != ORACLE]
    forgetful = sum(result.forgets for result in methods)
    measure = comparison.measure
    name, moves, move = measure.name, *(("falls", "fall") if measure.rises else ("rises", "rise"))
    title = f"{forgetful} of {len(methods)} methods forget: their {name} on earlier tasks {moves}"
    figure, axes = _panel(title if forgetful else f"No method forgets: the {name} on earlier tasks does not {move}")
    _label(figure, axes, slopes(comparison, axes))
    return figure


def slopes(comparison: MethodComparison, axes: Axes) -> list[tuple[float, str, str]]:
    """Draw a line for each method; return their ends as `label_ends` takes them."""
    ends, measure = [], comparison.measure
    for result in comparison.results:
        colour, marker, line = _look(comparison, result)
        values = measure.value(np.array([result.learned_loss, result.kept_loss]))
        axes.plot([0, 1], values, line, color=colour, marker=marker, linewidth=2.0, clip_on=False)
        ends.append((float(values[1]), _ending(result), colour))
    axes.set(xlim=(-0.1, 1.0), ylabel=f"{measure.unit},\non all tasks but the last")
    axes.set_xticks([0, 1], ["just after a task\nwas learned", "after the\nlast task"])
    axes.margins(y=0.12)
    return ends


def _ending(result: MethodResult) -> str:
    """Return the label of a line of forgetting: how far the loss rises, or falls."""
    if result.method.key == ORACLE:
        return f"{result.method.name} (keeps all rows)"
    changed = result.forgets or result.rise <= -0.005
    mark = result.measure.mark(result.forgetting, result.learned_loss)
    return f"{result.method.name} {mark}" if changed else result.method.name


def _average(comparison: MethodComparison) -> Figure:
    methods = sorted(
        (result for result in comparison.results if result.method.key != ORACLE), key=lambda each: each.average_loss
    )
    measure = comparison.measure
    said = f"The average {measure.name} over the tasks seen so far"
    if len(methods) > 1:
        best = f"{'highest' if measure.rises else 'smallest'} average {measure.name}"
        said = f"{methods[0].method.name} has the {best} after the last task"
    figure, axes = _panel(said)
    tasks = np.arange(1, len(comparison.tasks) + 1)
    ends = []
    for result in comparison.results:
        colour, marker, line = _look(comparison, result)
        values = measure.value(metrics.average_loss(result.losses))
        axes.plot(tasks, values, line, color=colour, marker=marker, markersize=4)
        ends.append((float(values[-1]), result.method.name, colour))
    axes.set(xlabel="tasks learned", ylabel=f"{measure.unit},\naveraged over the tasks so far")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _label(figure, axes, ends)
    return figure


def _orders(comparison: MethodComparison) -> Figure:
    """Draw one line per method, the first at the top, with a mark for each order."""
    results = comparison.results[::-1]
    most = max(results, key=lambda each: each.spread)
    measure = comparison.measure
    apart = f"{measure.shown_change(most.spread)} points" if measure.rises else f"{most.spread:.3g}"
    said = f"The order of the tasks matters most to {most.method.name}: its {measure.plural} differ by up to {apart}"
    figure = Figure(figsize=(WIDTH, 1.5 + 0.36 * len(results)), layout="constrained")
    axes = figure.add_subplot()
    n_orders = len(results[0].order_losses)
    for place, result in enumerate(results):
        colour, marker, _ = _look(comparison, result)
        values = measure.value(result.order_losses)
        axes.plot(values, np.full(n_orders, place), marker, color=colour, alpha=0.7, markersize=7)
    axes.set_yticks(range(len(results)), [result.method.name for result in results])
    axes.set(xlabel=f"{measure.unit}, after the last task\none mark for each of {n_orders} task orders")
    _name(figure, said)
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
    axes.grid(visible=False)
    first, step = (1, 1) if n_tasks <= 12 else (5, 5 * (n_tasks // 40 + 1))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(np.arange(first, n_tasks + 1, step))
    bar = figure.colorbar(mesh, ax=axes, extend="max" if values.max() > ceiling else "neither", shrink=0.85)
    bar.set_label(result.measure.unit, fontsize=8)
    said = "earlier tasks get worse" if result.forgets else "earlier tasks stay as they were"
    figure.suptitle(fill(f"{result.method.name}: {said}", 44), fontsize=9)
    return figure


def _label(figure: Figure, axes: Axes, ends: list[tuple[float, str, str]]) -> None:
    """Write labels at the ends of lines, and make the figure wider if they are long."""
    more = max(0.0, CHARACTER * max(len(text) for _, text, _ in ends) - LABELS)
    width = WIDTH + more
    figure.set_size_inches(width, HEIGHT)
    figure.subplots_adjust(left=0.17 * WIDTH / width, right=1.0 - (LABELS + more) / width)
    label_ends(axes, ends, 0.7 * HEIGHT)


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
