"""Information as counts and arrays by name, and back: what is stored of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ridgeway._checks import Array
from ridgeway.errors import InvalidStateError

WHOLE = ("n_features", "n_targets", "n_samples")
NUMBERS = ("total_weight", "log_weight", "digits_lost")
ARRAYS = ("mean", "mean_low", "matrix", "peak")


def taken_apart(information: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return counts and arrays; the matrix as an upper triangle, column after column."""
    counts = {name: getattr(information, name) for name in (*WHOLE, "centered", *NUMBERS)}
    arrays = {name: getattr(information, name) for name in ARRAYS} | {"matrix": _packed(information.matrix)}
    return counts, arrays


def put_together(counts: Mapping[str, Any], arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return the fields of the information that was taken apart, or raise `InvalidStateError`."""
    whole: dict[str, Any] = {name: counts.get(name) for name in WHOLE}
    numbers: dict[str, Any] = {name: counts.get(name) for name in NUMBERS}
    if any(type(number) is not int for number in whole.values()) or type(counts.get("centered")) is not bool:
        raise InvalidStateError("the counts of a state must be whole numbers. Read an intact copy.")
    if any(type(number) is not float or not np.isfinite(number) for number in numbers.values()):
        raise InvalidStateError("the weights of a state must be finite numbers. Read an intact copy.")
    held = {name: _checked(arrays, name) for name in ARRAYS}
    width = whole["n_features"] + whole["n_targets"]
    sizes = {name: width * (width + 1) // 2 if name == "matrix" else width for name in ARRAYS}
    wrong = [name for name in ARRAYS if held[name].shape != (sizes[name],)]
    if min(whole["n_features"], whole["n_targets"]) < 1 or wrong:
        raise InvalidStateError(f"the arrays of a state do not fit together: {', '.join(wrong) or 'counts'}.")
    if whole["n_samples"] < 0 or min(numbers["total_weight"], numbers["digits_lost"], *held["peak"]) < 0.0:
        raise InvalidStateError("a state has a negative count, weight or sum of squares. Read an intact copy.")
    held["matrix"] = _unpacked(held["matrix"], width)
    return {"centered": counts["centered"], **whole, **numbers, **held}


def _checked(arrays: Mapping[str, Array], name: str) -> Array:
    """Return a copy of one array of a state."""
    if name not in arrays:
        raise InvalidStateError(f"the state has no array {name!r}. Pass everything from to_arrays().")
    array = np.array(arrays[name])
    if array.dtype != np.float64 or not np.isfinite(array).all():
        raise InvalidStateError(f"the array {name!r} of a state must hold finite float64 numbers. Read an intact copy.")
    return array


def _packed(triangle: Array) -> Array:
    """Return an upper triangle as one vector, column after column."""
    width = len(triangle)
    flat = np.empty(width * (width + 1) // 2)
    for j in range(width):
        flat[j * (j + 1) // 2 :][: j + 1] = triangle[: j + 1, j]
    return flat


def _unpacked(flat: Array, width: int) -> Array:
    """Return the upper triangle that `_packed` gave, zeros below."""
    triangle = np.zeros((width, width), order="F")
    for j in range(width):
        triangle[: j + 1, j] = flat[j * (j + 1) // 2 :][: j + 1]
    return triangle
