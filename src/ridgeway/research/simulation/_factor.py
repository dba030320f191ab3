"""A semidefinite system, factored once and solved for many right-hand sides."""

import numpy as np

from ridgeway._checks import Array
from ridgeway.kernels import cholesky, definite_condition, definite_solve, eigen, solve_triangular
from ridgeway.linalg import tolerance


class Factor:
    """A factor of a semidefinite matrix A + shift·I; if that is singular, of its pseudo-inverse.

    Parameters
    ----------
    matrix : ndarray of shape (m, m)
        A.
    shift : float
        If it alone shows that the sum is regular, no condition number is estimated.

    Notes
    -----
    m³/3 operations, or about 10·m³ if the matrix is singular or nearly so.
    """

    def __init__(self, matrix: Array, shift: float = 0.0) -> None:
        size = len(matrix)
        shifted = matrix + shift * np.eye(size) if shift else matrix
        self.upper = cholesky(shifted)
        if self.upper is not None and not _is_regular(shifted, self.upper, shift):
            self.upper = None
        if self.upper is None:
            values, vectors = eigen(shifted)
            kept = values > tolerance(size) * max(values[-1], 0.0)
            self.root = vectors[:, kept] / np.sqrt(values[kept])

    def solve(self, right: Array) -> Array:
        """Return A⁺·right for a right-hand side of shape (m, k). O(m²·k)."""
        if self.upper is None:
            return np.asarray(self.root @ (self.root.T @ right))
        return definite_solve(self.upper, right)

    def half_solve(self, right: Array) -> Array:
        """Return B·right with BᵀB = A⁺."""
        if self.upper is None:
            return np.asarray(self.root.T @ right)
        return solve_triangular(self.upper, right, transposed=True)

    def half_solve_transposed(self, right: Array) -> Array:
        """Return Bᵀ·right with BᵀB = A⁺."""
        if self.upper is None:
            return np.asarray(self.root @ right)
        return solve_triangular(self.upper, right)


def _is_regular(matrix: Array, upper: Array, shift: float) -> bool:
    size, largest = len(matrix), float(np.trace(matrix))
    least = size * tolerance(size)  # ‖·‖₁ and ‖·‖₂ differ by at most the size
    return shift > least * largest or definite_condition(upper, largest) > least
