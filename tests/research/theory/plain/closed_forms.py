"""Closed forms of `theory`, and their values by grids, by recursions and by Bartlett's decomposition."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from research.theory.library_check import LibraryCheck

from ridgeway.research.theory import AlikeTasks, gaussian_minimum_norm_error, gaussian_pooled_error, ridge_gap
from ridgeway.research.verify._closed_form_statements import N_TASKS, NormalTasks
from ridgeway.research.verify._ridge_statements import REACH, TwoTasks, _errors_after


def best_in_both(tasks):
    """Return inf over λ_1, λ_2 of 𝓛(CRR)/𝓛(GR): a grid in both, refined around each of its good local minima."""
    first, second, initial = (np.array(values) for values in tasks)

    def totals(ones, twos):
        after = _errors_after(first, np.exp(ones)[:, np.newaxis], initial)
        return np.asarray(_errors_after(second, np.exp(twos)[:, np.newaxis, np.newaxis], after).sum(axis=-1).T)

    points = REACH[::12]
    coarse, size = totals(points, points), len(points)
    padded, found = np.pad(coarse, 1, constant_values=np.inf), coarse.min()
    around = [padded[i : i + size, j : j + size] for i in range(3) for j in range(3)]
    minima = np.argwhere((coarse == np.min(around, axis=0)) & (coarse <= 1.05 * found))
    for i, j in minima[:5]:
        at, width = (points[i], points[j]), points[1] - points[0]
        for _ in range(8):
            ones, twos = (np.linspace(center - width, center + width, 21) for center in at)
            local = totals(ones, twos)
            row, column = np.unravel_index(np.argmin(local), local.shape)
            at, width, found = (ones[row], twos[column]), width / 5, min(found, local.min())
    with np.errstate(divide="ignore"):
        return float(found / (1 / (1 / initial + first + second)).sum())


def two_tasks(search):
    """Yield tasks whose best λ_1 is ∞ or beyond every scale, tasks for which a late local minimum wins, and others."""
    yield TwoTasks((1.0, 0.0), (0.0, 1e30), (0.0, 1.0))
    yield TwoTasks((1.0, 1.0), (0.0, 3.0), (0.0, 1.0))
    yield TwoTasks((1e-6, 1e-6, 1e-6), (1e5, 1e-4, 10.0), (1.0, 10.0, 1e-5))
    yield TwoTasks((1e8, 1e4), (1e4, 1e8), (1.0, 1.0))
    rng = search.generator()
    for number in range(5):
        first, second, initial = 10.0 ** rng.uniform(-2, 4, size=(3, int(rng.integers(1, 4))))
        yield TwoTasks(tuple(first), tuple(second), tuple(np.ones_like(initial) if number % 2 else initial / 100))


def library_gap(tasks):
    """Return the library's ratio, which does not change if information and noise are multiplied by 3."""
    first, second = (3 * np.array(information) for information in tasks[:2])
    return ridge_gap(first, second, tasks.initial, noise_variance=3.0)


class AlikeCase(NamedTuple):
    """A, B, one λ, and the number of tasks."""

    start: float
    task_error: float
    penalty: float
    n_tasks: int


def alike_cases(search):
    yield AlikeCase(4.0, 3.0, 0.0, 3)
    yield AlikeCase(1.0, 1.0, 33.0, 100)
    rng = search.generator()
    for _ in range(15):
        start, task_error, penalty = np.exp(rng.normal(0, 2, 3)).tolist()
        yield AlikeCase(start, task_error, penalty, int(rng.integers(1, 200)))


def after_alike_tasks(penalties, start, task_error):
    """Return 𝓛 after tasks with these penalties, eq. (error_iter) with γ = 1, summed over directions: (T, …)."""
    errors = []
    total = np.full(penalties.shape[1:], start)
    for penalty in penalties:
        total = (penalty / (1 + penalty)) ** 2 * total + task_error / (1 + penalty) ** 2
        errors.append(total)
    return np.array(errors)


