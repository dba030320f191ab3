"""The estimate: where a task's log-likelihood and what is held of the past are largest together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.errors import InvalidDataError, SeparationError
from ridgeway.likelihoods._observed import Observed
from ridgeway.likelihoods._polynomial import Polynomial
from ridgeway.linalg import EPS, Solution, column_norms, equilibrate, is_semidefinite, solve_moments, tolerance

MOST_STEPS = 200
CONVERGED = 1e-12
"""Newton's decrement before the last step, in units of log-likelihood, times the mean weight of a row if that is less
than 1: the estimate is then off by 1e-6 standard errors at most."""
SMALL = 0.1
"""A change of every linear predictor by less changes the curvature by a tenth: Newton's step is safe. If one changes by
more in a step that no longer gains anything, the maximum is at infinity."""
FLAT = 1e-6
"""A gain, in the units of CONVERGED, below which long steps follow a direction that has almost no curvature left. If
rounding is all that the next step finds there, the maximum is at infinity."""
KEPT_CURVATURE = 0.1
"""The share of its curvature that a cubic must keep, in every direction, where steps may go."""
LEAST_SHARE = 0.125
"""The least share of its third derivative, other than 0, that a past keeps if the maximum is far away."""
SHORTEST = 2.0**-40
LOST = 1e4
"""A step that should gain this many roundings of the log-likelihood, but gains none however short, is not the last."""


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
    >>> found = climb(None, [past], np.zeros(1), about=None, size=1)
    >>> found.theta, found.share, found.solution.rank
    (array([3.]), 1.0, 1)
    """

    theta: Array
    solution: Solution
    share: float


