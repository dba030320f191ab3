"""The rank of a system, decided here and nowhere else, and the minimum-norm answer that follows from it.

A column carries the rounding of its size before centring. Each column is divided by that size: a direction whose
singular value is then within rounding of zero is dropped, and so is a column that centring left with nothing but
rounding. The answer is computed from the columns as they are, so that the others keep their digits.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array

EPS = float(np.finfo(np.float64).eps)
"""The distance from 1 to the next float64: twice the largest relative rounding error."""
PLAIN = 1e-10
"""A system whose least singular value or eigenvalue is known to exceed this share of the largest needs no estimate."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The answer to a least-squares system.

    Attributes
    ----------
    coef : ndarray of shape (n_features, n_targets)
    rank : int, or None if no system was solved
    growth : float
        How much a rounding error may have grown in `coef`: the condition number over the directions that count,
        columns scaled to unit norm. Infinite if a direction was dropped that the rows might determine.
    constant : tuple of int
        The columns that were dropped as constant although they vary, by no more than rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import solve_triangle
    >>> R, rhs = np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[2.0], [0.0]])
    >>> found = solve_triangle(R, rhs, size=2)
    >>> found.coef.ravel(), found.rank, found.growth  # two equal columns share the answer
    (array([1., 1.]), 1, inf)
    """

    coef: Array
    rank: int | None
    growth: float
    constant: tuple[int, ...] = ()


class Scales(NamedTuple):
    """The sizes of a system's columns.

    Attributes
    ----------
    norms : ndarray of shape (n_features,)
        The norms of the centred columns; 0 for columns that are dropped.
    full : ndarray of shape (n_features,)
        The norms before centring, on which rounding depends; infinite for columns that are dropped.
    constant : tuple of int
        The columns that are dropped although they vary by more than their last bit.
    """

    norms: Array
    full: Array
    constant: tuple[int, ...]


def tolerance(size: int) -> float:
    """Return the relative size below which a singular value of an equilibrated system counts as zero.

    `size` is the smaller side of the system. The factor 16 covers what thirty updates of a triangular factor add up
    to; for a matrix of squares (normal equations) the same bound holds for its eigenvalues.

    Examples
    --------
    >>> from ridgeway.linalg import EPS, tolerance
    >>> tolerance(10) == 160 * EPS
    True
    """
    return 16.0 * max(size, 1) * EPS


def equilibrate(norms: Array, offset: Array | float, size: int) -> Scales:
    """Measure columns, and drop those that are rounding.

    Parameters
    ----------
    norms : the norms of the centred columns
    offset : the norms of what centring took off them, √W·|mean|; a norm below `tolerance` times that is rounding
    size : the smaller side of the system

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import equilibrate
    >>> equilibrate(np.array([3.0, 1e-16]), np.array([4.0, 1.0]), size=2).norms
    array([3., 0.])
    """
    live = norms > tolerance(size) * np.asarray(offset)
    if live.all():
        return Scales(norms, np.hypot(norms, offset), ())
    varies = ~live & (norms > EPS * np.asarray(offset))
    full = np.where(live, np.hypot(norms, offset), np.inf)
    return Scales(np.where(live, norms, 0.0), full, tuple(np.flatnonzero(varies).tolist()))


def numerical_rank(values: Array, size: int, least: float = 0.0) -> int:
    """Count the singular values or eigenvalues (falling) that are not rounding beside the largest, or `least`.

    `least` is 1 for columns divided by their norms before centring: rounding is then a share of 1, however little
    centring left.
    """
    if len(values) == 0 or values[0] == 0.0:
        return 0
    return int(np.count_nonzero(values > tolerance(size) * max(values[0], least)))


def is_cut(rank: int, size: int, norms: Array) -> bool:
    """Return whether directions were dropped although there were enough rows to determine all columns of norm > 0."""
    return rank < int(np.count_nonzero(norms)) <= size


def triangle_growth(R: Array, *, offset: Array | float = 0.0) -> float:
    """Return how much rounding errors grow in a solution with a square triangular factor; infinite if singular.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import triangle_growth
    >>> triangle_growth(np.diag([1.0, 1e-6]))  # units do not matter
    1.0
    >>> triangle_growth(np.array([[1.0, 1.0], [0.0, 0.0]]))
    inf
    """
    p = len(R)
    norms, full, _ = equilibrate(column_norms(R), offset, p)
    if not norms.all() or numerical_rank(kernels.svd(R / full)[1], p, 1.0) < p:
        return np.inf
    s = kernels.svd(R / norms)[1]
    return float(s[0] / s[-1])


def solve_triangle(R: Array, rhs: Array, *, size: int, offset: Array | float = 0.0) -> Solution:
    """Solve min ‖R w − rhs‖ for an upper triangular R, or find the w of least norm if R is singular.

    Parameters
    ----------
    R : ndarray of shape (n_features, n_features), upper triangular
    rhs : ndarray of shape (n_features, n_targets)
    size : the smaller side of the system that R stands for
    offset : norms of what centring took off the columns that R stands for

    Notes
    -----
    O(p²) if a condition estimate shows full rank, an SVD and two QR decompositions at most otherwise. The norm that
    is least is that of w itself, unscaled.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import solve_triangle
    >>> R, w = np.array([[2.0, 1.0], [0.0, 3.0]]), np.array([[1.0], [2.0]])
    >>> solve_triangle(R, R @ w, size=2).coef.ravel()
    array([1., 2.])
    """
    scales = equilibrate(np.sqrt(np.einsum("ij,ij->j", R, R)), offset, size)
    norms, full, _ = scales
    p = len(R)
    if norms.all():
        scaled = np.asfortranarray(R / norms)
        reciprocal = kernels.triangle_condition(scaled)
        plain = reciprocal > p * tolerance(size) * (full / norms).max()  # ‖·‖₁ and ‖·‖₂ differ by at most p
        if plain or numerical_rank(kernels.svd(R / full)[1], size, 1.0) == p:
            return Solution(kernels.solve_triangular(scaled, rhs) / norms[:, None], p, 1.0 / reciprocal)
    return minimum_norm(R, rhs, scales, size)


def solve_under_prior(R: Array, prior: Array, squares: Array, offset: Array) -> Solution | None:
    """Solve R_x w = z, where R_xᵀR_x includes diag(prior); None if that alone does not show full rank. O(p²).

    R = [R_x, z] above the rest. `squares` are the columns' sums of squares, or more. With columns scaled to unit norm,
    no eigenvalue of R_xᵀR_x is below the prior's least share of a square, and none above the trace.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import column_squares, solve_under_prior
    >>> R = np.array([[2.0, 1.0, 4.0], [0.0, 3.0, 6.0], [0.0, 0.0, 1.0]])  # R_x and z
    >>> found = solve_under_prior(R, np.ones(2), column_squares(R[:2, :2]), np.zeros(2))
    >>> np.allclose(R[:2, :2] @ found.coef, R[:2, 2:])
    True
    """
    p, growth = len(prior), growth_under_prior(prior, squares, offset)
    return None if growth is None else Solution(kernels.solve_triangular(R[:p, :p], R[:p, p:]), p, growth)


def growth_under_prior(prior: Array, squares: Array, offset: Array) -> float | None:
    """Return a bound on the growth of rounding errors that a diagonal prior guarantees; None if it guarantees none."""
    reciprocal = float(np.sqrt(np.min(prior / squares) / len(prior)))
    spread = np.hypot(1.0, offset / np.sqrt(prior)).max()
    return 1.0 / reciprocal if reciprocal > max(PLAIN, tolerance(len(prior)) * float(spread)) else None


def plainly_regular(R: Array, *, offset: Array | float = 0.0) -> bool:
    """Return whether a condition estimate alone shows that an upper triangular R has full rank. O(p²)."""
    p = len(R)
    norms, full, _ = equilibrate(column_norms(R), offset, p)
    if not norms.all():
        return False
    return bool(kernels.triangle_condition(np.asfortranarray(R / norms)) > p * tolerance(p) * (full / norms).max())


def column_squares(R: Array) -> Array:
    """Return each column's sum of squares.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import column_squares
    >>> column_squares(np.array([[3.0, 1.0], [4.0, 1.0]]))
    array([25.,  2.])
    """
    return np.asarray(np.einsum("ij,ij->j", R, R))


def column_norms(R: Array) -> Array:
    """Return the norm of each column.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import column_norms
    >>> column_norms(np.array([[3.0, 1.0], [4.0, 0.0]]))
    array([5., 1.])
    """
    return np.asarray(np.sqrt(column_squares(R)))


def independent_rows(A: Array, rhs: Array, scales: Scales, size: int) -> tuple[Array, Array]:
    """Return as many rows as A has rank, that say what A w = rhs says, less the directions that are rounding.

    A QR decomposition with the columns of largest full norm first: whatever their scales, each column of the result
    has the digits that it has in A. O(n·p·min(n, p)).
    """
    rows, basis = _independent(A, scales, size)
    return rows, basis.T @ rhs


def row_basis(A: Array, *, size: int, offset: Array | float = 0.0) -> tuple[Array, Array]:
    """Return as many rows as A has rank, and a Q with orthonormal columns such that A = Q·rows but for rounding.

    Qᵀ·rhs are then the right-hand sides of these rows, and rhs − Q·Qᵀ·rhs is what no w reaches. O(n·p·min(n, p)).

    Parameters
    ----------
    A : ndarray of shape (n, n_features)
    size : the smaller side of the system that A stands for
    offset : norms of what centring took off the columns that A stands for

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import row_basis
    >>> A = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    >>> rows, Q = row_basis(A, size=2)
    >>> len(rows), np.allclose(Q @ rows, A)
    (1, True)
    """
    return _independent(A, equilibrate(column_norms(A), offset, size), size)


def _independent(A: Array, scales: Scales, size: int) -> tuple[Array, Array]:
    Q, T, order = kernels.pivoted_qr(A / scales.full)
    rank = _pivoted_rank(T, size)
    rows = np.empty((rank, A.shape[1]))
    rows[:, order] = T[:rank]
    return rows * np.where(scales.norms > 0.0, scales.full, 0.0), Q[:, :rank]


def _pivoted_rank(T: Array, size: int) -> int:
    """Return the rank of the trapezoidal factor of a pivoted QR decomposition, columns of norm at most 1."""
    most, p = T.shape
    if most == 0 or T[0, 0] == 0.0:
        return 0
    # No singular value is below 1/(√most·‖T⁻¹‖₁), and none is above √p.
    if kernels.triangle_condition(np.asfortranarray(T[:, :most])) * abs(T[0, 0]) > p * tolerance(size):
        return int(most)
    return numerical_rank(kernels.svd(T)[1], size, 1.0)


def without_rounding(A: Array, rhs: Array, *, offset: Array | float = 0.0) -> tuple[Array, Array]:
    """Return rows that say what A w = rhs says, less the directions and columns that are rounding.

    A penalty far below the rounding of A's squares would let those through: rounding over penalty is large. Returns A
    itself if nothing is dropped. O(n·p·min(n, p)).
    """
    size = min(A.shape)
    scales = equilibrate(column_norms(A), offset, size)
    rows, right = independent_rows(A, rhs, scales, size)
    return (A, rhs) if len(rows) == size and scales.norms.all() else (rows, right)


def minimum_norm(A: Array, rhs: Array, scales: Scales, size: int) -> Solution:
    """Solve A w = rhs with the least norm, in the least-squares sense if A is singular. O(n·p·min(n, p)).

    Parameters
    ----------
    A, rhs : ndarrays of n rows, as many as A has columns at most
    scales : those of A's columns
    size : the rank that A has if nothing is collinear
    """
    rows, right = independent_rows(A, rhs, scales, size)
    rank = len(rows)
    cut = is_cut(rank, size, scales.norms)
    if rank == 0:
        return Solution(np.zeros((A.shape[1], rhs.shape[1])), 0, np.inf if cut else 1.0, scales.constant)
    divisor = np.where(scales.norms > 0.0, scales.norms, np.inf)
    basis, L = kernels.qr((rows / divisor).T)
    inner = kernels.solve_triangular(L, right, transposed=True)
    growth = np.inf if cut else 1.0 / kernels.triangle_condition(np.asfortranarray(L))
    return Solution(least_norm(scales.norms, basis, inner), rank, growth, scales.constant)


def least_norm(scale: Array, basis: Array, inner: Array) -> Array:
    """Return the w of least norm with basisᵀ·diag(scale)·w = inner.

    w lies in the row space, w = diag(scale)·basis·c. With the QR decomposition diag(scale)·basis = Q·T that is
    w = Q·T⁻ᵀ·inner: nothing cancels, whatever the scales. Rows sorted by size and pivoted columns keep the small
    rows of Q accurate (Cox and Higham, 1998).
    """
    rows = scale[:, None] * basis
    order = np.argsort(-scale, kind="stable")
    Q, T, pivots = kernels.pivoted_qr(rows[order])
    coef = np.empty((len(scale), inner.shape[1]))
    coef[order] = Q @ kernels.solve_triangular(T, inner[pivots], transposed=True)
    return coef
