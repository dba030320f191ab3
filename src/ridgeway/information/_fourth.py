"""Sums of products of up to four columns, and two of the targets: what errors under unequal variances need.

The weight of a row here is ω: its weight squared if that is a precision, as w·e is what the row adds to the score; and
the weight itself if the row stands for several.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.data import Task
from ridgeway.errors import InvalidDataError, InvalidParameterError, InvalidStateError
from ridgeway.kernels import Mean, single_threaded

Places = NDArray[np.intp]

MOST_FEATURES = 100
"""Limit on the features: the numbers grow with the fourth power."""
AT_ONCE = 512
"""Rows, or products of two columns, that are taken at a time."""


@dataclass(frozen=True, eq=False)
class FourthMoments:
    """Sums over rows of ω times products of z = [1, x − c], or of z = x without an intercept, and of y − c.

    Each product is kept once, with its indices rising, the last index varying slowest: C(m + 3, 4) numbers for the m
    columns of z, and C(m + 2, 3) + C(m + 1, 2) for each target.

    Attributes
    ----------
    centered : bool
        Whether there is an intercept.
    center : ndarray of shape (n_features + n_targets,)
        c: the means of the first rows that were added; zero without an intercept.
    fourth : ndarray of shape (C(m + 3, 4),)
        Σ ω·z_i·z_j·z_k·z_l.
    third : ndarray of shape (n_targets, C(m + 2, 3))
        Σ ω·y·z_i·z_j·z_k.
    second : ndarray of shape (n_targets, C(m + 1, 2))
        Σ ω·y²·z_i·z_j.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.information import FourthMoments
    >>> task = Task.of(np.array([[1.0], [2.0]]), np.array([[3.0], [1.0]]))
    >>> sums = FourthMoments.empty(1, 1, centered=False).add(task, np.zeros(2))
    >>> sums.fourth, sums.third, sums.second  # of x⁴, x³y and x²y²
    (array([17.]), array([[11.]]), array([[13.]]))
    """

    centered: bool
    center: Array
    fourth: Array
    third: Array
    second: Array

    def __post_init__(self) -> None:
        for array in (self.center, self.fourth, self.third, self.second):
            array.flags.writeable = False

    @classmethod
    def empty(cls, n_features: int, n_targets: int, *, centered: bool) -> "FourthMoments":
        """Return the sums over no rows, or raise if there are too many features."""
        cls.check_size(n_features, n_targets, centered=centered)
        sizes = _sizes(n_features + centered)
        sums = np.zeros(sizes[0]), *(np.zeros((n_targets, size)) for size in sizes[1:])
        return cls(centered, np.zeros(n_features + n_targets), *sums)

    @staticmethod
    def count(n_features: int, n_targets: int, *, centered: bool) -> int:
        """Return how many numbers `to_array` has."""
        fourth, third, second = _sizes(n_features + centered)
        return n_features + n_targets + fourth + n_targets * (third + second)

    @classmethod
    def check_size(cls, n_features: int, n_targets: int, *, centered: bool) -> None:
        """Raise `InvalidParameterError` if there are too many features."""
        if n_features > MOST_FEATURES:
            count = cls.count(n_features, n_targets, centered=centered)
            raise InvalidParameterError(
                f"the fourth moments of {n_features} features are {count:,} numbers per task ({count * 8e-6:,.0f} MB); "
                f"the limit is {MOST_FEATURES} features. Learn without fourth moments, or fewer features."
            )

    @property
    def n_targets(self) -> int:
        """The number of targets."""
        return len(self.third)

    @property
    def n_columns(self) -> int:
        """The number of columns of z."""
        return len(self.center) - self.n_targets + self.centered

    def add(self, task: Task, mean: Array) -> "FourthMoments":
        """Return the sums with a task's rows added, about `mean` if they are the first. O(n·p⁴)."""
        center = self.center if self.fourth.any() else mean
        sums = self.fourth.copy(), self.third.copy(), self.second.copy()
        with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(task.y), AT_ONCE):
                stop = start + AT_ONCE
                weight = np.ones(len(task.y[start:stop]))
                if task.sample_weight is not None:
                    repeated = task.n_samples != len(task.y)  # once counted, a row stands for several
                    weight = task.sample_weight[start:stop] ** (1 if repeated else 2)
                self._add_block(sums, task.rows(start, stop) - center, weight)
        if not all(np.isfinite(part).all() for part in sums):
            raise InvalidDataError("the fourth powers of these rows overflow. Change the units of their columns.")
        return FourthMoments(self.centered, center, *sums)

    def _add_block(self, sums: tuple[Array, Array, Array], rows: Array, weight: Array) -> None:
        """Add rows to the sums, in place."""
        fourth, third, second = sums
        z, y = np.hsplit(rows, [rows.shape[1] - self.n_targets])
        if self.centered:
            z = np.insert(z, 0, 1.0, axis=1)
        m = z.shape[1]
        pairs = np.hstack([z[:, : j + 1] * z[:, [j]] for j in range(m)])
        weighted, at = (pairs * weight[:, None]).T, 0
        for last in range(m):
            first, stop = comb(last + 1, 2), comb(last + 2, 2)
            found = weighted[:stop] @ pairs[:, first:stop]
            for k in range(last + 1):
                size = comb(k + 2, 2)
                fourth[at : at + size] += found[:size, k]
                at += size
        for target, column in enumerate(y.T):
            found, at = weighted @ (z * column[:, None]), 0
            for k in range(m):
                size = comb(k + 2, 2)
                third[target, at : at + size] += found[:size, k]
                at += size
            second[target] += weighted @ np.square(column)

    def multiplied(self, by: float) -> "FourthMoments":
        """Return the sums with ω of every row multiplied by a number."""
        return replace(self, fourth=self.fourth * by, third=self.third * by, second=self.second * by)

    def reordered(self, features: Places, targets: Places, past: Array) -> "FourthMoments":
        """Return the sums of other columns: `features` and `targets` are their old places, or −1 if they are new.

        `past` is what new columns were in all rows; its other entries are not used.
        """
        blank = FourthMoments.empty(len(features), len(targets), centered=self.centered)
        old = np.concatenate([features, np.where(targets < 0, -1, targets + len(self.center) - self.n_targets)])
        center = np.where(old < 0, past, np.append(self.center, 0.0)[old])
        z = np.concatenate([[0], np.where(features < 0, -1, features + 1)]) if self.centered else features
        ends = z[_pairs(len(z))]
        is_old = np.asarray(ends.min(axis=0) >= 0)
        low, high = (np.maximum(end, 0) for end in (ends.min(axis=0), ends.max(axis=0)))
        fourth, at = np.zeros_like(blank.fourth), 0
        for k, pair in _below_pairs(len(z)):
            size = comb(k + 2, 2)
            places = _place_of_four(low[:size], high[:size], low[pair], high[pair])
            fourth[at : at + size] = np.where(is_old[:size] & is_old[pair], self.fourth[places], 0.0)
            at += size
        third, at = np.zeros_like(blank.third), 0
        sums = np.append(self.third, np.zeros((1, self.third.shape[1])), axis=0)[targets]  # −1 is the zeros at the end
        for k, column in enumerate(z):
            size = comb(k + 2, 2)
            places = _place_of_three(low[:size], high[:size], max(column, 0))
            third[:, at : at + size] = np.where(is_old[:size] & (column >= 0), sums[:, places], 0.0)
            at += size
        squares = np.append(self.second, np.zeros((1, self.second.shape[1])), axis=0)[targets]
        second = np.where(is_old, squares[:, _place_of_two(low, high)], 0.0)
        return FourthMoments(self.centered, center, fourth, third, second)

    def term_sizes(self, alpha: Array) -> Array:
        """Return g, (n_targets, m): the terms of Σ ω·(α·z + y)²·z_i·z_j are at most g_i·g_j, about, for each row α."""
        every = np.arange(self.n_columns)
        own = self.fourth[_place_of_four(every, every, every, every)] ** 0.25  # |Σ ω·z_i·z_j·z_k·z_l| ≤ own_i·…·own_l
        targets = np.sqrt(self.second[:, _place_of_two(every, every)])
        return np.asarray((np.abs(alpha) @ own)[:, None] * own + targets)

    def to_array(self) -> Array:
        """Return all numbers as one vector: `from_array` restores the same, bit for bit."""
        return np.concatenate([self.center, self.fourth, self.third.ravel(), self.second.ravel()])

    @classmethod
    def from_array(cls, array: Array, n_features: int, n_targets: int, *, centered: bool) -> "FourthMoments":
        """Return what `to_array` made a vector of, or raise `InvalidStateError`."""
        sizes = _sizes(n_features + centered)
        lengths = [n_features + n_targets, sizes[0], n_targets * sizes[1], n_targets * sizes[2]]
        numbers = np.array(array)
        if numbers.dtype != np.float64 or numbers.shape != (sum(lengths),) or not np.isfinite(numbers).all():
            raise InvalidStateError("the fourth moments of a state do not fit its columns. Read an intact copy.")
        center, fourth, third, second = (part.copy() for part in np.split(numbers, np.cumsum(lengths)[:-1]))
        every = np.arange(n_features + centered)
        even = fourth[_place_of_four(every, every, every, every)]
        squares = second.reshape(n_targets, -1)[:, _place_of_two(every, every)]
        if even.min() < 0.0 or squares.min() < 0.0 or (center.any() and not centered):
            raise InvalidStateError("the fourth moments of a state cannot be those of rows. Read an intact copy.")
        return cls(centered, center, fourth, third.reshape(n_targets, -1), second.reshape(n_targets, -1))


