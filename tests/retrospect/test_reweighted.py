"""Tasks that count more or less after the fact: as if learned with those weights."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from states import learned as from_arrays

from ridgeway import GeneralizedRidge, retrospect, weights
from ridgeway.errors import InvalidParameterError
from ridgeway.information import ByTask, Moments

KINDS = ["by_task", ByTask(Moments)]


def tasks(rng, n_tasks=6, p=3, targets=()):
    shapes = [8 + 3 * j for j in range(n_tasks)]
    return {f"t{j}": (rng.normal(size=(n, p)) + j, rng.normal(size=(n, *targets))) for j, n in enumerate(shapes)}


def learned(data, kind="by_task", weight=None, **settings):
    model = GeneralizedRidge(information=kind, **settings)
    for name, (X, y) in data.items():
        scale = 1.0 if weight is None else weight.get(name, 1.0)
        if scale > 0.0:
            model.partial_fit(X, y, np.full(len(y), scale), task=name)
    return model


def assert_same(one, two, tolerance=1e-10):
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(one.intercept_, two.intercept_, rtol=tolerance, atol=tolerance)
    assert (one.n_tasks_, one.n_samples_seen_) == (two.n_tasks_, two.n_samples_seen_)
    assert one.information_.ids == two.information_.ids
    first, second = retrospect.summary(one), retrospect.summary(two)
    for name in ("standard_errors", "noise_variance", "log_likelihood", "degrees_of_freedom", "n_samples", "n_tasks"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=tolerance)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
@given(seed=st.integers(0, 10_000))
def test_weights_are_sample_weights(kind, fit_intercept, seed):
    rng = np.random.default_rng(seed)
    data = tasks(rng, targets=(2,))
    asked = {f"t{j}": float(rng.choice([0.0, 0.3, 2.5])) for j in rng.choice(6, 3, replace=False)}
    settings = {"fit_intercept": fit_intercept, "weights": weights.Accumulated(prior=0.7)}
    model = learned(data, kind, **settings)
    before = model.coef_.copy()
    assert_same(retrospect.reweighted(model, asked), learned(data, kind, asked, **settings))
    np.testing.assert_array_equal(model.coef_, before)
    assert model.n_tasks_ == 6


def test_a_wrong_weight_is_seen(rng):
    data = tasks(rng)
    with pytest.raises(AssertionError):
        assert_same(retrospect.reweighted(learned(data), {"t1": 2.0}), learned(data, weight={"t1": 2.001}))


def test_the_last_tasks(rng):
    data = tasks(rng)
    last = {name: data[name] for name in ("t4", "t5")}
    assert_same(retrospect.reweighted(learned(data), last=2), learned(last))
    assert_same(retrospect.reweighted(learned(data), last=6), learned(data))


@pytest.mark.parametrize("decay", [0.9, 0.5, 1.0])
def test_decay_is_that_of_the_policy(rng, decay):
    data = tasks(rng)
    found = retrospect.reweighted(learned(data), decay=decay)
    fading = GeneralizedRidge(weights.Accumulated(decay=decay))
    for X, y in data.values():
        fading.partial_fit(X, y)
    np.testing.assert_allclose(found.coef_, fading.coef_, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.intercept_, fading.intercept_, rtol=1e-10, atol=1e-10)
    expected = learned(data, weight={f"t{j}": decay ** (5 - j) for j in range(6)})
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-10, atol=1e-10)
    assert found.information_.ids == expected.information_.ids
    assert (found.n_tasks_, found.n_samples_seen_) == (expected.n_tasks_, expected.n_samples_seen_)


def test_it_continues_to_learn_and_can_be_asked_again(rng):
    data = tasks(rng)
    rest = {name: rows for name, rows in data.items() if name != "t5"}
    model = retrospect.reweighted(learned(rest), {"t0": 0.5})
    assert_same(model.partial_fit(*data["t5"], task="t5"), learned(data, weight={"t0": 0.5}))
    assert_same(retrospect.reweighted(model, {"t0": 2.0}), learned(data))
    assert model.get_params()["information"] == "by_task"


def test_names_of_columns_stay(rng):
    X = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])
    model = GeneralizedRidge(information="by_task").fit(X, X["a"], tasks=np.repeat([2019, 2020], 10))
    assert list(retrospect.reweighted(model, {2019: 0}).feature_names_in_) == ["a", "b"]
    assert retrospect.reweighted(model, {np.int64(2019): 0}).information_.ids == ("2020",)


def test_clusters_stay(rng):
    X, y, labels = rng.normal(size=(20, 2)), rng.normal(size=20), np.repeat(["a", "b"], 10)
    model = GeneralizedRidge(information="by_task").fit(X, y, tasks=labels, clusters=np.arange(20) // 5)
    found = retrospect.reweighted(model, {"a": 0.25}).information_
    assert list(found.clusters()) == ["0", "1", "2", "3"]
    assert found.clusters()["0"].total_weight == 1.25


def test_frequencies_count_observations(rng):
    """A task observed twice is a task whose rows are there twice; part of an observation is refused."""
    data = tasks(rng)
    found = retrospect.reweighted(learned(data, weight_kind="frequency"), {"t1": 2, "t2": 0})
    twice = {**data, "t1": (np.vstack([data["t1"][0]] * 2), np.concatenate([data["t1"][1]] * 2))}
    twice.pop("t2")
    assert_same(found, learned(twice))
    assert_same(found, learned(data, weight={"t1": 2, "t2": 0}, weight_kind="frequency"))
    precise = retrospect.summary(retrospect.reweighted(learned(data), {"t1": 2, "t2": 0}))
    assert precise.degrees_of_freedom < retrospect.summary(found).degrees_of_freedom
    for settings in ({"weights": {"t1": 0.5}}, {"decay": 0.9}):
        with pytest.raises(InvalidParameterError, match="must be a whole number"):
            retrospect.reweighted(learned(data, weight_kind="frequency"), **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "none of them"),
        ({"last": 1, "decay": 0.5}, "got last and decay"),
        ({"last": 0}, "from 1 to 6"),
        ({"last": 7}, "from 1 to 6"),
        ({"decay": 0.0}, "above 0 and at most 1"),
        ({"decay": 1.1}, "above 0 and at most 1"),
        ({"decay": "a"}, "decay"),
        ({"weights": {}}, "map task ids"),
        ({"weights": [1.0]}, "map task ids"),
        ({"weights": {"t9": 1.0}}, "names unknown tasks: 't9'; the tasks are 't0'"),
        ({"weights": {"t1": -1.0}}, "weight of task 't1'"),
        ({"weights": {"t1": np.nan}}, "weight of task 't1'"),
        ({"weights": {f"t{j}": 0.0 for j in range(6)}}, "nothing would remain"),
    ],
)
def test_refusals(rng, settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        retrospect.reweighted(learned(tasks(rng)), **settings)


def test_a_task_named_twice_or_a_model_without_tasks_is_refused(rng):
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    model = GeneralizedRidge(information="by_task").fit(X, y, tasks=np.arange(20) // 10)
    with pytest.raises(InvalidParameterError, match="more than once"):
        retrospect.reweighted(model, {0: 1.0, "0": 2.0})
    with pytest.raises(InvalidParameterError, match="keeps only their total"):
        retrospect.reweighted(from_arrays(X, y), last=1)


def test_weights_too_small_to_count(rng):
    """Squares would underflow: such tasks are left out by a decay, and refused by name."""
    data = tasks(rng)
    assert retrospect.reweighted(learned(data), decay=1e-60).information_.ids == ("t3", "t4", "t5")
    with pytest.raises(InvalidParameterError, match="weight of task 't1'"):
        retrospect.reweighted(learned(data), {"t1": 1e-160})


@pytest.mark.parametrize("kind", ["precision", "frequency"])
def test_fourth_moments_are_weighted_too(rng, kind):
    X, y, weight = rng.normal(size=(60, 2)), rng.normal(size=60), rng.integers(1, 4, size=60)
    labels = np.repeat(["a", "b", "c"], 20)
    setting = ByTask(fourth_moments=True)
    model = GeneralizedRidge(information=setting, weight_kind=kind).fit(X, y, weight, labels)
    expected = GeneralizedRidge(information=setting, weight_kind=kind)
    expected.fit(X, y, np.where(labels == "b", 2 * weight, weight), labels)
    found = retrospect.heteroscedastic(retrospect.reweighted(model, {"b": 2})).standard_errors
    np.testing.assert_allclose(found, retrospect.heteroscedastic(expected).standard_errors, rtol=1e-9)
