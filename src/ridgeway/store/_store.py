"""The state file: what it has learned, and every way to change it."""

import os
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from ridgeway._checks import nonnegative
from ridgeway.data import (
    Block,
    InformationKind,
    Progress,
    WeightKind,
    check_file,
    checked_rows,
    checked_schema,
    cut,
    explained,
    open_table,
    tasks_in,
)
from ridgeway.errors import InvalidParameterError
from ridgeway.estimators import GeneralizedRidge
from ridgeway.store._absorb import Absorbed, Removed, absorb, checked_id, checked_reason, one_task, remove
from ridgeway.store._changes import Contents, Handle, write_state
from ridgeway.store._connection import as_path, check_mount, inode_of, transaction
from ridgeway.store._digests import Array
from ridgeway.store._exchange import export, imported, predict_table, rows_of
from ridgeway.store._generations import MEMORY_BUDGET, read_arrays, read_generation, read_ledger, stream_ledger
from ridgeway.store._ledger import Record
from ridgeway.store._merge import Snapshot, merged
from ridgeway.store._recovery import Health, back_up, full_check, restore
from ridgeway.store._state import described, empty_arrays, model_of
from ridgeway.weights import PriorValue

TIMEOUT = 60.0
LONGEST_WAIT = 1e6
"""Limit on timeouts in seconds: SQLite counts milliseconds in 32 bits."""


