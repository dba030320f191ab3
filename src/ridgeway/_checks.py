"""Checks on parameters: each returns its value in a known form, or raises a typed error that says what to pass."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ridgeway.errors import InvalidDataTypeError, InvalidParameterError

Array = NDArray[np.float64]
Word = TypeVar("Word")

LARGEST = 1e150
"""The largest number that is accepted: its square does not overflow."""


def nonnegative(value: Any, name: str) -> float:
    """Return a finite number ≥ 0, or raise.

    Examples
    --------
    >>> nonnegative(2, "penalty")
    2.0
    """
    number = _float(value)
    if number is None or not 0.0 <= number <= LARGEST:
        limit = f" The limit is {LARGEST:g}." if number is not None and LARGEST < number < np.inf else ""
        raise InvalidParameterError(f"{name} must be a finite number ≥ 0; got {value!r}.{limit}")
    return number


def positive(value: Any, name: str) -> float:
    """Return a finite number > 0, or raise."""
    number = _float(value)
    if number is None or not 1.0 / LARGEST <= number <= LARGEST:
        raise InvalidParameterError(f"{name} must be a finite number > 0; got {value!r}.")
    return number


def fraction(value: Any, name: str, hint: str = "") -> float:
    """Return a number strictly between 0 and 1, or raise with a hint."""
    number = _float(value)
    if number is None or not 0.0 < number < 1.0:
        raise InvalidParameterError(f"{name} must lie between 0 and 1; got {value!r}.{hint and f' {hint}'}")
    return number


def whole(value: Any, name: str, least: int = 1, most: int | None = None) -> int:
    """Return an integer of at least `least`, and at most `most`, or raise."""
    fits = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least
    if not fits or (most is not None and value > most):
        wanted = f"an integer ≥ {least}" if most is None else f"an integer from {least} to {most}"
        raise InvalidParameterError(f"{name} must be {wanted}; got {value!r}.")
    return int(value)


def one_of(value: Word, allowed: Sequence[str], name: str) -> Word:
    """Return one of the allowed words, or raise."""
    if not isinstance(value, str) or value not in allowed:
        raise InvalidParameterError(f"{name} must be one of {', '.join(allowed)}; got {value!r}.")
    return value


def flag(value: Any, name: str) -> bool:
    """Return a bool, or raise."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidParameterError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def scheduled(value: Any, task_number: int, name: str) -> Any:
    """Return the value for one task of a constant, a list, tuple or array with one entry per task, or a callable.

    Parameters
    ----------
    value : object, sequence, or callable of the task number
    task_number : int
        From 1.
    name : str

    Examples
    --------
    >>> scheduled([0.5, 0.1], task_number=2, name="penalty")
    0.1
    """
    if callable(value):
        return value(task_number)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return value[()]
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        if task_number > len(value):
            raise InvalidParameterError(
                f"{name} has {len(value)} entries, too few for task {task_number}. Pass one entry per task, one value "
                "for all tasks, or a function of the task number."
            )
        return value[task_number - 1]
    return value


def real_array(value: Any, name: str, *, largest: float = LARGEST) -> Array:
    """Return a read-only float64 copy of an array of real numbers, or raise. NaN and infinity are allowed."""
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidDataTypeError(f"{name} is a masked array; the mask would be ignored. Pass a plain array.")
    try:
        array = np.asarray(value)
    except ValueError:
        raise InvalidDataTypeError(f"{name} is ragged. Pass an array whose rows have equal length.") from None
    if array.dtype.kind not in "biuf":
        raise InvalidDataTypeError(f"{name} must hold real numbers; got dtype {array.dtype}. Pass an array of floats.")
    copy = np.array(array, dtype=np.float64)
    top = np.abs(copy[np.isfinite(copy)]).max(initial=0.0)
    if top > largest:
        raise InvalidParameterError(
            f"{name} has entries up to {top:.3g}; the limit is {largest:g}. Use a different unit."
        )
    copy.setflags(write=False)
    return copy


def finite(array: Array, name: str) -> Array:
    """Return an array without NaN and infinity, or raise."""
    if not np.isfinite(array).all():
        raise InvalidParameterError(f"{name} contains NaN or infinity. Pass finite numbers.")
    return array


def nonnegative_array(value: Any, name: str) -> Array:
    """Return numbers ≥ 0 as an array, infinity included, or raise."""
    array = real_array(value, name)
    if np.isnan(array).any():
        raise InvalidParameterError(f"{name} contains NaN. Pass numbers ≥ 0.")
    if array.size and array.min() < 0.0:
        raise InvalidParameterError(
            f"{name} must be ≥ 0; got {array.min()}. Set values that are negative only by rounding to 0."
        )
    return array


def shaped(array: Array, shape: tuple[int, ...], name: str, meaning: str) -> Array:
    """Return an array of this shape, or raise and say what its entries are."""
    if array.shape != shape:
        raise InvalidParameterError(f"{name} has shape {array.shape}; it must be {shape}, {meaning}.")
    return array


def _float(value: Any) -> float | None:
    """Return a number as a float, or None if it is not one; text and bools are not numbers."""
    if isinstance(value, bool | np.bool_ | str | bytes | complex | np.complexfloating):
        return None
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return None
