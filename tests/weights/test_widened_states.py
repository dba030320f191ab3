"""States with columns that come later: prior, start and targets as if they had been there from the start."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ridgeway import GeneralizedRidge, retrospect
from ridgeway.data import Task
from ridgeway.errors import InvalidParameterError
from ridgeway.information import Moments, SquareRoot
from ridgeway.weights import Accumulated, Origin, from_arrays, policy_of, to_arrays

KINDS = pytest.mark.parametrize("kind", [SquareRoot, Moments])
FEATURES, TARGETS = np.array([1, -1, 0]), np.array([-1, 0])
PAST = np.array([0.0, 4.0, 0.0, -1.5, 0.0])


def rows(rng):
    """Return three tasks with their final columns: the new feature and the new target are constant in the first two."""
    tasks = []
    for t in range(3):
        X, y = rng.normal(size=(12, 3)) + 1.0, rng.normal(size=(12, 2))
        if t < 2:
            X[:, 1], y[:, 0] = PAST[1], PAST[3]
        tasks.append((X, y, rng.uniform(0.5, 2.0, 12)))
    return tasks


def narrow(X, y, weight):
    """Return a task as it came before the new columns."""
    return Task.of(X[:, [2, 0]], y[:, [1]], weight)


def brute_force(tasks, prior, start, decay):
    """Return the least squares solution on all rows, the prior as rows, and its intercepts."""
    last = len(tasks) - 1
    X, y = (np.vstack([task[i] for task in tasks]) for i in (0, 1))
    w = np.concatenate([decay ** (last - t) * weight for t, (_, _, weight) in enumerate(tasks)])
    x_mean, y_mean = w @ X / w.sum(), w @ y / w.sum()
    root = np.linalg.cholesky(prior).T * np.sqrt(decay ** len(tasks)) if prior.any() else prior
    A = np.vstack([np.sqrt(w)[:, None] * (X - x_mean), root])
    coef = np.linalg.lstsq(A, np.vstack([np.sqrt(w)[:, None] * (y - y_mean), root @ start]), rcond=None)[0]
    return coef, y_mean - x_mean @ coef


PRIORS = {
    "none": (0.0, None, np.zeros((3, 3))),
    "one number": (2.0, None, 2.0 * np.eye(3)),
    "equal entries": ([2.0, 2.0], None, 2.0 * np.eye(3)),
    "one number, another for the new": (2.0, [0.5], np.diag([2.0, 0.5, 2.0])),
    "a diagonal": ([3.0, 1.0], [0.5], np.diag([1.0, 0.5, 3.0])),
    "a matrix": ([[3.0, 1.0], [1.0, 2.0]], 0.5, np.array([[2.0, 0.0, 1.0], [0.0, 0.5, 0.0], [1.0, 0.0, 3.0]])),
}


@KINDS
@pytest.mark.parametrize("decay", [1.0, 0.6])
@pytest.mark.parametrize("case", PRIORS)
def test_widened_is_learned_with_the_final_columns(kind, decay, case, rng):
    prior, entries, wide = PRIORS[case]
    tasks, policy = rows(rng), Accumulated(prior, decay)
    state = policy.start(Origin(np.array([[0.5], [-1.0]]), kind))
    for task in tasks[:2]:
        state = policy.step(state, narrow(*task))
    state = state.widened(FEATURES, TARGETS, PAST, entries)
    start = np.array([[0.0, -1.0], [0.0, 0.0], [0.0, 0.5]])
    assert_array_equal(state.origin.coef, start)
    assert not state.origin.single_target
    for held in (state, from_arrays(to_arrays(state))):
        after = policy_of(held).step(held, Task.of(*tasks[2], single_target=False))
        coef, intercept = brute_force(tasks, wide, start, decay)
        assert_allclose(after.answer.coef, coef, rtol=1e-11, atol=1e-12)
        assert_allclose(after.answer.intercept, intercept, rtol=1e-11, atol=1e-12)
    wrong = brute_force([(X + (t < 2) * np.eye(3)[1], y, w) for t, (X, y, w) in enumerate(tasks)], wide, start, decay)
    assert not np.allclose(after.answer.coef, wrong[0], rtol=1e-6)


def learned(rng, kind=SquareRoot, **settings):
    policy = Accumulated(**settings)
    state = policy.start(Origin(np.zeros((2, 1)), kind))
    for task in rows(rng)[:2]:
        state = policy.step(state, narrow(*task))
    return state


@pytest.mark.parametrize("prior", [[1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]]])
def test_a_prior_with_an_entry_per_feature_needs_one_for_the_new(prior, rng):
    with pytest.raises(InvalidParameterError, match=r"an entry for each of the 1 new ones; got none\. Pass them as"):
        learned(rng, prior=prior).widened(FEATURES, TARGETS, PAST)
    order = np.array([1, 0])  # no new feature, no new entry
    turned = learned(rng, prior=prior).widened(order, np.array([0, -1]), np.zeros(4))
    assert turned.prior is not None
    assert_array_equal(turned.prior, np.array(prior)[::-1] if turned.prior.ndim == 1 else np.eye(2))


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([1.0, 2.0], "the prior has 2 entries; this model has 1"),
        ([-1.0], "each entry of the prior"),
        ([[1.0]], "got a matrix. Pass its diagonal"),
    ],
)
def test_entries_that_do_not_fit(entries, message, rng):
    with pytest.raises(InvalidParameterError, match=message):
        learned(rng, prior=1.0).widened(FEATURES, TARGETS, PAST, entries)


@KINDS
def test_a_learned_prior_is_learned_with_the_new_columns(kind, rng):
    state = learned(rng, kind, prior="evidence")
    with pytest.raises(InvalidParameterError, match="learned from the rows; got entries"):
        state.widened(FEATURES, TARGETS, PAST, [1.0])
    tasks = rows(np.random.default_rng(12))  # those that were learned
    policy = Accumulated("evidence")
    at_once = policy.start(Origin(np.zeros((3, 2)), kind, single_target=False))
    for task in tasks:
        at_once = policy.step(at_once, Task.of(*task, single_target=False))
    wide = policy.step(state.widened(FEATURES, TARGETS, PAST), Task.of(*tasks[2], single_target=False))
    assert_allclose(wide.prior_in_force, at_once.prior_in_force, rtol=1e-6)
    assert_allclose(wide.answer.coef, at_once.answer.coef, rtol=1e-6, atol=1e-8)


def test_a_policy_with_a_prior_of_the_old_features_cannot_go_on(rng):
    policy = Accumulated([1.0, 2.0])
    state = policy.start(Origin(np.zeros((2, 1)))).widened(FEATURES, np.array([0]), np.zeros(4), [3.0])
    assert state.origin.single_target
    with pytest.raises(InvalidParameterError, match="the prior has 2 entries; this model has 3 features"):
        policy.step(state, Task.of(rng.normal(size=(5, 3)), rng.normal(size=(5, 1))))


@KINDS
def test_states_widened_in_different_orders_merge(kind, rng):
    tasks = rows(rng)
    one = learned(np.random.default_rng(12), kind, prior=1.0).widened(FEATURES, TARGETS, PAST)
    two = Accumulated(1.0).start(Origin(np.zeros((2, 2)), kind, single_target=False))
    two = two.after(Task.of(tasks[2][0][:, [1, 0]], tasks[2][1][:, ::-1], tasks[2][2], single_target=False))
    tasks[2][0][:, 2] = 7.0  # the feature that the second state did not have
    two = two.widened(np.array([1, 0, -1]), np.array([1, 0]), np.array([0.0, 0.0, 7.0, 0.0, 0.0]))
    coef, intercept = brute_force(tasks, np.eye(3), np.zeros((3, 2)), 1.0)
    for merged in (one.merge(two), two.merge(one)):
        assert merged.n_tasks == 3
        assert_allclose(merged.answer.coef, coef, rtol=1e-11, atol=1e-12)
        assert_allclose(merged.answer.intercept, intercept, rtol=1e-11, atol=1e-12)
        rest = merged.remove(Task.of(*tasks[0], single_target=False))  # learned before the widening
        assert_allclose(rest.answer.coef, brute_force(tasks[1:], np.eye(3), np.zeros((3, 2)), 1.0)[0], rtol=1e-10)


@KINDS
@pytest.mark.parametrize("past", [0.0, 0.1])
def test_a_column_that_never_varied_changes_nothing_else(kind, past, rng):
    """Coefficient 0, not estimable, no warning; ranks, standard errors and the rest as without it."""
    X, y = rng.normal(size=(40, 3)) + 2.0, rng.normal(size=(40, 1))
    X[:, 2] = X[:, 0] + X[:, 1]  # deficient without the new column, too
    for columns in ([0, 1], [0, 1, 2]):
        plain = Accumulated().start(Origin(np.zeros((len(columns), 1)), kind)).after(Task.of(X[:, columns], y))
        places = np.insert(np.arange(len(columns)), 1, -1)
        wide = plain.widened(places, np.array([0]), np.full(len(columns) + 2, past))
        old = np.flatnonzero(places >= 0)
        if len(columns) > 2:
            with pytest.warns(UserWarning, match="collinear"):
                answers = plain.answer, wide.answer
        else:
            answers = plain.answer, wide.answer
        assert answers[1].coef[1] == 0.0
        assert answers[0].rank == answers[1].rank == 2
        assert_allclose(answers[1].coef[old], answers[0].coef, rtol=1e-10, atol=1e-12)
        assert_allclose(answers[1].intercept, answers[0].intercept, rtol=1e-10, atol=1e-12)
        found, expected = wide.inference(), plain.inference()
        assert found.degrees_of_freedom == expected.degrees_of_freedom == 37
        assert_allclose(found.noise_variance, expected.noise_variance, rtol=1e-10)
        known = found.whiten(np.eye(len(places)), 0.0)[1]
        assert not known[1]
        assert_array_equal(known[old], expected.whiten(np.eye(len(columns)), 0.0)[1])
        at_past = np.insert(X[:5, columns], 1, past, axis=1)
        assert_allclose(found.predictive_deviations(at_past), expected.predictive_deviations(X[:5, columns]), rtol=1e-9)
        elsewhere = at_past + np.eye(len(places))[1]
        assert np.isinf(found.predictive_deviations(elsewhere)).all()


@KINDS
def test_the_summary_says_what_is_not_estimable(kind, rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=(30, 1))
    plain = Accumulated().start(Origin(np.zeros((2, 1)), kind)).after(Task.of(X, y))
    wide = plain.widened(np.array([0, 1, -1]), np.array([0]), np.zeros(4))
    found, expected = (retrospect.summary(GeneralizedRidge.from_arrays(to_arrays(state))) for state in (wide, plain))
    assert_allclose(found.standard_errors[[0, 1, 2]], expected.standard_errors[[0, 1, 2]], rtol=1e-10)
    assert np.isinf(found.standard_errors[3])
    assert found.degrees_of_freedom == expected.degrees_of_freedom


@KINDS
def test_mapped_is_learned_with_the_other_reference(kind, rng):
    levels, y = rng.integers(0, 3, 50), rng.normal(size=(50, 1))
    X = np.eye(3)[levels]
    state = Accumulated().start(Origin(np.zeros((2, 1)), kind)).after(Task.of(X[:, 1:], y))
    found = state.mapped(np.array([[-1.0, 0.0], [-1.0, 1.0]]), np.array([1.0, 0.0]))
    expected = Accumulated().start(Origin(np.zeros((2, 1)), kind)).after(Task.of(X[:, [0, 2]], y))
    assert_allclose(found.answer.coef, expected.answer.coef, rtol=1e-12)
    assert_allclose(found.answer.intercept, expected.answer.intercept, rtol=1e-12)
    assert found.merge(expected).n_samples == 100
    fewer = state.mapped(np.array([[1.0], [1.0]]), np.zeros(1))
    assert fewer.origin.coef.shape == (1, 1)
    assert from_arrays(to_arrays(fewer)).prior.shape == (1,)


@pytest.mark.parametrize("settings", [{"prior": 1.0}, {"prior": "evidence"}])
def test_nothing_is_mapped_under_a_prior_or_a_start(settings, rng):
    with pytest.raises(InvalidParameterError, match="with a prior or an initial_coef"):
        learned(rng, **settings).mapped(np.eye(2), np.zeros(2))
    started = Accumulated().start(Origin(np.ones((2, 1))))
    with pytest.raises(InvalidParameterError, match="with a prior or an initial_coef"):
        started.mapped(np.eye(2), np.zeros(2))
