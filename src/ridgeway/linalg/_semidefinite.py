"""A semidefinite system, factored once and solved for many right-hand sides.

Matrices are given by their upper triangle alone, in Fortran order, as BLAS and LAPACK leave them.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr
from scipy.linalg.blas import dsbmv, dsyrk
from scipy.linalg.lapack import dormqr, dpocon, dpotrf, dpotrs, dptsv, dstebz, dsytrd, dtrtrs

from ridgeway.linalg._rank import tolerance

Array = NDArray[np.float64]

BLOCK = 32
"""Columns that LAPACK may take at a time, which sets the size of its workspace."""


class Factor:
    """A factor of a semidefinite matrix; where it is singular, of its pseudo-inverse.

    Parameters
    ----------
    matrix : ndarray of shape (m, m), Fortran order
        Only the upper triangle is read.
    floor : float
        A number that no eigenvalue lies below, as a ridge's is. If it alone shows that the matrix is regular, no
        condition number is estimated.

    Notes
    -----
    m³/3 operations, or about 10·m³ where the matrix is singular or nearly so.
    """

    def __init__(self, matrix: Array, floor: float = 0.0) -> None:
        self.size = len(matrix)
        self.upper: Array | None = None
        factor, failed = dpotrf(matrix, clean=False)
        if not failed and self._is_regular(matrix, factor, floor):
            self.upper = factor
        else:
            values, vectors = eigh(matrix, lower=False, check_finite=False)
            kept = values > tolerance(self.size) * max(values[-1], 0.0)
            self.root = vectors[:, kept] / np.sqrt(values[kept])

    def _is_regular(self, matrix: Array, factor: Array, floor: float) -> bool:
        largest = float(np.diagonal(matrix).sum())
        least = self.size * tolerance(self.size)  # ‖·‖₁ and ‖·‖₂ differ by at most the size
        return floor > least * largest or float(dpocon(factor, largest)[0]) > least

    def solve(self, right: Array) -> Array:
        """Return A⁺·right for a right-hand side of shape (m, k). O(m²·k)."""
        if self.upper is None:
            return np.asarray(self.root @ (self.root.T @ right))
        return np.asarray(dpotrs(self.upper, right)[0])

    def half_solve(self, right: Array) -> Array:
        """Return B·right with BᵀB = A⁺."""
        if self.upper is None:
            return np.asarray(self.root.T @ right)
        return np.asarray(dtrtrs(self.upper, right, trans=1)[0])

    def half_solve_transposed(self, right: Array) -> Array:
        """Return Bᵀ·right with BᵀB = A⁺."""
        if self.upper is None:
            return np.asarray(self.root @ right)
        return np.asarray(dtrtrs(self.upper, right)[0])


def column_products(rows: Array) -> Array:
    """Return the upper triangle of rowsᵀ·rows, for rows in C order; what is below it is zero."""
    return np.asarray(dsyrk(1.0, rows.T))


def row_products(rows: Array) -> Array:
    """Return the upper triangle of rows·rowsᵀ, for rows in C order; what is below it is zero."""
    return np.asarray(dsyrk(1.0, rows.T, trans=1))


class ShiftedSystem:
    """Solve (A + shift·I)·x = b for many shifts > 0: one reduction of A to tridiagonal form serves all.

    Parameters
    ----------
    matrix : ndarray of shape (m, m), Fortran order
        Semidefinite; only the upper triangle is read.

    Notes
    -----
    4/3·m³ operations once, then O(m²) a right-hand side, where a Cholesky decomposition per shift takes m³/3.
    """

    def __init__(self, matrix: Array) -> None:
        size = len(matrix)
        # The reflectors of the lower form act on the last m − 1 rows as those of a QR decomposition do.
        reduced, self.diagonal, self.beside, self.tau, _ = dsytrd(matrix.T, lower=1, lwork=BLOCK * size)
        self.reflectors = np.asfortranarray(reduced[1:, :-1])

    @cached_property
    def top(self) -> float:
        """The largest eigenvalue of A."""
        last = len(self.diagonal)
        if last == 1:
            return float(self.diagonal[0])
        return float(dstebz(self.diagonal, self.beside, 2, 0.0, 0.0, last, last, 0.0, "E")[1][0])

    def solve(self, shift: float, right: Array) -> Array:
        """Return (A + shift·I)⁻¹·right for a right-hand side of shape (m, k)."""
        if len(self.diagonal) == 1:
            return np.asarray(right / (self.diagonal + shift))
        inner = dptsv(self.diagonal + shift, self.beside, self._turned(right, "T"))[2]
        return self._turned(inner, "N")

    def descend(self, rate: float, n_steps: int, right: Array) -> Array:
        """Return rate·Σ_{k<n_steps} (I − rate·A)^k·right: what as many gradient steps add up to. O(m·k) a step."""
        m, k = right.shape
        # All columns as one vector, and A as often in one band: a step is one product.
        band = np.zeros((2, m * k), order="F")
        band[0] = np.tile(self.diagonal, k)
        band[1] = np.tile(np.append(self.beside, 0.0), k)
        left = self._turned(right, "T").ravel(order="F")
        total = np.zeros(m * k)
        for _ in range(n_steps):
            total += left
            left = dsbmv(1, -rate, band, left, beta=1.0, y=left, lower=1)
        return self._turned(rate * total.reshape((m, k), order="F"), "N")

    def _turned(self, right: Array, transposed: str) -> Array:
        """Return Qᵀ·right or Q·right, where A = Q·tridiagonal·Qᵀ."""
        turned = np.array(right, order="F")
        if len(self.tau):
            turned[1:] = dormqr("L", transposed, self.reflectors, self.tau, right[1:], BLOCK * right.shape[1])[0]
        return turned


def top_eigenvalue(upper: Array) -> float:
    """Return the largest eigenvalue of a symmetric matrix, from its upper triangle."""
    return ShiftedSystem(upper).top


def symmetric_eigen(upper: Array) -> tuple[Array, Array]:
    """Return the eigenvalues, ascending, and the eigenvectors of a symmetric matrix, from its upper triangle."""
    values, vectors = eigh(upper, lower=False, check_finite=False, driver="evd")
    return values, vectors


def random_rotation(rng: np.random.Generator, size: int) -> Array:
    """Return an orthogonal matrix from Haar's measure: Q of a normal matrix, the diagonal of R made positive."""
    Q, R = qr(rng.standard_normal((size, size)), check_finite=False)
    return np.asarray(Q * np.sign(np.diagonal(R)))
