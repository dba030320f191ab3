"""One coefficient over tasks: against the formulas on plain numbers, statsmodels, and a search for τ²."""

import numpy as np
import pytest
import statsmodels.api as sm
from grouped import drawn, learned_by_task
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects

from ridgeway import retrospect
from ridgeway.errors import FeatureMismatchError, InferenceError
from ridgeway.retrospect._meta_analysis import Combined, between_variance


def estimates_on_rows(X, y, labels, weight, tasks, feature):
    fits = [
        sm.WLS(
            y[labels == int(task)], sm.add_constant(X[labels == int(task)]), weights=weight[labels == int(task)]
        ).fit()
        for task in tasks
    ]
    return np.array([fit.params[1 + feature] for fit in fits]), np.array([fit.bse[1 + feature] for fit in fits]), fits


def test_each_task_and_both_kinds_of_pooling(rng):
    X, Y, labels, weight = drawn(rng, targets=2, least=6)
    ours = retrospect.meta_analysis(learned_by_task(X, Y, labels, weight), 0, level=0.9)
    k = len(ours.tasks)
    for target in range(2):
        coef, errors, fits = estimates_on_rows(X, Y[:, target], labels, weight, ours.tasks, 0)
        np.testing.assert_allclose(ours.coef[target], coef, rtol=1e-9)
        np.testing.assert_allclose(ours.standard_errors[target], errors, rtol=1e-9)
        np.testing.assert_allclose(ours.intervals[target], [fit.conf_int(0.1)[1] for fit in fits], rtol=1e-9)
        tau = ours.between_variance[target]
        theirs = combine_effects(coef, errors**2, method_re="iterated", alpha=0.1)
        np.testing.assert_allclose(ours.fixed[target], theirs.mean_effect_fe, rtol=1e-9)
        np.testing.assert_allclose(ours.fixed_error[target], theirs.sd_eff_w_fe, rtol=1e-9)
        np.testing.assert_allclose(ours.fixed_interval[target], theirs.conf_int(0.1)[0], rtol=1e-9)
        np.testing.assert_allclose(ours.q[target], theirs.q, rtol=1e-9)
        np.testing.assert_allclose(ours.p_value[target], stats.chi2.sf(theirs.q, k - 1), rtol=1e-7)
        np.testing.assert_allclose(ours.i_squared[target], max(theirs.i2, 0.0), rtol=1e-9)
        np.testing.assert_allclose(ours.h_squared[target], theirs.h2, rtol=1e-9)
        share = 1.0 / (errors**2 + tau)
        mean, error = share @ coef / share.sum(), 1.0 / np.sqrt(share.sum())
        np.testing.assert_allclose([ours.random[target], ours.random_error[target]], [mean, error], rtol=1e-9)
        half = stats.norm.ppf(0.95) * error
        np.testing.assert_allclose(ours.random_interval[target], [mean - half, mean + half], rtol=1e-9)
        half = stats.t.ppf(0.95, k - 2) * np.sqrt(tau + error**2)
        np.testing.assert_allclose(ours.prediction_interval[target], [mean - half, mean + half], rtol=1e-9)


def deviance(tau, estimates, variances):
    """Return −2 times the restricted likelihood, by its definition: the density of contrasts of the estimates."""
    k = len(estimates)
    contrasts = np.linalg.svd(np.ones((k, 1)))[0][:, 1:].T
    covariance = contrasts @ np.diag(variances + tau) @ contrasts.T
    return -2.0 * stats.multivariate_normal(np.zeros(k - 1), covariance).logpdf(contrasts @ estimates)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 9), st.sampled_from([0.0, 0.3, 3.0, 100.0]))
def test_no_other_variance_is_likelier(seed, k, spread):
    rng = np.random.default_rng(seed)
    variances = rng.uniform(0.1, 3.0, size=k) ** 2
    estimates = spread * rng.normal(size=k) + np.sqrt(variances) * rng.normal(size=k)
    found = between_variance(estimates, variances)
    best = deviance(found, estimates, variances)
    for other in (0.0, *np.geomspace(1e-4, 1e5, 60), *(found * factor for factor in (0.9, 0.999, 1.001, 1.1))):
        assert deviance(other, estimates, variances) >= best - 1e-9


def test_equal_variances_have_a_closed_form(rng):
    estimates = rng.normal(size=8)
    np.testing.assert_allclose(between_variance(estimates, np.full(8, 0.25)), np.var(estimates, ddof=1) - 0.25)
    assert between_variance(estimates, np.full(8, 9.0)) == 0.0
    same = Combined.of(np.full(4, 2.0), np.sqrt(np.arange(1.0, 5.0)))
    assert (same.fixed, same.q, same.p_value, same.i_squared, same.between_variance) == (2.0, 0.0, 1.0, 0.0, 0.0)


def test_tasks_that_do_not_determine_it(rng):
    X, y, labels, weight = drawn(rng, p=2, least=6)
    X[labels == 1, 0] = 4.0  # constant there
    few = np.flatnonzero(labels == 2)[3:]
    X, y, labels, weight = (np.delete(each, few, axis=0) for each in (X, y, labels, weight))
    y[labels == 3] = X[labels == 3] @ [1.0, 2.0]  # no noise
    ours = retrospect.meta_analysis(learned_by_task(X, y, labels, weight), 0)
    left_out = {"1", "2"} | ({"3"} & set(ours.left_out))
    assert set(ours.left_out) == left_out
    assert set(ours.tasks) == {str(g) for g in np.unique(labels)} - left_out
    assert "Left out" in str(ours)
    assert all(name in str(ours) for name in ours.left_out)


def test_two_tasks_predict_nothing(rng):
    X, y, labels, weight = drawn(rng, n_tasks=2, least=8)
    ours = retrospect.meta_analysis(learned_by_task(X, y, labels, weight), 1)
    np.testing.assert_array_equal(ours.prediction_interval, [-np.inf, np.inf])
    assert "(a further task)" in str(ours)


def test_refused(rng):
    X, y, labels, _ = drawn(rng)
    with pytest.raises(FeatureMismatchError, match="feature that this model has not learned: 'age'"):
        retrospect.meta_analysis(learned_by_task(X, y, labels), "age")
    with pytest.raises(InferenceError, match=r"too few tasks determine .*; got 1, and at least 2"):
        retrospect.meta_analysis(learned_by_task(X, y, 0 * labels), 0)


def test_few_degrees_of_freedom_are_said(rng):
    X, y, labels, _ = drawn(rng, least=6, most=12)
    assert "degrees of freedom: Q rejects too often" in str(retrospect.meta_analysis(learned_by_task(X, y, labels), 0))
    X, y, labels, _ = drawn(rng, least=30, most=40)
    assert "rejects" not in str(retrospect.meta_analysis(learned_by_task(X, y, labels), 0))


@pytest.mark.parametrize(("freedom", "rejected", "covered"), [(10, 0.19, 0.88), (40, 0.075, 0.935)])
def test_how_few_is_too_few(freedom, rejected, covered):
    """The figures of docs/differing-tasks.md: 20 tasks that agree, at the level of 5 %."""
    rng = np.random.default_rng(4)
    found = []
    for _ in range(1500):
        pooled = Combined.of(rng.normal(size=20), np.sqrt(rng.chisquare(freedom, size=20) / freedom))
        found.append([pooled.p_value < 0.05, abs(pooled.fixed) < 1.96 * pooled.fixed_error])
    np.testing.assert_allclose(np.mean(found, axis=0), [rejected, covered], atol=0.03)
