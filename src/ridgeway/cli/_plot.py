"""`ridgeway plot`: draw what a simulation found."""

import click

from ridgeway.cli._failures import guarded

__all__ = ["plot"]

EXAMPLES = """\b
Examples:
  ridgeway plot runs/a                error, forgetting and error by direction, as PNG and SVG
  ridgeway plot runs/a --out figures  into another folder
"""


@click.command(epilog=EXAMPLES)
@click.argument("folder", type=click.Path())
@click.option("--out", type=click.Path(), help="Where to put the figures; the run's own folder if not given.")
@guarded()
def plot(folder: str, out: str | None) -> None:
    """Draw the error, the forgetting and the error by direction of a run.

    Bands are two standard errors of the mean over repetitions on either side. Dashed is the theory: over a run with
    drawn noise, the expected errors given a few designs; else what is known before any row is drawn.
    """
    from pathlib import Path

    from ridgeway.research.simulation import Results, expectation, figures

    results = Results.load(folder)
    target = Path(folder if out is None else out)
    target.mkdir(parents=True, exist_ok=True)
    drawn = {
        "error": figures.draw_errors(results, expectation(results)),
        "directions": figures.draw_directions(results),
    }
    if results.description.setting.n_tasks > 1:
        drawn["forgetting"] = figures.draw_forgetting(results)
    for name, figure in drawn.items():
        for path in figures.save(figure, target, name):
            click.echo(path)
