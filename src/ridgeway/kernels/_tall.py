"""A task's rows in blocks: cut at places that depend on the shape alone, filled by all threads, joined in a fixed tree.

So the bits of the result do not depend on the number of threads.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.data import dense, is_sparse
from ridgeway.kernels._means import Mean, two_sum
from ridgeway.kernels._threads import OneThread, in_parallel, threads_for

T = TypeVar("T")

ENTRIES = 2**18
"""Entries of a block: 2 MiB. In smaller ones the BLAS calls of many threads get in each other's way."""
NARROW, FEW_BLOCKS = 64, 8
"""Columns below which a block is narrow. More than a few blocks that are not narrow get twice as many entries."""
TALL = 4
"""A block has at least this many rows for every column, so that joining blocks costs little beside making them."""
LONG = 64
"""Rows that a mean is subtracted from at once."""
SAMPLE = 64
"""Rows whose mean stands in for the mean of a task at first."""
EPS = float(np.finfo(np.float64).eps)


class TaskRows(NamedTuple):
    """The rows [X, y] of a task, and the roots of their weights; None if all weigh 1."""

    X: Any
    y: Array
    weight: Array | None
    root: Array | None

    @classmethod
    def of(cls, X: Any, y: Array, weight: Array | None) -> "TaskRows":
        """Return the rows of a task."""
        return cls(X, y, weight, None if weight is None else np.sqrt(weight))

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1] + self.y.shape[1])

    def part(self, rows: slice) -> "TaskRows":
        """Return some of the rows."""
        weight, root = (None if one is None else one[rows] for one in (self.weight, self.root))
        return TaskRows(self.X[rows], self.y[rows], weight, root)

    def total_weight(self) -> float:
        """Return the sum of the weights."""
        return float(len(self.y)) if self.weight is None else float(self.weight.sum())

    def mean(self) -> Array:
        """Return the weighted mean of the rows."""
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        return np.concatenate([weight @ self._dense(), weight @ self.y]) / self.total_weight()

    @property
    def are_plain(self) -> bool:
        """Whether the rows are an array of floats that all weigh 1."""
        return self.weight is None and type(self.X) is np.ndarray and self.X.dtype in (np.float64, np.float32)

    def about_zero(self) -> Mean:
        """Return what stands for the mean of rows that are taken as they are."""
        return Mean(self.total_weight(), np.zeros(self.width), np.zeros(self.width))

    def write(self, block: Array, about: Array | None) -> None:
        """Write the rows, less `about`, into an array of the same shape."""
        p, X = self.X.shape[1], self._dense()
        if about is None:
            block[:, :p], block[:, p:] = X, self.y
        elif block.strides[0] > block.strides[1]:
            np.subtract(X, about[:p], out=block[:, :p])
            np.subtract(self.y, about[p:], out=block[:, p:])
        else:  # by columns, as the block is in memory
            np.subtract(X.T, about[:p, None], out=block[:, :p].T)
            np.subtract(self.y.T, about[p:, None], out=block[:, p:].T)

    def about(self, point: Array, buffer: Array) -> "TaskRows":
        """Return plain rows in C order less a point, X in a buffer, and a column of ones as the first target."""
        (n, p), k = self.X.shape, self.y.shape[1]
        X, y = buffer[: n * p].reshape(n, p), np.empty((n, 1 + k), order="F")
        source = self.X
        if source.dtype != X.dtype:  # NumPy subtracts more slowly if it has to convert, too
            X[:] = source
            source = X
        even = n - n % LONG  # several rows as one: loops over short rows are slow
        np.subtract(source[:even].reshape(-1, LONG * p), np.tile(point[:p], LONG), out=X[:even].reshape(-1, LONG * p))
        np.subtract(source[even:], point[:p], out=X[even:])
        y[:, 0] = 1.0
        np.subtract(self.y, point[p:], out=y[:, 1:])
        return TaskRows(X, y, None, None)

    def _dense(self) -> NDArray[np.floating]:
        """Return X, float32 as it is, as an array."""
        return dense(self.X) if is_sparse(self.X) else self.X


