"""Thm (min-norm): a lower bound on the error of the minimum-norm estimator; corrections rows 10b and 15."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ridgeway._checks import Array
from ridgeway.kernels import svd
from ridgeway.linalg import EPS
from ridgeway.research.theory import FixedDesignProblem
from ridgeway.research.verify._cases import Case, few_cases, gaussian_designs
from ridgeway.research.verify._exact import Matrix, diagonal, exact, identity, solve
from ridgeway.research.verify._findings import Instances, Verdict, worst_case
from ridgeway.research.verify._library import LibraryCheck
from ridgeway.research.verify._plain import pseudoinverse, solved
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement
from ridgeway.weights import Accumulated, Designed, Isotropic, Zero

Bound = Callable[[float, int, Array], float]
"""(σ², n_t, the positive eigenvalues of Σ_t) → the least error after task t."""

ROUNDING = 1 + 1e-9
SMALL = Fraction(1, 10**9)


def _problems(search: Search, *, overparameterized: bool) -> Iterator[FixedDesignProblem]:
    """Yield designs of random shapes; the first ones attain the bound."""
    for n in range(1, 4):
        rows = np.eye(n, n + 1) if overparameterized else np.ones((n, 1))
        yield FixedDesignProblem([rows], signal=np.zeros(rows.shape[1]))
    rng = search.generator()
    for _ in range(search.count(150, 5000)):
        p, n_tasks = int(rng.integers(2, 9)), int(rng.integers(1, 5))
        n = int(rng.integers(1, p if overparameterized else 2 * p + 1))
        noise = float(np.exp(rng.normal()))
        yield FixedDesignProblem(gaussian_designs(rng, n_tasks, n, p), noise_variance=noise, signal=rng.normal(size=p))


@worst_case("largest bound over error", ROUNDING)
def _try(search: Search, bound: Bound, *, overparameterized: bool = False) -> Instances:
    for problem in _problems(search, overparameterized=overparameterized):
        errors = problem.expected_error(Zero()).total
        for t, (design, error) in enumerate(zip(problem.designs, errors, strict=True)):
            n, p = design.shape
            values = np.square(svd(design)[1]) / n
            lowest = bound(problem.noise_variance, n, values[values > p * EPS * values.max()])
            case = f"n={n}, p={p}, γ_max={values.max():.3g}, σ²={problem.noise_variance:.3g}, t={t + 1}"
            yield lowest / error, n * p + t, f"{case}: error {error:.3g}, bound {lowest:.3g}"


def _printed(noise_variance: float, n: int, eigenvalues: Array) -> float:
    return float(noise_variance / eigenvalues.max())


def _with_rank(noise_variance: float, n: int, eigenvalues: Array) -> float:
    return float(noise_variance * len(eigenvalues) / (n * eigenvalues.max()))


def _bounds(case: Case) -> list[float]:
    """Return the bound after each task of a case; 0 if it says nothing."""
    rows = case.eigenvalues.astype(np.float64)
    noise = float(case.noise_variance)
    return [
        _with_rank(noise, n, row[row > 0]) if row.any() else 0.0 for n, row in zip(case.n_samples, rows, strict=True)
    ]


@worst_case("largest difference from the minimum-norm estimate", 1e-6)
def _try_limit(search: Search, shape_of: Callable[[int], Matrix]) -> Instances:
    """Take H = δ·diag(shape) with δ = 10⁻⁹, in tasks with fewer rows than features, in rational numbers."""
    rng = search.generator()
    sizes = [(1, 2), *((int(p) - 1, int(p)) for p in rng.integers(2, 5, size=search.count(20, 400)))]
    for number, (n, p) in enumerate(sizes):
        X = np.hstack([identity(n), exact(rng.integers(1, 4, size=(n, p - n)))]) if number else exact([[1, 1]])
        y = exact(rng.integers(1, 5, size=n)) if number else exact([2])
        shape = shape_of(p)
        coef = solve(X.T @ X + n * SMALL * diagonal(shape), X.T @ y)
        least = X.T @ solve(X @ X.T, y)
        case = f"X={X.astype(int).tolist()}, y={y.astype(int).tolist()}, H=δ·diag({', '.join(map(str, shape))})"
        found = ", ".join(f"{float(x):.3g}" for x in coef)
        yield float(abs(coef - least).max()), number, f"{case}: tends to ({found})"


class WeightedUpdates(NamedTuple):
    """A problem, and weights in one of the forms that the library accepts."""

    problem: FixedDesignProblem
    weights: Sequence[ArrayLike] | Designed
    matrices: Sequence[Array | None]
    """H_t, or None for the least change."""


def _updates(search: Search) -> Iterator[WeightedUpdates]:
    """Yield problems with numbers, diagonals, matrices and policies as weights, and with known or random w_*."""
    rng = search.generator()
    for number in range(search.count(12, 200)):
        p = int(rng.integers(2, 5))
        designs = gaussian_designs(rng, 3, p - 1 + number % 3, p)
        signal = (rng.normal(size=p), 2.0, np.diag(np.arange(1.0, p + 1)))[number % 3]
        problem = FixedDesignProblem(designs, noise_variance=float(np.exp(rng.normal())), signal=signal)
        roots = rng.normal(size=(3, p, p))
        matrices = [root @ root.T for root in roots]
        yield WeightedUpdates(problem, matrices, matrices)
        yield WeightedUpdates(problem, [0.5, 2.0, 0.0], [0.5 * np.eye(p), 2.0 * np.eye(p), None])
        frozen = np.array([np.inf, *np.ones(p - 1)])
        yield WeightedUpdates(problem, [frozen] * 3, [np.diag([1e12, *np.ones(p - 1)])] * 3)
        yield WeightedUpdates(problem, Isotropic(0.7), [0.7 * np.eye(p)] * 3)
        yield WeightedUpdates(problem, Zero(), [None] * 3)
        past = [sum((X.T @ X for X in designs[:t]), 0.3 * np.eye(p)) / len(designs[t]) for t in range(3)]
        yield WeightedUpdates(problem, Accumulated(prior=0.3), past)


def _moments(update: WeightedUpdates, noise_variance: float) -> Array:
    """Return E[(ŵ_t − w_*)(ŵ_t − w_*)ᵀ] after each task, for any noise variance."""
    signal, p = update.problem.signal, update.problem.designs[0].shape[1]
    moment = np.outer(signal, signal) if signal.ndim == 1 else signal * np.eye(p)  # here a matrix is diagonal
    found = []
    for X, weight in zip(update.problem.designs, update.matrices, strict=True):
        gain = pseudoinverse(X) if weight is None else solved(X.T @ X + len(X) * weight, X.T)
        kept = np.eye(p) - gain @ X
        moment = kept @ moment @ kept.T + noise_variance * gain @ gain.T
        found.append(moment)
    return np.array(found)


def _parts(update: WeightedUpdates) -> Array:
    """Return bias, variance, drift and total."""
    noiseless, noisy = (_moments(update, noise) for noise in (0.0, update.problem.noise_variance))
    bias, total = (np.trace(moments, axis1=1, axis2=2) for moments in (noiseless, noisy))
    return np.array([bias, total - bias, np.zeros_like(bias), total])


def _library_parts(update: WeightedUpdates) -> Array:
    error = update.problem.expected_error(update.weights)
    return np.array([error.bias, error.variance, error.drift, error.total])


STATEMENTS = {
    "min-norm-limit": Statement(
        row="15",
        where="Sec. Learning Algorithms, read for any H_t → 0",
        claim="generalized ridge tends to the minimum-norm estimator as H_t → 0",
        correction="if H_t = δI, δ → 0; otherwise to the least change in the norm of H_t",
        recorded=Verdict.READING,
        printed=Claim(lambda p: exact([1] * (p - 1) + [100]), _try_limit),
        corrected=Claim(lambda p: exact([1] * p), _try_limit),
        library=(
            LibraryCheck("expected_error", _updates, _library_parts, _parts),
            LibraryCheck(
                "second_moment",
                _updates,
                lambda update: update.problem.expected_error(update.weights).second_moment,
                lambda update: _moments(update, update.problem.noise_variance),
            ),
        ),
        mutations={"H = 1.01·δ in one direction": {"corrected": lambda p: exact([1] * (p - 1) + [Fraction(101, 100)])}},
    ),
    "min-norm": Statement(
        row="10b",
        where="Thm (min-norm)",
        claim="with rank n_t < p the error of the minimum-norm estimator is at least σ²/γ_max",
        correction="σ²·rank_t/(n_t·γ_max) always holds; it is the printed bound if rank_t = n_t",
        recorded=Verdict.EXTENDED,
        printed=Claim(_printed, partial(_try, overparameterized=True)),
        corrected=Claim(_with_rank, _try),
        library=(
            LibraryCheck("minimum_norm_bound", few_cases, lambda case: case.problem().minimum_norm_bound(), _bounds),
        ),
        mutations={
            "bound × 1.1": {"printed": lambda noise, n, values: 1.1 * _printed(noise, n, values)},
            "γ_min for γ_max": {"printed": lambda noise, n, values: noise / values.min()},
            "the printed bound for n_t ≥ p": {"corrected": _printed},
            "dropped n_t": {"corrected": lambda noise, n, values: n * _with_rank(noise, n, values)},
        },
    ),
}
