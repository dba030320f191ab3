"""The one reader of tables: CSV, TSV, Parquet and Arrow files, and tables in memory, as Arrow batches."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from os import PathLike, fsencode
from pathlib import Path
from typing import Any

from ridgeway._optional import require
from ridgeway.data._columns import index_columns
from ridgeway.errors import FeatureMismatchError, InvalidDataError, InvalidDataTypeError

LONGEST_HEADER = 16 * 2**20
CSV_BYTES = 8 * 2**20
"""Bytes of a CSV file that are parsed at a time; a line must fit."""
PARQUET_BUFFER = 2**20
"""Bytes of each column of a Parquet file that are read at a time, instead of a whole row group."""


class Table(ABC):
    """A table of named columns.

    Attributes
    ----------
    source : str
        The path of a file, or a name to use in messages.
    columns : list of str
    n_rows : int or None
        None if only reading the whole table would tell.
    index : list of str
        The columns that are the index of a pandas DataFrame.
    """

    def __init__(self, source: str, columns: Sequence[str], n_rows: int | None, metadata: Any = None) -> None:
        self.source = source
        self.columns = list(columns)
        self.n_rows = n_rows
        self.index = index_columns(self.columns, metadata)

    @abstractmethod
    def batches(self, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()) -> Iterator[Any]:
        """Yield Arrow record batches of about `rows` rows; columns of a CSV file are numbers unless in `text`."""

    def read(self, columns: Sequence[str], *, text: Sequence[str] = ()) -> Any:
        """Return whole columns as an Arrow table; columns of a CSV file have inferred types unless in `text`."""
        import pyarrow as pa

        batches = list(self.batches(columns, rows=2**20))
        return pa.Table.from_batches(batches) if batches else pa.table({name: [] for name in columns})


class _InMemory(Table):
    def __init__(self, arrow: Any, source: str) -> None:
        super().__init__(source, [str(name) for name in arrow.column_names], arrow.num_rows, arrow.schema.metadata)
        self._arrow = arrow

    def batches(self, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()) -> Iterator[Any]:
        yield from self.read(columns).to_batches(max_chunksize=rows)

    def read(self, columns: Sequence[str], *, text: Sequence[str] = ()) -> Any:
        return self._arrow.select([self.columns.index(name) for name in columns])


class _ParquetFile(Table):
    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        # An open file: pyarrow takes some names for addresses, and cannot encode others.
        self._file = parquet.ParquetFile(pa.OSFile(fsencode(path)), buffer_size=PARQUET_BUFFER, pre_buffer=False)
        schema = self._file.schema_arrow
        super().__init__(str(path), schema.names, self._file.metadata.num_rows, schema.metadata)

    def batches(self, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()) -> Iterator[Any]:
        with reading(self.source):
            yield from map(_validated, self._file.iter_batches(batch_size=rows, columns=list(columns)))
            self._check_columns({*columns})

    def _check_columns(self, read: Collection[str]) -> None:
        """Raise if a column that was read has another name or type in a row group: it may be another column.

        Only after reading: pyarrow ends the process if it is asked about a column that it cannot read.
        """
        schema, metadata = self._file.schema, self._file.metadata
        leaves = [(j, schema.column(j)) for j in range(len(schema))]
        expected = [(j, (leaf.path, leaf.physical_type)) for j, leaf in leaves if leaf.path in read]
        for number, group in enumerate(map(metadata.row_group, range(metadata.num_row_groups)), start=1):
            chunks = ((group.column(j), leaf) for j, leaf in expected if group.num_rows)
            if any((chunk.path_in_schema, chunk.physical_type) != leaf for chunk, leaf in chunks):
                raise FeatureMismatchError(
                    f"the columns of {self.source} change in row group {number} of {metadata.num_row_groups}. "
                    "Rewrite the file."
                )


class _ArrowFile(Table):
    def __init__(self, path: Path) -> None:
        schema = _ipc_reader(str(path)).schema
        super().__init__(str(path), schema.names, None, schema.metadata)

    def batches(self, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()) -> Iterator[Any]:
        with reading(self.source):
            reader = _ipc_reader(self.source)
            count = getattr(reader, "num_record_batches", None)  # unknown for a stream
            for batch in reader if count is None else map(reader.get_batch, range(count)):
                chosen = _validated(batch.select(list(columns)))
                yield from (chosen.slice(start, rows) for start in range(0, len(chosen), rows))


class _CsvFile(Table):
    def __init__(self, path: Path, delimiter: str = ",") -> None:
        with path.open("rb") as file:
            line = file.readline(LONGEST_HEADER).decode("utf-8-sig")
        super().__init__(str(path), next(csv.reader([line], delimiter=delimiter), []), None)
        self._delimiter = delimiter

    def batches(self, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv as pacsv

        kinds = {column: pa.string() if column in text else pa.float64() for column in columns}
        name = fsencode(self.source)
        with reading(self.source):
            try:
                reader = pacsv.open_csv(pa.OSFile(name), **self._options(columns, kinds))
            except pa.ArrowInvalid:
                inferred = pacsv.open_csv(pa.OSFile(name), **self._options(columns, {})).schema
                booleans = (column for column in {*columns} - {*text} if inferred.field(column).type == pa.bool_())
                kinds |= dict.fromkeys(booleans, pa.bool_())
                reader = pacsv.open_csv(pa.OSFile(name), **self._options(columns, kinds))
            yield from reader

    def read(self, columns: Sequence[str], *, text: Sequence[str] = ()) -> Any:
        import pyarrow as pa
        from pyarrow import csv as pacsv

        with reading(self.source):
            kinds = {name: pa.string() for name in text}
            return pacsv.read_csv(pa.OSFile(fsencode(self.source)), **self._options(columns, kinds))

    def _options(self, columns: Sequence[str], kinds: Mapping[str, Any]) -> dict[str, Any]:
        from pyarrow import csv as pacsv

        return {
            "read_options": pacsv.ReadOptions(block_size=CSV_BYTES),
            "parse_options": pacsv.ParseOptions(delimiter=self._delimiter),
            "convert_options": pacsv.ConvertOptions(
                column_types=dict(kinds), include_columns=list(columns), strings_can_be_null=True
            ),
        }


def _validated(data: Any) -> Any:
    """Return Arrow data if its offsets, dictionary indices and text are valid, or raise; pyarrow relies on that.

    This takes microseconds for numbers, and reads text once.
    """
    data.validate(full=True)
    return data


def _ipc_reader(path: str) -> Any:
    import pyarrow as pa

    source = pa.memory_map(fsencode(path))
    try:
        return pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_stream(source)


_TsvFile = partial(_CsvFile, delimiter="\t")

FILES: dict[str, Callable[[Path], Table]] = {".csv": _CsvFile, ".tsv": _TsvFile}
"""Which reader each file ending stands for."""
FILES |= dict.fromkeys((".parquet", ".pq"), _ParquetFile) | dict.fromkeys((".arrow", ".feather", ".ipc"), _ArrowFile)


@cache
def _require_pyarrow() -> None:
    """Raise if pyarrow is not installed; look for it until it is found."""
    require("pyarrow", extra="store")


def _reader_of(path: Path) -> Callable[[Path], Table]:
    _require_pyarrow()
    reader = FILES.get(path.suffix.lower())
    if reader is None:
        raise InvalidDataError(
            f"{path} ends in {path.suffix!r}; a data file ends in {', '.join(FILES)}. Convert or rename it."
        )
    return reader


def open_table(data: Any, *, source: str = "the table") -> Table:
    """Open a table: a file by its path, or a table in memory. Needs pyarrow.

    Parameters
    ----------
    data : path, DataFrame (pandas, polars), pyarrow table, mapping of names to columns, or Table
        The ending of a path says what kind of file it is.
    source : str
        What messages call a table in memory.
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, str | PathLike):
        return _open_file(Path(data))
    _require_pyarrow()
    import pyarrow as pa

    try:
        arrow = _as_arrow(data)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        what = f"{source} cannot be read: {_first_line(error)}. Give each column one type."
        raise InvalidDataTypeError(what) from error
    with reading(source):
        return _InMemory(_validated(arrow), source)


