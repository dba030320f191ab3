"""`ridgeway path`: the coefficients over time."""

import click

from ridgeway.cli._kept_tasks import plain, with_terms
from ridgeway.cli._options import command, names, option, state_file
from ridgeway.cli._output import answer, lines_of


@command(
    "ridgeway path flights.rw                           # after each task",
    "ridgeway path flights.rw --window 12 --terms hour  # twelve tasks at a time",
    "ridgeway path flights.rw --plot path.svg           # drawn, with intervals",
)
@state_file
@click.option("--window", type=int, help="Use this many tasks at a time instead of all tasks so far.")
@click.option("--terms", help="Terms to show, separated by commas.  [default: the five with the largest |t|]")
@option("--level", default=0.95, help="Confidence level of the intervals.")
@click.option("--plot", type=click.Path(), help="Draw the coefficients to this file (.svg, .png or .pdf).")
def path(file: str, window: int | None, terms: str | None, level: float, plot: str | None, as_json: bool) -> None:
    """Show how the coefficients changed from task to task.

    The tasks are in the order in which they were absorbed. Needs a file that keeps its tasks (ridgeway init --keep
    tasks). Exits with 2 if it does not.
    """
    from ridgeway import retrospect, store

    model = store.open(file).model_by_task()
    found = with_terms(retrospect.coefficient_path(model, window=window, level=level), names(terms))
    lines = lines_of(found)
    if plot is not None:
        from ridgeway.cli._task_figures import plot_path, write_figure

        lines.append(write_figure(plot_path(found), plot))
    answer(plain(found), *lines, as_json=as_json)
