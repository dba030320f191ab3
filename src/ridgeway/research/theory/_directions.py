"""One task, direction by direction: how the error changes, and the best single penalty for all directions."""

import numpy as np
from scipy.optimize import brentq

from ridgeway._checks import Array

GRID_STEP = 0.1
"""Spacing of the search grid in log(penalty): the slope is a sum of bumps of width about 1 on that scale."""


def updated_errors(eigenvalues: Array, penalties: Array | float, errors: Array, noise: float) -> Array:
    """Return (λ²e + γ·noise)/(λ + γ)² for each direction, or e itself if γ = 0 or λ = ∞.

    `noise` is σ²/n_t. With n_tγ, n_tλ and σ² in place of γ, λ and σ²/n_t the answer is the same.
    """
    moves = (eigenvalues > 0) & np.isfinite(penalties)
    total = np.where(moves, penalties + eigenvalues, 1.0)
    kept = np.where(moves, penalties, 1.0) / total
    return np.asarray(kept**2 * errors + np.where(moves, eigenvalues, 0.0) / total * (noise / total))


def best_isotropic_penalty(eigenvalues: Array, errors: Array, noise: float) -> float:
    """Return the one λ in [0, ∞] that minimises the sum of `updated_errors`, over all of its local minima.

    The derivative of a term is 2γ(λe − noise)/(λ + γ)³: the term falls until λ = noise/e and then rises, so the
    minimum lies between the smallest and the largest of these. ∞ if the task cannot remove any error. O(p) per
    point of a grid of at most a few thousand points.
    """
    seen = eigenvalues > 0
    gamma, errors = eigenvalues[seen], errors[seen]
    if not (gamma @ errors) > 0:
        return float(np.inf)
    with np.errstate(divide="ignore", over="ignore"):
        turning = noise / errors
    # Beyond this the slope is positive, even if a direction without error left still falls.
    rising = max(gamma.max(), 8 * noise * (gamma.sum() / (gamma @ errors)))
    low, high = np.log(turning.min()), np.log(min(turning.max(), max(rising, turning.min())))

    def slope(log_penalty: float) -> float:
        penalty = np.exp(log_penalty)
        total = penalty + gamma
        return float(((penalty / total) * (gamma / total) * ((penalty * errors - noise) / total)).sum())

    grid = np.linspace(low, high, 2 + int((high - low) / GRID_STEP))
    slopes = np.array([slope(point) for point in grid])
    rises = np.flatnonzero((slopes[:-1] <= 0) & (slopes[1:] > 0))
    roots = [brentq(slope, grid[i], grid[i + 1], xtol=1e-15) for i in rises]
    candidates = np.exp(np.array([low, high, *roots]))
    totals = [updated_errors(gamma, penalty, errors, noise).sum() for penalty in candidates]
    return float(candidates[int(np.argmin(totals))])
