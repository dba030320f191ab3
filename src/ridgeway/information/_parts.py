"""Information as counts and arrays by name, and back: what is stored of it."""

from collections.abc import Mapping
from functools import cache
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import LARGEST, Array
from ridgeway._text import counted
from ridgeway.errors import InvalidStateError

WHOLE = ("n_features", "n_targets", "n_samples")
NUMBERS = ("total_weight", "log_weight", "digits_lost")
ARRAYS = ("mean", "mean_low", "matrix", "peak")
NARROW = 128
"""Up to this width a triangle is packed at once, which is faster; above it, column by column."""
TINY = 1e-150
"""The squares of numbers below this lose their digits."""
MOST_ROWS = 2**53
"""Limit on the rows and columns that are counted: beyond it, a float64 cannot count them."""


def taken_apart(information: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return counts and arrays; the matrix as an upper triangle, column after column."""
    counts = {name: getattr(information, name) for name in (*WHOLE, "centered", *NUMBERS)}
    arrays = {name: getattr(information, name) for name in ARRAYS} | {"matrix": _packed(information.matrix)}
    return counts, arrays


def put_together(counts: Mapping[str, Any], arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return the fields of the information that was taken apart, or raise `InvalidStateError`."""
    whole: dict[str, Any] = {name: counts.get(name) for name in WHOLE}
    numbers: dict[str, Any] = {name: counts.get(name) for name in NUMBERS}
    in_range = all(type(number) is int and 0 <= number <= MOST_ROWS for number in whole.values())
    if not in_range or type(counts.get("centered")) is not bool:
        raise InvalidStateError("the counts of a state must be whole numbers ≥ 0. Read an intact copy.")
    if any(type(number) is not float or not isfinite(number) for number in numbers.values()):
        raise InvalidStateError("the weights of a state must be finite numbers. Read an intact copy.")
    held = {name: _checked(arrays, name) for name in ARRAYS}
    width = whole["n_features"] + whole["n_targets"]
    sizes = {name: width * (width + 1) // 2 if name == "matrix" else width for name in ARRAYS}
    wrong = [name for name in ARRAYS if held[name].shape != (sizes[name],)]
    if min(whole["n_features"], whole["n_targets"]) < 1 or wrong:
        raise InvalidStateError(f"the arrays of a state do not fit together: {', '.join(wrong) or 'counts'}.")
    if min(numbers["total_weight"], numbers["digits_lost"], held["peak"].min()) < 0.0:
        raise InvalidStateError("a state has a negative weight or sum of squares. Read an intact copy.")
    _check_sums(counts, held)
    held["matrix"] = _unpacked(held["matrix"], width)
    return {"centered": counts["centered"], **whole, **numbers, **held}


def _check_sums(counts: Mapping[str, Any], held: Mapping[str, Array]) -> None:
    """Raise if the sums contradict the counts: those of no rows are zero, and so are means without an intercept."""
    if max(np.abs(held["mean"]).max(), np.abs(held["mean_low"]).max()) > 2.0 * LARGEST:
        raise InvalidStateError(f"a mean of a state exceeds {LARGEST:g}, the limit for values. Read an intact copy.")
    rows, weight = counts["n_samples"], counts["total_weight"]
    if (rows > 0) != (weight > 0.0) or (rows == 0 and any(held[name].any() for name in ARRAYS)):
        raise InvalidStateError(
            f"a state of {counted(rows, 'row')} has a weight of {weight:g}, or other sums. Read an intact copy."
        )
    if not counts["centered"] and (held["mean"].any() or held["mean_low"].any()):
        raise InvalidStateError("a state without an intercept has means. Read an intact copy.")


def _checked(arrays: Mapping[str, Array], name: str) -> Array:
    """Return a copy of one array of a state."""
    if name not in arrays:
        raise InvalidStateError(f"the state has no array {name!r}. Pass everything from to_arrays().")
    array = np.array(arrays[name])
    if array.dtype != np.float64 or not np.isfinite(array).all():
        raise InvalidStateError(f"the array {name!r} of a state must hold finite float64 numbers. Read an intact copy.")
    return array


@cache
def _lower(width: int) -> NDArray[np.bool_]:
    return np.tri(width, dtype=bool)


def _packed(triangle: Array) -> Array:
    """Return an upper triangle as one vector, column after column."""
    width = len(triangle)
    if width <= NARROW:
        return np.asarray(triangle.T[_lower(width)])
    flat = np.empty(width * (width + 1) // 2)
    for j in range(width):
        flat[j * (j + 1) // 2 :][: j + 1] = triangle[: j + 1, j]
    return flat


def _unpacked(flat: Array, width: int) -> Array:
    """Return the upper triangle that `_packed` gave, zeros below."""
    triangle = np.zeros((width, width), order="F")
    if width <= NARROW:
        triangle.T[_lower(width)] = flat
        return triangle
    for j in range(width):
        triangle[: j + 1, j] = flat[j * (j + 1) // 2 :][: j + 1]
    return triangle
