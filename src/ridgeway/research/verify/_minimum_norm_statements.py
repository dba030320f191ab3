"""Thm (min-norm): a lower bound on the error of the minimum-norm estimator; corrections row 10b."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ridgeway._checks import Array
from ridgeway.kernels import svd
from ridgeway.linalg import EPS
from ridgeway.research.theory import FixedDesignProblem
from ridgeway.research.verify._cases import gaussian_designs
from ridgeway.research.verify._findings import Instances, worst_case
from ridgeway.research.verify._statement import Claim, Search, Statement
from ridgeway.weights import Zero

Bound = Callable[[float, int, Array], float]
"""(σ², n_t, the positive eigenvalues of Σ_t) → the least error after task t."""

ROUNDING = 1 + 1e-9


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


STATEMENTS = {
    "min-norm": Statement(
        where="Thm (min-norm)",
        claim="with rank n_t < p the error of the minimum-norm estimator is at least σ²/γ_max",
        printed=Claim(_printed, partial(_try, overparameterized=True)),
        mutations={
            "bound × 1.1": {"printed": lambda noise, n, values: 1.1 * _printed(noise, n, values)},
            "γ_min for γ_max": {"printed": lambda noise, n, values: noise / values.min()},
        },
    ),
    "min-norm-rank": Statement(
        row="10b",
        where="Thm (min-norm)",
        claim="the bound σ²/γ_max, used for n_t ≥ p as well",
        correction="σ²·rank_t/(n_t·γ_max) always holds; it is the printed bound if rank_t = n_t",
        printed=Claim(_printed, _try),
        corrected=Claim(_with_rank, _try),
        mutations={
            "dropped n_t": {"corrected": lambda noise, n, values: n * _with_rank(noise, n, values)},
            "bound × 1.1": {"corrected": lambda noise, n, values: 1.1 * _with_rank(noise, n, values)},
        },
    ),
}
