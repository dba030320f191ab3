"""Sec. Extensions: tasks with parameters of their own, and other losses; corrections row 39."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ridgeway._checks import Array
from ridgeway.research.verify._cases import gaussian_designs
from ridgeway.research.verify._exact import Matrix, exact, identity, next_moment, relative, solve
from ridgeway.research.verify._findings import Instances, Verdict, worst_case
from ridgeway.research.verify._plain import solved
from ridgeway.research.verify._pooled_statements import accumulated, learn
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement

Curvature = Callable[[Array, Array], Array]
"""(rows, w) → the matrix that holds on to a task."""


class FewRows(NamedTuple):
    """What holds on to a task of few rows, and the variance of each coefficient of w_*."""

    curvature: Curvature
    variance: float


@dataclass(frozen=True, eq=False)
class Offsets:
    """Tasks in rational numbers, each of full rank, and how far their parameters lie from the one that is estimated."""

    designs: list[Matrix]
    offsets: list[Matrix]
    noise_variance: Fraction

    def learned(self) -> tuple[Fraction, Fraction]:
        """Return the squared mean and the variance of the error that H̃_t leads to, from the update of each task."""
        weights = [accumulated(self.designs, t) for t in range(len(self.designs))]
        means = [X @ offset for X, offset in zip(self.designs, self.offsets, strict=True)]
        mean = learn(list(zip(self.designs, means, strict=True)), weights)[-1]
        moment = 0 * self.designs[0].T @ self.designs[0]
        for X, weight in zip(self.designs, weights, strict=True):
            moment = next_moment(moment, X, weight, self.noise_variance)
        return Fraction(mean @ mean), Fraction(np.trace(moment))

    def pooled(self) -> tuple[Matrix, Matrix]:
        """Return J⁻¹ = (Σ_t X_tᵀX_t)⁻¹ and Σ_t X_tᵀX_tδ_t."""
        information = [X.T @ X for X in self.designs]
        pull = sum(part @ offset for part, offset in zip(information, self.offsets, strict=True))
        return solve(np.asarray(sum(information)), identity(len(information[0]))), np.asarray(pull)

    def __str__(self) -> str:
        tasks = zip(self.designs, self.offsets, strict=True)
        words = "; ".join(f"X={X.astype(int).tolist()}, δ=({', '.join(map(str, offset))})" for X, offset in tasks)
        return f"σ²={self.noise_variance}; {words}"


def _offset_tasks(search: Search, *, last_at_zero: bool) -> Iterator[Offsets]:
    rng = search.generator()
    for _ in range(search.count(60, 1500)):
        n_tasks, p = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        rows = [exact(rng.integers(-2, 3, size=(int(rng.integers(1, 3)), p))) for _ in range(n_tasks)]
        offsets = exact(rng.integers(-3, 4, size=(n_tasks, p))) / Fraction(2)
        if last_at_zero:
            offsets[-1] = 0 * offsets[-1]
        noise = Fraction(*rng.integers(1, 5, size=2).tolist())
        yield Offsets([np.vstack([identity(p), more]) for more in rows], list(offsets), noise)


@worst_case("largest relative difference from the exact error", 0.0)
def _try_offsets(search: Search, form: Callable[[Offsets], Fraction]) -> Instances:
    for tasks in _offset_tasks(search, last_at_zero=False):
        bias, variance = tasks.learned()
        yield relative(bias + variance, form(tasks)), len(str(tasks)), tasks


def _offset_error(tasks: Offsets) -> Fraction:
    """Return σ²·tr J⁻¹ + ‖J⁻¹ΣX_tᵀX_tδ_t‖²."""
    inverse, pull = tasks.pooled()
    return Fraction(tasks.noise_variance * np.trace(inverse) + np.square(inverse @ pull).sum())


@worst_case("1 if pooling is no better below the limit, or no worse above it", 0.0)
def _try_limit(search: Search, form: Callable[[Offsets], Fraction]) -> Instances:
    """Learn the last task alone and after the past, which lies s times as far away, for s² near the limit."""
    for tasks in _offset_tasks(search, last_at_zero=True):
        bias, variance = tasks.learned()
        if bias == 0:
            continue  # the pull of the past cancels out: pooling helps, however far it is
        last = tasks.designs[-1]
        alone = tasks.noise_variance * np.trace(solve(last.T @ last, identity(last.shape[1])))
        limit = form(tasks)
        near, far = (factor * limit * bias + variance for factor in (Fraction(99, 100), Fraction(101, 100)))
        words = f"{tasks}: at s² = {float(limit):.3g}, pooling helps below and hurts above"
        yield float(not near < alone < far), len(words), words


def _limit(tasks: Offsets) -> Fraction:
    """Return σ²(tr J_t⁻¹ − tr J⁻¹)/‖J⁻¹ΣX_τᵀX_τδ_τ‖², where the task is the last of those in J."""
    inverse, pull = tasks.pooled()
    last = tasks.designs[-1]
    alone = solve(last.T @ last, identity(last.shape[1]))
    return Fraction(tasks.noise_variance * np.trace(alone - inverse) / np.square(inverse @ pull).sum())


def _hessian(rows: Array, coef: Array) -> Array:
    """Return the Hessian of the logistic loss."""
    chances = 1 / (1 + np.exp(-rows @ coef))
    return (rows * (chances * (1 - chances))[:, np.newaxis]).T @ rows


def _fitted(rows: Array, y: Array, weight: Array, anchor: Array) -> Array:
    """Return the minimum of the logistic loss plus ½‖w − anchor‖² in the norm of the weight, by Newton's method."""

    def loss(coef: Array) -> float:
        scores = rows @ coef
        away = coef - anchor
        return float(np.logaddexp(0, scores).sum() - y @ scores + away @ weight @ away / 2)

    coef = anchor
    for _ in range(30):
        slope = rows.T @ (1 / (1 + np.exp(-rows @ coef)) - y) + weight @ (coef - anchor)
        step = solved(_hessian(rows, coef) + weight, slope)
        # Far from the minimum a whole step can overshoot; 1e-9 is rounding.
        while loss(coef - step) > loss(coef) + 1e-9:
            step = step / 2
        coef = coef - step
    return coef


