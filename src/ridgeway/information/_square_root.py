"""Information as a triangular factor: every digit that a QR decomposition of all rows would give."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from ridgeway._validation import Task
from ridgeway.errors import InvalidStateError
from ridgeway.information._base import Held, Information, digits_at_stake, refuse_removal, two_sum
from ridgeway.linalg import (
    Rows,
    Solution,
    add_rows,
    add_triangle,
    empty_triangle,
    psd_root,
    remove_rows,
    solve_penalized,
    solve_triangle,
    tolerance,
    triangle_growth,
)

Array = NDArray[np.float64]


class SquareRoot(Information):
    """The information as an upper triangular R with RᵀR = Σ w·(a − ā)(a − ā)ᵀ over rows a = [x, y].

    R = [[R_x, z], [0, R_y]]: the factor of the features, the rotated targets, and the residual block. Tasks are added
    by LAPACK's triangular-pentagonal QR, so that the condition number is never squared. For an intercept, a column of
    ones goes first while rows are added: what it picks up is the move of the mean, and what it leaves is centred.
    """

    @staticmethod
    def _check_form(matrix: Array) -> None:
        if np.tril(matrix, -1).any():
            raise InvalidStateError("the factor of a state must be upper triangular. Read an intact copy.")

    def _squares(self, matrix: Array) -> Array:
        return np.asarray(np.einsum("ij,ij->j", matrix, matrix))

    def _with_task(self, task: Task) -> Held:
        if not self.centered:
            return Held(add_rows(self.matrix, Rows(task).blocks()), self.mean, self.mean_low)
        # Of the past and the task, the lighter moves to where the heavier is: no digits are lost to an offset.
        heavier = task.total_weight > self.total_weight
        rows = Rows.near_their_mean(task) if heavier else Rows(task, about=(self.mean, self.mean_low))
        past = self._about(rows.mean, rows.mean_low)
        return _centered(add_rows(past, rows.blocks(with_ones=True)), rows.mean, rows.mean_low)

    def _with_other(self, other: Self) -> Held:
        if not self.centered:
            return Held(add_triangle(self.matrix, other.matrix), self.mean, self.mean_low)
        heavier = other if other.total_weight > self.total_weight else self
        origin = heavier.mean, heavier.mean_low
        return _centered(add_triangle(self._about(*origin), other._about(*origin)), *origin)

    def _without_task(self, task: Task, left: float) -> tuple[Held, float]:
        p = self.n_features
        offset = np.sqrt(left) * np.abs(self.mean[:p])
        growth = triangle_growth(self.matrix[:p, :p], offset=offset)
        if np.isinf(growth):
            raise refuse_removal()
        origin = self.mean, self.mean_low
        factor = self._about(*origin) if self.centered else self.matrix
        blocks = Rows(task, about=origin).blocks(with_ones=self.centered)
        remains = remove_rows(factor, blocks, len(factor) - self.n_targets, least=tolerance(p) * growth)
        if remains is None:
            raise refuse_removal()
        factor, kept = remains
        held = _centered(factor, *origin) if self.centered else Held(factor, *origin)
        # Each column carries the rounding of the largest it has been; what remains must stand out from it.
        noise = self.peak + self._squares(self.matrix)
        after = self._squares(held.matrix)
        residual = self._squares(held.matrix[p:, p:])  # a difference of squares, which may be rounding
        after[p:] -= np.where(residual > tolerance(p) * noise[p:], 0.0, residual)
        digits = digits_at_stake(noise, after, p, kept)
        offset = np.hypot(offset, np.sqrt(noise[:p]))
        if np.isinf(triangle_growth(held.matrix[:p, :p], offset=offset)) or digits > -np.log10(tolerance(p)):
            raise refuse_removal()
        return held, digits

    def _about(self, mean: Array, mean_low: Array) -> Array:
        """Return the factor with a column of ones in front, its rows taken about another point."""
        factor = empty_triangle(len(self.matrix) + 1)
        factor[0, 0] = root_weight = np.sqrt(self.total_weight)
        factor[0, 1:] = root_weight * ((self.mean - mean) + (self.mean_low - mean_low))
        factor[1:, 1:] = self.matrix
        return factor

    def _scaled(self, factor: float) -> Array:
        return np.asarray(self.matrix * np.sqrt(factor))

    def _solve(self, prior: Array, start: Array, origin: Array, size: int, offset: Array) -> Solution:
        p = self.n_features
        R = self.matrix[:p, :p]
        rhs = self.matrix[:p, p:] - R @ origin if origin.any() else self.matrix[:p, p:]
        if prior.any():
            return solve_penalized(R, rhs, psd_root(prior), start - origin, size=size, offset=offset)
        return solve_triangle(R, rhs, size=size, offset=offset)


def _centered(factor: Array, mean: Array, mean_low: Array) -> Held:
    """Return what remains of a factor without its column of ones, and the mean that this moves to."""
    return Held(factor[1:, 1:].copy(order="F"), *two_sum(mean, mean_low + factor[0, 1:] / factor[0, 0]))