def _open_file(path: Path) -> Table:
    reader = _reader_of(path)
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "does not exist"
        raise InvalidDataError(f"{path} {what}. Check the path.")
    if path.stat().st_size == 0:
        raise InvalidDataError(f"{path} is empty. Pass a file with rows, or leave out an empty task.")
    with reading(str(path)):
        return reader(path)


def _as_arrow(data: Any) -> Any:
    """Return a table in memory as an Arrow table, or raise."""
    import pyarrow as pa

    if isinstance(data, pa.Table):
        return data
    if hasattr(data, "iloc"):  # pandas
        if not data.columns.is_unique:
            raise InvalidDataError("the table has duplicate column names. Rename or drop them first.")
        return pa.Table.from_pandas(data, preserve_index=False)
    if hasattr(data, "to_arrow"):  # polars
        return data.to_arrow()
    if isinstance(data, Mapping):
        return pa.table(dict(data))
    raise InvalidDataTypeError(
        f"cannot read a table from {type(data).__name__}. Pass a path, a DataFrame or a mapping of columns."
    )


@contextmanager
def reading(source: str) -> Iterator[None]:
    """Turn the errors of pyarrow and of the system into errors that name the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, OverflowError, MemoryError, UnicodeDecodeError, csv.Error) as error:
        what = _first_line(error)
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in what:
            raise InvalidDataError(f"{source} is not UTF-8 text. Save it as UTF-8.") from error
        raise InvalidDataError(f"{source} cannot be read: {what[:300]}. Repair or rewrite it.") from error


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")


@contextmanager
def writer(path: Path, temporary: Path, names: Sequence[str]) -> Iterator[Callable[[Sequence[Any]], None]]:
    """Yield a function that appends columns of numbers to a new data file; the ending of `path` says which kind."""
    kind = _reader_of(path)
    import pyarrow as pa
    from pyarrow import csv as pacsv
    from pyarrow import parquet

    schema = pa.schema([(name, pa.float64()) for name in names])
    with pa.OSFile(fsencode(temporary), "wb") as file:
        if kind in (_CsvFile, _TsvFile):
            options = pacsv.WriteOptions(delimiter="," if kind is _CsvFile else "\t")
            sink: Any = pacsv.CSVWriter(file, schema, write_options=options)
        elif kind is _ParquetFile:
            sink = parquet.ParquetWriter(file, schema)
        else:
            sink = pa.ipc.new_file(file, schema)
        with sink:
            yield lambda columns: sink.write_table(pa.table([pa.array(column) for column in columns], schema=schema))
