"""Short versions of what `make retrospect` measures at length, with seeds of their own."""

import numpy as np
import pytest
from states import without_rows

from benchmarks.retrospect import covered, evidence_errors, jump_errors
from ridgeway import GeneralizedRidge
from ridgeway.errors import MergeError
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


@pytest.mark.parametrize("size", [0.0, 5.0, 200.0])
def test_jumps(size):
    """After no jump as good as the plain one, after any never much worse than the better of two in hindsight."""
    errors = jump_errors(range(4), size, n=75, p=100, n_tasks=12, after=6)
    if size == 0.0:
        assert (errors["adaptive"] <= 1.05 * errors["plain"]).all()
    after = {name: values[6:].mean() for name, values in errors.items()}
    # A task with fewer rows than features may need a second one to be told from noise.
    assert after["adaptive"] <= 2.5 * min(after["plain"], after["restarted"])
    if size == 200.0:
        assert errors["adaptive"][10] < errors["plain"][10] / 5.0


def learned(policy, tasks, **settings):
    model = GeneralizedRidge(policy, **settings)
    for X, y in tasks:
        model = without_rows(model.partial_fit(X, y))
    return model


@pytest.fixture
def tasks(rng):
    coef = rng.normal(size=(6, 2))
    designs = [rng.normal(size=(20, 6)) + 4.0 for _ in range(4)]
    return [(X, X @ coef + 2.0 + 0.3 * rng.normal(size=(20, 2))) for X in designs]


@pytest.mark.parametrize("information", ["square_root", "moments"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_a_jump_the_adaptive_policy_is_the_plain_one(tasks, information, fit_intercept):
    settings = {"information": information, "fit_intercept": fit_intercept}
    adaptive, plain = (learned(policy, tasks, **settings) for policy in (Accumulated(decay="adaptive"), Accumulated()))
    np.testing.assert_array_equal(adaptive.coef_, plain.coef_)
    assert adaptive.n_samples_seen_ == plain.n_samples_seen_


@pytest.mark.parametrize("information", ["square_root", "moments"])
def test_after_a_large_jump_it_starts_from_scratch(tasks, rng, information):
    X = rng.normal(size=(20, 6)) + 4.0
    y = X @ (30.0 * rng.normal(size=(6, 2))) + 0.3 * rng.normal(size=(20, 2))
    model = learned(Accumulated(decay="adaptive"), [*tasks, (X, y)], information=information)
    np.testing.assert_allclose(model.coef_, GeneralizedRidge(information=information).fit(X, y).coef_, rtol=1e-3)
    assert (model.n_samples_seen_, model.n_tasks_, model.state_.tasks_in_force) == (100, 5, 1)


def test_the_prior_stays_whole(tasks, rng):
    """Where the past is kept, and where it is let go of: the prior counts once in both."""
    X = rng.normal(size=(20, 6)) + 4.0
    y = X @ (30.0 * rng.normal(size=(6, 2))) + 0.3 * rng.normal(size=(20, 2))
    calm, jumped = (learned(Accumulated(2.0, "adaptive"), given) for given in (tasks, [*tasks, (X, y)]))
    np.testing.assert_allclose(calm.coef_, learned(Accumulated(2.0), tasks).coef_)
    np.testing.assert_allclose(jumped.coef_, GeneralizedRidge(Accumulated(2.0)).fit(X, y).coef_, rtol=1e-3)


def test_after_a_small_jump_it_keeps_a_share(tasks, rng):
    model = learned(Accumulated(decay="adaptive"), tasks)
    X = rng.normal(size=(40, 6)) + 4.0
    y = model.predict(X) + (X - 4.0) @ (0.5 * rng.normal(size=(6, 2))) + 0.3 * rng.normal(size=(40, 2))
    model.partial_fit(X, y)
    assert 40 < model.information_.n_samples < 100
    assert model.n_samples_seen_ == 120


def test_a_jump_of_the_intercept_alone_is_seen(tasks, rng):
    model = learned(Accumulated(decay="adaptive"), tasks)
    X = rng.normal(size=(20, 6)) + 4.0
    y = model.predict(X) + 5.0 + 0.3 * rng.normal(size=(20, 2))
    model.partial_fit(X, y)
    assert model.information_.n_samples < 60
    assert abs(model.predict(X) - y).mean() < 1.0


def test_adaptive_and_evidence_together_and_a_state_of_both(tasks):
    policy = Accumulated(prior="evidence", decay="adaptive")
    one, two = learned(policy, tasks), GeneralizedRidge(policy)
    for X, y in tasks:
        two.partial_fit(X, y)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.weights.get_params() == policy.get_params()
    with pytest.raises(MergeError, match="'adaptive'"):
        one.merge(two)


def test_targets_that_do_not_vary_do_no_harm():
    model = GeneralizedRidge(Accumulated(decay="adaptive"))
    X = np.random.default_rng(0).normal(size=(10, 2))
    for _ in range(3):
        model.partial_fit(X, np.full(10, 7.0))
    np.testing.assert_allclose(model.predict(X), 7.0)
