"""Pooled least squares on rows that were kept: a path of its own, for what the updates are compared with."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq, qr, svd

from ridgeway.data import Task
from ridgeway.linalg._rank import Solution, equilibrate, numerical_rank

Array = NDArray[np.float64]
CHUNK_ROWS = 4096


def pooled_least_squares(tasks: Sequence[Task], start: Array, *, center: bool) -> tuple[Solution, Array]:
    """Return the least-squares solution over all rows of `tasks`, nearest to `start`, and the means of [X, y].

    Householder QR of the stacked rows, SVD of the triangle, columns scaled to unit norm. O(n·p²).

    Parameters
    ----------
    tasks : the tasks whose rows are pooled
    start : ndarray of shape (n_features, n_targets), what a singular system stays nearest to
    center : whether an intercept is fitted
    """
    p, k = start.shape
    mean = np.zeros(p + k)
    weight = sum(task.total_weight for task in tasks)
    if center:
        for _ in range(2):  # the second pass takes up what rounding left in the first
            mean = mean + sum(w @ (rows - mean) for rows, w in _chunks(tasks)) / weight
    R = np.zeros((0, p + k))
    for rows, w in _chunks(tasks):
        R = qr(np.vstack([R, np.sqrt(w)[:, None] * (rows - mean)]), mode="r", check_finite=False)[0][: p + k]
    scale, spread = equilibrate(np.sqrt(np.square(R[:, :p]).sum(axis=0)), np.sqrt(weight) * np.abs(mean[:p]))
    U, s, Vt = svd(R[:, :p] / np.where(scale > 0.0, scale, np.inf), full_matrices=False, check_finite=False)
    noise = np.sqrt(np.square(Vt * spread).sum(axis=1))
    rank = numerical_rank(s, noise, min(sum(task.n_samples for task in tasks), p))
    image = (U[:, :rank].T @ (R[:, p:] - R[:, :p] @ start)) / s[:rank, None]
    if rank == p:
        change = (Vt.T @ image) / scale[:, None]
    elif rank:
        change = lstsq(Vt[:rank] * scale, image, cond=0.0, lapack_driver="gelsy", check_finite=False)[0]
    else:
        change = np.zeros_like(start)
    return Solution(start + change, rank, s[0] / s[rank - 1] if rank else 1.0), mean


def _chunks(tasks: Sequence[Task]) -> Iterator[tuple[Array, Array]]:
    for task in tasks:
        for first in range(0, task.n_samples, CHUNK_ROWS):
            rows = task.rows(first, first + CHUNK_ROWS)
            weight = task.sample_weight
            yield rows, np.ones(len(rows)) if weight is None else weight[first : first + CHUNK_ROWS]
