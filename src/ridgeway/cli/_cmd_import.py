"""`ridgeway import`: a state file from an export."""

import click

from ridgeway.cli._failures import guarded
from ridgeway.cli._options import as_json_option, examples, state_file
from ridgeway.cli._output import emit


@click.command("import", epilog=examples("ridgeway import model.safetensors wages.rw"))
@click.argument("source", type=click.Path(), metavar="IN.safetensors")
@state_file
@as_json_option
@guarded()
def import_(source: str, file: str, as_json: bool) -> None:
    """Make a state file from what `ridgeway export` wrote. Exits with 2 if the export is damaged."""
    from ridgeway import store

    tasks = store.import_arrays(source, file).history()
    n_samples = sum(record.n_samples for record in tasks)
    if as_json:
        emit({"file": file, "n_tasks": len(tasks), "n_samples": n_samples})
    else:
        click.echo(f"{file}: {len(tasks)} tasks, {n_samples:,} rows")
