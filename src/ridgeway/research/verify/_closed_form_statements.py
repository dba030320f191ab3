"""What closed forms decide: errors over normal rows, and one penalty for tasks that are all alike.

Corrections rows 9a, 13a and 17a.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ridgeway._checks import Array
from ridgeway.research.theory import AlikeTasks, gaussian_minimum_norm_error, gaussian_pooled_error
from ridgeway.research.verify._findings import Instances, Trial, Verdict, worst_case
from ridgeway.research.verify._library import LibraryCheck
from ridgeway.research.verify._plain import pseudoinverse
from ridgeway.research.verify._ridge_statements import TwoTasks, one_penalty, printed_family
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement


class NormalTasks(NamedTuple):
    """Alike tasks with rows from N(0, I): n rows each, p features, σ² and ‖w_*‖²."""

    n: int
    p: int
    noise_variance: float
    signal: float

    def __str__(self) -> str:
        return f"n={self.n}, p={self.p}, σ²={self.noise_variance:g}, ‖w_*‖²={self.signal:g}"


Forgets = Callable[[NormalTasks], bool]
"""Whether minimum norm is claimed to forget."""
Falls = Callable[[NormalTasks, int], bool]
"""Whether the error of generalized ridge is claimed to fall in a task, which ends with so many rows in all."""
Gap = Callable[[float], float]
"""A size of the problem → the error of continual ridge over the optimum."""

N_TASKS = 6


def _minimum_norm_parts(rng: np.random.Generator, n: int, p: int, draws: int) -> Array:
    """Return the mean share of ‖w_*‖² and of σ² in the error of minimum norm after each task, by drawing rows."""
    parts = np.zeros((2, N_TASKS))
    for _ in range(draws):
        bias, noise = np.eye(p), np.zeros((p, p))
        for t in range(N_TASKS):
            rows = rng.normal(size=(n, p))
            gain = pseudoinverse(rows)
            outside = np.eye(p) - gain @ rows
            bias = outside @ bias
            noise = outside @ noise @ outside + gain @ gain.T
            parts[:, t] += np.square(bias).sum() / p, np.trace(noise)
    return parts / draws


def _pooled_parts(rng: np.random.Generator, n: int, p: int, draws: int) -> Array:
    """Return the same for pooled least squares, with the answer of least norm if it is singular."""
    parts = np.zeros((2, N_TASKS))
    for _ in range(draws):
        rows = rng.normal(size=(n * N_TASKS, p))
        for t in range(N_TASKS):
            seen = n * (t + 1)
            parts[:, t] += max(0.0, 1 - seen / p), np.square(pseudoinverse(rows[:seen])).sum()
    return parts / draws


def _level(tasks: NormalTasks) -> float:
    """Return σ²p/(p − n − 1), to which the error of minimum norm tends."""
    return tasks.noise_variance * tasks.p / (tasks.p - tasks.n - 1)


@worst_case("1 if minimum norm forgets where it is claimed not to, or the reverse", 0.0)
def _try_forgetting(search: Search, form: Forgets) -> Instances:
    """Compare with the sign of F_6, averaged over rows, at parameters well above and well below the threshold."""
    rng = search.generator()
    for n, p in ((4, 12), (10, 20), (15, 24)):
        parts = _minimum_norm_parts(rng, n, p, search.count(250, 2500))
        for noise_variance, factor in ((1.0, 0.25), (1.0, 3.0), (5.0, 0.0), (0.2, 10.0)):
            tasks = NormalTasks(n, p, noise_variance, 0.0)
            tasks = tasks._replace(signal=factor * _level(tasks))
            errors = tasks.signal * parts[0] + noise_variance * parts[1]
            forgetting = errors[-1] - errors[:-1].mean()
            yield float(form(tasks) != (forgetting > 0)), p - factor, f"{tasks}: F_{N_TASKS} = {forgetting:.3g}"


def _pooled_error(tasks: NormalTasks, rows: int) -> float:
    """Return the expected error of pooled least squares on so many rows."""
    spare = abs(rows - tasks.p) - 1
    if spare <= 0:
        return float("inf")
    return max(0.0, 1 - rows / tasks.p) * tasks.signal + tasks.noise_variance * min(rows, tasks.p) / spare


@worst_case("1 if the error rises where it is claimed to fall, or the reverse", 0.0)
def _try_falls(search: Search, form: Falls) -> Instances:
    """Compare with the error after each task, averaged over rows; it passes rows = p in all but the first sequence."""
    rng = search.generator()
    for n, p in ((15, 20), (5, 20), (6, 18), (8, 24)):
        parts = _pooled_parts(rng, n, p, search.count(150, 1500))
        for noise_variance, signal in ((1.0, p), (5.0, p), (1.0, 1.0)):
            tasks = NormalTasks(n, p, noise_variance, signal)
            errors = signal * parts[0] + noise_variance * parts[1]
            for t, (before, after) in enumerate(pairwise(errors.tolist()), start=2):
                words = f"{tasks}: {before:.3g} → {after:.3g} in task {t}, rows in all {t * n}"
                yield float(form(tasks, t * n) != (after < before)), t * n, words


def _falls(tasks: NormalTasks, rows: int) -> bool:
    return _pooled_error(tasks, rows) < _pooled_error(tasks, rows - tasks.n)


def _inverse_trace(n: int, p: int) -> Fraction | None:
    """Return E tr(XXᵀ)⁻¹ for n ≤ p normal rows, by Bartlett's decomposition, row after row; None if it is infinite."""
    if n > p - 2:
        return None
    trace = Fraction(0)
    for k in range(1, n + 1):
        trace += (1 + trace) / (p - k - 1)
    return trace


