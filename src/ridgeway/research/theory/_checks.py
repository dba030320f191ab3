"""Checks on the arrays that a question to the theory is made of."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ridgeway.data import LARGEST
from ridgeway.errors import InvalidDataError, InvalidDataTypeError, InvalidParameterError
from ridgeway.linalg import asymmetry, is_semidefinite, smallest_eigenvalue, tolerance

Array = NDArray[np.float64]


def real_array(value: ArrayLike, name: str) -> Array:
    """Return a read-only float64 copy, or raise if it is not made of real numbers of a size that can be squared."""
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidDataTypeError(f"{name} is a masked array, and the mask would be ignored. Pass a plain array.")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InvalidDataTypeError(f"{name} is ragged ({error}). Pass rows of equal length.") from error
    if array.dtype.kind not in "biuf":
        raise InvalidDataTypeError(f"{name} has dtype {array.dtype}; real numbers are needed. Convert it first.")
    copy = np.array(array, dtype=np.float64)
    largest = np.abs(copy[np.isfinite(copy)]).max(initial=0.0)
    if largest > LARGEST:
        raise InvalidParameterError(f"{name} has entries up to {largest:.3g}, over {LARGEST:g}. Change the units.")
    copy.setflags(write=False)
    return copy


def shaped(array: Array, shape: tuple[int, ...], name: str, meaning: str) -> Array:
    """Return the array if it has this shape, or raise."""
    if array.shape != shape:
        raise InvalidParameterError(f"{name} has shape {array.shape}; {shape} is needed: {meaning}.")
    return array


def finite_nonnegative(value: ArrayLike, name: str) -> Array:
    """Return finite numbers ≥ 0, or raise."""
    array = nonnegative(value, name)
    if not np.isfinite(array).all():
        raise InvalidParameterError(f"{name} holds infinite values; finite ones are needed. Remove them.")
    return array


def nonnegative(value: ArrayLike, name: str) -> Array:
    """Return numbers ≥ 0, infinity included, or raise."""
    array = real_array(value, name)
    if np.isnan(array).any():
        raise InvalidParameterError(f"{name} holds NaN; numbers of 0 or more are needed.")
    if array.size and array.min() < 0:
        raise InvalidParameterError(
            f"{name} must be 0 or more; got {array.min()}. Set what is zero up to rounding to exactly 0."
        )
    return array


def positive_number(value: float, name: str) -> float:
    """Return a finite number > 0, or raise."""
    array = real_array(value, name)
    if array.ndim != 0 or not 1.0 / LARGEST <= array < np.inf:
        raise InvalidParameterError(f"{name} must be one finite number above 0; got {value!r}.")
    return float(array)


def positive(value: ArrayLike, name: str) -> Array:
    """Return finite numbers > 0, or raise."""
    array = finite_nonnegative(value, name)
    if not array.all():
        raise InvalidParameterError(f"{name} must be above 0; got a 0. Leave out what is empty.")
    return array


def step_counts(value: ArrayLike, name: str = "n_steps") -> Array:
    """Return whole numbers ≥ 1, or raise."""
    array = real_array(value, name)
    if not np.all((array >= 1) & (array == np.floor(array)) & np.isfinite(array)):
        raise InvalidParameterError(f"{name} must be whole numbers of at least 1; got {value!r}.")
    return array


def semidefinite(array: Array, shape: tuple[int, int], name: str) -> Array:
    """Return a positive semidefinite matrix of this shape, made exactly symmetric, or raise."""
    if array.shape != shape or shape[0] != shape[1]:
        raise InvalidParameterError(f"{name} has shape {array.shape}; a square one is needed, {shape[1:] * 2}.")
    if not np.isfinite(array).all():
        raise InvalidParameterError(f"{name} holds NaN or infinite values; finite ones are needed.")
    if asymmetry(array) > tolerance(len(array)):
        raise InvalidParameterError(
            f"{name} is not symmetric (relative difference {asymmetry(array):.2g}). Pass (A + A.T) / 2 if meant."
        )
    matrix = np.asarray((array + array.T) / 2)
    if matrix.size and not is_semidefinite(matrix):
        raise InvalidParameterError(
            f"{name} must be positive semidefinite; scaled to a unit diagonal its smallest eigenvalue is "
            f"{smallest_eigenvalue(matrix):.3g}. Leave out what should not count instead of subtracting it."
        )
    return matrix


def per_task(array: Array, n_tasks: int, name: str) -> Array:
    """Return one number per task, or raise."""
    if array.shape not in ((), (n_tasks,)):
        raise InvalidParameterError(
            f"{name} has shape {array.shape}; one number, or one per task, ({n_tasks},), is needed."
        )
    return np.broadcast_to(array, (n_tasks,))


def broadcast(array: Array, shape: tuple[int, ...], name: str) -> Array:
    """Return a view of this shape by NumPy's rules, or raise."""
    try:
        return np.broadcast_to(array, shape)
    except ValueError as error:
        raise InvalidParameterError(
            f"{name} has shape {array.shape}, which does not fit {shape} (tasks, directions). "
            "For one value per task, pass a column of shape (T, 1)."
        ) from error


def design_matrices(designs: Iterable[ArrayLike]) -> tuple[Array, ...]:
    """Return the designs as read-only matrices with the same number of columns, or raise."""
    try:
        listed = list(designs)
    except TypeError:
        raise InvalidDataTypeError(f"designs must be a list of matrices, one per task; got {designs!r}.") from None
    matrices = tuple(real_array(design, f"designs[{t}]") for t, design in enumerate(listed))
    if not matrices:
        raise InvalidDataError("designs is empty; at least one task is needed.")
    for t, matrix in enumerate(matrices):
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise InvalidDataError(
                f"designs[{t}] has shape {matrix.shape}; (n_samples, n_features) with at least one of each "
                "is needed. Leave out empty tasks."
            )
        if matrix.shape[1] != matrices[0].shape[1]:
            raise InvalidDataError(
                f"designs[{t}] has {matrix.shape[1]} features and designs[0] has {matrices[0].shape[1]}. "
                "Give every task the same columns."
            )
        if not np.isfinite(matrix).all():
            raise InvalidDataError(f"designs[{t}] holds NaN or infinite values. Impute or drop those rows.")
    return matrices
