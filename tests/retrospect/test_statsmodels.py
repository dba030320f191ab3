"""What the state answers, beside statsmodels on the pooled rows."""

import sys

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from states import learned, without_rows

from benchmarks.nist import NAMES, load
from ridgeway import GeneralizedRidge, retrospect
from ridgeway.errors import MissingPackageError
from ridgeway.weights import Accumulated

KINDS = ["square_root", "moments"]


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def rows(request, rng):
    X = rng.normal(size=(80, 5)) @ rng.normal(size=(5, 5)) + 10.0 * rng.normal(size=5)
    Y = X @ rng.normal(size=(5, 2)) + rng.normal(size=(80, 2)) + 3.0
    return X, Y, rng.uniform(0.2, 4.0, size=80) if request.param else None


def peer(X, y, weight, intercept):
    design = sm.add_constant(X, has_constant="add") if intercept else X
    return sm.OLS(y, design).fit() if weight is None else sm.WLS(y, design, weights=weight).fit()


def close(ours, theirs, tolerance=1e-8):
    np.testing.assert_allclose(ours, theirs, rtol=tolerance)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_summary(rows, kind, intercept):
    X, Y, weight = rows
    model = learned(X, Y, weight, information=kind, fit_intercept=intercept)
    ours = retrospect.summary(model, level=0.9)
    for k in range(2):
        theirs = peer(X, Y[:, k], weight, intercept)
        close(ours.coef[k], theirs.params)
        close(ours.standard_errors[k], theirs.bse)
        close(ours.t[k], theirs.tvalues)
        close(ours.p_values[k], theirs.pvalues, 1e-6)  # tiny ones magnify the rounding of t
        close(ours.intervals[k], theirs.conf_int(0.1))
        close(ours.noise_variance[k], theirs.scale)
        close(ours.r_squared[k], theirs.rsquared)
        close(ours.log_likelihood[k], theirs.llf)
        close(ours.aic[k], theirs.aic)
        close(ours.bic[k], theirs.bic)
        assert ours.degrees_of_freedom == theirs.df_resid


def test_comparing_with_statsmodels_can_fail(rows):
    X, Y, weight = rows
    ours = retrospect.summary(learned(X, Y[:, 0], weight))
    with pytest.raises(AssertionError):
        close(ours.standard_errors, peer(X, Y[:, 0], weight, intercept=True).bse * (1 + 1e-7))
    with pytest.raises(AssertionError):  # one row's weight counts in the standard errors
        close(ours.standard_errors, peer(X, Y[:, 0], np.r_[1.01, np.ones(79)], intercept=True).bse)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_and_predictive_deviations(rows, kind, intercept, rng):
    X, Y, weight = rows
    model = learned(X, Y[:, 0], weight, information=kind, fit_intercept=intercept)
    new = rng.normal(size=(7, 5))
    design = sm.add_constant(new, has_constant="add") if intercept else new
    theirs = peer(X, Y[:, 0], weight, intercept).get_prediction(design)
    frame = theirs.summary_frame(alpha=0.1)
    ours = retrospect.intervals(model, new, level=0.9)
    close(ours.prediction, frame["mean"])
    close(ours.lower, frame["obs_ci_lower"])
    close(ours.upper, frame["obs_ci_upper"])
    close(ours.mean_lower, frame["mean_ci_lower"])
    close(ours.mean_upper, frame["mean_ci_upper"])
    predicted, deviation = model.predict(new, return_std=True)
    close(predicted, frame["mean"])
    close(deviation, theirs.se_obs)
    np.testing.assert_array_equal(predicted, model.predict(new))


@pytest.mark.parametrize("kind", KINDS)
def test_contrast(rows, kind):
    X, Y, weight = rows
    model = learned(X, Y, weight, information=kind)
    C = np.array([[1.0, -1.0, 0, 0, 0], [0, 1.0, 1.0, 2.0, 0]])
    d = np.array([0.5, -1.0])
    ours = retrospect.contrast(model, C, d)
    assert ours.degrees_of_freedom == (2, 74)
    for k in range(2):
        fit = peer(X, Y[:, k], weight, intercept=True)
        theirs = fit.f_test((np.column_stack([np.zeros(2), C]), d))
        close(ours.f[k], theirs.fvalue)
        close(ours.p_value[k], theirs.pvalue, 1e-6)
        close(ours.standard_errors[k], fit.t_test(np.column_stack([np.zeros(2), C])).sd)
    with_intercept = retrospect.contrast(model, np.r_[1.0, np.zeros(5)])
    close(with_intercept.f, retrospect.summary(model).t[:, 0] ** 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [True, False])
def test_submodel(rows, kind, intercept):
    X, Y, weight = rows
    model = learned(X, Y[:, 0], weight, information=kind, fit_intercept=intercept)
    smaller = retrospect.submodel(model, [3, 0])
    theirs = peer(X[:, [3, 0]], Y[:, 0], weight, intercept)
    ours = retrospect.summary(smaller)
    close(ours.coef, theirs.params)
    close(ours.standard_errors, theirs.bse)
    close(ours.r_squared, theirs.rsquared)
    more = GeneralizedRidge(information=kind, fit_intercept=intercept)
    more.fit(X[:, [3, 0]], Y[:, 0], weight).partial_fit(X[:9, [3, 0]], Y[:9, 0])
    close(smaller.partial_fit(X[:9, [3, 0]], Y[:9, 0]).coef_, more.coef_)


