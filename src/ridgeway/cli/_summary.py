"""`ridgeway summary`: what a state file knows about each coefficient."""

from typing import TYPE_CHECKING, Any

import click

from ridgeway.cli._failures import guarded
from ridgeway.cli._shared import as_json_option, emit, names, state_file

if TYPE_CHECKING:
    from ridgeway.retrospect import Summary

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
@as_json_option
@guarded()
def summary(file: str, features: str | None, level: float, as_json: bool) -> None:
    """Print coefficients, standard errors, tests and intervals over all rows that were ever absorbed.

    No row is needed. Under a prior the numbers are those of the posterior, and the table says so. Exits with 2 where
    the rows so far cannot answer.
    """
    from ridgeway import retrospect, store

    opened = store.open(file)
    model = opened.model()
    if features is not None:
        model = retrospect.submodel(model, names(features))
    found = retrospect.summary(model, level=level)
    if as_json:
        emit(_as_dict(found, opened.schema.targets))
    else:
        click.echo(str(found))


def _as_dict(found: "Summary", targets: tuple[str, ...]) -> dict[str, Any]:
    """Return the table as plain data, by target and term."""
    import numpy as np

    whole = ("n_tasks", "n_samples", "degrees_of_freedom", "level", "posterior", "not_estimable")
    parts = ("r_squared", "noise_variance", "log_likelihood", "aic", "bic")
    columns = {"coef": found.coef, "standard_error": found.standard_errors, "t": found.t, "p_value": found.p_values}
    columns |= {"lower": found.intervals[..., 0], "upper": found.intervals[..., 1]}
    return {name: getattr(found, name) for name in whole} | {
        "targets": {
            target: {name: float(np.atleast_1d(getattr(found, name))[k]) for name in parts}
            | {
                "terms": {
                    term: {name: float(np.atleast_2d(values)[k, j]) for name, values in columns.items()}
                    for j, term in enumerate(found.terms)
                }
            }
            for k, target in enumerate(targets)
        }
    }