def _normal_tasks(search: Search) -> Iterator[NormalTasks]:
    """Yield tasks with few rows, with nearly as many as features, and with more."""
    rng = search.generator()
    for n, p in ((1, 3), (3, 4), (4, 4), (5, 4), (9, 4), (150, 200)):
        yield NormalTasks(n, p, 2.0, 3.0)
    for _ in range(search.count(20, 200)):
        n, p = rng.integers(1, 40, size=2).tolist()
        yield NormalTasks(n, p, *np.exp(rng.normal(0, 2, 2)).tolist())


DISTANCES = np.array([0.0, 2.0, 0.5, 0.0, 1.0, 3.0])


def _minimum_norm_errors(tasks: NormalTasks) -> list[float]:
    """Return the expected error of minimum norm, for parameters at DISTANCES, task by task."""
    n, p = tasks.n, tasks.p
    trace = _inverse_trace(min(n, p), max(n, p))
    noise = np.inf if trace is None else tasks.noise_variance * float(trace)
    error, errors = tasks.signal, []
    for distance in DISTANCES:
        error = distance + noise if n >= p else (p - n) / p * error + n / p * distance + noise
        errors.append(float(error))
    return errors


def _pooled_errors(tasks: NormalTasks) -> list[float]:
    errors = []
    for t in range(1, N_TASKS + 1):
        rows, p = t * tasks.n, tasks.p
        trace = _inverse_trace(min(rows, p), max(rows, p))
        noise = np.inf if trace is None else tasks.noise_variance * float(trace)
        errors.append(max(0, p - rows) / p * tasks.signal + noise)
    return errors


def _ratio_of_alike_tasks(n_tasks: float) -> float:
    """Return the least 𝓛_T of one λ over the optimum for A = B = 1, on a grid that is refined around its best."""
    points = np.linspace(0.0, np.log(n_tasks), 2001)
    for _ in range(3):
        penalties = np.exp(points)
        past = np.exp(-2 * n_tasks * np.log1p(1 / penalties))
        errors = past + (1 - past) / (1 + 2 * penalties)
        best = int(np.argmin(errors))
        points = np.linspace(points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)], 201)
    return float(errors.min() * (n_tasks + 1))


def _ratio_of_the_theorem(n: float) -> float:
    """Return the least ratio of Thm (ridge) with one λ, for n_1 = n_2 = n, ε = n^−½, w_* = (1, 1), σ² = 1."""
    return one_penalty(TwoTasks((n, n**0.5), (n**0.5, n), (1.0, 1.0)))


def _try_unbounded(search: Search, gap: Gap) -> Trial:
    sizes = 10.0 ** np.arange(2.0, 2.0 + 2 * search.count(4, 6), 2)
    ratios = np.array([gap(size) for size in sizes])
    words = f"from {ratios[0]:.4g} at {sizes[0]:.0e} to {ratios[-1]:.4g} at {sizes[-1]:.0e}"
    measure = "smallest rise of the ratio from a size to 100 times that size"
    return Trial(measure, float(np.diff(ratios).min()), 1.0, len(sizes), words, at_least=True)


def _after_alike_tasks(penalties: Array, start: float, task_error: float) -> Array:
    """Return 𝓛 after tasks with these penalties, eq. (error_iter) with γ = 1, summed over directions: (T, …)."""
    errors = []
    total = np.full(penalties.shape[1:], start)
    for penalty in penalties:
        total = (penalty / (1 + penalty)) ** 2 * total + task_error / (1 + penalty) ** 2
        errors.append(total)
    return np.array(errors)


class AlikeCase(NamedTuple):
    """A, B, one λ, and the number of tasks."""

    start: float
    task_error: float
    penalty: float
    n_tasks: int


def _alike_cases(search: Search) -> Iterator[AlikeCase]:
    yield AlikeCase(4.0, 3.0, 0.0, 3)
    yield AlikeCase(1.0, 1.0, 33.0, 100)
    rng = search.generator()
    for _ in range(search.count(15, 150)):
        start, task_error, penalty = np.exp(rng.normal(0, 2, 3)).tolist()
        yield AlikeCase(start, task_error, penalty, int(rng.integers(1, 200)))


