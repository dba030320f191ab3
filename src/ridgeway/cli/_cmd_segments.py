"""`ridgeway segments`: when the relation changed."""

import click

from ridgeway.cli._kept_tasks import plain, with_terms
from ridgeway.cli._options import command, names, option, state_file
from ridgeway.cli._output import answer, lines_of


@command(
    "ridgeway segments flights.rw",
    "ridgeway segments flights.rw --plot segments.svg  # drawn",
)
@state_file
@option("--false-alarms", default=0.05, help="Probability of finding a change if there is none.")
@click.option("--terms", help="Terms to show, separated by commas.  [default: the five with the largest |t|]")
@click.option("--plot", type=click.Path(), help="Draw the segments to this file (.svg, .png or .pdf).")
def segments(file: str, false_alarms: float, terms: str | None, plot: str | None, as_json: bool) -> None:
    """Show when the coefficients changed.

    Splits the sequence of tasks, in the order in which they were absorbed, at the points where the coefficients
    changed. Needs a file that keeps its tasks (ridgeway init --keep tasks), one target, and more rows than coefficients
    in each task. Exits with 2 if it has not, or if it has too many tasks or features.
    """
    from ridgeway import retrospect, store

    model = store.open(file).model_by_task()
    found = with_terms(retrospect.segments(model, false_alarms=false_alarms), names(terms))
    lines = lines_of(found)
    if plot is not None:
        from ridgeway.cli._task_figures import plot_segments, write_figure

        alone = with_terms(retrospect.coefficient_path(model, window=1), list(found.terms))
        lines.append(write_figure(plot_segments(found, alone), plot))
    answer(plain(found), *lines, as_json=as_json)
