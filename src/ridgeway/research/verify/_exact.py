"""Rational arithmetic: matrices of fractions, and the exact error of generalized ridge from its definition."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.object_]
"""An array of `Fraction`; +, *, @ and .T work as for numbers."""


def exact(values: Any) -> Matrix:
    """Return an array of fractions, from integers or fractions."""
    return np.asarray(np.vectorize(Fraction, otypes=[object])(values))


def zeros(*shape: int) -> Matrix:
    """Return an array of zeros."""
    return exact(np.zeros(shape, dtype=int))


def identity(size: int) -> Matrix:
    """Return I."""
    return diagonal([Fraction(1)] * size)


def diagonal(values: Iterable[Fraction]) -> Matrix:
    """Return diag(values)."""
    return exact(np.diag(exact(list(values))))


def solve(matrix: Matrix, right: Matrix) -> Matrix:
    """Return matrix⁻¹·right by Gauss–Jordan elimination; the matrix must be regular."""
    size = len(matrix)
    work = np.hstack([matrix, right.reshape(size, -1)])
    for column in range(size):
        pivot = column + next(i for i, entry in enumerate(work[column:, column]) if entry != 0)
        work[[column, pivot]] = work[[pivot, column]]
        work[column] = work[column] / work[column, column]
        for row in range(size):
            if row != column and work[row, column] != 0:
                work[row] = work[row] - work[row, column] * work[column]
    return work[:, size:].reshape(right.shape)


def next_moment(moment: Matrix, design: Matrix, weight: Matrix, noise_variance: Fraction) -> Matrix:
    """Return the second moment of the error after a task, from the normal equations of its update.

    (X_tᵀX_t + n_tH_t)(ŵ_t − w_*) = n_tH_t(ŵ_{t−1} − w_*) + X_tᵀε_t; no formula of the paper is used.
    """
    held = len(design) * weight
    system = design.T @ design + held
    kept, gain = solve(system, held), solve(system, design.T)
    return np.asarray(kept @ moment @ kept.T + noise_variance * (gain @ gain.T))


def largest_difference(ones: Iterable[Fraction], twos: Iterable[Fraction]) -> float:
    """Return the largest `relative` difference of two sequences."""
    return max(relative(one, two) for one, two in zip(ones, twos, strict=True))


def relative(one: Fraction, two: Fraction) -> float:
    """Return |one − two| relative to the larger of both; 0 only if they are equal."""
    return 0.0 if one == two else float(abs(one - two) / max(abs(one), abs(two)))
