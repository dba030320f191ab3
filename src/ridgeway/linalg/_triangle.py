"""The triangular factor of rows that are gone: RᵀR = AᵀA, kept up to date without squaring the condition number.

A = [X, y] has n_features + n_targets columns, so that R = [[R_x, z], [0, R_y]] holds the rotated targets z and
the residual block R_y as well.
"""

from collections.abc import Iterable

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.linalg._dense import semidefinite_root


def empty_triangle(width: int) -> Array:
    """Return the factor of no rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import qr_update
    >>> from ridgeway.linalg import empty_triangle
    >>> rows = np.array([[3.0, 1.0], [4.0, 1.0]])
    >>> R = qr_update(empty_triangle(2), rows)
    >>> np.allclose(R.T @ R, rows.T @ rows)
    True
    """
    return np.zeros((width, width), order="F")


def add_rows(R: Array, blocks: Iterable[Array]) -> Array:
    """Return the factor of R's rows and those of `blocks`. O(n·p²), and nothing of size p³."""
    for block in blocks:
        R = kernels.qr_update(R, block)
    return R


def remove_rows(R: Array, rows: Array, n_features: int, *, least: float) -> tuple[Array, float] | None:
    """Take rows out of a factor; None if too little, or less than nothing, would remain.

    With Y = R_x⁻ᵀA_xᵀ and I − YYᵀ = LLᵀ the factor that remains is LᵀR_x (made triangular again by LAPACK's QR):
    the condition of R_x is not squared, and what is lost is the smallest eigenvalue of I − YYᵀ, the least fraction
    of the information about any direction that remains.

    Parameters
    ----------
    R : ndarray of shape (p + k, p + k), upper triangular, R_x of full rank
    rows : ndarray of shape (m, p + k), the rows to take out, or a factor of them
    n_features : p
    least : the fraction of the information about a direction below which what remains is rounding

    Returns
    -------
    factor : the factor of what remains
    kept : the smallest fraction of information, over all directions, that remains

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import triangular_factor
    >>> from ridgeway.linalg import remove_rows
    >>> rows = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 5.0]])  # x, y
    >>> R, kept = remove_rows(triangular_factor(rows), rows[2:], 1, least=1e-12)
    >>> np.allclose(R.T @ R, rows[:2].T @ rows[:2]), round(kept, 8)  # (1 + 4) / (1 + 4 + 9)
    (True, 0.35714286)
    """
    p = n_features
    R_x, z, R_y = R[:p, :p], R[:p, p:], R[p:, p:]
    Y = kernels.solve_triangular(R_x, rows[:, :p].T, transposed=True)
    remaining = np.eye(p) - Y @ Y.T
    kept = kernels.smallest_eigenvalue(remaining)
    U = kernels.cholesky(remaining) if kept > least else None  # Lᵀ
    if U is None:
        return None
    # R_xᵀz = X'ᵀy' over what remains: z' = L⁻¹(z − Y·A_y); and residuals e of the rows that go give R_y'.
    z_left = kernels.solve_triangular(U, z - Y @ rows[:, p:], transposed=True)
    e = rows[:, p:] - rows[:, :p] @ kernels.solve_triangular(R_x, z)
    g = kernels.solve_triangular(U, Y @ e, transposed=True)
    values, vectors = kernels.eigen(R_y.T @ R_y - e.T @ e - g.T @ g)
    largest = float(np.einsum("ij,ij->j", R[:, p:], R[:, p:]).max(initial=0.0))
    if values[0] < -least * largest / kept:
        return None
    result = empty_triangle(len(R))
    Q, result[:p, :p] = kernels.qr(U @ R_x)
    result[:p, p:] = Q.T @ z_left
    result[p:, p:] = kernels.triangular_factor(np.sqrt(values.clip(0.0))[:, None] * vectors.T)
    return result, kept


def psd_root(matrix: Array) -> Array:
    """Return an upper triangular F with FᵀF = matrix, for a diagonal (1-D) or a positive semidefinite matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import psd_root
    >>> H = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> np.allclose(psd_root(H).T @ psd_root(H), H)
    True
    >>> psd_root(np.array([4.0, 9.0])).diagonal()
    array([2., 3.])
    """
    if matrix.ndim == 1:
        return np.asfortranarray(np.diag(np.sqrt(matrix)))
    root = empty_triangle(len(matrix))
    factor = kernels.triangular_factor(semidefinite_root(matrix))
    root[: len(factor)] = factor
    return root
