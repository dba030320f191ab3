"""A table of the user's, whatever it came in: its columns as numbers or as text with codes."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._optional import require
from ridgeway.data import index_columns
from ridgeway.datasets import Dataset
from ridgeway.errors import InvalidDataError, InvalidDataTypeError

__all__ = ["Numbers", "Table", "Text", "read_table"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers, NaN where one is missing."""

    values: Array

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Say of each row whether its value is missing."""
        return np.isnan(self.values)

    def labels(self) -> tuple[NDArray[np.int64], list[str], list[Any]]:
        """Return a code per row, and for each code the value as text and as a key to sort by."""
        found, codes = np.unique(self.values + 0.0, return_inverse=True)  # -0.0 is 0.0
        return codes, [f"{value:.15g}" for value in found], [float(value) for value in found]


@dataclass(frozen=True, eq=False)
class Text:
    """A column of text: `codes` into the sorted `categories`, −1 where a value is missing."""

    codes: NDArray[np.int64]
    categories: tuple[str, ...]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Say of each row whether its value is missing."""
        return self.codes < 0

    def labels(self) -> tuple[NDArray[np.int64], list[str], list[Any]]:
        """Return a code per row, and for each code the value as text and as a key to sort by."""
        return self.codes, list(self.categories), list(self.categories)


class Table:
    """Named columns of one length. A column is converted when it is asked for."""

    def __init__(self, arrow: Any, source: str) -> None:
        self._arrow = arrow
        self.source = source
        try:
            self.names: list[str] = [str(name) for name in arrow.column_names]
        except UnicodeDecodeError as error:
            raise InvalidDataError(
                f"the column names of {source} are not UTF-8 text. Save the file with that encoding."
            ) from error
        self.index = index_columns(self.names, arrow.schema.metadata)
        self.n_rows = int(arrow.num_rows)
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            raise InvalidDataError(
                f"{source} has duplicate column names: {', '.join(map(repr, twice))}. Rename or drop them first."
            )
        if self.n_rows == 0:
            raise InvalidDataError(f"{source} has no rows. Pass a table with at least two tasks.")

    def column(self, name: str) -> Numbers | Text:
        """Return a column, or raise where there is none or it is neither numbers nor text."""
        import pyarrow as pa

        if name not in self.names:
            raise InvalidDataError(f"there is no column {name!r} in {self.source}. It has: {_listed(self.names)}.")
        column = self._arrow.column(self.names.index(name))
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            return _text(column)
        numeric = (
            pa.types.is_integer,
            pa.types.is_floating,
            pa.types.is_boolean,
            pa.types.is_decimal,
            pa.types.is_null,
        )
        if pa.types.is_binary(kind):
            raise InvalidDataTypeError(f"column {name!r} is not UTF-8 text. Save the file with that encoding.")
        if not any(test(kind) for test in numeric):
            raise InvalidDataTypeError(
                f"column {name!r} holds {kind}, neither numbers nor text. Convert it (a date to a number of days), or "
                "leave it out: name the columns to use as features."
            )
        flat = column.cast(kind) if kind is not column.type else column
        return Numbers(np.array(flat.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64))


def read_table(data: Any) -> Table:
    """Return a table from a path (CSV, TSV, Parquet, Arrow), a `Dataset`, a DataFrame or a mapping of columns.

    Needs pyarrow (`pip install 'ridgeway[report]'`).
    """
    require("pyarrow", extra="report")
    import pyarrow as pa

    if isinstance(data, Table):
        return data
    if isinstance(data, str | Path):
        return Table(_read(Path(data)), f"'{data}'")
    if isinstance(data, Dataset):
        return Table(pa.table(dict(data.columns)), data.name)
    try:
        if hasattr(data, "iloc"):  # pandas
            if not data.columns.is_unique:
                raise InvalidDataError("the table has duplicate column names. Rename or drop them first.")
            return Table(pa.Table.from_pandas(data, preserve_index=False), "the table")
        if hasattr(data, "to_arrow"):  # polars
            return Table(data.to_arrow(), "the table")
        if isinstance(data, Mapping | pa.Table):
            return Table(pa.table(dict(data)) if isinstance(data, Mapping) else data, "the table")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InvalidDataTypeError(
            f"the table cannot be read: {_first_line(error)}. Give each column one type."
        ) from error
    raise InvalidDataTypeError(
        f"cannot read a table from {type(data).__name__}. Pass a path, a DataFrame or a mapping of names to columns."
    )


def _read(path: Path) -> Any:
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    options = csv.ConvertOptions(strings_can_be_null=True)
    readers = {
        ".csv": lambda: csv.read_csv(path, convert_options=options),
        ".tsv": lambda: csv.read_csv(path, parse_options=csv.ParseOptions(delimiter="\t"), convert_options=options),
        ".parquet": lambda: parquet.read_table(path),
        ".arrow": lambda: feather.read_table(path),
        ".feather": lambda: feather.read_table(path),
    }
    if not path.exists():
        raise InvalidDataError(f"there is no file '{path}'. Check the path.")
    reader = readers.get(path.suffix.lower())
    if path.is_dir() or reader is None:
        raise InvalidDataError(f"'{path}' is not a table. Pass a file that ends in {', '.join(readers)}.")
    try:
        return reader()
    except (pa.ArrowException, OSError) as error:
        raise InvalidDataError(
            f"'{path}' is not a table that can be read: {_first_line(error)}. Check that it is whole, and that its "
            f"ending ({path.suffix}) is right."
        ) from error


def _text(column: Any) -> Text:
    """Return the column with its categories sorted, those that no row has left out."""
    import pyarrow as pa

    plain = column.cast(pa.string())
    encoded = plain.combine_chunks().dictionary_encode()
    found = encoded.dictionary.to_pylist()
    order = sorted(range(len(found)), key=found.__getitem__)
    rank = np.empty(len(found) + 1, dtype=np.int64)
    rank[np.array(order, dtype=np.int64)] = np.arange(len(found))
    rank[-1] = -1  # a missing value is coded −1, the last place
    codes = np.array(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
    return Text(rank[codes], tuple(found[position] for position in order))


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:12]))
    return shown if len(names) <= 12 else f"{shown}, … ({len(names)} in all)"
