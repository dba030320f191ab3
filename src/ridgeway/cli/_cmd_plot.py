"""`ridgeway plot`: draw the results of a simulation."""

import click

from ridgeway.cli._options import command
from ridgeway.cli._output import answer


@command(
    "ridgeway plot runs/a                # into the same folder",
    "ridgeway plot runs/a --out figures  # into another folder",
)
@click.argument("folder", type=click.Path())
@click.option("--out", type=click.Path(), help="Folder for the figures.  [default: FOLDER]")
def plot(folder: str, out: str | None, as_json: bool) -> None:
    """Draw the results of a simulation.

    The figures show the error, the forgetting and the error by direction, as PNG and SVG. Bands show two standard
    errors of the mean over repetitions on either side. Dashed lines show the theory: the expected error over all
    designs, if it has a closed form (minimum norm, H̃ and the oracle without a covariate shift), and otherwise, for a
    run with drawn noise, the expected error given a few designs.
    """
    from pathlib import Path

    from ridgeway.research.simulation import Results, expectation, figures

    results = Results.load(folder)
    target = Path(folder if out is None else out)
    target.mkdir(parents=True, exist_ok=True)
    drawn = {"error": figures.draw_errors(results, expectation(results))}
    drawn["directions"] = figures.draw_directions(results)
    if results.description.setting.n_tasks > 1:
        drawn["forgetting"] = figures.draw_forgetting(results)
    paths = [str(path) for name, figure in drawn.items() for path in figures.save(figure, target, name)]
    answer({"figures": paths}, *paths, as_json=as_json)
