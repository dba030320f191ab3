"""The triangular factor of rows that are gone: RᵀR = AᵀA, kept up to date without squaring the condition number.

A = [X, y] has n_features + n_targets columns, so that R = [[R_x, z], [0, R_y]] holds the rotated targets z and
the residual block R_y as well.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr
from scipy.linalg.lapack import dpotrf, dtrtrs

from ridgeway.linalg._dense import semidefinite_root, triangular_root
from ridgeway.linalg._lapack import dtpqrt
from ridgeway.linalg._panels import absorb, reflectors, row_panels

Array = NDArray[np.float64]


def empty_triangle(width: int) -> Array:
    """Return the factor of no rows."""
    return np.zeros((width, width), order="F")


def add_rows(R: Array, blocks: Iterable[Array]) -> Array:
    """Return the factor of R's rows and those of `blocks` (Fortran order, overwritten): O(n·p²), nothing of size p³."""
    R = R.copy(order="F")
    for block in blocks:
        absorb(row_panels(R), block)
    return R


def add_triangle(R: Array, other: Array) -> Array:
    """Return the factor of the rows of two factors; `other` is upper trapezoidal, of as many columns as R."""
    R = R.copy(order="F")
    dtpqrt(R, other.copy(order="F"), triangular_rows=len(other), panel=reflectors(len(R), len(R)))
    return R


def remove_rows(R: Array, blocks: Iterable[Array], n_features: int, *, least: float) -> tuple[Array, float] | None:
    """Take rows out of a factor; None where too little, or less than nothing, would remain.

    With Y = R_x⁻ᵀA_xᵀ and I − YYᵀ = LLᵀ the factor that remains is LᵀR_x (made triangular again by LAPACK's QR):
    the condition of R_x is not squared, and what is lost is the smallest eigenvalue of I − YYᵀ, the least fraction
    of the information about any direction that remains.

    Parameters
    ----------
    R : ndarray of shape (p + k, p + k), upper triangular, R_x of full rank
    blocks : the rows to take out
    n_features : p
    least : the fraction of the information about a direction below which what remains is rounding

    Returns
    -------
    factor : the factor of what remains
    kept : the smallest fraction of information, over all directions, that remains
    """
    p = n_features
    R_x, z, R_y = R[:p, :p], R[:p, p:], R[p:, p:]
    A = np.vstack(list(blocks))
    Y = dtrtrs(R_x, A[:, :p].T, trans=1)[0]
    remaining = np.eye(p) - Y @ Y.T
    kept = float(eigh(remaining, eigvals_only=True, subset_by_index=[0, 0], check_finite=False)[0])
    if kept <= least:
        return None
    L = dpotrf(remaining, lower=1)[0]
    # R_xᵀz = X'ᵀy' over what remains: z' = L⁻¹(z − Y·A_y); and residuals e of the rows that go give R_y'.
    z_left = dtrtrs(L, z - Y @ A[:, p:], lower=1)[0]
    e = A[:, p:] - A[:, :p] @ dtrtrs(R_x, z)[0]
    g = dtrtrs(L, Y @ e, lower=1)[0]
    values, vectors = eigh(R_y.T @ R_y - e.T @ e - g.T @ g, check_finite=False)
    largest = float(np.einsum("ij,ij->j", R[:, p:], R[:, p:]).max(initial=0.0))
    if values[0] < -least * largest / kept:
        return None
    result = empty_triangle(len(R))
    Q, result[:p, :p] = qr(L.T @ R_x, mode="economic", check_finite=False)
    result[:p, p:] = Q.T @ z_left
    result[p:, p:] = qr(np.sqrt(values.clip(0.0))[:, None] * vectors.T, mode="r", check_finite=False)[0]
    return result, kept


def psd_root(matrix: Array) -> Array:
    """Return an upper triangular F with FᵀF = matrix, for a diagonal (1-D) or a positive semidefinite matrix."""
    if matrix.ndim == 1:
        return np.asfortranarray(np.diag(np.sqrt(matrix)))
    root = empty_triangle(len(matrix))
    factor = triangular_root(semidefinite_root(matrix))
    root[: len(factor)] = factor
    return root
