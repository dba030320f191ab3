"""Linear algebra for values that are computed without the library's theory."""

import numpy as np

from ridgeway._checks import Array
from ridgeway.kernels import solve_triangular, svd
from ridgeway.linalg import cholesky_root


def solved(matrix: Array, right: Array) -> Array:
    """Return matrix⁻¹·right for a positive definite matrix."""
    upper = cholesky_root(matrix).T
    columns = right.reshape(len(matrix), -1)
    return solve_triangular(upper, solve_triangular(upper, columns, transposed=True)).reshape(right.shape)


def inverse(matrix: Array) -> Array:
    """Return the inverse of a positive definite matrix."""
    return solved(matrix, np.eye(len(matrix)))


def pseudoinverse(rows: Array) -> Array:
    """Return X⁺."""
    left, values, right = svd(rows)
    keep = values > 1e-10 * values.max()
    return np.asarray((right[keep].T / values[keep]) @ left[:, keep].T)
