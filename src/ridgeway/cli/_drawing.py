"""What the figures of tasks share: text from data made safe, limits that one wild task does not set, panels, names."""

from collections.abc import Sequence
from math import ceil, floor, log10
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from ridgeway._checks import Array
from ridgeway._style import BLACK, GREY, STYLE
from ridgeway._text import visible

PLAIN: dict[Any, Any] = {**STYLE, "axes.grid": False, "text.parse_math": False, "text.usetex": False, "font.size": 9.0}
"""Text is shown as it is: a dollar sign does not start a formula."""
WIDTH = 7.2
"""Inches."""
HEADING, SMALL, FINE = 10.5, 8.0, 7.5
"""The sizes of the title, of most text, and of notes, in points."""
EM, PROSE = 0.6, 0.54
"""The width of a character relative to the size of the font, on the safe side: of a name, and of a sentence."""
TIE = "\xa0"
"""A space at which no line ends."""
MOST_NAMED = (20, 20, 14)
"""Characters of the name of a task below one, two or three panels in a row; the middle of a longer one is left out."""
MOST_LISTED = 8
MOST_PANELS = 12
FENCE, FEWEST = 5.0, 12
"""Numbers further than this many interquartile ranges from the quartiles do not set the limits of an axis, unless there
are too few to say what is usual."""
WIDE = 4.0
"""An interval that is wider than this many usual ones does not make its estimate set the limits of an axis."""
UNIT = "in the unit of the target per unit of the feature"


def shown(name: str, most: int = 20) -> str:
    """Return a name as it can be shown: control characters as escapes, the middle of a long one left out."""
    text = visible(name)
    head = (most - 1) // 2
    return text if len(text) <= most else f"{text[:head]}…{text[len(text) + 1 + head - most :]}"


def written(value: float, error: float) -> str:
    """Return a number with two significant digits of its error."""
    if not np.isfinite(value):
        text = "?" if np.isnan(value) else "∞" if value > 0.0 else "-∞"
    elif not (np.isfinite(error) and error > 0.0):
        text = f"{value:.3g}"
    else:
        digits = max(1 - floor(log10(error)), 0)
        text = f"{value:.3g}" if digits > 5 or abs(value) >= 1e6 else f"{value:.{digits}f}"
    return text.replace("-", "−")


def interval(value: float, ends: Sequence[float] | Array, error: float) -> str:
    """Return an estimate and its interval as text."""
    return f"{written(value, error)} [{written(ends[0], error)}, {written(ends[1], error)}]"


def named(names: Sequence[str]) -> str:
    """Return the first few names of a list."""
    texts = [shown(name, 32) for name in names[:MOST_LISTED]]
    texts += [f"{len(names) - MOST_LISTED} more"] if len(names) > MOST_LISTED else []
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def limits(values: Any, always: Any = ()) -> tuple[float, float]:
    """Return the limits of an axis: of the values without outliers, and of those that must always be on it."""
    values, always = (np.ravel(np.asarray(each, dtype=np.float64)) for each in (values, always))
    values, always = values[np.isfinite(values)], always[np.isfinite(always)]
    both = np.concatenate([values, always])
    if not len(both):
        return -1.0, 1.0
    low, high = np.quantile(both, [0.25, 0.75])
    fence = FENCE * (high - low) if len(both) >= FEWEST and high > low else np.inf
    both = np.concatenate([always, both[(both >= low - fence) & (both <= high + fence)]])
    low, high = float(both.min()), float(both.max())
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return low - margin, high + margin


def clear(coef: Array, ends: Array) -> Array:
    """Return the estimates that are known about as well as most, and their intervals: if one is far off, it is news."""
    with np.errstate(invalid="ignore"):
        widths = ends[:, 1] - ends[:, 0]
    known = np.isfinite(widths)
    usual = known & (widths <= WIDE * np.median(widths[known])) if known.any() else known
    return np.concatenate([coef[usual], ends[usual].ravel()])


def largest(scores: Array) -> list[int]:
    """Return the positions of the terms to draw: those with the largest scores, the largest first."""
    ranked = np.argsort(-np.where(np.isnan(scores), -np.inf, scores), kind="stable")
    return [int(place) for place in ranked[:MOST_PANELS]]


