"""Information as centred co-moments: the fastest to add to, at half the digits."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from ridgeway._task import Task
from ridgeway.errors import InvalidStateError
from ridgeway.information._base import Held, Information, digits_at_stake, refuse_removal
from ridgeway.linalg import (
    SMALL,
    Rows,
    RunningMean,
    Solution,
    add_product,
    add_products,
    add_products_of_narrow,
    mirrored,
    psd_root,
    semidefinite_eigen,
    smallest_eigenvalue,
    solve_moments,
    tolerance,
    triangular_root,
    two_sum,
)

Array = NDArray[np.float64]


class Moments(Information):
    """The information as the upper triangle of the centred co-moments, Σ w·(a − ā)(a − ā)ᵀ over rows a = [x, y].

    Adding a task is one matrix product. The condition number is squared: columns that are collinear to 1e-8 cannot
    be told apart, where `SquareRoot` still has half of its digits.
    """

    def moments(self) -> Array:
        """Return Σ w·(a − ā)(a − ā)ᵀ, of shape (n_features + n_targets, n_features + n_targets)."""
        return mirrored(self.matrix)

    def factor(self) -> Array:
        """Return a root of the co-moments, with half of their digits; directions that are rounding are zero. O(p³)."""
        p, R, moments = self.n_features, np.zeros_like(self.matrix), self.moments()
        R[:p, :p] = psd_root(moments[:p, :p])
        R[:p, p:] = z = R[:p, :p] @ self.solve(np.zeros(p), np.zeros((p, self.n_targets))).coef
        values, vectors = semidefinite_eigen(moments[p:, p:] - z.T @ z)
        R[p:, p:] = triangular_root(np.sqrt(values)[:, None] * vectors.T)
        return R

    def _selected(self, kept: NDArray[np.intp]) -> Array:
        return np.asfortranarray(np.triu(self.moments()[np.ix_(kept, kept)]))

    @staticmethod
    def _check_form(matrix: Array) -> None:
        if np.tril(matrix, -1).any() or (np.diag(matrix) < 0.0).any():
            raise InvalidStateError(
                "co-moments must be an upper triangle with no negative square. Read an intact copy."
            )

    def _with_task(self, task: Task) -> Held:
        so_far = RunningMean(self.total_weight, self.mean, self.mean_low)
        blocks = Rows(task).centred_blocks(so_far, "C") if self.centered else Rows(task).blocks("C")
        narrow = len(self.matrix) < min(SMALL, task.n_samples / 2)
        add = add_products_of_narrow if narrow else add_products
        matrix = add(self.matrix, blocks)
        return Held(matrix, so_far.high, so_far.low, np.maximum(self.peak, np.diag(matrix)))

    def _with_other(self, other: Self) -> Held:
        so_far = RunningMean(self.total_weight, self.mean, self.mean_low)
        matrix = np.asarray(self.matrix + other.matrix)
        if self.centered and other.n_samples:
            matrix = add_product(matrix, so_far.join(other.total_weight, other.mean, other.mean_low))
        return Held(matrix, so_far.high, so_far.low, np.maximum(self.peak + other.peak, np.diag(matrix)))

    def _without_task(self, task: Task, left: float) -> tuple[Held, float]:
        p = self.n_features
        gone = self.empty(p, self.n_targets, centered=self.centered)._with_task(task)
        matrix, mean, mean_low = np.asarray(self.matrix - gone.matrix), self.mean, self.mean_low
        if self.centered:
            apart = (gone.mean - mean) + (gone.mean_low - mean_low)
            mean, mean_low = two_sum(mean, mean_low - apart * (task.total_weight / left))
            matrix = add_product(matrix, apart, -task.total_weight * (self.total_weight / left))
        squares = np.diag(matrix)
        if not (squares[:p] > 0.0).all():
            raise refuse_removal()
        # The rounding of each entry is that of the largest it has been; what remains must stand out from it.
        noise = self.peak + np.diag(self.matrix)
        digits = digits_at_stake(noise, np.where(squares > tolerance(p) * noise, squares, 0.0), p)
        spread = float((left * np.square(mean[:p]) / squares[:p]).max())
        full = mirrored(matrix)
        smallest = smallest_eigenvalue(full[:p, :p])
        if not smallest > max(tolerance(p) * 10.0**digits, tolerance(p) ** 2 * spread):
            raise refuse_removal()
        residual = full[p:, p:] - full[p:, :p] @ solve_moments(full[:p, :p], full[:p, p:], size=p).coef
        if (np.diag(residual) < -tolerance(p) * 10.0**digits / smallest * noise[p:]).any():
            raise refuse_removal()
        return Held(matrix, mean, mean_low, noise), digits

    def holding(self, prior: Array, start: Array, squares: Array) -> Self:
        """Return the same: a prior is added to squares when they are solved for, and costs nothing apart."""
        return self

    def is_weak(self, prior: Array) -> bool:
        """Say no: no prior is held."""
        return False

    def without_prior(self, prior: Array, start: Array) -> tuple[Self, bool]:
        """Return the same, which is whole: no prior is held."""
        return self, True

    def _scaled(self, factor: float) -> Array:
        return np.asarray(self.matrix * factor)

    def _solve(self, prior: Array, start: Array, origin: Array, size: int, offset: Array) -> Solution:
        p = self.n_features
        S, right = self.matrix[:p, :p], self.matrix[:p, p:].copy()
        if origin.any():
            right -= mirrored(S) @ origin
        if prior.ndim == 1:
            return solve_moments(S, right + prior[:, None] * (start - origin), size=size, offset=offset, prior=prior)
        return solve_moments(S + prior, right + prior @ (start - origin), size=size, offset=offset)
