"""What closed forms decide: errors over normal rows, and one penalty for tasks that are all alike.

Corrections rows 9a, 13a and 17a.
"""

from collections.abc import Callable
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from ridgeway._checks import Array
from ridgeway.research.verify._experiment_statements import experiment
from ridgeway.research.verify._findings import Instances, Trial, Verdict, worst_case
from ridgeway.research.verify._plain import pseudoinverse
from ridgeway.research.verify._ridge_statements import TwoTasks, one_penalty
from ridgeway.research.verify._search import Search
from ridgeway.research.verify._statement import Claim, Statement
from ridgeway.weights import Accumulated


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


@worst_case("largest error over the one before", 1.0)
def _try_falls_in_the_experiment(search: Search, rows_per_feature: float) -> Instances:
    """Follow H̃_t in the experiment's four cases: with and without the covariate shift, σ² = 1 and σ² = 5."""
    rng = search.generator()
    p = search.count(100, 200)
    n = round(rows_per_feature * p)
    for shift, noise_variance in product((False, True), (1.0, 5.0)):
        case = experiment(rng, n=n, p=p, shift=shift, noise_variance=noise_variance)
        errors = case.problem.expected_error(Accumulated()).total
        for t, (before, after) in enumerate(pairwise(errors.tolist()), start=2):
            words = f"n={n}, p={p}, σ²={noise_variance:g}{', shift' if shift else ''}: {before:.3g} → {after:.3g}"
            yield after / before, t, f"{words} in task {t}"


def _falls(tasks: NormalTasks, rows: int) -> bool:
    return _pooled_error(tasks, rows) < _pooled_error(tasks, rows - tasks.n)


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


STATEMENTS = {
    "ridge-alike": Statement(
        row="9a",
        where="Introduction; Thm (ridge)",
        claim="one λ fails without bound, in tasks with both of the reasons given: the trade-off and heterogeneity",
        correction="the trade-off alone is enough: for tasks that are all alike the ratio grows like (1 + ln(4TA/B))/4",
        recorded=Verdict.EXTENDED,
        printed=Claim(_ratio_of_the_theorem, _try_unbounded),
        corrected=Claim(_ratio_of_alike_tasks, _try_unbounded),
    ),
    "min-norm-forgetting": Statement(
        row="13a",
        where="Thm (min-norm), remark, read for any w_*",
        claim="the minimum-norm estimator is prone to forgetting, here: over rows N(0, I) it forgets in expectation",
        correction="if and only if ‖w_*‖² < σ²p/(p − n − 1), to which its error rises or falls, task after task",
        recorded=Verdict.READING,
        printed=Claim(lambda tasks: True, _try_forgetting),
        corrected=Claim(lambda tasks: tasks.signal < _level(tasks), _try_forgetting),
    ),
    "generalized-falls": Statement(
        row="17a",
        where="Sec. Experiments",
        claim="in each case of the experiments the error of generalized ridge with H̃_t falls in every task",
        correction="for other sizes it can rise before rows = p, where its mean is infinite over rows N(0, I)",
        recorded=Verdict.EXTENDED,
        printed=Claim(0.75, _try_falls_in_the_experiment),
        corrected=Claim(_falls, _try_falls),
    ),
}
