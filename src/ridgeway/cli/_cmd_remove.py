"""`ridgeway remove`: take a task out of a state file."""

from typing import Any

import click

from ridgeway._text import counted, did_you_mean
from ridgeway.cli._options import command, csv_options, state_file
from ridgeway.cli._output import answer, notes_on, progress_bar
from ridgeway.errors import InvalidParameterError, RemovalError, StoreError


@command(
    "ridgeway remove wages.rw survey-2019.parquet --task 2019",
    "ridgeway remove wages.rw all.parquet --task 2019 --task-column year",
    "ridgeway remove flights.rw --task 2013-04  # if the file keeps its tasks",
)
@state_file
@click.argument("data", type=click.Path(), metavar="[DATA]", required=False)
@click.option("--task", required=True, help="Id of the task.")
@click.option("--task-column", help="Column that holds the task id of each row.")
@csv_options
def remove(file: str, data: str | None, task: str, task_column: str | None, csv: Any, as_json: bool) -> None:
    """Remove a task, as if it had never been absorbed.

    Needs exactly the rows that were absorbed, unless the file keeps its tasks. Without DATA, rows that were forced in
    under the same id are removed first, starting with the most recent. If a reference level loses its last row, another
    one takes its place, which changes no prediction. Exits with 2 and changes nothing if these are
    not the rows of the task, or if the remaining state would be inaccurate.
    """
    from ridgeway import store
    from ridgeway.data import new_references

    opened = store.open(file)
    tasks = [record.task_id for record in opened.history()]
    if task not in tasks:
        near = did_you_mean(task, tasks)
        raise RemovalError(f"there is no task {task!r} in the state file.{near} `ridgeway history` lists the tasks.")
    before = opened.schema
    if data is None:
        if task_column is not None or csv is not None:
            raise InvalidParameterError("no data file was given. Leave out the options that describe one.")
        record, digits = opened.remove(task)
    else:
        with progress_bar(f"removing {data}") as progress:
            record, digits = opened.remove_table(
                data, task_id=task, task_column=task_column, csv=csv, progress=progress
            )
    lost = f"up to {digits:.1f} decimal digits were lost" if digits else "no digits were lost"
    lines = [f"{record.task_id}: removed, {counted(record.n_samples, 'row')}; {lost}"]

    # The task is removed, even if the disk now fails to say how the references stand.
    try:
        references = new_references(before, opened.schema)
        notes = notes_on(opened.empty_references())
    except StoreError as error:
        references = {}
        notes = [f"Whether a reference has changed could not be read back ({error})."]
    for key, level in references.items():
        lines.append(f"No row has {key}={before.encoding.levels[key][0]} any more. The reference is now {key}={level}.")
    lines += notes
    answer(record.as_dict() | {"references": references}, *lines, as_json=as_json)
