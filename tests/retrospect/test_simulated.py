"""Short versions of what `make retrospect` measures at length, with seeds of their own."""

import numpy as np
import pytest
from states import without_rows

from benchmarks.retrospect import covered, evidence_errors
from ridgeway import GeneralizedRidge
from ridgeway.weights import Accumulated


def test_intervals_cover():
    found = covered(np.random.default_rng(5), 400)
    assert abs(found.mean() - 0.95) < 0.02
    assert abs(covered(np.random.default_rng(5), 400, level=0.8).mean() - 0.95) > 0.1


def test_evidence_is_near_the_optimum_that_knows():
    errors = evidence_errors(range(6), n=75, p=100, n_tasks=5)
    assert (errors["evidence"][1:] <= 1.02 * errors["optimum"][1:]).all()
    assert (errors["plain"][1] > 1.02 * errors["optimum"][1]).all()


@pytest.mark.parametrize(
    ("variances", "least", "most"), [([1.0] * 5, 1.0, 1.05), ([0.01] * 5, 1.1, 2.0), ([1.0] + [1e-4] * 4, 2.0, 9.0)]
)
def test_the_optimum_is_better_if_the_signal_is_weak_or_in_few_directions(rng, variances, least, most):
    policies = Accumulated("evidence"), Accumulated(1.0 / np.array(variances))
    squares = np.zeros(2)
    for _ in range(60):
        coef = rng.normal(size=5) * np.sqrt(variances)
        tasks = [(X, X @ coef + rng.normal(size=8)) for X in rng.normal(size=(6, 8, 5))]
        found = [learned(policy, tasks, fit_intercept=False).coef_ for policy in policies]
        squares += [np.square(estimate - coef).sum() for estimate in found]
    assert least <= squares[0] / squares[1] < most


def learned(policy, tasks, **settings):
    model = GeneralizedRidge(policy, **settings)
    for X, y in tasks:
        model = without_rows(model.partial_fit(X, y))
    return model
