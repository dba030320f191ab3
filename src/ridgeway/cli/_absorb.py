"""`ridgeway absorb` and `ridgeway remove`: tasks into a state file, and out of it again."""

import click

from ridgeway.cli._failures import guarded
from ridgeway.cli._shared import Progress, as_json_option, emit, state_file

__all__ = ["absorb", "remove"]

ABSORB_EXAMPLES = """\b
Examples:
  ridgeway absorb wages.rw survey-2019.parquet --task 2019
  ridgeway absorb wages.rw all.parquet --task-column year       one task per value
  ridgeway absorb wages.rw late.csv --task 2019 --force 'late returns, other households'
"""
REMOVE_EXAMPLES = """\b
Examples:
  ridgeway remove wages.rw survey-2019.parquet --task 2019
  ridgeway remove wages.rw all.parquet --task 2019 --task-column year
"""
data_file = click.argument("data", type=click.Path(), metavar="DATA")


@click.command(epilog=ABSORB_EXAMPLES)
@state_file
@data_file
@click.option("--task", help="Id of the task.")
@click.option("--task-column", help="Column that says which task a row belongs to.")
@click.option("--force", metavar="REASON", help="Take in an id or content that is there already; the ledger says why.")
@as_json_option
@guarded()
def absorb(file: str, data: str, task: str | None, task_column: str | None, force: str | None, as_json: bool) -> None:
    """Learn a CSV, Parquet or Arrow file, whole or not at all.

    Safe to repeat: a task with the same rows counts once. When the command ends with 0, what it learned survives a
    power loss; with 2, the state file is as it was.
    """
    from ridgeway import store

    with Progress(f"absorbing {data}") as progress:
        outcomes = store.open(file).absorb_file(
            data, task_id=task, task_column=task_column, force=force, progress=progress
        )
    if as_json:
        emit(
            [
                {**record.as_dict(), "already": already, "forced": not already and record.reason is not None}
                for record, already in outcomes
            ]
        )
        return
    for record, already in outcomes:
        words = "already absorbed" if already else "absorbed"
        note = "" if force in (None, record.reason) else "; --force was not needed, and its reason is not kept"
        click.echo(f"{record.task_id}: {words}, {record.n_samples:,} rows, digest {record.digest[:12]}{note}")


@click.command(epilog=REMOVE_EXAMPLES)
@state_file
@data_file
@click.option("--task", required=True, help="Id of the task.")
@click.option("--task-column", help="Column that says which rows of the file are the task's.")
@as_json_option
@guarded()
def remove(file: str, data: str, task: str, task_column: str | None, as_json: bool) -> None:
    """Take a task out again, as if it had never been absorbed. Needs the very rows.

    Exits with 2, and changes nothing, where the rows are not those of the task or what remains would not be safe.
    """
    from ridgeway import store

    with Progress(f"removing {data}") as progress:
        record, digits = store.open(file).remove_file(data, task_id=task, task_column=task_column, progress=progress)
    if as_json:
        emit(record.as_dict())
    else:
        click.echo(f"{record.task_id}: removed, {record.n_samples:,} rows; up to {digits:.1f} decimal digits were lost")
