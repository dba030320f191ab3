"""`ridgeway import`: a state file from an export."""

import click

from ridgeway.cli._options import command, state_file
from ridgeway.cli._output import answer
from ridgeway.errors import StoreError


@command("ridgeway import model.safetensors wages.rw")
@click.argument("source", type=click.Path(), metavar="IN.safetensors")
@state_file
def import_(source: str, file: str, as_json: bool) -> None:
    """Create a state file from an export. Exits with 2 if the export is damaged."""
    from ridgeway import store

    made = store.import_arrays(source, file)
    try:
        tasks = made.history()
    except StoreError as error:  # the file is made all the same
        unread = {"file": file, "n_tasks": None, "n_samples": None}
        answer(unread, f"{file}: made, but it could not be read back ({error})", as_json=as_json)
        return
    n_samples = sum(record.n_samples for record in tasks)
    found = {"file": file, "n_tasks": len(tasks), "n_samples": n_samples}
    answer(found, f"{file}: {len(tasks)} tasks, {n_samples:,} rows", as_json=as_json)
