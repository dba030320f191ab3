"""`ridgeway tasks`: which tasks differ, and which matter most."""

from typing import TYPE_CHECKING, Any

import click

from ridgeway.cli._kept_tasks import plain
from ridgeway.cli._options import choice, command, option, state_file
from ridgeway.cli._output import emit, lines_of, print_table, say

if TYPE_CHECKING:
    from ridgeway.retrospect import MetaAnalysis

HEADINGS = ("task", "rows", "noise", "F", "P>F", "adjusted", "distance")
VARIATION = ("feature", "mean", "Q", "P>Q", "I²")


@command(
    "ridgeway tasks flights.rw                 # each task against the others",
    "ridgeway tasks flights.rw --feature hour  # one coefficient in each task",
    "ridgeway tasks flights.rw --feature hour --plot forest.svg",
)
@state_file
@click.option("--feature", help="Show each task's estimate of this coefficient, and their mean.")
@choice("--adjust", "holm", "bh", words="How p-values are adjusted: Holm's method, or Benjamini and Hochberg's.")
@option("--level", default=0.95, help="Confidence level of the intervals.")
@click.option("--plot", type=click.Path(), help="Draw the estimates of --feature to this file (.svg, .png or .pdf).")
def tasks(file: str, feature: str | None, adjust: Any, level: float, plot: str | None, as_json: bool) -> None:
    """Compare each task with the others.

    Also shows how coefficients vary between tasks. The column "distance" is Cook's distance: how much all fitted values
    change if the task is left out. Needs a file that keeps its tasks (ridgeway init --keep tasks). Exits with 2 if it
    does not.
    """
    from ridgeway import retrospect, store
    from ridgeway.errors import InferenceError, InvalidParameterError

    if plot is not None and feature is None:
        raise InvalidParameterError("--plot draws the estimates of one coefficient. Name it with --feature.")
    model = store.open(file).model_by_task()
    if feature is not None:
        found = retrospect.meta_analysis(model, feature, level=level)
        lines = [*lines_of(found), *_plotted(found, plot)]
        emit(plain(found)) if as_json else say(*lines)
        return
    table, moved = retrospect.tasks(model, level=level, adjust=adjust), retrospect.influence(model)
    varying, undetermined = [], []
    for name in (term for term in table.terms if term != "intercept"):
        try:
            varying.append(retrospect.meta_analysis(model, name, level=level))
        except InferenceError:
            undetermined.append(name)
    if as_json:
        more = {"distance": moved.distance.tolist(), "features": [plain(one) for one in varying]}
        emit(plain(table) | more | {"undetermined": undetermined})
        return
    _print(file, table, moved, varying)
    if undetermined:
        say(f"Fewer than two tasks determine these on their own: {', '.join(undetermined)}.")


def _plotted(found: "MetaAnalysis", plot: str | None) -> list[str]:
    if plot is None:
        return []
    from ridgeway.cli._task_figures import plot_forest, write_figure

    return [write_figure(plot_forest(found), plot)]


def _print(file: str, table: Any, moved: Any, varying: list["MetaAnalysis"]) -> None:
    """Print a table of tasks and a table of features, for each target."""
    import numpy as np

    columns = (table.noise_variance, table.f, table.p_values, table.adjusted_p_values, moved.distance)
    numbers = np.stack([np.atleast_2d(column) for column in columns], axis=-1)
    for target, rows in enumerate(numbers):
        title = file if len(numbers) == 1 else f"{file}, target {target}"
        cells = [
            [task, f"{n:,}", *(_shown(value) for value in row)]
            for task, n, row in zip(table.tasks, table.n_samples, rows, strict=True)
        ]
        print_table(title, HEADINGS, cells, left=["task"])
        found = []
        for one in varying:
            said = [float(np.atleast_1d(value)[target]) for value in (one.random, one.q, one.p_value, one.i_squared)]
            found.append([one.terms[0], *map(_shown, said[:3]), f"{said[3]:.0%}"])
        if found:
            print_table("How coefficients vary between tasks", VARIATION, found, left=["feature"])
    say(table.assumption, *table.cautions)


def _shown(value: float) -> str:
    return "–" if value != value else f"{value:.4g}"
