"""A semidefinite matrix as Q·T·Qᵀ with T tridiagonal: 4/3·m³ operations once, a third of an eigendecomposition."""

from functools import cached_property

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.linalg.blas import dsbmv
from scipy.linalg.lapack import dormqr, dptsv, dptsvx, dstebz, dsytrd

from ridgeway._checks import Array
from ridgeway.kernels import _reference as plain
from ridgeway.kernels._returned import Reduced, twin_of
from ridgeway.kernels._threads import threads_for

BLOCK = 32
"""Columns that LAPACK may take at a time, which sets the size of its workspace."""
NEGLIGIBLE = 1e-10
"""A shift below this share of the trace leaves the decision about the rank to the condition number."""


@twin_of(plain.reduce_symmetric)
def reduce_symmetric(A: Array) -> Reduced:
    """As `_reference.reduce_symmetric`."""
    return TridiagonalForm(A)


class TridiagonalForm:
    """T is tridiagonal: O(m²) to turn a right-hand side and O(m) to solve, for any shift."""

    def __init__(self, A: Array) -> None:
        size = len(A)
        upper = np.asfortranarray(A)
        with threads_for(size, size**3):
            # The reflectors of the lower form act on the last m − 1 rows as those of a QR decomposition do.
            reduced, self._diagonal, self._beside, self._tau, _ = dsytrd(upper.T, lower=1, lwork=BLOCK * size)
        self._reflectors = np.asfortranarray(reduced[1:, :-1])

    @cached_property
    def top(self) -> float:
        """The largest eigenvalue of A."""
        last = len(self._diagonal)
        if last == 1:
            return float(self._diagonal[0])
        return float(dstebz(self._diagonal, self._beside, 2, 0.0, 0.0, last, last, 0.0, "E")[1][0])

    def turn(self, right: Array) -> Array:
        """Return Qᵀ·right for a right-hand side of shape (m, k)."""
        return self._turned(right, "T")

    def turn_back(self, inner: Array) -> Array:
        """Return Q·inner."""
        return self._turned(inner, "N")

    def _turned(self, right: Array, transposed: str) -> Array:
        turned = np.array(right, order="F")
        if len(self._tau) and right.size:
            size = len(right)
            with threads_for(size, size * right.size):
                turned[1:] = dormqr("L", transposed, self._reflectors, self._tau, right[1:], BLOCK * right.shape[1])[0]
        return turned

    def solve(self, shift: float, inner: Array, tolerance: float) -> Array:
        """Return (T + shift·I)⁻¹·inner, or the pseudo-inverse: eigenvalues below `tolerance` of the largest are 0."""
        diagonal, size = self._diagonal + shift, len(self._diagonal)
        if shift > NEGLIGIBLE * self._diagonal.sum():
            return np.asarray(inner / diagonal if size == 1 else dptsv(diagonal, self._beside, inner)[2])
        if size > 1:
            _, _, found, reciprocal, _, _, failed = dptsvx(diagonal, self._beside, inner)
            if not failed and reciprocal > size * tolerance:
                return np.asarray(found)
        values, vectors = self._eigen
        kept = values + shift > tolerance * max(values[-1] + shift, 0.0)
        return np.asarray((vectors[:, kept] / (values[kept] + shift)) @ (vectors[:, kept].T @ inner))

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        values, vectors = eigh_tridiagonal(self._diagonal, self._beside, check_finite=False)
        return np.asarray(values, dtype=np.float64), np.asarray(vectors, dtype=np.float64)

    def descend(self, rate: float, n_steps: int, inner: Array) -> Array:
        """Return rate·Σ_{i<n_steps} (I − rate·T)^i·inner: what n_steps of gradient descent add up to. O(m·k) a step.

        Two steps at a time: with B = I − rate·T the sum is (I + B² + B⁴ + …)(I + B)·inner, and B² has two diagonals
        on either side.
        """
        m, k = inner.shape
        on, off = 1.0 - rate * self._diagonal, -rate * self._beside

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
