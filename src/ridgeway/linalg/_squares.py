"""Least squares from squares: the system XᵀX·w = Xᵀy, whose rounding is that of the squares as well."""

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.linalg._rank import PLAIN, Solution, equilibrate, is_cut, least_norm, numerical_rank, tolerance

STRIP = 128
"""Columns of a large matrix that are scaled at a time."""


def solve_moments(
    S: Array, rhs: Array, *, size: int, offset: Array | float = 0.0, prior: Array | float = 0.0
) -> Solution:
    """Solve (S + diag(prior))·w = rhs for the upper triangle S of XᵀX; take the w of least norm if that is singular.

    As `solve_triangle`, from squares: one Cholesky factorisation if the system is safely definite, one
    eigendecomposition otherwise. The growth of rounding errors is squared too.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import solve_moments
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> y = np.array([[1.0], [3.0], [5.0]])
    >>> solve_moments(np.triu(X.T @ X), X.T @ y, size=2).coef.ravel()
    array([1., 2.])
    """
    p = len(rhs)
    # A diagonal prior is added here: divided by the roots of these, S + diag(prior) has a unit diagonal.
    squares = S.diagonal() + prior
    norms, full, constant = equilibrate(np.sqrt(squares), offset, size)
    if norms.all():
        # No eigenvalue is below the prior's least share of a square, and none above the trace.
        bound = float(np.min(prior / squares)) / p
        reciprocal, coef = _solve_definite(unit_diagonal(S, norms), rhs / norms[:, None], bound)
        least = max(tolerance(size), (tolerance(size) * float((full / norms).max())) ** 2)
        if reciprocal > least * (1 if reciprocal == bound else p):
            return Solution(coef / norms[:, None], p, 1.0 / reciprocal)
    divisor = np.where(norms > 0.0, norms, np.inf)
    scale, values, vectors, rank = _directions(unit_diagonal(S, divisor), norms, full, size)
    inner = (vectors[:, :rank].T @ (rhs / np.where(scale > 0.0, scale, np.inf)[:, None])) / values[:rank, None]
    growth = values[0] / values[rank - 1] if rank else 1.0
    if is_cut(rank, size, norms):
        growth = np.inf
    if rank == p:
        return Solution((vectors @ inner) / scale[:, None], p, growth)
    return Solution(least_norm(scale, vectors[:, :rank], inner), rank, growth, constant)


def _directions(S: Array, norms: Array, full: Array, size: int) -> tuple[Array, Array, Array, int]:
    """Return the eigenvalues, falling, and eigenvectors of squares, at which scale of the columns, and the rank.

    A share `tolerance` of a square is rounding, and so is the square of that share of a norm before centring. At unit
    norms the first is the same for all columns. The sum of both is taken as the scale only if that lowers the rank.
    """
    values, vectors = (found[..., ::-1] for found in kernels.eigen(S))
    rank = numerical_rank(values, size)
    scale = np.where(norms > 0.0, np.hypot(norms, np.sqrt(tolerance(size)) * full), 0.0)
    share = norms / np.where(norms > 0.0, scale, 1.0)
    if (scale > 2.0 * norms).any():
        lower, turned = (found[..., ::-1] for found in kernels.eigen(share[:, None] * S * share))
        if numerical_rank(lower, size, 1.0) < rank:
            return scale, lower, turned, numerical_rank(lower, size, 1.0)
    return norms, values, vectors, rank


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
    """Return the symmetric matrix whose upper triangle is S, with zeros below.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import mirrored
    >>> mirrored(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[1., 2.], [2., 3.]])
    """
    full = S + S.T
    np.fill_diagonal(full, S.diagonal())
    return full


def _unit_norm(upper: Array) -> float:
    """Return the ‖·‖₁ of a symmetric matrix with unit diagonal, given as an upper triangle with zeros below."""
    sizes = np.abs(upper)
    return float((sizes.sum(axis=0) + sizes.sum(axis=1)).max()) - 1.0
