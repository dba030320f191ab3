"""Functions of `FixedDesignProblem`, and their values without it."""

from typing import Any, NamedTuple

import numpy as np
from research.theory.library_check import LibraryCheck
from research.theory.plain.commuting import few_cases

from ridgeway.kernels import eigen
from ridgeway.research.theory import FixedDesignProblem
from ridgeway.research.verify._cases import gaussian_designs
from ridgeway.research.verify._plain import inverse, pseudoinverse, solved
from ridgeway.research.verify._ridge_statements import REACH, OneTask, _best_in_one
from ridgeway.weights import Accumulated, Isotropic, Zero


class WeightedUpdates(NamedTuple):
    """A problem, and weights in one of the forms that the library accepts."""

    problem: FixedDesignProblem
    weights: Any
    matrices: Any
    """H_t, or None for the least change."""


def updates(search):
    """Yield problems with numbers, diagonals, matrices and policies as weights, and with known or random w_*."""
    rng = search.generator()
    for number in range(12):
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


def moments(update, noise_variance):
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


def parts(update):
    """Return bias, variance, drift and total."""
    bias = np.trace(moments(update, 0.0), axis1=1, axis2=2)
    total = np.trace(moments(update, update.problem.noise_variance), axis1=1, axis2=2)
    return np.array([bias, total - bias, np.zeros_like(bias), total])


def library_parts(update):
    error = update.problem.expected_error(update.weights)
    return np.array([error.bias, error.variance, error.drift, error.total])


def signals(search):
    """Yield problems with a known w_*, a random one, and one without variance in some directions."""
    rng = search.generator()
    for number in range(9):
        p = int(rng.integers(1, 5))
        designs = gaussian_designs(rng, 3, int(rng.integers(1, 2 * p + 1)), p)
        few = rng.normal(size=(p, 1 + p // 2))
        signal = (rng.normal(size=p), 1.5, few @ few.T)[number % 3]
        yield FixedDesignProblem(designs, noise_variance=float(np.exp(rng.normal())), signal=signal)


def best(problem):
    """Return K_t = M_{t−1}X_tᵀ(X_tM_{t−1}X_tᵀ + σ²I)⁻¹ side by side, and tr M_t, M_t = (I − K_tX_t)M_{t−1}."""
    signal, p = problem.signal, problem.designs[0].shape[1]
    moment = np.outer(signal, signal) if signal.ndim == 1 else signal * np.eye(p) if signal.ndim == 0 else signal
    gains, errors = [], []
    for X in problem.designs:
        gains.append(solved(X @ moment @ X.T + problem.noise_variance * np.eye(len(X)), X @ moment).T)
        moment = moment - gains[-1] @ X @ moment
        errors.append(float(np.trace(moment)))
    return np.hstack(gains), errors


def random_signals(search):
    """Yield problems with a random w_* whose second moment is a matrix."""
    rng = search.generator()
    for _ in range(6):
        p = int(rng.integers(1, 5))
        root, noise = rng.normal(size=(p, p)), float(np.exp(rng.normal()))
        designs = [rng.normal(size=(int(rng.integers(1, 2 * p + 1)), p)) for _ in range(3)]
        yield FixedDesignProblem(designs, noise_variance=noise, signal=root @ root.T + np.eye(p))


def optimal_weights(problem):
    """Return (σ²·E[w_*w_*ᵀ]⁻¹ + Σ_{τ<t} X_τᵀX_τ)/n_t."""
    start = problem.noise_variance * inverse(problem.signal)
    sums = [sum((X.T @ X for X in problem.designs[:t]), start) for t in range(len(problem.designs))]
    return np.array([total / len(X) for total, X in zip(sums, problem.designs, strict=True)])


def known_parameter(case):
    designs = [design.astype(np.float64) for design in case.designs]
    true_coef = (case.basis @ case.start).astype(np.float64)
    return FixedDesignProblem(designs, noise_variance=float(case.noise_variance), signal=true_coef)


def error_along(case):
    """Return σ²‖w_*‖²/(σ² + Σ_t‖X_tw_*‖²): only the length of w_* along its own direction is left to learn."""
    informed = (case.initial_errors * (case.loadings**2).sum(axis=0)).sum()
    return float(case.noise_variance * case.initial_errors.sum() / (case.noise_variance + informed))


def task_problems(search):
    """Yield problems with and without a parameter per task."""
    rng = search.generator()
    for number in range(8):
        p, n_tasks = int(rng.integers(2, 5)), int(rng.integers(1, 5))
        designs, coef = gaussian_designs(rng, n_tasks, p - 1 + number % 3, p), rng.normal(size=p)
        coefs = coef + rng.normal(size=(n_tasks, p)) if number % 2 else None
        yield FixedDesignProblem(designs, noise_variance=float(np.exp(rng.normal())), signal=coef, task_coefs=coefs)


def forgetting(problem):
    """Return F_t from its definition, with H_t = I/2: E‖ŵ_t − w_τ‖² is a squared mean and a variance."""
    p, targets = len(problem.signal), problem.task_coefs
    coefs = np.tile(problem.signal, (len(problem.designs), 1)) if targets is None else targets
    mean, covariance, states = np.zeros(p), np.zeros((p, p)), []
    for X, coef in zip(problem.designs, coefs, strict=True):
        gain = solved(X.T @ X + len(X) / 2 * np.eye(p), X.T)
        kept = np.eye(p) - gain @ X
        mean = kept @ mean + gain @ X @ coef
        covariance = kept @ covariance @ kept.T + problem.noise_variance * gain @ gain.T
        states.append((mean, np.trace(covariance)))
    errors = [[np.square(m - coef).sum() + v for coef in coefs] for m, v in states]
    return [np.mean([errors[t][s] - errors[s][s] for s in range(t)]) if t else np.nan for t in range(len(states))]


def still(search):
    rng = search.generator()
    for p in (1, 2, 3):
        yield FixedDesignProblem(gaussian_designs(rng, 3, 2, p), signal=rng.normal(size=p))


def one_task(search):
    """Yield tasks with several local minima; the first two need all of them, and a fine grid to find them."""
    yield OneTask((1e5, 1e-4, 10.0), (1.0, 10.0, 1e-5))
    yield OneTask((0.01, 1e4, 1e-3, 1.0), (10.0, 1e-4, 0.1, 0.01))
    yield OneTask((1.0, 4.0), (0.0, 1e-3))
    yield OneTask((4.0, 0.0), (0.5, 2.0))
    rng = search.generator()
    for _ in range(10):
        information, errors = 10.0 ** rng.uniform([[-4], [-6]], [[6], [3]], size=(2, int(rng.integers(1, 6))))
        yield OneTask(tuple(information), tuple(errors))


def library_in_one(task):
    """Take a row per direction, with 3 times the information and the noise variance: the error stays."""
    rows = np.diag(np.sqrt(3 * np.array(task.information)))
    problem = FixedDesignProblem([rows], noise_variance=3.0, signal=np.diag(task.errors))
    return float(problem.expected_error(problem.optimal_isotropic_penalties()).total[0])


def design_sequences(search):
    rng = search.generator()
    for _ in range(4):
        p = int(rng.integers(1, 4))
        designs = gaussian_designs(rng, 3, int(rng.integers(1, p + 3)), p)
        yield FixedDesignProblem(designs, noise_variance=float(np.exp(rng.normal())), signal=rng.normal(size=p))


def best_step_by_step(problem):
    """Return the errors if each λ_t is the best of a fine grid, given those before."""
    moment, errors = np.outer(problem.signal, problem.signal), []
    for X in problem.designs:
        values, vectors = eigen(X.T @ X)
        values = np.where(values > 1e-9 * values.max(), values, 0.0)
        rotated = vectors.T @ moment @ vectors
        points = REACH
        for _ in range(4):
            held = 1 / (1 + values / np.exp(points)[:, np.newaxis])
            noise = problem.noise_variance * values * (held / np.exp(points)[:, np.newaxis]) ** 2
            totals = (held**2 * np.diagonal(rotated) + noise).sum(axis=1)
            best = int(np.argmin(totals))
            kept, added = held[best], noise[best]
            points = np.linspace(points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)], 201)
        moment = vectors @ (rotated * np.outer(kept, kept) + np.diag(added)) @ vectors.T
        errors.append(float(np.trace(moment)))
    return errors


