"""Tables whose columns have types: Parquet and Arrow files, tables in memory, and streams of Arrow batches."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from os import fsencode
from pathlib import Path
from typing import Any

from ridgeway.data._addresses import opened_bytes
from ridgeway.data._tables import Table, read_already, reading
from ridgeway.errors import FeatureMismatchError, InvalidDataError

Read = Callable[[Sequence[str], int], Iterator[Any]]
"""Yields the batches of columns, given their names and the number of rows of a batch."""

PARQUET_BUFFER = 2**20
"""Bytes of each column of a Parquet file that are read at a time, instead of a whole row group."""
END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


def validated(data: Any) -> Any:
    """Return Arrow data if its offsets, dictionary indices and text are valid, or raise; pyarrow relies on that.

    This takes microseconds for numbers, and reads text once.
    """
    data.validate(full=True)
    return data


class _TypedColumns(Table):
    def __init__(self, source: str, schema: Any, n_rows: int | None) -> None:
        super().__init__(source, [str(name) for name in schema.names], n_rows, schema.metadata)
        self._schema = schema

    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        return {name: self._schema.field(self.places[name]).type for name in columns}


class InMemory(_TypedColumns):
    """A pyarrow Table."""

    def __init__(self, arrow: Any, source: str) -> None:
        super().__init__(source, arrow.schema, arrow.num_rows)
        with reading(source):
            self._arrow = validated(arrow)

    def batches(self, columns: Sequence[str], *, rows: int, kinds: Mapping[str, Any] | None = None) -> Iterator[Any]:
        yield from self.read(columns).to_batches(max_chunksize=rows)

    def read(self, columns: Sequence[str], *, text: Sequence[str] = ()) -> Any:
        return self._arrow.select([self.places[name] for name in columns])


class OpenedAgain(_TypedColumns):
    """What can be read as often as needed: a file, or an object that gives its batches each time that it is asked.

    Parameters
    ----------
    source : str
    schema : pyarrow.Schema
    read : callable
        Yields batches, given the columns and the number of rows of a batch.
    n_rows : int, optional
    group_rows : list of int, optional
    """

    def __init__(
        self, source: str, schema: Any, read: Read, n_rows: int | None = None, group_rows: list[int] | None = None
    ) -> None:
        super().__init__(source, schema, n_rows)
        self._read, self.group_rows = read, group_rows

    def batches(self, columns: Sequence[str], *, rows: int, kinds: Mapping[str, Any] | None = None) -> Iterator[Any]:
        with reading(self.source):
            yield from self._read(columns, rows)


class ReadOnce(_TypedColumns):
    """The batches of a pyarrow RecordBatchReader; `at_end` may refuse them after the last one."""

    def __init__(self, source: str, reader: Any, at_end: Callable[[], None] | None = None) -> None:
        self._reader, self._at_end = reader, at_end
        super().__init__(source, _without_views(reader.schema), None)

    def batches(self, columns: Sequence[str], *, rows: int, kinds: Mapping[str, Any] | None = None) -> Iterator[Any]:
        reader, self._reader = self._reader, None
        if reader is None:
            raise read_already(self.source)
        with reading(self.source):
            for batch in reader:
                yield from _cut(_chosen(batch, self._schema, [self.places[name] for name in columns]), rows)
        if self._at_end is not None:
            self._at_end()


def parquet_file(path: Path | str, groups: range | None = None, *, threads: bool = True) -> OpenedAgain:
    """Open a Parquet file, or some of its row groups.

    Parameters
    ----------
    path : Path or str
        Of a file, or an address such as s3://bucket/file.parquet.
    groups : range, optional
        The row groups to read; all of them if not given.
    threads : bool, default True
        Whether pyarrow may decode columns in several threads.
    """
    from pyarrow import parquet

    file = parquet.ParquetFile(opened_bytes(path), buffer_size=PARQUET_BUFFER, pre_buffer=False)
    numbers = list(range(file.metadata.num_row_groups) if groups is None else groups)
    group_rows = [file.metadata.row_group(number).num_rows for number in numbers]

    def read(columns: Sequence[str], rows: int) -> Iterator[Any]:
        batches = file.iter_batches(batch_size=rows, row_groups=numbers, columns=list(columns), use_threads=threads)
        yield from map(validated, batches)
        _check_columns(file, numbers, {*columns}, str(path))

    return OpenedAgain(str(path), file.schema_arrow, read, sum(group_rows), group_rows)


def _check_columns(file: Any, groups: Sequence[int], read: Collection[str], source: str) -> None:
    """Raise if a column that was read has another name or type in a row group: it may be another column.

    Only after reading: pyarrow ends the process if it is asked about a column that it cannot read.
    """
    schema, metadata = file.schema, file.metadata
    leaves = [(j, schema.column(j)) for j in range(len(schema))]
    expected = [(j, (leaf.path, leaf.physical_type)) for j, leaf in leaves if leaf.path in read]
    for number in groups:
        group = metadata.row_group(number)
        chunks = ((group.column(j), leaf) for j, leaf in expected if group.num_rows)
        if any((chunk.path_in_schema, chunk.physical_type) != leaf for chunk, leaf in chunks):
            raise FeatureMismatchError(
                f"the columns of {source} change in row group {number + 1} of {metadata.num_row_groups}. Rewrite the "
                "file."
            )


def arrow_file(path: Path) -> OpenedAgain:
    """Open a file in Arrow's file format or its stream format."""
    source = str(path)

    def read(columns: Sequence[str], rows: int) -> Iterator[Any]:
        reader, file = _ipc_reader(source)
        count = getattr(reader, "num_record_batches", None)  # unknown for a stream
        for batch in reader if count is None else map(reader.get_batch, range(count)):
            yield from _cut(validated(batch.select(list(columns))), rows)
        if count is None:
            place = file.tell()
            file.seek(max(0, place - len(END_OF_STREAM)))
            check_end(file.read(len(END_OF_STREAM)), source)

    return OpenedAgain(source, _ipc_reader(source)[0].schema, read)


