"""A whole table in memory, each column as numbers or as text."""

from collections import Counter
from collections.abc import Sequence

from ridgeway.data._columns import Categories, Numbers, as_labels, as_numbers_or_text
from ridgeway.data._tables import Table
from ridgeway.errors import InvalidDataError


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
        return as_numbers_or_text(self._arrow.column(self.names.index(name)), name, self.source)

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
