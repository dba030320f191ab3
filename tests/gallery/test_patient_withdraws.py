"""The page about a patient who withdraws: statsmodels fits the other rows again, for each patient."""

import numpy as np
import pytest
import statsmodels.api as sm
from gallery_page import page_of


@pytest.fixture(scope="module")
def patients():
    return page_of("patient_withdraws")


def test_every_withdrawal_is_a_fit_of_the_others(patients):
    X, y = sm.add_constant(patients["X"]), patients["y"]
    fit = sm.OLS(y, X).fit()
    bmi = [*X.columns].index("bmi")
    without = np.array([np.linalg.lstsq(X.drop(i), y.drop(i), rcond=None)[0][bmi] for i in range(len(X))])
    np.testing.assert_allclose(patients["moves"], (without - fit.params["bmi"]) / fit.bse["bmi"], rtol=1e-6, atol=1e-9)
    dfbeta = fit.get_influence().dfbeta[:, bmi]  # statsmodels has the opposite sign
    np.testing.assert_allclose(patients["moves"], -dfbeta / fit.bse["bmi"], rtol=1e-6, atol=1e-9)
    worst = int(np.argmax(np.abs(patients["moves"])))
    assert worst == patients["patient"] == patients["largest"][0]
    assert patients.says("falls by {:.2f} standard errors", -patients["moves"][worst])
    assert abs(patients["moves"][worst]) < 1.0 / 3.0  # the title
    assert patients["rest"].coef_[bmi - 1] == pytest.approx(without[worst])