def alike_errors(case):
    """Return 𝓛_T with one λ, the optimum twice, and the least error of one λ, relative to the optimum twice."""
    start, task_error, penalty, n_tasks = case
    steps = np.arange(n_tasks, dtype=np.float64)[:, np.newaxis]
    one = after_alike_tasks(np.full((n_tasks, 1), penalty), start, task_error)[-1, 0]
    optimum = after_alike_tasks(steps + task_error / start, start, task_error)[-1, 0]
    points = np.linspace(np.log(task_error / start) - 1, np.log(n_tasks + task_error / start) + 1, 2001)
    for _ in range(3):
        errors = after_alike_tasks(np.tile(np.exp(points), (n_tasks, 1)), start, task_error)[-1]
        best = int(np.argmin(errors))
        points = np.linspace(points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)], 101)
    ratio = errors.min() / optimum
    return [float(value) for value in (one, optimum, optimum, ratio, ratio)]


def library_alike_errors(case):
    tasks = AlikeTasks(initial_error=case.start, task_error=case.task_error)
    n_tasks = case.n_tasks
    optimum = tasks.optimal_error(n_tasks)
    by_schedule = after_alike_tasks(tasks.optimal_penalties(n_tasks), case.start, case.task_error)[-1]
    ratio = tasks.ridge_error(tasks.best_penalty(n_tasks), n_tasks) / optimum
    return [tasks.ridge_error(case.penalty, n_tasks), optimum, float(by_schedule), ratio, tasks.ridge_gap(n_tasks)]


DISTANCES = np.array([0.0, 2.0, 0.5, 0.0, 1.0, 3.0])


def normal_tasks(search):
    """Yield tasks with few rows, with nearly as many as features, and with more."""
    rng = search.generator()
    for n, p in ((1, 3), (3, 4), (4, 4), (5, 4), (9, 4), (150, 200)):
        yield NormalTasks(n, p, 2.0, 3.0)
    for _ in range(20):
        n, p = rng.integers(1, 40, size=2).tolist()
        yield NormalTasks(n, p, *np.exp(rng.normal(0, 2, 2)).tolist())


def inverse_trace(n, p):
    """Return E tr(XXᵀ)⁻¹ for n ≤ p normal rows, by Bartlett's decomposition, row after row; None if it is infinite."""
    if n > p - 2:
        return None
    trace = Fraction(0)
    for k in range(1, n + 1):
        trace += (1 + trace) / (p - k - 1)
    return trace


def minimum_norm_errors(tasks):
    """Return the expected error of minimum norm, for parameters at DISTANCES, task by task."""
    n, p = tasks.n, tasks.p
    trace = inverse_trace(min(n, p), max(n, p))
    noise = np.inf if trace is None else tasks.noise_variance * float(trace)
    error, errors = tasks.signal, []
    for distance in DISTANCES:
        error = distance + noise if n >= p else (p - n) / p * error + n / p * distance + noise
        errors.append(float(error))
    return errors


def pooled_errors(tasks):
    errors = []
    for t in range(1, N_TASKS + 1):
        rows, p = t * tasks.n, tasks.p
        trace = inverse_trace(min(rows, p), max(rows, p))
        noise = np.inf if trace is None else tasks.noise_variance * float(trace)
        errors.append(max(0, p - rows) / p * tasks.signal + noise)
    return errors


CHECKS = [
    LibraryCheck("ridge_gap", two_tasks, library_gap, best_in_both),
    LibraryCheck("AlikeTasks", alike_cases, library_alike_errors, alike_errors),
    LibraryCheck(
        "gaussian_minimum_norm_error",
        normal_tasks,
        lambda tasks: gaussian_minimum_norm_error(
            [tasks.n] * N_TASKS,
            tasks.p,
            initial_error=tasks.signal,
            noise_variance=tasks.noise_variance,
            distances=DISTANCES,
        ),
        minimum_norm_errors,
    ),
    LibraryCheck(
        "gaussian_pooled_error",
        normal_tasks,
        lambda tasks: gaussian_pooled_error(
            [tasks.n] * N_TASKS,
            tasks.p,
            initial_error=tasks.signal,
            noise_variance=tasks.noise_variance,
        ),
        pooled_errors,
    ),
]
