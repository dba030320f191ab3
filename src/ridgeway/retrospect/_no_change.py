"""What chance does if nothing changes: noise drawn from the state itself, divided by its own estimated size.

A draw replaces the targets by noise: X_gᵀy_g − S_gβ ~ N(0, σ²S_g), and the residual squares of each task's own fit are
independent of it, σ²·χ². Least squares does not depend on β, nor on σ² once divided by its estimate.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ridgeway._checks import Array
from ridgeway.data import listed
from ridgeway.errors import InferenceError
from ridgeway.kernels import triangular_factor
from ridgeway.retrospect._reduced_tasks import ReducedTasks, refuse_exact_fit
from ridgeway.retrospect._units import check_range, lengths

DRAWS = 1999
"""With these, the probability of a false alarm is a multiple of 1/2000."""
SEED = 0
MOST_NUMBERS = 2**25
"""How many numbers may be kept at a time."""


def _batches(numbers: int) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield a generator, and how many draws to take from it at a time such that `numbers` can be kept for each."""
    rng = np.random.default_rng(SEED)
    most = max(MOST_NUMBERS // numbers, 1)
    for first in range(0, DRAWS, most):
        yield rng, min(most, DRAWS - first)


class Targets(NamedTuple):
    """m sets of targets, and the squares that the own coefficients of each task leave of them.

    Attributes
    ----------
    right : ndarray of shape (Σ rank, m, n_targets)
    squares : ndarray of shape (m,)
    """

    right: Array
    squares: Array


@dataclass(frozen=True, eq=False)
class CommonNoise:
    """Tasks whose coefficients do not change, all with the same noise.

    The noise of several targets may be dependent, and is made independent.

    Attributes
    ----------
    tasks : ReducedTasks
    freedom : int
        The degrees of freedom of `Targets.squares`.
    """

    tasks: ReducedTasks
    freedom: int

    @classmethod
    def of(cls, tasks: ReducedTasks) -> "CommonNoise":
        """Return it with the noise that is left within the tasks, or raise if several targets leave too little."""
        freedom, k = int(tasks.freedom.sum()), tasks.right.shape[1]
        if k > 1 and freedom < k:
            raise InferenceError(
                f"{k} targets need at least {k} degrees of freedom within tasks to estimate their noise; got "
                f"{freedom}. Learn tasks with more rows."
            )
        return cls(tasks, freedom)

    def observed(self) -> Targets:
        """Return the targets less the fit of all tasks, divided by the root of the covariance within tasks, if any."""
        right, k = self.tasks.about_fit(self.tasks.right)[:, None], self.tasks.right.shape[1]
        if self.freedom == 0:
            return Targets(right, np.zeros(1))
        root = triangular_factor(self.tasks.left.reshape(-1, k))
        refuse_exact_fit(self.tasks, np.square(np.diagonal(root)))
        return Targets(_over(right, root[None] / np.sqrt(self.freedom)), np.full(1, float(self.freedom)))

    def draws(self) -> Iterator[Targets]:
        """Yield all draws, a few at a time."""
        for rng, m in _batches(self.tasks.right.size):
            yield self._drawn(rng, m)

    def _drawn(self, rng: np.random.Generator, m: int) -> Targets:
        """Return noise, divided by a root of the Wishart matrix that estimates its covariance."""
        n, k = self.tasks.right.shape
        right = rng.standard_normal((n, m, k))
        if self.freedom == 0:
            return Targets(right, np.zeros(m))
        root = np.triu(rng.standard_normal((m, k, k)), 1)  # Bartlett's decomposition
        root[:, np.arange(k), np.arange(k)] = np.sqrt(rng.chisquare(self.freedom - np.arange(k), (m, k)))
        return Targets(_over(right, root / np.sqrt(self.freedom)), np.full(m, float(self.freedom)))


@dataclass(frozen=True, eq=False)
class OwnNoise:
    """Tasks whose coefficients do not change, each with its own noise.

    Attributes
    ----------
    tasks : ReducedTasks
        Their rows are divided by the standard deviation of the noise that they show.
    """

    tasks: ReducedTasks

    @classmethod
    def of(cls, tasks: ReducedTasks) -> "OwnNoise":
        """Return it, or raise if a task cannot say how noisy it is."""
        if tasks.left.shape[2] > 1:
            raise InferenceError(
                "a search for changes is about one target, and this model has several. Learn each target in a model of "
                "its own, or ask retrospect.cusum."
            )
        few = [name for name, freedom in zip(tasks.names, tasks.freedom, strict=True) if freedom < 1]
        if few:
            raise InferenceError(
                "a search for changes needs more rows than coefficients in every task, to estimate its noise; too few "
                f"in {listed(few)}. Leave these tasks out (retrospect.reweighted, with the weight 0), or ask "
                "retrospect.cusum."
            )
        squares = tasks.residual_squares()
        refuse_exact_fit(tasks, squares * (tasks.total_weight.sum() / tasks.total_weight)[:, None])
        divided = tasks.divided(np.sqrt(squares[:, 0] / tasks.freedom))
        check_range(lengths(np.vstack(divided.rows), 0), "the square of a feature divided by the noise variance")
        return cls(divided)

    def observed(self) -> Array:
        """Return the targets less the fit of all tasks, (Σ rank, 1); their noise is 1."""
        return self.tasks.about_fit(self.tasks.right)

    def draws(self, numbers: int) -> Iterator[Array]:
        """Yield all draws, (Σ rank, m), a few at a time, such that `numbers` can be kept for each.

        The variance in a task is drawn given its estimate, ν/χ²_ν.
        """
        sizes = [len(rows) for rows in self.tasks.rows]
        freedom = self.tasks.freedom[:, None]
        for rng, m in _batches(max(numbers, sum(sizes))):
            spread = np.sqrt(freedom / rng.chisquare(freedom, (len(freedom), m)))
            yield rng.standard_normal((sum(sizes), m)) * np.repeat(spread, sizes, axis=0)


def _over(right: Array, root: Array) -> Array:
    """Return right·root⁻¹ for rows (n, m, k) and upper triangular matrices (m, k, k)."""
    columns: list[Array] = []
    for j in range(right.shape[2]):
        known = sum((column * root[:, i, j] for i, column in enumerate(columns)), np.zeros(right.shape[:2]))
        columns.append((right[..., j] - known) / root[:, j, j])
    return np.stack(columns, axis=-1)
