"""Checks on what a setting is made of."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import LARGEST, is_number
from ridgeway.errors import InvalidParameterError
from ridgeway.linalg import asymmetry, is_semidefinite, tolerance

Array = NDArray[np.float64]

MOST_NUMBERS = 10**9
"""Numbers in one task's rows beyond which a setting is a slip of the keyboard."""


def whole(value: Any, name: str, least: int = 1) -> int:
    """Return a whole number of at least `least`, or raise."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidParameterError(f"{name} must be a whole number of at least {least}; got {value!r}.")
    return int(value)


def nonnegative(value: Any, name: str) -> float:
    """Return a finite number ≥ 0, or raise."""
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError):
        raise InvalidParameterError(f"{name} must be a number of 0 or more; got {value!r}.") from None
    if isinstance(value, bool) or not 0.0 <= number <= LARGEST:
        raise InvalidParameterError(f"{name} must be a finite number of 0 or more; got {value!r}.")
    return number


def one_of(value: Any, allowed: Sequence[str], name: str) -> str:
    """Return one of the words allowed, or raise."""
    if not isinstance(value, str) or value not in allowed:
        raise InvalidParameterError(f"{name} must be one of {', '.join(allowed)}; got {value!r}.")
    return value


def flag(value: Any, name: str) -> bool:
    """Return True or False, or raise."""
    if not isinstance(value, bool):
        raise InvalidParameterError(f"{name} must be True or False; got {value!r}.")
    return value


def noise_levels(value: Any) -> tuple[float, ...]:
    """Return different variances ≥ 0, at least one, or raise."""
    listed = list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else [value]
    levels = tuple(nonnegative(level, "noise_variance") for level in listed)
    if not levels or len(set(levels)) < len(levels):
        raise InvalidParameterError(f"noise_variance needs at least one level, each once; got {value!r}.")
    return levels


def sample_counts(value: Any, n_tasks: int, n_features: int) -> tuple[int, ...]:
    """Return n_t for each task, or raise."""
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        counts = tuple(whole(count, "each of n_samples") for count in value)
        if len(counts) != n_tasks:
            raise InvalidParameterError(
                f"n_samples has {len(counts)} entries; give one per task, {n_tasks}, or one for all."
            )
    else:
        counts = (whole(value, "n_samples"),) * n_tasks
    largest = max(*counts, n_features) * n_features
    if largest > MOST_NUMBERS:
        raise InvalidParameterError(
            f"a task of {max(counts)} rows and {n_features} features needs {largest:.1e} numbers in memory, over "
            f"{MOST_NUMBERS:.0e}. Take fewer of them."
        )
    return counts


def task_order(value: Any, n_tasks: int) -> str | tuple[int, ...]:
    """Return "given", "adversarial", "repeated:K", or one number from 1 to T per task; or raise."""
    if isinstance(value, str):
        word, colon, count = value.partition(":")
        if value in ("given", "adversarial") or (word == "repeated" and colon and _is_count(count)):
            return value
    elif isinstance(value, Sequence | np.ndarray):
        numbers = tuple(whole(entry, "each number of order") for entry in value)
        if len(numbers) == n_tasks and max(numbers) <= n_tasks:
            return numbers
    raise InvalidParameterError(
        f"order must be given, adversarial, repeated:K with K ≥ 1, or {n_tasks} numbers from 1 to {n_tasks}, one per "
        f"task; got {value!r}."
    )


def signal_law(value: Any, n_features: int) -> str:
    """Return "dense" or "sparse:k" with 1 ≤ k ≤ p, or raise."""
    word, _, count = value.partition(":") if isinstance(value, str) else ("", "", "")
    if value == "dense" or (word == "sparse" and _is_count(count) and int(count) <= n_features):
        return str(value)
    raise InvalidParameterError(f"signal must be dense, or sparse:k with k from 1 to {n_features}; got {value!r}.")


def noise_law(value: Any) -> str:
    """Return "gaussian", "laplace", "heteroscedastic" or "t:df" with df > 2, or raise."""
    if isinstance(value, str):
        if value in ("gaussian", "laplace", "heteroscedastic"):
            return value
        word, _, freedom = value.partition(":")
        if word == "t" and is_number(freedom) and 2.0 < float(freedom) < np.inf:
            return value
    raise InvalidParameterError(
        "noise must be gaussian, laplace, heteroscedastic, or t:df with df above 2 (else it has no variance); "
        f"got {value!r}."
    )


def covariances(value: Any, n_tasks: int, n_features: int) -> Array | None:
    """Return covariances of shape (1 or T, p) or (1 or T, p, p), positive semidefinite; or raise."""
    if value is None:
        return None
    array = _real(value)
    p = n_features
    if array.shape == (p, p) == (n_tasks, p) and p > 1:
        raise InvalidParameterError(
            f"a covariance of shape ({p}, {p}) with {p} tasks could be one matrix or a diagonal per task. Pass "
            f"shape (1, {p}, {p}) or ({p}, {p}, {p})."
        )
    if array.shape in ((p,), (p, p)):
        array = array[np.newaxis]
    elif array.shape[:1] not in ((1,), (n_tasks,)) or array.shape[1:] not in ((p,), (p, p)):
        raise InvalidParameterError(
            f"covariance has shape {array.shape}; ({p},), ({p}, {p}), ({n_tasks}, {p}) or ({n_tasks}, {p}, {p}) is "
            "needed: a diagonal or a matrix, for all tasks or one each."
        )
    if array.ndim == 2 and array.min() < 0.0:
        raise InvalidParameterError(f"covariance has a variance of {array.min():g}; none may be negative.")
    if array.ndim == 3:
        for t, matrix in enumerate(array, start=1):
            _check_semidefinite(matrix, f"covariance {t}" if len(array) > 1 else "the covariance")
        array = (array + array.transpose(0, 2, 1)) / 2.0
    array.setflags(write=False)
    return array


def _real(value: Any) -> Array:
    try:
        array = np.array(value)
    except ValueError:
        raise InvalidParameterError("covariance is ragged. Pass an array of numbers of one shape.") from None
    if array.dtype.kind not in "iuf" or not (np.abs(array) <= LARGEST).all():
        raise InvalidParameterError("covariance must hold finite real numbers.")
    return array.astype(np.float64)


def _check_semidefinite(matrix: Array, name: str) -> None:
    if asymmetry(matrix) > tolerance(len(matrix)):
        raise InvalidParameterError(f"{name} is not symmetric. Pass (A + A.T) / 2 if meant.")
    if not is_semidefinite(matrix):
        raise InvalidParameterError(f"{name} is not positive semidefinite: it has a negative eigenvalue.")


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text) >= 1
