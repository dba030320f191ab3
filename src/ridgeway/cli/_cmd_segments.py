"""`ridgeway segments`: when the relation changed."""

from typing import Any

import click

from ridgeway.cli._kept_tasks import plain, with_terms
from ridgeway.cli._options import choice, command, names, option, state_file
from ridgeway.cli._output import answer, lines_of


@command(
    "ridgeway segments flights.rw",
    "ridgeway segments flights.rw --noise by_task      # if tasks differ in noise",
    "ridgeway segments flights.rw --plot segments.svg  # drawn",
)
@state_file
@option("--false-alarms", default=0.05, help="Probability of finding a change if there is none.")
@choice("--noise", "common", "by_task", words="Whether all tasks share one noise variance, or each has its own.")
@click.option("--terms", help="Terms to show, separated by commas.  [default: the five with the largest |t|]")
@click.option("--plot", type=click.Path(), help="Draw the segments to this file (.svg, .png or .pdf).")
def segments(file: str, false_alarms: float, noise: Any, terms: str | None, plot: str | None, as_json: bool) -> None:
    """Show when the coefficients changed.

    Splits the sequence of tasks, in the order in which they were absorbed, at the points where the coefficients
    changed. Needs a file that keeps its tasks (ridgeway init --keep tasks). Exits with 2 if it does not, or if it has
    too many tasks or features.
    """
    from ridgeway import retrospect, store

    model = store.open(file).model_by_task()
    found = with_terms(retrospect.segments(model, false_alarms=false_alarms, noise=noise), names(terms))
    lines = lines_of(found)
    if plot is not None:
        from ridgeway.cli._task_figures import plot_segments, write_figure

        alone = with_terms(retrospect.coefficient_path(model, window=1), list(found.terms))
        lines.append(write_figure(plot_segments(found, alone), plot))
    answer(plain(found), *lines, as_json=as_json)
