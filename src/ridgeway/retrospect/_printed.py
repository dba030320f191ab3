"""Results that print as tables, on a terminal and in a notebook."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway._checks import Array
from ridgeway._optional import require

if TYPE_CHECKING:
    from pandas import DataFrame

Rows = list[list[str]]
"""The cells of a table as text, the head first; the first cell of a row is its name."""
NARROWEST = 11
"""The fewest characters of a column of numbers."""


class Printed(ABC):
    """A title, tables with a caption each, and notes."""

    @abstractmethod
    def _title(self) -> str:
        """Return what was computed from what, in one line."""

    @abstractmethod
    def _tables(self) -> Iterable[tuple[str, Rows]]:
        """Yield the caption, which may be empty, and the rows of each table."""

    @abstractmethod
    def _notes(self) -> list[str]:
        """Return what the numbers assume, and whatever else must be known."""

    def __str__(self) -> str:
        lines = [self._title()]
        for caption, rows in self._tables():
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            widths = [widths[0], *(max(NARROWEST, width + 2) for width in widths[1:])]
            printed = [
                f"{term:<{widths[0]}}" + "".join(f"{c:>{w}}" for c, w in zip(cells, widths[1:], strict=True))
                for term, *cells in rows
            ]
            rule = "-" * len(printed[0])
            lines += [*([caption] if caption else []), rule, printed[0], rule, *printed[1:], rule]
        return "\n".join([*lines, *self._notes()])

    def _repr_html_(self) -> str:
        """Return the tables and notes as HTML, for a notebook."""
        parts = [f"<p>{escape(self._title())}</p>"]
        for caption, (head, *rows) in self._tables():
            parts += ["<table>"]
            parts += [f'<caption style="text-align: left">{escape(caption)}</caption>'] if caption else []
            parts += ["<thead><tr>", *(f"<th>{escape(cell)}</th>" for cell in head), "</tr></thead><tbody>"]
            for term, *cells in rows:
                parts += [f'<tr><th style="text-align: left">{escape(term)}</th>']
                parts += [*(f"<td>{escape(cell)}</td>" for cell in cells), "</tr>"]
            parts += ["</tbody></table>"]
        return "\n".join(["<div>", *parts, *(f"<p>{escape(note)}</p>" for note in self._notes()), "</div>"])


def framed(table: Array, labels: Sequence[str], columns: Sequence[str], name: str) -> "DataFrame":
    """Return a table as a pandas DataFrame: one row per label, and per target if there are several.

    Parameters
    ----------
    table : ndarray of shape (n_labels, n_columns) or (n_targets, n_labels, n_columns)
    labels, columns : the names of rows and columns
    name : what the labels are
    """
    require("pandas", extra="frame")
    from pandas import DataFrame, MultiIndex

    if table.ndim == 2:
        return DataFrame(table, index=list(labels), columns=list(columns))
    index = MultiIndex.from_product([range(len(table)), labels], names=["target", name])
    return DataFrame(np.concatenate(table), index=index, columns=list(columns))


def cells(values: Iterable[float], kind: str = ".4g") -> list[str]:
    """Return numbers as text, with a dash for NaN."""
    return [number(value, kind) for value in values]


def number(value: Any, kind: str = ".4g") -> str:
    """Return a number as text, and a dash for NaN."""
    return "–" if np.isnan(value) else format(value, kind)


def targets(values: Array, single: bool) -> Array:
    """Return values (n_targets, …) with the axis of the targets, even if the answer has none."""
    return values[None] if single else values
