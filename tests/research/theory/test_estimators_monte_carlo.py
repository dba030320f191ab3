"""Exact risks against the estimators themselves: 10,000 repetitions, many at once as targets of one model.

Fixed seeds; |z| < 4 at every task. Each test has a negative control: a risk that is a little wrong is noticed.
"""

import numpy as np
import pytest

from ridgeway import ContinualRidge, EarlyStopping, GeneralizedRidge, MinimumNorm, Oracle
from ridgeway.research.theory import CommutingProblem, FixedDesignProblem
from ridgeway.weights import Accumulated, Explicit, Isotropic, Zero

P, TASKS, NOISE, REPEATS = 8, 5, 0.7, 10_000
BLOCK = 100
"""Repetitions that one model learns as its targets: with `Accumulated` it keeps (p + k)² numbers for k targets."""
LIMIT = 4.0


def learn(model, designs, true_coefs, rng):
    """Return every estimate after every task, (TASKS, REPEATS, P)."""
    estimates = [[] for _ in designs]
    for _ in range(REPEATS // BLOCK):
        copy = type(model)(**model.get_params(deep=False))
        for t, (X, coef) in enumerate(zip(designs, true_coefs, strict=True)):
            y = (X @ coef)[:, np.newaxis] + np.sqrt(NOISE) * rng.normal(size=(len(X), BLOCK))
            estimates[t].append(copy.partial_fit(X, y).coef_)
    return np.array([np.vstack(blocks) for blocks in estimates])


def z_scores(estimates, target, expected):
    errors = np.square(estimates - target).sum(axis=2)
    return (errors.mean(axis=1) - expected) / (errors.std(axis=1, ddof=1) / np.sqrt(REPEATS))


def commuting():
    """Tasks of different sizes whose covariances share a basis; some directions are not seen by some tasks."""
    rng = np.random.default_rng(41)
    basis = np.linalg.qr(rng.normal(size=(P, P)))[0]
    sizes = np.array([12, 9, 16, 10, 14])
    gamma = np.exp(rng.normal(0, 0.8, (TASKS, P))) * (rng.random((TASKS, P)) < 0.8)
    gamma[0] = np.maximum(gamma[0], 0.2)
    designs = []
    for n, row in zip(sizes, gamma, strict=True):
        left = np.linalg.qr(rng.normal(size=(n, P)))[0]
        designs.append(left * np.sqrt(n * row) @ basis.T)
    coef = rng.normal(size=P)
    problem = CommutingProblem(gamma, sizes, noise_variance=NOISE, initial_errors=(basis.T @ coef) ** 2)
    return rng, basis, designs, coef, problem


def matrices(basis, diagonals):
    return [(basis * row) @ basis.T for row in diagonals]


CLOSED_FORMS = {
    "oracle": lambda basis, problem: (Oracle(fit_intercept=False), problem.oracle_error()),
    "pooled": lambda basis, problem: (GeneralizedRidge(fit_intercept=False), problem.oracle_error()),
    "optimal": lambda basis, problem: (
        GeneralizedRidge(Explicit(matrices(basis, problem.optimal_penalties())), fit_intercept=False),
        problem.optimal_error(),
    ),
    "optimal, by its prior": lambda basis, problem: (
        GeneralizedRidge(Accumulated(prior=matrices(basis, [NOISE / problem.initial_errors])[0]), fit_intercept=False),
        problem.optimal_error(),
    ),
    "ridge": lambda basis, problem: (
        ContinualRidge([0.3, 0.5, 0.2, 1.0, 0.1], fit_intercept=False),
        problem.direction_errors(np.array([[0.3], [0.5], [0.2], [1.0], [0.1]])).sum(axis=1),
    ),
    "minimum norm": lambda basis, problem: (
        MinimumNorm(fit_intercept=False),
        problem.direction_errors(0.0).sum(axis=1),
    ),
    "early stopping": lambda basis, problem: (
        EarlyStopping(matrices(basis, problem.optimal_learning_rates(3)), 3, fit_intercept=False),
        problem.optimal_error(),
    ),
}


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")  # some tasks do not see some directions
@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_closed_forms(name):
    rng, basis, designs, coef, problem = commuting()
    model, expected = CLOSED_FORMS[name](basis, problem)
    estimates = learn(model, designs, [coef] * TASKS, rng)
    assert np.abs(z_scores(estimates, coef, expected)).max() < LIMIT
    # Negative control: an error that is a tenth too large is noticed at every task.
    assert np.abs(z_scores(estimates, coef, 1.1 * expected)).min() > LIMIT


def general():
    """Fewer rows than features, and covariances that do not commute."""
    rng = np.random.default_rng(42)
    designs = [rng.normal(size=(n, P)) * np.exp(rng.normal(0, 0.5, P)) for n in (5, 3, 6, 4, 5)]
    return rng, designs, rng.normal(size=P)


def schedules(rng, designs):
    roots = rng.normal(size=(TASKS, P, P)) / np.sqrt(P)
    any_matrix = list(roots @ roots.transpose(0, 2, 1))
    optimal = list(FixedDesignProblem(designs, noise_variance=NOISE, signal=1.0).optimal_weight_matrices())
    return {
        "MN": (MinimumNorm(fit_intercept=False), Zero()),
        "CRR": (ContinualRidge(0.4, fit_intercept=False), Isotropic(0.4)),
        "GR, pooled": (GeneralizedRidge(fit_intercept=False), Accumulated()),
        "GR, optimal": (GeneralizedRidge(Accumulated(prior=NOISE), fit_intercept=False), optimal),
        "GR, any": (GeneralizedRidge(Explicit(any_matrix), fit_intercept=False), any_matrix),
    }


METHODS = ["MN", "CRR", "GR, pooled", "GR, optimal", "GR, any"]


@pytest.mark.parametrize("name", METHODS)
def test_expected_error(name):
    rng, designs, coef = general()
    model, weights = schedules(rng, designs)[name]
    estimates = learn(model, designs, [coef] * TASKS, rng)
    problem = FixedDesignProblem(designs, noise_variance=NOISE, signal=coef)
    assert np.abs(z_scores(estimates, coef, problem.expected_error(weights).total)).max() < LIMIT
    louder = FixedDesignProblem(designs, noise_variance=1.2 * NOISE, signal=coef)
    assert np.abs(z_scores(estimates, coef, louder.expected_error(weights).total)).max() > LIMIT


@pytest.mark.parametrize("name", METHODS)
def test_expected_error_with_a_parameter_per_task(name):
    rng, designs, coef = general()
    model, weights = schedules(rng, designs)[name]
    task_coefs = coef + 0.5 * rng.normal(size=(TASKS, P))
    estimates = learn(model, designs, task_coefs, rng)
    problem = FixedDesignProblem(designs, noise_variance=NOISE, signal=coef, task_coefs=task_coefs)
    error = problem.expected_error(weights)
    assert np.abs(z_scores(estimates, coef, error.total)).max() < LIMIT
    assert np.abs(z_scores(estimates, coef, error.bias + error.variance)).max() > LIMIT
