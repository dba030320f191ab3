"""The section of the page on how the tasks differ: a sentence, figures and a table, or why one is missing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ridgeway._text import counted
from ridgeway._text import escaped as escape
from ridgeway.report._differences import SIGNIFICANT, TaskDifferences
from ridgeway.report._html import make_figure, make_table
from ridgeway.report._measures import short
from ridgeway.report._result import MethodComparison, joined
from ridgeway.report._task_figures import draw_forest, draw_influence, draw_path, draw_segments

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {
    "forest": "The forest plot",
    "path": "The path of the coefficients",
    "influence": "The influence of each task",
    "segments": "The segments with equal coefficients",
}
"""The figures in their order on the page, and what they are called if they are missing."""
ORDERS = {"file": "In the order of the file", "sorted": "In sorted order"}
MOST_NAMED = 8
"""The most tasks that the sentence names."""
HEADINGS = ("task", "rows learned from", "noise", "adjusted p-value", "Cook's distance")


def draw_differences(found: TaskDifferences) -> Iterator[tuple[str, str, "Figure"]]:
    """Yield each figure that there is as (name, alternative text, figure)."""
    if found.forest is not None:
        yield _named("forest", f"Forest plot of {len(found.forest.tasks)} tasks.", draw_forest(found.forest))
    if found.path is not None:
        yield _named("path", f"Coefficients after each of {len(found.path.tasks)} tasks.", draw_path(found.path))
    if found.influence is not None:
        words = f"Influence of {len(found.influence.tasks)} tasks."
        yield _named("influence", words, draw_influence(found.influence))
    if found.segments is not None:
        words = f"Coefficients in {counted(len(found.segments.segments), 'segment')} of tasks."
        yield _named("segments", words, draw_segments(found.segments, found.alone))


def _named(name: str, words: str, figure: "Figure") -> tuple[str, str, "Figure"]:
    said = " ".join(figure.get_suptitle().split())
    return f"tasks-{name}", f"{words} {said}", figure


def differences_sentence(comparison: MethodComparison) -> str:
    """Return whether the tasks agree, and when the relation changed, in words."""
    found = comparison.differences
    if isinstance(comparison.task_model, str):
        return f"How the tasks differ was not computed: {comparison.task_model}"
    return f"{_agreement(found)} {_course(found, comparison.order)}"


def _agreement(found: TaskDifferences) -> str:
    if found.table is None:
        return f"Whether the tasks agree cannot be said: {found.reasons['table']}"
    p_values, n_tasks = found.table.adjusted_p_values, len(found.table.tasks)
    untested = int(np.isnan(p_values).sum())
    rest = f" {untested} of {n_tasks} tasks have too few rows for the test." if untested else ""
    differing = found.differing
    if not differing:
        least = f"the smallest adjusted p-value is {np.nanmin(p_values):.2g}"
        return f"No task differs detectably from the others after Holm's adjustment ({least}).{rest}"
    verb = "differs" if len(differing) == 1 else "differ"
    return (
        f"{len(differing)} of {n_tasks} tasks {verb} from the others after Holm's adjustment (p < {SIGNIFICANT:g}): "
        f"{_listed(differing)}.{rest}"
    )


def _course(found: TaskDifferences, order: str) -> str:
    divided = found.segments
    if divided is None:
        return f"When the relation changed cannot be said: {found.reasons['segments']}"
    single = f"before {divided.best_single}, has p = {divided.p_value:.2g}"
    if not divided.changes:
        return f"{ORDERS[order]}, no change of the relation is found: the best single change, {single}."
    changes = f"the relation changed before {_listed(divided.changes)}"
    return f"{ORDERS[order]}, {changes}; the best single change, {single}."


def _listed(names: tuple[str, ...]) -> str:
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return joined([*names[:MOST_NAMED], *more])


def make_section(comparison: MethodComparison, images: Mapping[str, tuple[str, bytes]], notes: Sequence[str]) -> str:
    """Return the section as HTML, with its figures (alternative text and SVG by name) inside it."""
    found, target = comparison.differences, escape(comparison.target)
    if comparison.family != "gaussian":
        return f'<h2>How the tasks differ</h2>\n<p class="quiet">{escape(differences_sentence(comparison))}</p>'
    captions, places = dict(_captions(found)), []
    for name, title in FIGURES.items():
        if name in captions:
            places.append(make_figure(captions[name], *images[f"tasks-{name}"]))
        else:
            places.append(f'<p class="quiet">{title} cannot be shown: {escape(found.reasons[name])}</p>')
    places += [f'<p class="quiet">{escape(note)}</p>' for note in notes]
    return f"""<h2>How the tasks differ</h2>
