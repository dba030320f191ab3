"""Coefficients over time: each step is least squares on the tasks of that step alone."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from ridgeway import GeneralizedRidge, retrospect, weights
from ridgeway.errors import InferenceError, InvalidParameterError
from ridgeway.information import ByTask, Moments

KINDS = ["by_task", ByTask(Moments)]


def rows(rng, n_tasks=6, p=3, n=9, targets=()):
    labels = np.repeat([f"t{j}" for j in range(n_tasks)], n)
    X = rng.normal(size=(len(labels), p)) + 3.0
    return X, X.sum(axis=1).reshape(-1, *[1 for _ in targets]) + rng.normal(size=(len(labels), *targets)), labels


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("window", [None, 1, 3])
def test_each_step_is_that_of_statsmodels_on_its_rows(rng, kind, window):
    X, y, labels = rows(rng)
    weight = rng.uniform(0.5, 2.0, size=len(y))
    model = GeneralizedRidge(information=kind).fit(X, y, weight, tasks=labels)
    path = retrospect.coefficient_path(model, window=window, level=0.9)
    assert path.tasks == tuple(f"t{j}" for j in range((window or 1) - 1, 6))
    for step, task in enumerate(path.tasks):
        last = int(task[1:])
        first = 0 if window is None else last - window + 1
        mine = (labels >= f"t{first}") & (labels <= task)
        fit = sm.WLS(y[mine], sm.add_constant(X[mine], has_constant="add"), weights=weight[mine]).fit()
        np.testing.assert_allclose(path.coef[step], fit.params, rtol=1e-8)
        np.testing.assert_allclose(path.standard_errors[step], fit.bse, rtol=1e-8)
        np.testing.assert_allclose(path.intervals[step], fit.conf_int(0.1), rtol=1e-8, atol=1e-8)
        assert (path.n_samples[step], path.degrees_of_freedom[step]) == (mine.sum(), fit.df_resid)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_each_step_is_the_summary_of_its_tasks(rng, fit_intercept):
    X, y, labels = rows(rng, targets=(2,))
    model = GeneralizedRidge(information="by_task", fit_intercept=fit_intercept).fit(X, y, tasks=labels)
    order = ["t3", "t0", "t5", "t1", "t2", "t4"]
    path = retrospect.coefficient_path(model, order=order)
    for step in range(6):
        mine = np.isin(labels, order[: step + 1])
        found = retrospect.summary(GeneralizedRidge(fit_intercept=fit_intercept).fit(X[mine], y[mine]))
        assert path.terms == found.terms
        np.testing.assert_allclose(path.coef[:, step], found.coef, rtol=1e-9)
        np.testing.assert_allclose(path.standard_errors[:, step], found.standard_errors, rtol=1e-9)
        np.testing.assert_allclose(path.intervals[:, step], found.intervals, rtol=1e-9)
    frame = path.to_frame()
    assert frame.loc[(1, "t0", path.terms[-1]), "coef"] == path.coef[1, 1, -1]


def test_tasks_that_do_not_determine_a_coefficient(rng):
    """x2 is 0 in the first two tasks, and the first task has two rows: NaN with an infinite error, not a number."""
    X, y, labels = rows(rng, 4)
    X[labels < "t2", 2] = 0.0
    kept = ~((labels == "t0") & (np.arange(len(y)) > 1))
    model = GeneralizedRidge(information="by_task").fit(X[kept], y[kept], tasks=labels[kept])
    path = retrospect.coefficient_path(model)
    np.testing.assert_array_equal(np.isnan(path.coef), [[True] * 4, [False] * 3 + [True], [False] * 4, [False] * 4])
    assert np.isinf(path.standard_errors[0]).all()
    np.testing.assert_array_equal(np.isinf(path.standard_errors[1]), [False, False, False, True])
    np.testing.assert_array_equal(path.intervals[1, 3], [-np.inf, np.inf])
    assert path.degrees_of_freedom[0] == 0
    assert "– (inf)" in str(path)


def test_rows_that_fit_exactly_have_coefficients_and_no_errors(rng):
    X, y, labels = rows(rng, 2, p=2, n=3)
    path = retrospect.coefficient_path(GeneralizedRidge(information="by_task").fit(X, y, tasks=labels))
    np.testing.assert_allclose(path.coef[0], np.linalg.solve(np.insert(X[:3], 0, 1.0, axis=1), y[:3]), rtol=1e-9)
    assert np.isinf(path.standard_errors[0]).all()
    assert np.isinf(path.intervals[0]).all()
    assert np.isfinite(path.standard_errors[1]).all()


def test_one_degree_of_freedom_is_enough(rng):
    X, y, labels = rows(rng, 2, p=1, n=3)
    path = retrospect.coefficient_path(GeneralizedRidge(information="by_task").fit(X, y, tasks=labels))
    assert path.degrees_of_freedom[0] == 1
    np.testing.assert_allclose(path.standard_errors[0], sm.OLS(y[:3], sm.add_constant(X[:3])).fit().bse, rtol=1e-9)


def test_it_prints(rng):
    X, y, labels = rows(rng)
    frame = pd.DataFrame(X, columns=["a", "<b>", "c"])
    path = retrospect.coefficient_path(GeneralizedRidge(information="by_task").fit(frame, y, tasks=labels), window=2)
    assert str(path).startswith("Coefficients over each 2 consecutive tasks: 5 steps")
    assert f"{path.coef[0, 1]:.4g} ({path.standard_errors[0, 1]:.2g})" in str(path)
    assert path.assumption in str(path)
    assert "&lt;b&gt;" in path._repr_html_()
    assert path.to_frame().loc[("t5", "c"), "upper"] == path.intervals[-1, 3, 1]
    two = GeneralizedRidge(information="by_task").fit(frame, np.column_stack([y, y]), tasks=labels)
    assert "target 1" in str(retrospect.coefficient_path(two))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window": 0}, "from 1 to 6"),
        ({"window": 7}, "from 1 to 6"),
        ({"order": ["t0", "t1"]}, "leaves out 't2'"),
        ({"order": "t0"}, "list of all task ids"),
        ({"order": 3}, "list of all task ids"),
        ({"order": ["t0"] * 6}, "more than once"),
        ({"order": ["u"]}, "names unknown tasks: 'u'"),
        ({"level": 95}, r"0\.95"),
    ],
)
def test_refusals(rng, settings, message):
    X, y, labels = rows(rng)
    with pytest.raises(InvalidParameterError, match=message):
        retrospect.coefficient_path(GeneralizedRidge(information="by_task").fit(X, y, tasks=labels), **settings)


def test_a_prior_or_a_model_without_tasks_is_refused(rng):
    X, y, labels = rows(rng)
    with pytest.raises(InferenceError, match="a coefficient path is about least squares"):
        retrospect.coefficient_path(
            GeneralizedRidge(weights.Accumulated(1.0), information="by_task").fit(X, y, tasks=labels)
        )
    with pytest.raises(InvalidParameterError, match="keeps only their total"):
        retrospect.coefficient_path(GeneralizedRidge().fit(X, y, tasks=labels))
