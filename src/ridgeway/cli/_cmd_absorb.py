"""`ridgeway absorb`: learn a data file."""

import click

from ridgeway.cli._options import command, data_file, state_file
from ridgeway.cli._output import answer, progress_bar


@command(
    "ridgeway absorb wages.rw survey-2019.parquet --task 2019",
    "ridgeway absorb wages.rw all.parquet --task-column year       one task per value",
    "ridgeway absorb wages.rw late.csv --task 2019 --force 'late returns, other households'",
)
@state_file
@data_file
@click.option("--task", help="Id of the task.")
@click.option("--task-column", help="Column with the task of each row.")
@click.option(
    "--force",
    metavar="REASON",
    help="Absorb a task whose id or rows were absorbed before; the ledger keeps the reason.",
)
def absorb(file: str, data: str, task: str | None, task_column: str | None, force: str | None, as_json: bool) -> None:
    """Learn a CSV, TSV, Parquet or Arrow file, completely or not at all.

    The command can be repeated safely: a task with the same rows counts once. If it exits with 0, what it learned
    survives a power failure. If it exits with 2, the state file is unchanged.
    """
    from ridgeway import store

    with progress_bar(f"absorbing {data}") as progress:
        found = store.open(file).absorb_file(
            data, task_id=task, task_column=task_column, force=force, progress=progress
        )
    outcomes, lines = [], []
    for record, already in found:
        outcomes.append(record.as_dict() | {"already": already, "forced": not already and record.reason is not None})
        words = "already absorbed" if already else "absorbed"
        note = "" if force in (None, record.reason) else "; --force was not needed; its reason was not kept"
        lines.append(f"{record.task_id}: {words}, {record.n_samples:,} rows, digest {record.digest[:12]}{note}")
    answer(outcomes, *lines, as_json=as_json)