<p class="said" id="differences">{escape(differences_sentence(comparison))}</p>
<p class="quiet">From the rows that the methods learned from, kept task by task (<code>information="by_task"</code>);
held-out rows are not used. The columns are encoded but not standardised here: a coefficient is in the unit of {target}
per unit of the encoded column, and the intercept is in the unit of {target}. Paths and segments follow the order in
which the tasks were learned, and mean something only if that order does.</p>
<div class="stack">{"".join(places)}</div>
{_rows(found, target)}"""


def _captions(found: TaskDifferences) -> Iterator[tuple[str, str]]:
    """Yield the name of each figure that there is, and one sentence: what to see, and under which assumption."""
    if found.forest is not None:
        yield (
            "forest",
            f"What each task alone says about {found.forest.terms[0]}, the coefficient with the largest Q: tasks "
            "disagree if they are far apart compared with the length of their intervals; tasks are assumed "
            "independent, and the p-value does not account for the choice of this coefficient.",
        )
    if found.path is not None:
        yield (
            "path",
            "The coefficients after each task: they settle if the tasks agree and keep moving if not; the intervals "
            "assume the same coefficients in all tasks so far, and independent rows of equal variance.",
        )
    if found.influence is not None:
        yield (
            "influence",
            "What each task adds to the answer: a high stem is a task on which the answer depends, on a scale that "
            "assumes the same coefficients in all tasks, and independent rows of equal variance.",
        )
    if found.segments is not None:
        rate = f"{100 * (found.segments.false_alarms or 0.0):g} %"
        yield (
            "segments",
            "Neighbouring tasks with equal coefficients, divided by red lines where the relation changed: tasks "
            f"without a change are divided with probability {rate}, if the noise is Gaussian, independent and of equal "
            "variance in all tasks.",
        )


def _rows(found: TaskDifferences, target: str) -> str:
    """Return the table of tasks, and what its columns are."""
    if found.table is None:
        return f'<p class="quiet">The table of tasks cannot be shown: {escape(found.reasons["table"])}</p>'
    n_tasks = len(found.table.tasks)
    distance = np.full(n_tasks, np.nan) if found.influence is None else found.influence.distance
    columns = (np.sqrt(found.table.noise_variance), found.table.adjusted_p_values, distance)
    numbers = zip(found.table.tasks, found.table.n_samples, *columns, strict=True)
    rows = (
        (escape(task), f"{n:,}", _shown(noise), "–" if np.isnan(p) else f"{p:.2g}", _shown(moved))
        for task, n, noise, p, moved in numbers
    )
    said = " ".join((found.table.assumption, *found.table.cautions))
    words = (
        f"Noise is the standard deviation of what a task's own coefficients leave, in the unit of {target}. The "
        "p-value is of the test that a task has the coefficients of all others, each side with its own noise, adjusted "
        "by Holm's method for the number of tasks. Cook's distance is how far all fitted values move because of the "
        f"task. {escape(said)}"
    )
    return f'<p class="quiet">{words}</p>\n{make_table("differing", map(escape, HEADINGS), rows)}'


def _shown(value: float) -> str:
    return "–" if np.isnan(value) else short(value)
