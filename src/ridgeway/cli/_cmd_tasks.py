"""`ridgeway tasks`: which tasks differ, and which matter most."""

from typing import TYPE_CHECKING, Any

import click

from ridgeway.cli._kept_tasks import plain, with_terms
from ridgeway.cli._options import choice, command, option, state_file
from ridgeway.cli._output import emit, print_table, say

if TYPE_CHECKING:
    from ridgeway.retrospect import Influence, TaskTable

HEADINGS = ("task", "rows", "noise", "F", "P>F", "adjusted", "distance")


@command(
    "ridgeway tasks flights.rw                 # each task against the others",
    "ridgeway tasks flights.rw --feature hour  # one coefficient in each task",
    "ridgeway tasks flights.rw --feature hour --plot forest.svg",
)
@state_file
@click.option("--feature", help="Show each task's estimate of this coefficient, with its interval.")
@choice("--adjust", "holm", "bh", words="How p-values are adjusted: Holm's method, or Benjamini and Hochberg's.")
@option("--level", default=0.95, help="Confidence level of the intervals.")
@click.option("--plot", type=click.Path(), help="Draw the estimates of --feature to this file (.svg, .png or .pdf).")
def tasks(file: str, feature: str | None, adjust: Any, level: float, plot: str | None, as_json: bool) -> None:
    """Compare each task with the others.

    The column "distance" is Cook's distance: how much all fitted values change if the task is left out.
    Needs a file that keeps its tasks (ridgeway init --keep tasks). Exits with 2 if it
    does not.
    """
    from ridgeway import retrospect, store
    from ridgeway.errors import InvalidParameterError

    if plot is not None and feature is None:
        raise InvalidParameterError("--plot draws the estimates of one coefficient. Name it with --feature.")
    model = store.open(file).model_by_task()
    table = retrospect.tasks(model, level=level, adjust=adjust)
    if feature is not None:
        _answer_feature(with_terms(table, [feature]), plot, as_json)
        return
    moved = retrospect.influence(model)
    if as_json:
        emit(plain(table) | {"distance": moved.distance.tolist()})
        return
    _print(file, table, moved)


def _answer_feature(table: "TaskTable", plot: str | None, as_json: bool) -> None:
    """Print what each task alone says about the only term of a table, for each target, and draw it."""
    import numpy as np

    term = table.terms[0]
    lines = [table.assumption]
    if plot is not None:
        from ridgeway.cli._task_figures import write_figure

        figure: Any = table.plot(term).figure
        lines.append(write_figure(figure, plot))
    if as_json:
        emit(plain(table))
        return

    columns = (table.coef[..., 0], table.standard_errors[..., 0], *np.moveaxis(table.intervals[..., 0, :], -1, 0))
    numbers = np.stack([np.atleast_2d(column) for column in columns], axis=-1)
    percent = f"{100 * table.level:g} %"
    headings = ("task", "coef", "std err", f"[{percent}", f"{percent}]")
    for target, rows in enumerate(numbers):
        title = f"{term} in {len(table.tasks)} tasks"
        cells = [[task, *map(_shown, row)] for task, row in zip(table.tasks, rows, strict=True)]
        print_table(title if len(numbers) == 1 else f"{title}, target {target}", headings, cells, left=["task"])
    say(*lines)


def _print(file: str, table: "TaskTable", moved: "Influence") -> None:
    """Print a table of tasks for each target."""
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
    say(table.assumption, *table.cautions)


def _shown(value: float) -> str:
    return "–" if value != value else f"{value:.4g}"
