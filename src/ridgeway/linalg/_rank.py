"""The rank of a system, decided here and nowhere else, and the minimum-norm answer that follows from it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr, solve_triangular, svd
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs, dtrcon, dtrtrs

Array = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Solution:
    """The answer to a least-squares system.

    Attributes
    ----------
    coef : ndarray of shape (n_features, n_targets)
    rank : int
    condition : float
        Ratio of the largest to the smallest singular value that counts, columns scaled to unit norm (an estimate
        in the 1-norm where the system is plainly of full rank).
    """

    coef: Array
    rank: int
    condition: float


def tolerance(size: int) -> float:
    """Return the relative size below which a singular value of an equilibrated system counts as zero.

    `size` is the smaller side of the system. The factor 16 covers what thirty updates of a triangular factor add up
    to; for a matrix of squares (normal equations) the same bound holds for its eigenvalues.
    """
    return 16.0 * max(size, 1) * EPS


def numerical_rank(singular_values: Array, size: int) -> int:
    """Count the singular values (descending, of an equilibrated system) that are not zero."""
    if len(singular_values) == 0 or singular_values[0] == 0.0:
        return 0
    return int(np.count_nonzero(singular_values > tolerance(size) * singular_values[0]))


def equilibrate(norms: Array, noise: Array) -> Array:
    """Return the scale of each column: its norm, or 0 where that is no more than `noise` (a column of zeros)."""
    return np.where(norms > noise, norms, 0.0)


def rounding_noise(mean: Array) -> Array:
    """Return the norm up to which a centred column is rounding: a column that varies at all differs by more."""
    return 0.25 * EPS * np.abs(mean)


def singular_values(R: Array) -> Array:
    """Return the singular values, descending, of a triangular factor with its columns scaled to unit norm."""
    norms = np.sqrt(np.einsum("ij,ij->j", R, R))
    return np.asarray(svd(R / np.where(norms > 0.0, norms, np.inf), compute_uv=False, check_finite=False))


def solve_triangle(R: Array, rhs: Array, *, size: int, noise: Array | float = 0.0) -> Solution:
    """Solve min ‖R w − rhs‖ for an upper triangular R, taking the w of least norm where R is singular.

    Parameters
    ----------
    R : ndarray of shape (n_features, n_features), upper triangular
    rhs : ndarray of shape (n_features, n_targets)
    size : the smaller side of the system that R stands for
    noise : column norms up to this are rounding, not data

    Notes
    -----
    O(p²) where a condition estimate shows full rank, one SVD otherwise. Columns are scaled to unit norm before the
    rank is decided; the norm that is least is that of w itself, unscaled.
    """
    scale = equilibrate(np.sqrt(np.einsum("ij,ij->j", R, R)), np.asarray(noise))
    live = scale > 0.0
    scaled = np.asfortranarray(R / np.where(live, scale, np.inf))
    p = len(R)
    if live.all():
        reciprocal, _ = dtrcon(scaled, norm="1", uplo="U", diag="N")
        if reciprocal > p * tolerance(size):  # ‖·‖₁ and ‖·‖₂ differ by at most p: full rank for certain
            return Solution(dtrtrs(scaled, rhs)[0] / scale[:, None], p, 1.0 / reciprocal)
    U, s, Vt = svd(scaled, check_finite=False)
    rank = numerical_rank(s, size)
    if rank == p:
        return Solution(dtrtrs(scaled, rhs)[0] / scale[:, None], p, s[0] / s[-1])
    inner = (U[:, :rank].T @ rhs) / s[:rank, None]
    return Solution(_least_norm(scale, Vt[:rank].T, inner), rank, s[0] / s[rank - 1] if rank else 1.0)


def solve_moments(S: Array, rhs: Array, *, size: int, noise: Array | float = 0.0) -> Solution:
    """Solve S w = rhs for S = XᵀX (+ a prior), taking the w of least norm where S is singular.

    As `solve_triangle`, from squares: one Cholesky factorisation where S is safely definite, one eigendecomposition
    otherwise. `condition` is that of S, the square of the data's.
    """
    scale = equilibrate(np.sqrt(np.diag(S)), np.asarray(noise))
    live = scale > 0.0
    divisor = np.where(live, scale, np.inf)
    scaled = np.asfortranarray(S / divisor / divisor[:, None])
    right = rhs / divisor[:, None]
    p = len(S)
    if live.all():
        factor, info = dpotrf(scaled)
        if info == 0:
            reciprocal, _ = dpocon(factor, np.abs(scaled).sum(axis=0).max())
            if reciprocal > p * tolerance(size):
                return Solution(dpotrs(factor, right)[0] / scale[:, None], p, 1.0 / reciprocal)
    values, vectors = eigh(scaled, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = numerical_rank(values, size)
    inner = (vectors[:, :rank].T @ right) / values[:rank, None]
    if rank == p:
        return Solution((vectors @ inner) / scale[:, None], p, values[0] / values[-1])
    coef = _least_norm(scale, vectors[:, :rank], inner)
    return Solution(coef, rank, values[0] / values[rank - 1] if rank else 1.0)


def _least_norm(scale: Array, basis: Array, inner: Array) -> Array:
    """Return the w of least norm with basisᵀ·diag(scale)·w = inner.

    w lies in the row space, w = diag(scale)·basis·c. With the QR decomposition diag(scale)·basis = Q·T that is
    w = Q·T⁻ᵀ·inner: nothing cancels, whatever the scales. Rows sorted by size and pivoted columns keep the small
    rows of Q accurate (Cox and Higham, 1998).
    """
    rows = scale[:, None] * basis
    order = np.argsort(-scale, kind="stable")
    Q, T, pivots = qr(rows[order], mode="economic", pivoting=True, check_finite=False)
    coef = np.empty((len(scale), inner.shape[1]))
    coef[order] = Q @ solve_triangular(T, inner[pivots], trans="T", check_finite=False)
    return coef
