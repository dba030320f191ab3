"""`ridgeway init`: create a state file."""

from typing import Any

import click

from ridgeway.cli._options import choice, command, names, option, state_file
from ridgeway.cli._output import answer
from ridgeway.errors import InvalidParameterError


@command(
    "ridgeway init wages.rw --features age,education,tenure --target log_wage",
    "ridgeway init wages.rw --from survey.parquet --target log_wage --leave-out year,person",
)
@state_file
@click.option("--features", help="Names of the features, separated by commas.")
@click.option("--target", required=True, help="Name of the target, or of several, separated by commas.")
@click.option("--weight-column", help="Column with the weight of each row.")
@choice("--weight-kind", "precision", "frequency", words="What a weight is; frequency: how often the row was observed.")
@click.option("--from", "source", type=click.Path(), help="Use all other columns of this data file as features.")
@click.option("--leave-out", help="Columns of that file to leave out.")
@option("--prior", default=0.0, help="P = prior·I; it counts once.")
@click.option("--no-intercept", is_flag=True, help="Do not fit an intercept.")
@choice("--information", "square_root", "moments", words="moments is usually faster, but keeps half of the digits.")
def init(
    file: str,
    target: str,
    features: str | None,
    source: str | None,
    leave_out: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Create a new state file. The file must not exist. Exits with 2 if it cannot be created."""
    from ridgeway import store

    if (features is None) == (source is None):
        got = "neither" if features is None else "both"
        raise InvalidParameterError(
            f"name the features with --features, or a data file with --from; got {got}. Pass one of the two."
        )
    targets, chosen, weight_column = names(target), names(features), settings["weight_column"]
    if source is not None:
        chosen = store.features_of(source, leave_out=[*targets, *names(leave_out), *names(weight_column)])
    settings["fit_intercept"] = not settings.pop("no_intercept")
    made = store.create(file, features=chosen, target=targets[0] if len(targets) == 1 else targets, **settings)
    found = {"file": str(made.path), "features": chosen, "targets": targets, "weight_column": weight_column}
    said = f"{file}: {len(chosen)} features, target {', '.join(targets)}. Next, absorb a task."
    answer(found, said, as_json=as_json)
