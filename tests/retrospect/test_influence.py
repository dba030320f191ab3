"""Leave one task out: the same as removing it, and as least squares on the other rows."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.outliers_influence import OLSInfluence

from ridgeway import GeneralizedRidge, retrospect, weights
from ridgeway.errors import InferenceError
from ridgeway.information import ByTask, Moments

KINDS = ["by_task", ByTask(Moments)]


def rows(rng, n_tasks=5, p=3, n=8, targets=()):
    labels = np.repeat([f"t{j}" for j in range(n_tasks)], n)
    X = rng.normal(size=(len(labels), p)) + 3.0
    return X, rng.normal(size=(len(labels), *targets)) + X[:, :1].reshape(-1, *[1 for _ in targets]), labels


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
@given(seed=st.integers(0, 10_000), n_tasks=st.integers(2, 6))
def test_it_is_what_removal_gives(kind, fit_intercept, seed, n_tasks):
    rng = np.random.default_rng(seed)
    X, y, labels = rows(rng, n_tasks, targets=(2,))
    model = GeneralizedRidge(information=kind, fit_intercept=fit_intercept).fit(X, y, tasks=labels)
    found, whole = retrospect.influence(model), retrospect.summary(model)
    np.testing.assert_allclose(found.coef, whole.coef, rtol=1e-12)
    for j, task in enumerate(found.tasks):
        rest = retrospect.summary(model.remove(task=task))
        np.testing.assert_allclose(found.coef_without[:, j], rest.coef, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.change[:, j], whole.coef - rest.coef, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.standard_errors_without[:, j], rest.standard_errors, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_tasks_of_one_row_are_the_rows_of_statsmodels(rng, kind):
    """Then the standardised change is DFBETAS, and the distance Cook's."""
    X, y = rng.normal(size=(25, 3)) + 2.0, rng.normal(size=25)
    fit = sm.OLS(y, sm.add_constant(X)).fit()
    found = retrospect.influence(GeneralizedRidge(information=kind).fit(X, y, tasks=np.arange(25)))
    expected = OLSInfluence(fit)
    np.testing.assert_allclose(found.standardized_change, expected.dfbetas, rtol=1e-7)
    np.testing.assert_allclose(found.distance, expected.cooks_distance[0], rtol=1e-7)
    np.testing.assert_allclose(found.change, expected.dfbeta, rtol=1e-7, atol=1e-10)
    assert not np.allclose(found.standardized_change, found.change / fit.bse, rtol=1e-3)  # the noise of all rows


def test_the_distance_is_that_of_the_fitted_values(rng):
    X, y, labels = rows(rng)
    weight = rng.uniform(0.5, 2.0, size=len(y))
    found = retrospect.influence(GeneralizedRidge(information="by_task").fit(X, y, weight, tasks=labels))
    A = np.insert(X, 0, 1.0, axis=1)
    fit = sm.WLS(y, A, weights=weight).fit()
    for j, task in enumerate(found.tasks):
        mine = labels != task
        rest = sm.WLS(y[mine], A[mine], weights=weight[mine]).fit()
        distance = weight @ np.square(A @ (fit.params - rest.params)) / (4 * fit.scale)
        np.testing.assert_allclose(found.distance[j], distance, rtol=1e-9)
        scales = np.sqrt(rest.scale * np.diag(fit.normalized_cov_params))
        np.testing.assert_allclose(found.standardized_change[j], (fit.params - rest.params) / scales, rtol=1e-8)


def test_a_large_offset_costs_few_digits(rng):
    X, y, labels = rows(rng)
    near = retrospect.influence(GeneralizedRidge(information="by_task").fit(X, y, tasks=labels))
    far = retrospect.influence(GeneralizedRidge(information="by_task").fit(X + 2.0**20, y + 2.0**20, tasks=labels))
    np.testing.assert_allclose(far.distance, near.distance, rtol=1e-8)


def test_a_task_that_alone_determines_a_coefficient(rng):
    X, y, labels = rows(rng)
    X[labels != "t2", 1] = 3.0
    found = retrospect.influence(GeneralizedRidge(information="by_task").fit(X, y, tasks=labels))
    assert found.undetermined == ("t2",)
    np.testing.assert_array_equal(np.isnan(found.coef_without[2]), [True, False, True, False])
    np.testing.assert_array_equal(np.isinf(found.standard_errors_without[2]), [True, False, True, False])
    assert np.isnan(found.distance).tolist() == [False, False, True, False, False]
    assert np.isfinite(np.delete(found.standardized_change, 2, axis=0)).all()
    assert "Without 't2'" in str(found)
    assert "Without &#x27;t2&#x27;" in found._repr_html_()


def test_columns_that_no_task_determines(rng):
    X, y, labels = rows(rng)
    X[:, 1] = 2.0 * X[:, 0]
    found = retrospect.influence(GeneralizedRidge(information="by_task").fit(X, y, tasks=labels))
    assert found.undetermined == ()
    assert np.isnan(found.change[:, 1:3]).all()
    one = retrospect.influence(GeneralizedRidge(information="by_task").fit(X[:, [0, 2]], y, tasks=labels))
    np.testing.assert_allclose(found.distance, one.distance, rtol=1e-8)
    np.testing.assert_allclose(found.change[:, [0, 3]], one.change[:, [0, 2]], rtol=1e-7, atol=1e-12)


def test_no_degrees_of_freedom_without_a_task(rng):
    X, y, labels = rows(rng, 2, p=2, n=3)
    found = retrospect.influence(GeneralizedRidge(information="by_task").fit(X, y, tasks=labels))
    assert np.isfinite(found.change).all()
    assert np.isinf(found.standard_errors_without).all()
    assert np.isnan(found.standardized_change).all()
    assert np.isfinite(found.distance).all()


def test_it_prints_and_is_a_frame(rng):
    X, y, labels = rows(rng)
    y[labels == "t3"] += 9.0
    found = retrospect.influence(GeneralizedRidge(information="by_task").fit(X, y, tasks=labels))
    lines = str(found).splitlines()
    assert lines[4].split()[0] == "t3"  # the largest first
    assert lines[4].split()[1:] == [f"{found.distance[3]:.4g}", *(f"{x:.2f}" for x in found.standardized_change[3])]
    frame = found.to_frame()
    assert frame.loc[("t3", "x1"), "change"] == found.change[3, 2]
    assert frame.loc[("t3", "x1"), "distance"] == found.distance[3]
    two = retrospect.influence(
        GeneralizedRidge(information="by_task").fit(X, np.column_stack([y, 2 * y]), tasks=labels)
    )
    np.testing.assert_allclose(two.distance[1], found.distance)
    assert two.to_frame().loc[(1, "t3", "x1"), "change"] == two.change[1, 3, 2]
    assert "target 1" in str(two)


def test_refusals(rng):
    X, y, labels = rows(rng)
    with pytest.raises(InferenceError, match="only one"):
        retrospect.influence(GeneralizedRidge(information="by_task").fit(X, y))
    with pytest.raises(InferenceError, match="influence is about least squares"):
        retrospect.influence(GeneralizedRidge(weights.Accumulated(1.0), information="by_task").fit(X, y, tasks=labels))
