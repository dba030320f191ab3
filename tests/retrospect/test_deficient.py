"""States of deficient rank: what is estimable answers, the rest says why not."""

import numpy as np
import pytest
from states import learned

from ridgeway import retrospect
from ridgeway.errors import InferenceError
from ridgeway.weights import Accumulated

pytestmark = pytest.mark.filterwarnings("ignore:the columns learned are collinear")
KINDS = ["square_root", "moments"]


@pytest.fixture
def rows(rng):
    """Columns 1 and 3 are the same, 4 is constant."""
    X = rng.normal(size=(40, 5)) * 10.0 ** rng.uniform(-2, 2, size=5) + 3.0
    X[:, 3], X[:, 4] = X[:, 1], 2.0
    return X, X[:, 0] - X[:, 1] + rng.normal(size=40)


@pytest.mark.parametrize("kind", KINDS)
def test_coefficients_that_are_determined_are_those_of_the_model_without_the_others(rows, kind):
    X, y = rows
    found = retrospect.summary(learned(X, y, information=kind))
    whole = retrospect.summary(learned(X[:, :3], y, information=kind))
    assert found.not_estimable == ("intercept", "x1", "x3", "x4")
    assert found.degrees_of_freedom == whole.degrees_of_freedom
    for j in (1, 3):
        np.testing.assert_allclose(found.coef[j], whole.coef[j], rtol=1e-7)
        np.testing.assert_allclose(found.standard_errors[j], whole.standard_errors[j], rtol=1e-7)
    assert np.isinf(found.standard_errors[[0, 2, 4, 5]]).all()
    np.testing.assert_allclose([found.r_squared, found.aic], [whole.r_squared, whole.aic], rtol=1e-7)
    assert "do not determine: intercept, x1, x3, x4" in str(found)


def test_without_noise_a_hypothesis_that_differs_at_all_is_refuted(rng):
    model = learned(rng.normal(size=(20, 2)), np.zeros(20))
    false, true = (retrospect.contrast(model, np.eye(2), d) for d in (1e-9, 0.0))
    assert (false.f, false.p_value) == (np.inf, 0.0)
    assert np.isnan([true.f, true.p_value]).all()


def test_the_unit_of_the_weights_does_not_change_the_rank(rng):
    """Weights are relative: the same answers in a unit 1e18 times as small, though the columns are far from 0."""
    X, y = rng.normal(size=(20, 2)) + 1e6, rng.normal(size=20)
    found, want = (retrospect.summary(learned(X, y, np.full(20, unit))) for unit in (1e18, 1.0))
    assert found.degrees_of_freedom == want.degrees_of_freedom == 17
    np.testing.assert_allclose(found.standard_errors, want.standard_errors, rtol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 / 3.0])
def test_a_constant_target_has_no_r_squared(rng, kind, value):
    X, weight = rng.normal(size=(40, 2)) + 3.0, rng.uniform(0.5, 2.0, size=40)
    y = np.column_stack([np.full(40, value), X[:, 0] + rng.normal(size=40)])
    found = retrospect.summary(learned(X, y, weight, information=kind))
    assert np.isnan(found.r_squared).tolist() == [True, False]
    first, second = str(found).split("target 1: ")
    assert "target 0: R² undefined (the target is constant), noise variance " in first
    assert not {"nan", "-inf"} & set(f"{first}{second}".replace(",", " ").split())
    assert second.startswith(f"R² {found.r_squared[1]:.4g}, ")
    assert not np.isnan(retrospect.summary(learned(X, y[:, 1] * 1e-9 + 1.0, information=kind)).r_squared)


def test_a_constant_target_and_columns_that_are_not_determined(rows):
    found = retrospect.summary(learned(rows[0], np.ones(40)))
    assert found.not_estimable == ("intercept", "x1", "x3", "x4")
    assert np.isinf(found.standard_errors[[0, 2, 4, 5]]).all()
    assert (found.standard_errors[[1, 3]] == 0.0).all()


def test_rows_that_are_met_exactly():
    found = retrospect.summary(learned(np.eye(3), np.zeros(3), fit_intercept=False, weights=Accumulated(prior=1.0)))
    assert found.aic == -np.inf
    assert "AIC and BIC undefined (every row is fitted exactly)" in str(found)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_that_are_determined(rows, kind):
    X, y = rows
    model, whole = learned(X, y, information=kind), learned(X[:, :3], y, information=kind)
    ours = retrospect.contrast(model, [[0, 1.0, 0, 1.0, 0]])
    theirs = retrospect.contrast(whole, [[0, 1.0, 0]])
    np.testing.assert_allclose([ours.f, *ours.estimate], [theirs.f, *theirs.estimate], rtol=1e-7)
    with pytest.raises(InferenceError, match=r"hypotheses \[1\]"):
        retrospect.contrast(model, [[1.0, 0, 0, 0, 0], [0, 1.0, 0, 0, 0]])


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_where_something_is_known(rows, kind):
    X, y = rows
    model, whole = learned(X, y, information=kind), learned(X[:, :3], y, information=kind)
    ours, theirs = retrospect.intervals(model, X[:4]), retrospect.intervals(whole, X[:4, :3])
    np.testing.assert_allclose(ours.lower, theirs.lower, rtol=1e-6)
    apart = X[:1] + np.array([0, 1.0, 0, 0, 0])
    assert np.isinf(retrospect.intervals(model, apart).upper).all()
    assert np.isinf(model.predict(apart, return_std=True)[1]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_submodels_of_what_is_determined(rows, kind):
    X, y = rows
    smaller = retrospect.submodel(learned(X, y, information=kind), [3, 0])
    assert not retrospect.summary(smaller).not_estimable
    np.testing.assert_allclose(smaller.coef_, learned(X[:, [3, 0]], y, information=kind).coef_, rtol=1e-7)


def test_fewer_rows_than_features(rng):
    X, y = rng.normal(size=(6, 9)), rng.normal(size=6)
    model = learned(X, y, fit_intercept=False, n_tasks=1)
    with pytest.raises(InferenceError):
        retrospect.summary(model)
    found = retrospect.summary(retrospect.submodel(model, [1, 5]))
    assert found.degrees_of_freedom == 4
