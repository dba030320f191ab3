"""`ridgeway widen`: more categories, features or targets for a state file."""

from collections import defaultdict
from typing import Any

import click

from ridgeway._text import counted
from ridgeway.cli._options import command, names, pairs, state_file
from ridgeway.cli._output import answer
from ridgeway.errors import InvalidParameterError


@command(
    "ridgeway widen flights.rw --category carrier=ZZ",
    "ridgeway widen flights.rw --feature humidity --past-value 0",
)
@state_file
@click.option("--category", multiple=True, metavar="COLUMN=CATEGORY", help="A new category. No past row had it.")
@click.option("--feature", help="A new feature: a column, or a term such as log(humidity).")
@click.option("--target", help="A new target.")
@click.option("--past-value", help="The value that the new column had in every past row.")
@click.option("--prior", help="The prior of the new feature, if the prior is not a single number.")
def widen(file: str, as_json: bool, **options: Any) -> None:
    """Add categories, a feature or a target.

    The result is exactly as if they had been there from the beginning. With an intercept, the past value of a new
    column can be any constant; without one it must be 0. Exits with 2 and changes nothing if this is not possible.
    """
    from ridgeway import store

    opened = store.open(file)
    before = opened.schema
    schema = opened.widen(**_wanted(options))
    added = [name for name in (*schema.features, *schema.targets) if name not in (*before.features, *before.targets)]
    found = {"file": file, "version": schema.version, "features": list(schema.features), "added": added}
    answer(found, f"{file}: added {', '.join(added)}; {counted(len(schema.features), 'feature')}", as_json=as_json)


def _wanted(options: dict[str, Any]) -> dict[str, Any]:
    """Return what to add."""
    categories: dict[str, list[str]] = defaultdict(list)
    for column, category in pairs(options["category"], "--category"):
        categories[column].append(category)
    named = [name for name in ("feature", "target") if options[name] is not None]
    if len(named) > 1 or (named and options["past_value"] is None):
        raise InvalidParameterError(
            "name one feature or one target, with the value that it had in every past row (--past-value)."
        )
    if options["past_value"] is not None and not named:
        raise InvalidParameterError("--past-value needs --feature or --target. Pass one of them.")
    new = {f"{name}s": {options[name]: _value(options["past_value"])} for name in named}
    prior = None if options["prior"] is None else [_number(text) for text in names(options["prior"])]
    return {"categories": categories, "prior": prior, **new}


def _value(text: str) -> float | str:
    """Return a number if the text is one."""
    try:
        return float(text)
    except ValueError:
        return text


def _number(text: str) -> float:
    value = _value(text)
    if isinstance(value, str):
        raise InvalidParameterError(f"--prior must be a number, or numbers separated by commas; got {text!r}.")
    return value
