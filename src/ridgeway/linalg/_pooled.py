"""Pooled least squares on rows that were kept: separate code, which the updates are compared with."""

from collections.abc import Iterator, Sequence

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.data import Task
from ridgeway.linalg._rank import Solution, equilibrate, least_norm, numerical_rank

CHUNK_ROWS = 4096


def pooled_means(tasks: Sequence[Task], *, centered: bool) -> Array:
    """Return the means of [X, y] over all rows of `tasks`, of shape (n_features + n_targets,); zeros if not centred."""
    mean = np.zeros(tasks[0].n_features + tasks[0].n_targets)
    weight = sum(task.total_weight for task in tasks)
    if centered:
        for _ in range(2):  # the second pass takes up what rounding left in the first
            mean = mean + sum(w @ (rows - mean) for rows, w in _chunks(tasks)) / weight
    return mean


def pooled_factor(tasks: Sequence[Task], mean: Array) -> Array:
    """Return the triangular factor of all rows [X, y] of `tasks` about `mean`, by Householder QR. O(n·p²)."""
    R: Array = np.zeros((0, len(mean)))
    for rows, weight in _chunks(tasks):
        R = kernels.triangular_factor(np.vstack([R, np.sqrt(weight)[:, None] * (rows - mean)]))
    return np.vstack([R, np.zeros((len(mean) - len(R), len(mean)))])


def pooled_least_squares(R: Array, start: Array, *, size: int, offset: Array) -> Solution:
    """Return the least-squares solution of a factor of [X, y], the one nearest to `start`. One SVD, O(p³).

    Parameters
    ----------
    R : ndarray of shape (n_features + n_targets, n_features + n_targets), upper triangular
    start : ndarray of shape (n_features, n_targets), what a singular system stays nearest to
    size : the smaller side of the system that R stands for
    offset : norms of what centring took off the features
    """
    p = len(start)
    scale, spread = equilibrate(np.sqrt(np.square(R[:, :p]).sum(axis=0)), offset)
    U, s, Vt = kernels.svd(R[:, :p] / np.where(scale > 0.0, scale, np.inf))
    rank = numerical_rank(s, np.sqrt(np.square(Vt * spread).sum(axis=1)), size)
    image = (U[:, :rank].T @ (R[:, p:] - R[:, :p] @ start)) / s[:rank, None]
    if rank == p:
        change = (Vt.T @ image) / scale[:, None]
    elif rank:
        change = least_norm(scale, Vt[:rank].T, image)
    else:
        change = np.zeros_like(start)
    return Solution(start + change, rank, s[0] / s[rank - 1] if rank else 1.0)


def _chunks(tasks: Sequence[Task]) -> Iterator[tuple[Array, Array]]:
    for task in tasks:
        for first in range(0, task.n_samples, CHUNK_ROWS):
            rows = task.rows(first, first + CHUNK_ROWS)
            weight = task.sample_weight
            yield rows, np.ones(len(rows)) if weight is None else weight[first : first + CHUNK_ROWS]
