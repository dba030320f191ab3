"""`ridgeway check`: whether a state file is intact."""

import sys

import click

from ridgeway._text import counted
from ridgeway.cli._failures import one_line
from ridgeway.cli._options import command, state_file
from ridgeway.cli._output import answer, emit, say
from ridgeway.errors import DamagedStoreError


@command("ridgeway check wages.rw", "ridgeway check wages.rw --restore-previous")
@state_file
@click.option("--restore-previous", is_flag=True, help="Return a damaged file to its previous generation.")
def check(file: str, restore_previous: bool, as_json: bool) -> None:
    """Check every digest and invariant. Exits with 1 if the file is damaged, with 2 if it is not a state file."""
    from ridgeway import store

    try:
        opened = store.restore_previous(file) if restore_previous else store.open(file)
        health = opened.check()
    except DamagedStoreError as error:
        if as_json:
            emit({"file": file, "in_order": False, "error": str(error)})
        say(f"ridgeway check: {one_line(error)}", err=True)
        sys.exit(1)
    again = [f"{file}: the previous generation was restored. Absorb again the tasks that were added after it."]
    kept = "not kept" if health.previous is None else f"{health.previous} kept"
    said = (
        f"{file}: intact. {counted(health.n_tasks, 'task')}, {counted(health.n_samples, 'row')}, "
        f"generation {health.generation} (previous: {kept}), {health.n_bytes:,} bytes of state"
        + (f", {health.n_nodes:,} parts and merged parts" if health.n_nodes else "")
    )
    answer(
        {"file": file, "in_order": True, **health.as_dict()},
        *(again if restore_previous else []),
        said,
        as_json=as_json,
    )
