"""The forest plot: one coefficient in each task, and in all of them together."""

from collections.abc import Sequence
from math import ceil

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._style import BLACK, BLUE, GREEN, GREY, PALE
from ridgeway.cli._drawing import (
    SMALL,
    TIE,
    UNIT,
    WIDTH,
    clear,
    finish,
    interval,
    limits,
    named,
    shown,
)
from ridgeway.retrospect import MetaAnalysis

MOST_ROWS = 50
"""More tasks are sorted, with a name here and there and no numbers."""
PITCH, CLOSE = 0.2, 0.14
"""Inches between tasks, and those that a name needs if there are many."""
TALLEST, CROWDED = MOST_ROWS * CLOSE, 5.0
"""Inches for all tasks at most, with a name each and without."""
FEW = 20
"""Degrees of freedom below which a standard error should not be taken as known."""
POOLED = {"fixed: one for all tasks": "fixed", "random: mean over tasks": "random"}


def forest(found: MetaAnalysis) -> Figure:
    """Draw the estimates of a coefficient by each task, sized by precision, and the pooled ones; for one target."""
    n_tasks = len(found.tasks)
    crowded = n_tasks > MOST_ROWS
    pitch = min(PITCH, (CROWDED if crowded else TALLEST) / n_tasks)
    unit = PITCH / pitch  # the height of a row of text, in tasks
    order = np.argsort(found.coef, kind="stable") if crowded else np.arange(n_tasks)
    places = n_tasks - 1 + unit * np.array([1.6, 2.7, 3.8])
    figure = Figure(figsize=(WIDTH, 1.6 + pitch * n_tasks + 4.0 * PITCH), layout="constrained")
    axes = figure.add_subplot()
    always = [*clear(found.coef, found.intervals), *found.fixed_interval, *found.random_interval]
    bounds = limits([found.coef, *found.intervals.T], always)
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    axes.axvline(found.random, color=GREEN, linewidth=0.8, linestyle=":")
    _draw_tasks(axes, found, order, bounds, 72.0 * pitch)
    _draw_pooled(axes, found, places, 0.36 * unit, bounds)
    named_tasks = range(0, n_tasks, ceil(CLOSE / pitch - 1e-9))
    labels = [*(shown(found.tasks[order[i]], 32) for i in named_tasks), *POOLED, "a further task"]
    axes.set_yticks([*named_tasks, *places], labels, fontsize=SMALL)
    _write_numbers(axes, found, places, -1.1 * unit)
    axes.set(xlim=bounds, ylim=(places[-1] + unit, -0.7 * unit))
    axes.set_xlabel(f"coefficient of {shown(found.terms[0], 32)}, {UNIT}", fontsize=SMALL)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=SMALL)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", alpha=0.3)
    return finish(figure, _title(found), _notes(found, crowded))


def _draw_tasks(
    axes: Axes, found: MetaAnalysis, order: NDArray[np.intp], bounds: tuple[float, float], pitch: float
) -> None:
    """Draw a line for each interval and a square for each estimate, its area in proportion to the precision.

    `pitch` is in points.
    """
    n_tasks = len(order)
    for place, ends in enumerate(found.intervals[order]):
        _draw_line(axes, place, ends, bounds, BLUE, min(1.3, 0.4 * pitch))
    errors = found.standard_errors[order]
    best = np.min(errors[errors > 0.0], initial=np.inf)
    share = np.square(np.divide(best, errors, out=np.zeros(n_tasks), where=np.isfinite(errors) & (errors > 0.0)))
    largest = min(9.0, 0.75 * pitch)
    sizes = np.maximum(share * largest**2, min(2.0, largest) ** 2)
    axes.scatter(found.coef[order], np.arange(n_tasks), s=sizes, marker="s", color=BLUE, zorder=3, linewidths=0)


def _draw_line(axes: Axes, place: float, ends: Array, bounds: tuple[float, float], colour: str, width: float) -> None:
    """Draw an interval, with an arrow at the edge if it goes beyond."""
    low, high = ends
    axes.plot(np.clip(ends, *bounds), [place, place], color=colour, linewidth=width, solid_capstyle="butt", zorder=2)
    for beyond, end, marker in ((low < bounds[0], bounds[0], "<"), (high > bounds[1], bounds[1], ">")):
        if beyond:
            axes.plot(end, place, marker, color=colour, markersize=4, clip_on=False, zorder=3)


def _draw_pooled(axes: Axes, found: MetaAnalysis, places: Array, height: float, bounds: tuple[float, float]) -> None:
    """Draw the pooled estimates as diamonds, and the prediction interval as a thin line."""
    for place, name, colour in zip(places, POOLED.values(), (BLACK, GREEN), strict=False):
        centre, (low, high) = getattr(found, name), getattr(found, f"{name}_interval")
        corners = [(low, place), (centre, place - height), (high, place), (centre, place + height)]
        axes.add_patch(Polygon(corners, facecolor=colour, edgecolor=colour, linewidth=1.0, zorder=3))
    _draw_line(axes, places[-1], found.prediction_interval, bounds, GREEN, 1.0)
    axes.axhline(places[0] - 2.2 * height, color=PALE, linewidth=0.8)


def _write_numbers(axes: Axes, found: MetaAnalysis, places: Array, above: float) -> None:
    """Write estimates and intervals to the right of the panel; those of many tasks would not be readable."""
    finite = found.standard_errors[np.isfinite(found.standard_errors)]
    error = float(np.median(finite)) if len(finite) else np.nan
    texts = [interval(found.fixed, found.fixed_interval, found.fixed_error)]
    texts.append(interval(found.random, found.random_interval, found.random_error))
    texts.append(interval(np.nan, found.prediction_interval, found.random_error).removeprefix("? "))
    rows = list(zip(places, texts, strict=True))
    if len(found.tasks) > MOST_ROWS:
        above = 2.0 * places[0] - places[1]
    else:
        pairs = zip(found.coef, found.intervals, strict=True)
        rows += [(float(i), interval(value, ends, error)) for i, (value, ends) in enumerate(pairs)]
    for place, text in rows:
        axes.text(1.02, place, text, transform=axes.get_yaxis_transform(), fontsize=SMALL, va="center")
    head = f"estimate [{100 * found.level:g} % interval]"
    axes.text(1.02, above, head, transform=axes.get_yaxis_transform(), fontsize=SMALL, va="center", color=GREY)


def _title(found: MetaAnalysis) -> str:
    differ = found.p_value < 1.0 - found.level
    said = "differs between" if differ else "does not differ detectably between"
    numbers = [f"Q = {found.q:.3g} (p = {found.p_value:.2g})", f"I² = {100 * found.i_squared:.0f} %"]
    numbers.append(f"τ² = {found.between_variance:.2g}")
    tied = ", ".join(number.replace(" ", TIE).replace("-", "−") for number in numbers)
    return f"The effect of {shown(found.terms[0], 32)} {said} {len(found.tasks)} tasks: {tied}."


def _notes(found: MetaAnalysis, crowded: bool) -> Sequence[str]:
    notes = [
        "The area of a square is proportional to the precision of the task, 1/(standard error)². The line for a "
        "further task is the prediction interval. Arrows: the interval goes on."
    ]
    if crowded:
        notes.append("Tasks are sorted by their estimates; only some are named.")
    if found.left_out:
        notes.append(f"Left out, because their rows do not determine it or its noise: {named(found.left_out)}.")
    least = int(found.degrees_of_freedom.min())
    if least < FEW:
        notes.append(
            f"A standard error has only {least} degrees of freedom: Q rejects too often, and the pooled intervals are "
            "too narrow."
        )
    return [*notes, found.assumption]
