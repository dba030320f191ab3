"""Exact risks against simulated estimates, from updates written out again in plain NumPy."""

import numpy as np
import pytest

from ridgeway.research.theory import CommutingProblem, FixedDesignProblem
from ridgeway.weights import Accumulated, Isotropic, Zero

P, TASKS, NOISE, REPEATS = 8, 4, 0.6, 4000


def setting(seed):
    rng = np.random.default_rng(seed)
    designs = [rng.normal(size=(5, P)) * np.exp(rng.normal(0, 0.5, P)) for _ in range(TASKS)]
    return rng, designs, rng.normal(size=P)


def simulate(rng, designs, weights, task_coefs, target):
    """Squared errors of all estimates, (TASKS, REPEATS). A weight of None is the minimum-norm update."""
    coef = np.zeros((P, REPEATS))
    errors = []
    for design, weight, true_coef in zip(designs, weights, task_coefs, strict=True):
        n = len(design)
        y = (design @ true_coef)[:, np.newaxis] + np.sqrt(NOISE) * rng.normal(size=(n, REPEATS))
        residual = y - design @ coef
        if weight is None:
            coef = coef + np.linalg.pinv(design) @ residual
        else:
            coef = coef + np.linalg.solve(design.T @ design / n + weight, design.T @ residual / n)
        errors.append(np.sum((coef - target[:, np.newaxis]) ** 2, axis=0))
    return np.array(errors)


def z_scores(samples, expected):
    return (samples.mean(axis=1) - expected) / (samples.std(axis=1, ddof=1) / np.sqrt(samples.shape[1]))


def schedules(rng, designs):
    optimal = FixedDesignProblem(designs, noise_variance=NOISE, signal=1.0).optimal_weight_matrices()
    roots = rng.normal(size=(TASKS, P, P)) / np.sqrt(P)
    pooled = [sum((x.T @ x for x in designs[:t]), 1e-7 * np.eye(P)) / 5 for t in range(TASKS)]
    return {
        "MN": (Zero(), [None] * TASKS),
        "CRR": (Isotropic(0.4), [0.4 * np.eye(P)] * TASKS),
        "GR, pooled": (Accumulated(), pooled),
        "GR, optimal": (optimal, optimal),
        "any": (roots @ roots.transpose(0, 2, 1), roots @ roots.transpose(0, 2, 1)),
    }


@pytest.mark.parametrize("name", ["MN", "CRR", "GR, pooled", "GR, optimal", "any"])
def test_expected_error(name):
    rng, designs, coef = setting(11)
    weights, matrices = schedules(rng, designs)[name]
    samples = simulate(rng, designs, matrices, [coef] * TASKS, coef)
    problem = FixedDesignProblem(designs, noise_variance=NOISE, signal=coef)
    assert np.abs(z_scores(samples, problem.expected_error(weights).total)).max() < 4
    # Negative control: a noise variance off by a tenth is seen.
    louder = FixedDesignProblem(designs, noise_variance=1.25 * NOISE, signal=coef)
    assert np.abs(z_scores(samples, louder.expected_error(weights).total)).max() > 4


def test_expected_error_with_a_parameter_per_task():
    rng, designs, coef = setting(12)
    task_coefs = coef + 0.5 * rng.normal(size=(TASKS, P))
    problem = FixedDesignProblem(designs, noise_variance=NOISE, signal=coef, task_coefs=task_coefs)
    for weights, matrices in schedules(rng, designs).values():
        samples = simulate(rng, designs, matrices, task_coefs, coef)
        error = problem.expected_error(weights)
        assert np.abs(z_scores(samples, error.total)).max() < 4
        assert np.abs(z_scores(samples, error.bias + error.variance)).max() > 4


def test_closed_forms_with_orthogonal_designs():
    rng = np.random.default_rng(13)
    gamma = np.exp(rng.normal(0, 1, (TASKS, P)))
    designs = [np.diag(np.sqrt(P * row)) for row in gamma]
    coef = rng.normal(size=P)
    case = CommutingProblem(gamma, np.full(TASKS, P), noise_variance=NOISE, initial_errors=coef**2)
    best = case.optimal_penalties()
    for penalties in (best, np.full_like(best, 0.3)):
        samples = simulate(rng, designs, [np.diag(row) for row in penalties], [coef] * TASKS, coef)
        assert np.abs(z_scores(samples, case.direction_errors(penalties).sum(axis=1))).max() < 4
    samples = simulate(rng, designs, [np.diag(row) for row in best], [coef] * TASKS, coef)
    assert np.abs(z_scores(samples, case.optimal_error())).max() < 4
    assert np.abs(z_scores(samples, case.oracle_error())).max() > 4  # negative control