def score_squares(parts: Sequence[FourthMoments], mean: Mean, coef: Array) -> tuple[Array, Array]:
    """Return S = Σ ω·e²·zzᵀ over the rows of all parts, (n_targets, m, m), with z = [1, x − x̄] or x. O(p⁴) each.

    With e = (y − ȳ) − (x − x̄)·coef = α·z + y' for z and y' about the centre of a part, the sum is that of
    (α·z)²·zzᵀ + 2·y'·(α·z)·zzᵀ + y'²·zzᵀ. These cancel if the columns are nearly collinear, or if e is small beside y.
    The second array, g of shape (n_targets, m), says how large the terms are: rounding moves S_ij by about eps·g_i·g_j.

    Parameters
    ----------
    parts : of the same columns
    mean : of [x, y] over all rows
    coef : ndarray of shape (n_features, n_targets)

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.information import FourthMoments, score_squares
    >>> from ridgeway.kernels import Mean
    >>> task = Task.of(np.array([[1.0], [2.0]]), np.array([[3.0], [1.0]]))
    >>> sums = FourthMoments.empty(1, 1, centered=False).add(task, np.zeros(2))
    >>> score_squares([sums], Mean.of_nothing(2), np.array([[1.0]]))[0]  # 2²·1² + 1²·2²
    array([[[8.]]])
    """
    centered, m, k = parts[0].centered, parts[0].n_columns, parts[0].n_targets
    gaps = np.array([(part.center - mean.high) - mean.low for part in parts])
    p = m - centered
    alpha = np.broadcast_to(-coef.T[:, None], (k, len(parts), p))
    if centered:
        constant = gaps[:, p:].T - coef.T @ gaps[:, :p].T
        alpha = np.concatenate([constant[:, :, None], alpha], axis=2)
    low, high = _pairs(m)
    twice = alpha[:, :, low] * alpha[:, :, high] * np.where(low == high, 1.0, 2.0)
    sums = np.empty((k, len(parts), len(low)))
    for start in range(0, len(low), AT_ONCE):
        chunk = slice(start, start + AT_ONCE)
        i, j = low[chunk, None], high[chunk, None]
        fours, threes = _place_of_four(i, j, low, high), _place_of_three(i, j, np.arange(m))
        for number, part in enumerate(parts):
            held = part.fourth[fours]
            for target in range(k):
                linear = part.third[target][threes] @ alpha[target, number]
                sums[target, number, chunk] = held @ twice[target, number] + 2.0 * linear + part.second[target, chunk]
    whole, found, moved = np.zeros((k, m, m)), np.empty((k, m, m)), np.eye(m)
    sizes = np.zeros((k, m))
    for number, (part, gap) in enumerate(zip(parts, gaps, strict=True)):
        found[:, low, high] = found[:, high, low] = sums[:, number]
        if centered:
            moved[1:, 0] = gap[:p]
        whole += moved @ found @ moved.T
        sizes += np.square(part.term_sizes(alpha[:, number]) @ np.abs(moved).T)
    return whole, np.sqrt(sizes)


