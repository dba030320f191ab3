"""Write a table, part by part, to a file of any kind that can be read."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import fsencode
from pathlib import Path
from typing import Any

from ridgeway._text import RUNNABLE, quoted
from ridgeway.data._open import DELIMITERS, FILES, PARQUET, unknown_ending
from ridgeway.data._tables import first_line, require_pyarrow
from ridgeway.errors import InvalidDataTypeError

CELL = f"^([{re.escape(''.join(RUNNABLE))}])"
"""The first character of text that a spreadsheet would run, unless it is that of a number."""
NUMBER = r"^[-+]?[0-9]+([.][0-9]*)?([eE][-+]?[0-9]+)?$"


@contextmanager
def writer(path: Path, temporary: Path, schema: Any) -> Iterator[Callable[[Any], None]]:
    """Yield a function that appends an Arrow table to a new data file; the ending of `path` says which kind.

    Parameters
    ----------
    path : what the file will be called
    temporary : where it is written
    schema : pyarrow.Schema, of every table

    In a CSV file, text that a spreadsheet would run gets a leading `'`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow as pa
    >>> from ridgeway.data import writer
    >>> part = pa.table({"x": [1, 2]})
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "x.csv")
    ...     with writer(path, path, part.schema) as write:
    ...         write(part)
    ...         write(part)
    ...     path.read_text().split()
    ['"x"', '1', '2', '1', '2']
    """
    require_pyarrow()
    ending = path.suffix.lower()
    if ending not in FILES:
        raise unknown_ending(path)
    import pyarrow as pa
    from pyarrow import csv as pacsv
    from pyarrow import parquet

    with pa.OSFile(fsencode(temporary), "wb") as file:
        with _writing(path):
            if ending in DELIMITERS:
                options = pacsv.WriteOptions(delimiter=DELIMITERS[ending])
                sink: Any = pacsv.CSVWriter(file, _quoted(schema.empty_table()).schema, write_options=options)
            elif ending in PARQUET:
                sink = parquet.ParquetWriter(file, schema)
            else:
                sink = pa.ipc.new_file(file, schema)

        def write(table: Any) -> None:
            with _writing(path):
                sink.write_table(_quoted(table) if ending in DELIMITERS else table)

        with sink:
            yield write


def _quoted(table: Any) -> Any:
    """Return a table whose text a spreadsheet shows rather than runs."""
    import pyarrow as pa
    from pyarrow import compute

    columns = []
    for column in table.columns:
        kind = column.type
        if pa.types.is_dictionary(kind):
            column, kind = column.cast(kind.value_type), kind.value_type
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if is_text:
            runs = compute.match_substring_regex(column, CELL)
            runs = compute.and_not(runs, compute.match_substring_regex(column, NUMBER))
            column = compute.if_else(
                runs, compute.replace_substring_regex(column, "^", "'", max_replacements=1), column
            )
        columns.append(column)
    return pa.table(columns, names=[quoted(name) for name in table.column_names])


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn pyarrow's refusal of a type into an error that names the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InvalidDataTypeError(
            f"a column cannot be written to {path}: {first_line(error)}. Leave out the column, or write another kind "
            "of file."
        ) from error
