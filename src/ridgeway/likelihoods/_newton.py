"""The estimate: where a task's log-likelihood and what is held of the past are largest together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.errors import InvalidDataError, SeparationError
from ridgeway.likelihoods._observed import Observed
from ridgeway.likelihoods._polynomial import Polynomial
from ridgeway.linalg import EPS, Solution, is_semidefinite, solve_moments

MOST_STEPS = 200
CONVERGED = 1e-12
"""Newton's decrement before the last step, in units of log-likelihood, times the mean weight of a row if that is less
than 1: the estimate is then off by 1e-6 standard errors at most."""
SMALL = 0.1
"""A change of every linear predictor by less changes the curvature by a tenth: Newton's step is safe. If one changes by
more in a step that no longer gains anything, the maximum is at infinity."""
KEPT_CURVATURE = 0.1
"""The share of its curvature that a cubic must keep, in every direction, where steps may go."""
LEAST_SHARE = 0.125
"""The least share of its third derivative, other than 0, that a past keeps if the maximum is far away."""
SHORTEST = 2.0**-40


@dataclass(frozen=True, eq=False)
class Climbed:
    """A maximum.

    Attributes
    ----------
    theta : ndarray of shape (size,)
    solution : Solution
        The last step: its rank, and how much rounding errors grow.
    share : float
        How much of its third derivative the past has kept.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.likelihoods import Polynomial, climb
    >>> past = Polynomial.quadratic(np.array([3.0]), np.eye(1))
    >>> found = climb(None, [past], np.zeros(1), intercepts=0, size=1)
    >>> found.theta, found.share, found.solution.rank
    (array([3.]), 1.0, 1)
    """

    theta: Array
    solution: Solution
    share: float


def climb(
    observed: Observed | None, held: Sequence[Polynomial], start: Array, *, intercepts: int, size: int
) -> Climbed:
    """Maximise log-likelihood + held by damped Newton steps, or raise `SeparationError`. O(n·p² + p³) a step.

    A cubic is unbounded. Steps stay where each keeps a tenth of the curvature at its centre, in every direction. If
    they end at that bound, half the third derivatives are taken, a quarter, …, and in the end none: a quadratic is
    bounded.

    Parameters
    ----------
    observed : the rows of a task, or None if nothing is new
    held : what is known without them, each about the estimate that it comes from
    start : where to look from
    intercepts : how many coefficients at the end are intercepts
    size : the number of rows that determine the coefficients, if fewer than these

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.likelihoods import Observed, Poisson, Polynomial, climb
    >>> task = Task.of(np.ones((2, 1)), np.array([[1.0], [3.0]]))
    >>> rows, nothing = Observed(Poisson(), task, None), Polynomial.zero(np.zeros(1))
    >>> np.exp(climb(rows, [nothing], np.zeros(1), intercepts=0, size=1).theta)  # the mean
    array([2.])
    """
    share = 1.0
    while True:
        damped = [one.damped(share) for one in held]
        if _are_trusted(damped, start):
            theta, solution, blocked = _climbed(observed, damped, start, intercepts, size)
            if not blocked:
                return Climbed(theta, solution, share)
        share = share / 2.0 if share > LEAST_SHARE else 0.0


def _climbed(
    observed: Observed | None, held: Sequence[Polynomial], start: Array, intercepts: int, size: int
) -> tuple[Array, Solution, bool]:
    """Return the maximum, the last step, and whether steps ended where polynomials are not trusted any more."""
    theta, value = start, _value(observed, held, start)
    if not np.isfinite(value):
        raise InvalidDataError(
            "the log-likelihood overflows at the start. Change the units of the columns or the offset."
        )
    enough, last = CONVERGED * (1.0 if observed is None else min(1.0, observed.mean_weight)), np.inf
    for _ in range(MOST_STEPS):
        here = _here(observed, held, theta)
        solution = newton_step(here, intercepts, size)
        step = solution.coef[:, 0]
        gain, farthest = float(here.gradient @ step), np.inf if observed is None else observed.farthest(step)
        share, blocked = 1.0, False
        while True:
            there = theta + share * step
            trusted = _are_trusted(held, there)
            if trusted and share * farthest < SMALL:  # near the end, values differ by less than their rounding
                break
            if trusted and _value(observed, held, there) >= value + 1e-4 * share * gain - 16.0 * EPS * abs(value):
                break
            share, blocked = share / 2.0, blocked or not trusted
            if share < SHORTEST:
                return theta, solution, blocked
        theta, value = there, _value(observed, held, there)
        ended = observed is None or farthest <= SMALL
        if gain < enough and not ended:
            raise _separated(held[0], observed)
        if gain < enough or (ended and last / 4.0 < gain < 16.0 * EPS * abs(value)):  # or nothing but rounding is left
            return theta, solution, False
        last = gain
    raise _separated(held[0], observed)


def newton_step(here: Polynomial, intercepts: int, size: int) -> Solution:
    """Return J⁻¹g, the intercepts eliminated first; the shortest change of the others if J is singular.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.likelihoods import Polynomial, newton_step
    >>> here = Polynomial(np.zeros(2), 0.0, np.array([4.0, 3.0]), np.diag([2.0, 1.0]))
    >>> newton_step(here, intercepts=0, size=2).coef.ravel()
    array([2., 3.])
    """
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


def _here(observed: Observed | None, held: Sequence[Polynomial], theta: Array) -> Polynomial:
    """Return the sum about θ."""
    total = held[0].at(theta)
    for one in (*held[1:], *([] if observed is None else [observed.expand(theta)])):
        total = total.plus(one)
    return total


def _value(observed: Observed | None, held: Sequence[Polynomial], theta: Array) -> float:
    return sum(one.at(theta).value for one in held) + (0.0 if observed is None else observed.value(theta))


def _are_trusted(held: Sequence[Polynomial], theta: Array) -> bool:
    """Return whether each keeps enough of its curvature at θ."""
    cubics = (one for one in held if one.third is not None and one.third.any())
    return all(is_semidefinite(one.at(theta).curvature - KEPT_CURVATURE * one.curvature) for one in cubics)


def _separated(held: Polynomial, observed: Observed | None) -> SeparationError:
    n_rows = 0 if observed is None else observed.task.n_samples
    if n_rows and not held.curvature.any() and n_rows <= len(held.centre):
        return SeparationError(
            f"the log-likelihood of this task has no maximum: {counted(n_rows, 'row')} cannot determine "
            f"{counted(len(held.centre), 'coefficient')}. Learn more rows first, or together with these; or give a "
            "prior, such as weights.Accumulated(prior=1.0)."
        )
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
