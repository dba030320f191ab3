"""Metrics of continual learning on a matrix of losses R: R[t, τ] is the loss on task τ after learning task t."""

from typing import Any

import numpy as np

from ridgeway._checks import Array, real_array
from ridgeway.errors import InvalidDataError


def average_loss(losses: Any) -> Array:
    """Return the mean loss over the tasks seen so far, (1/t)·Σ_{τ≤t} R[t, τ], after each task.

    Parameters
    ----------
    losses : array of shape (n_tasks, n_tasks)
        R[t, τ], the loss on task τ after learning task t.

    Returns
    -------
    ndarray of shape (n_tasks,)

    Examples
    --------
    >>> average_loss([[1.0, 9.0], [3.0, 1.0]])
    array([1., 2.])
    """
    R = _losses(losses)
    return np.asarray(np.tril(R).sum(axis=1) / np.arange(1, len(R) + 1))


def backward_transfer(losses: Any) -> Array:
    """Return (1/(t−1))·Σ_{τ<t}(R[τ, τ] − R[t, τ]) after each task; > 0 means that earlier tasks improved. First: NaN.

    Parameters
    ----------
    losses : array of shape (n_tasks, n_tasks)
        R[t, τ], the loss on task τ after learning task t.

    Returns
    -------
    ndarray of shape (n_tasks,)

    Examples
    --------
    >>> backward_transfer([[1.0, 9.0], [3.0, 1.0]])
    array([nan, -2.])
    """
    R = _losses(losses)
    return mean_before(np.tril(np.diag(R) - R, k=-1).sum(axis=1))


def forward_transfer(losses: Any, baseline: Any) -> Array:
    """Return (1/(t−1))·Σ_{2≤τ≤t}(baseline[τ] − R[τ−1, τ]) after each task; > 0 means that the past helped. First: NaN.

    Parameters
    ----------
    losses : array of shape (n_tasks, n_tasks)
        R[t, τ], the loss on task τ after learning task t.
    baseline : array of shape (n_tasks,)
        The loss of an untrained model on each task.

    Returns
    -------
    ndarray of shape (n_tasks,)

    Examples
    --------
    >>> forward_transfer([[1.0, 4.0], [3.0, 1.0]], baseline=[9.0, 9.0])
    array([nan,  5.])
    """
    R = _losses(losses)
    base = real_array(baseline, "baseline", largest=np.inf)
    if base.shape != (len(R),):
        raise InvalidDataError(f"baseline has shape {base.shape}; pass one loss per task, shape ({len(R)},).")
    gains = np.zeros(len(R))
    gains[1:] = base[1:] - np.diag(R, k=1)
    return mean_before(np.cumsum(gains))


def mean_before(totals: Array) -> Array:
    """Divide by the number of earlier tasks; NaN for the first."""
    before = np.arange(len(totals), dtype=np.float64)
    before[0] = np.nan
    return np.asarray(totals / before)


def _losses(losses: Any) -> Array:
    R = real_array(losses, "losses", largest=np.inf)
    if R.ndim != 2 or R.shape[0] != R.shape[1] or len(R) == 0:
        raise InvalidDataError(f"losses has shape {R.shape}; pass a square matrix, shape (n_tasks, n_tasks).")
    return R
