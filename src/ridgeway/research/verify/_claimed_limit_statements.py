"""What can never be had, or always is, says the paper: a formula, the oracle, a floor; corrections rows 26–30, 32."""

from collections.abc import Callable, Iterator

import numpy as np

from ridgeway._checks import Array
from ridgeway.estimators import GeneralizedRidge, Oracle
from ridgeway.kernels import svd
from ridgeway.research.theory import FixedDesignProblem
from ridgeway.research.verify._cases import gaussian_designs
from ridgeway.research.verify._findings import Instances, Trial, Verdict, worst_case
from ridgeway.research.verify._plain import inverse, pseudoinverse, solved
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement
from ridgeway.weights import Accumulated, Zero


@worst_case("largest excess of an error over what F_t = 0 is read to promise", 0.0)
def _try_small_forgetting(search: Search, promised: Callable[[Array], float]) -> Instances:
    """Follow an estimate that never moves from 0: F_t = 0."""
    for size in (1.0, 10.0, 100.0):
        errors = np.full(3, size)
        yield errors[-1] - promised(errors), size, f"ŵ_t = 0 for all t, ‖w_*‖² = {size:g}: F_t = 0, 𝓛 = {size:g}"


def _oracle_gaps(search: Search, prior: float) -> list[float]:
    """Return the largest distance between the oracle and an estimate that sees one task at a time."""
    rng = search.generator()
    gaps = []
    for _ in range(search.count(10, 200)):
        p = int(rng.integers(2, 6))
        coef = rng.normal(size=p)
        model, oracle = GeneralizedRidge(Accumulated(prior=prior), fit_intercept=False), Oracle(fit_intercept=False)
        for X in gaussian_designs(rng, 4, 3, p):
            y = X @ coef + rng.normal(size=3)
            gap = np.abs(model.partial_fit(X, y).coef_ - oracle.partial_fit(X, y).coef_).max()
        gaps.append(float(gap))
    return gaps


def _try_out_of_reach(search: Search, prior: float) -> Trial:
    gaps = _oracle_gaps(search, prior)
    found = f"task by task, from ŵ and the information: at most {max(gaps):.1e} from the oracle"
    return Trial("largest distance from the oracle", max(gaps), 1e-6, len(gaps), found, at_least=True)


def _try_estimate_alone(search: Search, scale: float) -> Trial:
    """Let one past have rows and targets that are a multiple of another's: they share ŵ, but not what follows."""
    rng = search.generator()
    gaps = []
    for _ in range(search.count(10, 200)):
        p = int(rng.integers(2, 6))
        (X, Z), y, z = gaussian_designs(rng, 2, p + 1, p), rng.normal(size=p + 1), rng.normal(size=p + 1)
        one, two = (Oracle(fit_intercept=False).partial_fit(k * X, k * y).partial_fit(Z, z) for k in (1.0, scale))
        gaps.append(float(np.abs(one.coef_ - two.coef_).max()))
    return Trial("smallest distance of two oracles after the same ŵ", min(gaps), 1e-6, len(gaps), at_least=True)


@worst_case("largest first error of the minimum-norm estimator over its last", 100.0)
def _try_floor(search: Search, growth: float) -> Instances:
    """Follow the estimator over many tasks whose rows grow like a power of t."""
    rng = search.generator()
    n_tasks = search.count(300, 3000)
    for p in (2, 3, 5):
        designs = [rng.normal(size=(1, p)) * t**growth for t in range(1, n_tasks + 1)]
        errors = FixedDesignProblem(designs, signal=np.ones(p)).expected_error(Zero()).total
        words = f"p={p}, n=1, rows of size t^{growth:g}: the error falls to {errors[-1]:.2g} at t = {n_tasks}"
        yield float(errors[0] / errors[-1]), p, words


@worst_case("largest error that interpolation removes, over the noise that it adds", 1.0)
def _try_noise(search: Search, error: float) -> Instances:
    """Interpolate one task with p > n, starting from an error in each direction; σ² = 1."""
    rng = search.generator()
    for n, p in ((5, 6), (15, 20), (15, 200)):
        X = rng.normal(size=(n, p))
        ratio = n * error / float(np.square(pseudoinverse(X)).sum())
        yield ratio, p, f"n={n}, p={p}, σ²=1, error {error:g} per direction: {ratio:.3g} times the noise is removed"


@worst_case("largest error after a poor past, over that after an exact one", 1.0)
def _try_past(search: Search, error: float) -> Instances:
    """Interpolate one task with p > n, starting from an error in each direction or from w_*; σ² = 1."""
    rng = search.generator()
    for n, p in ((1, 2), (5, 6), (15, 200)):
        ratio = 1 + (p - n) * error / float(np.square(pseudoinverse(rng.normal(size=(n, p)))).sum())
        yield ratio, p, f"n={n}, p={p}, σ²=1: {ratio:.3g} times the error, after {error:g} per direction before"


