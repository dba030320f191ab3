"""Weighted means of rows, each a sum of two numbers, so that a large offset costs no digits."""

from typing import Any, Literal, NamedTuple

import numpy as np

from ridgeway._checks import Array
from ridgeway.data import dense


class Mean(NamedTuple):
    """The total weight of some rows and their means: `high`, and in `low` what rounding left out of it.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import Mean
    >>> one = Mean(1.0, np.array([4.0]), np.zeros(1))
    >>> both, gap = one.joined(Mean(3.0, np.array([8.0]), np.zeros(1)))
    >>> both.high, gap**2  # 1·(4 − 7)² + 3·(8 − 7)²
    (array([7.]), array([12.]))
    """

    weight: float
    high: Array
    low: Array

    @classmethod
    def of_nothing(cls, n_columns: int) -> "Mean":
        """Return the mean of no rows."""
        return cls(0.0, np.zeros(n_columns), np.zeros(n_columns))

    def joined(self, other: "Mean") -> tuple["Mean", Array]:
        """Return the mean of both parts, and the row that stands for the distance between them.

        The squares of all rows about their mean are those of both parts, each about its own, and of that row
        (Chan, Golub and LeVeque, 1983).
        """
        total = self.weight + other.weight
        apart = (other.high - self.high) + (other.low - self.low)
        if other.weight > self.weight:  # the lighter part moves to the heavier: no digits are lost to the distance
            moved = two_sum(other.high, other.low - apart * (self.weight / total))
        else:
            moved = two_sum(self.high, self.low + apart * (other.weight / total))
        return Mean(total, *moved), apart * np.sqrt(self.weight * (other.weight / total))

    def without(self, other: "Mean") -> tuple["Mean", Array]:
        """Return the mean of the rest when a part is taken out, and the row that is taken out with it."""
        left = self.weight - other.weight
        apart = (other.high - self.high) + (other.low - self.low)
        moved = two_sum(self.high, self.low - apart * (other.weight / left))
        return Mean(left, *moved), apart * np.sqrt(other.weight * (self.weight / left))


def about_own_mean(
    X: Any, y: Array, weight: Array | None, order: Literal["C", "F"], *, centered: bool
) -> tuple[Array, Mean]:
    """Return rows [X, y] times the roots of the weights, about their own mean if `centered`, below a row of zeros."""
    X = X if type(X) is np.ndarray else dense(X)
    (n, p), width = X.shape, X.shape[1] + y.shape[1]
    block, ones = np.zeros((n + 1, width), order=order), np.ones(n) if weight is None else weight
    body, total, low = block[1:], float(ones.sum()), np.zeros(width)
    high = np.concatenate([ones @ X, ones @ y]) / total if centered else low
    if order == "C":
        np.subtract(X, high[:p], out=body[:, :p])
        np.subtract(y, high[p:], out=body[:, p:])
    else:  # by columns, as the block is in memory
        np.subtract(X.T, high[:p, None], out=body[:, :p].T)
        np.subtract(y.T, high[p:, None], out=body[:, p:].T)
    if centered:
        low = ones @ body / total
        body -= low
    if weight is not None:
        body *= np.sqrt(weight)[:, None]
    return block, Mean(total, high, low)


def two_sum(high: Array, low: Array) -> tuple[Array, Array]:
    """Return high + low as a rounded sum, and what rounding left out (Knuth's two-sum).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import two_sum
    >>> two_sum(np.array([1e16]), np.array([1.0]))  # a float64 has no room for both
    (array([1.e+16]), array([1.]))
    """
    total = high + low
    back = total - high
    return total, (high - (total - back)) + (low - back)
