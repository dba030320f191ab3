"""Adjusted p-values: those of statsmodels, and what they promise."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from ridgeway.errors import InvalidParameterError
from ridgeway.retrospect._multiplicity import adjusted, checked_adjustment


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12))
def test_those_of_statsmodels(values):
    for ours, theirs in (("holm", "holm"), ("bh", "fdr_bh")):
        with mock.patch("gc.collect"):  # theirs collects garbage each time, which takes long among many tests
            expected = multipletests(values, method=theirs)[1]
        np.testing.assert_allclose(adjusted(np.array(values), ours), expected, rtol=1e-12, atol=1e-300)


def test_no_p_value_becomes_smaller(rng):
    """Not even by rounding: p · 12 / 12 is smaller than p for one p in twelve."""
    for values in rng.uniform(size=(200, 12)):
        holm, bh = adjusted(values, "holm"), adjusted(values, "bh")
        assert (values <= bh).all()
        assert (bh <= holm).all()


def test_tests_that_were_not_made_do_not_count():
    found = adjusted(np.array([np.nan, 0.01, 0.5, np.nan]), "holm")
    np.testing.assert_array_equal(found, [np.nan, 0.02, 0.5, np.nan])
    assert np.isnan(adjusted(np.array([np.nan]), "bh")).all()


def test_false_alarms(rng):
    """If nothing differs, Holm's raises any alarm in 5 % of 4,000 families; the raw p-values in 1 − 0.95¹⁰ = 40 %."""
    values = rng.uniform(size=(4000, 10))
    alarms = np.mean([adjusted(row, "holm").min() <= 0.05 for row in values])
    assert abs(alarms - 0.05) < 0.011  # three standard errors
    assert np.mean(values.min(axis=1) <= 0.05) > 0.37  # the control


def test_unknown_names():
    with pytest.raises(InvalidParameterError, match=r"adjust must be one of holm, bh; got 'bonferroni'"):
        checked_adjustment("bonferroni")
