"""Information as a triangular factor: every digit that a QR decomposition of all rows would give."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import Task
from ridgeway.errors import InvalidStateError
from ridgeway.information._base import Held, Information, digits_at_stake, refuse_removal
from ridgeway.information._solver import PlainSolver
from ridgeway.linalg import (
    Panels,
    Rows,
    RunningMean,
    Solution,
    add_rows,
    add_triangle,
    column_squares,
    empty_triangle,
    psd_root,
    remove_rows,
    solve_penalized,
    solve_triangle,
    solve_under_prior,
    tolerance,
    triangle_growth,
    triangular_root,
    two_sum,
)

Array = NDArray[np.float64]


WEAKEST, STRONGEST = 1e-8, 1e4
"""A prior is stacked on the factor if it lies between these multiples of each column's squares."""


@dataclass(frozen=True, eq=False)
class StackedSolver:
    """Solves with a factor that includes the prior, as if it were rows: O(p²) a time, O(n·p²) to add a task."""

    stacked: "SquareRoot"
    prior: Array
    start: Array

    def solve(self) -> Solution:
        """Return the minimiser."""
        held, p = self.stacked, self.stacked.n_features
        found = solve_under_prior(held.panels, self.prior, held.peak[:p], held.offset)
        if found is not None:
            return found
        R, z = np.hsplit(held.factor()[:p], [p])
        return solve_triangle(R, z, size=p, offset=held.offset)

    def after(self, task: Task, decay: float = 1.0) -> "StackedSolver | None":
        """Return the solver with a task added, or None if the prior has become weak beside the rows."""
        past = self.stacked if decay == 1.0 else self.stacked.scaled(decay)
        after, prior = past.add(task), decay * self.prior
        weak = (prior < WEAKEST * after.peak[: after.n_features]).any()
        return None if weak else StackedSolver(after, prior, self.start)


