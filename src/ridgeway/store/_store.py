"""The state file: what it has learned, and every way to change it."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import (
    Block,
    Progress,
    Schema,
    check_file,
    checked_rows,
    checked_schema,
    cut,
    explained,
    open_table,
    read_rows,
    tasks_in,
)
from ridgeway.errors import InvalidDataError, InvalidParameterError, StoreError
from ridgeway.estimators import GeneralizedRidge
from ridgeway.store._absorb import Absorbed, Removed, absorb, one_task, remove
from ridgeway.store._connection import as_path, check_pages, transaction
from ridgeway.store._exchange import export_arrays, export_coefficients, predict_table
from ridgeway.store._exchange import import_arrays as exchanged
from ridgeway.store._generations import (
    MEMORY_BUDGET,
    Generation,
    check_previous,
    open_generation,
    read_arrays,
    write_state,
)
from ridgeway.store._merge import merged
from ridgeway.store._records import Record, checked_id, checked_reason, live, totals
from ridgeway.store._recovery import migrate, restore
from ridgeway.store._state import check_state, described, empty_arrays, model_of

Array = NDArray[np.float64]

TIMEOUT = 60.0


@dataclass(frozen=True)
class Health:
    """What `Store.check` found in order.

    Attributes
    ----------
    generation : the number of the current generation
    previous : that of the one before, if it is kept
    n_tasks, n_samples : tasks and rows, by the ledger and by the state alike
    n_bytes : bytes of the state's arrays
    """

    generation: int
    previous: int | None
    n_tasks: int
    n_samples: int
    n_bytes: int

    def as_dict(self) -> dict[str, Any]:
        """Return what was found as plain data."""
        return asdict(self)


class Store:
    """A state file on disk. Make one with `create`, open one with `open`.

    Every call reads the file anew, in one transaction, and checks what it reads; nothing is held open between calls.
    So several processes and threads can use the same file.

    Attributes
    ----------
    path : Path
    schema : Schema
    """

    def __init__(self, path: Path, schema: Schema, timeout: float) -> None:
        self.path = path
        self.schema = schema
        self._timeout = timeout

    def __repr__(self) -> str:
        return f"<Store {str(self.path)!r}: {len(self.schema.features)} features, {len(self.schema.targets)} target(s)>"

    def absorb(self, task_id: str, X: Any, y: Any, sample_weight: Any = None, *, force: str | None = None) -> Absorbed:
        """Learn a task. When this returns, it survives a power loss.

        The same id with the same content counts once, however often it is absorbed.

        Parameters
        ----------
        task_id : str
        X : array with columns in the schema's order, or DataFrame, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
        force : str, optional
            Why rows are to be taken in though the id has other content, or the content another id. The ledger keeps it
            where that was so.
        """
        source = one_task(checked_id(task_id), self._blocks(X, y, sample_weight))
        (outcome,) = absorb(self.path, self._timeout, self.schema, source, checked_reason(force))
        return outcome

    def remove(self, task_id: str, X: Any, y: Any, sample_weight: Any = None) -> Removed:
        """Take a task out again, as if it had never been absorbed, or raise `RemovalError` and change nothing.

        The very rows must be passed. The previous generation is dropped and what is freed is overwritten.
        """
        source = one_task(checked_id(task_id), self._blocks(X, y, sample_weight))
        return remove(self.path, self._timeout, self.schema, task_id, source)

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

        The file is read in blocks, so that memory stays at a few blocks plus the state. Other writers wait meanwhile.

        Parameters
        ----------
        path : the data file, with the columns of the schema in any order
        task_id : the id of the task; or
        task_column : the column that says which task a row belongs to
        force : as for `absorb`
        progress : called with the rows read so far, and those of the file where that is known
        """
        if (task_id is None) == (task_column is None):
            got = "neither" if task_id is None else "both"
            raise InvalidParameterError(f"name either the task or the column of the tasks; got {got}. Name one.")
        table = open_table(path)
        known = None if task_id is None else checked_id(task_id)
        check_file(table, self.schema, task_column)
        with explained(table, self.schema.columns):
            return absorb(
                self.path,
                self._timeout,
                self.schema,
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
        """Take a task out again, as `remove`: the rows of a data file, or those with the id in the task column."""
        table, known = open_table(path), checked_id(task_id)
        check_file(table, self.schema, task_column)
        with explained(table, self.schema.columns):
            return remove(
                self.path,
                self._timeout,
                self.schema,
                known,
                lambda: (
                    task for task in tasks_in(table, self.schema, task_id, task_column, progress) if task[0] == known
                ),
            )

    def rows(self, path: str | PathLike[str]) -> tuple[Any, Array, Array | None]:
        """Return the rows of a data file, checked, as X (a pyarrow Table), y and sample_weight; nothing is learned.

        What `retrospect.compare` takes. All rows are in memory at once.
        """
        blocks = list(read_rows(path, self.schema))
        if not blocks:
            raise InvalidDataError(f"{path} has no rows. Pass a file with some.")
        from pyarrow import table

        X, y = np.vstack([block.X for block in blocks]), np.vstack([block.y for block in blocks])
        weights = [block.sample_weight for block in blocks if block.sample_weight is not None]
        named = table(dict(zip(self.schema.features, X.T, strict=True)))
        return named, y[:, 0] if self.schema.single_target else y, np.concatenate(weights) if weights else None

    def merge(self, other: "Store | str | PathLike[str]", out: str | PathLike[str]) -> "Store":
        """Make a new state file, as if one had absorbed the tasks of both, or raise `MergeError` with what differs."""
        others = other if isinstance(other, Store) else open(other, timeout=self._timeout)
        entries, arrays = merged(self.snapshot(), others.snapshot())
        where = as_path(out)
        write_state(where, self.schema, entries, arrays)
        return Store(where, self.schema, self._timeout)

    def export(self, path: str | PathLike[str]) -> None:
        """Write the state as plain arrays with a manifest (.safetensors), or the coefficients as a table (.csv).

        The file must not exist yet. `import_arrays` makes a state file of the former again.
        """
        where, (generation, arrays) = as_path(path), self.snapshot()
        if where.suffix.lower() == ".safetensors":
            export_arrays(generation, arrays, where)
        elif where.suffix.lower() == ".csv":
            export_coefficients(model_of(self.schema, arrays), self.schema, where)
        else:
            raise InvalidParameterError(f"{where} ends with {where.suffix!r}; exports end with .safetensors or .csv.")

    def predict_file(
        self, path: str | PathLike[str], out: str | PathLike[str], *, progress: Progress | None = None
    ) -> int:
        """Write predictions for the rows of a data file, in their order, to another; return the number of rows.

        That file must not exist yet; it is put in place once it is whole.
        """
        table, where = open_table(path), as_path(out)
        if os.path.realpath(where) in (os.path.realpath(self.path), os.path.realpath(path)):
            raise InvalidParameterError(f"{where} is read by this very call. Write the predictions to another file.")
        _, arrays = self.snapshot()
        return predict_table(model_of(self.schema, arrays, named=False), self.schema, table, where, progress)

    def model(self) -> GeneralizedRidge:
        """Return the fitted model."""
        generation, arrays = self.snapshot()
        return model_of(generation.schema, arrays)

    def describe(self) -> dict[str, Any]:
        """Return coefficients, rank, condition and sizes, as plain data."""
        return described(self.schema, self.snapshot()[1])

    def history(self) -> tuple[Record, ...]:
        """Return a record of each task that the state holds, in the order in which they were absorbed."""
        return live(self.ledger())

    def ledger(self) -> tuple[Record, ...]:
        """Return every record, those of tasks that were removed again included."""
        with transaction(self.path, write=False, timeout=self._timeout) as connection:
            return self._same(open_generation(connection, self.path)).ledger

    def check(self) -> Health:
        """Check every digest and every invariant of the file; raise `DamagedStoreError` where one does not hold."""
        with transaction(self.path, write=False, timeout=self._timeout) as connection:
            generation = self._same(open_generation(connection, self.path))
            arrays = read_arrays(connection, generation, self.path)
            previous = check_previous(connection, self.path)
            check_pages(connection, self.path)
        tasks = live(generation.ledger)
        check_state(self.schema, arrays, *totals(tasks))
        n_bytes = sum(array.nbytes for array in arrays.values())
        return Health(generation.number, previous, *totals(tasks), n_bytes)

    def snapshot(self) -> tuple[Generation, dict[str, Array]]:
        """Return the current generation and its arrays, all digests checked."""
        with transaction(self.path, write=False, timeout=self._timeout) as connection:
            generation = self._same(open_generation(connection, self.path))
            return generation, read_arrays(connection, generation, self.path)

    def _blocks(self, X: Any, y: Any, sample_weight: Any) -> Callable[[], Iterator[Block]]:
        """Return the blocks of rows in memory, checked now and cut as often as they are asked for."""
        rows = checked_rows(self.schema, X, y, sample_weight)
        return lambda: cut(self.schema, rows)

    def _same(self, generation: Generation) -> Generation:
        if generation.schema != self.schema:
            raise StoreError(f"{self.path} is another state file than the one that was opened. Open it anew.")
        return generation


def create(
    path: str | PathLike[str],
    *,
    features: Iterable[str],
    target: str | Iterable[str],
    weight_column: str | None = None,
    prior: Any = 0.0,
    fit_intercept: bool = True,
    information: str = "square_root",
    timeout: float = TIMEOUT,
) -> Store:
    """Make a state file, which must not exist yet.

    Parameters
    ----------
    path : where
    features : names of the features
    target : name of the target, or names of several
    weight_column : the column of a data file that says how much a row counts, optional
    prior, fit_intercept, information : as for `weights.Accumulated` and `GeneralizedRidge`
    timeout : the longest wait for other processes, in seconds
    """
    schema = checked_schema(
        features, target, weight_column=weight_column, fit_intercept=fit_intercept, information=information
    )
    n_bytes = 8 * schema.width**2
    if n_bytes > MEMORY_BUDGET:
        raise InvalidParameterError(
            f"the state of {schema.width} columns would have {n_bytes} bytes, beyond the budget of {MEMORY_BUDGET}. "
            "Name fewer features."
        )
    where = as_path(path)
    write_state(where, schema, (), empty_arrays(schema, prior))
    return Store(where, schema, timeout)


def open(path: str | PathLike[str], *, timeout: float = TIMEOUT) -> Store:
    """Open a state file, every digest of its current generation checked.

    Parameters
    ----------
    path : the file
    timeout : the longest wait for other processes, in seconds
    """
    where = as_path(path)
    migrate(where, timeout)
    with transaction(where, write=False, timeout=timeout) as connection:
        generation = open_generation(connection, where)
        arrays = read_arrays(connection, generation, where)
    check_state(generation.schema, arrays, *totals(live(generation.ledger)), definite=False)
    return Store(where, generation.schema, timeout)


def restore_previous(path: str | PathLike[str], *, timeout: float = TIMEOUT) -> Store:
    """Go back to the previous generation of a file whose current one is damaged; nothing else ever does.

    What was absorbed last is lost by it and must be absorbed again. A file that is in order is refused.
    """
    where = as_path(path)
    restore(where, timeout)
    return open(where, timeout=timeout)


def import_arrays(source: str | PathLike[str], path: str | PathLike[str], *, timeout: float = TIMEOUT) -> Store:
    """Make a state file, which must not exist yet, of what `Store.export` wrote."""
    where, (schema, entries, arrays) = as_path(path), exchanged(as_path(source))
    write_state(where, schema, entries, arrays)
    return Store(where, schema, timeout)
