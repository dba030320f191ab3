"""Information as centred co-moments: the fastest to add to, at half the digits."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from ridgeway._checks import Array
from ridgeway.data import Task
from ridgeway.errors import InvalidStateError
from ridgeway.information._base import Held, Information
from ridgeway.information._parts import TINY
from ridgeway.information._removal import digits_at_stake, refuse_removal
from ridgeway.kernels import Mean, comoment_update, comoments_of, triangular_factor
from ridgeway.linalg import (
    Solution,
    mirrored,
    psd_root,
    semidefinite_eigen,
    smallest_eigenvalue,
    solve_moments,
    tolerance,
)


class Moments(Information):
    """The information as the centred co-moments, Σ w·(a − ā)(a − ā)ᵀ over rows a = [x, y], no entry kept twice.

    Adding a task is one matrix product. The condition number is squared: columns that are collinear to 1e-8 cannot
    be told apart, while `SquareRoot` still has half of its digits.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.information import Moments
    >>> rows = np.array([[1.0, 2.0], [3.0, 5.0], [5.0, 5.0]])  # x, y
    >>> held = Moments.empty(1, 1, centered=True).add(Task.of(rows[:, :1], rows[:, 1:]))
    >>> np.allclose(held.moments(), 3 * np.cov(rows.T, bias=True))
    True
    """

    name = "moments"
    digits = 0.5
    collinear_within = "1e-7 ('moments' cannot tell)"
    more_digits = "give a larger prior, or start again with information='square_root'"

    def moments(self) -> Array:
        """Return Σ w·(a − ā)(a − ā)ᵀ, of shape (n_features + n_targets, n_features + n_targets)."""
        return mirrored(self.matrix)

    def times(self, columns: Array) -> Array:
        """Return moments()·columns. O(p²) per column."""
        S = self.matrix
        return np.asarray(S @ columns + S.T @ columns - S.diagonal()[:, None] * columns)

    def factor(self) -> Array:
        """Return a root of the co-moments, with half of their digits; directions that are rounding are zero. O(p³)."""
        p, moments = self.n_features, self.moments()
        R = np.zeros_like(moments)
        R[:p, :p] = psd_root(moments[:p, :p])
        R[:p, p:] = z = R[:p, :p] @ self.solve(np.zeros(p), np.zeros((p, self.n_targets))).coef
        values, vectors = semidefinite_eigen(moments[p:, p:] - z.T @ z)
        R[p:, p:] = triangular_factor(np.sqrt(values)[:, None] * vectors.T)
        return R

    def _combined(self, combine: Callable[[Array], Array]) -> Array:
        return np.asfortranarray(np.triu(combine(combine(self.moments()).T)))

    @classmethod
    def from_parts(cls, counts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Return the information that `to_parts` took apart, or raise `InvalidStateError`."""
        made = super().from_parts(counts, arrays)
        if (made.matrix.diagonal() < 0.0).any():
            raise InvalidStateError("co-moments must have no negative squares. Read an intact copy.")
        roots = np.sqrt(made.peak)
        if (np.maximum(made.matrix.max(axis=0), -made.matrix.min(axis=0)) / 2.0 > roots * roots.max() + TINY).any():
            raise InvalidStateError("co-moments must not exceed their sums of squares. Read an intact copy.")
        return made

    def _with_task(self, task: Task) -> Held:
        past = Mean(self.total_weight, self.mean, self.mean_low)
        update = comoment_update(self.matrix, past, task.X, task.y, task.sample_weight, centered=self.centered)
        peak = np.maximum(self.peak, update.matrix.diagonal())
        return Held(update.matrix, update.mean.high, update.mean.low, peak)

    def _with_other(self, other: Self) -> Held:
        matrix, mean = self.matrix + other.matrix, self.running_mean
        if self.centered and other.n_samples:
            mean, gap = mean.joined(other.running_mean)
            matrix = comoments_of(gap[None], matrix)
        return Held(matrix, mean.high, mean.low, np.maximum(self.peak + other.peak, matrix.diagonal()))

    def _without_task(self, task: Task) -> tuple[Held, float]:
        p, nothing = self.n_features, Mean.of_nothing(len(self.mean))
        gone = comoment_update(
            np.zeros_like(self.matrix), nothing, task.X, task.y, task.sample_weight, centered=self.centered
        )
        matrix, mean = self.matrix - gone.matrix, self.running_mean
        left = self.total_weight - gone.mean.weight
        if self.centered:
            mean, gap = mean.without(gone.mean)
            matrix = comoments_of(gap[None], matrix, -1.0)
        squares = matrix.diagonal()
        if not (squares[:p] > 0.0).all():
            raise refuse_removal()
        # The rounding of each entry is that of the largest it has been; what remains must stand out from it.
        noise = self.peak + self.matrix.diagonal()
        digits = digits_at_stake(noise, np.where(squares > tolerance(p) * noise, squares, 0.0), p)
        spread = float((left * np.square(mean.high[:p]) / squares[:p]).max())
        full = mirrored(matrix)
        smallest = smallest_eigenvalue(full[:p, :p])
        if not smallest > max(tolerance(p) * 10.0**digits, tolerance(p) ** 2 * spread):
            raise refuse_removal()
        residual = full[p:, p:] - full[p:, :p] @ solve_moments(matrix[:p, :p], full[:p, p:], size=p).coef
        if (np.diag(residual) < -tolerance(p) * 10.0**digits / smallest * noise[p:]).any():
            raise refuse_removal()
        return Held(matrix, mean.high, mean.low, noise), digits

    def with_prior(self, prior: Array, start: Array) -> None:
        """Return None: a prior is added to the squares when they are solved for."""

    def _scaled(self, factor: float) -> Array:
        return np.asarray(self.matrix * factor)

    def _solve(self, prior: Array, start: Array, about: Array, size: int, offset: Array) -> Solution:
        p = self.n_features
        S, right = np.hsplit(self.matrix[:p], [p])
        size = min(size + int(np.count_nonzero(prior)), p)
        if about.any():
            right = right - mirrored(S) @ about
        if prior.ndim == 1:
            return solve_moments(S, right + prior[:, None] * (start - about), size=size, offset=offset, prior=prior)
        return solve_moments(S + np.triu(prior), right + prior @ (start - about), size=size, offset=offset)
