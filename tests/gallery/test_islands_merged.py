"""The page about three stations: statsmodels on all birds gives the merged model."""

import numpy as np
import pytest
import statsmodels.api as sm
from gallery_page import page_of

from ridgeway import retrospect


@pytest.fixture(scope="module")
def islands():
    return page_of("islands_merged")


def fitted(birds, measured):
    return sm.OLS(birds["body_mass_g"], sm.add_constant(birds[measured])).fit()


def test_merged_is_all_birds_in_one_place(islands):
    fit = fitted(islands["birds"], islands["measured"])
    found = retrospect.summary(islands["merged"])
    np.testing.assert_allclose(found.coef, fit.params, rtol=1e-9)
    np.testing.assert_allclose(found.intervals, fit.conf_int(), rtol=1e-8)
    np.testing.assert_allclose(islands["other"].coef_, fit.params.iloc[1:], rtol=1e-9)
    assert islands.says("as all {} birds in one place", int(fit.nobs))


def test_each_island_alone(islands):
    slopes = {}
    for island, own in islands["birds"].groupby("island"):
        fit = fitted(own, islands["measured"])
        np.testing.assert_allclose(islands["stations"][island].coef_, fit.params.iloc[1:], rtol=1e-7)
        slopes[island] = fit.params["flipper_length_mm"]
    assert islands.says("Torgersen has only {} birds", (islands["birds"]["island"] == "Torgersen").sum())
    assert islands["merged"].coef_[0] > max(slopes.values())  # "steeper than that of any island"
    assert islands["average"] == pytest.approx(np.mean([*slopes.values()]))
    gentoos = islands["birds"][islands["birds"]["species"] == "Gentoo"]
    assert set(gentoos["island"]) == {"Biscoe"}
