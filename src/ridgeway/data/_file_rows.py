"""The rows of a table in blocks of float64, as a schema orders them: one task, or one per value of a column."""

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from ridgeway._checks import LARGEST, Array
from ridgeway.data._columns import as_labels, as_numbers
from ridgeway.data._explain import explain
from ridgeway.data._row_blocks import Block
from ridgeway.data._schema import Schema, check_columns, refuse_index
from ridgeway.data._tables import Table, open_table
from ridgeway.errors import FeatureMismatchError, InvalidDataError, InvalidDataTypeError

T = TypeVar("T")

MOST_BLOCKS = 8
"""If rows of many tasks alternate, at most this many blocks of rows are buffered before all buffers are emptied."""

Progress = Callable[[int, int | None], None]
"""Called with the number of rows read so far and the number of rows in all, None if that is unknown."""


def read_rows(path: str | PathLike[str], schema: Schema) -> Iterator[Block]:
    """Yield the rows of a data file in blocks, with columns matched by name, or raise an error that explains it.

    The blocks depend on the rows alone: CSV, Parquet and Arrow files of the same rows give the same blocks.
    """
    table = open_table(path)
    check_file(table, schema, None)
    with explained(table, schema.columns):
        yield from (block for _, block in tasks_in(table, schema, ""))


def features_of(path: str | PathLike[str], *, leave_out: Sequence[str] = ()) -> list[str]:
    """Return the columns of a data file except those in `leave_out`, which must exist; the others must be numeric."""
    table = open_table(path)
    check_columns(table.columns, leave_out, table.source, extra=None)
    features = [name for name in table.columns if name not in leave_out]
    refuse_index([name for name in table.index if name in features], table.source)
    try:
        with explained(table, features):
            for batch in itertools.islice(table.batches(features, rows=1), 1):
                for name in features:
                    numbers(batch.column(name), name, table)
    except (InvalidDataError, InvalidDataTypeError) as error:
        raise type(error)(f"{error} Or leave out the columns that are not features.") from error
    return features


def check_file(table: Table, schema: Schema, task_column: str | None) -> None:
    """Raise unless the table has exactly the columns of the schema and the task column."""
    if task_column is not None and task_column in schema.columns:
        raise FeatureMismatchError(f"the task column {task_column!r} is also a column of the model. Choose another.")
    check_columns(table.columns, [*schema.columns, *([] if task_column is None else [task_column])], table.source)


@contextmanager
def explained(table: Table, columns: Sequence[str]) -> Iterator[None]:
    """If a value is refused, raise an error that names its column and the number of rows affected."""
    try:
        yield
    except (InvalidDataError, InvalidDataTypeError) as error:
        if not isinstance(error, FeatureMismatchError):
            explain(table, columns)
        raise


def tasks_in(
    table: Table, schema: Schema, task_id: str | None, task_column: str | None = None, progress: Progress | None = None
) -> Generator[tuple[str, Block], None, None]:
    """Yield the rows of a table in blocks with their task ids: the values of a column, or one id for all rows.

    Another thread reads the next block while the caller works on the current one. A caller that may stop early must
    close the generator.
    """
    labels = [] if task_column is None else [task_column]
    return _ahead(_gathered(table, schema, task_id, labels, progress))


def _gathered(
    table: Table, schema: Schema, task_id: str | None, labels: list[str], progress: Progress | None
) -> Iterator[tuple[str, Block]]:
    buffers: dict[str, _Buffer] = {}
    done = 0
    for batch in table.batches([*schema.columns, *labels], rows=schema.block_rows, text=labels):
        columns = [numbers(batch.column(name), name, table) for name in schema.columns]
        done += len(batch)
        for label, part in _groups(batch, task_id, labels, table):
            own = columns if part is None else [column[part] for column in columns]
            buffer = buffers.setdefault(label, _Buffer(schema))
            yield from ((label, block) for block in buffer.fill(own))
        if sum(buffer.used for buffer in buffers.values()) > MOST_BLOCKS * schema.block_rows:
            yield from ((label, block) for label, buffer in buffers.items() for block in buffer.rest())
        if progress is not None:
            progress(done, table.n_rows)
    yield from ((label, block) for label, buffer in buffers.items() for block in buffer.rest())


class _Buffer:
    """Collects rows of one task until they fill a block."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._parts: list[Array] = []
        self.used = 0

    def fill(self, columns: Sequence[Array]) -> Iterator[Block]:
        """Add rows, given as columns; yield each block that is full."""
        rows = np.column_stack(_present(columns) if self._schema.weight_column is not None else columns)
        while len(rows):
            part, rows = np.split(rows, [self._schema.block_rows - self.used])
            self._parts.append(part)
            self.used += len(part)
            if self.used == self._schema.block_rows:
                yield from self.rest()

    def rest(self) -> Iterator[Block]:
        """Yield the remaining rows, if any, and start over."""
        if self.used:
            # Adding zero turns -0.0 into 0.0: equal values must have equal digests.
            with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one, which is refused later
                rows = np.concatenate(self._parts) + 0.0
            self._parts, self.used = [], 0
            X, y, weight = np.split(rows, [len(self._schema.features), self._schema.width], axis=1)
            yield Block(np.ascontiguousarray(X), np.ascontiguousarray(y), weight.ravel() if weight.size else None)


def _present(columns: Sequence[Array]) -> Sequence[Array]:
    """Return the rows whose weight, the last column, is positive."""
    weight = columns[-1]
    if (weight < 0.0).any():
        raise InvalidDataError(
            f"the weight column has {int((weight < 0.0).sum())} negative value(s). Use 0 to leave out a row."
        )
    if ((weight > 0.0) & (weight < 1.0 / LARGEST)).any():
        raise InvalidDataError(
            f"the weight column has positive values below {1.0 / LARGEST:g}, whose products lose digits. Use 0 to "
            "leave out a row."
        )
    return columns if weight.all() else [column[weight != 0.0] for column in columns]


def numbers(column: Any, name: str, table: Table) -> Array:
    """Return an Arrow column as float64; raise if it has nulls or is not numeric."""
    if column.null_count:
        raise InvalidDataError(f"{table.source}: column {name!r} has nulls. Drop those rows, or fill the values first.")
    return as_numbers(column, name, table.source)


def _groups(batch: Any, task_id: str | None, labels: list[str], table: Table) -> Iterator[tuple[str, Any]]:
    """Yield the task ids of a batch in order of first appearance, each with the indices of its rows; None for all."""
    if not labels:
        yield str(task_id), None
        return
    found = as_labels(batch.column(labels[0]))
    if found.missing.any():
        raise InvalidDataError(
            f"{table.source}: the task column {labels[0]!r} is empty in {int(found.missing.sum())} or more rows. "
            "Label those rows, or drop them."
        )
    order = np.argsort(found.codes, kind="stable")
    counts = np.bincount(found.codes, minlength=len(found.names))
    yield from zip(found.names, np.split(order, np.cumsum(counts)[:-1]), strict=False)


def _ahead(items: Iterable[T]) -> Generator[T, None, None]:
    """Yield items while another thread prepares the next one."""
    with ThreadPoolExecutor(1) as pool:
        steps = iter(items)
        waiting = pool.submit(next, steps, None)
        while (item := waiting.result()) is not None:
            waiting = pool.submit(next, steps, None)
            yield item
