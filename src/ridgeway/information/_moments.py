"""Information as centred co-moments: the fastest to add to, at half the digits."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import Task
from ridgeway.errors import InvalidStateError
from ridgeway.information._base import Held, Information, digits_at_stake, refuse_removal
from ridgeway.information._solver import PlainSolver
from ridgeway.linalg import (
    SMALL,
    Products,
    Rows,
    RunningMean,
    Solution,
    mirrored,
    packed,
    psd_root,
    semidefinite_eigen,
    smallest_eigenvalue,
    solve_moments,
    tolerance,
    triangular_root,
    two_sum,
    unpacked,
)

Array = NDArray[np.float64]


class Moments(Information):
    """The information as the centred co-moments, Σ w·(a − ā)(a − ā)ᵀ over rows a = [x, y], no entry kept twice.

    Adding a task is one matrix product. The condition number is squared: columns that are collinear to 1e-8 cannot
    be told apart, where `SquareRoot` still has half of its digits.
    """

    name = "moments"
    more_digits = ", or start again with information='square_root'"

    @property
    def products(self) -> Products:
        """The co-moments in parts."""
        return Products(self.matrix, self.n_features, self.n_targets)

    def moments(self) -> Array:
        """Return Σ w·(a − ā)(a − ā)ᵀ, of shape (n_features + n_targets, n_features + n_targets)."""
        return mirrored(self.products.upper())

    def factor(self) -> Array:
        """Return a root of the co-moments, with half of their digits; directions that are rounding are zero. O(p³)."""
        p, moments = self.n_features, self.moments()
        R = np.zeros_like(moments)
        R[:p, :p] = psd_root(moments[:p, :p])
        R[:p, p:] = z = R[:p, :p] @ self.solve(np.zeros(p), np.zeros((p, self.n_targets))).coef
        values, vectors = semidefinite_eigen(moments[p:, p:] - z.T @ z)
        R[p:, p:] = triangular_root(np.sqrt(values)[:, None] * vectors.T)
        return R

    def _selected(self, kept: NDArray[np.intp]) -> Array:
        return self._from_triangle(self.moments()[np.ix_(kept, kept)], self.n_targets)

    @staticmethod
    def _zero(n_features: int, n_targets: int) -> Array:
        return Products.zero(n_features, n_targets).flat

    def _triangle(self) -> Array:
        return self.products.upper()

    @staticmethod
    def _from_triangle(triangle: Array, n_targets: int) -> Array:
        return Products.from_upper(triangle, n_targets).flat

    @staticmethod
    def _check_form(triangle: Array) -> None:
        if np.tril(triangle, -1).any() or (np.diag(triangle) < 0.0).any():
            raise InvalidStateError(
                "co-moments must be an upper triangle with no negative square. Read an intact copy."
            )

    def _with_task(self, task: Task) -> Held:
        so_far = RunningMean(self.total_weight, self.mean, self.mean_low)
        blocks = Rows(task).centred_blocks(so_far, "C") if self.centered else Rows(task).blocks("C")
        narrow = len(self.mean) < min(SMALL, task.n_samples / 2)
        products = self.products.plus_narrow(blocks) if narrow else self.products.plus(blocks)
        return Held(products.flat, so_far.high, so_far.low, np.maximum(self.peak, products.diagonal))

    def _with_other(self, other: Self) -> Held:
        so_far = RunningMean(self.total_weight, self.mean, self.mean_low)
        products = self.products._replace(flat=self.matrix + other.matrix)
        if self.centered and other.n_samples:
            gap = so_far.join(other.total_weight, other.mean, other.mean_low)
            products = products.plus([gap[None]])
        return Held(products.flat, so_far.high, so_far.low, np.maximum(self.peak + other.peak, products.diagonal))

    def _without_task(self, task: Task, left: float) -> tuple[Held, float]:
        p = self.n_features
        gone = self.empty(p, self.n_targets, centered=self.centered)._with_task(task)
        mean, mean_low = self.mean, self.mean_low
        products = self.products._replace(flat=self.matrix - gone.matrix)
        if self.centered:
            apart = (gone.mean - mean) + (gone.mean_low - mean_low)
            mean, mean_low = two_sum(mean, mean_low - apart * (task.total_weight / left))
            products = products.plus([apart[None]], -task.total_weight * (self.total_weight / left))
        squares = products.diagonal
        if not (squares[:p] > 0.0).all():
            raise refuse_removal()
        # The rounding of each entry is that of the largest it has been; what remains must stand out from it.
        noise = self.peak + self.products.diagonal
        digits = digits_at_stake(noise, np.where(squares > tolerance(p) * noise, squares, 0.0), p)
        spread = float((left * np.square(mean[:p]) / squares[:p]).max())
        full = mirrored(products.upper())
        smallest = smallest_eigenvalue(full[:p, :p])
        if not smallest > max(tolerance(p) * 10.0**digits, tolerance(p) ** 2 * spread):
            raise refuse_removal()
        residual = full[p:, p:] - full[p:, :p] @ solve_moments(products.squares, full[:p, p:], size=p).coef
        if (np.diag(residual) < -tolerance(p) * 10.0**digits / smallest * noise[p:]).any():
            raise refuse_removal()
        return Held(products.flat, mean, mean_low, noise), digits

    def solver(self, prior: Array, start: Array) -> PlainSolver:
        """Return what solves as `solve` does: a prior is added to squares when they are solved for."""
        return PlainSolver(self, prior, start)

    def _scaled(self, factor: float) -> Array:
        return np.asarray(self.matrix * factor)

    def _solve(self, prior: Array, start: Array, origin: Array, size: int, offset: Array) -> Solution:
        p = self.n_features
        S, right = self.products.squares, self.products.targets[:p].copy()
        if origin.any():
            right -= mirrored(unpacked(S, p)) @ origin
        if prior.ndim == 1:
            return solve_moments(S, right + prior[:, None] * (start - origin), size=size, offset=offset, prior=prior)
        return solve_moments(S + packed(prior), right + prior @ (start - origin), size=size, offset=offset)
