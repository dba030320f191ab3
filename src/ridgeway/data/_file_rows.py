"""The rows of a table in blocks of float64, as a schema orders them: one task, or one per value of a column."""

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import LARGEST, Array
from ridgeway._text import counted
from ridgeway.data._columns import as_labels, as_numbers
from ridgeway.data._encoder import Encoder
from ridgeway.data._label_columns import label_kind
from ridgeway.data._row_blocks import Block, RowBatch, checked_rows, cut, with_labels, with_targets
from ridgeway.data._schema import Schema, check_columns
from ridgeway.data._tables import Table
from ridgeway.data._widening import Widening, widening
from ridgeway.errors import FeatureMismatchError, InvalidDataError

MOST_BLOCKS = 8
"""If rows of many tasks alternate, at most this many blocks of rows are buffered before all buffers are emptied."""

Progress = Callable[[int, int | None], None]
"""Called with the number of rows read so far and the number of rows in all, None if that is unknown."""

Step = tuple[int, tuple[str, Block] | None]
"""The number of rows read so far, and a block with the id of its task; None once a batch has been read."""


@dataclass(frozen=True)
class PlainRows:
    """Reads the batches of a table whose columns are numbers, as they are: an `Encoder` with nothing to do."""

    schema: Schema
    source: str
    dropped: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def rows(self, batch: Any) -> RowBatch:
        """Return the rows of an Arrow batch, or raise if a value is missing or not a number."""
        columns: dict[str, Array] = {}
        for name in self.schema.columns:
            column = batch.column(name)
            if column.null_count:
                raise InvalidDataError(
                    f"{self.source}: column {name!r} has nulls. Drop those rows, fill the values, or create the state "
                    "file with --missing drop or --missing indicator."
                )
            columns[name] = as_numbers(column, name, self.source)
        weight_column, offset = self.schema.weight_column, self.schema.offset
        # In Fortran order: each column is copied, and hashed, in one piece.
        return RowBatch(
            X=np.array([columns[name] for name in self.schema.features]).T,
            y=np.array([columns[name] for name in self.schema.targets]).T,
            sample_weight=None if weight_column is None else columns[weight_column],
            sources=None,
            clusters=None,
            kept=None,
            offset_values=None if offset is None else columns[offset.name],
        )


def check_file(table: Table, schema: Schema, labels: Sequence[str], absent: Sequence[str] = ()) -> None:
    """Raise unless the table has the columns of the schema and the task column, and no others that it may not have.

    Those in `absent` are not needed.

    Examples
    --------
    >>> from ridgeway.data import check_file, checked_schema, open_table
    >>> schema = checked_schema(
    ...     ["x"], "y", weight_column=None, fit_intercept=True, information="moments"
    ... )
    >>> check_file(open_table({"y": [1.0], "x": [2.0]}), schema, labels=[])
    >>> check_file(open_table({"y": [1.0], "z": [2.0]}), schema, labels=[])
    Traceback (most recent call last):
    ...
    ridgeway.errors.FeatureMismatchError: the table has no column 'x' and unknown ...
    """
    if labels and labels[0] in schema.columns:
        raise FeatureMismatchError(f"the task column {labels[0]!r} is also a column of the model. Choose another.")
    needed = [*(name for name in (*schema.columns, *schema.labels) if name not in absent), *labels]
    ignored = () if schema.raw is None else None if schema.raw.ignore_extra else schema.raw.ignored
    check_columns(table.columns, needed, table.source, extra=ignored)


def refuse_not_finite(names: Sequence[str], values: Array, source: str) -> None:
    """Raise if a column of numbers has NaN or infinity, naming the first one that does.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import refuse_not_finite
    >>> refuse_not_finite(["x", "z"], np.array([[1.0, np.inf]]), "the table")
    Traceback (most recent call last):
    ...
    ridgeway.errors.InvalidDataError: the table: column 'z' has NaN or infinity. ...
    """
    if np.isfinite(values).all():
        return
    is_finite = np.isfinite(values).all(axis=0)
    name = names[int(np.argmin(is_finite))]
    raise InvalidDataError(
        f"{source}: column {name!r} has NaN or infinity. Drop those rows, or fill or encode the values first."
    )


