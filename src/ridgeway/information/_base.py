"""What every kind of information has in common: counts, means, and how two pasts are put together."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.data import LARGEST, Task, check_values, dense
from ridgeway.errors import InvalidDataError, MergeError, RemovalError
from ridgeway.information._parts import put_together, taken_apart
from ridgeway.information._removal import refuse_removal
from ridgeway.information._reshaped import (
    checked_map,
    checked_past,
    less_rounding,
    mapped_mean,
    places_of,
    spread_triangle,
    varying_columns,
    with_targets,
)
from ridgeway.information._underflow import SMALLEST, warn_of_underflow
from ridgeway.kernels import Mean, single_threaded
from ridgeway.linalg import EPS, Solution, empty_triangle, tolerance


class Held(NamedTuple):
    """A matrix, the means that it is centred at, and the scale of the rounding that it carries."""

    matrix: Array
    mean: Array
    mean_low: Array
    peak: Array


class WithPrior(Protocol):
    """Information and a prior, ready to be solved in O(p²).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge
    >>> held = GeneralizedRidge().fit([[1.0], [2.0], [4.0]], [1.0, 3.0, 4.0]).information_
    >>> prior, start = np.array([2.0]), np.zeros((1, 1))
    >>> ready = held.with_prior(prior, start)
    >>> np.allclose(ready.solve().coef, held.solve(prior, start).coef)
    True
    """

    def solve(self) -> Solution:
        """Return the minimiser of Σ w·(y − x·w − b)² + ‖w − start‖²_prior."""

    def after(self, task: Task, decay: float = 1.0) -> "WithPrior | None":
        """Return the same with everything multiplied by `decay` and a task added, or None if it gains nothing."""


@dataclass(frozen=True, eq=False)
class Information(ABC):
    """What the past leaves behind: all that later answers need, and no row.

    A value: `add`, `merge`, `remove` and `scaled` return a new one. The columns of `mean`, `mean_low` and `peak`, and
    those that `matrix` stands for, are those of X followed by those of y.

    Attributes
    ----------
    n_features, n_targets : int
    centered : bool
        Whether the rows are centred at their means (an intercept is fitted) or taken about the origin.
    n_samples : int
        Rows seen, not counting rows of weight zero.
    total_weight, log_weight : float
        Σw and Σ log w over the rows.
    mean, mean_low : ndarray of shape (n_features + n_targets,)
        The weighted means, as a sum of two numbers, so that a large offset costs no digits; zero if not `centered`.
    matrix : ndarray of shape (n_features + n_targets, n_features + n_targets)
        The centred information: an upper triangle, whose meaning depends on the kind.
    peak : ndarray of shape (n_features + n_targets,)
        The scale of the rounding that `matrix` carries: the largest value that each column's sum of squares has had,
        plus its value at each removal.
    digits_lost : float
        Decimal digits that removals may have cost.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge
    >>> X, y = np.array([[1.0], [2.0], [4.0], [5.0]]), np.array([1.0, 3.0, 4.0, 4.0])
    >>> cuts = slice(4), slice(2), slice(2, 4)
    >>> whole, one, two = (GeneralizedRidge().fit(X[c], y[c]).information_ for c in cuts)
    >>> np.allclose(one.merge(two).moments(), whole.moments())
    True
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

    name: ClassVar[str]
    """What a user calls this kind."""
    digits: ClassVar[float]
    """The share of the digits of a column's norm that are kept."""
    more_digits: ClassVar[str]
    """What a warning about lost digits recommends, besides dropping a column."""
    collinear_within: ClassVar[str] = "rounding"
    """How nearly collinear columns cannot be told from collinear ones, as such a warning says it."""

    def __post_init__(self) -> None:
        for array in (self.mean, self.mean_low, self.matrix, self.peak):
            array.flags.writeable = False

    @classmethod
    def empty(cls, n_features: int, n_targets: int, *, centered: bool) -> Self:
        """Return the information of no rows."""
        zeros, matrix = np.zeros(n_features + n_targets), empty_triangle(n_features + n_targets)
        return cls(n_features, n_targets, centered, 0, 0.0, 0.0, zeros, zeros, matrix, zeros, 0.0)

    @property
    def setting(self) -> str:
        """How such information is asked for."""
        return self.name

    @property
    def plain(self) -> "Information":
        """The same, without what is kept of a single part only: what is merged."""
        return self

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return counts and arrays, both by name: `from_parts` restores the same, bit for bit."""
        return taken_apart(self)

    @classmethod
    def from_parts(cls, counts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Return the information that `to_parts` took apart, or raise `InvalidStateError`."""
        return cls(**put_together(counts, arrays))

    def add(self, task: Task) -> Self:
        """Return the information with a task's rows added. O(n·p²).

        Raises `InvalidDataError` if a value is not finite, which shows in the sums, or overflows once squared.
        """
        held = self._with_task(task)
        if not (held.peak.max() <= LARGEST**2 and np.abs(held.mean).max() <= LARGEST):
            check_values(task)
            if not np.isfinite(held.peak).all():
                raise InvalidDataError("the information overflows with this task. Change the units of its columns.")
        if held.peak.min() < SMALLEST:
            warn_of_underflow(task, held.peak, centered=self.centered)
        return replace(
            self,
            n_samples=self.n_samples + task.n_samples,
            total_weight=self.total_weight + task.total_weight,
            log_weight=self.log_weight + task.log_weight,
            **held._asdict(),
        )

    @property
    def running_mean(self) -> Mean:
        """The means, with the weight of the rows that they are the means of."""
        return Mean(self.total_weight, self.mean, self.mean_low)

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
        held = self._with_other(other)
        if not np.isfinite(held.peak).all():
            raise MergeError("the merged information overflows. Change the units of the columns in both models.")
        return replace(
            self,
            n_samples=self.n_samples + other.n_samples,
            total_weight=self.total_weight + other.total_weight,
            log_weight=self.log_weight + other.log_weight,
            **held._asdict(),
            digits_lost=max(self.digits_lost, other.digits_lost),
        )

    def remove(self, task: Task) -> Self:
        """Return the information as if `task` had never been added, or raise `RemovalError`. O((n + p)·p²).

        What remains must clearly have full rank: a direction that only the removed rows determined would be left with
        rounding errors. Columns that never varied do not count.
        """
        check_values(task)
        left = self.total_weight - task.total_weight
        if task.n_samples >= self.n_samples or left <= 0.0:
            raise RemovalError(
                f"cannot remove {counted(task.n_samples, 'row')} of weight {task.total_weight:g} from "
                f"{counted(self.n_samples, 'row')} of "
                f"weight {self.total_weight:g}: nothing would remain. Remove a task that was learned."
            )
        varies = varying_columns(self)
        if not varies.all():
            return self._remove_among(varies, task)
        with single_threaded():  # the same bits with any number of threads
            held, digits = self._without_task(task)
        return replace(
            self,
            n_samples=self.n_samples - task.n_samples,
            total_weight=left,
            log_weight=self.log_weight - task.log_weight,
            **held._asdict(),
            digits_lost=max(self.digits_lost, digits),
        )

    def _remove_among(self, varies: NDArray[np.bool_], task: Task) -> Self:
        """Remove a task from the columns that vary; the others stay what they are in its rows too."""
        X, y = varies[: self.n_features], varies[self.n_features :]
        past = self.mean + self.mean_low
        rows, constants = np.hstack([dense(task.X[:, ~X]), task.y[:, ~y]]), past[~varies]
        if (np.abs(rows - constants) > EPS * np.abs(constants)).any():
            raise refuse_removal()
        n_features, n_targets = int(X.sum()), int(y.sum())
        gone = replace(task, X=task.X[:, X], y=task.y[:, y], n_features=n_features, n_targets=n_targets)
        rest = self._restricted(np.flatnonzero(varies), n_features).remove(gone)
        features, targets = (np.where(kept, np.cumsum(kept) - 1, -1) for kept in (X, y))
        return rest.widened(features, targets, past)

    def scaled(self, factor: float) -> Self:
        """Return the information with every row's weight multiplied by `factor`."""
        return replace(
            self,
            total_weight=self.total_weight * factor,
            log_weight=self.log_weight + self.n_samples * float(np.log(factor)),
            matrix=self._scaled(factor),
            peak=self.peak * factor,
        )

    def thinned(self, share: float) -> Self:
        """Return the information as if only a share of the rows had been seen, the same in all else."""
        return replace(
            self.scaled(share),
            n_samples=max(round(self.n_samples * share), 1),
            log_weight=self.log_weight * share,
        )

    def solve(self, prior: Array, start: Array) -> Solution:
        """Return the minimiser of Σ w·(y − x·w − b)² + ‖w − start‖²_prior, nearest to `start` if not unique.

        Parameters
        ----------
        prior : ndarray of shape (n_features,), a diagonal, or (n_features, n_features)
        start : ndarray of shape (n_features, n_targets)
        """
        size = min(self.n_samples - self.centered, self.n_features)
        offset = np.sqrt(self.total_weight) * np.abs(self.mean[: self.n_features])  # what centring took off
        solution = self._solve(prior, start, np.zeros_like(start), size, offset)
        if solution.rank == self.n_features or not start.any():
            return solution
        nearest = self._solve(prior, start, start, size, offset)  # as a change from `start`, the least there is
        return replace(nearest, coef=start + nearest.coef)

    @abstractmethod
    def with_prior(self, prior: Array, start: Array) -> "WithPrior | None":
        """Return the information with a prior on top, as if it were rows, or None if that gains nothing."""

    def intercept(self, coef: Array) -> Array:
        """Return the intercepts (n_targets,) that go with `coef` (n_features, n_targets): ȳ − x̄·coef."""
        p = self.n_features
        high = self.mean[p:] - self.mean[:p] @ coef
        return np.asarray(high + (self.mean_low[p:] - self.mean_low[:p] @ coef))

    def moments(self) -> Array:
        """Return Σ w·(a − ā)(a − ā)ᵀ over rows a = [x, y], of shape (n_features + n_targets, …). O(p³) at most."""
        R = self.factor()
        return np.asarray(R.T @ R)

    def times(self, columns: Array) -> Array:
        """Return moments()·columns, without forming the moments. O(p²) per column."""
        R = self.factor()
        return np.asarray(R.T @ (R @ columns))

    def select(self, columns: NDArray[np.intp]) -> Self:
        """Return the information of the same rows with fewer features, in the order of `columns`. O(p³) at most."""
        return self._restricted(np.r_[columns, self.n_features : len(self.mean)], len(columns))

    def _restricted(self, kept: NDArray[np.intp], n_features: int) -> Self:
        """Return the information of these columns, of which the first are features."""
        return replace(
            self,
            n_features=n_features,
            n_targets=len(kept) - n_features,
            mean=self.mean[kept],
            mean_low=self.mean_low[kept],
            matrix=self._combined(lambda rows: rows[:, kept]),
            peak=self.peak[kept],
        )

    def widened(self, features: NDArray[np.intp], targets: NDArray[np.intp], past: Array) -> Self:
        """Return the information of the same rows with more columns, which were constant. O(p³) at most.

        As if they had been there from the start; columns that keep their order keep their bits.

        Parameters
        ----------
        features, targets : for each the position of the old one that it is, or −1 if it is new
        past : ndarray of shape (n_features + n_targets,), what each new column was in every past row; 0 if not centred
        """
        places = places_of(features, targets, self)
        new = places < 0
        past = checked_past(past, new, centered=self.centered)
        kept = places[~new]
        matrix = self.matrix if (np.diff(kept) > 0).all() else self._combined(lambda rows: rows[:, kept])
        mean, mean_low, peak = (np.append(values, 0.0)[places] for values in (self.mean, self.mean_low, self.peak))
        return replace(
            self,
            n_features=len(features),
            n_targets=len(targets),
            mean=np.where(new, past, mean) if self.n_samples else mean,
            mean_low=mean_low,
            matrix=spread_triangle(matrix, np.flatnonzero(~new), len(new)),
            peak=peak,
        )

    def with_targets(self, targets: NDArray[np.intp]) -> Self:
        """Return the information of the same rows with other targets: the old ones at these places, 0 for −1."""
        changed: Self = with_targets(self, targets)
        return changed

    def mapped(self, matrix: Array, shift: Array) -> Self:
        """Return the information of the same rows, the features being x·matrix + shift instead of x. O(p³).

        Parameters
        ----------
        matrix : ndarray of shape (n_features, q)
        shift : ndarray of shape (q,), zero if not centred
        """
        checked_map(matrix, shift, self)
        (p, q), k = matrix.shape, self.n_targets
        # The norms of the columns' rounding errors, which are as the roots of the peaks, add up at most.
        roots = np.sqrt(self.peak[:p]) @ np.abs(matrix)
        least = 8.0 * tolerance(p) ** self.digits  # the plain kernels round more than those of LAPACK
        exact = less_rounding(self.factor()[:p, :p] @ matrix, roots, least)
        whole = np.eye(p + k, q + k, k=q - p)
        whole[:p, :q] = matrix @ exact
        constant = np.asarray(~exact.any(axis=0))
        mean, mean_low = mapped_mean(self, matrix, shift if self.n_samples else np.zeros(q), constant)
        return replace(
            self,
            n_features=q,
            mean=mean,
            mean_low=mean_low,
            matrix=self._combined(lambda rows: rows @ whole),
            peak=np.append(np.where(constant, 0.0, np.square(roots)), self.peak[p:]),
        )

    @abstractmethod
    def factor(self) -> Array:
        """Return an upper triangular [[R_x, z], [0, R_y]] whose square is the matrix of centred co-moments."""

    @abstractmethod
    def _combined(self, combine: Callable[[Array], Array]) -> Array:
        """Return the matrix of other columns, which `combine` makes from the columns of any rows."""

    @abstractmethod
    def _with_task(self, task: Task) -> Held:
        """Return what is held once a task's rows are added."""

    @abstractmethod
    def _with_other(self, other: Self) -> Held:
        """Return what is held once another's rows are added."""

    @abstractmethod
    def _without_task(self, task: Task) -> tuple[Held, float]:
        """Return what is held once a task's rows are gone, and the digits lost."""

    @abstractmethod
    def _scaled(self, factor: float) -> Array:
        """Return the matrix with every row's weight multiplied by `factor`."""

    @abstractmethod
    def _solve(self, prior: Array, start: Array, about: Array, size: int, offset: Array) -> Solution:
        """Return the difference from `about` that solves the system, the prior being about `start`.

        `size` is the smaller side of the rows, and `offset` the norms of what centring took off their columns.
        """
