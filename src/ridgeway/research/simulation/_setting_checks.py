"""The checks of a `Setting` that are its own: rows per task, order, laws and covariances."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ridgeway._checks import Array, finite, nonnegative, real_array, whole
from ridgeway.data import is_number
from ridgeway.errors import InvalidParameterError
from ridgeway.linalg import checked_semidefinite

MOST_NUMBERS = 10**9
"""Above this many numbers per task, a setting is taken for a typing error."""


def noise_levels(value: Any) -> tuple[float, ...]:
    """Return different variances ≥ 0, at least one, or raise."""
    listed = list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else [value]
    levels = tuple(nonnegative(level, "noise_variance") for level in listed)
    if not levels or len(set(levels)) < len(levels):
        raise InvalidParameterError(f"noise_variance must have at least one level, and each one once; got {value!r}.")
    return levels


def sample_counts(value: Any, n_tasks: int, n_features: int) -> tuple[int, ...]:
    """Return n_t for each task, or raise."""
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        counts = tuple(whole(count, "each of n_samples") for count in value)
        if len(counts) != n_tasks:
            raise InvalidParameterError(
                f"n_samples has {len(counts)} entries; pass {n_tasks}, one per task, or one number for all."
            )
    else:
        counts = (whole(value, "n_samples"),) * n_tasks
    largest = max(*counts, n_features) * n_features
    if largest > MOST_NUMBERS:
        raise InvalidParameterError(
            f"a task of {max(counts)} rows and {n_features} features needs {largest:.1e} numbers in memory; the "
            f"limit is {MOST_NUMBERS:.0e}. Use fewer rows or features."
        )
    return counts


def task_order(value: Any, n_tasks: int) -> str | tuple[int, ...]:
    """Return "given", "adversarial", "repeated:K", or one number from 1 to T per task, or raise."""
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
        f"noise must be gaussian, laplace, heteroscedastic, or t:df with df > 2 (below, the variance is infinite); "
        f"got {value!r}."
    )


def covariances(value: Any, n_tasks: int, n_features: int) -> Array | None:
    """Return positive semidefinite covariances of shape (1 or T, p) or (1 or T, p, p), or raise."""
    if value is None:
        return None
    array = finite(real_array(value, "covariance"), "covariance")
    p = n_features
    if array.shape == (p, p) == (n_tasks, p) and p > 1:
        raise InvalidParameterError(
            f"a covariance of shape ({p}, {p}) with {p} tasks could be one matrix or a diagonal per task. Pass shape "
            f"(1, {p}, {p}) or ({p}, {p}, {p})."
        )
    if array.shape in ((p,), (p, p)):
        array = array[np.newaxis]
    elif array.shape[:1] not in ((1,), (n_tasks,)) or array.shape[1:] not in ((p,), (p, p)):
        raise InvalidParameterError(
            f"covariance has shape {array.shape}; pass ({p},), ({p}, {p}), ({n_tasks}, {p}) or ({n_tasks}, {p}, {p}): "
            "a diagonal or a matrix, for all tasks or one per task."
        )
    if array.ndim == 2 and array.min() < 0.0:
        raise InvalidParameterError(f"covariance has a negative variance, {array.min():g}. Pass variances ≥ 0.")
    if array.ndim == 3:
        names = [f"covariance {t}" for t in range(1, len(array) + 1)] if len(array) > 1 else ["the covariance"]
        array = np.stack([checked_semidefinite(matrix, p, name) for matrix, name in zip(array, names, strict=True)])
        array.setflags(write=False)
    return array


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text) >= 1