class SquareRoot(Information):
    """The information as an upper triangular R with RᵀR = Σ w·(a − ā)(a − ā)ᵀ over rows a = [x, y].

    R = [[R_x, z], [0, R_y]]: the factor of the features, the rotated targets, and the residual block. Tasks are added
    by LAPACK's triangular-pentagonal QR, so that the condition number is never squared.
    """

    name = "square_root"
    more_digits = ""

    @property
    def panels(self) -> Panels:
        """R in panels of rows, as it is kept."""
        return Panels(self.matrix, self.n_features + self.n_targets)

    def factor(self) -> Array:
        """Return R itself."""
        return self.panels.square()

    def _selected(self, kept: NDArray[np.intp]) -> Array:
        R = empty_triangle(len(kept))
        factor = triangular_root(self.factor()[:, kept])
        R[: len(factor)] = factor
        return Panels.from_square(R).flat

    @staticmethod
    def _zero(n_features: int, n_targets: int) -> Array:
        return Panels.zero(n_features + n_targets).flat

    def _triangle(self) -> Array:
        return self.factor()

    @staticmethod
    def _from_triangle(triangle: Array, n_targets: int) -> Array:
        return Panels.from_square(triangle).flat

    @staticmethod
    def _check_form(triangle: Array) -> None:
        if np.tril(triangle, -1).any():
            raise InvalidStateError("the factor of a state must be upper triangular. Read an intact copy.")

    def moments(self) -> Array:
        """Return Σ w·(a − ā)(a − ā)ᵀ, of shape (n_features + n_targets, n_features + n_targets)."""
        R = self.factor()
        return np.asarray(R.T @ R)

    def _with_task(self, task: Task) -> Held:
        so_far = RunningMean(self.total_weight, self.mean, self.mean_low)
        blocks = Rows(task).centred_blocks(so_far) if self.centered else Rows(task).blocks()
        peak = self.peak.copy()
        R = self.panels.plus(_squared(blocks, peak))
        return Held(R.flat, so_far.high, so_far.low, peak)

    def _with_other(self, other: Self) -> Held:
        so_far = RunningMean(self.total_weight, self.mean, self.mean_low)
        R = add_triangle(self.factor(), other.factor())
        if self.centered and other.n_samples:
            gap = so_far.join(other.total_weight, other.mean, other.mean_low)
            R = add_rows(R, [np.asfortranarray(gap[None])])
        peak = np.maximum(self.peak + other.peak, column_squares(R))
        return Held(Panels.from_square(R).flat, so_far.high, so_far.low, peak)

    def _without_task(self, task: Task, left: float) -> tuple[Held, float]:
        p = self.n_features
        offset = np.sqrt(left) * np.abs(self.mean[:p])
        R = self.factor()
        growth = triangle_growth(R[:p, :p], offset=offset)
        if np.isinf(growth):
            raise refuse_removal()
        gone = RunningMean(0.0, np.zeros_like(self.mean), np.zeros_like(self.mean))
        rows, mean, mean_low = Rows(task), self.mean, self.mean_low
        blocks = [block.copy() for block in (rows.centred_blocks(gone) if self.centered else rows.blocks())]
        if self.centered:
            apart = (gone.high - mean) + (gone.low - mean_low)
            mean, mean_low = two_sum(mean, mean_low - apart * (task.total_weight / left))
            blocks.append(apart[None] * np.sqrt(task.total_weight * (self.total_weight / left)))
        remains = remove_rows(R, blocks, p, least=tolerance(p) * growth)
        if remains is None:
            raise refuse_removal()
        factor, kept = remains
        # Each column carries the rounding of the largest it has been; what remains must stand out from it.
        noise = self.peak + column_squares(R)
        after = column_squares(factor)
        residual = column_squares(factor[p:, p:])  # a difference of squares, which may be rounding
        after[p:] -= np.where(residual > tolerance(p) * noise[p:], 0.0, residual)
        digits = digits_at_stake(noise, after, p, kept)
        offset = np.hypot(offset, np.sqrt(noise[:p]))
        if np.isinf(triangle_growth(factor[:p, :p], offset=offset)) or digits > -np.log10(tolerance(p)):
            raise refuse_removal()
        return Held(Panels.from_square(factor).flat, mean, mean_low, noise), digits

    def solver(self, prior: Array, start: Array) -> PlainSolver | StackedSolver:
        """Return what solves as `solve` does; in O(p²) if the prior is diagonal and neither weak nor overwhelming."""
        squares = self.peak[: self.n_features]
        if prior.ndim > 1 or self.n_samples == 0 or not _between(prior, squares):
            return PlainSolver(self, prior, start)
        root = np.sqrt(prior)
        top = Panels.diagonal(root, root[:, None] * start)
        own = np.concatenate([prior, column_squares(root[:, None] * start)])
        stacked = Panels.from_square(add_triangle(top.square(), self.factor()))
        return StackedSolver(replace(self, matrix=stacked.flat, peak=self.peak + own), prior, start)

    def _scaled(self, factor: float) -> Array:
        return np.asarray(self.matrix * np.sqrt(factor))

    def _solve(self, prior: Array, start: Array, origin: Array, size: int, offset: Array) -> Solution:
        p = self.n_features
        R, z = np.hsplit(self.factor()[:p], [p])
        rhs = z - R @ origin if origin.any() else z
        if prior.any():
            return solve_penalized(R, rhs, psd_root(prior), start - origin, size=size, offset=offset)
        return solve_triangle(R, rhs, size=size, offset=offset)


def _squared(blocks: Iterable[Array], total: Array) -> Iterator[Array]:
    """Yield the blocks, and add their columns' squares to `total` in passing."""
    for block in blocks:
        total += column_squares(block)
        yield block


def _between(prior: Array, squares: Array) -> bool:
    return bool(((prior >= WEAKEST * squares) & (prior <= STRONGEST * squares) & (prior > 0.0)).all())
