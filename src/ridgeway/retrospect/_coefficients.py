"""A table of coefficients with errors, tests and intervals: printed, as HTML, and as a DataFrame."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway._checks import Array, whole
from ridgeway._plots import draw_terms
from ridgeway._printed import Printed, Rows
from ridgeway.retrospect._cells import cells, framed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

HEADS = {"coef": "coef", "standard_error": "std err", "t": "t", "degrees_of_freedom": "df", "p_value": "P>|t|"}
"""How the columns are headed where the table is printed; the interval's ends have its level."""


KINDS = {"p_value": ".3f"}
"""How numbers are printed, if not with four digits."""


@dataclass(frozen=True, eq=False)
class CoefficientTable(Printed):
    """What is known about each coefficient, of one target or of several."""

    terms: tuple[str, ...]
    coef: Array
    standard_errors: Array
    t: Array
    p_values: Array
    intervals: Array
    level: float

    @abstractmethod
    def _caption(self, target: int) -> str:
        """Return the line above the table of a target; it may be empty."""

    def _heads(self) -> dict[str, str]:
        """Return how the columns are headed."""
        return HEADS

    def _columns(self) -> dict[str, Array]:
        """Return the columns of the table by name, each of the shape of `coef`."""
        lower, upper = np.moveaxis(self.intervals, -1, 0)
        columns = {"coef": self.coef, "standard_error": self.standard_errors, "t": self.t}
        return columns | {"p_value": self.p_values, "lower": lower, "upper": upper}

    def plot(self, ax: Any = None, *, target: int = 0) -> "Axes":
        """Draw the coefficients with their intervals, and return the axes. The intercept is left out.

        Needs matplotlib (`pip install 'ridgeway[plot]'`).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        target : int, default 0
            Which target, if there are several.
        """
        coef, intervals = np.atleast_2d(self.coef), self.intervals.reshape(-1, len(self.terms), 2)
        target = whole(target, "target", 0, len(coef) - 1)
        first = int(self.terms[0] == "intercept")
        label = f"coefficient, with {100 * self.level:g} % intervals"
        return draw_terms(ax, self.terms[first:], coef[target, first:], intervals[target, first:], label=label)

    def to_frame(self) -> "DataFrame":
        """Return the table as a pandas DataFrame: one row per term, and per target if there are several."""
        columns = self._columns()
        return framed(np.stack([*columns.values()], axis=-1), self.terms, [*columns], "term")

    def _tables(self) -> Iterator[tuple[str, Rows]]:
        """Yield the caption of each target and the rows of its table as text, the head first."""
        columns = {name: np.atleast_2d(values) for name, values in self._columns().items()}
        percent = f"{100 * self.level:g} %"
        heads = self._heads() | {"lower": f"[{percent}", "upper": f"{percent}]"}
        n_targets = len(columns["coef"])
        for number in range(n_targets):
            target = f"target {number}" if n_targets > 1 else ""
            caption = ": ".join(part for part in (target, self._caption(number)) if part)
            shown = [cells(values[number], KINDS.get(name, ".4g")) for name, values in columns.items()]
            rows = zip(self.terms, *shown, strict=True)
            yield caption, [["", *(heads[name] for name in columns)], *([*row] for row in rows)]
