"""All rows ever seen: what the oracle keeps. A yardstick, not a method."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ridgeway._checks import Array
from ridgeway.data import Task, check_values
from ridgeway.linalg import Solution, pooled_factor, pooled_least_squares, pooled_means


@dataclass(frozen=True, eq=False)
class AllRows:
    """The tasks themselves. Least squares on them uses its own code, so that agreement with it is meaningful.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, Oracle
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 3.0, 4.0])
    >>> kept = Oracle().fit(X, y).state_.information
    >>> kept.tasks[0].X.tolist() == X.tolist()  # the rows themselves
    True
    >>> R = GeneralizedRidge().fit(X, y).information_.factor()
    >>> np.allclose(kept.factor().T @ kept.factor(), R.T @ R)
    True
    """

    n_features: int
    n_targets: int
    centered: bool
    tasks: tuple[Task, ...] = ()

    name = "all_rows"
    more_digits = "or use GeneralizedRidge with a prior"
    collinear_within = "rounding"
    digits_lost = 0.0

    @classmethod
    def empty(cls, n_features: int, n_targets: int, *, centered: bool) -> "AllRows":
        """Return no rows."""
        return cls(n_features, n_targets, centered)

    @property
    def n_samples(self) -> int:
        """Rows kept."""
        return sum(task.n_samples for task in self.tasks)

    @property
    def total_weight(self) -> float:
        """Σw over the rows."""
        return sum(task.total_weight for task in self.tasks)

    def add(self, task: Task) -> "AllRows":
        """Keep a copy of a task's rows: the caller may reuse the arrays."""
        check_values(task)
        weight = None if task.sample_weight is None else task.sample_weight.copy()
        kept = replace(task, X=task.X.copy(), y=task.y.copy(), sample_weight=weight)
        return replace(self, tasks=(*self.tasks, kept))

    def with_prior(self, prior: Array, start: Array) -> None:
        """Return None: the prior is ignored."""

    def solve(self, prior: Array, start: Array) -> Solution:
        """Return least squares on all rows, nearest to `start` if not unique. The prior is ignored. O(n·p²)."""
        offset = np.sqrt(self.total_weight) * np.abs(self.mean[: self.n_features])
        size = min(self.n_samples - self.centered, self.n_features)
        return pooled_least_squares(self.factor(), start, size=size, offset=offset)

    def intercept(self, coef: Array) -> Array:
        """Return ȳ − x̄·coef over all rows, or zeros without an intercept."""
        p = self.n_features
        high = self.mean[p:] - self.mean[:p] @ coef
        return np.asarray(high + (self.mean_low[p:] - self.mean_low[:p] @ coef))

    def factor(self) -> Array:
        """Return the triangular factor of all rows [X, y] about their means."""
        return self._factor

    @property
    def mean(self) -> Array:
        """The weighted means of [X, y]; zeros without an intercept."""
        return self._means[0]

    @property
    def mean_low(self) -> Array:
        """What rounding left out of `mean`."""
        return self._means[1]

    @cached_property
    def _means(self) -> tuple[Array, Array]:
        return pooled_means(self.tasks, centered=self.centered)

    @cached_property
    def _factor(self) -> Array:
        return pooled_factor(self.tasks, *self._means)
