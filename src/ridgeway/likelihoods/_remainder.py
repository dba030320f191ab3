"""How far an estimate from polynomials can be from that of all rows: a bound from what is kept of the rows.

A task τ is kept as its Taylor polynomial of order m about θ_τ (m = 2 or 3). At the estimate θ its gradient is off by
Σ_i w_i·ρ_i·x_i. By Taylor's theorem, with δ_i = x_i·(θ − θ_τ) and h_i = −ℓ'' at θ_τ,

    |ρ_i| ≤ κ_i·|δ_i|^m/m!,   κ_i = min(K_{m+1}, h_i·e^|δ_i|),

where K_{m+1} is the largest |ℓ^(m+1)| there is. (For these likelihoods |ℓ'''| and |ℓ''''| are at most |ℓ''|, so
that ℓ'' changes by a factor of at most e^|δ| over a distance δ.) Let A_τ = Σ_{σ≤τ} J_σ(θ_σ) + P be the information
when τ was learned, A that of now, M_τ = A_τ/n with n the weight of all rows then, and ‖x‖² = xᵀM_τ⁻¹x for the rows of
τ. The Cauchy–Schwarz inequality, used twice, gives

    ‖Σ w_i·ρ_i·x_i‖_{A⁻¹} ≤ √(Σ w_i·κ_i²/h_i·δ_i^{2m})/m! ≤ D^{m−1}·√(Σ_τ ‖θ − θ_τ‖²_{Q_τ})/m! = R,

with Q_τ = Σ w_i·κ_i²/h_i·‖x_i‖^{2m−2}·x_i·x_iᵀ and D² = Σ_τ ‖θ − θ_τ‖²_{M_τ}. Both sums are quadratics in θ: p² numbers
each, however many tasks there are.

The log-likelihood of all rows is largest where its slope along a line from θ is 0. In units of ‖·‖_A the slope at θ is
at most R. It falls, at the distance s, at a rate of at least 1 − ε_1 − s·ε_2, because third derivatives times
|δ_i| + s·|x_i·v| bound how far the curvature is from A. Here ε_1² = Σ_τ ‖θ − θ_τ‖²_{C_τ}, and ε_2² is the largest
eigenvalue of A⁻¹·Σ_τ C_τ, with C_τ = Σ w_i·κ_i²/h_i·(x_iᵀA⁻¹x_i)·x_i·x_iᵀ. So the distance is at most the smaller
root of (1 − ε_1)·s − ε_2·s²/2 = R. The rate is also at least e^−|δ|, and the smaller of the two distances counts.
"""

from dataclasses import dataclass, replace
from math import exp, factorial, inf, log1p, sqrt

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.likelihoods._likelihood import Likelihood
from ridgeway.likelihoods._observed import Observed
from ridgeway.likelihoods._polynomial import Polynomial, even

ALLOWED = 1.0
"""The |δ| for which κ² / h is summed up if derivatives are bounded; see `_inflation` for larger ones."""
MOST_ROUNDS = 50
LARGE = 700.0


