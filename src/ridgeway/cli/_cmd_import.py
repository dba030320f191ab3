"""`ridgeway import`: a state file from an export."""

import click

from ridgeway.cli._options import command, state_file
from ridgeway.cli._output import answer_made


@command("ridgeway import model.safetensors wages.rw")
@click.argument("source", type=click.Path(), metavar="IN.safetensors")
@state_file
def import_(source: str, file: str, as_json: bool) -> None:
    """Create a state file from an export. Exits with 2 if the export is damaged."""
    from ridgeway import store

    answer_made(store.import_arrays(source, file), "file", file, as_json=as_json)
