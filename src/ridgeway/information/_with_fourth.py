"""Parts that keep fourth moments beside their information."""

from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.data import Task
from ridgeway.errors import InvalidParameterError
from ridgeway.information._base import Information
from ridgeway.information._fourth import FourthMoments
from ridgeway.information._moments import Moments
from ridgeway.information._square_root import SquareRoot

FOURTH = "fourth"
"""The name of the array that `to_parts` adds."""


@dataclass(frozen=True, eq=False)
class WithFourth(Information, ABC):
    """Information of one part, and its fourth moments.

    They stay with the part, each about its own centre: `plain` leaves them out of a merge, which would cost O(p⁴) and
    rounding. Whoever needs those of all rows adds up what follows from those of each part. If parts are merged with
    them, all are kept.
    """

    fourth: tuple[FourthMoments, ...]

    base: ClassVar[type[Information]]
    """The kind without them."""

    @classmethod
    def empty(cls, n_features: int, n_targets: int, *, centered: bool) -> Self:
        """Return the information of no rows."""
        return cls._of(
            cls.base.empty(n_features, n_targets, centered=centered),
            (FourthMoments.empty(n_features, n_targets, centered=centered),),
        )

    @classmethod
    def _of(cls, held: Information, fourth: tuple[FourthMoments, ...]) -> Self:
        return cls(**{field.name: getattr(held, field.name) for field in fields(Information)}, fourth=fourth)

    @property
    def plain(self) -> Information:
        """The information alone."""
        return self.base(**{field.name: getattr(self, field.name) for field in fields(Information)})

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return counts and arrays, both by name: `from_parts` restores the same, bit for bit."""
        counts, arrays = self.plain.to_parts()
        return counts, arrays | {FOURTH: np.concatenate([sums.to_array() for sums in self.fourth])}

    @classmethod
    def from_parts(cls, counts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Return the information that `to_parts` took apart, or raise `InvalidStateError`."""
        held = cls.base.from_parts(counts, arrays)
        numbers = np.atleast_1d(arrays.get(FOURTH, ()))
        columns, centered = (held.n_features, held.n_targets), held.centered
        pieces = max(1, numbers.size // FourthMoments.count(*columns, centered=centered))
        split = np.array_split(numbers, pieces)
        return cls._of(held, tuple(FourthMoments.from_array(piece, *columns, centered=centered) for piece in split))

    def add(self, task: Task) -> Self:
        """Return the information with a task's rows added. O(n·p⁴)."""
        after, (first, *others) = super().add(task), self.fourth
        return replace(after, fourth=(first.add(task, after.mean), *others))

    def merge(self, other: Self) -> Self:
        """Return the information of both pasts."""
        return replace(super().merge(other), fourth=self.fourth + other.fourth)

    def scaled(self, factor: float) -> Self:
        """Return the information with every row's weight, and so its score, multiplied by `factor`."""
        return replace(super().scaled(factor), fourth=self._each(lambda sums: sums.multiplied(factor**2)))

    def thinned(self, share: float) -> Self:
        """Return the information as if only a share of the rows had been seen, or several times as many."""
        return replace(super().thinned(share), fourth=self._each(lambda sums: sums.multiplied(share)))

    def select(self, columns: NDArray[np.intp]) -> Self:
        """Return the information of the same rows with fewer features, in the order of `columns`. O(p⁴)."""
        targets = np.arange(self.n_targets)
        past = np.zeros(len(columns) + self.n_targets)
        return replace(super().select(columns), fourth=self._each(lambda sums: sums.reordered(columns, targets, past)))

    def widened(self, features: NDArray[np.intp], targets: NDArray[np.intp], past: Array) -> Self:
        """Return the information of the same rows with more columns, which were constant. O(p⁴)."""
        wider = super().widened(features, targets, past)
        return replace(wider, fourth=self._each(lambda sums: sums.reordered(features, targets, past)))

    def mapped(self, matrix: Array, shift: Array) -> NoReturn:
        """Raise: this would take all products of four columns apart."""
        raise InvalidParameterError(
            "features cannot be transformed in a model that keeps fourth moments. Learn without fourth_moments."
        )

    def _each(self, change: Callable[[FourthMoments], FourthMoments]) -> tuple[FourthMoments, ...]:
        return tuple(map(change, self.fourth))


class SquareRootWithFourth(WithFourth, SquareRoot):
    """A factor and fourth moments."""

    base = SquareRoot


class MomentsWithFourth(WithFourth, Moments):
    """Co-moments and fourth moments."""

    base = Moments


WITH_FOURTH: dict[type[Information], type[WithFourth]] = {
    kind.base: kind for kind in (SquareRootWithFourth, MomentsWithFourth)
}
"""The kinds with fourth moments by those without."""