def _ipc_reader(path: str) -> tuple[Any, Any]:
    import pyarrow as pa

    source = pa.memory_map(fsencode(path))
    try:
        return pa.ipc.open_file(source), source
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_stream(source), source


def arrow_object(source: str, opened: Callable[[], Any], n_rows: int | None) -> OpenedAgain:
    """Open an object that gives a pyarrow RecordBatchReader each time that it is asked, with the same rows."""
    waiting, counted = opened(), n_rows
    schema = _without_views(waiting.schema)

    def read(columns: Sequence[str], rows: int) -> Iterator[Any]:
        nonlocal waiting, counted
        reader, waiting = waiting, None
        places, done = [schema.names.index(name) for name in columns], 0
        for batch in opened() if reader is None else reader:
            chosen = _chosen(batch, schema, places)
            done += len(chosen)
            yield from _cut(chosen, rows)
        if counted not in (None, done):
            raise read_already(source)
        counted = done

    return OpenedAgain(source, schema, read, n_rows)


def _chosen(batch: Any, schema: Any, places: Sequence[int]) -> Any:
    """Return some columns of a batch, valid and with the types of a schema."""
    import pyarrow as pa

    chosen = validated(batch.select(places))
    shape = pa.schema([schema.field(place) for place in places])
    return chosen if chosen.schema.types == shape.types else chosen.cast(shape)


def check_end(tail: bytes, source: str) -> None:
    """Raise unless these bytes end an Arrow stream: one that was cut off lacks its end."""
    if tail != END_OF_STREAM:
        raise InvalidDataError(f"{source} was cut off: it lacks the end of an Arrow stream. Write or send it again.")


def _cut(batch: Any, rows: int) -> Iterator[Any]:
    yield from (batch.slice(start, rows) for start in range(0, len(batch), rows))


def _without_views(schema: Any) -> Any:
    """Return a schema with plain text instead of views of text, for which pyarrow has few functions."""
    import pyarrow as pa

    def plain(kind: Any) -> Any:
        if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
            return pa.dictionary(pa.int32(), pa.string())
        return pa.string() if pa.types.is_string_view(kind) else kind

    return pa.schema([pa.field(field.name, plain(field.type)) for field in schema], schema.metadata)