def tasks_in(
    table: Table,
    schema: Schema,
    task_id: str | None,
    task_column: str | None = None,
    progress: Progress | None = None,
    dropped: Counter[tuple[str, ...]] | None = None,
    absent: Sequence[str] = (),
    ahead: bool = True,
) -> Generator[tuple[str, Block], None, None]:
    """Yield the rows of a table in blocks with their task ids: the values of a column, or one id for all rows.

    The blocks depend on the rows alone: CSV, Parquet and Arrow files of the same rows give the same blocks. Another
    thread reads the next block while the caller works on the current one, unless `ahead` is False. A caller that may
    stop early must close the generator. `dropped` counts the rows that are left out, by the columns that have no
    value. Columns in `absent` are not in the table; they have their past value.

    Examples
    --------
    >>> from ridgeway.data import checked_schema, open_table, tasks_in
    >>> schema = checked_schema(
    ...     ["x"], "y", weight_column=None, fit_intercept=True, information="moments"
    ... )
    >>> table = open_table({"x": [1, 2, 3], "y": [4, 5, 6], "site": ["b", "a", "b"]})
    >>> [(site, block.y.ravel()) for site, block in tasks_in(table, schema, None, "site")]
    [('b', array([4., 6.])), ('a', array([5.]))]
    """
    labels = [] if task_column is None else [task_column]
    check_file(table, schema, labels, absent)
    of_numbers = schema.raw is None and (schema.family is None or not schema.family.has_classes)
    encoder: Encoder | PlainRows
    if of_numbers and not {*absent} & {*schema.columns}:
        encoder = PlainRows(schema, table.source)
    else:
        encoder = Encoder(schema, table.source, absent=absent, label_kind=label_kind(table, schema))
    gathered = _gathered(table, encoder, task_id, labels, dropped)
    return _reported(gathered, table.n_rows, progress, ahead=ahead)


def _gathered(
    table: Table,
    encoder: Encoder | PlainRows,
    task_id: str | None,
    labels: list[str],
    dropped: Counter[tuple[str, ...]] | None,
) -> Generator[Step, None, None]:
    """Yield the blocks of a table; after each batch, the number of rows that have been read."""
    import pyarrow as pa

    size, done = encoder.schema.block_rows, 0
    buffers: dict[str, _Buffer] = {}
    if isinstance(encoder, Encoder):
        columns, kinds = encoder.columns, encoder.arrow_kinds()
    else:
        columns = encoder.schema.columns
        kinds = dict.fromkeys(columns, pa.float64())
    by = [name for name in encoder.schema.labels if name in table.columns]
    kinds = dict.fromkeys((*labels, *by), pa.string()) | kinds
    batches = table.batches(list(dict.fromkeys([*columns, *labels, *by])), rows=size, kinds=kinds)
    for batch in batches if isinstance(encoder, PlainRows) else _even(batches, size):
        before, rows = encoder.schema, encoder.rows(batch)
        done += len(batch)
        if by:
            rows = rows._replace(clusters=_clusters(batch, rows, by[0], table))
        if encoder.schema is not before:
            wider = widening(before, encoder.schema)
            for buffer in buffers.values():
                buffer.widen(wider)
        for label, part in _groups(batch, rows, task_id, labels, table):
            buffer = buffers.setdefault(label, _Buffer(size, table.source))
            present = part if part.sample_weight is None else _present(part)
            if encoder.schema.offset is not None and present.offset_values is not None:
                encoder.schema.offset.check(present.offset_values, table.source)
            yield from ((done, (label, block)) for block in buffer.fill(present, encoder.schema))
        if sum(buffer.used for buffer in buffers.values()) > MOST_BLOCKS * size:
            yield from (
                (done, (label, block)) for label, each in buffers.items() for block in each.rest(encoder.schema)
            )
        yield done, None
    if dropped is not None:
        dropped.update(encoder.dropped)
    yield from ((done, (label, block)) for label, each in buffers.items() for block in each.rest(encoder.schema))


def _reported(
    steps: Iterator[Step], n_rows: int | None, progress: Progress | None, *, ahead: bool
) -> Generator[tuple[str, Block], None, None]:
    """Yield the blocks; if `ahead`, another thread prepares the next one meanwhile.

    `progress` is called in the thread of the caller: it may raise, or fork the process.
    """
    following = partial(next, steps, None)
    with ThreadPoolExecutor(1) as pool:  # its thread starts with the first call
        wait = pool.submit(following).result if ahead else following
        while (step := wait()) is not None:
            if ahead:
                wait = pool.submit(following).result
            done, labelled = step
            if labelled is not None:
                yield labelled
            elif progress is not None:
                progress(done, n_rows)


def _even(batches: Iterator[Any], size: int) -> Iterator[Any]:
    """Yield the same rows in batches of one size, the last may be shorter: so the schema grows at fixed places."""
    import pyarrow as pa

    waiting, used = [], 0
    for whole in batches:
        start = 0
        while start < len(whole):
            waiting.append(whole.slice(start, size - used))
            used, start = used + len(waiting[-1]), start + len(waiting[-1])
            if used == size:
                yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()
                waiting, used = [], 0
    if waiting:
        yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()