def climb(
    observed: Observed | None, held: Sequence[Polynomial], start: Array, *, about: Array | None, size: int
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
    about : what the columns are taken about, of shape (n_features,); None if there is no intercept
    size : the number of rows that determine the coefficients, if fewer than these

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.likelihoods import Observed, Poisson, Polynomial, climb
    >>> task = Task.of(np.ones((2, 1)), np.array([[1.0], [3.0]]))
    >>> rows, nothing = Observed(Poisson(), task, None), Polynomial.zero(np.zeros(1))
    >>> np.exp(climb(rows, [nothing], np.zeros(1), about=None, size=1).theta)  # the mean
    array([2.])
    """
    share = 1.0
    while True:
        damped = [one.damped(share) for one in held]
        if _are_trusted(damped, start):
            theta, solution, blocked = _climbed(observed, damped, start, about, size)
            if not blocked:
                return Climbed(theta, solution, share)
        share = share / 2.0 if share > LEAST_SHARE else 0.0


def _climbed(
    observed: Observed | None, held: Sequence[Polynomial], start: Array, about: Array | None, size: int
) -> tuple[Array, Solution, bool]:
    """Return the maximum, the last step, and whether steps ended where polynomials are not trusted any more."""
    theta = start
    value = _value(observed, held, start)
    if not np.isfinite(value):
        raise InvalidDataError(
            "the log-likelihood overflows at the start. Change the units of the columns or the offset."
        )
    unit = 1.0 if observed is None else min(1.0, observed.mean_weight)
    enough = CONVERGED * unit
    last_gain = np.inf
    last_rank = 0
    was_short = True

    for _ in range(MOST_STEPS):
        here = _here(observed, held, theta)
        solution = newton_step(here, about, size)
        step = solution.coef[:, 0]
        gain = float(here.gradient @ step)
        farthest = np.inf if observed is None else observed.farthest(step)

        # Along a direction to infinity, curvature falls with each step until it is rounding.
        rank = solution.rank or 0
        if not was_short and last_gain < FLAT * unit and rank < last_rank:
            raise _separated(held[0], observed)
        last_rank = rank

        # Halve the step until it goes up, where the polynomials are trusted.
        rounding = EPS * abs(value)
        share = 1.0
        is_blocked = False
        while True:
            there = theta + share * step
            is_trusted = _are_trusted(held, there)
            if is_trusted and share * farthest < SMALL:  # near the end, values differ by less than their rounding
                break
            if is_trusted and _value(observed, held, there) >= value + 1e-4 * share * gain - 16.0 * rounding:
                break
            share = share / 2.0
            is_blocked = is_blocked or not is_trusted
            if share < SHORTEST:
                if not is_blocked and gain > FLAT * unit + LOST * rounding:
                    raise _stalled()
                return theta, solution, is_blocked
        theta = there
        value = _value(observed, held, there)

        # The maximum is reached if nothing is gained any more, or nothing but rounding; a long step without a gain
        # goes to infinity.
        is_short = observed is None or farthest <= SMALL
        if gain < enough and not is_short:
            raise _separated(held[0], observed)
        if gain < enough:
            return theta, solution, False
        if is_short and last_gain / 4.0 < gain < 16.0 * EPS * abs(value):
            return theta, solution, False
        last_gain = gain
        was_short = is_short
    raise _separated(held[0], observed)


def newton_step(here: Polynomial, about: Array | None, size: int) -> Solution:
    """Return J⁻¹g, the intercepts eliminated first; the shortest change of the others if J is singular.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.likelihoods import Polynomial, newton_step
    >>> here = Polynomial(np.zeros(2), 0.0, np.array([4.0, 3.0]), np.diag([2.0, 1.0]))
    >>> newton_step(here, about=None, size=2).coef.ravel()
    array([2., 3.])
    """
    gradient = here.gradient[:, None]
    slopes = None if about is None else SlopeCurvature.of(here.curvature, about)
    if slopes is None:
        return solve_moments(np.triu(here.curvature), gradient, size=min(size, len(gradient)))

    # What the intercepts explain is taken off the gradient, too.
    p = len(slopes.matrix)
    explained = kernels.solve_triangular(slopes.root, gradient[p:], transposed=True)
    right = gradient[:p] - slopes.cross.T @ explained
    solution = solve_moments(slopes.matrix, right, size=min(size, p), offset=slopes.offset)

    intercepts = kernels.solve_triangular(slopes.root, explained - slopes.cross @ solution.coef)
    constant = sorted({coefficient // len(intercepts) for coefficient in solution.constant})
    return replace(solution, coef=np.vstack([solution.coef, intercepts]), constant=tuple(constant))


@dataclass(frozen=True, eq=False)
class SlopeCurvature:
    """The curvature of the coefficients other than intercepts, once these are eliminated.

    Attributes
    ----------
    matrix : ndarray of shape (p·q, p·q), upper triangular
        J_ww − crossᵀ·cross.
    root : ndarray of shape (q, q), upper triangular
        The Cholesky factor of the intercepts' own curvature.
    cross : ndarray of shape (q, p·q)
        root⁻ᵀ·J_bw: the columns' means about `about`, as the rows are weighted.
    offset : ndarray of shape (p·q,)
        Norms of which the columns carry the rounding: see `of`.

    Examples
    --------
    A column that was always 0.1, taken about a mean that was rounded:

    >>> import numpy as np
    >>> from ridgeway.likelihoods import SlopeCurvature
    >>> SlopeCurvature.of(np.diag([1e-34, 1.0]), np.array([0.1])).is_rounding()
    array([ True])
    """

    matrix: Array
    root: Array
    cross: Array
    offset: Array

    @classmethod
    def of(cls, curvature: Array, about: Array) -> "SlopeCurvature | None":
        """Return it for columns that are taken about `about`; None if the intercepts have no curvature.

        Rounding is a share of what centring took off a column: all of its mean, `about` included. What elimination
        takes off is taken off squares, whose rounding weighs as much as a far larger norm.
        """
        size = len(curvature)
        q = size // (len(about) + 1)
        p = size - q
        root = kernels.cholesky(curvature[p:, p:])
        if root is None:
            return None

        cross = kernels.solve_triangular(root, curvature[p:, :p], transposed=True)
        matrix = np.triu(curvature[:p, :p] - cross.T @ cross)
        np.fill_diagonal(matrix, np.maximum(matrix.diagonal(), 0.0))  # a constant column may be below 0 by rounding

        means = column_norms(cross + np.kron(about, root))
        offset = np.hypot(means, column_norms(cross) / np.sqrt(tolerance(p)))
        return cls(matrix, root, cross, offset)

    def is_rounding(self) -> NDArray[np.bool_]:
        """Return which columns have nothing left but rounding, of shape (p·q,)."""
        norms = np.sqrt(self.matrix.diagonal())
        return np.asarray(equilibrate(norms, self.offset, len(norms)).norms == 0.0)


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


def _stalled() -> InvalidDataError:
    return InvalidDataError(
        "the search for the maximum of the log-likelihood loses all digits: linear predictors become too large. If a "
        "column has changed its unit since earlier tasks, change it back; otherwise change the units of the columns."
    )


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
