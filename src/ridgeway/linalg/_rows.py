"""A task's rows as the numerical core sees them: centred, weighted, dense one block at a time."""

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.data import Task, dense, is_sparse

BLOCK_ROWS = 1024
STRIP = 256
DENSE_ENTRIES = 2**22
SPARSE_ENTRIES = 2**20


class Rows:
    """The rows A = diag(√w)·([X, y] − 1·meanᵀ) of a task, of shape (n_samples, n_features + n_targets).

    A is never formed whole: `blocks` gives it a few rows at a time and `columns` its X part a few columns at a
    time, so that a sparse X is made dense only there. Means are taken twice, `mean` and then what is left of it,
    `mean_low`, so that an offset of 1e8 costs no digits.

    Parameters
    ----------
    task : Task
    center : whether the weighted means of the task are taken off

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.linalg import Rows
    >>> task = Task.of(np.array([[1.0], [3.0]]), np.array([[0.0], [4.0]]))
    >>> rows = Rows(task, center=True)
    >>> rows.X, rows.residual(np.array([[2.0]]))  # about the means, y = 2x
    (array([[-1.], [ 1.]]), array([[0.], [0.]]))
    """

    def __init__(self, task: Task, *, center: bool = False) -> None:
        self.task = task
        self.total_weight = task.total_weight
        self.n_samples = task.n_samples
        self.n_features = task.n_features
        self.root_weight = None if task.sample_weight is None else np.sqrt(task.sample_weight)
        self.most_entries = SPARSE_ENTRIES if is_sparse(task.X) else DENSE_ENTRIES
        zero = np.zeros(task.n_features + task.n_targets)
        self.mean = self.mean_low = zero
        self.centered = center
        if center:
            self.mean = self._average(zero)
            self.mean_low = self._average(self.mean)

    @classmethod
    def of(cls, design: Array, total_weight: float | None = None) -> "Rows":
        """Return a design as rows of weight 1 about the origin, with zeros as targets.

        If fewer rows stand for more, as a triangular factor does, `total_weight` says how many: n_t.
        """
        design = np.asarray(design, dtype=np.float64)
        rows = cls(Task.of(design, np.zeros((len(design), 1))))
        rows.total_weight = rows.total_weight if total_weight is None else total_weight
        return rows

    @cached_property
    def X(self) -> Array:
        """The X part of A, whole, of shape (n_samples, n_features)."""
        return self.whole()

    def intercept(self, coef: Array) -> Array:
        """Return ȳ − x̄·coef, of shape (n_targets,)."""
        p = self.n_features
        high = self.mean[p:] - self.mean[:p] @ coef
        return np.asarray(high + (self.mean_low[p:] - self.mean_low[:p] @ coef))

    @property
    def offset(self) -> Array:
        """The norms of what centring took off the columns of X: √W·|mean|, of shape (n_features,)."""
        return np.asarray(np.sqrt(self.total_weight) * np.abs(self.mean[: self.n_features]))

    @property
    def fits_in_a_block(self) -> bool:
        """Whether A may be formed whole: X is dense already, or small."""
        return not is_sparse(self.task.X) or self.n_samples * self.n_features <= self.most_entries

    def blocks(self, order: Literal["C", "F"] = "F") -> Iterator[Array]:
        """Yield A in blocks of rows: fresh arrays, which the caller may overwrite."""
        for start, stop in self._cuts():
            block = np.empty((stop - start, len(self.mean)), order=order)
            self._fill(block, *self._part(start, stop), self.mean)
            block -= self.mean_low
            if self.root_weight is not None:
                block *= self.root_weight[start:stop, None]
            yield block

    def columns(self) -> Iterator[tuple[slice, Array]]:
        """Yield the X part of A in blocks of columns, with the slice that says which."""
        step = max(1, self.most_entries // self.n_samples)
        X = self.task.X.tocsc() if is_sparse(self.task.X) else self.task.X
        for start in range(0, self.n_features, step):
            part = slice(start, min(start + step, self.n_features))
            block = np.array(dense(X[:, part]))
            block -= self.mean[part]
            block -= self.mean_low[part]
            if self.root_weight is not None:
                block *= self.root_weight[:, None]
            yield part, block

    def whole(self) -> Array:
        """Return the X part of A whole: for rows that fit in a block."""
        return np.hstack([block for _, block in self.columns()])

    def times(self, coef: Array) -> Array:
        """Return the X part of A times `coef` (n_features, n_columns)."""
        return np.vstack([kernels.product(block[:, : self.n_features], coef) for block in self.blocks("C")])

    def residual(self, coef: Array) -> Array:
        """Return the y part of A less its X part times `coef` (n_features, n_targets)."""
        p = self.n_features
        return np.vstack([block[:, p:] - kernels.product(block[:, :p], coef) for block in self.blocks("C")])

    def transposed_times(self, vector: Array) -> Array:
        """Return the X part of A, transposed, times `vector` (n_samples, n_targets)."""
        if self.n_samples > self.n_features:
            rows = zip(self._cuts(), self.blocks("C"), strict=True)
            return np.asarray(
                sum(kernels.product(block[:, : self.n_features].T, vector[i:j]) for (i, j), block in rows)
            )
        result = np.empty((self.n_features, vector.shape[1]))
        for part, block in self.columns():
            result[part] = kernels.product(block.T, vector)
        return result

    def _cuts(self) -> Iterator[tuple[int, int]]:
        step = max(1, min(BLOCK_ROWS, self.most_entries // len(self.mean)))
        for start in range(0, self.n_samples, step):
            yield start, min(start + step, self.n_samples)

    def _part(self, start: int, stop: int) -> tuple[NDArray[np.floating], Array]:
        """Return rows start to stop of X, float32 as they are, and of y."""
        X = self.task.X[start:stop]
        return dense(X) if is_sparse(X) else X, self.task.y[start:stop]

    def _fill(self, block: Array, X: NDArray[np.floating], y: Array, about: Array | None = None) -> None:
        """Write [X, y], or [X, y] − about, into `block`."""
        p = self.n_features
        step = p if block.flags.c_contiguous else STRIP  # rows turn into columns a strip at a time, in cache
        for first in range(0, p, step):
            part = slice(first, min(first + step, p))
            if about is None:
                block[:, part] = X[:, part]
            else:
                np.subtract(X[:, part], about[part], out=block[:, part])
        block[:, p:] = y if about is None else y - about[p:]

    def _average(self, about: Array) -> Array:
        """Return the weighted mean of [X, y] − about."""
        total = np.zeros_like(about)
        weight = self.task.sample_weight
        for start, stop in self._cuts():
            block = np.empty((stop - start, len(about)))
            self._fill(block, *self._part(start, stop), about)
            total += _sum(block, None if weight is None else weight[start:stop])
        return total / self.total_weight


def _sum(rows: NDArray[np.floating], weight: Array | None) -> Array:
    """Return Σ w·row, in float64."""
    return np.asarray(np.add.reduce(rows, axis=0, dtype=np.float64) if weight is None else weight @ rows)