def _logistic_gap(rng: np.random.Generator, form: Curvature, n_tasks: int, n: int, p: int, prior: float) -> float:
    """Learn logistic tasks, held by the Hessians at w_*; return the distance from pooling, in its standard errors."""
    true_coef, start = rng.normal(size=p) / np.sqrt(prior or 1.0), prior * np.eye(p)
    coef, weight = np.zeros(p), start
    tasks = []
    for X in gaussian_designs(rng, n_tasks, n, p):
        y = (rng.random(n) < 1 / (1 + np.exp(-X @ true_coef))).astype(np.float64)
        coef = _fitted(X, y, weight, coef)
        weight = weight + form(X, true_coef)
        tasks.append((X, y))

    rows, targets = (np.concatenate(part) for part in zip(*tasks, strict=True))
    gap = coef - _fitted(rows, targets, start, np.zeros(p))
    return float(np.sqrt(gap @ (_hessian(rows, true_coef) + start) @ gap / p))


@worst_case("largest distance from the pooled answer, in its standard errors", 0.2)
def _try_many_rows(search: Search, form: Curvature) -> Instances:
    """Compare with pooling: three tasks of many rows each."""
    rng = search.generator()
    for number in range(search.count(5, 60)):
        p, n = 1 + number % 3, search.count(4000, 20_000)
        distance = _logistic_gap(rng, form, 3, n, p, prior=0.0)
        yield distance, number, f"p={p}, n={n}, T=3: {distance:.3g} standard errors"


@worst_case("largest distance from the pooled answer, in its standard errors", 0.6)
def _try_few_rows(search: Search, form: FewRows) -> Instances:
    """Compare with pooling: forty tasks of fewer rows than features, with the prior from which w_* is drawn."""
    rng = search.generator()
    for number in range(search.count(6, 40)):
        n = (5, 10)[number % 2]
        distance = _logistic_gap(rng, form.curvature, 40, n, 20, prior=1 / form.variance)
        case = f"p=20, n={n}, T=40, w_* ~ N(0, {form.variance:g}·I)"
        yield distance, number, f"{case}: {distance:.3g} standard errors"


STATEMENTS = {
    "other-losses": Statement(
        where="Sec. Extensions, other loss functions",
        claim="for another convex loss the Hessian at w_* takes the place of the covariance (logistic, many rows)",
        printed=Claim(_hessian, _try_many_rows),
    ),
    "other-losses-few-rows": Statement(
        row="39",
        where="Sec. Extensions, other loss functions, read for few rows and any w_*",
        claim="the Hessian at w_* takes the place of the covariance in tasks of 5 or 10 rows, p = 20 (logistic)",
        correction="if w_* is small: to 0.6 standard errors for w_* ~ N(0, I/4), known as a prior",
        recorded=Verdict.READING,
        printed=Claim(FewRows(_hessian, 25.0), _try_few_rows),
        corrected=Claim(FewRows(_hessian, 0.25), _try_few_rows),
    ),
    "task-parameters": Statement(
        where="Sec. Extensions, common true parameters",
        claim="with a parameter per task the error of H̃_t is σ²·tr J⁻¹ and an additional term, ‖J⁻¹ΣX_tᵀX_tδ_t‖²",
        printed=Claim(_offset_error, _try_offsets),
    ),
    "negative-transfer": Statement(
        where="Sec. Extensions, common true parameters",
        claim="if parameters differ by more than a limit, pooling is worse than learning the last task alone, "
        "unless J⁻¹ΣX_τᵀX_τδ_τ = 0; below, better",
        printed=Claim(_limit, _try_limit),
    ),
}
