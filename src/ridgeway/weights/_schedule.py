"""What a user may pass to a policy: one value for all tasks or one per task, a prior, a decay."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import LARGEST
from ridgeway.errors import InvalidParameterError
from ridgeway.linalg import check_semidefinite

Array = NDArray[np.float64]


def scheduled(value: Any, task_number: int, name: str) -> Any:
    """Return the value for a task (numbered from 1) of a constant, a list, tuple or 1-D array, or a callable."""
    if callable(value):
        return value(task_number)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return value[()]
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        if task_number > len(value):
            raise InvalidParameterError(
                f"{name} has {len(value)} entries, too few for task {task_number}. Give one per task, one value for "
                "all tasks, or a function of the task number."
            )
        return value[task_number - 1]
    return value


def nonnegative(value: Any, name: str) -> float:
    """Return a finite number ≥ 0, or raise."""
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError):
        raise InvalidParameterError(f"{name} must be a number ≥ 0; got {value!r}. Pass a float.") from None
    if not 0.0 <= number <= LARGEST:
        raise InvalidParameterError(
            f"{name} must be a finite number ≥ 0; got {number!r}. The largest accepted is {LARGEST:g}."
        )
    return number


def checked_prior(prior: Any, n_features: int) -> Array:
    """Return a prior P as its diagonal (n_features,) or as a matrix (n_features, n_features), or raise."""
    if isinstance(prior, str):
        raise InvalidParameterError(
            f"prior={prior!r} is not a number, a vector or a matrix. (prior='evidence' is learned from rows, which "
            "only weights.Accumulated in a GeneralizedRidge can do.)"
        )
    try:
        axes = np.ndim(prior)
    except ValueError:
        raise InvalidParameterError("the prior is ragged. Pass a number, a vector or a square matrix.") from None
    if axes > 1:
        return check_semidefinite(prior, n_features, "the prior")
    if axes == 0:
        return np.full(n_features, nonnegative(prior, "the prior"))
    diagonal = np.array([nonnegative(entry, "each entry of the prior") for entry in prior])
    if len(diagonal) != n_features:
        raise InvalidParameterError(
            f"the prior has {len(diagonal)} entries; this model has {n_features} features. Give one per feature."
        )
    return diagonal


def checked_decay(decay: Any) -> float:
    """Return a decay γ in (0, 1], or raise."""
    if isinstance(decay, str):
        raise InvalidParameterError(
            f"decay={decay!r} is not a number. (decay='adaptive' is chosen from rows, which only weights.Accumulated "
            "in a GeneralizedRidge can do.)"
        )
    number = nonnegative(decay, "decay")
    if not 0.0 < number <= 1.0:
        raise InvalidParameterError(
            f"decay must lie in (0, 1]; got {number!r}. 1 keeps the whole past, smaller values let it fade."
        )
    return number