@worst_case("largest bound over the error after an exact past", 1 + 1e-9)
def _try_exact_past(search: Search, factor: float) -> Instances:
    """Compare σ²/γ_max with the noise that interpolation brings in; equal eigenvalues attain it."""
    rng = search.generator()
    for number in range(search.count(30, 500)):
        n = int(rng.integers(1, 6))
        X = rng.normal(size=(n, n + 2)) if number else np.eye(n, n + 2)
        _, values, _ = svd(X)
        yield factor * n / float(np.square(values.max() / values).sum()), n, f"n={n}, p={n + 2}"


def _explicit(problem: FixedDesignProblem) -> float:
    """Return σ²·tr(σ²·E[w_*w_*ᵀ]⁻¹ + Σ_t X_tᵀX_t)⁻¹."""
    rows = np.vstack(problem.designs)
    total = problem.noise_variance * inverse(problem.signal) + rows.T @ rows
    return float(problem.noise_variance * np.trace(inverse(total)))


def _least(problem: FixedDesignProblem) -> float:
    """Return the least error of any linear estimate of w_* from all rows, which no sequence of updates can beat."""
    rows, moment = np.vstack(problem.designs), problem.signal
    system = rows @ moment @ rows.T + problem.noise_variance * np.eye(len(rows))
    return float(np.trace(moment - moment @ rows.T @ solved(system, rows @ moment)))


def _signals(search: Search) -> Iterator[FixedDesignProblem]:
    rng = search.generator()
    for _ in range(search.count(20, 400)):
        p = int(rng.integers(1, 5))
        root = rng.normal(size=(p, p))
        yield FixedDesignProblem(gaussian_designs(rng, 3, 1 + p // 2, p), signal=root @ root.T + 0.1 * np.eye(p))


def _try_no_formula(search: Search, formula: Callable[[FixedDesignProblem], float]) -> Trial:
    gaps = [abs(formula(problem) / _least(problem) - 1) for problem in _signals(search)]
    found = f"σ²·tr(σ²·E[w_*w_*ᵀ]⁻¹ + Σ X_tᵀX_t)⁻¹ is within {max(gaps):.0e} of it"
    return Trial("smallest distance of a formula from the optimum", min(gaps), 1e-6, len(gaps), found, at_least=True)


@worst_case("largest relative distance of the formula from the optimum", 1e-9)
def _try_formula(search: Search, formula: Callable[[FixedDesignProblem], float]) -> Instances:
    for number, problem in enumerate(_signals(search)):
        yield abs(formula(problem) / _least(problem) - 1), number, f"problem {number}"


STATEMENTS = {
    "forgetting-small": Statement(
        row="26",
        where="Sec. 2, after the definition of F_t, read as good in itself",
        claim="a small F_t means that the estimate is good on earlier tasks",
        correction="as good as when they were learned; ŵ_t = 0 has F_t = 0",
        recorded=Verdict.READING,
        printed=Claim(lambda errors: 0.0, _try_small_forgetting),
        corrected=Claim(lambda errors: float(errors[:-1].mean()), _try_small_forgetting),
    ),
    "oracle-out-of-reach": Statement(
        row="27",
        where="Sec. 2; Thm (adaptive ridge), remark, read with summary statistics kept",
        claim="the oracle can only be computed if the data of all tasks are available at once",
        correction="if only ŵ is kept; from ŵ and the information, which H̃_t needs too, it is computed task by task",
        recorded=Verdict.READING,
        printed=Claim(0.0, _try_out_of_reach),
        corrected=Claim(2.0, _try_estimate_alone),
    ),
    "min-norm-floor": Statement(
        row="28",
        where="Thm (min-norm), remark, read for any tasks",
        claim="the error of the minimum-norm estimator cannot converge to 0",
        correction="if the eigenvalues are bounded; the bound σ²/γ_max falls to 0 if the rows grow; so does the error",
        recorded=Verdict.READING,
        printed=Claim(1.0, _try_floor),
        corrected=Claim(0.0, _try_floor),
    ),
    "min-norm-noise": Statement(
        row="29",
        where="Sec. Minimum Norm Estimator, read for any past",
        claim="with p > n the noise that interpolation brings in outweighs the information",
        correction="if the error before the task is small; from ŵ_0 = 0 a task removes far more error than it adds",
        recorded=Verdict.READING,
        printed=Claim(1.0, _try_noise),
        corrected=Claim(1e-4, _try_noise),
    ),
    "min-norm-past": Statement(
        row="32",
        where="Thm (min-norm), remark, read for every past",
        claim="the minimum-norm estimator cannot use an accurate ŵ_{t−1} for a better estimate",
        correction="not below σ²/γ_max; above it an accurate ŵ_{t−1} helps wherever the task says nothing",
        recorded=Verdict.READING,
        printed=Claim(1.0, _try_past),
        corrected=Claim(1.0, _try_exact_past),
    ),
    "explicit-form": Statement(
        row="30",
        where="Sec. Extensions, read for any H_t",
        claim="without commuting covariances the optimal error has no explicit form",
        correction="σ²·tr(σ²·E[w_*w_*ᵀ]⁻¹ + Σ_t X_tᵀX_t)⁻¹, with the H_t of Sec. A Practical Algorithm as a matrix",
        recorded=Verdict.READING,
        printed=Claim(_explicit, _try_no_formula),
        corrected=Claim(_explicit, _try_formula),
    ),
}
