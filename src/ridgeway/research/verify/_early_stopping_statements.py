"""Thm (early stopping) and Cor. (ES): gradient steps are equivalent to penalties; corrections rows 10, 10c, 18, 38."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import combinations, product

import numpy as np

from ridgeway._checks import Array
from ridgeway.estimators import EarlyStopping, GeneralizedRidge
from ridgeway.kernels import eigen
from ridgeway.research.theory import (
    CommutingProblem,
    FixedDesignProblem,
)
from ridgeway.research.verify._cases import gaussian_designs, reflection
from ridgeway.research.verify._exact import diagonal, exact, largest_difference, solve, zeros
from ridgeway.research.verify._findings import Instances, Verdict, worst_case
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement
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
            most = 5 if n_steps % 2 else 10  # an even number of steps may overshoot: λ is still positive
            steps = [Fraction(2 * int(k) + 1, 10) for k in rng.integers(0, most, size=p)]
            rates = exact(steps) / gamma
            for _ in range(n_steps):
                stopped = stopped - basis @ diagonal(rates) @ basis.T @ (X.T @ (X @ stopped - y)) / Fraction(n)
            penalties = [form(g, s, n_steps) for g, s in zip(gamma, rates, strict=True)]
            held = n * (basis @ diagonal(penalties) @ basis.T)
            penalised = solve(X.T @ X + held, X.T @ y + held @ penalised)
            words.append(f"γ=({', '.join(map(str, gamma))}), s=({', '.join(map(str, rates))})")
        yield largest_difference(stopped, penalised), n_tasks * p + n_steps, f"m={n_steps}; {'; '.join(words)}"


@worst_case("1 if no penalty ≥ 0 keeps the same share", 0.0)
def _try_range(search: Search, covered: Callable[[Fraction, int], bool]) -> Instances:
    """Look for a penalty in [0, ∞) that keeps the same share of the old error; γ = 0 keeps all of it."""
    for n_steps, step, gamma in product(range(1, search.count(7, 30)), PRODUCTS, (Fraction(1, 2), Fraction(1))):
        if not covered(step, n_steps):
            continue
        kept = (1 - step) ** n_steps
        penalty = _equivalence(gamma, step / gamma, n_steps) if kept != 1 else None
        works = kept == 1 if step == 0 else penalty is not None and penalty >= 0 and kept == penalty / (penalty + gamma)
        case = f"γ={gamma}, s={step / gamma}, m={n_steps}: λ = {'∞' if penalty is None else penalty}"
        yield 0.0 if works else 1.0, n_steps + step.numerator + step.denominator + gamma.denominator, case


@worst_case("largest relative difference between the two estimates", 1e-7)
def _try_any_matrix(search: Search, form: WeightMatrix, *, shared: bool = False) -> Instances:
    """Run the estimators with learning-rate matrices, which may or may not share the covariances' eigenvectors."""
    rng = search.generator()
    for _ in range(search.count(40, 800)):
        p, n_steps, n_tasks = int(rng.integers(2, 6)), int(rng.integers(1, 8)), 3
        designs = gaussian_designs(rng, n_tasks, p + 3, p)
        rates, weights = [], []
        for X in designs:
            covariance = X.T @ X / len(X)
            rates.append(_rate_matrix(rng, covariance, shared=shared))
            weights.append(form(covariance, rates[-1], n_steps))
        stopped = EarlyStopping(rates, n_steps, fit_intercept=False)
        penalised = GeneralizedRidge(Explicit(weights), fit_intercept=False)
        for X in designs:
            y = rng.normal(size=len(X))
            one, two = stopped.partial_fit(X, y).coef_, penalised.partial_fit(X, y).coef_
        yield float(np.abs(one - two).max() / np.abs(one).max()), p + n_steps, f"p={p}, m={n_steps}, random A_t"


def _rate_matrix(rng: np.random.Generator, covariance: Array, *, shared: bool) -> Array:
    """Return a positive definite A such that the eigenvalues of AΣ are at most 0.9."""
    values, vectors = eigen(covariance)
    if shared:
        return np.asarray((vectors * (rng.uniform(0.1, 0.9, len(values)) / values)) @ vectors.T)
    root = rng.normal(size=covariance.shape)
    largest = eigen(root.T @ covariance @ root)[0].max() + 0.3 * values.max()
    return np.asarray(0.9 * (root @ root.T + 0.3 * np.eye(len(values))) / largest)


