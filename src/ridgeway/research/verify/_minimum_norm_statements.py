"""Thm (min-norm): a lower bound on the error of the minimum-norm estimator; corrections rows 10b and 15."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from ridgeway._checks import Array
from ridgeway.kernels import svd
from ridgeway.linalg import EPS
from ridgeway.research.theory import FixedDesignProblem
from ridgeway.research.verify._cases import gaussian_designs
from ridgeway.research.verify._exact import Matrix, diagonal, exact, identity, solve
from ridgeway.research.verify._findings import Instances, Verdict, worst_case
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement
from ridgeway.weights import Zero

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


STATEMENTS = {
    "min-norm-limit": Statement(
        row="15",
        where="Sec. Learning Algorithms, read for any H_t → 0",
        claim="generalized ridge tends to the minimum-norm estimator as H_t → 0",
        correction="if H_t = δI, δ → 0; otherwise to the least change in the norm of H_t",
        recorded=Verdict.READING,
        printed=Claim(lambda p: exact([1] * (p - 1) + [100]), _try_limit),
        corrected=Claim(lambda p: exact([1] * p), _try_limit),
    ),
    "min-norm": Statement(
        row="10b",
        where="Thm (min-norm)",
        claim="with rank n_t < p the error of the minimum-norm estimator is at least σ²/γ_max",
        correction="σ²·rank_t/(n_t·γ_max) always holds; it is the printed bound if rank_t = n_t",
        recorded=Verdict.EXTENDED,
        printed=Claim(_printed, partial(_try, overparameterized=True)),
        corrected=Claim(_with_rank, _try),
    ),
}
