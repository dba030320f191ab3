"""Least squares on the rows that stand for tasks, whole or with each task's own terms taken out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.kernels import triangular_factor
from ridgeway.linalg import RowSpace, column_complement, solve_triangle
from ridgeway.retrospect._compressed import CompressedTasks


@dataclass(frozen=True, eq=False)
class StackedFit:
    """Least squares on rows [X, y].

    Attributes
    ----------
    space : RowSpace
        What the rows know about the coefficients.
    coef : ndarray of shape (n_columns, n_targets)
    residual_squares : ndarray of shape (n_targets,)
    """

    space: RowSpace
    coef: Array
    residual_squares: Array

    @classmethod
    def of(cls, rows: Array, n_columns: int, *, n_samples: int, offset: Array) -> "StackedFit":
        """Fit rows (n, n_columns + n_targets), which stand for `n_samples` rows of the user's. O(n·p²).

        `offset` is the norm of what was taken off each column of X before: a column of less than its rounding is 0.
        """
        if n_columns == 0:
            none = np.zeros((0, 0))
            return cls(RowSpace(none, none.ravel(), none.ravel(), none), none, np.square(rows).sum(axis=0))
        R = triangular_factor(np.vstack([rows, np.zeros((rows.shape[1], rows.shape[1]))]))
        size, (X, y) = min(n_samples, n_columns), np.split(R, [n_columns], axis=1)
        space = RowSpace.of(X[:n_columns], size=size, offset=offset)
        coef = solve_triangle(X[:n_columns], y[:n_columns], size=size, offset=offset).coef
        return cls(space, coef, np.square(y - X @ coef).sum(axis=0))

    @property
    def whitening(self) -> Array:
        """M, (n_columns, rank), such that X·M has orthonormal columns, and M·Mᵀ is the inverse of XᵀX."""
        with np.errstate(divide="ignore"):
            inverse = np.where(self.space.scale > 0.0, 1.0 / self.space.scale, 0.0)
        return np.asarray(inverse[:, None] * self.space.basis / self.space.values)


def offsets(tasks: CompressedTasks) -> Array:
    """Return what centring took off each term over all tasks, (n_terms,)."""
    n_terms = len(tasks.terms)
    away = np.sqrt(tasks.total_weight.sum()) * np.abs(tasks.center)
    return np.r_[0.0, away][:n_terms] if tasks.is_centered else np.zeros(n_terms)


def pooled(tasks: CompressedTasks) -> StackedFit:
    """Return least squares on the rows of all tasks, about their means."""
    n = int(tasks.n_samples.sum())
    rows = tasks.rows.reshape(-1, tasks.rows.shape[2])
    return StackedFit.of(rows, len(tasks.terms), n_samples=n, offset=offsets(tasks))


@dataclass(frozen=True, eq=False)
class OwnTerms:
    """What the rows of one task say about its own terms: U·(values·basisᵀ·scale·a) = [y, X] − …, U orthonormal.

    Attributes
    ----------
    space : RowSpace
    rows : ndarray of shape (rank, n_common + n_targets)
        The common columns and the targets, as seen by the own terms.
    """

    space: RowSpace
    rows: Array


@dataclass(frozen=True, eq=False)
class Separated:
    """Tasks with terms of their own, and terms that are common.

    Attributes
    ----------
    own : tuple of OwnTerms
        One per task.
    fit : StackedFit
        Of the common terms, once the tasks' own terms are taken out (Frisch, Waugh and Lovell).
    degrees_of_freedom : int
        Rows less the rank of the common terms and the ranks of the tasks' own.
    """

    own: tuple[OwnTerms, ...]
    fit: StackedFit
    degrees_of_freedom: int

    @classmethod
    def of(cls, tasks: CompressedTasks, own: NDArray[np.intp]) -> "Separated":
        """Take the terms at the positions `own` out of each task. O(n_tasks·p³)."""
        n_terms, q = len(tasks.terms), len(own)
        common = np.setdiff1d(np.arange(n_terms), own)
        order = np.r_[own, common, np.arange(n_terms, tasks.rows.shape[2])]
        factors = triangular_factor(tasks.rows[:, :, order])
        shares = np.sqrt(tasks.total_weight / tasks.total_weight.sum())
        taken, left = [], []
        for R, n, share in zip(factors, tasks.n_samples, shares, strict=True):
            space = RowSpace.of(R[:q, :q], size=min(int(n), q), offset=share * offsets(tasks)[own])
            above, below = R[:q, q:], R[q:, q:]
            if space.rank < q:  # what the own terms do not explain in their rows is left for the others
                U = space.scaled @ space.basis / space.values
                below = np.vstack([below, column_complement(U, U).T @ above])
                above = U.T @ above
            taken.append(OwnTerms(space, above))
            left.append(below)
        n = int(tasks.n_samples.sum() - sum(each.space.rank for each in taken))
        squares = np.square(tasks.X[:, :, common]).sum(axis=(0, 1))
        before = np.hypot(np.sqrt(squares), offsets(tasks)[common])
        fit = StackedFit.of(np.vstack(left), len(common), n_samples=n, offset=before)
        return cls(tuple(taken), fit, n - fit.space.rank)