def _shared_eigenvectors(covariance: Array, rates: Array, n_steps: int) -> Array:
    """Use eq. (equivalence) as it stands, with s_j = u_jᵀAu_j."""
    values, vectors = eigen(covariance)
    kept = (1 - np.minimum(np.diagonal(vectors.T @ rates @ vectors) * values, 1.0)) ** n_steps
    return np.asarray((vectors * (values * kept / (1 - kept))) @ vectors.T)


def _any_eigenvectors(covariance: Array, rates: Array, n_steps: int) -> Array:
    """Return A^−½·V diag(λ(d)) Vᵀ·A^−½ with A^½ΣA^½ = V diag(d) Vᵀ."""
    squares, axes = eigen(rates)
    half, inverse = ((axes * squares**power) @ axes.T for power in (0.5, -0.5))
    values, vectors = eigen(half @ covariance @ half)
    kept = (1 - values) ** n_steps
    return np.asarray(inverse @ (vectors * (values * kept / (1 - kept))) @ vectors.T @ inverse)


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


def _rates(problem: CommutingProblem, n_steps: int) -> Array:
    """Return s of eq. (eses); 1/(m·λ) if γ = 0, where any rate does."""
    prior = problem.noise_variance / problem.initial_errors
    information = problem.eigenvalues * problem.n_samples[:, np.newaxis]
    before = prior + np.cumsum(information, axis=0) - information
    share = information / (before + information)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = (1 - (1 - share) ** (1 / n_steps)) / problem.eigenvalues
    return np.where(information > 0, rates, problem.n_samples[:, np.newaxis] / (n_steps * before))


@worst_case("1 if two eigenvalues have the same penalty", 0.0)
def _try_vanilla(search: Search, ratio: Fraction) -> Instances:
    """Compare the penalties that one learning rate has at two eigenvalues."""
    for n_steps, step in product(range(1, search.count(8, 30)), (Fraction(k, 10) for k in range(1, 10))):
        one, two = (_equivalence(gamma, step, n_steps) for gamma in (Fraction(1), ratio))
        yield float(one == two), n_steps, f"s={step}, m={n_steps}: λ = {one} at γ = 1, {two} at γ = {ratio}"


@worst_case("1 if two eigenvalues have the same penalty", 0.0)
def _try_never(search: Search, covered: Callable[[Fraction, int], bool]) -> Instances:
    """Look for two different eigenvalues with the same penalty, s = 1."""
    for n_steps in range(1, search.count(8, 30)):
        eigenvalues = [Fraction(k, 6) for k in range(1, 12) if covered(Fraction(k, 6), n_steps)]
        for one, two in combinations(eigenvalues, 2):
            penalties = [_equivalence(gamma, Fraction(1), n_steps) for gamma in (one, two)]
            size = n_steps + one.denominator + two.denominator
            words = f"s=1, m={n_steps}: λ = {penalties[0]} at γ = {one}, {penalties[1]} at γ = {two}"
            yield float(penalties[0] == penalties[1]), size, words


def _growth(search: Search, factor: float) -> Iterator[tuple[float, int, float, float]]:
    """Yield s and m, the share (1 − sγ)^m that is optimal after n_t has changed by a factor, and its s; γ = 1."""
    rng = search.generator()
    for _ in range(search.count(100, 2000)):
        before, n, n_steps = *np.exp(rng.normal(size=2)), int(rng.integers(1, 9))
        share, wanted = before / (before + n), before / (before + factor * n)
        yield 1 - share ** (1 / n_steps), n_steps, wanted, 1 - wanted ** (1 / n_steps)


@worst_case("1 if a larger rate alone, or more steps alone, reach the optimum", 0.0)
def _try_both(search: Search, factor: float) -> Instances:
    for rate, n_steps, wanted, larger in _growth(search, factor):
        works = abs((1 - larger) ** n_steps - wanted) < 1e-12
        yield float(works), n_steps, f"γ=1, m={n_steps}: s={larger:.3g} instead of {rate:.3g} is optimal again"


@worst_case("1 if the rate, or the number of steps, need not grow while the other is fixed", 0.0)
def _try_either(search: Search, factor: float) -> Instances:
    for rate, n_steps, wanted, larger in _growth(search, factor):
        more = np.log(wanted) / np.log1p(-rate)
        yield (
            float(larger <= rate or more <= n_steps),
            n_steps,
            f"γ=1: s {rate:.3g} → {larger:.3g}, m {n_steps} → {more:.3g}",
        )


