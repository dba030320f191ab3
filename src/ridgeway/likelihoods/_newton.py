"""The estimate: where a task's log-likelihood and what is held of the past are largest together."""

from dataclasses import dataclass

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.errors import InvalidDataError, SeparationError
from ridgeway.likelihoods._observed import Observed
from ridgeway.likelihoods._polynomial import Polynomial
from ridgeway.linalg import EPS, Solution, is_semidefinite, solve_moments

MOST_STEPS = 200
CONVERGED = 1e-12
"""Newton's decrement, in units of log-likelihood, before the last step: it is then off by 1e-6 standard errors."""
SMALL = 0.1
"""A change of every linear predictor by less changes the curvature by a tenth: Newton's step is safe. If one changes by
more in a step that no longer gains anything, the maximum is at infinity."""
KEPT_CURVATURE = 0.1
"""The share of its curvature that a cubic must keep, in every direction, where steps may go."""
SHORTEST = 2.0**-40


@dataclass(frozen=True, eq=False)
class Climbed:
    """A maximum, or the last point on the way to it at which a cubic is trusted.

    Attributes
    ----------
    theta : ndarray of shape (size,)
    solution : Solution
        The last step: its rank, and how much rounding errors grow.
    """

    theta: Array
    solution: Solution


def climb(observed: Observed | None, held: Polynomial, start: Array, *, intercepts: int, size: int) -> Climbed:
    """Maximise log-likelihood + held by damped Newton steps, or raise `SeparationError`. O(n·p² + p³) a step.

    A cubic is unbounded. Steps stay where its curvature is at least a tenth of that at its centre in all directions.

    Parameters
    ----------
    observed : the rows of a task, or None if nothing is new
    held : what is known without them, about ŵ_{t−1}
    start : where to look from
    intercepts : how many coefficients at the end are intercepts
    size : the number of rows that determine the coefficients, if fewer than these
    """
    theta, value = start, _value(observed, held, start)
    if not np.isfinite(value):
        raise InvalidDataError(
            "the log-likelihood overflows at the start. Change the units of the columns or the offset."
        )
    for _ in range(MOST_STEPS):
        here = held.at(theta) if observed is None else observed.expand(theta).plus(held)
        solution = newton_step(here, intercepts, size)
        step = solution.coef[:, 0]
        gain, farthest = float(here.gradient @ step), np.inf if observed is None else observed.farthest(step)
        share = 1.0
        while True:
            there = theta + share * step
            trusted = _is_trusted(held, there)
            if trusted and share * farthest < SMALL:  # near the end, values differ by less than their rounding
                break
            if trusted and _value(observed, held, there) >= value + 1e-4 * share * gain - 16.0 * EPS * abs(value):
                break
            share /= 2.0
            if share < SHORTEST:
                return Climbed(theta, solution)  # where the cubic stops being trusted
        theta, value = there, _value(observed, held, there)
        if gain < CONVERGED:
            if observed is not None and farthest > SMALL:
                raise _separated(held)
            return Climbed(theta, solution)
    raise _separated(held)


def newton_step(here: Polynomial, intercepts: int, size: int) -> Solution:
    """Return J⁻¹g, the intercepts eliminated first; the shortest change of the others if J is singular."""
    J, g, p = here.curvature, here.gradient[:, None], len(here.gradient) - intercepts
    root = kernels.cholesky(J[p:, p:]) if intercepts else None
    if root is None:
        return solve_moments(np.triu(J), g, size=min(size, len(g)))
    cross = kernels.solve_triangular(root, J[p:, :p], transposed=True)
    below = kernels.solve_triangular(root, g[p:], transposed=True)
    offset = np.sqrt(np.square(cross).sum(axis=0))
    left = np.triu(J[:p, :p] - cross.T @ cross)
    np.fill_diagonal(left, np.maximum(left.diagonal(), 0.0))  # a column that is constant may be below 0 by rounding
    found = solve_moments(left, g[:p] - cross.T @ below, size=min(size, p), offset=offset)
    last = kernels.solve_triangular(root, below - cross @ found.coef)
    return Solution(np.vstack([found.coef, last]), found.rank, found.growth, found.constant)


def _value(observed: Observed | None, held: Polynomial, theta: Array) -> float:
    return held.at(theta).value + (0.0 if observed is None else observed.value(theta))


def _is_trusted(held: Polynomial, theta: Array) -> bool:
    """Return whether a cubic keeps enough of its curvature at θ."""
    return held.third is None or is_semidefinite(held.at(theta).curvature - KEPT_CURVATURE * held.curvature)


def _separated(held: Polynomial) -> SeparationError:
    if held.curvature.any():
        return SeparationError(
            "the log-likelihood of this task has no maximum in a direction that neither the prior nor the past holds, "
            "such as the intercept of rows that all have one class. Learn them together with other rows; or pass a "
            "column of ones and fit_intercept=False, so that the prior holds its coefficient."
        )
    return SeparationError(
        "the log-likelihood of this task has no maximum: some combination of the columns separates the classes, or the "
        "rows with a count of 0, and its coefficient grows without end. Give a prior, such as "
        "weights.Accumulated(prior=1.0)."
    )
