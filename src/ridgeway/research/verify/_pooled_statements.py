"""Lemma (oracle), H̃_t and its equality with the pooled answer, online EWC; corrections rows 2, 3, 11 and 17."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from ridgeway.estimators import GeneralizedRidge, Oracle
from ridgeway.kernels import svd
from ridgeway.research.verify._adaptive_statements import Optimum, closed_form, optimal_penalties, try_closed_form
from ridgeway.research.verify._cases import Case, cases, gaussian_designs
from ridgeway.research.verify._exact import (
    Matrix,
    diagonal,
    exact,
    identity,
    largest_difference,
    relative,
    solve,
    zeros,
)
from ridgeway.research.verify._findings import Instances, Verdict, worst_case
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement
from ridgeway.weights import Accumulated, WeightPolicy

Weights = Callable[[Sequence[Matrix], int], Matrix]
"""(designs, task from 0) → H_t."""
Rows = list[tuple[Matrix, Matrix]]
"""X_t and y_t of each task."""


@dataclass(frozen=True)
class Consolidation:
    """Online EWC: how much of the past is kept, whether tasks have equal sizes, and whether only a diagonal is kept."""

    decay: Fraction
    equal_sizes: bool = True
    diagonal: bool = False


def _oracle_error(case: Case) -> Fraction:
    """Return Σ_j σ²/(n_1γ_j⁽¹⁾ + … + n_Tγ_j⁽ᵀ⁾)."""
    return Fraction(sum(case.noise_variance / (case.loadings**2).sum(axis=0)))


@worst_case("largest relative difference from the exact error", 0.0)
def _try_oracle(search: Search, form: Callable[[Case], Fraction]) -> Instances:
    for case in cases(search, 150, 4000):
        rows = np.vstack(case.designs)
        gain = solve(rows.T @ rows, rows.T)
        yield relative(case.noise_variance * (gain**2).sum(), form(case)), case.size, case


def sequences(search: Search, quick: int, full: int, *, equal_sizes: bool) -> Iterator[Rows]:
    """Yield integer tasks, the first of full rank, whose covariances do not commute."""
    rng = search.generator()
    for _ in range(search.count(quick, full)):
        n_tasks, p = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        sizes = [p + 1 if equal_sizes else int(rng.integers(1, p + 3)) for _ in range(n_tasks)]
        designs = [exact(rng.integers(-3, 4, size=(n, p))) for n in sizes]
        designs[0] = np.vstack([identity(p), exact(rng.integers(-3, 4, size=(1, p)))])
        yield [(design, exact(rng.integers(-5, 6, size=len(design)))) for design in designs]


def learn(rows: Rows, weights: Sequence[Matrix]) -> list[Matrix]:
    """Return ŵ_1, …, ŵ_T, each from the normal equations of its update."""
    coef = zeros(rows[0][0].shape[1])
    coefs = []
    for (design, y), weight in zip(rows, weights, strict=True):
        held = len(design) * weight
        coef = solve(design.T @ design + held, design.T @ y + held @ coef)
        coefs.append(coef)
    return coefs


@worst_case("largest relative difference from the pooled answer", 0.0)
def _try_pooled(search: Search, form: Weights) -> Instances:
    for rows in sequences(search, 60, 1500, equal_sizes=False):
        designs = [design for design, _ in rows]
        coefs = learn(rows, [form(designs, t) for t in range(len(rows))])
        stacks = [[np.concatenate(part) for part in zip(*rows[: t + 1], strict=True)] for t in range(len(rows))]
        yield _compared(rows, coefs, [solve(X.T @ X, X.T @ y) for X, y in stacks])


@worst_case("largest relative difference from online EWC", 0.0)
def _try_consolidation(search: Search, form: Consolidation) -> Instances:
    """Compare with online EWC: the Fisher information of each task is a mean over its rows."""
    for rows in sequences(search, 60, 1500, equal_sizes=form.equal_sizes):
        designs = [design for design, _ in rows]
        coefs = learn(rows, [accumulated(designs, t) for t in range(len(rows))])
        weights = [0 * identity(designs[0].shape[1])]
        for design in designs[:-1]:
            fisher = design.T @ design / len(design)
            if form.diagonal:
                fisher = diagonal(np.diagonal(fisher))
            weights.append(form.decay * (weights[-1] + fisher))
        yield _compared(rows, coefs, learn(rows, weights))


def _compared(rows: Rows, ones: Sequence[Matrix], twos: Sequence[Matrix]) -> tuple[float, float, str]:
    """Return the largest difference between two sequences of estimates as an instance."""
    words = "; ".join(f"X={design.astype(int).tolist()}, y={y.astype(int).tolist()}" for design, y in rows)
    return largest_difference(np.ravel(ones), np.ravel(twos)), sum(len(y) for _, y in rows), words


def accumulated(designs: Sequence[Matrix], task: int) -> Matrix:
    """Return H̃_t of Sec. "A Practical Algorithm": (1/n_t)·Σ_{τ<t} X_τᵀX_τ."""
    p = designs[0].shape[1]
    return np.asarray(sum((X.T @ X for X in designs[:task]), 0 * identity(p)) / Fraction(len(designs[task])))


@worst_case("largest relative distance from the oracle", 1e-9)
def _try_distance(search: Search, policy: WeightPolicy, *, at_every_task: bool = False) -> Instances:
    """Run the estimator and the oracle on tasks with fewer rows than features."""
    rng = search.generator()
    for number in range(search.count(25, 400)):
        n, p = int(rng.integers(2, 8)), int(rng.integers(8, 16))
        true_coef = rng.normal(size=p)
        model, oracle = GeneralizedRidge(policy, fit_intercept=False), Oracle(fit_intercept=False)
        gaps = []
        for X in gaussian_designs(rng, 8, n, p):
            y = X @ true_coef + rng.normal(size=n)
            pooled = oracle.partial_fit(X, y).coef_
            gap = model.partial_fit(X, y).coef_ - pooled
            gaps.append(float(np.sqrt((gap @ gap) / (pooled @ pooled))))
        yield max(gaps) if at_every_task else gaps[-1], number, f"sequence {number}"


@worst_case("largest error with H̃_t over that with the optimal H_t", 1.1)
def _try_negligible(search: Search, rows_per_feature: float) -> Instances:
    """Compare after 4 tasks, with w_* ~ N(0, I) and σ² = 1; the oracle's error is that of H̃_t."""
    rng = search.generator()
    p = search.count(100, 200)
    n = int(rows_per_feature * p)
    for number in range(search.count(3, 20)):
        values = svd(rng.normal(size=(4 * n, p)))[1] ** 2
        one, two = float((1 / values).sum()), float((1 / (1 + values)).sum())
        yield one / two, number, f"n={n}, p={p}, t=4: error {one:.3g} with H̃_t, {two:.3g} with the optimum"


