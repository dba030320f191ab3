"""A value per task: one value for all, a sequence, or a function of the task's number."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ridgeway.data import LARGEST
from ridgeway.errors import InvalidParameterError


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
        raise InvalidParameterError(f"{name} must be a finite number ≥ 0; got {number!r}. The most is {LARGEST:g}.")
    return number
