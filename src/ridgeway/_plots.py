"""Plain figures of results. matplotlib is imported when one is drawn."""

from collections.abc import Sequence
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
"""The number of terms in a figure."""
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
    heights = -np.arange(len(places), dtype=np.float64)
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    known = np.isfinite(ends[places]).all(axis=1)
    lower, upper = ends[places][known].T
    axes.hlines(heights[known], lower, upper, color=BLUE, linewidth=1.5)
    axes.plot(values[places], heights, "o", color=BLUE, markersize=4)
    axes.set_yticks(heights, [fill(visible(terms[j]), NAME) for j in places], parse_math=False)
    axes.set_ylim(-len(places) + 0.4, 0.6)
    axes.set_xlabel(label)
    return axes


def axes_or_new(ax: Any, height: float) -> "Axes":
    """Return the axes that were given, or those of a new figure that a notebook shows."""
    require("matplotlib", extra="plot")
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=(6.0, height), layout="constrained")[1]
    axes: Axes = ax
    return axes
