"""Sums of squares and products of rows [X, y], no entry kept twice.

XᵀX is an upper triangle in LAPACK's rectangular full packed format: p(p + 1)/2 numbers, which LAPACK adds to and
factors as fast as a square of p². With m = p//2 they stand, column after column, as 2m + 1 rows R of p − m columns:
R[i, j] = A[i, m + j] on and above the diagonal of A's right half, and R[m + 1 + i, j] = A[j, i] for its left half.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm

from ridgeway.linalg._lapack import dsfrk, dtfttr, dtrttf
from ridgeway.linalg._memory import copied, room_for

Array = NDArray[np.float64]

STRIP = 128


class Products(NamedTuple):
    """The products [X, y]ᵀ[X, y] as one flat array: XᵀX packed, and behind it [X, y]ᵀy column by column."""

    flat: Array
    n_features: int
    n_targets: int

    @classmethod
    def zero(cls, n_features: int, n_targets: int) -> "Products":
        """Return the products of no rows."""
        size = packed_size(n_features) + (n_features + n_targets) * n_targets
        return cls(np.zeros(size), n_features, n_targets)

    @classmethod
    def from_upper(cls, upper: Array, n_targets: int) -> "Products":
        """Return what the upper triangle of a square matrix says."""
        made, upper = cls.zero(len(upper) - n_targets, n_targets), np.asfortranarray(upper)
        p = made.n_features
        dtrttf(upper[:p, :p], made.squares)
        made.targets[:] = upper[:, p:]
        made._clear_below()
        return made

    @property
    def squares(self) -> Array:
        """XᵀX, packed."""
        return self.flat[: packed_size(self.n_features)]

    @property
    def targets(self) -> Array:
        """[X, y]ᵀy, of shape (n_features + n_targets, n_targets), the last rows upper triangular."""
        return self.flat[packed_size(self.n_features) :].reshape((-1, self.n_targets), order="F")

    @property
    def diagonal(self) -> Array:
        """Each column's sum of squares."""
        own = self.targets[self.n_features :].diagonal()
        return np.concatenate([packed_diagonal(self.squares, self.n_features), own])

    def upper(self) -> Array:
        """Return all as the upper triangle of a square matrix."""
        p, width = self.n_features, self.n_features + self.n_targets
        square = np.zeros((width, width), order="F")
        dtfttr(self.squares, square[:p, :p])
        square[:, p:] = self.targets
        return square

    def plus(self, blocks: Iterable[Array], factor: float = 1.0) -> "Products":
        """Return these and factor·blockᵀblock, over blocks of rows in C order. O(n·p²)."""
        total, p = self._replace(flat=copied(self.flat)), self.n_features
        for block in blocks:
            dsfrk(factor, block.T[:p], total.squares)
            # In place; the assignment would notice if it were not.
            total.targets[:] = dgemm(factor, block.T, block[:, p:], beta=1.0, c=total.targets, overwrite_c=True)
        total._clear_below()
        return total

    def plus_narrow(self, blocks: Iterable[Array]) -> "Products":
        """As `plus`, for few columns: by NumPy, which lets another Python thread work at the same time."""
        width = self.n_features + self.n_targets
        total = np.zeros((width, width))
        for block in blocks:
            total += block.T @ block
        return self._replace(flat=self.flat + Products.from_upper(total.T, self.n_targets).flat)

    def _clear_below(self) -> None:
        if self.n_targets > 1:
            own = self.targets[self.n_features :]
            own[:] = np.triu(own)


def packed_size(width: int) -> int:
    """Return how many numbers a packed triangle takes."""
    return width * (width + 1) // 2


def packed(upper: Array) -> Array:
    """Return the upper triangle of a square matrix, packed."""
    made = np.empty(packed_size(len(upper)))
    dtrttf(np.asfortranarray(upper), made)
    return made


def unpacked(triangle: Array, width: int) -> Array:
    """Return the upper triangle of a square matrix, zeros below."""
    square = np.zeros((width, width), order="F")
    dtfttr(triangle, square)
    return square


def packed_diagonal(triangle: Array, width: int) -> Array:
    """Return the diagonal of a packed matrix."""
    left, right = _diagonals(triangle, width)
    return np.concatenate([left, right])


def packed_scaled(triangle: Array, divisor: Array) -> Array:
    """Return S / (divisor·divisorᵀ), both packed, with the unit diagonal that a prior on it completes."""
    width, half = len(divisor), len(divisor) // 2
    left, right = np.append(divisor[:half], 1.0), divisor[half:]
    scaled = room_for(triangle)
    source, target = (flat.reshape((2 * half + 1, -1), order="F") for flat in (triangle, scaled))
    for start in range(0, width - half, STRIP):
        stop = min(start + STRIP, width - half)
        strip, above, below = slice(start, stop), slice(half + start), slice(half + stop, None)
        for part, rows, columns in ((above, divisor[above], right), (below, left[stop - 1 : half], left)):
            np.divide(source[part, strip], rows[:, None], out=target[part, strip])
            target[part, strip] /= columns[strip]
        # Where the halves meet: row half + i is A[half + i, half + j] for i ≤ j, and A[j, i − 1] below.
        corner, number = slice(half + start, half + stop), np.arange(start, stop)
        of_right = number[:, None] <= number
        rows = np.where(of_right, right[strip, None], left[number - 1, None])
        columns = np.where(of_right, right[strip], left[strip])
        target[corner, strip] = source[corner, strip] / rows / columns
    for diagonal in _diagonals(scaled, width):
        diagonal[:] = 1.0
    return scaled


def scaled_symmetric(S: Array, divisor: Array) -> Array:
    """Return S / (divisor·divisorᵀ) for an upper triangle S, which is overwritten, with the same unit diagonal.

    Rows and columns whose divisor is infinite are zero.
    """
    for first in range(0, len(S), STRIP):
        last = min(first + STRIP, len(S))
        strip = S[:last, first:last]
        strip /= divisor[:last, None]
        strip /= divisor[first:last]
    np.fill_diagonal(S, np.isfinite(divisor))
    return S


def mirrored(S: Array) -> Array:
    """Return the symmetric matrix whose upper triangle is S."""
    full = S.copy(order="F")
    for first in range(0, len(S), STRIP):  # a strip at a time: rows turn into columns in cache
        last = first + STRIP
        full[last:, first:last] = S[first:last, last:].T
        corner = np.triu(S[first:last, first:last])
        full[first:last, first:last] = corner + np.triu(corner, k=1).T
    return full


def _diagonals(triangle: Array, width: int) -> tuple[Array, Array]:
    """Return the two halves of the diagonal, as views."""
    half = width // 2
    step = 2 * half + 2
    return triangle[half + 1 :: step][:half], triangle[half::step]
