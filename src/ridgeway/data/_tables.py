"""A table of named columns, read as Arrow batches: what all kinds of tables have in common."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from ridgeway._optional import require
from ridgeway.data._columns import index_columns
from ridgeway.errors import InvalidDataError


class Table(ABC):
    """A table of named columns.

    Attributes
    ----------
    source : str
        The path of a file, or a name to use in messages.
    columns : list of str
    places : dict of str to int
        The place of each column, the first of a name that occurs twice.
    n_rows : int or None
        None if only reading the whole table would tell.
    index : list of str
        The columns that are the index of a pandas DataFrame.
    decimal : str
        The decimal point of numbers that are read as text.
    group_rows : list of int or None
        The number of rows of each group of rows that can be read alone; None if there are no such groups.

    Examples
    --------
    >>> from ridgeway.data import open_table
    >>> table = open_table({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    >>> table.columns, table.n_rows, table.read(["y"]).to_pydict()
    (['x', 'y'], 2, {'y': [3.0, 4.0]})
    """

    decimal = "."
    group_rows: list[int] | None = None

    def __init__(self, source: str, columns: Sequence[str], n_rows: int | None, metadata: Any = None) -> None:
        self.source = source
        self.columns = list(columns)
        self.places = {name: place for place, name in reversed([*enumerate(self.columns)])}
        self.n_rows = n_rows
        self.index = index_columns(self.columns, metadata)

    @abstractmethod
    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the Arrow types of columns; those of a CSV file are inferred from its first rows. Loses no rows."""

    def types_as_written(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the Arrow types that keep columns as they are: their own; text in a CSV file (007 is not 7)."""
        return self.types(columns)

    @abstractmethod
    def batches(self, columns: Sequence[str], *, rows: int, kinds: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """Yield Arrow record batches of about `rows` rows.

        Parameters
        ----------
        columns : the columns to read
        rows : the number of rows in a batch, about
        kinds : dict of str to pyarrow.DataType, optional
            The types of the columns of a CSV file, which are inferred if not given. Other tables have types of their
            own, and do not convert. Booleans may be read as such if numbers are asked for.
        """

    def read(self, columns: Sequence[str], *, text: Sequence[str] = ()) -> Any:
        """Return whole columns as an Arrow table; columns of a CSV file have inferred types unless in `text`."""
        import pyarrow as pa

        batches = list(self.batches(columns, rows=2**20))
        return pa.Table.from_batches(batches) if batches else pa.table({name: [] for name in columns})


@cache
def require_pyarrow() -> None:
    """Raise if pyarrow is not installed; look for it until it is found."""
    require("pyarrow", extra="store")


def read_already(source: str) -> InvalidDataError:
    """Return the error for the second attempt to read what can be read once."""
    return InvalidDataError(f"{source} can be read only once. Write it to a file first, and pass the file.")


def not_text(source: str, encoding: str) -> InvalidDataError:
    """Return the error for bytes that are not text."""
    return InvalidDataError(
        f"{source} is not {encoding.upper()} text. Save it as UTF-8, or pass the encoding of the CSV file, such as "
        "--charset latin-1."
    )


@contextmanager
def reading(source: str, encoding: str = "utf-8") -> Iterator[None]:
    """Turn the errors of pyarrow and of the system into errors that name the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, OverflowError, MemoryError, UnicodeError, csv.Error) as error:
        what = first_line(error)
        if isinstance(error, UnicodeError) or "invalid UTF8" in what:
            raise not_text(source, encoding) from error
        raise InvalidDataError(f"{source} cannot be read: {what[:300]}. Repair or rewrite it.") from error


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return str(error).strip().split("\n")[0].rstrip(".")
