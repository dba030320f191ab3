"""The table of a likelihood is that of statsmodels, and pictures are drawn for the targets that exist."""

import copy
import json

import numpy as np
import pytest
import statsmodels.api as sm
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from ridgeway import GeneralizedPoisson, GeneralizedRidge, retrospect, weights
from ridgeway.errors import InferenceError, InvalidParameterError, InvalidStateError


def test_intervals_and_log_likelihood_are_those_of_statsmodels(rng):
    X = rng.normal(size=(60, 2))
    y = rng.poisson(np.exp(0.5 + X @ [0.3, -0.2]))
    found = retrospect.summary(GeneralizedPoisson().fit(X, y), level=0.9)
    fit = sm.GLM(y, sm.add_constant(X), family=sm.families.Poisson()).fit(tol=1e-14)
    np.testing.assert_allclose(found.intervals, fit.conf_int(0.1), rtol=1e-7)
    np.testing.assert_allclose(found.log_likelihood, fit.llf, rtol=1e-9)
    assert f"log-likelihood {fit.llf:.6g}" in str(found)


def test_a_log_likelihood_of_rates_is_not_taken_for_one_of_counts(rng):
    """Rates with their exposure as weight have the estimates of counts with an offset, but another log-likelihood."""
    X, years = rng.normal(size=(60, 2)), rng.uniform(1.0, 9.0, 60)
    counts = rng.poisson(years * np.exp(0.5 + X @ [0.3, -0.2]))
    rates = GeneralizedPoisson().fit(X, counts / years, years)
    learned = GeneralizedPoisson().fit(X, counts, offset=np.log(years))
    fit = sm.GLM(counts, sm.add_constant(X), family=sm.families.Poisson(), offset=np.log(years)).fit(tol=1e-14)
    one, two = (retrospect.summary(model) for model in (rates, learned))
    np.testing.assert_allclose(one.coef, two.coef, rtol=1e-7)
    np.testing.assert_allclose(one.standard_errors, two.standard_errors, rtol=1e-6)
    np.testing.assert_allclose(two.log_likelihood, fit.llf, rtol=1e-9)
    assert abs(one.log_likelihood - fit.llf) > 10.0
    assert (one.rates, two.rates) == (True, False)
    assert "of rates" in str(one)
    assert "Learn the counts, with the logarithm of the exposure as offset" in " ".join(str(one).split())
    assert "rates" not in str(two)


def test_that_targets_were_rates_is_remembered(rng):
    X = rng.normal(size=(20, 2))
    counts = rng.poisson(np.exp(0.3 * X[:, 0])) + 1.0
    whole, halves = GeneralizedPoisson().fit(X, counts), GeneralizedPoisson().fit(X, counts / 2.0)
    assert "rates" not in json.loads(whole.to_arrays()["header"].tobytes())
    after = [halves.merge(whole), whole.merge(halves), copy.deepcopy(halves)]
    after += [GeneralizedPoisson.from_arrays(halves.to_arrays()), halves.partial_fit(X, counts)]
    for model in after:
        assert retrospect.summary(model).rates
    weighted = GeneralizedPoisson().fit(X, counts, rng.uniform(1.0, 2.0, 20))  # counts, whatever they weigh
    assert not retrospect.summary(weighted).rates
    damaged = halves.to_arrays()
    damaged["header"] = np.frombuffer(damaged["header"].tobytes().replace(b'"rates":true', b'"rates":1'), np.uint8)
    with pytest.raises(InvalidStateError, match="something unknown"):
        GeneralizedPoisson.from_arrays(damaged)


def test_a_likelihood_has_no_measures_of_least_squares(rng):
    X, y = rng.normal(size=(60, 2)), rng.poisson(2.0, size=60)
    found, rows = (retrospect.summary(model().fit(X, y)) for model in (GeneralizedPoisson, GeneralizedRidge))
    assert found.noise_variance is found.r_squared is found.aic is found.bic is None
    assert (found.degrees_of_freedom, rows.degrees_of_freedom) == (np.inf, 57)
    assert str(found).startswith("Maximum likelihood: 60 rows of 1 task\nlog-likelihood ")
    assert ("P>|z|" in str(found), "P>|t|" in str(found)) == (True, False)
    assert ("P>|z|" in str(rows), "P>|t|" in str(rows)) == (False, True)
    assert "curvature of the log-likelihood" in found.assumption
    assert not rows.rates


def test_a_likelihood_without_a_memory_has_no_errors(rng):
    model = GeneralizedPoisson(weights.Isotropic(1.0)).fit(rng.normal(size=(60, 2)), rng.poisson(2.0, size=60))
    with pytest.raises(InferenceError, match=r"keeps only its last estimate\. Use weights\.Accumulated"):
        retrospect.summary(model)
    with pytest.raises(NotFittedError):
        retrospect.summary(GeneralizedPoisson())


def test_questions_for_least_squares_name_the_table_of_a_likelihood(rng):
    model = GeneralizedPoisson().fit(rng.normal(size=(60, 2)), rng.poisson(2.0, size=60))
    with pytest.raises(InvalidParameterError, match=r"GeneralizedPoisson .* retrospect\.summary"):
        retrospect.submodel(model, [0])


def test_only_targets_that_exist_are_drawn(rng):
    X = rng.normal(size=(20, 2))
    found = retrospect.summary(GeneralizedRidge().fit(X, X @ rng.normal(size=(2, 2)) + rng.normal(size=(20, 2))))
    drawn = found.plot(Figure().add_subplot(), target=1).lines[-1]
    np.testing.assert_array_equal(drawn.get_xdata(), found.coef[1, 1:])
    with pytest.raises(InvalidParameterError, match="target"):
        found.plot(Figure().add_subplot(), target=2)
