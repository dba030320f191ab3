"""What every kind of information has in common: counts, means, and how two pasts are put together."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ridgeway._validation import Task
from ridgeway.errors import InvalidDataError, MergeError, RemovalError
from ridgeway.linalg import Rows, Solution

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Information(ABC):
    """What the past leaves behind: all that later answers need, and no row.

    A value: `add`, `merge`, `remove` and `decayed` return a new one. The columns of `mean`, `mean_low`, `matrix` and
    `peak` are those of X followed by those of y.

    Attributes
    ----------
    n_features, n_targets : int
    centered : bool
        Whether the rows are centred at their means (an intercept is fitted) or taken about the origin.
    n_samples : int
        Rows seen, rows of weight zero aside.
    total_weight, log_weight : float
        Σw and Σ log w over the rows.
    mean, mean_low : ndarray of shape (n_features + n_targets,)
        The weighted means, as a sum of two so that a large offset costs no digits; zero if not `centered`.
    matrix : ndarray of shape (n_features + n_targets, n_features + n_targets)
        The centred information, in the form that the kind says.
    peak : ndarray of shape (n_features + n_targets,)
        The largest that each column's sum of squares has been: the scale of the rounding that `matrix` carries.
    digits_lost : float
        Decimal digits that removals may have cost.
    """

    n_features: int
    n_targets: int
    centered: bool
    n_samples: int
    total_weight: float
    log_weight: float
    mean: Array
    mean_low: Array
    matrix: Array
    peak: Array
    digits_lost: float

    def __post_init__(self) -> None:
        for array in (self.mean, self.mean_low, self.matrix, self.peak):
            array.flags.writeable = False

    @classmethod
    def empty(cls, n_features: int, n_targets: int, *, centered: bool) -> Self:
        """Return the information of no rows."""
        width = n_features + n_targets
        zeros, matrix = np.zeros(width), np.zeros((width, width), order="F")
        return cls(n_features, n_targets, centered, 0, 0.0, 0.0, zeros, zeros, matrix, zeros, 0.0)

    def add(self, task: Task) -> Self:
        """Return the information with a task's rows added. O(n·p²)."""
        rows = Rows(task, center=self.centered)
        total, gap, mean, mean_low = self._meet(rows.mean, rows.mean_low, rows.total_weight)
        matrix = self._with_rows(rows, gap)
        if not np.isfinite(matrix).all():
            raise InvalidDataError("the information overflows with this task. Change the unit of its columns.")
        return replace(
            self,
            n_samples=self.n_samples + task.n_samples,
            total_weight=total,
            log_weight=self.log_weight + task.log_weight,
            mean=mean,
            mean_low=mean_low,
            matrix=matrix,
            peak=np.maximum(self.peak, self._squares(matrix)),
        )

    def merge(self, other: Self) -> Self:
        """Return the information of both pasts. O(p³) at most."""
        mine, theirs = (type(i).__name__ for i in (self, other))
        differences = [
            f"{what}: {one} and {two}"
            for what, one, two in (
                ("kind", mine, theirs),
                ("features", self.n_features, other.n_features),
                ("targets", self.n_targets, other.n_targets),
                ("intercept", self.centered, other.centered),
            )
            if one != two
        ]
        if differences:
            raise MergeError(f"cannot merge information that differs in {'; '.join(differences)}.")
        total, gap, mean, mean_low = self._meet(other.mean, other.mean_low, other.total_weight)
        matrix = self._with_matrix(other.matrix, gap)
        if not np.isfinite(matrix).all():
            raise MergeError("the merged information overflows. Change the unit of the columns in both models.")
        return replace(
            self,
            n_samples=self.n_samples + other.n_samples,
            total_weight=total,
            log_weight=self.log_weight + other.log_weight,
            mean=mean,
            mean_low=mean_low,
            matrix=matrix,
            peak=np.maximum(self.peak + other.peak, self._squares(matrix)),
            digits_lost=max(self.digits_lost, other.digits_lost),
        )

    def remove(self, task: Task) -> Self:
        """Return the information as if `task` had never been added, or raise `RemovalError`. O((n + p)·p²).

        What remains must be safely of full rank: a direction that only the removed rows knew is gone for good, and
        rounding would stand in its place.
        """
        rows = Rows(task, center=self.centered)
        left = self.total_weight - rows.total_weight
        if task.n_samples >= self.n_samples or left <= 0.0:
            raise RemovalError(
                f"cannot remove {task.n_samples} rows of weight {rows.total_weight:g} from {self.n_samples} rows of "
                f"weight {self.total_weight:g}: nothing would remain. Remove a task that was learned, or start anew."
            )
        gap = np.zeros_like(self.mean)
        mean, mean_low = self.mean, self.mean_low
        if self.centered:
            apart = (rows.mean - self.mean) + (rows.mean_low - self.mean_low)
            mean, mean_low = _two_sum(self.mean, self.mean_low - apart * (rows.total_weight / left))
            gap = apart * np.sqrt(rows.total_weight * (self.total_weight / left))
        offset = np.sqrt(left) * np.abs(mean[: self.n_features])
        matrix, digits = self._without_rows(rows, gap, offset)
        return replace(
            self,
            n_samples=self.n_samples - task.n_samples,
            total_weight=left,
            log_weight=self.log_weight - task.log_weight,
            mean=mean,
            mean_low=mean_low,
            matrix=matrix,
            digits_lost=max(self.digits_lost, digits),
        )

    def decayed(self, factor: float) -> Self:
        """Return the information with every row's weight multiplied by `factor`."""
        return replace(
            self,
            total_weight=self.total_weight * factor,
            log_weight=self.log_weight + self.n_samples * float(np.log(factor)),
            matrix=self._scaled(factor),
            peak=self.peak * factor,
        )

    def solve(self, prior: Array, start: Array) -> Solution:
        """Return the minimiser of Σ w·(y − x·w − b)² + ‖w − start‖²_prior, nearest to `start` where not unique.

        Parameters
        ----------
        prior : ndarray of shape (n_features,), a diagonal, or (n_features, n_features)
        start : ndarray of shape (n_features, n_targets)
        """
        size = min(self.n_samples, self.n_features) if not prior.any() else self.n_features
        offset = np.sqrt(self.total_weight) * np.abs(self.mean[: self.n_features])
        solution = self._solve(prior, start, size, offset)
        return replace(solution, coef=start + solution.coef)

    def intercept(self, coef: Array) -> Array:
        """Return the intercepts (n_targets,) that go with `coef` (n_features, n_targets): ȳ − x̄·coef."""
        p = self.n_features
        high = self.mean[p:] - self.mean[:p] @ coef
        return np.asarray(high + (self.mean_low[p:] - self.mean_low[:p] @ coef))

    def _meet(self, mean: Array, mean_low: Array, weight: float) -> tuple[float, Array, Array, Array]:
        """Return the common weight, the row that stands for the gap between two means, and the common mean."""
        total = self.total_weight + weight
        if not self.centered or self.n_samples == 0:
            return total, np.zeros_like(mean), mean, mean_low
        apart = (mean - self.mean) + (mean_low - self.mean_low)
        gap = apart * np.sqrt(self.total_weight * (weight / total))  # Chan, Golub and LeVeque (1983)
        return total, gap, *_two_sum(self.mean, self.mean_low + apart * (weight / total))

    @abstractmethod
    def _squares(self, matrix: Array) -> Array:
        """Return each column's sum of squares."""

    @abstractmethod
    def _with_rows(self, rows: Rows, gap: Array) -> Array: ...

    @abstractmethod
    def _with_matrix(self, matrix: Array, gap: Array) -> Array: ...

    @abstractmethod
    def _without_rows(self, rows: Rows, gap: Array, offset: Array) -> tuple[Array, float]: ...

    @abstractmethod
    def _scaled(self, factor: float) -> Array: ...

    @abstractmethod
    def _solve(self, prior: Array, start: Array, size: int, offset: Array) -> Solution: ...


def refuse_removal() -> RemovalError:
    """Return the error for a removal that would leave too little."""
    return RemovalError(
        "what would remain is not safely of full rank: the rows to remove hold all that is known about some direction "
        "of the features, or they were never learned. Keep the task, or learn the remaining tasks anew."
    )


def _two_sum(high: Array, low: Array) -> tuple[Array, Array]:
    """Return high + low as a rounded sum and what rounding left out (Knuth's two-sum)."""
    total = high + low
    back = total - high
    return total, (high - (total - back)) + (low - back)