def test_submodel_by_name_keeps_names_prior_and_start(rng):
    X = pd.DataFrame(rng.normal(size=(20, 3)), columns=["a", "b", "c"])
    y = rng.normal(size=20)
    prior = np.array([1.0, 2.0, 3.0])
    start = np.array([0.5, 0.0, -1.0])
    for weights, part in [(Accumulated(prior), prior[[2, 0]]), (Accumulated(np.diag(prior)), np.diag(prior[[2, 0]]))]:
        model = GeneralizedRidge(weights, initial_coef=start).fit(X, y)
        again = GeneralizedRidge(Accumulated(part), initial_coef=start[[2, 0]]).fit(X[["c", "a"]], y)
        smaller = retrospect.submodel(model, ["c", "a"])
        close(smaller.coef_, again.coef_)
        assert list(smaller.feature_names_in_) == ["c", "a"]
        close(smaller.partial_fit(X[["c", "a"]], y).coef_, again.partial_fit(X[["c", "a"]], y).coef_)


@pytest.mark.parametrize("name", NAMES)
def test_nist(name):
    """No fewer digits, counted with rational arithmetic, than statsmodels by QR of the pooled rows."""
    X, y, intercept = load(name)
    exact = exact_inference(X, y, intercept)
    ours = retrospect.summary(learned(X, y, fit_intercept=intercept))
    theirs = sm.OLS(y, sm.add_constant(X) if intercept else X).fit(method="qr")
    with np.errstate(invalid="ignore"):  # on some machines a variance of theirs is negative: they have no answer
        errors = lost(ours.standard_errors, exact["errors"]), lost(theirs.bse, exact["errors"])
    assert errors[0] <= (1e-6 if np.isnan(errors[1]) else max(10.0 * errors[1], 1e-8)), errors
    fit = lost(ours.r_squared, exact["r_squared"]), lost(theirs.rsquared, exact["r_squared"])
    assert fit[0] <= max(10.0 * fit[1], 1e-9), fit


def lost(value, exact):
    """Return the largest error, relative; absolute where the exact value is 0."""
    value, exact = np.atleast_1d(value), np.atleast_1d(exact)
    return float((np.abs(value - exact) / np.where(exact == 0.0, 1.0, np.abs(exact))).max())


def exact_inference(X, y, intercept):
    from fractions import Fraction

    rows = [[Fraction(1)] * intercept + [Fraction(float(v)) for v in row] for row in X]
    targets = [Fraction(float(v)) for v in y]
    p, n = len(rows[0]), len(rows)
    S = [[sum(row[i] * row[j] for row in rows) for j in range(p)] for i in range(p)]
    work = [[*S[i], *(Fraction(int(i == j)) for j in range(p))] for i in range(p)]
    for i in range(p):
        pivot = next(r for r in range(i, p) if work[r][i] != 0)
        work[i], work[pivot] = work[pivot], work[i]
        work[i] = [v / work[i][i] for v in work[i]]
        for r in range(p):
            if r != i and work[r][i] != 0:
                work[r] = [a - work[r][i] * b for a, b in zip(work[r], work[i], strict=True)]
    inverse = [row[p:] for row in work]
    right = [sum(row[i] * t for row, t in zip(rows, targets, strict=True)) for i in range(p)]
    coef = [sum(a * b for a, b in zip(row, right, strict=True)) for row in inverse]
    rss = sum(
        (t - sum(a * b for a, b in zip(row, coef, strict=True))) ** 2 for row, t in zip(rows, targets, strict=True)
    )
    mean = sum(targets) / n if intercept else 0
    total = sum((t - mean) ** 2 for t in targets)
    return {
        "errors": np.sqrt([float(rss / (n - p) * inverse[i][i]) for i in range(p)]),
        "r_squared": float(1 - rss / total),
    }


def test_a_frame_and_a_table(rng):
    X = pd.DataFrame(rng.normal(size=(30, 2)), columns=["age", "bmi"])
    model = without_rows(GeneralizedRidge().fit(X, X["age"] + rng.normal(size=30)))
    found = retrospect.summary(model)
    frame = found.to_frame()
    assert list(frame.index) == ["intercept", "age", "bmi"]
    close(frame["standard_error"], found.standard_errors)
    close(frame[["lower", "upper"]], found.intervals)
    assert "bmi" in str(found)
    assert "P>|t|" in str(found)
    both = retrospect.summary(without_rows(GeneralizedRidge().fit(X, rng.normal(size=(30, 2)))))
    assert both.to_frame().loc[(1, "bmi"), "coef"] == both.coef[1, 2]
    assert "target 1" in str(both)


def test_a_frame_without_pandas_names_what_to_install(rng, monkeypatch):
    found = retrospect.summary(GeneralizedRidge().fit(rng.normal(size=(9, 2)), rng.normal(size=9)))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'ridgeway\[frame\]'"):
        found.to_frame()
