"""A whole table in memory, each column as numbers or as text."""

from collections import Counter
from collections.abc import Sequence

from ridgeway.data._columns import (
    Categories,
    Numbers,
    as_categories,
    as_labels,
    as_numbers,
    is_numeric,
    is_text,
    value_type,
)
from ridgeway.data._tables import Table
from ridgeway.errors import InvalidDataError, InvalidDataTypeError


class TypedTable:
    """The columns of a table as numbers or text, converted when they are asked for.

    Attributes
    ----------
    source, names, index : as `source`, `columns` and `index` of the table
    n_rows : int
    """

    def __init__(self, table: Table) -> None:
        twice = [name for name, count in Counter(table.columns).items() if count > 1]
        if twice:
            raise InvalidDataError(
                f"{table.source} has duplicate column names: {', '.join(map(repr, twice))}. Rename or drop them first."
            )
        self._table = table
        self._arrow = table.read(table.columns)
        self._labels: dict[str, Categories] = {}
        self.source = table.source
        self.names = table.columns
        self.index = table.index
        self.n_rows = int(self._arrow.num_rows)
        if self.n_rows == 0:
            raise InvalidDataError(f"{self.source} has no rows. Pass a table with at least two tasks.")

    def column(self, name: str) -> Numbers | Categories:
        """Return a column, or raise if there is none of that name or it is neither numbers nor text."""
        self.check_names([name])
        column = self._arrow.column(self.names.index(name))
        kind = value_type(column)
        if is_text(kind):
            return as_categories(column)
        if is_numeric(kind):
            return Numbers(as_numbers(column, name, self.source))
        if str(kind) == "binary":
            raise InvalidDataTypeError(f"column {name!r} is not UTF-8 text. Save the file as UTF-8.")
        raise InvalidDataTypeError(
            f"column {name!r} has type {kind}, neither numbers nor text. Convert it (a date to a number of days), or "
            "leave it out by naming the features."
        )

    def labels(self, name: str) -> Categories:
        """Return a column of task labels, spelled the same from every kind of file."""
        self.check_names([name])
        if name not in self._labels:
            self._labels[name] = as_labels(self._table.read([name], text=[name]).column(0))
        return self._labels[name]

    def check_names(self, names: Sequence[str]) -> None:
        """Raise `InvalidDataError` if the table lacks one of these columns."""
        for name in names:
            if name not in self.names:
                shown = ", ".join(map(repr, self.names[:12]))
                more = f", … ({len(self.names)} in all)" if len(self.names) > 12 else ""
                raise InvalidDataError(f"{self.source} has no column {name!r}. It has: {shown}{more}.")
