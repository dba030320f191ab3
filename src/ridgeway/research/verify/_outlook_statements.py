"""Sec. Extensions: tasks with parameters of their own, and other losses than the squared one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ridgeway._checks import Array
from ridgeway.estimators import GeneralizedLogistic
from ridgeway.research.theory import FixedDesignProblem, pooling_gain
from ridgeway.research.verify._cases import gaussian_designs
from ridgeway.research.verify._exact import Matrix, exact, identity, next_moment, relative, solve
from ridgeway.research.verify._findings import Instances, worst_case
from ridgeway.research.verify._library import LibraryCheck
from ridgeway.research.verify._plain import inverse, solved
from ridgeway.research.verify._pooled_statements import accumulated, learn
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement

Curvature = Callable[[Array, Array], Array]
"""(rows, w) → the matrix that holds on to a task."""


def _problems(search: Search, distance: float) -> Iterator[FixedDesignProblem]:
    """Yield tasks with enough rows each, whose parameters lie a third, two thirds and all of a distance from w_*."""
    rng = search.generator()
    for number in range(search.count(12, 200)):
        p = int(rng.integers(1, 4))
        designs, coef = gaussian_designs(rng, 3, p + number % 3, p), rng.normal(size=p)
        away = rng.normal(size=(3, p))
        away *= np.array([[1], [2], [3]]) / 3 / np.sqrt(np.square(away).sum(axis=1, keepdims=True))
        noise = float(np.exp(rng.normal()))
        yield FixedDesignProblem(designs, noise_variance=noise, signal=coef, task_coefs=coef + distance * away)


def _pooled(problem: FixedDesignProblem, *, tasks: int) -> tuple[Array, Array]:
    """Return the mean and the covariance of pooled least squares on the first tasks."""
    rows = np.vstack(problem.designs[:tasks])
    coefs = np.asarray(problem.task_coefs)[:tasks]
    means = np.concatenate([X @ coef for X, coef in zip(problem.designs, coefs, strict=False)])
    spread = inverse(rows.T @ rows)
    return spread @ rows.T @ means, problem.noise_variance * spread


def _risk(mean: Array, covariance: Array, coef: Array) -> float:
    return float(np.square(mean - coef).sum() + np.trace(covariance))


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


def _unweighted_error(tasks: Offsets) -> Fraction:
    """Return the same with the mean of δ_t, whatever the tasks say."""
    mean = np.asarray(sum(tasks.offsets)) / Fraction(len(tasks.offsets))
    return Fraction(tasks.noise_variance * np.trace(tasks.pooled()[0]) + np.square(mean).sum())


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


def _limit_of_noncentrality(tasks: Offsets) -> Fraction:
    """Return where κ = δᵀ(J⁻¹ + J_t⁻¹)⁻¹δ/σ² is 1, with J and δ of the past; the same only for p = 1."""
    past = Offsets(tasks.designs[:-1], tasks.offsets[:-1], tasks.noise_variance)
    inverse, pull = past.pooled()
    last = tasks.designs[-1]
    spread = inverse + solve(last.T @ last, identity(last.shape[1]))
    apart = inverse @ pull
    return Fraction(tasks.noise_variance / (apart @ solve(spread, apart)))


def _gains(problem: FixedDesignProblem) -> Array:
    """Return κ and the gains of pooling each task, by comparing risks; NaN for the first task, which has no past."""
    rows = [[np.nan] * 3]
    for t in range(1, 3):
        X, coef = problem.designs[t], np.asarray(problem.task_coefs)[t]
        past, pooled = _pooled(problem, tasks=t), _pooled(problem, tasks=t + 1)
        alone = inverse(X.T @ X)
        apart = coef - past[0]
        kappa = apart @ solved(past[1] / problem.noise_variance + alone, apart) / problem.noise_variance
        for_task = problem.noise_variance * np.trace(alone) - _risk(*pooled, coef)
        rows.append([kappa, _risk(*past, past[0]) - _risk(*pooled, past[0]), for_task])
    return np.array(rows).T


def _library_gains(problem: FixedDesignProblem) -> Array:
    found = pooling_gain(problem)
    return np.array([found.noncentrality, found.gain_for_past, found.gain_for_task])


def _partly_seen(search: Search) -> Iterator[FixedDesignProblem]:
    """Yield tasks as above, and tasks that say nothing about one direction."""
    yield from _problems(search, 1.0)
    designs, coefs = [np.array([[1.0, 0.0]])] * 3, [[1.0, 2.0], [3.0, 2.0], [0.0, 1.0]]
    yield FixedDesignProblem(designs, signal=[1.0, 1.0], task_coefs=coefs)


def _errors(problem: FixedDesignProblem) -> Array:
    """Return bias, variance and drift of H_t = I/2, from the mean and the covariance of ŵ_t."""
    p, rows = problem.signal.size, []
    mean, common, covariance = np.zeros(p), np.zeros(p), np.zeros((p, p))
    for X, coef in zip(problem.designs, np.asarray(problem.task_coefs), strict=True):
        gain = solved(X.T @ X + len(X) / 2 * np.eye(p), X.T)
        kept = np.eye(p) - gain @ X
        mean, common = kept @ mean + gain @ X @ coef, kept @ common + gain @ X @ problem.signal
        covariance = kept @ covariance @ kept.T + problem.noise_variance * gain @ gain.T
        bias, total = (np.square(found - problem.signal).sum() for found in (common, mean))
        rows.append([bias, np.trace(covariance), total - bias, total + np.trace(covariance)])
    return np.array(rows).T


def _library_errors(problem: FixedDesignProblem) -> Array:
    error = problem.expected_error([0.5] * 3)
    return np.array([error.bias, error.variance, error.drift, np.trace(error.second_moment, axis1=1, axis2=2)])


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


@worst_case("largest distance from the pooled answer, over the limit: 0.2 standard errors, 0.6 if n < p", 1.0)
def _try_logistic(search: Search, form: Curvature) -> Instances:
    """Compare with pooling: three tasks of many rows each, and forty of fewer rows than features, with a prior."""
    rng = search.generator()
    for number in range(search.count(5, 60)):
        p, n = 1 + number % 3, search.count(4000, 20_000)
        distance = _logistic_gap(rng, form, 3, n, p, prior=0.0)
        yield distance / 0.2, number, f"p={p}, n={n}, T=3: {distance:.3g} standard errors"
    for number in range(search.count(4, 40)):
        n = (5, 10)[number % 2]
        distance = _logistic_gap(rng, form, 40, n, 20, prior=4.0)
        yield distance / 0.6, number, f"p=20, n={n}, T=40: {distance:.3g} standard errors"


def _classified(search: Search) -> Iterator[list[tuple[Array, Array]]]:
    """Yield sequences of three logistic tasks with noise enough that no task separates its classes."""
    rng = search.generator()
    for number in range(search.count(6, 60)):
        p, n = 1 + number % 3, 150
        coef = rng.normal(size=p) / p
        designs = gaussian_designs(rng, 3, n, p)
        yield [(X, (rng.random(n) < 1 / (1 + np.exp(-X @ coef))).astype(np.float64)) for X in designs]


def _anchored(tasks: list[tuple[Array, Array]]) -> Array:
    """Return ŵ_t after each task, held by the Hessians of the tasks before, each at the estimate of its time."""
    p = tasks[0][0].shape[1]
    coef, weight, found = np.zeros(p), np.zeros((p, p)), []
    for X, y in tasks:
        coef = _fitted(X, y, weight, coef)
        weight = weight + _hessian(X, coef)
        found.append(coef)
    return np.array(found)


def _library_logistic(tasks: list[tuple[Array, Array]]) -> Array:
    model = GeneralizedLogistic(fit_intercept=False)
    return np.array([model.partial_fit(X, y).coef_ for X, y in tasks])


STATEMENTS = {
    "other-losses": Statement(
        where="Sec. Extensions, other loss functions",
        claim="for another convex loss the Hessian at w_* takes the place of the covariance (here: logistic)",
        printed=Claim(_hessian, _try_logistic),
        library=(LibraryCheck("GeneralizedLogistic", _classified, _library_logistic, _anchored),),
        mutations={
            "the covariance instead": {"printed": lambda rows, coef: rows.T @ rows},
            "the Hessian at 0": {"printed": lambda rows, coef: _hessian(rows, 0 * coef)},
        },
    ),
    "task-parameters": Statement(
        where="Sec. Extensions, common true parameters",
        claim="with a parameter per task the error of H̃_t is σ²·tr J⁻¹ and an additional term, ‖J⁻¹ΣX_tᵀX_tδ_t‖²",
        printed=Claim(_offset_error, _try_offsets),
        library=(LibraryCheck("expected_error with task_coefs", _partly_seen, _library_errors, _errors),),
        mutations={
            "without the term": {"printed": lambda tasks: tasks.noise_variance * np.trace(tasks.pooled()[0])},
            "the mean of δ": {"printed": _unweighted_error},
        },
    ),
    "negative-transfer": Statement(
        where="Sec. Extensions, common true parameters",
        claim="if parameters differ by more than a limit, pooling is worse than learning a task alone; below, better",
        printed=Claim(_limit, _try_limit),
        library=(LibraryCheck("pooling_gain", lambda search: _problems(search, 1.0), _library_gains, _gains),),
        mutations={
            "limit × 1.1": {"printed": lambda tasks: Fraction(11, 10) * _limit(tasks)},
            "κ = 1": {"printed": _limit_of_noncentrality},
        },
    ),
}