class Store:
    """A state file on disk. Make one with `create`, open one with `open`.

    Every call reads the file again, in one transaction, and checks what it reads; nothing is kept open between calls.
    So several processes and threads can use the same file. If another file takes its name, calls fail.

    Attributes
    ----------
    path : Path
    schema : Schema
    file_id : str
        Id of the file, chosen at random when it was made.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self.path, self.schema, self.file_id = handle.path, handle.schema, handle.file_id

    def __repr__(self) -> str:
        return f"<Store {str(self.path)!r}: {len(self.schema.features)} features, {len(self.schema.targets)} target(s)>"

    def absorb(self, task_id: str, X: Any, y: Any, sample_weight: Any = None, *, force: str | None = None) -> Absorbed:
        """Learn a task. When this returns, the task survives a power loss.

        The same id with the same content counts once, however often it is absorbed.

        Parameters
        ----------
        task_id : str
        X : array with columns in the schema's order, or DataFrame, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
        force : str, optional
            A reason to absorb rows whose id has other content, or whose content has another id. The ledger keeps it if
            it was needed.
        """
        source = one_task(checked_id(task_id), self._blocks(X, y, sample_weight))
        (outcome,) = absorb(self._handle, source, checked_reason(force))
        return outcome

    def remove(self, task_id: str, X: Any, y: Any, sample_weight: Any = None) -> Removed:
        """Remove a task, as if it had never been absorbed, or raise `RemovalError` and change nothing.

        Exactly its rows must be passed. The previous generation is dropped, and what is freed is overwritten.
        """
        source = one_task(checked_id(task_id), self._blocks(X, y, sample_weight))
        return remove(self._handle, task_id, source)

    def absorb_file(
        self,
        path: str | PathLike[str],
        *,
        task_id: str | None = None,
        task_column: str | None = None,
        force: str | None = None,
        progress: Progress | None = None,
    ) -> list[Absorbed]:
        """Learn a CSV, Parquet or Arrow file, whole or not at all: as one task, or as one per value of a column.

        The file is read in blocks, so memory stays at a few blocks plus the state. Other writers wait until it is done.

        Parameters
        ----------
        path : the data file, with the columns of the schema in any order
        task_id : the id of the task; or
        task_column : the column that says which task a row belongs to
        force : as for `absorb`
        progress : called with the number of rows read so far and, if known, of the file
        """
        if (task_id is None) == (task_column is None):
            got = "neither" if task_id is None else "both"
            raise InvalidParameterError(f"name either a task or a task column; got {got}.")
        table = open_table(path)
        known = None if task_id is None else checked_id(task_id)
        check_file(table, self.schema, task_column)
        with explained(table, self.schema.columns):
            return absorb(
                self._handle,
                lambda: tasks_in(table, self.schema, known, task_column, progress),
                checked_reason(force),
            )

    def remove_file(
        self,
        path: str | PathLike[str],
        *,
        task_id: str,
        task_column: str | None = None,
        progress: Progress | None = None,
    ) -> Removed:
        """Remove a task, as `remove` does: the rows of a data file, or those with the id in the task column."""
        table, known = open_table(path), checked_id(task_id)
        check_file(table, self.schema, task_column)
        with explained(table, self.schema.columns):
            return remove(
                self._handle,
                known,
                lambda: (
                    task for task in tasks_in(table, self.schema, task_id, task_column, progress) if task[0] == known
                ),
            )

    def rows(self, path: str | PathLike[str]) -> tuple[Any, Array, Array | None]:
        """Return the rows of a data file, checked, as X (a pyarrow Table), y and sample_weight; nothing is learned.

        They are what `retrospect.compare` takes. All rows are in memory at once.
        """
        return rows_of(path, self.schema)

    def merge(self, other: "Store | str | PathLike[str]", out: str | PathLike[str]) -> "Store":
        """Make a new state file, as if one had absorbed the tasks of both, or raise `MergeError` with what differs."""
        others = other if isinstance(other, Store) else open(other, timeout=self._handle.timeout)
        return _made(as_path(out), merged(self.snapshot(), others.snapshot()), self._handle.timeout)

    def backup(self, path: str | PathLike[str]) -> Health:
        """Copy the file, even while it is in use, to a path that must not exist yet; return the result of `check`.

        The copy appears once it is complete, on disk and checked in full. It has the same id as the file.
        """
        return back_up(self._handle, as_path(path))

    def export(self, path: str | PathLike[str]) -> None:
        """Write the state as plain arrays with a manifest (.safetensors), or the coefficients as a table (.csv).

        The file must not exist yet. `import_arrays` turns a .safetensors export into a state file again.
        """
        export(self.snapshot(), as_path(path))

    def predict_file(
        self, path: str | PathLike[str], out: str | PathLike[str], *, progress: Progress | None = None
    ) -> int:
        """Write predictions for the rows of a data file, in their order, to another; return the number of rows.

        The other file must not exist yet, and appears once it is complete.
        """
        where = as_path(out)
        if os.path.realpath(where) in (os.path.realpath(self.path), os.path.realpath(path)):
            raise InvalidParameterError(f"{where} is an input of this call. Write the predictions to another file.")
        return predict_table(model_of(self.schema, self._arrays(), named=False), self.schema, path, where, progress)

    def model(self) -> GeneralizedRidge:
        """Return the fitted model."""
        return model_of(self.schema, self._arrays())

    def describe(self) -> dict[str, Any]:
        """Return coefficients, rank, condition and sizes, as plain data."""
        return described(self.schema, self._arrays())

    def history(self) -> tuple[Record, ...]:
        """Return a record of each task that the state holds, in the order in which they were absorbed."""
        return tuple(record for record in self.ledger() if record.removed is None)

    def ledger(self) -> tuple[Record, ...]:
        """Return every record, including those of tasks that were removed."""
        with transaction(self.path, write=False, timeout=self._handle.timeout) as connection:
            generation = self._handle.check(read_generation(connection, self.path))
            return tuple(entry.record for entry in stream_ledger(connection, generation, self.path, full=False))

    def check(self) -> Health:
        """Check every digest and every invariant of the file; raise `DamagedStoreError` if one does not hold."""
        return full_check(self._handle)

    def snapshot(self) -> Snapshot:
        """Return the current generation, its ledger and its arrays, all digests checked."""
        with transaction(self.path, write=False, timeout=self._handle.timeout) as connection:
            now = self._handle.check(read_generation(connection, self.path))
            return Snapshot(now, read_ledger(connection, now, self.path), read_arrays(connection, now, self.path))

    def _arrays(self) -> dict[str, Array]:
        with transaction(self.path, write=False, timeout=self._handle.timeout) as connection:
            now = self._handle.check(read_generation(connection, self.path))
            return read_arrays(connection, now, self.path)

    def _blocks(self, X: Any, y: Any, sample_weight: Any) -> Callable[[], Iterator[Block]]:
        """Return the blocks of rows in memory, checked now and cut each time they are asked for."""
        rows = checked_rows(self.schema, X, y, sample_weight)
        return lambda: cut(self.schema, rows)


def create(
    path: str | PathLike[str],
    *,
    features: Iterable[str],
    target: str | Iterable[str],
    weight_column: str | None = None,
    weight_kind: WeightKind = "precision",
    prior: PriorValue = 0.0,
    fit_intercept: bool = True,
    information: InformationKind = "square_root",
    timeout: float = TIMEOUT,
) -> Store:
    """Make a state file, which must not exist yet.

    Parameters
    ----------
    path : where
    features : names of the features
    target : name of the target, or names of several
    weight_column : the column of a data file that holds the weights of the rows, optional
    weight_kind, prior, fit_intercept, information : as for `weights.Accumulated` and `GeneralizedRidge`
    timeout : the longest wait for other processes, in seconds
    """
    schema = checked_schema(
        features,
        target,
        weight_column=weight_column,
        fit_intercept=fit_intercept,
        information=information,
        weight_kind=weight_kind,
    )
    n_bytes = 8 * schema.width**2
    if n_bytes > MEMORY_BUDGET:
        raise InvalidParameterError(
            f"the state of {schema.width} columns would have {n_bytes} bytes, beyond the budget of {MEMORY_BUDGET}. "
            "Name fewer features."
        )
    seconds = min(nonnegative(timeout, "timeout"), LONGEST_WAIT)
    return _made(as_path(path), Contents((schema.to_bytes(),), (), empty_arrays(schema, prior)), seconds)


def open(path: str | PathLike[str], *, timeout: float = TIMEOUT) -> Store:
    """Open a state file, after a check of the digests of its state.

    Parameters
    ----------
    path : the file
    timeout : the longest wait for other processes, in seconds
    """
    where, seconds = as_path(path), min(nonnegative(timeout, "timeout"), LONGEST_WAIT)
    check_mount(where)
    with transaction(where, write=False, timeout=seconds) as connection:
        now = read_generation(connection, where)
        read_arrays(connection, now, where)
        inode = inode_of(where)
    return Store(Handle(where, inode, now.file_id, now.schema, seconds))


def restore_previous(path: str | PathLike[str], *, timeout: float = TIMEOUT) -> Store:
    """Go back to the previous generation of a file whose current one is damaged; nothing else ever does.

    What was absorbed last is lost and must be absorbed again. An intact file is refused.
    """
    where, seconds = as_path(path), min(nonnegative(timeout, "timeout"), LONGEST_WAIT)
    check_mount(where)
    return Store(restore(where, seconds))


def import_arrays(source: str | PathLike[str], path: str | PathLike[str], *, timeout: float = TIMEOUT) -> Store:
    """Make a state file, which must not exist yet, from what `Store.export` wrote."""
    seconds = min(nonnegative(timeout, "timeout"), LONGEST_WAIT)
    return _made(as_path(path), imported(as_path(source)), seconds)


def _made(path: Path, contents: Contents, timeout: float) -> Store:
    return Store(write_state(path, contents, timeout))
