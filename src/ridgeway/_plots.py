"""Plain figures of results. matplotlib is imported when one is drawn."""

from collections.abc import Sequence
from math import ceil
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway._checks import Array
from ridgeway._optional import require
from ridgeway._style import BLUE, GREY
from ridgeway._text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TERMS = 40
"""The number of terms in a figure, and of tasks with a name."""
WIDE = 4.0
"""An interval that is wider than this many usual ones does not set the limits of the axis."""
NAME = 32
"""Characters in a line of a name."""


def draw_terms(ax: Any, terms: Sequence[str], values: Array, intervals: Array | None = None, *, label: str) -> "Axes":
    """Draw a number for each term, the first at the top, with its interval; return the axes.

    Of more than 40 terms, those are drawn whose numbers are largest relative to their intervals, and the label says so.

    Parameters
    ----------
    ax : Axes, or None for new ones
    terms : sequence of str
    values : ndarray of shape (n_terms,)
        Terms without a finite number are named, and have no mark.
    intervals : ndarray of shape (n_terms, 2), optional
    label : str
        What the numbers are.
    """
    ends = np.stack([values, values], axis=-1) if intervals is None else intervals
    places = [*range(len(terms))]
    if len(terms) > MOST_TERMS:
        with np.errstate(divide="ignore", invalid="ignore"):
            sizes = np.abs(values) if intervals is None else np.abs(values) / (ends[:, 1] - ends[:, 0])
        places = sorted(np.argsort(-np.nan_to_num(sizes, nan=-1.0), kind="stable")[:MOST_TERMS].tolist())
        label = f"{label}\n({MOST_TERMS} of {len(terms):,} terms)"
    axes = axes_or_new(ax, 1.0 + 0.28 * len(places))
    _draw_rows(axes, [terms[j] for j in places], values[places], ends[places], label)
    return axes


def draw_tasks(ax: Any, tasks: Sequence[str], values: Array, intervals: Array, *, label: str) -> "Axes":
    """Draw a number for each task, the first at the top, with its interval (a forest plot); return the axes.

    All tasks are drawn. Of more than 40, only some are named, and the label says so. The axes show all numbers that
    have an interval, and all intervals but those that are much wider than most.

    Parameters
    ----------
    ax : Axes, or None for new ones
    tasks : sequence of str
    values : ndarray of shape (n_tasks,)
    intervals : ndarray of shape (n_tasks, 2)
    label : str
        What the numbers are.
    """
    step = ceil(len(tasks) / MOST_TERMS)
    if step > 1:
        label = f"{label}\n(one of {step} tasks is named)"
    axes = axes_or_new(ax, 1.0 + 0.28 * len(tasks) / step)
    _draw_rows(axes, tasks, values, intervals, label, step)

    known = np.isfinite(intervals).all(axis=1)
    widths = intervals[known, 1] - intervals[known, 0]
    usual = intervals[known][widths <= WIDE * np.median(widths)] if known.any() else intervals[known]
    if 0 < len(usual) < len(tasks):
        shown = np.concatenate([usual.ravel(), values[known]])
        margin = 0.05 * np.ptp(shown)
        axes.set_xlim(shown.min() - margin, shown.max() + margin)
    return axes


def _draw_rows(axes: "Axes", names: Sequence[str], values: Array, ends: Array, label: str, step: int = 1) -> None:
    """Draw numbers with their intervals, one below the other; one of `step` is named."""
    heights = -np.arange(len(names), dtype=np.float64)
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    known = np.isfinite(ends).all(axis=1)
    lower, upper = ends[known].T
    axes.hlines(heights[known], lower, upper, color=BLUE, linewidth=1.5)
    axes.plot(values, heights, "o", color=BLUE, markersize=4)
    axes.set_yticks(heights[::step], [fill(visible(name), NAME) for name in names[::step]], parse_math=False)
    axes.set_ylim(-len(names) + 0.4, 0.6)
    axes.set_xlabel(label, parse_math=False)


def axes_or_new(ax: Any, height: float) -> "Axes":
    """Return the axes that were given, or those of a new figure that a notebook shows."""
    require("matplotlib", extra="plot")
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=(6.0, height), layout="constrained")[1]
    axes: Axes = ax
    return axes
