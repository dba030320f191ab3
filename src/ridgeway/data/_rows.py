"""Rows of a data file in blocks of float64, by a store's schema: one task, or one per value of a column."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from os import PathLike
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ridgeway.data._blocks import Block, block_rows
from ridgeway.data._explain import explain
from ridgeway.data._schema import Schema, check_columns, refuse_index
from ridgeway.data._tables import Table, label_of, open_table
from ridgeway.errors import FeatureMismatchError, InvalidDataError, InvalidDataTypeError

Array = NDArray[np.float64]
T = TypeVar("T")

MOST_BLOCKS = 8
"""Where the rows of many tasks take turns, as many blocks are gathered in all; then each task's share is handed on."""

Progress = Callable[[int, int | None], None]
"""Called with the rows read so far and, where known, the rows of the file."""


def read_rows(path: str | PathLike[str], schema: Schema) -> Iterator[Block]:
    """Yield the rows of a data file in blocks, its columns by name, or raise what is wrong with it.

    The blocks depend on the rows alone: CSV, Parquet and Arrow files of the same rows give the same ones.
    """
    table = open_table(path)
    check_file(table, schema, None)
    with explained(table, schema.columns):
        yield from (block for _, block in tasks_in(table, schema, ""))


def features_of(path: str | PathLike[str], *, leave_out: Sequence[str] = ()) -> list[str]:
    """Return the columns of a data file but for those to leave out, which must be there; the rest must be numbers."""
    table = open_table(path)
    check_columns(table.columns, leave_out, str(table.path), extra=None)
    features = [name for name in table.columns if name not in leave_out]
    refuse_index([name for name in table.index if name in features], str(table.path))
    try:
        with explained(table, features):
            for batch in itertools.islice(table.batches(features, rows=1), 1):
                for name in features:
                    numbers(batch.column(name), name, table)
    except (InvalidDataError, InvalidDataTypeError) as error:
        raise type(error)(f"{error} Or leave out the columns that are no features.") from error
    return features


def check_file(table: Table, schema: Schema, task_column: str | None) -> None:
    """Raise where a data file has not exactly the columns of the schema and of the tasks."""
    if task_column is not None and task_column in schema.columns:
        raise FeatureMismatchError(f"the task column {task_column!r} is a column of the model. Name another.")
    check_columns(table.columns, [*schema.columns, *([] if task_column is None else [task_column])], str(table.path))


@contextmanager
def explained(table: Table, columns: Sequence[str]) -> Iterator[None]:
    """Where a value is refused, say in which column of the file it is, and in how many rows."""
    try:
        yield
    except (InvalidDataError, InvalidDataTypeError) as error:
        if not isinstance(error, FeatureMismatchError):
            explain(table, columns)
        raise


def tasks_in(
    table: Table,
    schema: Schema,
    task_id: str | None,
    task_column: str | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[str, Block]]:
    """Yield the rows of a data file in blocks with their task ids: the values of a column, or one for all.

    The next block is read by another thread while the caller works on the one before.
    """
    labels = [] if task_column is None else [task_column]
    return _ahead(_gathered(table, schema, task_id, labels, progress))


def _gathered(
    table: Table, schema: Schema, task_id: str | None, labels: list[str], progress: Progress | None
) -> Iterator[tuple[str, Block]]:
    buffers: dict[str, _Buffer] = {}
    rows, done, held = block_rows(schema), 0, 0
    for batch in table.batches([*schema.columns, *labels], rows=rows, text=labels):
        columns = [numbers(batch.column(name), name, table) for name in schema.columns]
        done += len(batch)
        for label, part in _groups(batch, task_id, labels, table):
            own = columns if part is None else [column[part] for column in columns]
            buffer = buffers.setdefault(label, _Buffer(schema, rows))
            held -= buffer.used
            yield from ((label, block) for block in buffer.fill(own))
            held += buffer.used
        if held > MOST_BLOCKS * rows:
            yield from ((label, block) for label, buffer in buffers.items() for block in buffer.rest())
            held = 0
        if progress is not None:
            progress(done, table.n_rows)
    for label, buffer in buffers.items():
        yield from ((label, block) for block in buffer.rest())


