"""A table of coefficients with errors, tests and intervals: printed, as HTML, and as a DataFrame."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway._checks import Array
from ridgeway._optional import require

if TYPE_CHECKING:
    from pandas import DataFrame

HEADS = {"coef": "coef", "standard_error": "std err", "t": "t", "degrees_of_freedom": "df", "p_value": "P>|t|"}
"""How the columns are headed where the table is printed; the interval's ends have its level."""


@dataclass(frozen=True, eq=False)
class CoefficientTable(ABC):
    """What is known about each coefficient, of one target or of several."""

    terms: tuple[str, ...]
    coef: Array
    standard_errors: Array
    t: Array
    p_values: Array
    intervals: Array
    level: float

    @abstractmethod
    def _title(self) -> str:
        """Return the line above the tables."""

    @abstractmethod
    def _caption(self, target: int) -> str:
        """Return the line above the table of a target; it may be empty."""

    @abstractmethod
    def _notes(self) -> list[str]:
        """Return the lines below the tables."""

    def _columns(self) -> dict[str, Array]:
        """Return the columns of the table by name, each of the shape of `coef`."""
        lower, upper = np.moveaxis(self.intervals, -1, 0)
        columns = {"coef": self.coef, "standard_error": self.standard_errors, "t": self.t}
        return columns | {"p_value": self.p_values, "lower": lower, "upper": upper}

    def to_frame(self) -> "DataFrame":
        """Return the table as a pandas DataFrame: one row per term, and per target if there are several."""
        require("pandas", extra="frame")
        from pandas import DataFrame, MultiIndex

        columns = self._columns()
        index: Any = list(self.terms)
        if self.coef.ndim == 2:
            index = MultiIndex.from_product([range(len(self.coef)), self.terms], names=["target", "term"])
        return DataFrame({name: values.ravel() for name, values in columns.items()}, index=index)

    def __str__(self) -> str:
        width = max(map(len, self.terms))
        lines = [self._title()]
        for caption, rows in self._tables():
            printed = [f"{term:<{width}}" + "".join(f"{cell:>11}" for cell in cells) for term, *cells in rows]
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

    def _tables(self) -> Iterator[tuple[str, list[list[str]]]]:
        """Yield the caption of each target and the rows of its table as text, the head first."""
        columns = {name: np.atleast_2d(values) for name, values in self._columns().items()}
        percent = f"{100 * self.level:g} %"
        heads = HEADS | {"lower": f"[{percent}", "upper": f"{percent}]"}
        n_targets = len(columns["coef"])
        for number in range(n_targets):
            target = f"target {number}" if n_targets > 1 else ""
            caption = ": ".join(part for part in (target, self._caption(number)) if part)
            cells = [[_cell(name, value) for value in values[number]] for name, values in columns.items()]
            rows = zip(self.terms, *cells, strict=True)
            yield caption, [["", *(heads[name] for name in columns)], *([*row] for row in rows)]


def _cell(name: str, value: float) -> str:
    return "–" if np.isnan(value) else format(value, ".3f" if name == "p_value" else ".4g")
