"""`ridgeway summary`: what a state file knows about each coefficient."""

import click

from ridgeway.cli._failures import guarded
from ridgeway.cli._shared import names, state_file

__all__ = ["summary"]

EXAMPLES = """\b
Examples:
  ridgeway summary wages.rw                            all features
  ridgeway summary wages.rw --features age,tenure      as if only these had been learned
  ridgeway summary wages.rw --level 0.99               wider intervals
"""


@click.command(epilog=EXAMPLES)
@state_file
@click.option("--features", help="Names with commas: the model of these alone, as if refitted on all rows.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@guarded()
def summary(file: str, features: str | None, level: float) -> None:
    """Print coefficients, standard errors, tests and intervals over all rows that were ever absorbed.

    No row is needed. Under a prior the numbers are those of the posterior, and the table says so.
    """
    from ridgeway import retrospect, store

    model = store.open(file).model()
    if features is not None:
        model = retrospect.submodel(model, names(features))
    click.echo(str(retrospect.summary(model, level=level)))
