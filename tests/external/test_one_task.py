"""One task: coefficients, standard errors and log-likelihood are those that Stata and R have printed.

How many digits a source has, and why fewer than it prints, is said in `published.py`, beside each tolerance.
"""

import numpy as np
import pytest
from published import MODELS, against_first, errors_of, ships
from scipy.special import xlogy

from ridgeway import GeneralizedPoisson


def agrees(published, model, *, coef_digits=1.0, error_digits=1.0):
    """Whether a fit is the printed one, to the digits of the source or to a multiple of them."""
    coef = against_first(model)
    return np.allclose(coef, published.coef, rtol=coef_digits * published.coef_digits, atol=0.0) and (
        published.coef.ndim > 1  # the printed errors are of differences between classes
        or np.allclose(errors_of(model), published.errors, rtol=error_digits * published.error_digits, atol=0.0)
    )


@pytest.mark.parametrize("memory", ["quadratic", "cubic"])
@pytest.mark.parametrize("name", MODELS)
def test_one_task_is_the_printed_model(name, memory):
    published = MODELS[name]()
    model = published.fitted(memory=memory)
    assert agrees(published, model)
    value = model.log_likelihood_ + published.constant
    assert value == pytest.approx(published.log_likelihood, rel=published.likelihood_digits)


@pytest.mark.parametrize("name", MODELS)
def test_the_comparison_can_fail(name):
    """The negative control: a row less is seen, and so is one digit less of what a source has."""
    published = MODELS[name]()
    X, y, options = published.rows(np.arange(1, len(published.y)))
    assert not agrees(published, published.model().fit(X, y, **options))
    assert not agrees(published, published.fitted(), coef_digits=1e-2, error_digits=1e-2)


def test_errors_of_differences_between_classes_are_the_printed_ones():
    """Stata prints each class against the first; in Ridgeway no class is the reference, and the scores sum to 0."""
    published = MODELS["party identification"]()
    state = published.fitted().state_
    scores = state.likelihood.scores  # of each class, from the linear predictors
    against = scores[1:] - scores[0]
    covariance = state.covariance().reshape(6, 6, 6, 6)  # terms and predictors, twice
    variances = np.einsum("ka,iaib,kb->ik", against, covariance, against)
    np.testing.assert_allclose(np.sqrt(variances), published.errors, rtol=1e-6)


def test_ships_are_those_of_mccullagh_and_nelder():
    """McCullagh and Nelder (1989), Generalized Linear Models, section 6.3.2: two decimals, and the deviance.

    Ship types B to E against A, years of construction against 1960–64, period 1975–79 against 1960–74.
    """
    printed = [-0.54, -0.69, -0.08, 0.33, 0.70, 0.82, 0.45, 0.38, -6.41]
    data = ships()
    types = [data["ship"] == number for number in (2, 3, 4, 5)]
    X = np.column_stack([*types, data[["co_65_69", "co_70_74", "co_75_79", "op_75_79"]]]).astype(float)
    y, service = data["accident"].to_numpy(float), data["service"].to_numpy(float)
    model = GeneralizedPoisson().fit(X, y, offset=np.log(service))
    np.testing.assert_allclose(against_first(model), printed, atol=0.005)
    expected = model.predict(X, offset=np.log(service))
    deviance = 2.0 * np.sum(xlogy(y, y / expected) - (y - expected))
    assert deviance == pytest.approx(38.7, abs=0.05)
    assert len(y) - len(printed) == 25  # its degrees of freedom, as printed
    rates = GeneralizedPoisson().fit(X, y / service, sample_weight=service)  # the exposure as weight
    np.testing.assert_allclose(against_first(rates), against_first(model), rtol=1e-9)
    np.testing.assert_allclose(errors_of(rates), errors_of(model), rtol=1e-9)
    shifted = GeneralizedPoisson().fit(X, y)  # the control: without the exposure
    assert np.abs(against_first(shifted) - printed).max() > 0.5
