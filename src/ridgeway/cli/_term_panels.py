"""Small panels, one per term: coefficients over time, and segments with equal coefficients."""

from itertools import accumulate

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgeway._checks import Array
from ridgeway._style import BLUE, GREY, PALE, RED
from ridgeway.cli._drawing import (
    TIE,
    clear,
    finish,
    interval,
    largest,
    limits,
    mark_outside,
    name_tasks,
    named,
    panels,
    shown,
    written,
)
from ridgeway.retrospect import CoefficientPath, Segments

BAND = 2.0
"""Standard errors on either side of the coefficient of a segment."""
MOST_TITLE = (60, 32, 20)
"""Characters of the name of a term above one, two or three panels in a row."""
MOST_MARKED = 40
"""Steps of a path up to which each is marked by a dot."""


def path_panels(found: CoefficientPath) -> Figure:
    """Draw each coefficient over the tasks with its interval; for one target."""
    with np.errstate(divide="ignore", invalid="ignore"):
        clarity = np.abs(found.coef[-1] / found.standard_errors[-1])
    places = largest(clarity)
    figure, axes, columns = panels(len(places))
    for each, term in zip(axes, places, strict=True):
        coef, ends = found.coef[:, term], found.intervals[:, term]
        bounds = limits([coef, *ends.T], [*clear(coef, ends), coef[-1], *ends[-1]])
        _prepare(each, found.terms[term], bounds, len(coef), columns)
        _draw_course(each, coef, ends)
        name_tasks(each, found.tasks, columns)
    over = {None: "all tasks so far", 1: "each task alone"}.get(found.window, f"the last {found.window} tasks")
    notes = [f"Line: least squares on {over}. Band: {100 * found.level:g} % interval. Grey line: zero."]
    if len(places) < len(found.terms):
        notes.append(f"Shown are the {len(places)} of {len(found.terms)} terms with the largest |t| at the end.")
    return finish(figure, _course(found, places), [*notes, found.assumption], columns)


def _course(found: CoefficientPath, places: list[int]) -> str:
    """Return a sentence about the first feature that is drawn."""
    term = next((place for place in places if found.terms[place] != "intercept"), places[0])
    coef, error = found.coef[:, term], found.standard_errors[-1, term]
    known = np.flatnonzero(np.isfinite(coef))
    last = f"{interval(coef[-1], found.intervals[-1, term], error)} ({shown(found.tasks[-1])})"
    if len(known) < 2:
        return f"{shown(found.terms[term], 32)} is {last}."
    first = f"{written(coef[known[0]], error)} ({shown(found.tasks[known[0]])})"
    return f"{shown(found.terms[term], 32)} goes from {first} to {last}."


def _draw_course(axes: Axes, coef: Array, ends: Array) -> None:
    """Draw a line and a band; a line from end to end for an interval without neighbours."""
    steps = np.arange(len(coef))
    bounded = np.asarray(np.isfinite(ends).all(axis=1))
    low, high = np.where(bounded[:, None], ends, np.nan).T
    axes.fill_between(steps, low, high, where=bounded, color=BLUE, alpha=0.22, linewidth=0)
    beside = np.concatenate([[False], bounded, [False]])
    alone = bounded & ~beside[:-2] & ~beside[2:]
    axes.vlines(steps[alone], low[alone], high[alone], color=BLUE, alpha=0.4, linewidth=3)
    axes.plot(steps, coef, color=BLUE, linewidth=1.3, marker="o" if len(coef) <= MOST_MARKED else "", markersize=2.5)


def segment_panels(found: Segments, alone: CoefficientPath) -> Figure:
    """Draw the coefficients of each segment with their errors, the changes, and each task's own; for one target."""
    tasks = [task for segment in found.segments for task in segment]
    places = largest(_jumps(found))
    edges = np.array([*accumulate(map(len, found.segments), initial=0)])
    figure, axes, columns = panels(len(places))
    for each, term in zip(axes, places, strict=True):
        coef, errors = found.coef[:, term], BAND * found.standard_errors[:, term]
        own = alone.coef[:, term]
        with np.errstate(invalid="ignore"):
            bounds = limits(own, [coef, coef - errors, coef + errors])
        _prepare(each, found.terms[term], bounds, len(tasks), columns)
        each.plot(np.arange(len(tasks)), own, "o", color=PALE, markersize=3, zorder=1)
        mark_outside(each, own, bounds, PALE)
        for first, end, value, error in zip(edges[:-1], edges[1:], coef, errors, strict=True):
            if np.isfinite(error):
                each.fill_between([first - 0.5, end - 0.5], value - error, value + error, color=BLUE, alpha=0.22, lw=0)
            each.plot([first - 0.5, end - 0.5], [value, value], color=BLUE, linewidth=1.8)
        for change in edges[1:-1]:
            each.axvline(change - 0.5, color=RED, linewidth=0.9, linestyle="--")
        texts = name_tasks(each, tasks, columns, [int(change) for change in edges[1:-1]])
        for change in {*texts} & {*edges[1:-1]}:
            texts[change].set_color(RED)
    return finish(figure, _changes(found), _segment_notes(found, len(places)), columns)


def _jumps(found: Segments) -> Array:
    """Return the largest change of each term between segments, in standard errors; |t| if nothing changes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if not found.changes:
            return np.asarray(np.abs(found.coef[0] / found.standard_errors[0]))
        spread = np.hypot(found.standard_errors[1:], found.standard_errors[:-1])
        jumps = np.abs(np.diff(found.coef, axis=0)) / spread
    return np.asarray(np.nan_to_num(jumps, nan=0.0).max(axis=0))


def _changes(found: Segments) -> str:
    n_tasks = sum(map(len, found.segments))
    single = f"p{TIE}={TIE}{found.p_value:.2g} for the best single change, before {shown(found.best_single)}"
    if not found.changes:
        return f"No change is found in {n_tasks} tasks ({single})."
    return f"The relation changes before {named(found.changes)} ({single})."


def _segment_notes(found: Segments, n_panels: int) -> list[str]:
    notes = [
        f"Steps: least squares on each segment, ± {BAND:g} standard errors. Dots: each task alone; triangles: beyond "
        "the edge. Red: changes. Grey line: zero."
    ]
    if n_panels < len(found.terms):
        notes.append(f"Shown are the {n_panels} of {len(found.terms)} terms that change most, in standard errors.")
    return [*notes, "Standard errors do not account for the choice of segments.", found.assumption]


def _prepare(axes: Axes, term: str, bounds: tuple[float, float], n_tasks: int, columns: int) -> None:
    unit = " (target's unit)" if term == "intercept" else ""
    axes.set_title(shown(term, MOST_TITLE[columns - 1]) + unit, fontsize=9, loc="left", pad=3)
    axes.set(xlim=(-0.6, n_tasks - 0.4), ylim=bounds)
    axes.axhline(0.0, color=GREY, linewidth=0.8, zorder=1)
