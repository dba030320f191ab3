"""`ridgeway init`: create a state file."""

from typing import TYPE_CHECKING, Any

import click

from ridgeway._text import counted
from ridgeway.cli._options import (
    FAMILY_NAMES,
    choice,
    command,
    csv_options,
    levels_by_column,
    names,
    option,
    state_file,
)
from ridgeway.cli._output import answer
from ridgeway.errors import InvalidParameterError

if TYPE_CHECKING:
    from ridgeway.store import Encoding

PASSED = (
    "weight_column",
    "weight_kind",
    "prior",
    "information",
    "min_rows",
    "cluster_column",
    "family",
    "memory",
    "offset",
    "exposure",
)
USED_OTHERWISE = ("weight_column", "cluster_column", "offset", "exposure")
"""Options that name columns which are not features, unless they are named as such."""
PRIVACY = (
    "What is kept of a small task gives away more than a total. If the task has no more rows than features, its "
    "part determines the space that the rows span; if it has one row, its part is that row."
)
FOURTH = (
    "Fourth moments give more away than the part alone: extreme values and rare combinations show in them, and "
    "the fourth moments of a small task may determine its rows."
)


@command(
    "ridgeway init wages.rw --features age,education,tenure --target log_wage",
    "ridgeway init flights.rw --from flights-2013-01.parquet --target arr_delay --leave-out tailnum,time_hour",
    "ridgeway init flights.rw --from jan.csv --target arr_delay --features 'carrier,log(distance),month(date)'",
    "ridgeway init risk.rw --from jan.parquet --target late --family binomial --memory cubic",
    "ridgeway init ships.rw --features tonnage,age --target incidents --family poisson --exposure service",
)
@state_file
@click.option("--features", help="Names of the features, or with --from terms such as log(age), separated by commas.")
@click.option("--target", help="Name of the target, or of several, separated by commas.")
@click.option("--weight-column", help="Column with the weight of each row.")
@choice(
    "--weight-kind",
    "precision",
    "frequency",
    words="Meaning of a weight; frequency is the number of times the row was observed.",
)
@click.option("--from", "source", type=click.Path(), help="A first data file: its columns and categories are used.")
@click.option("--leave-out", help="Columns of data files that are not used, separated by commas.")
@choice(
    "--missing", "refuse", "drop", "indicator", words="Missing values: refuse the file, drop the rows, or mark them."
)
@choice(
    "--unknown",
    "refuse",
    "other",
    "widen",
    words="Unknown categories: refuse the file, count them as (other), or add them.",
)
@click.option("--reference", multiple=True, metavar="COLUMN=CATEGORY", help="Reference level of a categorical column.")
@click.option("--ignore-extra", is_flag=True, help="Allow data files to have other columns too.")
@csv_options
@option("--prior", default=0.0, help="Ridge penalty on the coefficients (P = prior·I), counted once for all tasks.")
@click.option("--no-intercept", is_flag=True, help="Do not fit an intercept.")
@choice(
    "--information",
    "square_root",
    "moments",
    words="moments is usually faster, but loses twice as many digits on badly conditioned columns.",
)
@click.option(
    "--keep",
    help="What to keep besides the total: tasks, so that they can be removed without their rows; or "
    "tasks,fourth-moments, for summary --errors HC1.",
)
@click.option("--min-rows", type=int, help="Fewest rows that a kept task may have.  [default: p + 1, at least 10]")
@click.option("--cluster-column", help="Column that divides the rows of each task into clusters; with --keep tasks.")
@choice(
    "--family",
    *FAMILY_NAMES,
    words="What the target is: a number, one of two classes, a count, or one of any number of classes.",
)
@click.option(
    "--memory",
    type=click.Choice(["quadratic", "cubic"]),
    help="How the past of family binomial or poisson is kept.  [default: quadratic]",
)
@click.option("--offset", help="Column that is added to the linear predictor of family binomial or poisson.")
@click.option("--exposure", help="Column with the exposure of each count, above 0; its logarithm is the offset.")
@click.option("--classes", help="Classes that are known beforehand, separated by commas.")
def init(file: str, target: str | None, no_intercept: bool, as_json: bool, **options: Any) -> None:
    """Create a new state file. The file must not exist. Exits with 2 if it cannot be created.

    With --from, text columns become categories, and terms say how columns are used: log(distance), distance^2,
    spline(hour, 6, 12, 18), month(date), weekday(date), hour(time), days(date, 2013-01-01), category(store) and
    carrier:distance.
    """
    from ridgeway import store
    from ridgeway.data import checked_offset_column

    targets = names(target)
    features = _features(targets, options)
    settings = {name: options[name] for name in PASSED}
    keep = names(options["keep"])
    made = store.create(
        file,
        features=features,
        target=targets[0] if len(targets) == 1 else targets,
        fit_intercept=not no_intercept,
        keep=keep or None,
        classes=_labels(names(options["classes"])),
        **settings,
    )
    encoding = features if isinstance(features, store.Encoding) else None
    listed = [*(names(options["features"]) if encoding is None else encoding.features)]
    found = {"file": str(made.path), "features": listed, "targets": targets, "weight_column": options["weight_column"]}
    found["family"] = options["family"]
    found |= {name: options[name] for name in ("offset", "exposure") if options[name] is not None}
    family = options["family"]
    kind = "" if family == "gaussian" else f" of family {family}"
    offset = checked_offset_column(options["offset"], options["exposure"])
    kind += "" if offset is None else f", {offset.word} {offset.name}"
    said = f"{file}: {counted(len(listed), 'feature')}, target {', '.join(targets)}{kind}. Next, absorb a task."
    warnings = [*([PRIVACY] if keep else []), *([FOURTH] if "fourth-moments" in keep else [])]
    answer(
        found,
        *_encoded(encoding, [*targets, *([] if offset is None else [offset.name])]),
        *warnings,
        said,
        as_json=as_json,
    )


def _labels(words: list[str]) -> list[Any] | None:
    """Return classes as a data file has them: whole numbers and bools, if all are, and text otherwise."""
    if not words:
        return None
    if all(word.lower() in ("true", "false") for word in words):
        return [word.lower() == "true" for word in words]
    whole = all(word.removeprefix("-").isdecimal() and word.isascii() for word in words)
    return [int(word) for word in words] if whole else words


def _encoded(encoding: "Encoding | None", others: list[str]) -> list[str]:
    """Return how the columns of a table become features, a line each; `others` are used, but not as features."""
    if encoding is None:
        return []
    lines = [
        f"{key}: {counted(len(levels), 'category')}, reference {levels[0]!r}" for key, levels in encoding.levels.items()
    ]
    ignored = [name for name in encoding.ignored if name not in others]
    return [*lines, *([f"left out: {', '.join(ignored)}"] if ignored else [])]


def _features(targets: list[str], options: dict[str, Any]) -> "list[str] | Encoding":
    """Return the features that the options name."""
    from ridgeway import store

    features, source = options["features"], options["source"]
    if not targets:
        raise InvalidParameterError("no target was given. Name it with --target.")
    if source is None:
        if features is None:
            raise InvalidParameterError(
                "no features were given. Name them with --features, or a first data file with --from."
            )
        return names(features)
    used_otherwise = [options[key] for key in USED_OTHERWISE if options[key] is not None]
    return store.encoding_of(
        source,
        features=features,
        target=targets,
        weight_column=options["weight_column"],
        leave_out=[*names(options["leave_out"]), *used_otherwise],
        missing=options["missing"],
        unknown=options["unknown"],
        references=levels_by_column(options["reference"], "--reference"),
        ignore_extra=options["ignore_extra"],
        csv=options["csv"],
    )
