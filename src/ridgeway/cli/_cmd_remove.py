"""`ridgeway remove`: take a task out of a state file."""

from typing import Any

import click

from ridgeway.cli._options import command, csv_options, data_file, state_file
from ridgeway.cli._output import answer, progress_bar


@command(
    "ridgeway remove wages.rw survey-2019.parquet --task 2019",
    "ridgeway remove wages.rw all.parquet --task 2019 --task-column year",
)
@state_file
@data_file
@click.option("--task", required=True, help="Id of the task.")
@click.option("--task-column", help="Column with the task of each row.")
@csv_options
def remove(file: str, data: str, task: str, task_column: str | None, csv: Any, as_json: bool) -> None:
    """Remove a task, as if it had never been absorbed. Needs exactly the rows that were absorbed.

    Exits with 2 and changes nothing if these are not the rows of the task, or if the remaining state would be
    inaccurate.
    """
    from ridgeway import store

    with progress_bar(f"removing {data}") as progress:
        record, digits = store.open(file).remove_table(
            data, task_id=task, task_column=task_column, csv=csv, progress=progress
        )
    said = f"{record.task_id}: removed, {record.n_samples:,} rows; up to {digits:.1f} decimal digits were lost"
    answer(record.as_dict(), said, as_json=as_json)
