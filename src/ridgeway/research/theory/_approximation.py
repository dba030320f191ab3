"""What near-optimal penalties can cost: the smallest constant of Thm (approx), and the penalties that one allows."""

from dataclasses import dataclass

import numpy as np

from ridgeway._checks import Array


@dataclass(frozen=True, eq=False)
class ApproximationConstant:
    """What near-optimal penalties can cost, by Thm (approx).

    Attributes
    ----------
    constant : ndarray of shape (T,)
        The smallest C ≥ 1 for which the condition holds in every direction of the tasks up to t; ∞ if there is
        none. It bounds the error: 𝓛(ŵ_t) ≤ C · (the optimal error at t).

    Examples
    --------
    >>> from ridgeway.research import theory
    >>> problem = theory.CommutingProblem([[1, 0], [1, 2]], [4, 8], initial_errors=[1, 0.5])
    >>> twice = 2 * problem.optimal_penalties()
    >>> found = problem.approximation_constant(twice)
    >>> error, best = problem.direction_errors(twice).sum(axis=1), problem.optimal_error()
    >>> error <= found.constant * best
    array([ True,  True])
    """

    constant: Array

    @property
    def holds(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether the condition holds for some C, up to each task; shape (T,)."""
        return np.isfinite(self.constant)


def penalty_limits(eigenvalues: Array, best: Array, constant: float) -> Array:
    """Return λ ∓ √((1 − 1/C)·λ(λ + γ)) in each direction, at least 0, where λ is the `best` penalty of eq. (lambda)."""
    with np.errstate(invalid="ignore"):
        width = np.sqrt(1 - 1 / constant) * np.sqrt(best) * np.sqrt(best + eigenvalues)
        limits = np.stack([np.maximum(best - width, 0.0), best + width])
    # λ = ∞: the start is right, and any other penalty adds noise. γ = 0: nothing moves, whatever the penalty.
    limits = np.where(np.isinf(best), np.inf, limits)
    anything = np.array([0.0, np.inf]).reshape(2, 1, 1)
    return np.where(eigenvalues == 0, anything, limits)


def smallest_constants(eigenvalues: Array, penalties: Array, best: Array, ratios: Array) -> Array:
    """Return the smallest C ≥ 1 with (g − g*)² ≤ C(C−1)ρ²/((1+ρ)(1+Cρ)²) in each direction of a task, or ∞.

    g = γ/(λ + γ), g* is the same at the one-step optimum `best`, and ρ are the `ratios`. The right side grows
    with C to 1/(1+ρ): there is a C if and only if (g − g*)²(1+ρ) < 1, and the smallest is a quadratic's root.
    """
    with np.errstate(all="ignore"):
        gain, best_gain = eigenvalues / (penalties + eigenvalues), eigenvalues / (best + eigenvalues)
        # g − g* without cancellation, and its limits if either penalty is infinite.
        difference = np.where(
            np.isinf(penalties),
            -best_gain,
            np.where(np.isinf(best), gain, best_gain * ((best - penalties) / (penalties + eigenvalues))),
        )
        # Thm (approx), eq. (sensitivity): C(C−1) ≥ a(1 + Cρ)²; corrections rows 5 and 6.
        a = (difference / ratios) ** 2 * (1 + ratios)
        room = 1 - difference**2 * (1 + ratios)
        constant = (1 + 2 * a * ratios + np.sqrt(1 + 4 * a * (1 + ratios))) / (2 * room)
    constant = np.where((room > 0) & (ratios > 0), constant, np.inf)
    return np.where((eigenvalues == 0) | (difference == 0), 1.0, constant)
