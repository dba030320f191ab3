"""A task's rows as the numerical core sees them: centred, weighted, dense one block at a time."""

from collections.abc import Iterator
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from ridgeway._validation import Task, dense, is_sparse

Array = NDArray[np.float64]

BLOCK_ROWS = 1024
STRIP = 32
SAMPLE = 256
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
    about : the point that is taken off instead, as a sum of two; zero if not given
    """

    def __init__(self, task: Task, *, center: bool = False, about: tuple[Array, Array] | None = None) -> None:
        self.task = task
        self.total_weight = task.total_weight
        self.n_samples = task.n_samples
        self.n_features = task.n_features
        self.root_weight = None if task.sample_weight is None else np.sqrt(task.sample_weight)
        self.most_entries = SPARSE_ENTRIES if is_sparse(task.X) else DENSE_ENTRIES
        zero = np.zeros(task.n_features + task.n_targets)
        self.mean, self.mean_low = (zero, zero) if about is None else about
        if center:
            self.mean = self._average(zero)
            self.mean_low = self._average(self.mean)

    @classmethod
    def near_their_mean(cls, task: Task) -> Self:
        """Return the rows about a point near their mean, found from a few of them: one pass over the rows is saved."""
        sample = np.linspace(0, task.n_samples - 1, min(task.n_samples, SAMPLE)).astype(int)
        point = np.hstack([dense(task.X[sample]), task.y[sample]]).mean(axis=0)
        return cls(task, about=(point, np.zeros_like(point)))

    @property
    def offset(self) -> Array:
        """The norms of what centring took off the columns of X: √W·|mean|, of shape (n_features,)."""
        return np.asarray(np.sqrt(self.total_weight) * np.abs(self.mean[: self.n_features]))

    @property
    def fits_in_a_block(self) -> bool:
        """Whether A may be formed whole: X is dense already, or small."""
        return not is_sparse(self.task.X) or self.n_samples * self.n_features <= self.most_entries

    def blocks(self, order: Literal["C", "F"] = "F", *, with_ones: bool = False) -> Iterator[Array]:
        """Yield A in blocks of rows: fresh arrays, which the caller may overwrite; √w in front if `with_ones`."""
        for start, stop in self._cuts():
            block = np.empty((stop - start, with_ones + len(self.mean)), order=order)
            block[:, :with_ones] = 1.0
            self._fill(block[:, with_ones:], start, stop)
            block[:, with_ones:] -= self.mean
            block[:, with_ones:] -= self.mean_low
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
        return np.vstack([block[:, : self.n_features] @ coef for block in self.blocks("C")])

    def residual(self, coef: Array) -> Array:
        """Return the y part of A less its X part times `coef` (n_features, n_targets)."""
        p = self.n_features
        return np.vstack([block[:, p:] - block[:, :p] @ coef for block in self.blocks("C")])

    def transposed_times(self, vector: Array) -> Array:
        """Return the X part of A, transposed, times `vector` (n_samples, n_targets)."""
        if self.n_samples > self.n_features:
            rows = zip(self._cuts(), self.blocks("C"), strict=True)
            return np.asarray(sum(block[:, : self.n_features].T @ vector[i:j] for (i, j), block in rows))
        result = np.empty((self.n_features, vector.shape[1]))
        for part, block in self.columns():
            result[part] = block.T @ vector
        return result

    def _cuts(self) -> Iterator[tuple[int, int]]:
        step = max(1, min(BLOCK_ROWS, self.most_entries // len(self.mean)))
        for start in range(0, self.n_samples, step):
            yield start, min(start + step, self.n_samples)

    def _fill(self, block: Array, start: int, stop: int) -> None:
        X = dense(self.task.X[start:stop])
        for first in range(0, self.n_features, STRIP):  # a strip at a time: rows turn into columns in cache
            part = slice(first, min(first + STRIP, self.n_features))
            block[:, part] = X[:, part]
        block[:, self.n_features :] = self.task.y[start:stop]

    def _average(self, about: Array) -> Array:
        """Return the weighted mean of [X, y] − about."""
        total = np.zeros_like(about)
        weight = self.task.sample_weight
        for start, stop in self._cuts():
            block = np.empty((stop - start, len(about)))
            self._fill(block, start, stop)
            block -= about
            total += block.sum(axis=0) if weight is None else weight[start:stop] @ block
        return total / self.total_weight
