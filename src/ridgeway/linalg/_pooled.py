"""Pooled least squares on rows that were kept: separate code, which the updates are compared with."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.data import Task
from ridgeway.linalg._rank import Solution, column_norms, equilibrate, minimum_norm, numerical_rank

CHUNK_ROWS = 4096


def pooled_means(tasks: Sequence[Task], *, centered: bool) -> tuple[Array, Array]:
    """Return the means of [X, y] over all rows of `tasks`, and what rounding left out of them; zeros if not centred.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.linalg import pooled_means
    >>> tasks = [Task.of(np.array([[x]]), np.array([[2 * x]])) for x in (1.0, 3.0)]
    >>> pooled_means(tasks, centered=True)[0]
    array([2., 4.])
    """
    high = low = np.zeros(tasks[0].n_features + tasks[0].n_targets)
    if centered:
        weight = sum(task.total_weight for task in tasks)
        high = np.asarray(sum(w @ rows for rows, w in _chunks(tasks)) / weight)
        low = np.asarray(sum(w @ (rows - high) for rows, w in _chunks(tasks)) / weight)
    return high, low


def pooled_factor(tasks: Sequence[Task], high: Array, low: Array) -> Array:
    """Return the triangular factor of all rows [X, y] of `tasks` about high + low, by Householder QR. O(n·p²).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.linalg import pooled_factor
    >>> tasks = [Task.of(np.array([[x]]), np.array([[1.0]])) for x in (1.0, 3.0)]
    >>> R = pooled_factor(tasks, np.zeros(2), np.zeros(2))
    >>> np.allclose(R.T @ R, [[10.0, 4.0], [4.0, 2.0]])  # Σ x², Σ xy and Σ y²
    True
    """
    R: Array = np.zeros((0, len(high)))
    for rows, weight in _chunks(tasks):
        R = kernels.triangular_factor(np.vstack([R, np.sqrt(weight)[:, None] * (rows - high - low)]))
    return np.vstack([R, np.zeros((len(high) - len(R), len(high)))])


def pooled_least_squares(R: Array, start: Array, *, size: int, offset: Array) -> Solution:
    """Return the least-squares solution of a factor of [X, y], the one nearest to `start`. By an SVD, O(p³).

    Parameters
    ----------
    R : ndarray of shape (n_features + n_targets, n_features + n_targets), upper triangular
    start : ndarray of shape (n_features, n_targets), what a singular system stays nearest to
    size : the smaller side of the system that R stands for
    offset : norms of what centring took off the features

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.linalg import pooled_factor, pooled_least_squares
    >>> tasks = [Task.of(np.array([[x]]), np.array([[2 * x]])) for x in (1.0, 3.0)]
    >>> R = pooled_factor(tasks, np.zeros(2), np.zeros(2))
    >>> pooled_least_squares(R, np.zeros((1, 1)), size=1, offset=np.zeros(1)).coef
    array([[2.]])
    """
    p = len(start)
    A, left = R[:, :p], R[:, p:] - R[:, :p] @ start
    scales = equilibrate(column_norms(A), offset, size)
    norms, full, _ = scales
    if not norms.all() or numerical_rank(kernels.svd(A / full)[1], size, 1.0) < p:
        nearest = minimum_norm(A, left, scales, size)
        return replace(nearest, coef=start + nearest.coef)
    U, s, Vt = kernels.svd(A / norms)
    return Solution(start + (Vt.T @ ((U.T @ left) / s[:, None])) / norms[:, None], p, s[0] / s[-1])


def _chunks(tasks: Sequence[Task]) -> Iterator[tuple[Array, Array]]:
    for task in tasks:
        for first in range(0, task.n_samples, CHUNK_ROWS):
            rows = task.rows(first, first + CHUNK_ROWS)
            weight = task.sample_weight
            yield rows, np.ones(len(rows)) if weight is None else weight[first : first + CHUNK_ROWS]
