"""Information as a triangular factor: every digit that a QR decomposition of all rows would give."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ridgeway._checks import Array
from ridgeway.data import Task
from ridgeway.errors import InvalidStateError
from ridgeway.information._base import Held, Information
from ridgeway.information._parts import TINY
from ridgeway.information._removal import digits_at_stake, refuse_removal
from ridgeway.kernels import Mean, factor_update, qr_update, triangular_factor
from ridgeway.linalg import (
    Solution,
    column_squares,
    empty_triangle,
    psd_root,
    remove_rows,
    solve_by_corrections,
    solve_penalized,
    solve_triangle,
    solve_under_prior,
    tolerance,
    triangle_growth,
)

WEAKEST, STRONGEST = 1e-8, 1e4
"""A prior is neither tiny nor overwhelming if it lies between these multiples of each column's squares."""

CORRECTED = 128
"""With this many features for every target, correcting the answer is faster than stacking a prior."""


@dataclass(frozen=True, eq=False)
class StackedFactor:
    """A factor that includes the prior, as if it were rows: O(p²) to solve, O(n·p²) to add a task."""

    held: "SquareRoot"
    prior: Array
    start: Array

    def solve(self) -> Solution:
        """Return the minimiser."""
        held, p = self.held, self.held.n_features
        offset = np.sqrt(held.total_weight) * np.abs(held.mean[:p])
        found = solve_under_prior(held.matrix, self.prior, held.peak[:p], offset)
        if found is not None:
            return found
        R, z = np.hsplit(held.matrix[:p], [p])
        away = solve_triangle(R, z - R @ self.start, size=p, offset=offset)
        return replace(away, coef=self.start + away.coef)

    def after(self, task: Task, decay: float = 1.0) -> "StackedFactor | None":
        """Return the factor with a task added, or None if the prior is tiny by now or stacking it again is cheaper.

        Adding n rows to w columns takes 2·n·w² operations, stacking the prior on a factor 2/3·w³.
        """
        if 3 * task.n_samples > len(self.held.mean):
            return None
        past = self.held if decay == 1.0 else self.held.scaled(decay)
        after, prior = past.add(task), decay * self.prior
        tiny = (prior < WEAKEST * after.peak[: after.n_features]).any()
        return None if tiny else StackedFactor(after, prior, self.start)


@dataclass(frozen=True, eq=False)
class Corrected:
    """The answer under a prior that the rows outweigh: found without a second factor, so there is nothing to keep."""

    solution: Solution

    def solve(self) -> Solution:
        """Return the minimiser."""
        return self.solution

    def after(self, task: Task, decay: float = 1.0) -> None:
        """Return None: the next answer is found in the same way."""


class SquareRoot(Information):
    """The information as an upper triangular R with RᵀR = Σ w·(a − ā)(a − ā)ᵀ over rows a = [x, y].

    R = [[R_x, z], [0, R_y]]: the factor of the features, the rotated targets, and the residual block. Tasks are added
    by LAPACK's triangular-pentagonal QR, so that the condition number is never squared.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.information import SquareRoot
    >>> rows = np.array([[1.0, 2.0], [3.0, 5.0], [5.0, 5.0]])  # x, y
    >>> held = SquareRoot.empty(1, 1, centered=False).add(Task.of(rows[:, :1], rows[:, 1:]))
    >>> np.allclose(held.factor().T @ held.factor(), rows.T @ rows)
    True
    """

    name = "square_root"
    digits = 1.0
    more_digits = "or give a larger prior"

    def factor(self) -> Array:
        """Return R itself."""
        return self.matrix

    @classmethod
    def from_parts(cls, counts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Return the information that `to_parts` took apart, or raise `InvalidStateError`."""
        made = super().from_parts(counts, arrays)
        if (np.maximum(made.matrix.max(axis=0), -made.matrix.min(axis=0)) > 2.0 * np.sqrt(made.peak) + TINY).any():
            raise InvalidStateError("a factor must not exceed its sums of squares. Read an intact copy.")
        return made

    def _combined(self, combine: Callable[[Array], Array]) -> Array:
        rows = combine(self.matrix)
        added = max(rows.shape[1] - len(rows), 0)  # room for more features: the residual block stays below them
        factor = triangular_factor(np.insert(rows, [self.n_features] * added, 0.0, axis=0))
        R = empty_triangle(factor.shape[1])
        R[: len(factor)] = factor
        return R

    def _with_task(self, task: Task) -> Held:
        past = Mean(self.total_weight, self.mean, self.mean_low)
        update = factor_update(self.matrix, past, task.X, task.y, task.sample_weight, centered=self.centered)
        return Held(update.matrix, update.mean.high, update.mean.low, self.peak + update.squares)

    def _with_other(self, other: Self) -> Held:
        R, mean = qr_update(self.matrix, other.matrix, triangular=True), self.running_mean
        if self.centered and other.n_samples:
            mean, gap = mean.joined(other.running_mean)
            R = qr_update(R, gap[None])
        return Held(R, mean.high, mean.low, np.maximum(self.peak + other.peak, column_squares(R)))

    def _without_task(self, task: Task) -> tuple[Held, float]:
        p, R, nothing = self.n_features, self.matrix, Mean.of_nothing(len(self.mean))
        gone = factor_update(np.zeros_like(R), nothing, task.X, task.y, task.sample_weight, centered=self.centered)
        rows, mean = gone.matrix, self.running_mean
        if self.centered:
            mean, gap = mean.without(gone.mean)
            rows = np.vstack([rows, gap])
        offset = np.sqrt(self.total_weight - gone.mean.weight) * np.abs(self.mean[:p])
        growth = triangle_growth(R[:p, :p], offset=offset)
        if np.isinf(growth):
            raise refuse_removal()
        remains = remove_rows(R, rows, p, least=tolerance(p) * growth)
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
        return Held(factor, mean.high, mean.low, noise), digits

    def with_prior(self, prior: Array, start: Array) -> Corrected | StackedFactor | None:
        """Return the factor with the prior on top, if that is diagonal and neither tiny nor overwhelming. O(p³).

        If there are many features, and the information outweighs the prior in every direction, return the answer itself
        instead. O(p²).
        """
        p, squares = self.n_features, self.peak[: self.n_features]
        if prior.ndim > 1 or self.n_samples == 0 or not prior.all():
            return None
        if not ((prior >= WEAKEST * squares) & (prior <= STRONGEST * squares)).all():
            return None
        if p >= CORRECTED * self.n_targets and self.n_samples - self.centered >= p:
            R, offset = self.matrix[:p], np.sqrt(self.total_weight) * np.abs(self.mean[:p])
            found = solve_by_corrections(R[:, :p], R[:, p:], prior, start, squares + prior, offset)
            if found is not None:
                return Corrected(found)
        top = empty_triangle(len(self.mean))
        np.fill_diagonal(top[:p, :p], np.sqrt(prior))
        top[:p, p:] = np.sqrt(prior)[:, None] * start
        factor = qr_update(top, self.matrix, triangular=True)
        return StackedFactor(replace(self, matrix=factor, peak=self.peak + column_squares(top)), prior, start)

    def _scaled(self, factor: float) -> Array:
        return np.asarray(self.matrix * np.sqrt(factor))

    def _solve(self, prior: Array, start: Array, about: Array, size: int, offset: Array) -> Solution:
        p = self.n_features
        R, z = np.hsplit(self.matrix[:p], [p])
        rhs = z - R @ about if about.any() else z
        if prior.any():
            return solve_penalized(R, rhs, psd_root(prior), start - about, size=size, offset=offset)
        return solve_triangle(R, rhs, size=size, offset=offset)
