"""The table of a likelihood is that of statsmodels, and pictures are drawn for the targets that exist."""

import numpy as np
import pytest
import statsmodels.api as sm
from matplotlib.figure import Figure

from ridgeway import GeneralizedPoisson, GeneralizedRidge, retrospect
from ridgeway.errors import InvalidParameterError


def test_intervals_and_log_likelihood_are_those_of_statsmodels(rng):
    X = rng.normal(size=(60, 2))
    y = rng.poisson(np.exp(0.5 + X @ [0.3, -0.2]))
    found = retrospect.likelihood_summary(GeneralizedPoisson().fit(X, y), level=0.9)
    fit = sm.GLM(y, sm.add_constant(X), family=sm.families.Poisson()).fit(tol=1e-14)
    np.testing.assert_allclose(found.intervals, fit.conf_int(0.1), rtol=1e-7)
    np.testing.assert_allclose(found.log_likelihood, fit.llf, rtol=1e-9)
    assert f"log-likelihood {fit.llf:.6g}" in str(found)


@pytest.mark.parametrize("ask", [retrospect.summary, lambda model: retrospect.submodel(model, [0])])
def test_questions_for_least_squares_name_the_table_of_a_likelihood(rng, ask):
    model = GeneralizedPoisson().fit(rng.normal(size=(60, 2)), rng.poisson(2.0, size=60))
    with pytest.raises(InvalidParameterError, match=r"GeneralizedPoisson .* retrospect\.likelihood_summary"):
        ask(model)


def test_only_targets_that_exist_are_drawn(rng):
    X = rng.normal(size=(20, 2))
    found = retrospect.summary(GeneralizedRidge().fit(X, X @ rng.normal(size=(2, 2)) + rng.normal(size=(20, 2))))
    drawn = found.plot(Figure().add_subplot(), target=1).lines[-1]
    np.testing.assert_array_equal(drawn.get_xdata(), found.coef[1, 1:])
    with pytest.raises(InvalidParameterError, match="target"):
        found.plot(Figure().add_subplot(), target=2)
