"""Sums of squares and products of rows, kept as the upper triangle of a symmetric matrix in Fortran order."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyr, dsyrk

Array = NDArray[np.float64]

STRIP = 128


def add_products(S: Array, blocks: Iterable[Array]) -> Array:
    """Return S + Σ blockᵀblock over blocks of rows in C order, as an upper triangle; S is left as it was. O(n·p²)."""
    total = S.copy(order="F")
    for block in blocks:
        total = dsyrk(1.0, block.T, beta=1.0, c=total, overwrite_c=True)
    return total


def add_products_of_narrow(S: Array, blocks: Iterable[Array]) -> Array:
    """As `add_products`, for few columns: by NumPy, which lets another Python thread work at the same time."""
    total = np.zeros(S.shape)
    for block in blocks:
        total += block.T @ block
    return np.asarray(S + np.tril(total).T, order="F")


def add_product(S: Array, row: Array, factor: float = 1.0) -> Array:
    """Return S + factor·row·rowᵀ, as an upper triangle; S is overwritten. O(p²)."""
    return np.asarray(dsyr(factor, row, a=S, overwrite_a=True))


def mirrored(S: Array) -> Array:
    """Return the symmetric matrix whose upper triangle is S."""
    full = S.copy(order="F")
    for first in range(0, len(S), STRIP):  # a strip at a time: rows turn into columns in cache
        last = first + STRIP
        full[last:, first:last] = S[first:last, last:].T
        corner = np.triu(S[first:last, first:last])
        full[first:last, first:last] = corner + np.triu(corner, k=1).T
    return full


def scaled_symmetric(S: Array, divisor: Array) -> Array:
    """Return the upper triangle of S / (divisor·divisorᵀ)."""
    scaled = np.zeros_like(S, order="F")
    for first in range(0, len(S), STRIP):
        last = min(first + STRIP, len(S))
        strip = np.divide(S[:last, first:last], divisor[:last, None], out=scaled[:last, first:last])
        strip /= divisor[first:last]
    return scaled
