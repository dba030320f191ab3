"""A semidefinite system, factored once and solved for many right-hand sides.

Matrices are given by their upper triangle alone, in Fortran order, as BLAS and LAPACK leave them.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, eigh_tridiagonal, qr
from scipy.linalg.blas import dsbmv, dsyrk
from scipy.linalg.lapack import dormqr, dpocon, dpotrf, dpotrs, dptsv, dptsvx, dstebz, dsytrd, dtrtrs

from ridgeway.linalg._rank import tolerance

Array = NDArray[np.float64]

BLOCK = 32
"""Columns that LAPACK may take at a time, which sets the size of its workspace."""
NEGLIGIBLE = 1e-10
"""A shift below this share of the trace leaves the decision about the rank to the condition number."""


class Factor:
    """A factor of a semidefinite matrix A + shift·I; where it is singular, of its pseudo-inverse.

    Parameters
    ----------
    matrix : ndarray of shape (m, m), Fortran order
        A. Only the upper triangle is read.
    shift : float
        If it alone shows that the sum is regular, no condition number is estimated.

    Notes
    -----
    m³/3 operations, or about 10·m³ where the matrix is singular or nearly so.
    """

    def __init__(self, matrix: Array, shift: float = 0.0) -> None:
        self.size = len(matrix)
        self.upper: Array | None = None
        factor, failed = dpotrf(_with_diagonal(matrix, shift), clean=False, overwrite_a=True)
        if not failed and self._is_regular(matrix, factor, shift):
            self.upper = factor
        else:
            values, vectors = eigh(_with_diagonal(matrix, shift), lower=False, check_finite=False, overwrite_a=True)
            kept = values > tolerance(self.size) * max(values[-1], 0.0)
            self.root = vectors[:, kept] / np.sqrt(values[kept])

    def _is_regular(self, matrix: Array, factor: Array, shift: float) -> bool:
        largest = float(np.diagonal(matrix).sum()) + self.size * shift
        least = self.size * tolerance(self.size)  # ‖·‖₁ and ‖·‖₂ differ by at most the size
        return shift > least * largest or float(dpocon(factor, largest)[0]) > least

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


class TridiagonalForm:
    """A = Q·T·Qᵀ with T tridiagonal: a function of A, as (A + shift·I)⁻¹, is one of T between two turns by Q.

    Parameters
    ----------
    matrix : ndarray of shape (m, m), Fortran order
        A, semidefinite; only the upper triangle is read.

    Notes
    -----
    4/3·m³ operations once, then O(m²) a right-hand side to turn it and O(m) to solve, for any shift. A Cholesky
    decomposition takes m³/3 per shift.
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

    def turn(self, right: Array) -> Array:
        """Return Qᵀ·right for a right-hand side of shape (m, k)."""
        return self._turned(right, "T")

    def turn_back(self, inner: Array) -> Array:
        """Return Q·inner."""
        return self._turned(inner, "N")

    def _turned(self, right: Array, transposed: str) -> Array:
        turned = np.array(right, order="F")
        if len(self.tau) and right.size:
            turned[1:] = dormqr("L", transposed, self.reflectors, self.tau, right[1:], BLOCK * right.shape[1])[0]
        return turned

    def solve(self, shift: float, inner: Array) -> Array:
        """Return (T + shift·I)⁻¹·inner; by the pseudo-inverse where shift is 0 and T singular."""
        diagonal, size = self.diagonal + shift, len(self.diagonal)
        if shift > NEGLIGIBLE * self.diagonal.sum():
            return np.asarray(inner / diagonal if size == 1 else dptsv(diagonal, self.beside, inner)[2])
        if size > 1:
            _, _, found, reciprocal, _, _, failed = dptsvx(diagonal, self.beside, inner)
            if not failed and reciprocal > size * tolerance(size):
                return np.asarray(found)
        values, vectors = self._eigen
        kept = values + shift > tolerance(size) * max(values[-1] + shift, 0.0)
        return np.asarray((vectors[:, kept] / (values[kept] + shift)) @ (vectors[:, kept].T @ inner))

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        values, vectors = eigh_tridiagonal(self.diagonal, self.beside, check_finite=False)
        return np.asarray(values, dtype=np.float64), np.asarray(vectors, dtype=np.float64)

    def descend(self, rate: float, n_steps: int, inner: Array) -> Array:
        """Return rate·Σ_{k<n_steps} (I − rate·T)^k·inner: what as many gradient steps add up to. O(m·k) a step.

        Two steps at a time: with B = I − rate·T the sum is (I + B² + B⁴ + …)(I + B)·inner, and B² has two diagonals
        on either side.
        """
        m, k = inner.shape
        on, off = 1.0 - rate * self.diagonal, -rate * self.beside

        def stepped(columns: Array) -> Array:
            after = on[:, np.newaxis] * columns
            after[:-1] += off[:, np.newaxis] * columns[1:]
            after[1:] += off[:, np.newaxis] * columns[:-1]
            return np.asarray(after)

        total = np.zeros(m * k)
        if n_steps % 2:
            total, inner = inner.flatten(order="F"), stepped(inner)
        square = np.zeros((3, m))
        square[0] = on**2
        square[0, :-1] += off**2
        square[0, 1:] += off**2
        square[1, :-1] = off * (on[:-1] + on[1:])
        square[2, :-2] = off[:-1] * off[1:]
        # All columns as one vector, and B² as often in one band: two steps are one product.
        band = np.asfortranarray(np.tile(square, k))
        left = (inner + stepped(inner)).ravel(order="F")
        for _ in range(n_steps // 2):
            total += left
            left = dsbmv(2, 1.0, band, left, lower=1)
        return rate * total.reshape((m, k), order="F")


def symmetric_eigen(upper: Array) -> tuple[Array, Array]:
    """Return the eigenvalues, ascending, and the eigenvectors of a symmetric matrix, from its upper triangle."""
    values, vectors = eigh(upper, lower=False, check_finite=False, driver="evd")
    return values, vectors


def random_rotation(rng: np.random.Generator, size: int) -> Array:
    """Return an orthogonal matrix from Haar's measure: Q of a normal matrix, the diagonal of R made positive."""
    Q, R = qr(rng.standard_normal((size, size)), check_finite=False)
    return np.asarray(Q * np.sign(np.diagonal(R)))


def _with_diagonal(upper: Array, value: float) -> Array:
    matrix = upper.copy(order="F")
    if value:
        matrix.ravel(order="K")[:: len(matrix) + 1] += value
    return matrix
