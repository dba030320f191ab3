"""The warning about values so small that their squares vanish."""

import warnings

import numpy as np

from ridgeway._checks import Array
from ridgeway.data import Task, dense
from ridgeway.errors import PrecisionWarning
from ridgeway.linalg import EPS

SMALLEST = float(np.finfo(np.float64).tiny) / EPS
"""A sum of squares below this has lost digits, or is 0."""


def warn_of_underflow(task: Task, squares: Array, *, centered: bool) -> None:
    """Warn of columns of X that vary although their sums of squares, weights included, vanish. O(n) a small column.

    Parameters
    ----------
    task : Task
    squares : ndarray of shape (at least n_features,), the columns' sums of squares
    centered : whether constant columns count as zero
    """
    small = np.flatnonzero(squares[: task.n_features] < SMALLEST)
    X = task.X[:, small]
    most, least = (dense(end).ravel() for end in (X.max(axis=0), X.min(axis=0)))
    vanished = small[(most != least) | ((most != 0.0) & (not centered))]
    if len(vanished):
        warnings.warn(
            f"columns {vanished.tolist()} of X, counted from 0, vary so little that their squares, weights included, "
            "are too small for a float64. They may be left out. Change their units, or the scale of the weights.",
            PrecisionWarning,
            stacklevel=6,
        )