def _sizes(m: int) -> tuple[int, int, int]:
    """Return the numbers of products of four, three and two of m columns."""
    return comb(m + 3, 4), comb(m + 2, 3), comb(m + 1, 2)


def _pairs(m: int) -> Places:
    """Return i and j of all products i ≤ j of two columns, as two rows, in the order in which they are kept."""
    return np.array([[i, j] for j in range(m) for i in range(j + 1)], dtype=np.intp).T


def _below_pairs(m: int) -> Iterator[tuple[int, int]]:
    """Yield k and the number of the pair for all pairs (k, l): products of four are kept as (i, j) with j ≤ k."""
    for last in range(m):
        for k in range(last + 1):
            yield k, comb(last + 1, 2) + k


def _place_of_two(i: Any, j: Any) -> Any:
    return i + j * (j + 1) // 2


def _place_of_three(i: Any, j: Any, k: Any) -> Any:
    """Return where a product is kept, i ≤ j, and k anywhere."""
    first, last = np.minimum(i, k), np.maximum(j, k)
    return _place_of_two(first, i + j + k - first - last) + last * (last + 1) * (last + 2) // 6


def _place_of_four(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return where a product is kept, a ≤ b and c ≤ d."""
    one, two, last = np.maximum(a, c), np.minimum(b, d), np.maximum(b, d)
    others = _place_of_three(np.minimum(a, c), np.minimum(one, two), np.maximum(one, two))
    return others + last * (last + 1) * (last + 2) * (last + 3) // 24
