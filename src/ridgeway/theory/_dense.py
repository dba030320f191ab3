"""Every matrix factorization that the theory needs, in one place."""

import numpy as np
from scipy import linalg

from ridgeway.errors import InvalidParameterError
from ridgeway.theory._checks import SYMMETRY_TOLERANCE, Array


def rank_tolerance(n_features: int) -> float:
    """Return the singular value, relative to the largest, at and below which a direction counts as absent."""
    return float(16 * n_features * np.finfo(np.float64).eps)


def psd_eigen(matrix: Array, name: str) -> tuple[Array, Array]:
    """Return eigenvalues clipped at 0 and eigenvectors of a symmetric matrix, or raise if one is negative."""
    values, vectors = linalg.eigh(matrix)
    if values[0] < -SYMMETRY_TOLERANCE * np.abs(values).max():
        raise InvalidParameterError(
            f"{name} must be positive semidefinite; its smallest eigenvalue is {values[0]:.3g}."
        )
    return np.maximum(values, 0.0), vectors


def psd_root(matrix: Array, name: str) -> Array:
    """Return F of shape (rank, p) with FᵀF = matrix; the rank is decided at a unit diagonal."""
    diagonal = np.diagonal(matrix)
    if diagonal.min() < 0:
        raise InvalidParameterError(
            f"{name} must be positive semidefinite; it has {diagonal.min():.3g} on its diagonal."
        )
    scale = np.sqrt(diagonal)
    divisor = np.where(scale > 0, scale, 1.0)
    values, vectors = psd_eigen(matrix / divisor / divisor[:, np.newaxis], name)
    kept = values > rank_tolerance(values.size) * values[-1]
    return np.asarray((vectors[:, kept] * np.sqrt(values[kept])).T * scale)


def triangular_root(rows: Array) -> Array:
    """Return R with RᵀR = rowsᵀ rows and no more rows than columns."""
    return np.asarray(linalg.qr(rows, mode="r")[0][: rows.shape[1]])


def minimum_norm_gain(rows: Array, root: Array) -> Array:
    """Return K of shape (p, n): K·r is the shortest u that minimises ‖rows·u − r‖² + ‖root·u‖².

    This is the limit δ → 0⁺ of (rowsᵀrows + rootᵀroot + δI)⁻¹ rowsᵀ. The rank is decided with the columns of
    the stacked system scaled to unit length. O((n + k)·p² + p³) for a root of k rows.
    """
    n_samples, n_features = rows.shape
    stacked = np.vstack([rows, root])
    norms = np.sqrt(np.einsum("ij,ij->j", stacked, stacked))
    scale = np.where(norms > 0, norms, 1.0)
    orthogonal, triangular = linalg.qr(stacked / scale, mode="economic")
    left, values, right = linalg.svd(triangular)
    rank = int(np.sum(values > rank_tolerance(n_features) * values[0]))
    targets = left[:, :rank].T @ orthogonal[:n_samples].T
    gain = (right[:rank].T / values[:rank]) @ targets / scale[:, np.newaxis]
    if rank < n_features:
        # Unscaled, the answer is still right up to a null direction; take that part out.
        null, _ = linalg.qr(right[rank:].T / scale[:, np.newaxis], mode="economic")
        gain -= null @ (null.T @ gain)
    return np.asarray(gain)


def squared_singular_values(rows: Array) -> tuple[Array, Array]:
    """Return the p squared singular values, zeros included, and the right singular vectors as columns."""
    n_features = rows.shape[1]
    _, values, right = linalg.svd(rows)
    squared = np.zeros(n_features)
    squared[: values.size] = np.where(values > rank_tolerance(n_features) * values[0], values, 0.0) ** 2
    return squared, np.asarray(right.T)


def psd_inverse(matrix: Array, message: str) -> Array:
    """Return the inverse of a positive semidefinite matrix, or raise with this message if it is singular."""
    scale = np.sqrt(np.diagonal(matrix))
    if not scale.all():
        raise InvalidParameterError(message)
    values, vectors = linalg.eigh(matrix / scale / scale[:, np.newaxis])
    if values[0] <= rank_tolerance(values.size) * values[-1]:
        raise InvalidParameterError(message)
    root = vectors / np.sqrt(values) / scale[:, np.newaxis]
    return np.asarray(root @ root.T)


def cholesky_factor(matrix: Array, name: str) -> Array:
    """Return upper triangular R with RᵀR = matrix, or raise if the matrix is not positive definite."""
    try:
        return np.asarray(linalg.cholesky(matrix))
    except linalg.LinAlgError as error:
        raise InvalidParameterError(
            f"{name} must be positive definite ({error}). Add a positive multiple of the identity."
        ) from error


def solve_upper(upper: Array, right_side: Array, *, transposed: bool = False) -> Array:
    """Return R⁻¹B, or R⁻ᵀB, for upper triangular R."""
    return np.asarray(linalg.solve_triangular(upper, right_side, trans="T" if transposed else "N"))