class _Buffer:
    """Rows of one task, gathered until they make a block."""

    def __init__(self, schema: Schema, rows: int) -> None:
        self._shape = len(schema.features), len(schema.targets)
        self._weighted = schema.weight_column is not None
        self._rows = rows
        self.used = 0
        self._allocate(0)

    def _allocate(self, rows: int) -> None:
        p, k = self._shape
        self._X, self._y, self._weight = np.empty((rows, p)), np.empty((rows, k)), np.empty(rows)

    def fill(self, columns: Sequence[Array]) -> Iterator[Block]:
        """Take in rows, as columns; yield the blocks that are full."""
        if self._weighted:
            columns = _present(columns)
        start, stop = 0, len(columns[0])
        while start < stop:
            step = min(self._rows - self.used, stop - start)
            self._make_room(self.used + step)
            here, there = slice(self.used, self.used + step), slice(start, start + step)
            for j, column in enumerate(columns):
                # Adding zero makes 0.0 of -0.0: the same value, and so the same digest.
                np.add(column[there], 0.0, out=self._place(j)[here])
            self.used += step
            start += step
            if self.used == self._rows:
                yield from self.rest()

    def _place(self, j: int) -> Array:
        p, k = self._shape
        return self._X[:, j] if j < p else self._y[:, j - p] if j < p + k else self._weight

    def _make_room(self, rows: int) -> None:
        if rows > len(self._X):
            old, used = (self._X, self._y, self._weight), self.used
            self._allocate(min(self._rows, max(rows, 2 * len(self._X))))
            for new, before in zip((self._X, self._y, self._weight), old, strict=True):
                new[:used] = before[:used]

    def rest(self) -> Iterator[Block]:
        """Yield what is left, if anything, and begin anew."""
        if self.used:
            weight = self._weight[: self.used] if self._weighted else None
            block = Block(self._X[: self.used], self._y[: self.used], weight)
            self.used = 0
            self._allocate(0)
            yield block


def _present(columns: Sequence[Array]) -> Sequence[Array]:
    """Return the rows whose weight, the last column, is above zero."""
    weight = columns[-1]
    if (weight < 0.0).any():
        raise InvalidDataError(
            f"the weight column has {int((weight < 0.0).sum())} negative value(s). Use 0 to leave a row out."
        )
    return columns if weight.all() else [column[weight != 0.0] for column in columns]


def numbers(column: Any, name: str, table: Table) -> Array:
    """Return an Arrow column as float64, or raise where it has other things than numbers, or none."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kinds = (pa.types.is_floating, pa.types.is_integer, pa.types.is_boolean, pa.types.is_decimal)
    if not any(is_kind(column.type) for is_kind in kinds) or column.null_count:
        raise InvalidDataTypeError(f"{table.path}: column {name!r} holds {column.type}, or nulls, not numbers alone.")
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    try:
        column = column.cast(pa.float64())
    except pa.ArrowInvalid:
        raise InvalidDataError(
            f"{table.path}: column {name!r} has whole numbers beyond 2⁵³, which float64 cannot hold. Change its unit."
        ) from None
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _groups(batch: Any, task_id: str | None, labels: list[str], table: Table) -> Iterator[tuple[str, Any]]:
    """Yield the task ids of a batch in order of first appearance, each with the places of its rows; None for all."""
    if not labels:
        yield str(task_id), None
        return
    if not len(batch):
        return
    column = batch.column(labels[0])
    if column.null_count:
        raise InvalidDataError(
            f"{table.path}: the task column {labels[0]!r} has no value in {column.null_count} or more rows. "
            "Label those rows, or drop them."
        )
    encoded = column.dictionary_encode()
    found = [label_of(value) for value in encoded.dictionary.to_pylist()]
    places = {label: place for place, label in enumerate(dict.fromkeys(found))}
    codes = np.array([places[label] for label in found], dtype=np.intp)[encoded.indices.to_numpy(zero_copy_only=False)]
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes, minlength=len(places))
    yield from zip(places, np.split(order, np.cumsum(counts)[:-1]), strict=True)


def _ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield items, the next being made by another thread meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        steps = iter(items)
        waiting = pool.submit(next, steps, None)
        while (item := waiting.result()) is not None:
            waiting = pool.submit(next, steps, None)
            yield item
