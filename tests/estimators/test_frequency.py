"""Weights that count: the same as repeated rows, and as statsmodels' freq_weights."""

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.base import clone

from ridgeway import ContinualRidge, GeneralizedRidge, retrospect
from ridgeway.errors import InvalidDataError, InvalidParameterError, MergeError
from ridgeway.weights import Accumulated, Isotropic

FIELDS = ("coef", "standard_errors", "t", "p_values", "intervals", "noise_variance", "r_squared", "log_likelihood")
FIELDS += ("aic", "bic", "degrees_of_freedom", "n_samples")


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(20, 3)) + 2.0
    return X, X @ [1.0, 0.5, 0.0] + rng.normal(size=20), rng.integers(0, 5, size=20).astype(float)


def models(rows, policy, kind):
    """Return the model of counted rows and that of repeated ones, each in two tasks."""
    X, y, weight = rows
    counted = GeneralizedRidge(policy, information=kind, weight_kind="frequency")
    repeated = GeneralizedRidge(policy, information=kind)
    for part in (slice(0, 12), slice(12, 20)):
        counted.partial_fit(X[part], y[part], weight[part])
        times = weight[part].astype(int)
        repeated.partial_fit(np.repeat(X[part], times, axis=0), np.repeat(y[part], times))
    return counted, repeated


@pytest.mark.parametrize("kind", ["square_root", "moments"])
@pytest.mark.parametrize("prior", [0.0, 2.0, "evidence"])
def test_counted_rows_are_repeated_rows(rows, prior, kind):
    counted, repeated = models(rows, Accumulated(prior), kind)
    again = GeneralizedRidge.from_arrays(counted.to_arrays())
    theirs = retrospect.summary(repeated)
    for model in (counted, again):
        ours = retrospect.summary(model)
        for name in FIELDS:
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10, atol=1e-10, err_msg=name)
        assert model.n_samples_seen_ == repeated.n_samples_seen_ == rows[2].sum()
        assert model.weight_kind == "frequency"
    X, y, weight = rows
    gone = counted.remove(X[12:], y[12:], weight[12:])
    times = weight[12:].astype(int)
    other = repeated.remove(np.repeat(X[12:], times, axis=0), np.repeat(y[12:], times))
    np.testing.assert_allclose(gone.coef_, other.coef_, rtol=1e-8)
    assert gone.n_samples_seen_ == other.n_samples_seen_ == weight[:12].sum()
    found = retrospect.compare(counted, X, y, weight)
    times = weight.astype(int)
    want = retrospect.compare(repeated, np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose([found.f, found.p_value], [want.f, want.p_value], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(found.degrees_of_freedom, want.degrees_of_freedom)


def test_statsmodels(rows):
    X, y, weight = rows
    ours = retrospect.summary(GeneralizedRidge(weight_kind="frequency").fit(X, y, weight))
    theirs = sm.GLM(y, sm.add_constant(X), freq_weights=weight).fit(scale="X2")
    np.testing.assert_allclose(ours.standard_errors, theirs.bse, rtol=1e-9)
    np.testing.assert_allclose(ours.coef, theirs.params, rtol=1e-9)
    assert ours.degrees_of_freedom == theirs.df_resid
    precision = retrospect.summary(GeneralizedRidge().fit(X, y, weight))
    assert np.abs(precision.standard_errors / theirs.bse - 1.0).min() > 0.1


def test_what_is_refused(rows):
    X, y, weight = rows
    model = GeneralizedRidge(weight_kind="frequency").fit(X, y, weight)
    before = model.coef_
    with pytest.raises(InvalidDataError, match=r"whole numbers; got 0\.5"):
        model.partial_fit(X, y, np.full(20, 0.5))
    with pytest.raises(InvalidDataError, match="the limit is"):  # else its pickle could not be read
        model.partial_fit(X, y, np.full(20, 2.0**50))
    np.testing.assert_array_equal(model.coef_, before)
    with pytest.raises(MergeError, match="kind of weights"):
        model.merge(GeneralizedRidge().fit(X, y, weight))
    with pytest.raises(InvalidParameterError, match="weight_kind"):
        clone(model).set_params(weight_kind="count").fit(X, y, weight)
    with pytest.raises(InvalidParameterError, match="weight_kind changed"):
        model.set_params(weight_kind="precision").partial_fit(X, y)
    with pytest.raises(InvalidParameterError, match="counts rows"):
        GeneralizedRidge(Isotropic(1.0), weight_kind="frequency").fit(X, y)
    with pytest.raises(TypeError):
        ContinualRidge(weight_kind="frequency")
