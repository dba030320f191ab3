"""Numbers in extreme units: what is squared, or raised to the fourth power, is first brought near 1."""

import numpy as np

from ridgeway._checks import Array
from ridgeway.errors import InferenceError


def units_of(values: Array, axis: int | None = None) -> Array:
    """Return the powers of two just above the largest sizes along an axis, which is kept; 1 for zeros.

    Division by them is exact.
    """
    largest = np.abs(values).max(axis=axis, keepdims=True, initial=0.0)
    return np.asarray(np.ldexp(1.0, np.frexp(largest)[1]))


def lengths(vectors: Array, axis: int) -> Array:
    """Return the roots of sums of squares, even if the squares are out of range."""
    units = units_of(vectors, axis)
    return np.asarray(np.sqrt(np.square(vectors / units).sum(axis=axis)) * units.squeeze(axis))


@np.errstate(over="ignore", under="ignore")
def check_range(roots: Array, what: str) -> None:
    """Raise if the squares of finite numbers are out of the range of floating point numbers."""
    squares = np.square(roots)
    beyond = np.isfinite(roots) & (roots != 0.0) & ~((squares > 0.0) & np.isfinite(squares))
    if beyond.any():
        raise InferenceError(
            f"{what} is out of the range of floating point numbers: the square of {roots[beyond].flat[0]:.2g}. Change "
            "the units of the target or of the features."
        )
