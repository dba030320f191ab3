"""Thm (extension): the error need not rise even if the covariances do not commute; corrections row 20."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ridgeway._checks import Array
from ridgeway.research.theory import FixedDesignProblem
from ridgeway.research.verify._cases import gaussian_designs, reflection
from ridgeway.research.verify._exact import Matrix, diagonal, exact, identity, next_moment, zeros
from ridgeway.research.verify._findings import Instances, Verdict, worst_case
from ridgeway.research.verify._library import LibraryCheck
from ridgeway.research.verify._plain import solved
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement

Penalty = Callable[[Fraction, int, Fraction], Fraction]
"""(σ², n_t, the error before in the direction) → λ."""
Strict = Callable[[Matrix, Matrix], bool]
"""(γ of the task, the errors before in its directions) → whether the error is claimed to fall."""


class Step(NamedTuple):
    """One task of a sequence: its eigenvalues, the errors before along its eigenvectors, and 𝓛 before and after."""

    eigenvalues: Matrix
    errors: Matrix
    before: Fraction
    after: Fraction
    words: str


def _steps(search: Search, penalty: Penalty, quick: int, full: int) -> Iterator[Step]:
    """Yield the steps of sequences whose tasks have different eigenvectors, with the penalties of the proof."""
    rng = search.generator()
    yield _step(exact([1, 0]), identity(2), 2, np.outer(exact([0, 1]), exact([0, 1])), Fraction(1), penalty)[0]
    for _ in range(search.count(quick, full)):
        p, n_tasks = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        start = exact(rng.integers(-2, 3, size=p))
        start[0] = start[0] or Fraction(1)
        moment = np.outer(start, start)
        variance = Fraction(*rng.integers(1, 5, size=2).tolist())
        for _ in range(n_tasks):
            loads, n = exact(rng.integers(0, 4, size=p)), p + int(rng.integers(0, 3))
            step, moment = _step(loads, reflection(rng, p), n, moment, variance, penalty)
            yield step


def _step(
    loads: Matrix, basis: Matrix, n: int, moment: Matrix, variance: Fraction, penalty: Penalty
) -> tuple[Step, Matrix]:
    """Return a step and the second moment after it. A direction without error never moves: λ = ∞."""
    gamma = loads**2 / Fraction(n)
    errors = np.diagonal(basis.T @ moment @ basis)
    seen = exact([load if error > 0 else 0 for load, error in zip(loads, errors, strict=True)])
    penalties = [penalty(variance, n, error) if error > 0 else Fraction(1) for error in errors]
    design = np.vstack([(basis * seen).T, zeros(n - len(loads), len(loads))])
    weight = basis @ diagonal(penalties) @ basis.T
    after = next_moment(moment, design, weight, variance)
    words = f"σ²={variance}, n={n}, γ=({', '.join(map(str, gamma))}), errors before=({', '.join(map(str, errors))})"
    return Step(gamma, errors, np.trace(moment), np.trace(after), words), after


@worst_case("largest relative rise of the error in a task", 0.0)
def _try_no_rise(search: Search, form: Penalty) -> Instances:
    for _, _, before, after, words in _steps(search, form, 150, 4000):
        yield float((after - before) / before), len(words), f"{words}: {before} → {after}"


@worst_case("1 if a claimed fall does not happen", 0.0)
def _try_strict(search: Search, form: Strict) -> Instances:
    for eigenvalues, errors, before, after, words in _steps(search, _penalty, 150, 4000):
        if form(eigenvalues, errors):
            yield 0.0 if after < before else 1.0, len(words), f"{words}: {before} → {after}"


def _penalty(noise_variance: Fraction, n: int, error: Fraction) -> Fraction:
    return noise_variance / (n * error)


def _signals(search: Search) -> Iterator[FixedDesignProblem]:
    """Yield problems with a known w_*, a random one, and one without variance in some directions."""
    rng = search.generator()
    for number in range(search.count(9, 90)):
        p = int(rng.integers(1, 5))
        designs = gaussian_designs(rng, 3, int(rng.integers(1, 2 * p + 1)), p)
        few = rng.normal(size=(p, 1 + p // 2))
        signal = (rng.normal(size=p), 1.5, few @ few.T)[number % 3]
        yield FixedDesignProblem(designs, noise_variance=float(np.exp(rng.normal())), signal=signal)


def _best(problem: FixedDesignProblem) -> tuple[Array, list[float]]:
    """Return K_t = M_{t−1}X_tᵀ(X_tM_{t−1}X_tᵀ + σ²I)⁻¹ side by side, and tr M_t, M_t = (I − K_tX_t)M_{t−1}."""
    signal, p = problem.signal, problem.designs[0].shape[1]
    moment = np.outer(signal, signal) if signal.ndim == 1 else signal * np.eye(p) if signal.ndim == 0 else signal
    gains, errors = [], []
    for X in problem.designs:
        gains.append(solved(X @ moment @ X.T + problem.noise_variance * np.eye(len(X)), X @ moment).T)
        moment = moment - gains[-1] @ X @ moment
        errors.append(float(np.trace(moment)))
    return np.hstack(gains), errors


STATEMENTS = {
    "extension": Statement(
        where="Thm (extension)",
        claim="without commuting covariances some penalties keep the error from rising in any task",
        printed=Claim(_penalty, _try_no_rise),
        library=(
            LibraryCheck(
                "optimal_gains",
                _signals,
                lambda problem: np.hstack(problem.optimal_gains()),
                lambda problem: _best(problem)[0],
            ),
            LibraryCheck(
                "expected_error_of_gains",
                _signals,
                lambda problem: problem.expected_error_of_gains(problem.optimal_gains()).total,
                lambda problem: _best(problem)[1],
            ),
        ),
        mutations={
            "penalties ÷ 10": {"printed": lambda noise, n, error: _penalty(noise, n, error) / 10},
            "swapped σ² and error": {"printed": lambda noise, n, error: error / (n * noise)},
        },
    ),
    "extension-strict": Statement(
        row="20",
        where="Thm (extension), read for any w_*",
        claim="the error falls in every task with Σ_j γ_j > 0",
        correction="if every E[e_j,t] > 0 (the proof divides by it); in general if and only if Σ_j γ_j·E[e_j,t] > 0",
        recorded=Verdict.READING,
        printed=Claim(lambda gammas, errors: any(gammas), _try_strict),
        corrected=Claim(lambda gammas, errors: any(gammas * errors), _try_strict),
        mutations={"error anywhere": {"corrected": lambda gammas, errors: any(errors)}},
    ),
}
