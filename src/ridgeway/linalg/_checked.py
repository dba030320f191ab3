"""Matrices that a user passes as parameters: symmetric, and positive (semi)definite."""

from typing import Any

import numpy as np

from ridgeway._checks import LARGEST, Array
from ridgeway.errors import InvalidParameterError
from ridgeway.linalg._definite import asymmetry, is_definite, smallest_eigenvalue
from ridgeway.linalg._rank import tolerance


def checked_semidefinite(matrix: Any, size: int, name: str) -> Array:
    """Return a positive semidefinite (size, size) float64 matrix, made exactly symmetric, or raise. O(size³).

    Examples
    --------
    >>> from ridgeway.linalg import checked_semidefinite
    >>> checked_semidefinite([[2, 0], [0, 0]], 2, "the prior")
    array([[2., 0.], [0., 0.]])
    >>> checked_semidefinite([[-1]], 1, "the prior")
    Traceback (most recent call last):
    ...
    ridgeway.errors.InvalidParameterError: the prior is not positive semidefinite: ...
    """
    try:
        array = np.array(matrix)
        array = array.astype(np.float64, casting="unsafe" if array.dtype.kind == "O" else "same_kind")
    except (OverflowError, TypeError, ValueError):
        raise InvalidParameterError(f"{name} is not a matrix of real numbers; got {type(matrix).__name__}.") from None
    if array.shape != (size, size):
        raise InvalidParameterError(f"{name} has shape {array.shape}; it must be ({size}, {size}), a square matrix.")
    if not (np.abs(array) <= LARGEST).all():
        raise InvalidParameterError(f"{name} contains NaN, infinity or entries above {LARGEST:g}. Pass finite numbers.")
    if asymmetry(array) > tolerance(size):
        raise InvalidParameterError(
            f"{name} is not symmetric (relative difference {asymmetry(array):.2g}). Pass (H + H.T) / 2 instead."
        )
    symmetric: Array = (array + array.T) / 2.0
    smallest = smallest_eigenvalue(symmetric) if size else 0.0
    if smallest < -tolerance(size):
        raise InvalidParameterError(
            f"{name} is not positive semidefinite: scaled to a unit diagonal it has a negative eigenvalue, "
            f"{smallest:.3g}. Pass a matrix whose eigenvalues are all ≥ 0."
        )
    return symmetric


def checked_definite(matrix: Any, size: int, name: str) -> Array:
    """Return a positive definite (size, size) float64 matrix, made exactly symmetric, or raise. O(size³).

    Examples
    --------
    >>> from ridgeway.linalg import checked_definite
    >>> checked_definite([[2, 0], [0, 0]], 2, "the covariance")
    Traceback (most recent call last):
    ...
    ridgeway.errors.InvalidParameterError: the covariance is singular; ...
    """
    checked = checked_semidefinite(matrix, size, name)
    if not is_definite(checked):
        raise InvalidParameterError(
            f"{name} is singular; it must be positive definite. Add a small multiple of the identity."
        )
    return checked
