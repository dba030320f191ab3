"""The influence of each task: Cook's distance, and the change of the coefficients that move most."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator

from ridgeway._checks import Array
from ridgeway._style import BLUE, GREEN, GREY, PALE, RED
from ridgeway.report._drawing import (
    SMALL,
    TIE,
    WIDTH,
    chosen,
    finish,
    limits,
    mark_outside,
    name_tasks,
    named,
    shown,
)
from ridgeway.retrospect import Influence

USUAL_TERMS, MOST_TERMS = 4, 8
MARKS = ((RED, "o"), (BLUE, "s"), (GREEN, "D"))
"""Colour and marker of the most influential tasks, in all panels."""


def influence_panels(found: Influence, terms: Any) -> Figure:
    """Draw Cook's distance and the standardized change of terms over the tasks; for one target."""
    changes = found.standardized_change
    moved = np.nanmax(np.abs(np.where(np.isfinite(changes), changes, 0.0)), axis=0)
    places = chosen(found.terms, terms, moved, USUAL_TERMS if terms is None else MOST_TERMS)
    size = np.where(np.isnan(found.distance), np.inf, found.distance)
    top = [int(j) for j in np.argsort(-size, kind="stable")[: len(MARKS)]]
    figure = Figure(figsize=(WIDTH, 2.7 + 1.05 * len(places)), layout=ConstrainedLayoutEngine(h_pad=0.08))
    grid = figure.add_gridspec(len(places) + 1, 1, height_ratios=[1.6] + [1.0] * len(places))
    axes = [figure.add_subplot(grid[i]) for i in range(len(places) + 1)]
    _draw_stems(axes[0], found.distance, top, (0.0, 1.5 * limits(0.0, found.distance)[1]))
    _label(axes[0], found, top)
    axes[0].set_title("Cook's distance: the change of all fitted values", fontsize=9, loc="left", pad=3)
    for each, term in zip(axes[1:], places, strict=True):
        largest = 1.1 * max(map(abs, limits(0.0, changes[:, term])))
        _draw_stems(each, changes[:, term], top, (-largest, largest))
        each.set_title(f"{shown(found.terms[term], 40)}: change in standard errors", fontsize=9, loc="left", pad=3)
    for each in axes:
        texts = name_tasks(each, found.tasks, 1, top)
        for place, (colour, _) in zip(top, MARKS, strict=False):
            if place in texts:
                texts[place].set_color(colour)
    return finish(figure, _most(found, top[0]), _notes(found, len(places), terms))


def _draw_stems(axes: Axes, values: Array, top: list[int], bounds: tuple[float, float]) -> None:
    """Draw a stem for each task: grey, and those of the most influential tasks in colour."""
    tasks = np.arange(len(values))
    usual = np.isfinite(values) & ~np.isin(tasks, top)
    width = min(2.0, 200.0 / len(values))
    axes.vlines(tasks[usual], 0.0, values[usual], color=PALE, linewidth=width)
    axes.plot(tasks[usual], values[usual], "o", color=PALE, markersize=min(3.0, 300.0 / len(values)))
    for place, (colour, marker) in zip(top, MARKS, strict=False):
        if np.isfinite(values[place]):
            axes.vlines(place, 0.0, values[place], color=colour, linewidth=max(width, 1.0))
            axes.plot(place, values[place], marker, color=colour, markersize=4)
    mark_outside(axes, values, bounds, GREY)
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    axes.set(xlim=(-0.6, len(values) - 0.4), ylim=bounds)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.tick_params(labelsize=SMALL)
    axes.grid(axis="y", alpha=0.3)


def _label(axes: Axes, found: Influence, top: list[int]) -> None:
    """Name the most influential tasks above their stems, one line each; the outer ones higher, so that none cross."""
    right = [place for place in sorted(top) if place <= 0.5 * (len(found.tasks) - 1)]
    left = [place for place in sorted(top, reverse=True) if place not in right]
    height = axes.get_ylim()[1]
    for level, place in enumerate([*right, *left]):
        value, colour = found.distance[place], MARKS[top.index(place)][0]
        at = height * (0.92 - 0.12 * level)
        said = f"{value:.2g}" if np.isfinite(value) else "alone determines a coefficient"
        start = value if np.isfinite(value) else 0.0
        axes.plot([place, place], [start, at], color=colour, linewidth=0.6, linestyle=":")
        side, shift = ("left", 4) if place in right else ("right", -4)
        axes.annotate(
            f"{shown(found.tasks[place], 32)}: {said}",
            (place, at),
            (shift, 0),
            textcoords="offset points",
            ha=side,
            va="center",
            fontsize=SMALL,
            color=colour,
        )


def _most(found: Influence, task: int) -> str:
    name, changes = shown(found.tasks[task], 32), found.standardized_change[task]
    if not np.isfinite(found.distance[task]):
        return f"Without {name}, the other tasks do not determine all coefficients."
    term = int(np.argmax(np.abs(np.where(np.isfinite(changes), changes, 0.0))))
    move = f"it moves {shown(found.terms[term], 32)} by {changes[term]:+.2g} standard errors".replace("-", "−")
    return f"{name} matters most: {move} (Cook's{TIE}distance{TIE}{found.distance[task]:.2g})."


def _notes(found: Influence, n_terms: int, terms: Any) -> list[str]:
    notes = ["Each stem is what the task adds: the estimate from all tasks minus the one without it."]
    if terms is None and n_terms < len(found.terms):
        notes.append(f"Shown are the {n_terms} of {len(found.terms)} terms that a task moves most.")
    if found.undetermined:
        notes.append(f"Without one of these, some coefficients are not determined: {named(found.undetermined)}.")
    return [*notes, found.assumption]
