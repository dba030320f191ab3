"""Thm (early stopping) and Cor. (ES): gradient steps are equivalent to penalties; corrections rows 10 and 10c."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np

from ridgeway._checks import Array
from ridgeway.estimators import EarlyStopping, GeneralizedRidge
from ridgeway.linalg import semidefinite_eigen
from ridgeway.research.theory import (
    CommutingProblem,
    FixedDesignProblem,
    penalties_from_early_stopping,
    weight_matrix_from_early_stopping,
)
from ridgeway.research.verify._cases import gaussian_designs, reflection
from ridgeway.research.verify._exact import diagonal, exact, largest_difference, solve, zeros
from ridgeway.research.verify._findings import Instances, worst_case
from ridgeway.research.verify._statement import Claim, Search, Statement
from ridgeway.weights import Explicit

Equivalence = Callable[[Fraction, Fraction, int], Fraction]
"""(γ, s, m) → λ."""
WeightMatrix = Callable[[Array, Array, int], Array]
"""(Σ, A, m) → H."""
Rates = Callable[[CommutingProblem, int], Array]
"""(problem, m) → s of shape (T, p)."""


def _equivalence(gamma: Fraction, rate: Fraction, n_steps: int) -> Fraction:
    """Return eq. (equivalence)."""
    kept = (1 - rate * gamma) ** n_steps
    return gamma * kept / (1 - kept)


@worst_case("largest relative difference between the two estimates", 0.0)
def _try_estimates(search: Search, form: Equivalence) -> Instances:
    """Take the gradient steps in rational numbers, on tasks that do not share eigenvectors."""
    rng = search.generator()
    for _ in range(search.count(60, 1500)):
        n_tasks, p, n_steps = rng.integers(1, 4, size=3).tolist()
        stopped = penalised = zeros(p)
        words = []
        for _ in range(n_tasks):
            basis, loads = reflection(rng, p), exact(rng.integers(1, 4, size=p))
            n = p + int(rng.integers(0, 3))
            X = np.vstack([(basis * loads).T, zeros(n - p, p)])
            y = exact(rng.integers(-4, 5, size=n))
            gamma = loads**2 / Fraction(n)
            rates = exact([Fraction(int(k), 5) for k in rng.integers(1, 5, size=p)]) / gamma
            for _ in range(n_steps):
                stopped = stopped - basis @ diagonal(rates) @ basis.T @ (X.T @ (X @ stopped - y)) / Fraction(n)
            penalties = [form(g, s, n_steps) for g, s in zip(gamma, rates, strict=True)]
            held = n * (basis @ diagonal(penalties) @ basis.T)
            penalised = solve(X.T @ X + held, X.T @ y + held @ penalised)
            words.append(f"γ=({', '.join(map(str, gamma))}), s=({', '.join(map(str, rates))})")
        yield largest_difference(stopped, penalised), n_tasks * p + n_steps, f"m={n_steps}; {'; '.join(words)}"


@worst_case("1 if no penalty ≥ 0 keeps the same share", 0.0)
def _try_range(search: Search, products: tuple[Fraction, ...]) -> Instances:
    """Look for a penalty in [0, ∞) that keeps the same share of the old error; γ = 0 keeps all of it."""
    for n_steps, step, gamma in product(range(1, search.count(7, 30)), products, (Fraction(1, 2), Fraction(1))):
        kept = (1 - step) ** n_steps
        penalty = _equivalence(gamma, step / gamma, n_steps) if kept != 1 else None
        works = kept == 1 if step == 0 else penalty is not None and penalty >= 0 and kept == penalty / (penalty + gamma)
        case = f"γ={gamma}, s={step / gamma}, m={n_steps}: λ = {'∞' if penalty is None else penalty}"
        yield 0.0 if works else 1.0, n_steps + step.numerator + step.denominator + gamma.denominator, case


@worst_case("largest relative difference between the two estimates", 1e-7)
def _try_any_matrix(search: Search, form: WeightMatrix) -> Instances:
    """Run the estimators with learning-rate matrices that do not share eigenvectors with the covariances."""
    rng = search.generator()
    for _ in range(search.count(40, 800)):
        p, n_steps, n_tasks = int(rng.integers(2, 6)), int(rng.integers(1, 8)), 3
        designs = gaussian_designs(rng, n_tasks, p + 3, p)
        rates, weights = [], []
        for X in designs:
            covariance = X.T @ X / len(X)
            root = rng.normal(size=(p, p))
            matrix = root @ root.T + 0.3 * np.eye(p)
            inner, outer = (semidefinite_eigen(part)[0].max() for part in (root.T @ covariance @ root, covariance))
            rates.append(0.9 * matrix / (inner + 0.3 * outer))
            weights.append(form(covariance, rates[-1], n_steps))
        stopped = EarlyStopping(rates, n_steps, fit_intercept=False)
        penalised = GeneralizedRidge(Explicit(weights), fit_intercept=False)
        for X in designs:
            y = rng.normal(size=len(X))
            one, two = stopped.partial_fit(X, y).coef_, penalised.partial_fit(X, y).coef_
        yield float(np.abs(one - two).max() / np.abs(one).max()), p + n_steps, f"p={p}, m={n_steps}, random A_t"


def _shared_eigenvectors(covariance: Array, rates: Array, n_steps: int) -> Array:
    """Use eq. (equivalence) as it stands, with s_j = u_jᵀAu_j."""
    values, vectors = semidefinite_eigen(covariance)
    along = np.minimum(np.diagonal(vectors.T @ rates @ vectors), 1 / values)
    return np.asarray((vectors * penalties_from_early_stopping(values, along, n_steps)) @ vectors.T)


@worst_case("largest relative difference from the optimal error", 1e-9)
def _try_corollary(search: Search, form: Rates) -> Instances:
    """Read the gains off the estimator, one unit target per row, and propagate the error exactly."""
    rng = search.generator()
    for _ in range(search.count(60, 1500)):
        p, n_tasks, n_steps = int(rng.integers(1, 6)), int(rng.integers(1, 5)), int(rng.integers(1, 6))
        basis = reflection(rng, p).astype(np.float64)
        loads = np.exp(rng.normal(0, 1, (n_tasks, p)))
        coef, noise = rng.normal(size=p), float(np.exp(rng.normal()))
        problem = CommutingProblem(
            loads**2 / p, np.full(n_tasks, p), noise_variance=noise, initial_errors=(basis.T @ coef) ** 2
        )
        designs = [(basis * row).T for row in loads]
        gains = []
        for X, rates in zip(designs, form(problem, n_steps), strict=True):
            model = EarlyStopping((basis * rates) @ basis.T, n_steps, fit_intercept=False)
            gains.append(np.atleast_2d(model.fit(X, np.eye(p)).coef_).T)
        errors = FixedDesignProblem(designs, noise_variance=noise, signal=coef).expected_error_of_gains(gains).total
        worst = float(np.abs(errors / problem.optimal_error() - 1).max())
        yield worst, p * n_tasks * n_steps, f"p={p}, T={n_tasks}, m={n_steps}"


INSIDE = tuple(Fraction(k, 10) for k in range(11))
ANY = (*INSIDE, Fraction(3, 2), Fraction(2), Fraction(5, 2))

STATEMENTS = {
    "early-stopping": Statement(
        where="Thm (early stopping)",
        claim="m_t gradient steps are generalized ridge with λ of eq. (equivalence), here for 0 < sγ < 1",
        printed=Claim(_equivalence, _try_estimates),
        mutations={
            "penalties × 1.1": {"printed": lambda g, s, m: Fraction(11, 10) * _equivalence(g, s, m)},
            "one step more": {"printed": lambda g, s, m: _equivalence(g, s, m + 1)},
        },
    ),
    "early-stopping-range": Statement(
        row="10",
        where="Thm (early stopping)",
        claim="any s_j > 0 has its λ_j > 0",
        correction="0 < s_jγ_j < 1 has; s_jγ_j = 1 gives λ_j = 0; a direction with γ_j = 0 stays as it was under both",
        printed=Claim(ANY, _try_range),
        corrected=Claim(INSIDE, _try_range),
        mutations={"sγ up to 1.1": {"corrected": (*INSIDE, Fraction(11, 10))}},
    ),
    "early-stopping-any-matrix": Statement(
        row="10c",
        where="Thm (early stopping)",
        claim="eq. (equivalence), used although A_t does not share the eigenvectors of Σ_t",
        correction="H = A^−½·V diag(λ(d)) Vᵀ·A^−½ with A^½ΣA^½ = V diag(d) Vᵀ, for any positive definite A_t",
        printed=Claim(_shared_eigenvectors, _try_any_matrix),
        corrected=Claim(weight_matrix_from_early_stopping, _try_any_matrix),
        mutations={
            "H × 1.1": {"corrected": lambda sigma, a, m: 1.1 * weight_matrix_from_early_stopping(sigma, a, m)},
            "one step more": {"corrected": lambda sigma, a, m: weight_matrix_from_early_stopping(sigma, a, m + 1)},
        },
    ),
    "es-corollary": Statement(
        where="Cor. (ES)",
        claim="with the rates of eq. (eses) early stopping reaches the optimal error",
        printed=Claim(CommutingProblem.optimal_learning_rates, _try_corollary),
        mutations={
            "rates × 0.9": {"printed": lambda problem, m: 0.9 * problem.optimal_learning_rates(m)},
            "one step more": {"printed": lambda problem, m: problem.optimal_learning_rates(m + 1)},
        },
    ),
}