CHECKS = [
    LibraryCheck("expected_error", updates, library_parts, parts),
    LibraryCheck(
        "second_moment",
        updates,
        lambda update: update.problem.expected_error(update.weights).second_moment,
        lambda update: moments(update, update.problem.noise_variance),
    ),
    LibraryCheck(
        "optimal_gains",
        signals,
        lambda problem: np.hstack(problem.optimal_gains()),
        lambda problem: best(problem)[0],
    ),
    LibraryCheck(
        "expected_error_of_gains",
        signals,
        lambda problem: problem.expected_error_of_gains(problem.optimal_gains()).total,
        lambda problem: best(problem)[1],
    ),
    LibraryCheck(
        "optimal_weight_matrices", random_signals, FixedDesignProblem.optimal_weight_matrices, optimal_weights
    ),
    LibraryCheck(
        "optimal_gains of a known w_*",
        lambda search: [(case, known_parameter(case)) for case in few_cases(search)],
        lambda pair: pair[1].expected_error_of_gains(pair[1].optimal_gains()).total[-1],
        lambda pair: error_along(pair[0]),
    ),
    LibraryCheck(
        "expected_forgetting",
        task_problems,
        lambda problem: problem.expected_forgetting([0.5] * len(problem.designs)),
        forgetting,
    ),
    LibraryCheck(
        "expected_forgetting of ŵ = 0",
        still,
        lambda problem: [
            *problem.expected_forgetting([np.inf] * 3)[1:],
            problem.expected_error([np.inf] * 3).total[-1],
        ],
        lambda problem: [0.0, 0.0, problem.signal @ problem.signal],
    ),
    LibraryCheck(
        "expected_error of optimal_weight_matrices",
        random_signals,
        lambda problem: problem.expected_error(problem.optimal_weight_matrices()).total,
        lambda problem: best(problem)[1],
    ),
    LibraryCheck("optimal_isotropic_penalties", one_task, library_in_one, _best_in_one),
    LibraryCheck(
        "optimal_isotropic_penalties, tasks that do not commute",
        design_sequences,
        lambda problem: problem.expected_error(problem.optimal_isotropic_penalties()).total,
        best_step_by_step,
    ),
]