class _Buffer:
    """Collects rows of one task until they fill a block."""

    def __init__(self, size: int, source: str) -> None:
        self._size, self._source = size, source
        self._parts: list[RowBatch] = []
        self.used = 0

    def widen(self, wider: Widening) -> None:
        """Give the rows the columns of a wider schema."""
        self._parts = [part._replace(X=wider.rows(part.X)) for part in self._parts]

    def fill(self, rows: RowBatch, schema: Schema) -> Iterator[Block]:
        """Add rows; yield each block that is full."""
        while self.used + len(rows.X) >= self._size:
            place = self._size - self.used
            self._parts.append(rows.cut(slice(place)))
            self.used, rows = self._size, rows.cut(slice(place, None))
            yield from self.rest(schema)
        self._parts.append(rows)
        self.used += len(rows.X)

    def rest(self, schema: Schema) -> Iterator[Block]:
        """Yield the remaining rows, if any, and start over."""
        if not self.used:
            return
        parts = [part for part in self._parts if len(part.X)]
        self._parts, self.used = [], 0
        columns: Any = {}
        for name in ("X", "y", "sample_weight", "sources", "offset_values", "clusters"):
            values: Any = [getattr(part, name) for part in parts]
            columns[name] = values[0] if values[0] is None or len(parts) == 1 else np.concatenate(values)
        clusters = columns.pop("clusters")
        # Adding zero turns -0.0 into 0.0: equal values must have equal digests.
        with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one, which is refused later
            for name, values in columns.items():
                if values is not None:
                    columns[name] = np.add(values, 0.0, out=values if values.flags.writeable else None)
        refuse_not_finite(schema.features, columns["X"], self._source)
        refuse_not_finite(schema.targets, columns["y"], self._source)
        if columns["sample_weight"] is not None:
            refuse_not_finite([str(schema.weight_column)], columns["sample_weight"][:, None], self._source)
        yield Block(schema=schema, clusters=clusters, **columns)


def _present(rows: RowBatch) -> RowBatch:
    """Return the rows whose weight is positive."""
    weight: Any = rows.sample_weight
    if (weight < 0.0).any():
        raise InvalidDataError(
            f"the weight column has {counted(int((weight < 0.0).sum()), 'negative value')}. Use 0 to leave out a row."
        )
    tiny = (weight > 0.0) & (weight < 1.0 / LARGEST)
    if tiny.any():
        raise InvalidDataError(
            f"the weight column has {counted(int(tiny.sum()), 'value')} below {1.0 / LARGEST:g}, whose products lose "
            "digits. Use 0 to leave out a row."
        )
    return rows if weight.all() else rows.cut(weight != 0.0)


def _groups(
    batch: Any, rows: RowBatch, task_id: str | None, labels: list[str], table: Table
) -> Iterator[tuple[str, RowBatch]]:
    """Yield the task ids of a batch in order of first appearance, each with its rows."""
    if not labels:
        yield str(task_id), rows
        return
    found = as_labels(batch.column(labels[0]))
    if found.missing.any():
        raise _unlabelled(table, "task", labels[0], int(found.missing.sum()))
    codes = found.codes if rows.kept is None else found.codes[rows.kept]
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes, minlength=len(found.names))
    for name, part in zip(found.names, np.split(order, np.cumsum(counts)[:-1]), strict=False):
        yield name, rows.cut(part)


def _clusters(batch: Any, rows: RowBatch, column: str, table: Table) -> NDArray[np.object_]:
    """Return the cluster of each row that is kept."""
    found = as_labels(batch.column(column), "cluster")
    codes = found.codes if rows.kept is None else found.codes[rows.kept]
    if (codes < 0).any():
        raise _unlabelled(table, "cluster", column, int((codes < 0).sum()))
    return np.array([*found.names, ""], dtype=object)[codes]


def _unlabelled(table: Table, what: str, column: str, n_rows: int) -> InvalidDataError:
    return InvalidDataError(
        f"{table.source}: the {what} column {column!r} is empty in {n_rows} or more rows. Label those rows, or drop "
        "them."
    )


def rows_in_memory(
    schema: Schema,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    clusters: Any = None,
    absent: Sequence[str] = (),
    offset_values: Any = None,
) -> Iterator[Block]:
    """Yield rows in memory in blocks: a table by column name, an array in the order of the schema.

    Columns in `absent` are not needed. The values of the offset column may be a column of X, or `offset_values`.

    Examples
    --------
    >>> import pandas as pd
    >>> from ridgeway.data import checked_schema, rows_in_memory
    >>> schema = checked_schema(
    ...     ["a", "b"], "y", weight_column=None, fit_intercept=True, information="moments"
    ... )
    >>> X = pd.DataFrame({"b": [2.0], "a": [1.0]})
    >>> [block.X for block in rows_in_memory(schema, X, [3.0])]
    [array([[1., 2.]])]
    """
    if clusters is not None and not schema.labels:
        raise InvalidDataError("the model has no cluster column. Leave out clusters.")
    if offset_values is not None and schema.offset is None:
        raise InvalidDataError("the model has no offset column. Leave out offset and exposure.")
    if schema.family is not None and schema.family.has_classes:
        schema, y = with_labels(schema, X, y, sample_weight)
    if schema.takes_arrays:
        yield from cut(schema, checked_rows(schema, X, y, sample_weight, clusters))
        return
    table = with_targets(schema, X, y, sample_weight, clusters, offset_values)
    with closing(tasks_in(table, schema, "", absent=[name for name in absent if name not in table.columns])) as blocks:
        yield from (block for _, block in blocks)
