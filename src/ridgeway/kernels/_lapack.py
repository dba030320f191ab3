"""What makes the kernels fast: rows in blocks, LAPACK in place, and threads if they pay."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs, dtrcon
from scipy.linalg.lapack import dtrtrs as small_dtrtrs

from ridgeway._checks import Array
from ridgeway.kernels import _reference as plain
from ridgeway.kernels import _tall
from ridgeway.kernels._means import Mean, about_own_mean
from ridgeway.kernels._returned import Updated, twin_of
from ridgeway.kernels._routines import dsyrk, dtpmqrt, dtpqrt, dtrtrs
from ridgeway.kernels._tall import TaskRows, condensed, copied_blocks, in_blocks, n_blocks
from ridgeway.kernels._threads import FEW, WIDE, OneThread, few_threads, in_parallel, threads_for

ONE_PASS = 2**14
"""Entries of a task above which one pass over the rows is faster than three."""
SINGLE = 2**12
"""Entries of a matrix below which BLAS multiplies it by a vector with one thread."""
ROWS = 1024
"""Rows that are added at a time to a wide matrix."""
NARROW_REFLECTORS = 4
"""Block size of LAPACK for a narrow block of a tall task: the columns whose reflectors are combined."""
PANEL, STRIP = 192, 128
"""Columns of a wide factor that are factored at a time, and that a thread updates at a time."""
ROUNDING = 16.0 * float(np.finfo(np.float64).eps)
"""Rounding that may remain of rows that are eliminated, relative to their largest entries and to their number."""
LARGE = 100.0
"""How many times larger than a factor rows must be to be placed above it."""

pivoted_qr = few_threads(plain.pivoted_qr)
qr = few_threads(plain.qr)
svd = few_threads(plain.svd)
right_svds = few_threads(plain.right_svds)
triangular_factor = few_threads(plain.triangular_factor)
eigen = few_threads(plain.eigen)
smallest_eigenvalue = few_threads(plain.smallest_eigenvalue)
product = few_threads(plain.product)


@twin_of(plain.factor_update)
@np.errstate(over="ignore", invalid="ignore")  # what is not finite shows in the squares
def factor_update(R: Array, past: Mean, X: Any, y: Array, weight: Array | None, *, centered: bool) -> Updated:
    """As `_reference.factor_update`."""
    if not _is_tall(X, y, least=_tall.ENTRIES) or n_blocks(len(y), len(R)) == 1:
        return _by_rows(R, past, (X, y, weight), "F", centered, _absorb)
    rows = TaskRows.of(X, y, weight)
    tree = partial(copied_blocks, rows, make=_factor_of, join=_joined_factors)
    task, own = condensed(rows, tree, centered=centered, factored=True)
    mean, gap = _together(past, own, centered)
    below = np.empty((1 + len(task), rows.width), order="F")
    below[0], below[1:] = gap, task
    squares = np.einsum("ij,ij->j", below, below)
    return Updated(_stacked(R, below, len(task)), mean, squares)


@twin_of(plain.comoment_update)
@np.errstate(over="ignore", invalid="ignore")  # what is not finite shows in the squares
def comoment_update(S: Array, past: Mean, X: Any, y: Array, weight: Array | None, *, centered: bool) -> Updated:
    """As `_reference.comoment_update`."""
    if not _is_tall(X, y, least=ONE_PASS):
        return _by_rows(S, past, (X, y, weight), "C", centered, _multiply)
    rows = TaskRows.of(X, y, weight)
    task, own = condensed(rows, partial(_all_products, rows), centered=centered, factored=False)
    mean, gap = _together(past, own, centered)
    task += gap[:, None] * gap
    return Updated(S + np.triu(task), mean, task.diagonal())


@twin_of(plain.comoments_of)
def comoments_of(rows: Array, S: Array, factor: float = 1.0) -> Array:
    """As `_reference.comoments_of`."""
    total = S.copy(order="F")
    with threads_for(rows.shape[1], rows.size * rows.shape[1]):
        dsyrk(factor, np.ascontiguousarray(rows), total)
    return total


@twin_of(plain.qr_update)
def qr_update(R: Array, rows: Array, *, triangular: bool = False) -> Array:
    """As `_reference.qr_update`."""
    if triangular and rows.shape == R.shape and _outweighs(rows, R):
        R, rows = rows, R  # the larger of two triangles on top is the order of the rows that costs nothing
    rows = rows[: _filled(rows)].copy(order="F") if triangular else rows.copy(order="F")
    return _stacked(R, rows, len(rows) if triangular else 0)


@twin_of(plain.solve_triangular)
def solve_triangular(R: Array, right: Array, *, transposed: bool = False) -> Array:
    """As `_reference.solve_triangular`."""
    if not R.size:  # LAPACK would complain
        return right.copy()
    if R.size < FEW and R.size * right.shape[1] < FEW:
        return np.asarray(small_dtrtrs(R, right, trans=int(transposed))[0])
    solved = right.copy(order="F")
    if R.strides[0] != R.itemsize:
        R = np.asfortranarray(R)
    # BLAS threads that share one column spend most of their time waiting for each other.
    n_columns, multiplications = min(len(R), right.shape[1]), R.size * right.shape[1]
    with threads_for(n_columns, multiplications), np.errstate(over="ignore", invalid="ignore"):
        dtrtrs(R, solved, transposed=transposed)
    return solved


@twin_of(plain.triangle_condition)
def triangle_condition(R: Array) -> float:
    """As `_reference.triangle_condition`, estimated."""
    if R.size < FEW:
        return float(dtrcon(R, norm="1", uplo="U", diag="N")[0])
    with threads_for(len(R), R.size):
        return float(dtrcon(R, norm="1", uplo="U", diag="N")[0])


@twin_of(plain.cholesky)
def cholesky(S: Array, *, overwrite: bool = False) -> Array | None:
    """As `_reference.cholesky`."""
    with threads_for(len(S), S.size * len(S)):
        U, failed = dpotrf(S, overwrite_a=overwrite)
    return None if failed else U


@twin_of(plain.definite_condition)
def definite_condition(U: Array, norm: float) -> float:
    """As `_reference.definite_condition`, estimated."""
    with threads_for(len(U), U.size):
        return float(dpocon(U, norm)[0])


@twin_of(plain.definite_solve)
def definite_solve(U: Array, right: Array) -> Array:
    """As `_reference.definite_solve`."""
    with threads_for(min(len(U), right.shape[1]), U.size * right.shape[1]):
        return np.asarray(dpotrs(U, right)[0])


def _is_tall(X: Any, y: Array, *, least: int) -> bool:
    """Return whether a task has enough numbers, and enough rows for its columns, to be condensed first."""
    n, width = len(y), X.shape[1] + y.shape[1]
    return n * width > least and n >= _tall.TALL * width and bool(width < WIDE)


def _by_rows(
    matrix: Array,
    mean: Mean,
    rows: tuple[Any, Array, Array | None],
    order: Literal["C", "F"],
    centered: bool,
    add: Callable[[Array, Array, Array], None],
) -> Updated:
    """Add the rows themselves, some at a time, each part about its own mean; `add` writes to a new matrix."""
    (X, y, weight), width = rows, len(matrix)
    new, squares = np.zeros(matrix.shape, order="F"), np.zeros(width)
    step = ROWS if width >= WIDE else len(y)
    with _one_thread(len(y), width):  # once for all that is inside: a limit takes time
        for start in range(0, len(y), step):
            part = slice(start, start + step)
            own_weight = None if weight is None else weight[part]
            with OneThread() if width >= WIDE else nullcontext():
                block, own = about_own_mean(X[part], y[part], own_weight, order, centered=centered)
            mean, block[0] = _together(mean, own, centered)
            squares += np.einsum("ij,ij->j", block, block)
            add(matrix, block, new)
            matrix = new
    return Updated(matrix, mean, squares)


def _one_thread(n: int, width: int) -> AbstractContextManager[int | None]:
    """Return a context in which rows are added to a narrow matrix: the same bits with any number of threads.

    BLAS uses one thread for what is small anyway.
    """
    small = (n + width) * width < SINGLE and n * width**2 < FEW
    return nullcontext() if small or width >= WIDE else OneThread()


def _together(past: Mean, own: Mean, centered: bool) -> tuple[Mean, Array]:
    """Return the mean of all rows, and the row that stands for the distance between the two means."""
    if centered:
        return past.joined(own)
    return past._replace(weight=past.weight + own.weight), np.zeros_like(past.high)


def _multiply(S: Array, rows: Array, new: Array) -> None:
    """Write S + rowsᵀrows to `new`, zeros or S itself."""
    new[:] = S
    with threads_for(len(S), rows.size * len(S)):
        dsyrk(1.0, rows, new)


def _all_products(rows: TaskRows, about: Array | None) -> Array:
    """Return the products of [1, rows − about], or of the rows as they are."""
    if not rows.are_plain or not (about is None or rows.X.flags.c_contiguous):
        return copied_blocks(rows, about, make=_products_of, join=np.add)
    if about is None:
        return in_blocks(rows, lambda _: _products_of_rows, np.add)

    def worker(n_rows: int) -> Callable[[TaskRows], Array]:
        buffer = np.empty(n_rows * rows.X.shape[1])
        return lambda part: _products_of_rows(part.about(about, buffer))

    p, found = rows.X.shape[1], in_blocks(rows, worker, np.add)
    ones_first = np.r_[p, :p, p + 1 : 1 + rows.width]
    return np.asfortranarray(found[np.ix_(ones_first, ones_first)])


def _products_of(block: Array) -> Array:
    products: Array = np.dot(block.T, block)  # it releases Python's lock, which `@` does not
    return products.T


def _products_of_rows(part: TaskRows) -> Array:
    """Return the products of plain rows, which are copied only if BLAS cannot take them as they are."""
    in_order = part.X.flags.c_contiguous
    X = part.X if in_order and part.X.dtype == np.float64 else part.X.astype(np.float64, order="C" if in_order else "F")
    p, S = X.shape[1], np.empty((part.width,) * 2, order="F")
    S[:p, :p], S[p:, p:], S[:p, p:] = np.dot(X.T, X), np.dot(part.y.T, part.y), np.dot(X.T, part.y)
    S[p:, :p] = S[:p, p:].T
    return S


def _factor_of(block: Array) -> Array:
    width = block.shape[1]
    R = np.zeros((width, width), order="F")
    dtpqrt(R, block, triangular_rows=0, panel=min(NARROW_REFLECTORS, width) if width < _tall.NARROW else None)
    return R


def _joined_factors(one: Array, two: Array) -> Array:
    dtpqrt(one, two, triangular_rows=len(two))
    return one


def _stacked(R: Array, rows: Array, triangular_rows: int) -> Array:
    new = np.zeros(R.shape, order="F")
    _absorb(R, rows, new, triangular_rows)
    return new


def _absorb(R: Array, rows: Array, new: Array, triangular_rows: int = 0) -> None:
    """Write the factor of R's rows and of others, which are overwritten, to `new`: zeros or R itself.

    A wide factor takes them panel by panel; the threads share out the columns right of a panel.
    """
    width = len(R)
    if _outweighs(rows, R):
        with OneThread():
            new[:] = plain.qr_update(R, rows)
        return
    if width >= WIDE:
        with OneThread():
            _absorb_wide(R, rows, new, triangular_rows)
        return
    new[:] = R
    with _one_thread(len(rows), width):
        dtpqrt(new, rows, triangular_rows=triangular_rows)


def _absorb_wide(R: Array, rows: Array, new: Array, triangular_rows: int) -> None:
    """Do the same panel by panel, until nothing is left of the rows: after as many columns as there are rows in all."""
    if not len(rows):
        new[:] = R
        return
    width, full, in_all = len(R), len(rows) - triangular_rows, _filled(R) + len(rows)
    limit = ROUNDING * len(rows) * _largest(rows) if in_all < width else np.empty(0)
    stop = 0
    while stop < width:
        start, stop = stop, min(stop + PANEL, in_all if stop < in_all else width, width)
        used = rows[: full + min(stop, triangular_rows), start:]  # below, these columns are zero
        panel = R[start:stop, start:], new[start:stop, start:]
        _absorb_panel(*panel, used, max(min(stop, triangular_rows) - start, 0))
        if in_all <= stop < width and (_largest(rows[:, stop:]) <= limit[stop:]).all():
            return


def _filled(R: Array) -> int:
    """Return how many rows of a triangular factor come before those of zeros; all, if the diagonal cannot show it."""
    count = int(np.flatnonzero(R.diagonal()).max(initial=-1)) + 1
    return len(R) if R[count:, count:].any() else count


def _largest(rows: Array) -> Array:
    """Return the largest absolute value in each column."""
    return np.asarray(np.maximum(rows.max(axis=0), -rows.min(axis=0)))


def _outweighs(rows: Array, R: Array) -> bool:
    """Return whether some rows are so much larger than R that digits of R are lost unless they are placed above it."""
    held = max(np.abs(R.diagonal()).max(), np.abs(R[:, -1]).max())
    largest = max(rows.max(initial=0.0), -rows.min(initial=0.0))
    if not 0.0 < LARGE * held < largest < np.inf:
        return False
    return bool(LARGE * np.abs(R).max() < largest)  # collinear columns hide large entries above a small diagonal


def _absorb_panel(panel: Array, new: Array, rows: Array, triangular_rows: int) -> None:
    """Do the same for the first rows of a factor, R[i:j, i:], and the columns of the rows from there."""
    size, width = panel.shape
    own, corner = rows[:, :size], new[:, :size]
    corner[:] = panel[:, :size]
    factors = dtpqrt(corner, own, triangular_rows=triangular_rows)

    def turn(strip: int) -> None:
        columns = slice(size + strip * STRIP, min(size + (strip + 1) * STRIP, width))
        new[:, columns] = panel[:, columns]
        dtpmqrt(own, factors, new[:, columns], rows[:, columns], triangular_rows=triangular_rows)

    in_parallel(lambda: turn, -((size - width) // STRIP))
