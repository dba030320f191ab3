"""The rank of a system, decided here and nowhere else, and the minimum-norm answer that follows from it."""

from dataclasses import dataclass

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array

EPS = float(np.finfo(np.float64).eps)
PLAIN = 1e-10
"""A system whose least singular value or eigenvalue is known to exceed this share of the largest needs no estimate."""
STRIP = 128
"""Columns of a large matrix that are scaled at a time."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The answer to a least-squares system.

    Attributes
    ----------
    coef : ndarray of shape (n_features, n_targets)
    rank : int, or None if no system was solved
    growth : float
        How much a rounding error may have grown in `coef`: the condition number over the directions that count,
        columns scaled to unit norm. Infinite if directions that count as collinear may be only nearly so.
    """

    coef: Array
    rank: int | None
    growth: float


def tolerance(size: int) -> float:
    """Return the relative size below which a singular value of an equilibrated system counts as zero.

    `size` is the smaller side of the system. The factor 16 covers what thirty updates of a triangular factor add up
    to; for a matrix of squares (normal equations) the same bound holds for its eigenvalues.
    """
    return 16.0 * max(size, 1) * EPS


def equilibrate(norms: Array, offset: Array | float) -> tuple[Array, Array]:
    """Return the scale of each column, and how much centring magnified its rounding.

    Parameters
    ----------
    norms : the norms of the centred columns
    offset : the norms of what centring took off them, √W·|mean|

    Returns
    -------
    scale : the norms, or 0 if only the rounding of the offset is left
    spread : √(norm² + offset²)/norm, or 1 if the scale is 0
    """
    live = norms > EPS * np.asarray(offset)
    scale = np.where(live, norms, 0.0)
    return scale, np.hypot(1.0, np.where(live, offset, 0.0) / np.where(live, norms, 1.0))


def numerical_rank(singular_values: Array, noise: Array | float, size: int) -> int:
    """Count the singular values (descending, of an equilibrated system) that are not rounding.

    `noise` is how much the rounding along each singular direction was magnified: 1, or ‖spread∘v‖ after centring.
    """
    if len(singular_values) == 0 or singular_values[0] == 0.0:
        return 0
    return int(np.count_nonzero(singular_values > tolerance(size) * singular_values[0] * noise))


