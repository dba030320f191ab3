"""A log-likelihood whose rows are gone, as a polynomial."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ridgeway import kernels
from ridgeway._checks import Array


@dataclass(frozen=True, eq=False)
class Polynomial:
    """value + gᵀu − ½·uᵀJu + ⅙·T[u, u, u], in u = θ − centre.

    Attributes
    ----------
    centre, gradient : ndarray of shape (size,)
    value : float
    curvature : ndarray of shape (size, size), symmetric
        J.
    third : ndarray of shape (size·(size + 1)/2, size), or None for a quadratic
        T: one row for each pair i ≤ j, in the order of `pairs`.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.likelihoods import Polynomial
    >>> past = Polynomial(
    ...     np.zeros(1), 0.0, np.array([2.0]), np.array([[1.0]]), np.array([[3.0]])
    ... )
    >>> there = past.at(np.array([2.0]))
    >>> there.value, there.gradient, there.curvature[0]
    (6.0, array([6.]), array([-5.]))
    """

    centre: Array
    value: float
    gradient: Array
    curvature: Array
    third: Array | None = None

    @classmethod
    def zero(cls, centre: Array, *, cubic: bool = False) -> "Polynomial":
        """Return the polynomial of no rows."""
        p = len(centre)
        third = np.zeros((p * (p + 1) // 2, p)) if cubic else None
        return cls(centre, 0.0, np.zeros(p), np.zeros((p, p)), third)

    @classmethod
    def quadratic(cls, centre: Array, curvature: Array) -> "Polynomial":
        """Return −½·uᵀJu: a prior, or what anchors a task to the last estimate."""
        return cls(centre, 0.0, np.zeros(len(centre)), curvature)

    def at(self, centre: Array) -> "Polynomial":
        """Return the same polynomial about another centre: its value and derivatives there. Exact, O(size³) at most."""
        u = centre - self.centre
        along = np.zeros_like(self.curvature) if self.third is None else symmetric(kernels.product(self.third, u))
        bent, bend = self.curvature @ u, along @ u
        return replace(
            self,
            centre=centre,
            value=float(self.value + self.gradient @ u - 0.5 * (u @ bent) + u @ bend / 6.0),
            gradient=self.gradient - bent + 0.5 * bend,
            curvature=self.curvature - along,
        )

    def plus(self, other: "Polynomial") -> "Polynomial":
        """Return the sum, about this one's centre. Exact."""
        moved = other.at(self.centre)
        third = self.third if moved.third is None else moved.third if self.third is None else self.third + moved.third
        return Polynomial(
            self.centre,
            self.value + moved.value,
            self.gradient + moved.gradient,
            self.curvature + moved.curvature,
            third,
        )

    @property
    def is_finite(self) -> bool:
        """Whether all derivatives are finite numbers: sums of powers may have overflowed."""
        third = self.curvature if self.third is None else self.third
        return all(np.isfinite(derivative).all() for derivative in (self.gradient, self.curvature, third))

    def scaled(self, factor: float) -> "Polynomial":
        """Return it times a number."""
        return Polynomial(
            self.centre,
            factor * self.value,
            factor * self.gradient,
            factor * self.curvature,
            None if self.third is None else factor * self.third,
        )

    def damped(self, share: float) -> "Polynomial":
        """Return it with a share of its third derivative."""
        return self if self.third is None or share == 1.0 else replace(self, third=share * self.third)

    def mapped(self, matrix: Array, centre: Array) -> "Polynomial":
        """Return the same function of θ', if θ = matrix·θ' and the centre is matrix·centre. θ' may be longer."""
        third = self.third
        if third is not None:
            size = matrix.shape[1]
            full = np.stack([symmetric(kernels.product(third, column)) for column in matrix.T])  # T[·, ·, m_c]
            turned = matrix.T @ full @ matrix
            rows, columns = pairs(size)
            third = unpacked_third(packed_third(np.ascontiguousarray(turned[:, rows, columns].T)), size)
        return Polynomial(centre, self.value, matrix.T @ self.gradient, even(matrix.T @ self.curvature @ matrix), third)


@cache
def pairs(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return i and j of the pairs i ≤ j, in order of i and then j.

    Examples
    --------
    >>> from ridgeway.likelihoods import pairs
    >>> pairs(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    rows, columns = np.triu_indices(size)
    return rows, columns


def symmetric(upper: Array) -> Array:
    """Return the symmetric matrix with these entries for the pairs."""
    size = int(np.sqrt(2 * len(upper)))
    matrix = np.empty((size, size))
    rows, columns = pairs(size)
    matrix[rows, columns] = upper
    matrix[columns, rows] = upper
    return matrix


def even(matrix: Array) -> Array:
    """Return the mean of a matrix and its transpose: symmetric to the last bit."""
    return np.asarray(0.5 * (matrix + matrix.T))


def packed_third(third: Array) -> Array:
    """Return the entries i ≤ j ≤ k of a third derivative, C(size + 2, 3) of them.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.likelihoods import packed_third
    >>> u = np.array([1.0, 2.0])  # T = u ⊗ u ⊗ u
    >>> packed_third(np.outer([u[0] * u[0], u[0] * u[1], u[1] * u[1]], u))
    array([1., 2., 4., 8.])
    """
    size = third.shape[1]
    return third[np.arange(size) >= pairs(size)[1][:, None]]


def unpacked_third(packed: Array, size: int) -> Array:
    """Return the third derivative with these entries i ≤ j ≤ k, one row for each pair, symmetric to the last bit.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.likelihoods import packed_third, unpacked_third
    >>> third = unpacked_third(np.array([1.0, 2.0, 4.0, 8.0]), 2)
    >>> third.tolist()
    [[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]]
    >>> packed_third(third)
    array([1., 2., 4., 8.])
    """
    rows, columns = pairs(size)
    third = np.zeros((len(rows), size))
    third[np.arange(size) >= columns[:, None]] = packed
    for k in range(size - 1):
        later = columns > k
        first, second = np.minimum(rows[later], k), np.maximum(rows[later], k)
        third[later, k] = third[first * size - first * (first - 1) // 2 + second - first, columns[later]]
    return third
