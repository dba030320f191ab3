"""What every kind of information has in common: counts, means, and how two pasts are put together."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import Task
from ridgeway.errors import InvalidDataError, InvalidStateError, MergeError, RemovalError
from ridgeway.information._solver import Solver
from ridgeway.kernels import Mean
from ridgeway.linalg import Solution, empty_triangle

Array = NDArray[np.float64]

WHOLE = ("n_features", "n_targets", "n_samples")
NUMBERS = ("total_weight", "log_weight", "digits_lost")
ARRAYS = ("mean", "mean_low", "matrix", "peak")


class Held(NamedTuple):
    """A matrix, the means that it is centred at, and the scale of the rounding that it carries."""

    matrix: Array
    mean: Array
    mean_low: Array
    peak: Array


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
        Rows seen, rows of weight zero aside.
    total_weight, log_weight : float
        Σw and Σ log w over the rows.
    mean, mean_low : ndarray of shape (n_features + n_targets,)
        The weighted means, as a sum of two so that a large offset costs no digits; zero if not `centered`.
    matrix : ndarray of shape (n_features + n_targets, n_features + n_targets)
        The centred information: an upper triangle, of what the kind says.
    peak : ndarray of shape (n_features + n_targets,)
        The scale of the rounding that `matrix` carries: the largest that each column's sum of squares has been, and
        once more what it was at each removal.
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

    name: ClassVar[str]
    """What a user calls this kind."""
    more_digits: ClassVar[str]
    """What a warning about lost digits recommends in addition."""

    def __post_init__(self) -> None:
        for array in (self.mean, self.mean_low, self.matrix, self.peak):
            array.flags.writeable = False

    @classmethod
    def empty(cls, n_features: int, n_targets: int, *, centered: bool) -> Self:
        """Return the information of no rows."""
        zeros, matrix = np.zeros(n_features + n_targets), empty_triangle(n_features + n_targets)
        return cls(n_features, n_targets, centered, 0, 0.0, 0.0, zeros, zeros, matrix, zeros, 0.0)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return counts and arrays, both by name: `from_parts` makes the same of them, bit for bit."""
        counts = {name: getattr(self, name) for name in (*WHOLE, "centered", *NUMBERS)}
        arrays = {name: getattr(self, name) for name in ARRAYS} | {"matrix": _packed(self.matrix)}
        return counts, arrays

    @classmethod
    def from_parts(cls, counts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Return the information that `to_parts` took apart, or raise `InvalidStateError`."""
        whole: dict[str, Any] = {name: counts.get(name) for name in WHOLE}
        numbers: dict[str, Any] = {name: counts.get(name) for name in NUMBERS}
        if any(type(number) is not int for number in whole.values()) or type(counts.get("centered")) is not bool:
            raise InvalidStateError("the counts of a state must be whole numbers. Read an intact copy.")
        if any(type(number) is not float or not np.isfinite(number) for number in numbers.values()):
            raise InvalidStateError("the weights of a state must be finite numbers. Read an intact copy.")
        held = {name: _checked(arrays, name) for name in ARRAYS}
        width = whole["n_features"] + whole["n_targets"]
        sizes = {name: width * (width + 1) // 2 if name == "matrix" else width for name in ARRAYS}
        wrong = [name for name in ARRAYS if held[name].shape != (sizes[name],)]
        if min(whole["n_features"], whole["n_targets"]) < 1 or wrong:
            raise InvalidStateError(f"the arrays of a state do not fit together: {', '.join(wrong) or 'counts'}.")
        if whole["n_samples"] < 0 or min(numbers["total_weight"], numbers["digits_lost"], *held["peak"]) < 0.0:
            raise InvalidStateError("a state has a negative count, weight or sum of squares. Read an intact copy.")
        held["matrix"] = _unpacked(held["matrix"], width)
        fields: dict[str, Any] = {**whole, **numbers, **held}
        return cls(centered=counts["centered"], **fields)

    def add(self, task: Task) -> Self:
        """Return the information with a task's rows added. O(n·p²).

        Raises `InvalidDataError` if the sums are not finite: a value is not, or it overflows once squared and summed.
        """
        held = self._with_task(task)
        if not np.isfinite(held.peak).all():
            raise InvalidDataError("the information overflows with this task. Change the unit of its columns.")
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
            raise MergeError("the merged information overflows. Change the unit of the columns in both models.")
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

        What remains must be safely of full rank: a direction that only the removed rows knew is gone for good, and
        rounding would stand in its place.
        """
        left = self.total_weight - task.total_weight
        if task.n_samples >= self.n_samples or left <= 0.0:
            raise RemovalError(
                f"cannot remove {task.n_samples} rows of weight {task.total_weight:g} from {self.n_samples} rows of "
                f"weight {self.total_weight:g}: nothing would remain. Remove a task that was learned."
            )
        held, digits = self._without_task(task)
        return replace(
            self,
            n_samples=self.n_samples - task.n_samples,
            total_weight=left,
            log_weight=self.log_weight - task.log_weight,
            **held._asdict(),
            digits_lost=max(self.digits_lost, digits),
        )

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
        rows = self.n_samples - self.centered
        size = min(rows, self.n_features) if not prior.any() else self.n_features
        solution = self._solve(prior, start, np.zeros_like(start), size, self.offset)
        if solution.rank == self.n_features or not start.any():
            return solution
        nearest = self._solve(prior, start, start, size, self.offset)  # as a change from `start`, the least there is
        return replace(nearest, coef=start + nearest.coef)

    @abstractmethod
    def solver(self, prior: Array, start: Array) -> Solver:
        """Return what solves as `solve` does, and may go on to do so as tasks are added."""

    @property
    def offset(self) -> Array:
        """The norms of what centring took off the features, √W·|mean|, of shape (n_features,)."""
        return np.asarray(np.sqrt(self.total_weight) * np.abs(self.mean[: self.n_features]))

    def intercept(self, coef: Array) -> Array:
        """Return the intercepts (n_targets,) that go with `coef` (n_features, n_targets): ȳ − x̄·coef."""
        p = self.n_features
        high = self.mean[p:] - self.mean[:p] @ coef
        return np.asarray(high + (self.mean_low[p:] - self.mean_low[:p] @ coef))

    def moments(self) -> Array:
        """Return Σ w·(a − ā)(a − ā)ᵀ over rows a = [x, y], of shape (n_features + n_targets, …). O(p³) at most."""
        R = self.factor()
        return np.asarray(R.T @ R)

    def select(self, columns: NDArray[np.intp]) -> Self:
        """Return the information of the same rows with fewer features, in the order of `columns`. O(p³) at most."""
        kept = np.r_[columns, self.n_features : len(self.mean)]
        return replace(
            self,
            n_features=len(columns),
            mean=self.mean[kept],
            mean_low=self.mean_low[kept],
            matrix=self._selected(kept),
            peak=self.peak[kept],
        )

    @abstractmethod
    def factor(self) -> Array:
        """Return an upper triangular [[R_x, z], [0, R_y]] whose square is the matrix of centred co-moments."""

    @abstractmethod
    def _selected(self, kept: NDArray[np.intp]) -> Array:
        """Return the matrix with these columns alone, in this order."""

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
    def _solve(self, prior: Array, start: Array, origin: Array, size: int, offset: Array) -> Solution:
        """Return the difference from `origin` that solves the system, the prior being about `start`."""


def digits_at_stake(before: Array, after: Array, n_features: int, kept: float = 1.0) -> float:
    """Return the decimal digits that a removal may cost.

    Parameters
    ----------
    before : the scale of the rounding that each column carries, in squares
    after : the sums of squares of each column that remain
    n_features : how many of the columns are features
    kept : the least share of the information about any direction that remains, where that is known
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(before > 0.0, before / after, 1.0)
    features = max(float(shares[:n_features].max()), 1.0 / kept)
    targets = float(shares[n_features:].max())
    return float(np.log10(max(features, np.sqrt(features * max(targets, 1.0)))))


def refuse_removal() -> RemovalError:
    """Return the error for a removal that would leave too little."""
    return RemovalError(
        "what would remain is not safely of full rank: the rows to remove hold (nearly) all that is known about some "
        "direction of the features or about the targets, or they were never learned. Keep the task, or learn the "
        "remaining tasks again."
    )


def _checked(arrays: Mapping[str, Array], name: str) -> Array:
    """Return a copy of one array of a state."""
    if name not in arrays:
        raise InvalidStateError(f"the state has no array {name!r}. Pass all that to_arrays() returned.")
    array = np.array(arrays[name])
    if array.dtype != np.float64 or not np.isfinite(array).all():
        raise InvalidStateError(f"the array {name!r} of a state must hold finite float64 numbers. Read an intact copy.")
    return array


def _packed(triangle: Array) -> Array:
    """Return an upper triangle as one vector, column after column."""
    width = len(triangle)
    flat = np.empty(width * (width + 1) // 2)
    for j in range(width):
        flat[j * (j + 1) // 2 :][: j + 1] = triangle[: j + 1, j]
    return flat


def _unpacked(flat: Array, width: int) -> Array:
    """Return the upper triangle that `_packed` gave, zeros below."""
    triangle = np.zeros((width, width), order="F")
    for j in range(width):
        triangle[: j + 1, j] = flat[j * (j + 1) // 2 :][: j + 1]
    return triangle
