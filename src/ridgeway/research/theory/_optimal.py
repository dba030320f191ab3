"""The best choices for given designs, from the second moment of w_* or a root of it."""

from collections.abc import Sequence

import numpy as np

from ridgeway._checks import Array
from ridgeway.errors import InvalidParameterError
from ridgeway.kernels import solve_triangular, svd, triangular_factor
from ridgeway.linalg import definite_inverse, minimum_norm_gain, tolerance
from ridgeway.research.theory._directions import best_isotropic_penalty, updated_errors


def best_weight_matrices(moment: Array, designs: Sequence[Array], noise_variance: float) -> Array:
    """Return H_t = (σ²·E[w_*w_*ᵀ]⁻¹ + Σ_{τ<t} X_τᵀX_τ)/n_t; raise if the moment is singular."""
    inverse = definite_inverse(moment)
    if inverse is None:
        raise InvalidParameterError(
            "E[w_* w_*ᵀ] is singular, so no finite weight matrix is optimal. Use optimal_gains()."
        )
    information = noise_variance * inverse
    weights = np.empty((len(designs), *moment.shape))
    for t, design in enumerate(designs):
        # Sec. "A Practical Algorithm", without commuting covariances; corrections row 2.
        weights[t] = information / design.shape[0]
        information = information + design.T @ design
    return weights


def best_gains(root: Array, designs: Sequence[Array], noise_variance: float) -> tuple[Array, ...]:
    """Return K_t = M_{t−1}X_tᵀ(X_tM_{t−1}X_tᵀ + σ²I)⁻¹ for each task, from L with M_0 = LLᵀ.

    With B = X_tL the gain is L(BᵀB + σ²I)⁻¹Bᵀ and the next root σLR⁻¹, RᵀR = BᵀB + σ²I: M is never formed.
    """
    if root.shape[1] == 0:
        return tuple(np.zeros(design.shape[::-1]) for design in designs)
    sigma = np.sqrt(noise_variance)
    penalty = sigma * np.eye(root.shape[1])
    gains = []
    for design in designs:
        rows = design @ root
        gains.append(root @ minimum_norm_gain(rows, penalty))
        upper = triangular_factor(np.vstack([rows, penalty]))
        root = sigma * solve_triangular(upper, root.T, transposed=True).T
    return tuple(gains)


def best_isotropic_penalties(moment: Array, designs: Sequence[Array], noise_variance: float) -> Array:
    """Return the λ_t of continual ridge that minimises the error after task t, given those before it."""
    penalties = np.empty(len(designs))
    for t, design in enumerate(designs):
        information, vectors = _squared_singular_values(design)
        rotated = vectors.T @ moment @ vectors
        errors = np.maximum(np.diagonal(rotated), 0.0)
        penalty = best_isotropic_penalty(information, errors, noise_variance)
        kept = np.sqrt(updated_errors(information, penalty, np.ones_like(errors), 0.0))
        noise = updated_errors(information, penalty, np.zeros_like(errors), noise_variance)
        moment = vectors @ (rotated * kept * kept[:, np.newaxis] + np.diag(noise)) @ vectors.T
        penalties[t] = penalty / design.shape[0]
    return penalties


def _squared_singular_values(rows: Array) -> tuple[Array, Array]:
    """Return the p squared singular values, zeros included, and the right singular vectors as columns."""
    n_features = rows.shape[1]
    _, values, right = svd(rows, full=True)
    squared = np.zeros(n_features)
    squared[: values.size] = np.where(values > tolerance(n_features) * values[0], values, 0.0) ** 2
    return squared, right.T