@worst_case("1 if the rate need not grow while the number of steps is fixed", 0.0)
def _try_rate(search: Search, overshooting: tuple[bool, ...]) -> Instances:
    """Let n_t grow, so that the share (1 − s)^m falls, and compare the rates before and after; γ = 1."""
    for n_steps, k, over in product(range(1, search.count(8, 30)), range(2, 9), overshooting):
        if over and n_steps % 2:
            continue  # the share would be negative
        sign = 1 if over else -1
        before, after = 1 + sign * Fraction(1, k), 1 + sign * Fraction(1, k + 1)
        words = f"γ=1, m={n_steps}, share 1/{k**n_steps} → 1/{(k + 1) ** n_steps}: s from {before} to {after}"
        yield float(after <= before), n_steps + k, words


def _inside(step: Fraction, n_steps: int) -> bool:
    """Return whether λ of eq. (equivalence) is positive."""
    return 0 < step < 1 or (n_steps % 2 == 0 and 1 < step < 2)


PRODUCTS = tuple(Fraction(k, 10) for k in range(26))
"""Values of sγ."""

STATEMENTS = {
    "early-stopping": Statement(
        where="Thm (early stopping)",
        claim="m_t gradient steps are generalized ridge with λ of eq. (equivalence), if that is positive",
        printed=Claim(_equivalence, _try_estimates),
    ),
    "early-stopping-range": Statement(
        row="10",
        where="Thm (early stopping)",
        claim="learning rates and positive penalties that satisfy eq. (equivalence) leave the same share of the error",
        correction="so do s_jγ_j = 1 with λ_j = 0, and γ_j = 0, where both methods stay; other s_jγ_j > 1 have no λ_j",
        recorded=Verdict.EXTENDED,
        printed=Claim(_inside, _try_range),
        corrected=Claim(lambda step, m: _inside(step, m) or step in (0, 1), _try_range),
    ),
    "early-stopping-any-matrix": Statement(
        row="10c",
        where="Thm (early stopping)",
        claim="eq. (equivalence) direction by direction, if A_t shares the eigenvectors of Σ_t",
        correction="H = A^−½·V diag(λ(d)) Vᵀ·A^−½ with A^½ΣA^½ = V diag(d) Vᵀ, for any positive definite A_t",
        recorded=Verdict.EXTENDED,
        printed=Claim(_shared_eigenvectors, partial(_try_any_matrix, shared=True)),
        corrected=Claim(_any_eigenvectors, _try_any_matrix),
    ),
    "vanilla": Statement(
        where="Thm (early stopping), remark",
        claim="gradient descent with one rate need not be ridge with one λ, since eigenvalues can differ",
        printed=Claim(Fraction(1, 2), _try_vanilla),
    ),
    "vanilla-never": Statement(
        row="38",
        where="Thm (early stopping), remark, read for any rate",
        claim="gradient descent with one rate is never ridge with one λ if the eigenvalues differ",
        correction="for 0 < sγ_j < 1 and positive eigenvalues that differ; λ falls strictly in γ",
        recorded=Verdict.READING,
        printed=Claim(_inside, _try_never),
        corrected=Claim(lambda step, m: 0 < step < 1, _try_never),
    ),
    "es-corollary": Statement(
        where="Cor. (ES)",
        claim="with the rates of eq. (eses) early stopping reaches the optimal error",
        printed=Claim(_rates, _try_corollary),
    ),
    "es-both-grow": Statement(
        row="18",
        where="Cor. (ES), remark, read as both at once",
        claim="if n_t is larger, both the learning rate and the number of steps must grow",
        correction="each must grow while the other is fixed, if s_jγ_j < 1; one of them is enough",
        recorded=Verdict.READING,
        printed=Claim(2.0, _try_both),
        corrected=Claim(2.0, _try_either),
    ),
    "es-rate-grows": Statement(
        row="18",
        where="Cor. (ES), remark, read for any rate",
        claim="if n_t is larger, the learning rate must grow while the number of steps is fixed",
        correction="for s_jγ_j < 1; with an even number of steps and 1 < s_jγ_j < 2 it must fall",
        recorded=Verdict.READING,
        printed=Claim((False, True), _try_rate),
        corrected=Claim((False,), _try_rate),
    ),
}
