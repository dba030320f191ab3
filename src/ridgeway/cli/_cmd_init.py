"""`ridgeway init`: create a state file."""

import click

from ridgeway.cli._failures import guarded
from ridgeway.cli._options import as_json_option, choice, examples, names, state_file
from ridgeway.cli._output import emit
from ridgeway.errors import InvalidParameterError


@click.command(
    epilog=examples(
        "ridgeway init wages.rw --features age,education,tenure --target log_wage",
        "ridgeway init wages.rw --from survey.parquet --target log_wage --leave-out year,person",
    )
)
@state_file
@click.option("--features", help="Names of the features, separated by commas.")
@click.option("--target", required=True, help="Name of the target, or of several, separated by commas.")
@click.option("--weight-column", help="Column with the weight of each row.")
@click.option("--from", "source", type=click.Path(), help="Use all other columns of this data file as features.")
@click.option("--leave-out", help="Columns of that file that are not features.")
@click.option("--prior", type=float, default=0.0, show_default=True, help="P = prior·I; it counts once.")
@click.option("--no-intercept", is_flag=True, help="Do not fit an intercept.")
@choice("--information", "square_root", "moments", words="moments is faster, but keeps only half of the digits.")
@as_json_option
@guarded()
def init(
    file: str,
    features: str | None,
    target: str,
    weight_column: str | None,
    source: str | None,
    leave_out: str | None,
    prior: float,
    no_intercept: bool,
    information: str,
    as_json: bool,
) -> None:
    """Create a state file, which must not exist. Exits with 2 if it cannot be created."""
    from ridgeway import store

    if (features is None) == (source is None):
        got = "neither" if features is None else "both"
        raise InvalidParameterError(
            f"name the features with --features, or a data file with --from; got {got}. Pass one of the two."
        )
    targets = names(target)
    chosen = names(features)
    if source is not None:
        others = [*targets, *names(leave_out), *names(weight_column)]
        chosen = store.features_of(source, leave_out=others)
    made = store.create(
        file,
        features=chosen,
        target=targets[0] if len(targets) == 1 else targets,
        weight_column=weight_column,
        prior=prior,
        fit_intercept=not no_intercept,
        information=information,
    )
    if as_json:
        emit({"file": str(made.path), "features": chosen, "targets": targets, "weight_column": weight_column})
    else:
        click.echo(f"{file}: {len(chosen)} features, target {', '.join(targets)}. Next, absorb a task.")
