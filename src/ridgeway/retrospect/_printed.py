"""Results that print as tables, on a terminal and in a notebook."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._optional import require
from ridgeway.retrospect._model import per_target
from ridgeway.weights import Retained

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ("coef", "standard_error", "t", "p_value", "lower", "upper")
NARROWEST = 11
"""Characters of a column of numbers at least."""


class Printed(ABC):
    """A title, tables with a caption each, and notes."""

    @abstractmethod
    def _title(self) -> str:
        """Return what was computed from what, in one line."""

    @abstractmethod
    def _tables(self) -> Iterator[tuple[str, list[list[str]]]]:
        """Yield the caption and the rows of each table as text, the head first."""

    @abstractmethod
    def _notes(self) -> list[str]:
        """Return what the numbers assume, and whatever else must be known."""

    def __str__(self) -> str:
        lines = [self._title()]
        for caption, rows in self._tables():
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            widths = [widths[0], *(max(NARROWEST, width + 1) for width in widths[1:])]
            printed = [
                f"{term:<{widths[0]}}" + "".join(f"{c:>{w}}" for c, w in zip(cells, widths[1:], strict=True))
                for term, *cells in rows
            ]
            rule = "-" * len(printed[0])
            lines += [caption, rule, printed[0], rule, *printed[1:], rule]
        return "\n".join([*lines, *self._notes()])

    def _repr_html_(self) -> str:
        """Return the tables and notes as HTML, for a notebook."""
        parts = [f"<p>{escape(self._title())}</p>"]
        for caption, (head, *rows) in self._tables():
            parts += [f'<table><caption style="text-align: left">{escape(caption)}</caption>']
            parts += ["<thead><tr>", *(f"<th>{escape(cell)}</th>" for cell in head), "</tr></thead><tbody>"]
            for term, *cells in rows:
                parts += [f'<tr><th style="text-align: left">{escape(term)}</th>']
                parts += [*(f"<td>{escape(cell)}</td>" for cell in cells), "</tr>"]
            parts += ["</tbody></table>"]
        return "\n".join(["<div>", *parts, *(f"<p>{escape(note)}</p>" for note in self._notes()), "</div>"])


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimated(Printed):
    """Coefficients that are common to all tasks, with errors, tests and intervals.

    With several targets each array has one more axis in front, and each number is an array of shape (n_targets,).

    Attributes
    ----------
    terms : tuple of str
    coef, standard_errors, t, p_values : ndarray of shape (n_terms,)
    intervals : ndarray of shape (n_terms, 2)
    level : float
    degrees_of_freedom : float or ndarray
        Of Student's t.
    noise_variance : float
    n_samples, n_tasks : int
    assumption : str
        Under which assumption the numbers hold.
    not_estimable : tuple of str
        Terms that the rows do not determine: their standard errors are infinite.
    """

    terms: tuple[str, ...]
    coef: Array
    standard_errors: Array
    t: Array
    p_values: Array
    intervals: Array
    level: float
    degrees_of_freedom: Any
    noise_variance: Any
    n_samples: int
    n_tasks: int
    assumption: str
    not_estimable: tuple[str, ...]

    def to_frame(self) -> "DataFrame":
        """Return the table as a pandas DataFrame: one row per term, and per target if there are several."""
        return framed(self._table(), self.terms, COLUMNS, "term")

    @abstractmethod
    def _captions(self) -> list[str]:
        """Return what is said about the fit of each target."""

    def _tables(self) -> Iterator[tuple[str, list[list[str]]]]:
        tables = self._table().reshape(-1, len(self.terms), len(COLUMNS))
        percent = f"{100 * self.level:g} %"
        head = ["", "coef", "std err", "t", "P>|t|", f"[{percent}", f"{percent}]"]
        for number, (caption, table) in enumerate(zip(self._captions(), tables, strict=True)):
            target = f"target {number}: " if len(tables) > 1 else ""
            yield target + caption, [head, *([term, *cells(row)] for term, row in zip(self.terms, table, strict=True))]

    def _notes(self) -> list[str]:
        notes = [self.assumption]
        if self.not_estimable:
            notes.append(f"The rows do not determine: {', '.join(self.not_estimable)}.")
        return notes

    def _table(self) -> Array:
        columns = (self.coef, self.standard_errors, self.t, self.p_values, *np.moveaxis(self.intervals, -1, 0))
        return np.stack(columns, axis=-1)


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


def cells(row: Array) -> list[str]:
    """Return the numbers of a row of `COLUMNS` as text."""
    kinds = (".3f" if name == "p_value" else ".4g" for name in COLUMNS)
    return [number(value, kind) for kind, value in zip(kinds, row, strict=True)]


def number(value: Any, kind: str = ".4g") -> str:
    """Return a number as text, and a dash for NaN."""
    return "–" if np.isnan(value) else format(value, kind)


def margins(deviations: Array, freedom: Array | float, level: float) -> Array:
    """Return half the length of the intervals of Student's t that hold `level`; infinity is normal."""
    return np.asarray(scipy.special.stdtrit(freedom, 0.5 + level / 2.0) * deviations)


def estimates(
    state: Retained, terms: tuple[str, ...], coef: Array, deviations: Array, freedom: Array | float, level: float
) -> dict[str, Any]:
    """Return the columns of an `Estimated` by name.

    `coef` and `deviations` are of shape (n_targets, n_terms), and `freedom` is a number or can be broadcast to it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        t = coef / deviations
    half = margins(deviations, freedom, level)
    return {
        "terms": terms,
        "coef": per_target(state, coef),
        "standard_errors": per_target(state, deviations),
        "t": per_target(state, t),
        "p_values": per_target(state, np.asarray(2.0 * scipy.special.stdtr(freedom, -np.abs(t)))),
        "intervals": per_target(state, np.stack([coef - half, coef + half], axis=-1)),
        "level": level,
        "degrees_of_freedom": per_target(state, freedom) if isinstance(freedom, np.ndarray) else freedom,
        "not_estimable": tuple(terms[j] for j in np.flatnonzero(np.isinf(deviations[0]))),
    }


def flags(state: Retained, values: NDArray[np.bool_]) -> Any:
    """Return one bool per target, or a single bool."""
    return bool(values[0]) if state.origin.single_target else values
