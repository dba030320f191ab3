"""Information as centred co-moments: the fastest to add to, at half the digits."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from ridgeway._validation import Task
from ridgeway.errors import InvalidStateError
from ridgeway.information._base import Held, Information, digits_at_stake, refuse_removal, two_sum
from ridgeway.linalg import Rows, Solution, smallest_eigenvalue, solve_moments, sum_of_products, tolerance

Array = NDArray[np.float64]

NEAR = 0.5
"""A point is near the mean of a column where the difference makes up less than this share of the squares about it."""


class Moments(Information):
    """The information as the matrix of centred co-moments, Σ w·(a − ā)(a − ā)ᵀ over rows a = [x, y].

    Adding a task is one matrix product. The condition number is squared: columns that are collinear to 1e-8 cannot
    be told apart, where `SquareRoot` still has half of its digits.
    """

    @staticmethod
    def _check_form(matrix: Array) -> None:
        if (matrix != matrix.T).any() or (np.diag(matrix) < 0.0).any():
            raise InvalidStateError("co-moments must be symmetric, with no negative square. Read an intact copy.")

    def _squares(self, matrix: Array) -> Array:
        return np.diag(matrix).copy()

    def _with_task(self, task: Task) -> Held:
        return self._meet(_held(task, centered=self.centered), task.total_weight)

    def _with_other(self, other: Self) -> Held:
        return self._meet(Held(other.matrix, other.mean, other.mean_low), other.total_weight)

    def _meet(self, other: Held, weight: float) -> Held:
        """Add co-moments centred at other means (Chan, Golub and LeVeque, 1983)."""
        total = self.total_weight + weight
        if not self.centered or self.n_samples == 0:
            return Held(np.asarray(self.matrix + other.matrix), other.mean, other.mean_low)
        apart = (other.mean - self.mean) + (other.mean_low - self.mean_low)
        gap = apart * np.sqrt(self.total_weight * (weight / total))
        matrix = self.matrix + other.matrix
        matrix += np.outer(gap, gap)
        return Held(matrix, *two_sum(self.mean, self.mean_low + apart * (weight / total)))

    def _without_task(self, task: Task, left: float) -> tuple[Held, float]:
        p = self.n_features
        gone = _held(task, centered=self.centered)
        matrix, mean, mean_low = self.matrix - gone.matrix, self.mean, self.mean_low
        if self.centered:
            apart = (gone.mean - mean) + (gone.mean_low - mean_low)
            mean, mean_low = two_sum(mean, mean_low - apart * (task.total_weight / left))
            matrix = matrix - np.outer(apart, apart) * (task.total_weight * (self.total_weight / left))
        squares = self._squares(matrix)
        if not (squares[:p] > 0.0).all():
            raise refuse_removal()
        # The rounding of each entry is that of the largest it has been; what remains must stand out from it.
        noise = self.peak + self._squares(self.matrix)
        digits = digits_at_stake(noise, np.where(squares > tolerance(p) * noise, squares, 0.0), p)
        spread = float((left * np.square(mean[:p]) / squares[:p]).max())
        smallest = smallest_eigenvalue(matrix[:p, :p])
        if not smallest > max(tolerance(p) * 10.0**digits, tolerance(p) ** 2 * spread):
            raise refuse_removal()
        residual = matrix[p:, p:] - matrix[p:, :p] @ solve_moments(matrix[:p, :p], matrix[:p, p:], size=p).coef
        if (np.diag(residual) < -tolerance(p) * 10.0**digits / smallest * noise[p:]).any():
            raise refuse_removal()
        return Held(matrix, mean, mean_low), digits

    def _scaled(self, factor: float) -> Array:
        return np.asarray(self.matrix * factor)

    def _solve(self, prior: Array, start: Array, origin: Array, size: int, offset: Array) -> Solution:
        p = self.n_features
        S, right = self.matrix[:p, :p], self.matrix[:p, p:].copy()
        if origin.any():
            right -= S @ origin
        if prior.any():
            P = np.diag(prior) if prior.ndim == 1 else prior
            S, right = S + P, right + P @ (start - origin)
        return solve_moments(S, right, size=size, offset=offset)


def _held(task: Task, *, centered: bool) -> Held:
    """Return a task's co-moments, centred at its means, in one pass wherever a sample finds the means well enough."""
    if not centered:
        rows = Rows(task)
        return Held(sum_of_products(rows.blocks("C"), len(rows.mean)), rows.mean, rows.mean_low)
    rows = Rows.near_their_mean(task)
    total = sum_of_products(rows.blocks("C", with_ones=True), 1 + len(rows.mean))
    move = total[0, 1:] / total[0, 0]
    if (total[0, 0] * np.square(move) > NEAR * np.diag(total)[1:]).any():
        rows = Rows(task, center=True)
        return Held(sum_of_products(rows.blocks("C"), len(rows.mean)), rows.mean, rows.mean_low)
    taken = total[0, 1:] / np.sqrt(total[0, 0])
    return Held(total[1:, 1:] - np.outer(taken, taken), *two_sum(rows.mean, move))