def _prior_printed(case: Case, task: int, errors: Matrix) -> Matrix:
    seen = (case.loadings[:task] ** 2).sum(axis=0)
    return np.asarray((seen + case.noise_variance * case.initial_errors) / case.n_samples[task])


STATEMENTS = {
    "oracle": Statement(
        where="Lemma (oracle)",
        claim="the error of pooled least squares is Σ_j σ²/Σ_t n_tγ_j⁽ᵗ⁾",
        printed=Claim(_oracle_error, _try_oracle),
    ),
    "oracle-proof": Statement(
        row="3",
        where="Lemma (oracle), proof",
        claim="the error is tr{(Σ_t X_tᵀX_t)⁻¹}",
        correction="σ²·tr{(Σ_t X_tᵀX_t)⁻¹}",
        recorded=Verdict.CORRECTED,
        printed=Claim(lambda case: _oracle_error(case) / case.noise_variance, _try_oracle),
        corrected=Claim(_oracle_error, _try_oracle),
    ),
    "practical-prior": Statement(
        row="2",
        where='Sec. "A Practical Algorithm"',
        claim="the optimal H_t has the term σ²·U·E_0·Uᵀ, read with E_0 = diag(e_j⁽⁰⁾); the paper does not define E_0",
        correction="E_0 = diag(1/e_j⁽⁰⁾): σ² over the initial errors",
        recorded=Verdict.READING,
        printed=Claim(Optimum(_prior_printed, closed_form), try_closed_form),
        corrected=Claim(Optimum(optimal_penalties, closed_form), try_closed_form),
    ),
    "practical": Statement(
        where='Sec. "A Practical Algorithm", eq. (def:H)',
        claim="with H̃_t the estimate is the pooled answer, task by task",
        printed=Claim(accumulated, _try_pooled),
    ),
    "negligible-prior": Statement(
        row="17",
        where='Sec. "A Practical Algorithm", read for overparameterized tasks',
        claim="the term with σ² in H_t is negligible",
        correction="if the rows far outnumber the features; if all rows together are about as many, it decides",
        recorded=Verdict.READING,
        printed=Claim(0.25, _try_negligible),
        corrected=Claim(10.0, _try_negligible),
    ),
    "pooled-always": Statement(
        row="11",
        where="Sec. Experiments",
        claim="with H̃_t the estimate eventually converges to the oracle",
        correction="it equals the oracle after every task, singular ones included",
        recorded=Verdict.MORE,
        printed=Claim(Accumulated(), _try_distance),
        corrected=Claim(Accumulated(), partial(_try_distance, at_every_task=True)),
    ),
    "online-ewc": Statement(
        where='Sec. "A Practical Algorithm"',
        claim="with tasks of equal size, H̃_t is online EWC with γ = 1 and the whole Fisher information matrix",
        printed=Claim(Consolidation(decay=Fraction(1)), _try_consolidation),
    ),
    "online-ewc-diagonal": Statement(
        row="37",
        where='Sec. "A Practical Algorithm", read with the diagonal that EWC keeps',
        claim="with tasks of equal size, H̃_t is online EWC with γ = 1",
        correction="online EWC with the whole Fisher information matrix; with its diagonal the estimates differ",
        recorded=Verdict.READING,
        printed=Claim(Consolidation(decay=Fraction(1), diagonal=True), _try_consolidation),
        corrected=Claim(Consolidation(decay=Fraction(1)), _try_consolidation),
    ),
}
