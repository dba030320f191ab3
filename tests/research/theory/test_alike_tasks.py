"""Tasks that are all alike: the closed form against the recursion, and the best penalty against brute force."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from ridgeway.errors import InvalidParameterError
from ridgeway.research.theory import AlikeTasks, CommutingProblem, FixedDesignProblem
from ridgeway.weights import Isotropic


def recursion(penalties, start, task_error):
    """e → (λ² e + B)/(1 + λ)², task by task: Eq. (error_iter) summed over directions with γ = 1."""
    errors = []
    for penalty in penalties:
        start = (penalty**2 * start + task_error) / (1 + penalty) ** 2
        errors.append(start)
    return errors


@pytest.mark.parametrize("penalty", [Fraction(0), Fraction(1, 7), Fraction(1), Fraction(40)])
@pytest.mark.parametrize(("start", "task_error"), [(1, 1), (Fraction(1, 9), 5), (100, Fraction(1, 3))])
def test_error_of_one_penalty(penalty, start, task_error):
    tasks = AlikeTasks(initial_error=float(start), task_error=float(task_error))
    exact = recursion([penalty] * 12, Fraction(start), Fraction(task_error))
    for t, error in enumerate(exact, start=1):
        assert tasks.ridge_error(float(penalty), t) == pytest.approx(float(error), rel=1e-13)


def test_limits_of_the_penalty():
    tasks = AlikeTasks(initial_error=4.0, task_error=3.0)
    assert tasks.ridge_error(0.0, 5) == 3.0
    assert tasks.ridge_error(np.inf, 5) == 4.0
    assert tasks.ridge_error(1e100, 5) == pytest.approx(4.0)


def test_it_is_the_error_of_real_rows():
    """Three directions, n = 6 rows with XᵀX = nI."""
    rng = np.random.default_rng(0)
    design = np.linalg.qr(rng.normal(size=(6, 3)))[0] * np.sqrt(6)
    signal = np.array([1.0, -2.0, 0.5])
    problem = FixedDesignProblem([design] * 7, noise_variance=1.4, signal=signal)
    tasks = AlikeTasks(initial_error=float(signal @ signal), task_error=1.4 * 3 / 6)
    for penalty in (0.3, 2.0):
        found = problem.expected_error(Isotropic(penalty)).total
        assert [tasks.ridge_error(penalty, t) for t in range(1, 8)] == pytest.approx(found.tolist(), rel=1e-12)
    best = problem.expected_error(Isotropic(tasks.optimal_penalties(7))).total
    assert [tasks.optimal_error(t) for t in range(1, 8)] == pytest.approx(best.tolist(), rel=1e-12)
    np.testing.assert_allclose(problem.optimal_isotropic_penalties(), tasks.optimal_penalties(7), rtol=1e-6)


@pytest.mark.parametrize(("start", "task_error"), [(1.0, 1.0), (0.01, 7.0), (1e6, 0.2)])
@pytest.mark.parametrize("n_tasks", [1, 2, 9, 300])
def test_the_best_penalty_is_that_of_brute_force(start, task_error, n_tasks):
    tasks = AlikeTasks(initial_error=start, task_error=task_error)
    best = tasks.best_penalty(n_tasks)
    grid = np.exp(np.linspace(np.log(task_error / start) - 8, np.log(n_tasks + task_error / start) + 8, 20_001))
    errors = recursion([grid] * n_tasks, start, task_error)[-1]
    nearest = int(np.argmin(errors))
    assert tasks.ridge_error(best, n_tasks) <= errors[nearest] * (1 + 1e-12)
    assert grid[nearest - 1] <= best <= grid[nearest + 1]
    assert task_error / start * (1 - 1e-9) <= best <= (n_tasks - 1 + task_error / start) * (1 + 1e-9)
    # Control: a hundredth more or less is worse, unless all of it is noise.
    for factor in (0.99, 1.01):
        assert tasks.ridge_error(factor * best, n_tasks) > tasks.ridge_error(best, n_tasks)


@pytest.mark.parametrize("n_tasks", [1, 2, 4])
def test_no_schedule_beats_the_optimum(n_tasks):
    tasks = AlikeTasks(initial_error=2.0, task_error=3.0)
    rng = np.random.default_rng(n_tasks)
    found = min(
        minimize(
            lambda logs: recursion(np.exp(logs), 2.0, 3.0)[-1],
            rng.normal(size=n_tasks),
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 0, "maxiter": 10_000},
        ).fun
        for _ in range(5)
    )
    assert tasks.optimal_error(n_tasks) == pytest.approx(found, rel=1e-9)
    assert recursion(tasks.optimal_penalties(n_tasks), 2.0, 3.0)[-1] == pytest.approx(found, rel=1e-9)


def test_no_generalized_ridge_with_isotropic_prior_is_better():
    """The optimum over all weights in the directions, with ‖w_*‖² spread evenly, is that of one λ_t per task."""
    problem = CommutingProblem(np.ones((6, 3)), [5] * 6, noise_variance=2.0, initial_errors=[1.5] * 3)
    tasks = AlikeTasks(initial_error=4.5, task_error=2.0 * 3 / 5)
    assert [tasks.optimal_error(t) for t in range(1, 7)] == pytest.approx(problem.optimal_error().tolist(), rel=1e-13)


def test_the_gap_grows_without_bound():
    tasks = AlikeTasks(initial_error=1.0, task_error=1.0)
    gaps = [tasks.ridge_gap(10**power) for power in (0, 1, 2, 3, 4, 6, 8, 12)]
    np.testing.assert_allclose(gaps, [1.0, 1.2608, 1.7614, 2.3253, 2.8994, 4.0505, 5.2017, 7.5043], atol=6e-5)
    for power, gap in ((6, gaps[5]), (8, gaps[6]), (12, gaps[7])):
        assert gap == pytest.approx((1 + np.log(4 * 10.0**power)) / 4, rel=1e-6)
    # The rate at T = 100 is 1.748; the gap itself is larger.
    assert (1 + np.log(400)) / 4 == pytest.approx(1.7479, abs=5e-5)


def test_the_asymptotic_penalty_and_error():
    start, task_error, n_tasks = 3.0, 0.5, 10**9
    tasks, logarithm = AlikeTasks(initial_error=start, task_error=task_error), np.log(4 * 1e9 * 6)
    assert tasks.best_penalty(n_tasks) == pytest.approx(2 * n_tasks / logarithm, rel=1e-6)
    assert tasks.ridge_error(tasks.best_penalty(n_tasks), n_tasks) == pytest.approx(
        task_error / (4 * n_tasks) * (1 + logarithm), rel=1e-6
    )


def test_refusals():
    for changes in ({"initial_error": 0.0}, {"task_error": -1.0}, {"task_error": np.inf}):
        with pytest.raises(InvalidParameterError, match=next(iter(changes))):
            AlikeTasks(**({"initial_error": 1.0, "task_error": 1.0} | changes))
    tasks = AlikeTasks(initial_error=1.0, task_error=1.0)
    for call in (tasks.best_penalty, tasks.optimal_error, tasks.optimal_penalties, tasks.ridge_gap):
        with pytest.raises(InvalidParameterError, match="n_tasks must be an integer ≥ 1"):
            call(0)
    for penalty in (-1.0, np.nan):
        with pytest.raises(InvalidParameterError, match="penalty"):
            tasks.ridge_error(penalty, 3)
