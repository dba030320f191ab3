"""How an answer is shown: as text, and as HTML in a notebook."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from html import escape

import numpy as np

from ridgeway._checks import Array

Rows = list[list[str]]
"""The cells of a table as text, the head first; the first cell of a row is its name."""


class Shown(ABC):
    """An answer that prints as a title, tables and notes."""

    @abstractmethod
    def _title(self) -> str:
        """Return the first line."""

    @abstractmethod
    def _tables(self) -> Iterable[tuple[str, Rows]]:
        """Yield the caption and the rows of each table."""

    @abstractmethod
    def _notes(self) -> list[str]:
        """Return what must be known to read the tables."""

    def __str__(self) -> str:
        lines = [self._title()]
        for caption, rows in self._tables():
            first, *others = zip(*rows, strict=True)
            widths = [max(map(len, first)), *(max(11, *map(len, column)) for column in others)]
            printed = ["  ".join(_placed(row, widths)).rstrip() for row in rows]
            rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
            lines += [*([caption] if caption else []), rule, printed[0], rule, *printed[1:], rule]
        return "\n".join([*lines, *self._notes()])

    def _repr_html_(self) -> str:
        """Return the tables and notes as HTML, for a notebook."""
        parts = [f"<p>{escape(self._title())}</p>"]
        for caption, (head, *rows) in self._tables():
            parts += [f'<table><caption style="text-align: left">{escape(caption)}</caption>']
            parts += ["<thead><tr>", *(f"<th>{escape(cell)}</th>" for cell in head), "</tr></thead><tbody>"]
            for name, *cells in rows:
                parts += [f'<tr><th style="text-align: left">{escape(name)}</th>']
                parts += [*(f"<td>{escape(cell)}</td>" for cell in cells), "</tr>"]
            parts += ["</tbody></table>"]
        return "\n".join(["<div>", *parts, *(f"<p>{escape(note)}</p>" for note in self._notes()), "</div>"])


def cells(values: Iterable[float], kind: str = ".4g") -> list[str]:
    """Return numbers as text, with a dash for NaN."""
    return ["–" if np.isnan(value) else format(value, kind) for value in values]


def targets(values: Array, single: bool) -> Array:
    """Return values (n_targets, …) with the axis of the targets, also if the answer went without it."""
    return values[None] if single else values


def _placed(row: list[str], widths: list[int]) -> list[str]:
    return [f"{row[0]:<{widths[0]}}", *(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))]
