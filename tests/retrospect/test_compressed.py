"""Tasks as a few rows each: the same products as their rows."""

import numpy as np
import pytest

from ridgeway import GeneralizedRidge, weights
from ridgeway.errors import InferenceError, InvalidParameterError
from ridgeway.information import ByTask, Moments
from ridgeway.retrospect._compressed import compressed, without_prior


@pytest.mark.parametrize("kind", ["by_task", ByTask(Moments)], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_products_are_those_of_the_rows(rng, kind, fit_intercept):
    X, Y, weight = rng.normal(size=(50, 3)) + 4.0, rng.normal(size=(50, 2)), rng.uniform(0.5, 2, size=50)
    labels = rng.integers(0, 4, size=50)
    model = GeneralizedRidge(information=kind, fit_intercept=fit_intercept).fit(X, Y, weight, labels)
    found = compressed(model)
    center = np.average(np.hstack([X, Y]), axis=0, weights=weight) if fit_intercept else np.zeros(5)
    np.testing.assert_allclose(found.center, center, atol=1e-13)
    rows = np.hstack([X, Y]) - center
    if fit_intercept:
        rows = np.insert(rows, 0, 1.0, axis=1)
    for name, few in zip(found.names, found.rows, strict=True):
        mine = labels == int(name)
        np.testing.assert_allclose(few.T @ few, (rows[mine].T * weight[mine]) @ rows[mine], atol=1e-12)
    np.testing.assert_array_equal(found.n_samples, [np.sum(labels == int(name)) for name in found.names])
    assert found.terms == (("intercept",) if fit_intercept else ()) + ("x0", "x1", "x2")
    stacked = found.rows.reshape(-1, found.rows.shape[2])
    coef = np.linalg.lstsq(stacked[:, : len(found.terms)], stacked[:, len(found.terms) :], rcond=None)[0]
    whole = found.uncentered(coef)
    np.testing.assert_allclose(whole[-3:], model.coef_.T, atol=1e-11)
    if fit_intercept:
        np.testing.assert_allclose(whole[0], model.intercept_, atol=1e-11)
    np.testing.assert_allclose(found.uncentered(coef) - found.uncentered(0 * coef), found.back() @ coef, atol=1e-12)


def test_an_offset_costs_no_digits(rng):
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    labels = np.repeat([0, 1], 20)
    near = compressed(GeneralizedRidge(information="by_task").fit(X, y, tasks=labels))
    far = compressed(GeneralizedRidge(information="by_task").fit(X + 2.0**30, y, tasks=labels))
    np.testing.assert_allclose(far.rows[0].T @ far.rows[0], near.rows[0].T @ near.rows[0], atol=1e-5)


def test_models_without_tasks_are_refused(rng):
    X, y = rng.normal(size=(10, 2)), rng.normal(size=10)
    with pytest.raises(InvalidParameterError, match="keeps only their total"):
        compressed(GeneralizedRidge().fit(X, y))
    with pytest.raises(InferenceError, match="about least squares"):
        without_prior(GeneralizedRidge(weights.Accumulated(prior=1.0)).fit(X, y), "a question")
    without_prior(GeneralizedRidge().fit(X, y), "a question")
