"""Data files: CSV, Parquet and Arrow, read by pyarrow a batch at a time."""

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any

from ridgeway._optional import require
from ridgeway.data._columns import index_columns
from ridgeway.errors import FeatureMismatchError, InvalidDataError

LONGEST_HEADER = 16 * 2**20
CSV_BYTES = 8 * 2**20
"""Bytes of a CSV file that are parsed at a time; a line must fit."""
PARQUET_BUFFER = 2**20
"""Bytes of each column of a Parquet file that are read at a time, rather than a row group whole."""

NUMBER = re.compile(r"[+-]?(\d{1,99}\.\d{0,99}|\.\d{1,99}|\d{1,99}(?=e[+-]))(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
"""A number as programs write one that is not of a whole kind."""
MOMENT = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d.*)", re.ASCII | re.IGNORECASE)
NOT_FINITE = ("nan", "inf", "-inf")


class Table(ABC):
    """A data file of named columns.

    Attributes
    ----------
    path : Path
    columns : list of str
    n_rows : int or None where only reading all of it would tell
    index : list of str, the columns that are the index of a pandas DataFrame
    """

    def __init__(self, path: Path, columns: Sequence[str], n_rows: int | None, metadata: Any = None) -> None:
        self.path = path
        self.columns = list(columns)
        self.n_rows = n_rows
        self.index = index_columns(self.columns, metadata)

    @abstractmethod
    def batches(self, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()) -> Iterator[Any]:
        """Yield Arrow record batches of some columns, of about as many rows; those in `text` are not numbers."""


class _Parquet(Table):
    def __init__(self, path: Path) -> None:
        from pyarrow import parquet

        self._file = parquet.ParquetFile(path, buffer_size=PARQUET_BUFFER, pre_buffer=False)
        schema = self._file.schema_arrow
        super().__init__(path, schema.names, self._file.metadata.num_rows, schema.metadata)
        self._check_row_groups()

    def _check_row_groups(self) -> None:
        """Raise where a row group has other columns than the file says: they would be taken for each other."""
        metadata, schema = self._file.metadata, self._file.schema
        expected = [(schema.column(j).path, schema.column(j).physical_type) for j in range(metadata.num_columns)]
        for i in range(metadata.num_row_groups):
            group = metadata.row_group(i)
            chunks = [group.column(j) for j in range(group.num_columns)]
            if [(chunk.path_in_schema, chunk.physical_type) for chunk in chunks] != expected:
                raise FeatureMismatchError(
                    f"{self.path} changes its columns midway, in row group {i + 1} of {metadata.num_row_groups}. "
                    "Write the file anew."
                )

    def batches(self, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()) -> Iterator[Any]:
        with reading(self.path):
            yield from self._file.iter_batches(batch_size=rows, columns=list(columns))


class _Arrow(Table):
    def __init__(self, path: Path) -> None:
        schema = self._reader(path).schema
        super().__init__(path, schema.names, None, schema.metadata)

    def _reader(self, path: Path) -> Any:
        import pyarrow as pa

        source = pa.memory_map(str(path))
        try:
            return pa.ipc.open_file(source)
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source)

    def batches(self, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()) -> Iterator[Any]:
        with reading(self.path):
            reader = self._reader(self.path)
            found = (
                (reader.get_batch(i) for i in range(reader.num_record_batches))
                if hasattr(reader, "num_record_batches")
                else reader
            )
            for batch in found:
                batch.validate()
                yield from (batch.slice(start, rows).select(list(columns)) for start in range(0, len(batch), rows))


class _Csv(Table):
    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            line = file.readline(LONGEST_HEADER).decode("utf-8-sig")
        super().__init__(path, next(csv.reader([line]), []), None)

    def batches(self, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv as pacsv

        kinds = {name: pa.string() if name in text else pa.float64() for name in columns}
        with reading(self.path):
            yield from pacsv.open_csv(
                self.path,
                read_options=pacsv.ReadOptions(block_size=CSV_BYTES),
                convert_options=pacsv.ConvertOptions(
                    column_types=kinds, include_columns=list(columns), strings_can_be_null=True
                ),
            )


KINDS: dict[str, Callable[[Path], Table]] = {
    ".csv": _Csv,
    ".parquet": _Parquet,
    ".pq": _Parquet,
    ".arrow": _Arrow,
    ".feather": _Arrow,
    ".ipc": _Arrow,
}
"""What the end of a file's name says about it."""


def kind_of(path: Path) -> Callable[[Path], Table]:
    """Return what reads a data file of this name."""
    require("pyarrow", extra="store")
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise InvalidDataError(
            f"{path} ends with {path.suffix!r}; data files end with {', '.join(KINDS)}. Convert or rename it."
        )
    return kind


def open_table(path: str | PathLike[str]) -> Table:
    """Open a data file; what its name ends with says what it is."""
    where = Path(path)
    kind = kind_of(where)
    if not where.is_file():
        raise InvalidDataError(f"there is no data file {where}. Check the path.")
    if where.stat().st_size == 0:
        raise InvalidDataError(f"{where} is empty. Pass a file with rows; where a task is empty, leave it out.")
    with reading(where):
        return kind(where)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what pyarrow and the system raise into errors that name the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError, csv.Error) as error:
        what = str(error).strip().split("\n")[0]
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in what:
            raise InvalidDataError(f"{path} is not UTF-8 text. Save it with that encoding.") from error
        raise InvalidDataError(f"{path} cannot be read: {what[:300]}. Mend or write the file anew.") from error


def label_of(value: Any) -> str:
    """Return a value of a task column as a task id, the same from every kind of file.

    2019, 2019.0 and '2019.0' are '2019', and -0.0 is '0'; True and 'TRUE' are 'true'; midnight of a day is the day.
    Numbers with a fraction, infinities and other times of day have several spellings and are refused, also as text.
    """
    text = str(value)
    known = isinstance(value, str | int | float | Decimal | date)
    if known and text.lower() in ("true", "false"):
        return text.lower()
    if known and NUMBER.fullmatch(text):
        number = Decimal(text)
        if number == number.to_integral_value():
            return str(int(number))
    elif known and (moment := MOMENT.fullmatch(text)):
        if not moment["time"].strip("0:."):
            return moment["day"]
    elif known and text.lower() not in NOT_FINITE:
        return "0" if text == "-0" else text
    raise InvalidDataError(
        f"the task column holds {text!r}, which makes no task id: it has several spellings. Use words, whole numbers "
        "or dates."
    )


@contextmanager
def writer(path: Path, temporary: Path, names: Sequence[str]) -> Iterator[Callable[[Sequence[Any]], None]]:
    """Yield a function that appends columns of numbers to a new data file; what `path` ends with says what it is."""
    kind = kind_of(path)
    import pyarrow as pa
    from pyarrow import csv as pacsv
    from pyarrow import parquet

    schema = pa.schema([(name, pa.float64()) for name in names])
    if kind is _Csv:
        sink: Any = pacsv.CSVWriter(temporary, schema)
    elif kind is _Parquet:
        sink = parquet.ParquetWriter(temporary, schema)
    else:
        sink = pa.ipc.new_file(str(temporary), schema)
    with sink:
        yield lambda columns: sink.write_table(pa.table([pa.array(column) for column in columns], schema=schema))
