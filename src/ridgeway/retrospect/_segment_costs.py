"""What it costs to give consecutive tasks the same coefficients, and the partition of least cost."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.linalg import row_basis
from ridgeway.retrospect._reduced_tasks import ReducedTasks


class SegmentCosts(NamedTuple):
    """What least squares on consecutive tasks leaves, beyond what each task's own coefficients leave.

    Attributes
    ----------
    up_to : list of ndarray of shape (e + 1, m)
        `up_to[e][s]` is the cost of the tasks s, …, e, for each of m sets of targets.
    """

    up_to: list[Array]

    @property
    def whole(self) -> Array:
        """The cost of no change, of shape (m,)."""
        return np.asarray(self.up_to[-1][0])

    def single(self) -> Array:
        """Return how much one change lowers the cost, for each place of it; of shape (n_tasks − 1, m)."""
        before = np.array([costs[0] for costs in self.up_to[:-1]])
        return np.asarray(self.whole - before - self.up_to[-1][1:])

    def gain(self, first: int, middle: int, last: int) -> Array:
        """Return how much a change before task `middle` lowers the cost of the tasks `first`, …, `last`; (m,)."""
        together, later = self.up_to[last][first], self.up_to[last][middle]
        return np.asarray(together - self.up_to[middle - 1][first] - later)


def segment_costs(tasks: ReducedTasks, right: Array) -> SegmentCosts:
    """Return the costs of all T(T + 1)/2 segments for targets (Σ rank, m).

    A segment is that without its last task, reduced to as many rows as it has rank, and the rows of the last task.
    Nothing is subtracted, so large coefficients cost no digits. O(T²·q²·m) for q terms.
    """
    n, m, q = len(tasks.rows), right.shape[1], tasks.n_terms
    parts = np.split(right, tasks.ends[:-1])
    found = SegmentCosts([np.zeros((e + 1, m)) for e in range(n)])
    for start in range(n):
        rows, held, weight = tasks.rows[start], parts[start], float(tasks.total_weight[start])
        cost = np.zeros(m)
        for end in range(start + 1, n):
            weight += float(tasks.total_weight[end])
            stacked, held = np.vstack([rows, tasks.rows[end]]), np.vstack([held, parts[end]])
            size = min(len(stacked), q)
            rows, basis = row_basis(stacked, size=size, offset=np.sqrt(weight) * tasks.center)
            inside = basis.T @ held
            cost = cost + np.square(held - basis @ inside).sum(axis=0)
            held = inside
            found.up_to[end][start] = cost
    return found


class Partition(NamedTuple):
    """The partition of least cost, for each of m sets of targets.

    Attributes
    ----------
    value : ndarray of shape (m,)
        Its cost, the penalty of its changes included.
    n_changes : ndarray of int of shape (m,)
    starts : ndarray of int of shape (n_tasks, m)
        `starts[e]` is where the last segment starts if task e is the last of all.
    """

    value: Array
    n_changes: NDArray[np.intp]
    starts: NDArray[np.intp]

    def firsts(self, column: int) -> list[int]:
        """Return the first task of each segment for one set of targets."""
        found: list[int] = []
        end = len(self.starts)
        while end > 0:
            end = int(self.starts[end - 1, column])
            found.append(end)
        return found[::-1]


def best_partition(costs: SegmentCosts, penalty: Array) -> Partition:
    """Return the partition that minimises its costs and `penalty` (m,) for each change, over all 2^(T−1). O(T²·m)."""
    n, m = len(costs.up_to), len(penalty)
    value, count = np.zeros((n + 1, m)), np.zeros((n + 1, m), dtype=np.intp)
    starts = np.zeros((n, m), dtype=np.intp)
    value[0] = -penalty  # the first segment is not a change
    for end in range(n):
        options = value[: end + 1] + costs.up_to[end] + penalty
        best = options.argmin(axis=0)
        starts[end] = best
        value[end + 1] = np.take_along_axis(options, best[None], axis=0)[0]
        count[end + 1] = np.take_along_axis(count, best[None], axis=0)[0] + (best > 0)
    return Partition(value[-1], count[-1], starts)


def critical_penalties(costs: SegmentCosts) -> Array:
    """Return the least penalty at which no change is best, of shape (m,): the largest gain per change.

    A penalty is raised to the gain per change of its best partition until that is no change (Dinkelbach, 1967).
    """
    penalty = costs.single().max(axis=0)
    while True:
        best = best_partition(costs, penalty)
        gain = costs.whole - (best.value - penalty * best.n_changes)
        higher = gain / np.maximum(best.n_changes, 1)
        better = (best.n_changes > 0) & (higher > penalty + 1e-12 * np.abs(penalty))
        if not better.any():
            return np.asarray(penalty)
        penalty = np.where(better, higher, penalty)
