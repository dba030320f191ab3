"""Open a table: by the path of a file, by a pattern of paths, from standard input, or from memory."""

import re
from collections.abc import Callable, Mapping, Sequence
from glob import glob
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from ridgeway.data._addresses import ADDRESS, is_address, matching_addresses
from ridgeway.data._arrow_tables import InMemory, ReadOnce, arrow_file, arrow_object, check_end, parquet_file
from ridgeway.data._csv_tables import PLAIN, CsvFormat, CsvTable
from ridgeway.data._pipe import PipeBytes
from ridgeway.data._tables import Table, first_line, not_text, reading, require_pyarrow
from ridgeway.errors import InvalidDataError, InvalidDataTypeError, InvalidParameterError

Opener = Callable[[Path, CsvFormat], Table]

DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""What separates the columns of text files."""
PARQUET = (".parquet", ".pq")
FILES: dict[str, Opener] = dict.fromkeys(
    DELIMITERS, lambda path, style: CsvTable(str(path), None, style, DELIMITERS[path.suffix.lower()])
)
"""Which reader each file ending stands for."""
FILES |= dict.fromkeys(PARQUET, lambda path, _: parquet_file(path))
FILES |= dict.fromkeys((".arrow", ".feather", ".ipc"), lambda path, _: arrow_file(path))
STDIN = "-"
"""Stands for standard input in place of a path."""
ARROW_FILE = b"ARROW1\0\0"
"""The first bytes of Arrow's file format; what follows is its stream format."""


def unknown_ending(path: Path) -> InvalidDataError:
    """Return the error for a file that is not a data file by its name."""
    return InvalidDataError(
        f"{path} ends in {path.suffix!r}; a data file ends in {', '.join(FILES)}. Convert or rename it."
    )


def open_table(data: Any, *, source: str = "the table", csv: CsvFormat | None = None) -> Table:
    """Open a table: a file by its path, or a table in memory. Needs pyarrow.

    Parameters
    ----------
    data : path, DataFrame, Arrow data, mapping of names to columns, or Table
        The ending of a path says what kind of file it is. Arrow data is any object with `__arrow_c_stream__` or
        `__arrow_c_array__`, such as those of pyarrow, polars, DuckDB and ADBC. A stream is read batch by batch; one
        that is an iterator, such as a RecordBatchReader, can be read only once.
    source : str
        What messages call a table in memory.
    csv : CsvFormat, optional
        How a CSV file is written.

    Examples
    --------
    >>> from ridgeway.data import open_table
    >>> open_table({"x": [1.0, 2.0]}).read(["x"]).num_rows
    2
    >>> open_table("rows.xlsx")
    Traceback (most recent call last):
    ...
    ridgeway.errors.InvalidDataError: rows.xlsx ends in '.xlsx'; a data file ...
    """
    if isinstance(data, Table):
        return data
    require_pyarrow()
    if isinstance(data, str) and ADDRESS.match(data):
        return open_groups(data)
    if isinstance(data, str | PathLike):
        return _open_file(Path(data), csv or PLAIN)
    import pyarrow as pa

    try:
        if hasattr(data, "__arrow_c_stream__") and not (isinstance(data, pa.Table) or hasattr(data, "iloc")):
            if hasattr(data, "__next__"):
                return ReadOnce(source, _stream_of(data, source))
            height = getattr(data, "height", None)  # of polars; it may be a column of another library's table
            return arrow_object(source, lambda: _stream_of(data, source), height if isinstance(height, int) else None)
        arrow = _as_arrow(data)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        what = f"{source} cannot be read: {first_line(error)}. Give each column one type."
        raise InvalidDataTypeError(what) from error
    except UnicodeError as error:
        raise not_text(source, "utf-8") from error
    return InMemory(arrow, source)


def open_groups(path: str, groups: range | None = None, *, threads: bool = True) -> Table:
    """Open a Parquet file by its path or address, or some of its row groups. Needs pyarrow.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow as pa
    >>> from pyarrow import parquet
    >>> from ridgeway.data import open_groups
    >>> with TemporaryDirectory() as folder:
    ...     path = str(Path(folder, "x.parquet"))
    ...     parquet.write_table(pa.table({"x": [1, 2, 3]}), path, row_group_size=2)
    ...     open_groups(path, range(1, 2)).read(["x"]).to_pydict()
    {'x': [3]}
    """
    require_pyarrow()
    if Path(path).suffix.lower() not in PARQUET:
        raise InvalidDataError(f"{path} is an address; only Parquet files are read from one. Copy or convert the file.")
    with reading(path):
        return parquet_file(path, groups, threads=threads)


