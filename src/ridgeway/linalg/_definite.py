"""Checks on symmetric matrices."""

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.linalg._rank import tolerance


def asymmetry(matrix: Array) -> float:
    """Return the largest difference between a matrix and its transpose, relative to its largest entry."""
    largest = np.abs(matrix).max(initial=0.0)
    return float(np.abs(matrix - matrix.T).max(initial=0.0) / largest) if largest else 0.0


def smallest_eigenvalue(matrix: Array) -> float:
    """Return the smallest eigenvalue of a symmetric matrix scaled to a unit diagonal (zero diagonals as they are)."""
    scale = np.sqrt(np.abs(np.diag(matrix)))
    divisor = np.where(scale > 0.0, scale, 1.0)
    return kernels.smallest_eigenvalue(matrix / divisor / divisor[:, None])


def is_semidefinite(matrix: Array) -> bool:
    """Return whether no eigenvalue of a symmetric matrix is below zero, apart from rounding."""
    return smallest_eigenvalue(matrix) >= -tolerance(len(matrix))


def is_definite(matrix: Array) -> bool:
    """Return whether all eigenvalues of a symmetric matrix are above zero by more than rounding."""
    return bool((np.diag(matrix) > 0.0).all()) and smallest_eigenvalue(matrix) > tolerance(len(matrix))


def cholesky_root(matrix: Array) -> Array:
    """Return the lower triangular F with F·Fᵀ = matrix, for a positive definite matrix."""
    upper = kernels.cholesky(matrix)
    if upper is None:
        raise ArithmeticError("the matrix is not positive definite")
    return upper.T


def is_nearly_semidefinite(matrix: Array, *, offset: Array, digits_lost: float = 0.0) -> bool:
    """Return whether centred co-moments, scaled to a unit diagonal, are semidefinite up to rounding.

    They are if they have a Cholesky factor once the rounding is added to the diagonal.

    A third of the work of `is_semidefinite` or less. O(p³/3).

    Parameters
    ----------
    matrix : ndarray of shape (p, p), of which the upper triangle is read
    offset : ndarray of shape (p,), the norms of what centring took off the columns, √W·|mean|
    digits_lost : decimal digits by which the rounding exceeds that of a matrix just summed up
    """
    norms = np.sqrt(np.abs(np.diag(matrix)))
    divisor = np.where(norms > 0.0, norms, 1.0)
    scaled = matrix / divisor
    scaled /= divisor[:, None]
    noise = tolerance(len(matrix)) * 10.0**digits_lost * np.hypot(1.0, offset / divisor)
    scaled[np.diag_indices_from(scaled)] += noise
    return kernels.cholesky(scaled, overwrite=True) is not None