@dataclass(frozen=True, eq=False)
class Remainder:
    """What is kept of the rows to bound the distance.

    Attributes
    ----------
    likelihood : Likelihood
        With one linear predictor.
    order : int
        m, 2 or 3.
    total_weight : float
        Σ w.
    first : ndarray of shape (size, size)
        Σ_τ J_τ(θ_τ).
    moves, tilts, drifts : Polynomial
        −½·Σ_τ ‖θ − θ_τ‖² about the estimate θ, with the matrices M_τ, C_τ and Q_τ.
    row_norm, leverage : float
        The largest ‖x‖, and the largest √(xᵀA⁻¹x).
    least_curvature : float
        The smallest h.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.likelihoods import Binomial, Observed, Remainder
    >>> task = Task.of(np.ones((4, 1)), np.array([[0.0], [1.0], [1.0], [0.0]]))
    >>> rows, here = Observed(Binomial(), task, None), np.zeros(1)
    >>> kept = Remainder.zero(Binomial(), here, cubic=False)
    >>> kept = kept.after(rows, rows.expand(here), np.zeros((1, 1)))
    >>> kept.distance(np.zeros((1, 1)), np.zeros(1))[0]  # one task at its own estimate
    0.0
    """

    likelihood: Likelihood
    order: int
    total_weight: float
    first: Array
    moves: Polynomial
    tilts: Polynomial
    drifts: Polynomial
    row_norm: float = 0.0
    leverage: float = 0.0
    least_curvature: float = inf

    @classmethod
    def zero(cls, likelihood: Likelihood, theta: Array, *, cubic: bool) -> "Remainder":
        """Return that of no rows."""
        zero = Polynomial.zero(theta)
        return cls(likelihood, 3 if cubic else 2, 0.0, zero.curvature, zero, zero, zero)

    def damped(self, share: float) -> "Remainder":
        """Return it for a past that has kept a share of its third derivative: nothing is known if that is not 1."""
        return self if share == 1.0 else replace(self, row_norm=inf)

    def faded(self, factor: float) -> "Remainder":
        """Return it with all weights, those of the prior included, multiplied by a number."""
        return replace(
            self,
            total_weight=factor * self.total_weight,
            first=factor * self.first,
            drifts=self.drifts.scaled(factor),
            leverage=self.leverage / sqrt(factor),
        )

    def at(self, theta: Array) -> "Remainder":
        """Return it for another estimate."""
        return replace(self, moves=self.moves.at(theta), tilts=self.tilts.at(theta), drifts=self.drifts.at(theta))

    def mapped(self, matrix: Array, centre: Array) -> "Remainder":
        """Return it for θ', if θ = matrix·θ' and the centre is matrix·centre."""
        kept = (one.mapped(matrix, centre) for one in (self.moves, self.tilts, self.drifts))
        moves, tilts, drifts = kept
        return replace(self, first=even(matrix.T @ self.first @ matrix), moves=moves, tilts=tilts, drifts=drifts)

    def plus(self, other: "Remainder", prior: Array) -> "Remainder":
        """Return that of the rows of both, at this one's estimate, under a prior."""
        root = kernels.cholesky(self.first + other.first + prior)
        if root is None:
            return replace(self._joined(other), row_norm=inf)
        return self._rebased(prior, root)._joined(other._rebased(prior, root))

    def after(self, observed: Observed, own: Polynomial, prior: Array) -> "Remainder":
        """Return it with the rows of a task added, whose expansion is `own`, under a prior."""
        theta, weight = own.centre, self.total_weight + observed.task.total_weight
        A = self.first + own.curvature + prior
        root = kernels.cholesky(A)
        if root is None:
            return replace(self.at(theta), total_weight=weight, first=self.first + own.curvature, row_norm=inf)
        tilt, drift = np.zeros_like(A), np.zeros_like(A)
        leverage, least = 0.0, inf
        for X, weights, curvature in observed.curved(theta):
            norms = np.square(kernels.solve_triangular(root, X.T, transposed=True)).sum(axis=0)
            leverage, least = max(leverage, sqrt(norms.max())), min(least, float(curvature.min()))
            tilt += X.T @ ((weights * self._ratio(curvature, 2) * norms)[:, None] * X)
            scale = weights * self._ratio(curvature, self.order) * (weight * norms) ** (self.order - 1)
            drift += X.T @ (scale[:, None] * X)
        task = Remainder(
            likelihood=self.likelihood,
            order=self.order,
            total_weight=observed.task.total_weight,
            first=own.curvature,
            moves=Polynomial.quadratic(theta, A / weight),
            tilts=Polynomial.quadratic(theta, even(tilt)),
            drifts=Polynomial.quadratic(theta, even(drift)),
            row_norm=leverage * sqrt(weight),
            leverage=leverage,
            least_curvature=least,
        )
        return self.at(theta)._rebased(prior, root)._joined(task)

    def distance(self, prior: Array, gradient: Array) -> tuple[float, Array]:
        """Return a bound on ‖θ − θ*‖_A, infinite if there is none, and A⁻¹.

        Parameters
        ----------
        prior : ndarray of shape (size, size)
            P.
        gradient : ndarray of shape (size,)
            What is left of the gradient of the polynomials and the prior, which is 0 at their maximum.
        """
        A = self.first + prior
        root = kernels.cholesky(A)
        if root is None or not np.isfinite(self.row_norm):
            return inf, np.full_like(A, inf)
        inverse = kernels.definite_solve(root, np.eye(len(A)))
        move, tilt, drift = (sqrt(max(-2.0 * one.value, 0.0)) for one in (self.moves, self.tilts, self.drifts))
        steep = sqrt(max(largest_ratio(self.tilts.curvature, root), 0.0))
        near, m = self.row_norm * move, self.order  # no |δ| is larger at θ
        slope = self._inflation(near, m, averaged=True) * move ** (m - 1) * drift / factorial(m)
        slope += sqrt(max(float(gradient @ inverse @ gradient), 0.0))
        share = self.leverage * slope * exp(min(near, LARGE))
        if self.leverage == 0.0:  # the limit of −log(1 − ls)/l
            bound = slope * exp(min(near, LARGE))
        else:
            bound = -log1p(-share) / self.leverage if share < 1.0 else inf
        found = 0.0
        for _ in range(MOST_ROUNDS):  # how far |δ| goes depends on the distance
            third = self._inflation(near + self.leverage * found, 2, averaged=False)
            end = _root(1.0 - third * tilt, third * steep, slope)
            if end <= found * (1.0 + 1e-9):
                return min(bound, found), inverse
            found = end
        return bound, inverse

    def _largest(self, m: int) -> float:
        return self.likelihood.largest_third if m == 2 else self.likelihood.largest_fourth

    def _ratio(self, curvature: Array, m: int) -> Array:
        """Return κ²/h for |δ| up to ALLOWED, or for |δ| = 0 if derivatives are unbounded."""
        most = self._largest(m)
        if np.isinf(most):
            return curvature
        with np.errstate(divide="ignore"):
            return np.minimum(most**2 / curvature, curvature * exp(2.0 * ALLOWED))

    def _inflation(self, far: float, m: int, *, averaged: bool) -> float:
        """Return by how much κ exceeds that of `_ratio` for |δ| up to `far`: on average over the way, or at its end."""
        most = self._largest(m)
        allowed = 1.0 if np.isinf(most) else exp(ALLOWED)
        growth = _averaged(min(far, LARGE), m) if averaged else exp(min(far, LARGE))
        most = most / self.least_curvature if self.least_curvature > 0.0 else inf
        return max(1.0, min(growth, most) / allowed)

    def _joined(self, other: "Remainder") -> "Remainder":
        return replace(
            self,
            total_weight=self.total_weight + other.total_weight,
            first=self.first + other.first,
            moves=self.moves.plus(other.moves),
            tilts=self.tilts.plus(other.tilts),
            drifts=self.drifts.plus(other.drifts),
            row_norm=max(self.row_norm, other.row_norm),
            leverage=max(self.leverage, other.leverage),
            least_curvature=min(self.least_curvature, other.least_curvature),
        )

    def _rebased(self, prior: Array, root: Array) -> "Remainder":
        """Return it with xᵀA⁻¹x for a later A = rootᵀ·root: overestimated if A has grown in some directions only."""
        ratio = largest_ratio(self.first + prior, root)
        if ratio == inf:
            return replace(self, row_norm=inf)
        return replace(self, tilts=self.tilts.scaled(ratio), leverage=self.leverage * sqrt(ratio))


def largest_ratio(matrix: Array, root: Array) -> float:
    """Return the largest vᵀ·matrix·v with vᵀ·rootᵀ·root·v = 1; infinity if it overflows."""
    half = kernels.solve_triangular(root, matrix, transposed=True)
    whitened = kernels.solve_triangular(root, half.T, transposed=True)
    if not np.isfinite(whitened).all():
        return inf
    return float(kernels.eigen(whitened)[0][-1])


def _averaged(far: float, m: int) -> float:
    """Return m!·(e^δ − Σ_{k<m} δ^k/k!)/δ^m, the mean of e^s over the way to δ with the weights of Taylor's theorem."""
    total = term = 1.0
    k = m
    while term > 1e-17 * total:
        k += 1
        term *= far / k
        total += term
    return total


def _root(linear: float, square: float, right: float) -> float:
    """Return the smaller s ≥ 0 with linear·s − square·s²/2 = right, or infinity."""
    if linear <= 0.0 or linear**2 < 2.0 * square * right:
        return inf
    return 2.0 * right / (linear + sqrt(linear**2 - 2.0 * square * right))