def open_stream(file: BinaryIO, *, source: str = "standard input", csv: CsvFormat | None = None) -> Table:
    """Open a table that comes through a pipe, as CSV or in one of Arrow's formats. It can be read once. Needs pyarrow.

    Parameters
    ----------
    file : binary file, such as `sys.stdin.buffer`
    source : str
        What messages call it.
    csv : CsvFormat, optional
        How CSV is written.

    Examples
    --------
    >>> from io import BytesIO
    >>> from ridgeway.data import open_stream
    >>> text = chr(10).join(["x,y", "1,2"])
    >>> open_stream(BytesIO(text.encode())).read(["y"]).to_pydict()
    {'y': [2]}
    """
    require_pyarrow()
    import pyarrow as pa

    pipe = PipeBytes(file, source)
    with reading(source):
        start = pipe.head(len(ARROW_FILE))
        if not start:
            raise InvalidDataError(f"{source} is empty. Check the command that writes to it.")
        if start.startswith(b"PAR1"):
            raise InvalidDataError(
                f"{source} is a Parquet file, which cannot be read from a pipe: its end is read first. Pass the path "
                "of the file."
            )
        if start == ARROW_FILE:
            pipe.read(len(ARROW_FILE))
        elif not start.startswith(b"\xff\xff\xff\xff"):
            return CsvTable(source, pipe, csv or PLAIN)
        return ReadOnce(source, pa.ipc.open_stream(pipe.open()), lambda: check_end(pipe.tail, source))


def expand(paths: Sequence[str]) -> list[Path]:
    """Return the files that paths and patterns (`*`, `?`, `[`) stand for, each once.

    The files of a pattern are sorted by name, with numbers by value: 2013-2 comes before 2013-10. `-`, which stands for
    standard input, must be the only path.

    Examples
    --------
    >>> expand(["b.csv", "a.csv", "b.csv"])
    [PosixPath('b.csv'), PosixPath('a.csv')]
    """
    if STDIN in paths and {*paths} != {STDIN}:
        raise InvalidParameterError(f"{STDIN!r} (standard input) cannot be combined with other files. Leave those out.")
    found: dict[Path, Path] = {}
    for path in paths:
        for match in map(Path, _matches(path)):
            found.setdefault(match.resolve(), match)
    return list(found.values())


def _matches(path: str) -> list[str]:
    """Return the files that a path, an address or a pattern stands for, sorted; raise if there are none."""
    matches = [path]
    if re.search(r"[*?\[]", path) and not Path(path).exists():
        found = matching_addresses(path) if is_address(path) else [n for n in glob(path, recursive=True) if _is_file(n)]
        matches = sorted(found, key=natural_order)
    if not matches:
        raise InvalidDataError(f"no file matches {path!r}. Check the pattern.")
    return matches


def part_names(paths: Sequence[str | PathLike[str]]) -> list[str]:
    """Return the files and addresses that paths and patterns stand for, each once, all sorted as `expand` does.

    Paths become absolute, so that they mean the same in another working folder.

    Examples
    --------
    >>> part_names(
    ...     ["s3://wages/10.parquet", "s3://wages/9.parquet", "s3://wages/10.parquet"]
    ... )
    ['s3://wages/9.parquet', 's3://wages/10.parquet']
    """
    found = [name for path in map(str, paths) for name in _matches(path)]
    unique = {name if is_address(name) else str(Path(name).resolve()) for name in found}
    return sorted(unique, key=natural_order)


def _is_file(name: str) -> bool:
    return Path(name).is_file()


def natural_order(name: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts digits by their value, before other characters."""
    return [(0, int(part), part) if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", name) if part]


def _open_file(path: Path, style: CsvFormat) -> Table:
    opened = FILES.get(path.suffix.lower())
    if opened is None:
        raise unknown_ending(path)
    if not path.is_file():
        if path.exists() and not path.is_dir():
            raise InvalidDataError(f"{path} is a pipe or a device, not a file. Write its rows to a file first.")
        what = "is a folder, not a file" if path.is_dir() else "does not exist"
        raise InvalidDataError(f"{path} {what}. Check the path.")
    if path.stat().st_size == 0:
        raise InvalidDataError(f"{path} is empty. Pass a file with rows, or leave out an empty task.")
    with reading(str(path)):
        return opened(path, style)


def _stream_of(data: Any, source: str) -> Any:
    """Return a reader of the batches of an object, or raise; an object of another library may raise anything."""
    import pyarrow as pa

    try:
        return pa.RecordBatchReader.from_stream(data)
    except pa.ArrowException:
        raise
    except Exception as error:
        raise InvalidDataError(f"{source} cannot be read: {first_line(error)}. Check where it comes from.") from error


def _as_arrow(data: Any) -> Any:
    """Return a table in memory as an Arrow table, or raise."""
    import pyarrow as pa

    if isinstance(data, pa.Table):
        return data
    if hasattr(data, "iloc"):  # pandas
        if not data.columns.is_unique:
            raise InvalidDataError("the table has duplicate column names. Rename or drop them first.")
        return pa.Table.from_pandas(data, preserve_index=False)
    if hasattr(data, "__arrow_c_array__"):
        return pa.Table.from_batches([pa.record_batch(data)])
    if isinstance(data, Mapping):
        return pa.table(dict(data))
    raise InvalidDataTypeError(
        f"cannot read a table from {type(data).__name__}. Pass a path, a DataFrame, Arrow data or a mapping of columns."
    )
