"""Information as a triangular factor: every digit that a QR decomposition of all rows would give."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from ridgeway._validation import Task
from ridgeway.errors import InvalidStateError
from ridgeway.information._base import Held, Information, digits_at_stake, refuse_removal
from ridgeway.linalg import (
    Rows,
    RunningMean,
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
    triangular_root,
    two_sum,
)

Array = NDArray[np.float64]


class SquareRoot(Information):
    """The information as an upper triangular R with RᵀR = Σ w·(a − ā)(a − ā)ᵀ over rows a = [x, y].

    R = [[R_x, z], [0, R_y]]: the factor of the features, the rotated targets, and the residual block. Tasks are added
    by LAPACK's triangular-pentagonal QR, so that the condition number is never squared.
    """

    def factor(self) -> Array:
        """Return R itself."""
        return self.matrix

    def _selected(self, kept: NDArray[np.intp]) -> Array:
        R = empty_triangle(len(kept))
        factor = triangular_root(self.matrix[:, kept])
        R[: len(factor)] = factor
        return R

    @staticmethod
    def _check_form(matrix: Array) -> None:
        if np.tril(matrix, -1).any():
            raise InvalidStateError("the factor of a state must be upper triangular. Read an intact copy.")

    def moments(self) -> Array:
        """Return Σ w·(a − ā)(a − ā)ᵀ, of shape (n_features + n_targets, n_features + n_targets)."""
        return np.asarray(self.matrix.T @ self.matrix)

    def _squares(self, matrix: Array) -> Array:
        return np.asarray(np.einsum("ij,ij->j", matrix, matrix))

    def _with_task(self, task: Task) -> Held:
        so_far = RunningMean(self.total_weight, self.mean, self.mean_low)
        blocks = Rows(task).centred_blocks(so_far) if self.centered else Rows(task).blocks()
        return Held(add_rows(self.matrix, blocks), so_far.high, so_far.low)

    def _with_other(self, other: Self) -> Held:
        so_far = RunningMean(self.total_weight, self.mean, self.mean_low)
        matrix = add_triangle(self.matrix, other.matrix)
        if self.centered and other.n_samples:
            gap = so_far.join(other.total_weight, other.mean, other.mean_low)
            matrix = add_rows(matrix, [np.asfortranarray(gap[None])])
        return Held(matrix, so_far.high, so_far.low)

    def _without_task(self, task: Task, left: float) -> tuple[Held, float]:
        p = self.n_features
        offset = np.sqrt(left) * np.abs(self.mean[:p])
        growth = triangle_growth(self.matrix[:p, :p], offset=offset)
        if np.isinf(growth):
            raise refuse_removal()
        gone = RunningMean(0.0, np.zeros_like(self.mean), np.zeros_like(self.mean))
        rows, mean, mean_low = Rows(task), self.mean, self.mean_low
        blocks = [block.copy() for block in (rows.centred_blocks(gone) if self.centered else rows.blocks())]
        if self.centered:
            apart = (gone.high - mean) + (gone.low - mean_low)
            mean, mean_low = two_sum(mean, mean_low - apart * (task.total_weight / left))
            blocks.append(apart[None] * np.sqrt(task.total_weight * (self.total_weight / left)))
        remains = remove_rows(self.matrix, blocks, p, least=tolerance(p) * growth)
        if remains is None:
            raise refuse_removal()
        factor, kept = remains
        held = Held(factor, mean, mean_low)
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

    def _scaled(self, factor: float) -> Array:
        return np.asarray(self.matrix * np.sqrt(factor))

    def _solve(self, prior: Array, start: Array, origin: Array, size: int, offset: Array) -> Solution:
        p = self.n_features
        R = self.matrix[:p, :p]
        rhs = self.matrix[:p, p:] - R @ origin if origin.any() else self.matrix[:p, p:]
        if prior.any():
            return solve_penalized(R, rhs, psd_root(prior), start - origin, size=size, offset=offset)
        return solve_triangle(R, rhs, size=size, offset=offset)
