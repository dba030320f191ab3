"""Thm (extension): the error need not rise even if the covariances do not commute; corrections rows 20 and 36."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np

from ridgeway.research.verify._cases import reflection
from ridgeway.research.verify._exact import Matrix, diagonal, exact, identity, next_moment, zeros
from ridgeway.research.verify._findings import Instances, Verdict, worst_case
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement

Penalty = Callable[[Fraction, int, Fraction], Fraction]
"""(σ², n_t, the error before in the direction) → λ."""
Sequence = Callable[[int], Iterator[list[Matrix]]]
"""k → choices of H_1, H_2 for the rows k·(1, −1), then k·(1, 0)."""
Measure = Callable[[Matrix], Matrix]
"""The rows of the task before → the matrix W that weighs errors, E[(ŵ − w_*)ᵀW(ŵ − w_*)]."""
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


@worst_case("largest of the least errors after two tasks, over that of the oracle", 10.0)
def _try_rate(search: Search, form: Sequence) -> Instances:
    """Learn k·(1, −1) and then k·(1, 0) with w_* = (1, 3/2), σ² = 1; the oracle's error is 3/k²."""
    start = np.outer(exact([2, 3]), exact([2, 3])) / Fraction(4)
    for k in (1, 10, search.count(100, 1000)):
        designs = [k * exact([[1, -1]]), k * exact([[1, 0]])]
        errors = []
        for weights in form(k):
            moment = start
            for design, weight in zip(designs, weights, strict=True):
                moment = next_moment(moment, design, weight, Fraction(1))
            errors.append(np.trace(moment))
        ratio = min(errors) / Fraction(3, k**2)
        words = (
            f"X=k(1, −1), then k(1, 0), w_*=(1, 3/2), σ²=1, k={k}: {float(min(errors)):.4g}, the oracle {3 / k**2:.2g}"
        )
        yield float(ratio), k, words


def _shared_matrices(k: int) -> Iterator[list[Matrix]]:
    """Yield H_1 and H_2 with the eigenvectors of Σ_1 and Σ_2; what a task says nothing about stays, whatever λ is."""
    axes = [exact([[1, -1], [-1, 1]]) / Fraction(2), exact([[1, 0], [0, 0]])]
    penalties = [k**2 * Fraction(10) ** power for power in range(-30, 31, 3)]
    for choice in product(penalties, repeat=2):
        yield [identity(2) + (penalty - 1) * axis for penalty, axis in zip(choice, axes, strict=True)]


def _information(k: int) -> Iterator[list[Matrix]]:
    """Yield H̃_t with a prior, which does not share the eigenvectors of Σ_2."""
    yield [identity(2), identity(2) + k**2 * exact([[1, -1], [-1, 1]])]


@worst_case("largest relative rise of the error in a task", 0.0)
def _try_earlier_rows(search: Search, form: Measure) -> Instances:
    """Learn two tasks with the penalties of the proof, and weigh the errors after each."""
    rng = search.generator()
    for _ in range(search.count(150, 4000)):
        p = int(rng.integers(2, 4))
        start = exact(rng.integers(-2, 3, size=p))
        start[0] = start[0] or Fraction(1)
        loads, basis = exact(rng.integers(0, 4, size=p)), reflection(rng, p)
        first, moment = _step(loads, basis, p, np.outer(start, start), Fraction(1), _penalty)
        second, after = _step(exact(rng.integers(0, 4, size=p)), reflection(rng, p), p, moment, Fraction(1), _penalty)
        measure = form((basis * loads).T)
        errors = [np.trace(values @ measure) for values in (moment, after)]
        if errors[0] > 0:
            words = f"w_*=({', '.join(map(str, start))}); {first.words}; then {second.words}"
            yield (
                float(errors[1] / errors[0] - 1),
                len(words),
                f"{words}: {float(errors[0]):.3g} → {float(errors[1]):.3g}",
            )


STATEMENTS = {
    "extension": Statement(
        where="Thm (extension)",
        claim="without commuting covariances some penalties keep the error from rising in any task",
        printed=Claim(_penalty, _try_no_rise),
    ),
    "extension-rate": Statement(
        row="36",
        where="Sec. 4, Assumptions, read as the oracle's rate",
        claim="without commuting covariances some H_t with the eigenvectors of Σ_t reach the oracle's rate",
        correction="some H_t do, such as H̃_t, which need not share these eigenvectors",
        recorded=Verdict.READING,
        printed=Claim(_shared_matrices, _try_rate),
        corrected=Claim(_information, _try_rate),
    ),
    "extension-rows": Statement(
        row="36",
        where="Sec. Extensions, read as the error on earlier rows",
        claim="with the penalties of Thm (extension) no task is forgotten: the error on its rows does not rise",
        correction="measured by 𝓛, as F_t is; the error on the rows of an earlier task can rise without bound",
        recorded=Verdict.READING,
        printed=Claim(lambda rows: rows.T @ rows, _try_earlier_rows),
        corrected=Claim(lambda rows: identity(rows.shape[1]), _try_earlier_rows),
    ),
    "extension-strict": Statement(
        row="20",
        where="Thm (extension), read for any w_*",
        claim="the error falls in every task with Σ_j γ_j > 0",
        correction="if every E[e_j,t] > 0 (the proof divides by it); in general if and only if Σ_j γ_j·E[e_j,t] > 0",
        recorded=Verdict.READING,
        printed=Claim(lambda gammas, errors: any(gammas), _try_strict),
        corrected=Claim(lambda gammas, errors: any(gammas * errors), _try_strict),
    ),
}
