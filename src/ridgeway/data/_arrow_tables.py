"""Tables whose columns have types: Parquet and Arrow files, tables in memory, and streams of Arrow batches."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from os import fsencode
from pathlib import Path
from typing import Any

from ridgeway.data._addresses import opened_bytes
from ridgeway.data._pipe import PipeBytes
from ridgeway.data._tables import Table, read_already, reading
from ridgeway.errors import FeatureMismatchError, InvalidDataError

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


class ParquetFile(_TypedColumns):
    """A Parquet file, or some of its row groups.

    Parameters
    ----------
    path : Path or str
        Of a file, or an address such as s3://bucket/file.parquet.
    groups : range, optional
        The row groups to read; all of them if not given.
    threads : bool, default True
        Whether pyarrow may decode columns in several threads.
    """

    def __init__(self, path: Path | str, groups: range | None = None, *, threads: bool = True) -> None:
        from pyarrow import parquet

        self._file = parquet.ParquetFile(opened_bytes(path), buffer_size=PARQUET_BUFFER, pre_buffer=False)
        self._threads = threads
        self._groups = range(self._file.metadata.num_row_groups) if groups is None else groups
        super().__init__(str(path), self._file.schema_arrow, sum(self.group_rows))

    @property
    def group_rows(self) -> list[int]:
        """The number of rows of each row group that is read; `open_groups` reads some alone."""
        return [self._file.metadata.row_group(number).num_rows for number in self._groups]

    def batches(self, columns: Sequence[str], *, rows: int, kinds: Mapping[str, Any] | None = None) -> Iterator[Any]:
        chosen: dict[str, Any] = {"row_groups": list(self._groups), "use_threads": self._threads}
        with reading(self.source):
            yield from map(validated, self._file.iter_batches(batch_size=rows, columns=list(columns), **chosen))
            self._check_columns({*columns})

    def _check_columns(self, read: Collection[str]) -> None:
        """Raise if a column that was read has another name or type in a row group: it may be another column.

        Only after reading: pyarrow ends the process if it is asked about a column that it cannot read.
        """
        schema, metadata = self._file.schema, self._file.metadata
        leaves = [(j, schema.column(j)) for j in range(len(schema))]
        expected = [(j, (leaf.path, leaf.physical_type)) for j, leaf in leaves if leaf.path in read]
        for number in self._groups:
            group = metadata.row_group(number)
            chunks = ((group.column(j), leaf) for j, leaf in expected if group.num_rows)
            if any((chunk.path_in_schema, chunk.physical_type) != leaf for chunk, leaf in chunks):
                raise FeatureMismatchError(
                    f"the columns of {self.source} change in row group {number + 1} of {metadata.num_row_groups}. "
                    "Rewrite the file."
                )


class ArrowFile(_TypedColumns):
    """A file in Arrow's file format or its stream format."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), _ipc_reader(str(path))[0].schema, None)

    def batches(self, columns: Sequence[str], *, rows: int, kinds: Mapping[str, Any] | None = None) -> Iterator[Any]:
        with reading(self.source):
            reader, file = _ipc_reader(self.source)
            count = getattr(reader, "num_record_batches", None)  # unknown for a stream
            for batch in reader if count is None else map(reader.get_batch, range(count)):
                yield from _cut(validated(batch.select(list(columns))), rows)
            if count is None:
                place = file.tell()
                file.seek(max(0, place - len(END_OF_STREAM)))
                _check_end(file.read(len(END_OF_STREAM)), self.source)


def _ipc_reader(path: str) -> tuple[Any, Any]:
    import pyarrow as pa

    source = pa.memory_map(fsencode(path))
    try:
        return pa.ipc.open_file(source), source
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_stream(source), source


class ArrowStream(_TypedColumns):
    """Batches from whatever can be asked for a pyarrow RecordBatchReader, once or several times."""

    def __init__(self, source: str, opened: Callable[[], Any], *, once: bool, n_rows: int | None = None) -> None:
        self._opened, self._once, self._counted = opened, once, n_rows
        self._waiting: Any = opened()
        super().__init__(source, _without_views(self._waiting.schema), n_rows)

    def batches(self, columns: Sequence[str], *, rows: int, kinds: Mapping[str, Any] | None = None) -> Iterator[Any]:
        import pyarrow as pa

        places, done = [self.places[name] for name in columns], 0
        shape = pa.schema([self._schema.field(place) for place in places])
        with reading(self.source):
            for batch in self._reader():
                chosen = validated(batch.select(places))
                done += len(chosen)
                yield from _cut(chosen if chosen.schema.types == shape.types else chosen.cast(shape), rows)
        if self._counted not in (None, done):
            raise read_already(self.source)
        self._counted = done

    def _reader(self) -> Any:
        reader, self._waiting = self._waiting, None
        if reader is None and self._once:
            raise read_already(self.source)
        return self._opened() if reader is None else reader


class PipedArrow(ArrowStream):
    """Arrow's stream format from a pipe. A stream that was cut off lacks its end."""

    def __init__(self, source: str, pipe: PipeBytes) -> None:
        import pyarrow as pa

        self._pipe = pipe
        super().__init__(source, lambda: pa.ipc.open_stream(pipe.open()), once=True)

    def batches(self, columns: Sequence[str], *, rows: int, kinds: Mapping[str, Any] | None = None) -> Iterator[Any]:
        yield from super().batches(columns, rows=rows, kinds=kinds)
        _check_end(self._pipe.tail, self.source)


def _check_end(tail: bytes, source: str) -> None:
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
