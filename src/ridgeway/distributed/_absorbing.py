"""Absorb a task whose rows are spread over many files or partitions."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from os import PathLike
from typing import Any, NamedTuple

from ridgeway.data import CsvFormat, Progress, Schema, part_names
from ridgeway.distributed._finished import FinishedParts
from ridgeway.distributed._fixed_tree import FixedTree, Place
from ridgeway.distributed._partitions import delayed_tables, is_partitioned
from ridgeway.distributed._plan import RowRange, Survey, learned, planned, schema_of_all, surveyed
from ridgeway.distributed._window import PATIENCE, Cluster, completed, connected, require_dask
from ridgeway.errors import DuplicateTaskError, InvalidDataError
from ridgeway.store import Absorbed, PartialTask, Store, check_partial, checked_id


class _Submitted(NamedTuple):
    """How the rows of a task get to workers: by the names of files, or as partitions that are on the cluster."""

    names: list[str]
    survey: Callable[[int, Schema], Any]
    learn: Callable[[RowRange, Schema], Any]
    lasting: bool


def absorb(
    store: Store,
    files: Any,
    task: str,
    *,
    client: Any,
    force: str | None = None,
    csv: CsvFormat | None = None,
    progress: Progress | None = None,
    dropped: Counter[tuple[str, ...]] | None = None,
    added: list[str] | None = None,
    patience: float = PATIENCE,
) -> Absorbed:
    """Learn one task from many files, on a Dask cluster, whole or not at all.

    The state is the same, bit for bit, for any number of workers of one kind, in whatever order parts finish and
    however often one is repeated. The digest is that of the table with all rows: `Store.absorb_table` recognises it.
    Other writers can use the state file until the one commit at the end.

    Parameters
    ----------
    store : Store
    files : path, pattern or address of files, a list of them, a dask DataFrame, or a list of delayed tables or futures
        Rows are taken in the order of the names of the files, with numbers by value. The files of a pattern must be
        visible here; all files must be visible to every worker under the same name.
    task : str
        The id of the task.
    client : distributed.Client
    force, csv, progress, dropped, added : as for `Store.absorb_table`
    patience : float, default 60.0
        Seconds for which the cluster may be without any worker, at the beginning or later. Then the call ends with
        `WorkError`, and a second one does only what is missing.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from distributed import Client
    >>> from ridgeway import distributed, store
    >>> rows = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 2.0, 2.0, 4.0]})
    >>> with (
    ...     tempfile.TemporaryDirectory() as folder,
    ...     Client(processes=False, n_workers=1, dashboard_address=None) as client,
    ... ):
    ...     for part in range(2):
    ...         rows[2 * part :][:2].to_csv(f"{folder}/part-{part}.csv", index=False)
    ...     state = store.create(f"{folder}/state.rw", features=["x"], target="y")
    ...     _ = distributed.absorb(state, f"{folder}/part-*.csv", "May", client=client)
    ...     print(state.absorb_table(rows, task_id="May")[0].already)
    True
    """
    require_dask()
    name, before = checked_id(task), store.schema
    check_partial(before)
    source = _submitted(files, client, csv)
    cluster = connected(client, patience)
    surveys = _surveys(cluster, source, before)
    schema = schema_of_all(surveys, before)
    parts = planned([piece for survey in surveys for piece in survey.pieces])
    if not parts:
        raise InvalidDataError("there are no rows to learn. Leave out an empty task.")
    finished = FinishedParts(store.path, name, _keys(store, schema, parts, csv)) if source.lasting else None
    partial = _merged(cluster, source, schema, parts, finished, progress)
    try:
        outcome = store.absorb_partial(name, partial, before=before, force=force, added=added)
    except (DuplicateTaskError, InvalidDataError):
        if finished is not None:
            finished.clear()
        raise
    if finished is not None:
        finished.clear()
    if dropped is not None:
        for survey in surveys:
            dropped.update(survey.dropped)
    return outcome


def _submitted(files: Any, client: Any, csv: CsvFormat | None) -> _Submitted:
    """Return how the rows get to workers."""
    if not is_partitioned(files):
        listed: Iterable[Any] = [files] if isinstance(files, str | PathLike) else files
        names = part_names(list(listed))
        return _Submitted(
            names,
            lambda number, schema: client.submit(surveyed, names[number], schema, csv, pure=False),
            lambda part, schema: client.submit(learned, part, schema, csv, pure=False),
            True,
        )
    from dask import delayed

    tables = delayed_tables(files)
    names = [f"partition {number}" for number in range(len(tables))]

    def survey(number: int, schema: Schema) -> Any:
        return client.compute(delayed(surveyed, pure=False)(names[number], schema, None, tables[number]))

    def learn(part: RowRange, schema: Schema) -> Any:
        data = tables[part.first : part.first + len(part.pieces)]
        return client.compute(delayed(learned, pure=False)(part, schema, None, data))

    return _Submitted(names, survey, learn, False)


def _surveys(cluster: Cluster, source: _Submitted, schema: Schema) -> list[Survey]:
    """Return what is known of each file or partition, in order."""
    found: dict[int, Survey] = {}
    numbers, names = range(len(source.names)), [f"{name} cannot be counted" for name in source.names]
    for number, survey in completed(cluster, lambda n: source.survey(n, schema), names, numbers, "were counted"):
        found[number] = survey
    return [found[number] for number in numbers]


def _merged(
    cluster: Cluster,
    source: _Submitted,
    schema: Schema,
    parts: Sequence[RowRange],
    finished: FinishedParts | None,
    progress: Progress | None,
) -> PartialTask:
    """Return what all parts leave, merged in the tree; those that were finished before are not done again."""
    tree = FixedTree[PartialTask](len(parts), lambda left, right: left.followed_by(right))
    for place, arrays in () if finished is None else finished.load():
        tree.put(place, PartialTask.from_arrays(schema, arrays))
    left, n_rows = list(tree.missing()), sum(part.n_rows for part in parts)
    done = n_rows - sum(parts[number].n_rows for number in left)
    names = [f"the part that begins in {part.pieces[0]} failed" for part in parts]
    work = completed(cluster, lambda n: source.learn(parts[n], schema), names, left, "parts were finished")
    for number, arrays in work:
        if finished is not None:
            finished.save(Place(0, number), arrays)
        for place, node in tree.put(Place(0, number), PartialTask.from_arrays(schema, arrays)):
            if finished is not None:
                finished.save(place, node.to_arrays())
        done += parts[number].n_rows
        if progress is not None:
            progress(done, n_rows)
    return tree.root


def _keys(store: Store, schema: Schema, parts: Sequence[RowRange], csv: CsvFormat | None) -> list[str]:
    """Return what each part depends on: the state file and its columns, rows of data files, and who learns them."""
    common = [version("ridgeway"), store.file_id, schema.to_bytes().decode(), repr(csv)]
    return [json.dumps([*common, part.pieces, part.skip, part.n_rows]) for part in parts]