def condensed(
    rows: TaskRows, tree: Callable[[Array | None], Array], *, centered: bool, factored: bool
) -> tuple[Array, Mean]:
    """Return the factor or the products of all rows about their mean, and the mean; if not `centered`, as they are.

    [1, rows − about] is condensed, `about` being the mean of a few rows. What this says about the column of ones gives
    the mean and, as in any regression on a constant, the rest about it. If `about` turns out to be far from the mean,
    all is done again about the mean: no digits are lost to the distance.

    Parameters
    ----------
    tree : what condenses [1, rows − about], or the rows as they are if `about` is None
    factored : whether `tree` returns a triangular factor; if not, the products of all columns
    """
    if not centered:
        return tree(None), rows.about_zero()
    with OneThread():  # the same bits with any number of threads
        about = rows.part(slice(None, None, max(len(rows.y) // SAMPLE, 1))).mean()
    weight = rows.total_weight()
    matrix, away = _split(tree(about), factored)
    squares = np.einsum("ij,ij->j", matrix, matrix) if factored else matrix.diagonal()
    if ((weight * np.square(away) > squares) & (np.abs(away) > 4.0 * EPS * np.abs(about))).any():
        about = about + away
        matrix, away = _split(tree(about), factored)
    return matrix, Mean(weight, *two_sum(about, away))


def _split(matrix: Array, factored: bool) -> tuple[Array, Array]:
    """Return what stands about the mean, and the mean, from a matrix whose first column was ones."""
    away = matrix[0, 1:] / matrix[0, 0]
    if factored:
        return matrix[1:, 1:], away
    inner = matrix[1:, 1:] - away[:, None] * matrix[0, 1:]
    np.fill_diagonal(inner, inner.diagonal().clip(0.0))
    return inner, away


def copied_blocks(
    rows: TaskRows, about: Array | None, make: Callable[[Array], Array], join: Callable[[Array, Array], Array]
) -> Array:
    """Return the join of what `make` returns for a copy of every block; with a column of ones if about a point."""
    first = int(about is not None)

    def worker(n_rows: int) -> Callable[[TaskRows], Array]:
        width = first + rows.width
        buffer = np.empty(n_rows * width)

        def make_from(part: TaskRows) -> Array:
            block = buffer[: len(part.y) * width].reshape((-1, width), order="F")
            part.write(block[:, first:], about)
            if first:
                block[:, 0] = 1.0
            if part.root is not None:
                block *= part.root[:, None]
            return make(block)

        return make_from

    return in_blocks(rows, worker, join)


def in_blocks(
    rows: TaskRows, worker: Callable[[int], Callable[[TaskRows], Array]], join: Callable[[Array, Array], Array]
) -> Array:
    """Return the join of what workers make of each block of the rows. A worker is told how many rows a block has."""
    n = len(rows.y)
    total = n_blocks(n, rows.width)
    cuts = [n * i // total for i in range(total + 1)]

    def numbered() -> Callable[[int], Array]:
        make = worker(-(-n // total))
        return lambda i: make(rows.part(slice(cuts[i], cuts[i + 1])))

    if total > 1:
        return joined_in_a_tree(numbered, join, total)
    with threads_for(rows.width, n * rows.width**2):
        return numbered()(0)


def n_blocks(n_rows: int, width: int) -> int:
    """Return into how many blocks some rows are cut."""
    blocks = n_rows / max(ENTRIES // width, TALL * width)
    return max(round(blocks if width < NARROW else blocks / 2), min(round(blocks), FEW_BLOCKS), 1)


def joined_in_a_tree(worker: Callable[[], Callable[[int], T]], join: Callable[[T, T], T], n_leaves: int) -> T:
    """Return the join of leaves 0, …, n_leaves − 1, each made by a worker, in a binary tree.

    Whoever makes the second of two neighbours joins them, so that all threads join, and few results wait.
    """
    waiting: dict[tuple[int, int], tuple[int, T]] = {}
    found: list[T] = []

    def climbing() -> Callable[[int], None]:
        make = worker()

        def climb(i: int) -> None:
            value, width = make(i), n_leaves
            while width > 1:
                if i ^ 1 < width:  # it has a neighbour
                    own = (i, value)
                    other = waiting.setdefault((width, i // 2), own)
                    if other is own:
                        return
                    del waiting[width, i // 2]
                    value = join(*((other[1], value) if other[0] < i else (value, other[1])))
                i, width = i // 2, (width + 1) // 2
            found.append(value)

        return climb

    in_parallel(climbing, n_leaves)
    return found[0]