def _alike_errors(case: AlikeCase) -> list[float]:
    """Return 𝓛_T with one λ, the optimum twice, and the least error of one λ, relative to the optimum twice."""
    start, task_error, penalty, n_tasks = case
    steps = np.arange(n_tasks, dtype=np.float64)[:, np.newaxis]
    one = _after_alike_tasks(np.full((n_tasks, 1), penalty), start, task_error)[-1, 0]
    optimum = _after_alike_tasks(steps + task_error / start, start, task_error)[-1, 0]
    points = np.linspace(np.log(task_error / start) - 1, np.log(n_tasks + task_error / start) + 1, 2001)
    for _ in range(3):
        errors = _after_alike_tasks(np.tile(np.exp(points), (n_tasks, 1)), start, task_error)[-1]
        best = int(np.argmin(errors))
        points = np.linspace(points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)], 101)
    ratio = errors.min() / optimum
    return [float(value) for value in (one, optimum, optimum, ratio, ratio)]


def _library_alike_errors(case: AlikeCase) -> list[float]:
    tasks = AlikeTasks(initial_error=case.start, task_error=case.task_error)
    n_tasks = case.n_tasks
    optimum = tasks.optimal_error(n_tasks)
    by_schedule = _after_alike_tasks(tasks.optimal_penalties(n_tasks), case.start, case.task_error)[-1]
    ratio = tasks.ridge_error(tasks.best_penalty(n_tasks), n_tasks) / optimum
    return [tasks.ridge_error(case.penalty, n_tasks), optimum, float(by_schedule), ratio, tasks.ridge_gap(n_tasks)]


STATEMENTS = {
    "ridge-alike": Statement(
        row="9a",
        where="Introduction; Thm (ridge)",
        claim="the trade-off between past and new data is a reason why one λ fails, without bound",
        correction="the trade-off alone: for T tasks that are all alike the ratio grows like (1 + ln(4TA/B))/4",
        recorded=Verdict.EXTENDED,
        printed=Claim(_ratio_of_the_theorem, _try_unbounded),
        corrected=Claim(_ratio_of_alike_tasks, _try_unbounded),
        library=(LibraryCheck("AlikeTasks", _alike_cases, _library_alike_errors, _alike_errors),),
        mutations={
            "a penalty per task": {"printed": lambda n: printed_family(n, n, n**-0.5)},
            "one λ after a hundred tasks": {"corrected": lambda n_tasks: _ratio_of_alike_tasks(min(n_tasks, 100.0))},
        },
    ),
    "min-norm-forgetting": Statement(
        row="13a",
        where="Thm (min-norm), remark, read for any w_*",
        claim="the minimum-norm estimator is prone to forgetting, here: over rows N(0, I) it forgets in expectation",
        correction="if and only if ‖w_*‖² < σ²p/(p − n − 1), to which its error rises or falls, task after task",
        recorded=Verdict.READING,
        printed=Claim(lambda tasks: True, _try_forgetting),
        corrected=Claim(lambda tasks: tasks.signal < _level(tasks), _try_forgetting),
        library=(
            LibraryCheck(
                "gaussian_minimum_norm_error",
                _normal_tasks,
                lambda tasks: gaussian_minimum_norm_error(
                    [tasks.n] * N_TASKS,
                    tasks.p,
                    initial_error=tasks.signal,
                    noise_variance=tasks.noise_variance,
                    distances=DISTANCES,
                ),
                _minimum_norm_errors,
            ),
        ),
        mutations={
            "a fifth of the threshold": {"corrected": lambda tasks: tasks.signal < _level(tasks) / 5},
            "five times the threshold": {"corrected": lambda tasks: tasks.signal < 5 * _level(tasks)},
        },
    ),
    "generalized-falls": Statement(
        row="17a",
        where="Sec. Experiments, read for any number of rows",
        claim="the error of generalized ridge with H̃_t falls in every task",
        correction="in the experiment; in general it rises as the rows come near p, where its mean is infinite",
        recorded=Verdict.READING,
        printed=Claim(lambda tasks, rows: True, _try_falls),
        corrected=Claim(_falls, _try_falls),
        library=(
            LibraryCheck(
                "gaussian_pooled_error",
                _normal_tasks,
                lambda tasks: gaussian_pooled_error(
                    [tasks.n] * N_TASKS,
                    tasks.p,
                    initial_error=tasks.signal,
                    noise_variance=tasks.noise_variance,
                ),
                _pooled_errors,
            ),
        ),
        mutations={
            "without noise": {"corrected": lambda tasks, rows: _falls(tasks._replace(noise_variance=1e-9), rows)},
            "a rise up to p only": {"corrected": lambda tasks, rows: rows > tasks.p},
        },
    ),
}
