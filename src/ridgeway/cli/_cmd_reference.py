"""`ridgeway reference`: another reference level for a category of a state file."""

from typing import Any

import click

from ridgeway.cli._options import command, levels_by_column, state_file
from ridgeway.cli._output import answer


@command("ridgeway reference flights.rw carrier=UA")
@state_file
@click.argument("reference", nargs=-1, required=True, metavar="COLUMN=CATEGORY...")
def reference(file: str, reference: tuple[str, ...], as_json: bool) -> None:
    """Choose another reference level for a category.

    The result is exactly as if it had been the reference from the beginning: predictions stay the same, and the
    coefficients of the category become differences from the new level. Exits with 2 and changes nothing if this is not
    possible: with a prior, without an intercept, or if no row has the level.
    """
    from ridgeway import store

    wanted: dict[str, Any] = levels_by_column(reference, "a reference level")
    schema = store.open(file).change_references(wanted)
    found = {"file": file, "version": schema.version, "features": list(schema.features), "references": wanted}
    said = ", ".join(f"{key}={level}" for key, level in wanted.items())
    answer(found, f"{file}: coefficients are now differences from {said}", as_json=as_json)
