"""What removing rows may cost, and when it is refused."""

import numpy as np

from ridgeway._checks import Array
from ridgeway.errors import RemovalError


def digits_at_stake(before: Array, after: Array, n_features: int, kept: float = 1.0) -> float:
    """Return the decimal digits that a removal may cost.

    Parameters
    ----------
    before : the scale of the rounding that each column carries, in squares
    after : the sums of squares of each column that remain
    n_features : how many of the columns are features
    kept : the least share of the information about any direction that remains, if known
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(before > 0.0, before / after, 1.0)
    features = max(float(shares[:n_features].max()), 1.0 / kept)
    targets = float(shares[n_features:].max())
    return float(np.log10(max(features, np.sqrt(features * max(targets, 1.0)))))


def refuse_removal() -> RemovalError:
    """Return the error for a removal that would leave too little."""
    return RemovalError(
        "the remaining rows would not clearly have full rank: the rows to remove contain (nearly) all that is known "
        "about some direction of the features or about the targets, or they were never learned. Keep the task, or "
        "learn the remaining tasks again."
    )
