"""Tasks with parameters of their own, and logistic tasks, and their values without the library."""

import numpy as np
from research.theory.library_check import LibraryCheck

from ridgeway.estimators import GeneralizedLogistic
from ridgeway.research.theory import FixedDesignProblem, pooling_gain
from ridgeway.research.verify import STATEMENTS
from ridgeway.research.verify._cases import gaussian_designs
from ridgeway.research.verify._outlook_statements import _fitted
from ridgeway.research.verify._plain import inverse, solved

hessian = STATEMENTS["other-losses"].printed.form


def problems(search, distance):
    """Yield tasks with enough rows each, whose parameters lie a third, two thirds and all of a distance from w_*."""
    rng = search.generator()
    for number in range(12):
        p = int(rng.integers(1, 4))
        designs, coef = gaussian_designs(rng, 3, p + number % 3, p), rng.normal(size=p)
        away = rng.normal(size=(3, p))
        away *= np.array([[1], [2], [3]]) / 3 / np.sqrt(np.square(away).sum(axis=1, keepdims=True))
        noise = float(np.exp(rng.normal()))
        yield FixedDesignProblem(designs, noise_variance=noise, signal=coef, task_coefs=coef + distance * away)


def partly_seen(search):
    """Yield tasks as above, and tasks that say nothing about one direction."""
    yield from problems(search, 1.0)
    designs, coefs = [np.array([[1.0, 0.0]])] * 3, [[1.0, 2.0], [3.0, 2.0], [0.0, 1.0]]
    yield FixedDesignProblem(designs, signal=[1.0, 1.0], task_coefs=coefs)


def errors(problem):
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


def library_errors(problem):
    error = problem.expected_error([0.5] * 3)
    return np.array([error.bias, error.variance, error.drift, np.trace(error.second_moment, axis1=1, axis2=2)])


def pooled(problem, *, tasks):
    """Return the mean and the covariance of pooled least squares on the first tasks."""
    rows = np.vstack(problem.designs[:tasks])
    coefs = np.asarray(problem.task_coefs)[:tasks]
    means = np.concatenate([X @ coef for X, coef in zip(problem.designs, coefs, strict=False)])
    spread = inverse(rows.T @ rows)
    return spread @ rows.T @ means, problem.noise_variance * spread


def risk(mean, covariance, coef):
    return float(np.square(mean - coef).sum() + np.trace(covariance))


def gains(problem):
    """Return κ and the gains of pooling each task, by comparing risks; NaN for the first task, which has no past."""
    rows = [[np.nan] * 3]
    for t in range(1, 3):
        X, coef = problem.designs[t], np.asarray(problem.task_coefs)[t]
        past, both = pooled(problem, tasks=t), pooled(problem, tasks=t + 1)
        alone = inverse(X.T @ X)
        apart = coef - past[0]
        kappa = apart @ solved(past[1] / problem.noise_variance + alone, apart) / problem.noise_variance
        for_task = problem.noise_variance * np.trace(alone) - risk(*both, coef)
        rows.append([kappa, risk(*past, past[0]) - risk(*both, past[0]), for_task])
    return np.array(rows).T


def library_gains(problem):
    found = pooling_gain(problem)
    return np.array([found.noncentrality, found.gain_for_past, found.gain_for_task])


def classified(search):
    """Yield sequences of three logistic tasks with noise enough that no task separates its classes."""
    rng = search.generator()
    for number in range(6):
        p, n = 1 + number % 3, 150
        coef = rng.normal(size=p) / p
        designs = gaussian_designs(rng, 3, n, p)
        yield [(X, (rng.random(n) < 1 / (1 + np.exp(-X @ coef))).astype(np.float64)) for X in designs]


def anchored(tasks):
    """Return ŵ_t after each task, held by the Hessians of the tasks before, each at the estimate of its time."""
    p = tasks[0][0].shape[1]
    coef, weight, found = np.zeros(p), np.zeros((p, p)), []
    for X, y in tasks:
        coef = _fitted(X, y, weight, coef)
        weight = weight + hessian(X, coef)
        found.append(coef)
    return np.array(found)


def library_logistic(tasks):
    model = GeneralizedLogistic(fit_intercept=False)
    return np.array([model.partial_fit(X, y).coef_ for X, y in tasks])


CHECKS = [
    LibraryCheck("expected_error with task_coefs", partly_seen, library_errors, errors),
    LibraryCheck("pooling_gain", lambda search: problems(search, 1.0), library_gains, gains),
    LibraryCheck("GeneralizedLogistic", classified, library_logistic, anchored),
]
