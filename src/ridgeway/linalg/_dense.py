"""Roots, inverses and gains of dense matrices: what exact risks are made of."""

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.linalg._rank import EPS, numerical_rank, solve_triangle, tolerance


def semidefinite_eigen(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues, ascending and clipped at 0, and the eigenvectors of a semidefinite matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import semidefinite_eigen
    >>> values, vectors = semidefinite_eigen(np.array([[1.0, 1.0], [1.0, 1.0]]))
    >>> np.allclose(values, [0.0, 2.0]), bool((values >= 0.0).all())
    (True, True)
    """
    values, vectors = kernels.eigen(matrix)
    return np.maximum(values, 0.0), vectors


def semidefinite_root(matrix: Array) -> Array:
    """Return F of shape (rank, p) with FᵀF = matrix; the rank is decided at a unit diagonal.

    Eigenvalues that are rounding are left out: their roots, of size √eps, would pass for information.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import semidefinite_root
    >>> H = np.array([[1.0, 2.0], [2.0, 4.0]])
    >>> F = semidefinite_root(H)
    >>> F.shape, np.allclose(F.T @ F, H)
    ((1, 2), True)
    """
    scale = np.sqrt(np.diagonal(matrix))
    divisor = np.where(scale > 0, scale, 1.0)
    values, vectors = semidefinite_eigen(matrix / divisor / divisor[:, np.newaxis])
    rank = numerical_rank(values[::-1], values.size)
    kept = slice(values.size - rank, None)
    return np.asarray((vectors[:, kept] * np.sqrt(values[kept])).T * scale)


def definite_inverse(matrix: Array) -> Array | None:
    """Return the inverse of a semidefinite matrix, or None if it is singular.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import definite_inverse
    >>> H = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> np.allclose(definite_inverse(H) @ H, np.eye(2))
    True
    >>> definite_inverse(np.ones((2, 2))) is None
    True
    """
    scale = np.sqrt(np.diagonal(matrix))
    if not scale.all():
        return None
    values, vectors = semidefinite_eigen(matrix / scale / scale[:, np.newaxis])
    if numerical_rank(values[::-1], values.size) < values.size:
        return None
    root = vectors / np.sqrt(values) / scale[:, np.newaxis]
    return np.asarray(root @ root.T)


def minimum_norm_gain(rows: Array, root: Array) -> Array:
    """Return K of shape (p, n): K·r is the shortest u that minimises ‖rows·u − r‖² + ‖root·u‖².

    This is the limit δ → 0⁺ of (rowsᵀrows + rootᵀroot + δI)⁻¹ rowsᵀ. O((n + k)·p² + n·p²) for a root of k rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import minimum_norm_gain
    >>> X = np.array([[1.0, 1.0]])
    >>> np.allclose(minimum_norm_gain(X, np.zeros((0, 2))), np.linalg.pinv(X))
    True
    """
    n_samples, n_features = rows.shape
    stacked = np.vstack([rows, root])
    if len(stacked) < n_features:
        gain = _interpolating_gain(stacked, n_samples)
        if gain is not None:
            return gain
        stacked = np.vstack([stacked, np.zeros((n_features - len(stacked), n_features))])
    orthogonal, triangular = kernels.qr(stacked)
    return solve_triangle(triangular, orthogonal[:n_samples].T, size=n_features).coef


def _interpolating_gain(stacked: Array, n_samples: int) -> Array | None:
    """Return the gain for fewer rows than columns, or None unless the rows are plainly independent.

    The shortest u then fits every row: with stackedᵀ = QT it is QT⁻ᵀr, and no rank has to be decided. O(m²·p).
    """
    orthogonal, triangular = kernels.qr(stacked.T)
    norms = np.sqrt(np.einsum("ij,ij->j", triangular, triangular))
    if not norms.all() or kernels.triangle_condition(triangular / norms) <= stacked.shape[1] * tolerance(
        stacked.shape[1]
    ):
        return None
    selected = np.eye(len(stacked), n_samples)
    return np.asarray(orthogonal @ kernels.solve_triangular(triangular, selected, transposed=True))


def svd_economic(matrix: Array) -> tuple[Array, Array, Array]:
    """Return U, the singular values that are not rounding, and Vᵀ.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import svd_economic
    >>> U, s, Vt = svd_economic(np.ones((3, 2)))
    >>> len(s), np.allclose((U * s) @ Vt, 1.0)
    (1, True)
    """
    U, s, Vt = kernels.svd(matrix)
    rank = numerical_rank(s, min(matrix.shape))
    return U[:, :rank], s[:rank], Vt[:rank]


def column_complement(columns: Array, scale: Array) -> Array:
    """Return an orthonormal basis (n, n − rank) of what is orthogonal to some columns.

    What is below rounding beside the rows of `scale` does not count.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import column_complement
    >>> columns = np.array([[1.0], [1.0], [0.0]])
    >>> basis = column_complement(columns, columns)
    >>> basis.shape, np.allclose(basis.T @ columns, 0.0)
    ((3, 2), True)
    """
    U, s, _ = kernels.svd(columns, full=True)
    largest = float(np.abs(scale).max(initial=0.0))
    return np.asarray(U[:, np.count_nonzero(s > np.sqrt(EPS) * largest) :])