def panels(n_panels: int) -> tuple[Figure, list[Axes], int]:
    """Return a figure with small panels in rows, and the number of columns."""
    columns = 2 if n_panels == 4 else min(n_panels, 3)
    rows = ceil(n_panels / columns)
    figure = Figure(figsize=(WIDTH, 1.4 + (1.4 if n_panels > 3 else 2.0) * rows), layout="constrained")
    axes = [figure.add_subplot(rows, columns, i + 1) for i in range(n_panels)]
    for each in axes:
        each.grid(axis="y", alpha=0.3)
        each.yaxis.set_major_locator(MaxNLocator(4))
        each.tick_params(labelsize=SMALL)
    unit = f"coefficient, {UNIT}" if rows > 1 else f"coefficient, {UNIT}".replace(" per", "\nper")
    figure.supylabel(unit, fontsize=SMALL)
    return figure, axes, columns


def name_tasks(axes: Axes, tasks: Sequence[str], columns: int, first: Sequence[int] = ()) -> dict[int, Text]:
    """Write names of tasks below a panel with one task per unit, as many as fit; return the texts by task.

    Parameters
    ----------
    axes : Axes
    tasks : sequence of str
    columns : int
        Panels side by side.
    first : sequence of int
        Tasks that are named first; others if there is room.
    """
    names = [shown(task, MOST_NAMED[columns - 1]) for task in tasks]
    pitch = (72.0 * WIDTH / columns - 50.0) / len(names)
    flat = EM * SMALL * max(map(len, names)) + 8.0
    slanted = flat > max(pitch, 40.0)
    apart = ceil((2.0 * SMALL if slanted else flat) / pitch)
    places: list[int] = []
    for place in (*first, *range(0, len(names), apart)):
        if all(abs(place - other) >= apart for other in places):
            places.append(place)
    axes.set_xticks(places, [names[place] for place in places], fontsize=SMALL)
    texts = axes.get_xticklabels()
    if slanted:
        for text in texts:
            text.set(rotation=45, ha="right", rotation_mode="anchor")
    return dict(zip(places, texts, strict=True))


def mark_outside(axes: Axes, values: Array, bounds: tuple[float, float], colour: str) -> None:
    """Draw triangles at the edge of the panel for the tasks whose values are above or below it."""
    for beyond, edge, marker in ((values > bounds[1], bounds[1], "^"), (values < bounds[0], bounds[0], "v")):
        places = np.flatnonzero(beyond)
        if len(places):  # the layout fails with an empty line that is not clipped
            axes.plot(places, np.full(len(places), edge), marker, color=colour, markersize=4, clip_on=False)


def finish(figure: Figure, title: str, notes: Sequence[str], columns: int = 1) -> Figure:
    """Write the title above and the notes below, make the layout once, and return the figure.

    The layout is then kept, so that a figure gives the same bytes each time it is made and saved. Panels above an empty
    place show the names of tasks in it.
    """
    for i, each in enumerate(figure.axes):
        each.tick_params(axis="x", labelbottom=i // columns == (len(figure.axes) - 1) // columns)
    width, height = figure.get_size_inches()
    title, *lines = (
        fill(text, int(72.0 * (width - 0.2) / (PROSE * size))).replace(TIE, " ")
        for text, size in ((title, HEADING), *((note, FINE) for note in notes))
    )
    note = "\n".join(lines)
    extra = 0.16 * title.count("\n") + 0.13 * note.count("\n")
    figure.set_size_inches(width, height + extra)
    figure.suptitle(title, x=0.012, ha="left", fontsize=HEADING, color=BLACK)
    figure.supxlabel(note, x=0.012, ha="left", fontsize=FINE, color=GREY)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for each in figure.axes:  # the last digits of the layout depend on addresses in memory
        each.set_position(tuple(round(number, 6) for number in each.get_position().bounds))
    for each in figure.axes[-columns:]:
        each.tick_params(axis="x", labelbottom=True)
    return figure