def triangle_growth(R: Array, *, offset: Array | float = 0.0) -> float:
    """Return how much rounding errors grow in a solution with a square triangular factor; infinite if singular."""
    scale, spread = equilibrate(column_norms(R), offset)
    _, s, Vt = kernels.svd(R / np.where(scale > 0.0, scale, np.inf))
    full = numerical_rank(s, _noise(Vt, spread), len(R)) == len(R)
    return float(s[0] / s[-1]) if full else np.inf


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
    O(p²) if a condition estimate shows full rank, one SVD otherwise. Columns are scaled to unit norm before the
    rank is decided; the norm that is least is that of w itself, unscaled.
    """
    scale, spread = equilibrate(np.sqrt(np.einsum("ij,ij->j", R, R)), offset)
    live = scale > 0.0
    scaled = np.asfortranarray(R / np.where(live, scale, np.inf))
    p = len(R)
    if live.all():
        reciprocal = kernels.triangle_condition(scaled)
        if reciprocal > p * tolerance(size) * spread.max():  # ‖·‖₁ and ‖·‖₂ differ by at most p
            return Solution(kernels.solve_triangular(scaled, rhs) / scale[:, None], p, 1.0 / reciprocal)
    U, s, Vt = kernels.svd(scaled)
    rank = numerical_rank(s, _noise(Vt, spread), size)
    growth = s[0] / s[rank - 1] if rank else 1.0
    if rank == p:
        return Solution(kernels.solve_triangular(scaled, rhs) / scale[:, None], p, growth)
    inner = (U[:, :rank].T @ rhs) / s[:rank, None]
    return Solution(least_norm(scale, Vt[:rank].T, inner), rank, growth)


def solve_under_prior(R: Array, prior: Array, squares: Array, offset: Array) -> Solution | None:
    """Solve R_x w = z, where R_xᵀR_x includes diag(prior); None if that alone does not show full rank. O(p²).

    R = [R_x, z] above the rest. `squares` are the columns' sums of squares, or more. At unit columns no eigenvalue of
    R_xᵀR_x is below the prior's least share of a square, and none above the trace.
    """
    p = len(prior)
    reciprocal = float(np.sqrt(np.min(prior / squares) / p))
    spread = np.hypot(1.0, offset / np.sqrt(prior)).max()
    if not reciprocal > max(PLAIN, tolerance(p) * float(spread)):
        return None
    return Solution(kernels.solve_triangular(R[:p, :p], R[:p, p:]), p, 1.0 / reciprocal)


def plainly_regular(R: Array, *, offset: Array | float = 0.0) -> bool:
    """Return whether a condition estimate alone shows that an upper triangular R has full rank. O(p²)."""
    scale, spread = equilibrate(column_norms(R), offset)
    if not scale.all():
        return False
    return kernels.triangle_condition(np.asfortranarray(R / scale)) > len(R) * tolerance(len(R)) * float(spread.max())


def solve_moments(
    S: Array, rhs: Array, *, size: int, offset: Array | float = 0.0, prior: Array | float = 0.0
) -> Solution:
    """Solve (S + diag(prior))·w = rhs for the upper triangle S of XᵀX; take the w of least norm if that is singular.

    As `solve_triangle`, from squares: one Cholesky factorisation if the system is safely definite, one
    eigendecomposition otherwise. The growth of rounding errors is squared too.
    """
    p = len(rhs)
    squares = S.diagonal() + prior  # scaled by these, S + diag(prior) has a unit diagonal
    scale, spread = equilibrate(np.sqrt(squares), offset)
    live = scale > 0.0
    divisor = np.where(live, scale, np.inf)
    right = rhs / divisor[:, None]
    if live.all():
        # No eigenvalue is below the prior's least share of a square, and none above the trace.
        bound = float(np.min(prior / squares)) / p
        reciprocal, coef = _solve_definite(unit_diagonal(S, divisor), right, bound)
        if reciprocal > _squared_noise(spread.max(), size) * (1 if reciprocal == bound else p):
            return Solution(coef / scale[:, None], p, 1.0 / reciprocal)
    values, vectors = kernels.eigen(unit_diagonal(S, divisor))
    values, vectors = values[::-1], vectors[:, ::-1]
    floor = _squared_noise(_noise(vectors.T, spread), size) * values[0]
    rank = int(np.count_nonzero(values > floor)) if values[0] > 0.0 else 0
    growth = values[0] / values[rank - 1] if rank else 1.0
    if rank < np.count_nonzero(live) and size == p:
        growth = np.inf  # enough rows, yet collinear: exactly or nearly, squares cannot tell
    inner = (vectors[:, :rank].T @ right) / values[:rank, None]
    if rank == p:
        return Solution((vectors @ inner) / scale[:, None], p, growth)
    return Solution(least_norm(scale, vectors[:, :rank], inner), rank, growth)


def _solve_definite(S: Array, right: Array, bound: float) -> tuple[float, Array]:
    """Return the reciprocal condition of a matrix of unit diagonal, 0 if it is not definite, and S⁻¹·right.

    A bound on the condition that is known and good enough saves the estimate. ‖·‖₁ and ‖·‖₂ differ by at most p.
    """
    norm = 0.0 if bound > PLAIN else _unit_norm(S)
    U = kernels.cholesky(S, overwrite=True)
    if U is None:
        return 0.0, right
    return bound if bound > PLAIN else kernels.definite_condition(U, norm), kernels.definite_solve(U, right)


def unit_diagonal(S: Array, divisor: Array) -> Array:
    """Return S / (divisor·divisorᵀ), both upper triangles, with a diagonal of ones; zeros for an infinite divisor."""
    scaled = np.zeros(S.shape, order="F")
    for first in range(0, len(S), STRIP):  # only above the diagonal, and in cache
        last = min(first + STRIP, len(S))
        strip = np.divide(S[:last, first:last], divisor[:last, None], out=scaled[:last, first:last])
        strip /= divisor[first:last]
    np.fill_diagonal(scaled, np.isfinite(divisor))
    return scaled


def mirrored(S: Array) -> Array:
    """Return the symmetric matrix whose upper triangle is S, with zeros below."""
    full = S + S.T
    np.fill_diagonal(full, S.diagonal())
    return full


def _unit_norm(upper: Array) -> float:
    """Return the ‖·‖₁ of a symmetric matrix with unit diagonal, given as an upper triangle with zeros below."""
    sizes = np.abs(upper)
    return float((sizes.sum(axis=0) + sizes.sum(axis=1)).max()) - 1.0


def column_squares(R: Array) -> Array:
    """Return each column's sum of squares."""
    return np.asarray(np.einsum("ij,ij->j", R, R))


def column_norms(R: Array) -> Array:
    """Return the norm of each column."""
    return np.asarray(np.sqrt(column_squares(R)))


def _noise(Vt: Array, spread: Array) -> Array:
    """Return how much the rounding along each right singular vector was magnified by centring."""
    return np.asarray(np.sqrt(np.square(Vt * spread).sum(axis=1)))


def _squared_noise(noise: Array | float, size: int) -> Array:
    """Return the relative size below which an eigenvalue of a matrix of squares is rounding."""
    return np.maximum(tolerance(size), np.square(tolerance(size) * np.asarray(noise)))


def without_rounding(A: Array, rhs: Array, *, offset: Array | float = 0.0) -> tuple[Array, Array]:
    """Return rows that say what A w = rhs says, less the directions that only rounding sets apart.

    A penalty far below the rounding of A's squares would let those directions through: rounding over penalty is large.
    Returns A itself if all of its rows or columns count. One SVD decides. O(n·p·min(n, p)).
    """
    scale, spread = equilibrate(column_norms(A), offset)
    U, s, Vt = kernels.svd(A / np.where(scale > 0.0, scale, np.inf))
    rank = numerical_rank(s, _noise(Vt, spread), min(A.shape))
    if rank == min(A.shape):
        return A, rhs
    return s[:rank, None] * Vt[:rank] * scale, U[:, :rank].T @ rhs


def minimum_norm(A: Array, rhs: Array, scale: Array, spread: Array) -> Solution:
    """Solve A w = rhs with the least norm, in the least-squares sense if A is singular. O(n·p·min(n, p)).

    `scale` and `spread` are those of A's columns, from `equilibrate`.
    """
    U, s, Vt = kernels.svd(A / np.where(scale > 0.0, scale, np.inf))
    rank = numerical_rank(s, _noise(Vt, spread), len(A))
    if rank == 0:
        return Solution(np.zeros((A.shape[1], rhs.shape[1])), 0, 1.0)
    inner = (U[:, :rank].T @ rhs) / s[:rank, None]
    return Solution(least_norm(scale, Vt[:rank].T, inner), rank, s[0] / s[rank - 1])


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
