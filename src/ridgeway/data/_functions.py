"""Functions that a term may apply to a column. Each is fixed beforehand: none depends on the rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.errors import InvalidDataError, InvalidParameterError

LARGEST_POWER = 9
FEWEST_KNOTS, MOST_KNOTS = 3, 50
SPLINE = "For example: spline(hour, 6, 12, 18)."
DAY = np.timedelta64(1, "D")

Values = NDArray[Any]
"""Numbers with NaN, or times (datetime64[us]) with NaT, if a value is missing."""


@dataclass(frozen=True)
class Function:
    """A function of a column.

    Attributes
    ----------
    of : what it takes: "number" or "date"
    gives : what it returns: "number", "columns" (several of them) or "category"
    apply : takes the values and the arguments
    check : returns the arguments as they are kept, or raises `ValueError`
    levels : the complete list of values of a date's part, if it is made a category
    """

    of: str
    gives: str
    apply: Callable[..., Values]
    check: Callable[[Sequence[str]], Sequence[str]]
    levels: tuple[str, ...] = ()


def _no_arguments(given: Sequence[str]) -> Sequence[str]:
    if given:
        raise ValueError("takes one column and nothing else. Leave out the rest.")
    return given


def _whole_power(given: Sequence[str]) -> Sequence[str]:
    if not given[0].isdecimal() or not 2 <= int(given[0]) <= LARGEST_POWER:
        raise ValueError(f"needs a whole power from 2 to {LARGEST_POWER}. For example: distance^2.")
    return [str(int(given[0]))]


def _knots(given: Sequence[str]) -> Sequence[str]:
    try:
        knots = np.array([float(text) for text in given])
    except ValueError:
        raise ValueError(f"needs knots that are numbers. {SPLINE}") from None
    if not FEWEST_KNOTS <= len(knots) <= MOST_KNOTS or not np.isfinite(knots).all() or (np.diff(knots) <= 0.0).any():
        raise ValueError(f"needs {FEWEST_KNOTS} to {MOST_KNOTS} knots in ascending order. {SPLINE}")
    return [f"{knot:.17g}" if float(f"{knot:g}") != knot else f"{knot:g}" for knot in knots]


def _since(given: Sequence[str]) -> Sequence[str]:
    try:
        (text,) = given
        return [date.fromisoformat(text).isoformat()]
    except ValueError:
        raise ValueError("needs a date to count from. For example: days(date, 2013-01-01).") from None


def _log(values: Array) -> Array:
    low = int((values <= 0.0).sum())
    if low:
        are, have = ("is", "has") if low == 1 else ("are", "have")
        raise InvalidDataError(f"{counted(low, 'value')} {are} 0 or negative and {have} no logarithm. Drop those rows.")
    return np.asarray(np.log(values))


def _power(values: Array, power: str) -> Array:
    return np.asarray(values ** int(power))


def spline(values: Array, *knots: str) -> Array:
    """Return the natural cubic spline basis (n, K − 1) with these K knots: x itself, then K − 2 cubic columns.

    Every function that is cubic between the knots, linear beyond them and twice continuously differentiable is a sum of
    a constant and these columns. They are divided by (k_K − k_1)², so that all of them have the unit of x.
    """
    k = np.array([float(text) for text in knots])
    cubes = np.maximum(values[:, None] - k, 0.0) ** 3
    last, before = k[-1], k[-2]
    weights = (k[:-2] - np.array([[last], [before]])) / (last - before)
    bent = cubes[:, :-2] + cubes[:, -2:-1] * weights[0] - cubes[:, -1:] * weights[1]
    return np.column_stack([values, bent / (last - k[0]) ** 2])


def _part(unit: str, within: str, first: int) -> Callable[[Values], Array]:
    """Return the function that counts units within a larger unit, from `first`."""

    def part(values: Values) -> Array:
        count = (values.astype(f"M8[{unit}]") - values.astype(f"M8[{within}]").astype(f"M8[{unit}]")).astype(np.float64)
        return np.where(np.isnat(values), np.nan, count + first)

    return part


def _year(values: Values) -> Array:
    return np.where(np.isnat(values), np.nan, values.astype("M8[Y]").astype(np.float64) + 1970)


def _weekday(values: Values) -> Array:
    days = values.astype("M8[D]").astype(np.int64)  # day 0, the first of January 1970, was a Thursday
    return np.where(np.isnat(values), np.nan, (days + 3) % 7 + 1.0)


def _days(values: Values, since: str) -> Array:
    return np.where(np.isnat(values), np.nan, (values - np.datetime64(since, "us")) / DAY)


def _counted(first: int, last: int) -> tuple[str, ...]:
    return tuple(map(str, range(first, last + 1)))


def _unchanged(values: Values) -> Values:
    return values


FUNCTIONS: dict[str, Function] = {
    "log": Function("number", "number", _log, _no_arguments),
    "power": Function("number", "number", _power, _whole_power),
    "spline": Function("number", "columns", spline, _knots),
    "year": Function("date", "number", _year, _no_arguments),
    "month": Function("date", "number", _part("M", "Y", 1), _no_arguments, _counted(1, 12)),
    "weekday": Function("date", "number", _weekday, _no_arguments, _counted(1, 7)),
    "hour": Function("date", "number", _part("h", "D", 0), _no_arguments, _counted(0, 23)),
    "days": Function("date", "number", _days, _since),
    "category": Function("number", "category", _unchanged, _no_arguments),
}
"""Functions by name. `power` is written with a ^. Monday is weekday 1."""


def checked_arguments(name: str, given: Sequence[str], term: str) -> tuple[str, ...]:
    """Return the arguments of a function, spelled in one way, or raise."""
    try:
        return tuple(FUNCTIONS[name].check(given))
    except ValueError as error:
        shown = "^" if name == "power" else name
        raise InvalidParameterError(f"cannot read the term {term!r}: {shown} {error}") from None
