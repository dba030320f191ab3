"""Sec. Extensions: tasks with parameters of their own, and other losses than the squared one."""

from collections.abc import Callable, Iterator

import numpy as np

from ridgeway._checks import Array
from ridgeway.estimators import GeneralizedLogistic
from ridgeway.research.theory import FixedDesignProblem, pooling_gain
from ridgeway.research.verify._cases import gaussian_designs
from ridgeway.research.verify._findings import Instances, worst_case
from ridgeway.research.verify._library import LibraryCheck
from ridgeway.research.verify._plain import inverse, solved
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


@worst_case("largest additional error, relative to that with a common parameter", 1e-3)
def _try_close(search: Search, distance: float) -> Instances:
    for problem in _problems(search, distance):
        mean, covariance = _pooled(problem, tasks=3)
        more = _risk(mean, covariance, problem.signal) / float(np.trace(covariance)) - 1
        yield more, problem.signal.size, f"distance {distance:g}, p={problem.signal.size}: {more:.3g}"


@worst_case("largest error of the task alone, over that after pooling", 1.0)
def _try_far(search: Search, distance: float) -> Instances:
    """Compare the last task, learned alone, with all tasks pooled, for the last task's own parameter."""
    for problem in _problems(search, distance):
        coef, X = np.asarray(problem.task_coefs)[-1], problem.designs[-1]
        alone = problem.noise_variance * float(np.trace(inverse(X.T @ X)))
        ratio = alone / _risk(*_pooled(problem, tasks=3), coef)
        yield ratio, problem.signal.size, f"distance {distance:g}, p={problem.signal.size}: {ratio:.3g}"


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
    coef = anchor
    for _ in range(30):
        slope = rows.T @ (1 / (1 + np.exp(-rows @ coef)) - y) + weight @ (coef - anchor)
        coef = coef - solved(_hessian(rows, coef) + weight, slope)
    return coef


@worst_case("largest distance from the pooled answer, in its standard errors", 0.2)
def _try_logistic(search: Search, form: Curvature) -> Instances:
    """Learn three logistic tasks one after another, holding on with the Hessians at w_*, and compare with pooling."""
    rng = search.generator()
    for number in range(search.count(5, 60)):
        p, n = 1 + number % 3, search.count(4000, 20_000)
        true_coef, coef, weight = rng.normal(size=p), np.zeros(p), np.zeros((p, p))
        tasks = []
        for X in gaussian_designs(rng, 3, n, p):
            y = (rng.random(n) < 1 / (1 + np.exp(-X @ true_coef))).astype(np.float64)
            coef = _fitted(X, y, weight, coef)
            weight = weight + form(X, true_coef)
            tasks.append((X, y))
        rows, targets = (np.concatenate(part) for part in zip(*tasks, strict=True))
        gap = coef - _fitted(rows, targets, np.zeros((p, p)), coef)
        distance = float(np.sqrt(gap @ _hessian(rows, true_coef) @ gap / p))
        yield distance, number, f"p={p}, n={n}: {distance:.3g} standard errors"


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
        claim="with parameters that are close to each other the results hold up to a small additional error",
        printed=Claim(1e-3, _try_close),
        library=(LibraryCheck("expected_error with task_coefs", _partly_seen, _library_errors, _errors),),
        mutations={"parameters that are far apart": {"printed": 10.0}},
    ),
    "negative-transfer": Statement(
        where="Sec. Extensions, common true parameters",
        claim="with parameters that differ much, learning a task together with the past is worse than alone",
        printed=Claim(1e6, _try_far),
        library=(LibraryCheck("pooling_gain", lambda search: _problems(search, 1.0), _library_gains, _gains),),
        mutations={"a common parameter": {"printed": 0.0}},
    ),
}
