"""The optimum without commuting covariances: nothing beats it, and its singular cases."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from ridgeway.errors import InvalidParameterError
from ridgeway.research.theory import CommutingProblem, FixedDesignProblem
from ridgeway.weights import Accumulated, Explicit, Isotropic


def random_problem(rng):
    p, n_tasks = rng.integers(2, 7), rng.integers(2, 6)
    scales = np.exp(rng.normal(0, 1, (n_tasks, p)))
    designs = [rng.normal(size=(rng.integers(1, 9), p)) * scale for scale in scales]
    root = rng.normal(size=(p, p + 1))
    return FixedDesignProblem(designs, noise_variance=np.exp(rng.normal()), signal=root @ root.T / p)


def perturbed(weights, rng):
    """CH_tCᵀ with C near the identity: positive definite, and off by about a tenth."""
    p = weights.shape[1]
    return [c @ h @ c.T for h, c in zip(weights, np.eye(p) + rng.normal(0, 0.1, weights.shape), strict=True)]


@pytest.mark.parametrize("seed", range(40))
def test_nothing_beats_the_optimal_weight_matrices(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    weights = problem.optimal_weight_matrices()
    best = problem.expected_error(weights).total
    rivals = [Isotropic(list(problem.optimal_isotropic_penalties())), Accumulated(), *([1.1 * weights] * 1)]
    rivals += [perturbed(weights, rng) for _ in range(5)]
    for rival in rivals:
        assert (problem.expected_error(rival).total >= best * (1 - 1e-10)).all()
    # Negative control: penalties off by a tenth lose something from the first task on.
    assert (problem.expected_error(1.1 * weights).total > best * (1 + 1e-9)).all()
    start = np.trace(problem.signal)
    assert (np.diff([start, *best]) < 0).all()  # Thm (extension)


def test_the_optimum_is_the_pooled_information_with_the_prior_counted_once():
    rng = np.random.default_rng(1)
    problem = random_problem(rng)
    prior = problem.noise_variance * np.linalg.inv(problem.signal)
    one = problem.expected_error(problem.optimal_weight_matrices())
    two = problem.expected_error(Accumulated(prior=(prior + prior.T) / 2))
    np.testing.assert_allclose(two.second_moment, one.second_moment, rtol=1e-8, atol=1e-10)
    for t, moment in enumerate(one.second_moment):
        information = prior + sum(x.T @ x for x in problem.designs[: t + 1])
        np.testing.assert_allclose(moment, problem.noise_variance * np.linalg.inv(information), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_optimal_gains_are_those_of_the_optimal_weight_matrices(seed):
    problem = random_problem(np.random.default_rng(seed))
    one = problem.expected_error(Explicit(list(problem.optimal_weight_matrices())))
    two = problem.expected_error_of_gains(problem.optimal_gains())
    np.testing.assert_allclose(two.second_moment, one.second_moment, rtol=1e-8, atol=1e-10)


def test_optimal_gains_on_commuting_directions_with_no_initial_error():
    gamma, counts, initial = np.array([[1.0, 2.0, 0.0], [0.5, 0.0, 3.0]]), np.array([4, 4]), np.array([1.0, 0.0, 2.0])
    designs = [np.vstack([np.diag(np.sqrt(n * g)), np.zeros((1, 3))]) for g, n in zip(gamma, counts, strict=True)]
    closed = CommutingProblem(gamma, counts, initial_errors=initial)
    general = FixedDesignProblem(designs, signal=np.diag(initial))
    reached = general.expected_error_of_gains(general.optimal_gains()).total
    np.testing.assert_allclose(reached, closed.optimal_error(), rtol=1e-12)
    np.testing.assert_allclose(general.expected_error(closed.optimal_penalties()).total, reached, rtol=1e-12)


def test_a_known_parameter_has_gains_but_no_weight_matrices():
    rng = np.random.default_rng(2)
    problem = FixedDesignProblem([rng.normal(size=(3, 4)) for _ in range(3)], signal=rng.normal(size=4))
    with pytest.raises(InvalidParameterError, match=r"optimal_gains\(\)"):
        problem.optimal_weight_matrices()
    best = problem.expected_error_of_gains(problem.optimal_gains()).total
    for _ in range(20):
        gains = [k + 0.01 * rng.normal(size=k.shape) for k in problem.optimal_gains()]
        assert (problem.expected_error_of_gains(gains).total > best).all()
    assert (problem.expected_error(Isotropic(list(problem.optimal_isotropic_penalties()))).total > best).all()


@pytest.mark.parametrize("signal", [0.0, [0.0, 0.0], np.zeros((2, 2)), np.diag([1.0, 0.0])])
def test_no_signal_in_some_direction_is_singular(signal):
    problem = FixedDesignProblem([np.eye(2)] * 2, signal=signal)
    with pytest.raises(InvalidParameterError, match="singular"):
        problem.optimal_weight_matrices()
    best = problem.expected_error_of_gains(problem.optimal_gains()).total
    assert best[1] == pytest.approx(1 / 3 if np.any(signal) else 0.0)


@pytest.mark.parametrize("seed", range(10))
def test_isotropic_penalties_are_the_best_at_each_step(seed):
    problem = random_problem(np.random.default_rng(seed))
    penalties = problem.optimal_isotropic_penalties()
    for t in range(len(penalties)):

        def error(log_penalty, t=t):
            schedule = [*penalties[:t], np.exp(log_penalty), *penalties[t + 1 :]]
            return problem.expected_error(schedule).total[t]

        grid = np.linspace(-15, 15, 121)
        start = grid[np.argmin([error(x) for x in grid])]
        found = minimize_scalar(error, bounds=(start - 0.5, start + 0.5), method="bounded", options={"xatol": 1e-9})
        assert error(np.log(penalties[t])) == pytest.approx(found.fun, rel=1e-9)
        assert error(np.log(1.3 * penalties[t])) > found.fun


TWO_MINIMA = [
    ([0.15, 2.3e-4, 9600.0], [9.3e-4, 110.0, 1120.0]),
    ([900.0, 263.0, 0.42], [5.66e-3, 1.74e-4, 6.17e-2]),
    ([1.45e-4, 7.77e-3], [921.0, 6.32e-2]),
    ([23.3, 0.14, 0.82], [9.8e-4, 1.037, 5.2e-3]),
]
"""Information and errors for which the error after the task has two local minima in the penalty."""


@pytest.mark.parametrize(("information", "errors"), TWO_MINIMA)
def test_the_isotropic_penalty_is_the_best_of_several_local_minima(information, errors):
    information, errors = np.array(information), np.array(errors)
    penalties = np.exp(np.linspace(-20, 20, 40_001))[:, np.newaxis]
    totals = ((penalties**2 * errors + information) / (penalties + information) ** 2).sum(axis=1)
    minima = np.flatnonzero((totals[1:-1] < totals[:-2]) & (totals[1:-1] < totals[2:])) + 1
    assert len(minima) == 2
    assert abs(totals[minima[0]] / totals[minima[1]] - 1) > 1e-3  # the wrong one would be seen
    problem = FixedDesignProblem([np.diag(np.sqrt(information))], signal=np.diag(errors))
    (penalty,) = problem.optimal_isotropic_penalties()
    assert len(errors) * penalty == pytest.approx(penalties[totals.argmin(), 0], rel=2e-3)


def test_isotropic_penalties_are_infinite_where_nothing_can_be_gained():
    assert np.isinf(FixedDesignProblem([np.eye(2)], signal=0.0).optimal_isotropic_penalties()).all()
    assert np.isinf(FixedDesignProblem([np.zeros((2, 2))], signal=1.0).optimal_isotropic_penalties()).all()
    known = FixedDesignProblem([np.diag([1.0, 0.0])] * 2, signal=[0.0, 1.0])
    penalties = known.optimal_isotropic_penalties()
    assert np.isinf(penalties).all()
    np.testing.assert_allclose(known.expected_error(list(penalties)).total, 1.0)


def test_extension_is_not_strict_where_a_task_speaks_only_of_what_is_known():
    """Thm (extension) claims a strict fall wherever Σγ > 0; a task about what is already known brings none."""
    case = CommutingProblem([[1.0, 0.0]], [5], initial_errors=[0.0, 1.0])
    assert case.optimal_error()[0] == case.initial_errors.sum()
