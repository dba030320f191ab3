"""Columns whose squares are too small for a float64."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from ridgeway import GeneralizedRidge
from ridgeway.errors import PrecisionWarning

KINDS = ["square_root", "moments", "by_task"]


@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize(("scale", "weight"), [(1e-170, 1.0), (1e-148, 1e-27), (1e-300, 1.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_vanishes_is_named(kind, scale, weight, centered, rows):
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 1.0, scale]
    model = GeneralizedRidge(information=kind, fit_intercept=centered)
    with pytest.warns(PrecisionWarning, match=r"columns \[2\] of X.*Change their units"):
        model.fit(rows(X), X[:, 0], sample_weight=np.full(50, weight))


@pytest.mark.parametrize("kind", KINDS)
def test_columns_that_do_not_vary_are_not(kind):
    X = np.random.default_rng(0).normal(size=(50, 4)) * [1.0, 0.0, 0.0, 1e-140] + [0.0, 0.0, 1e-300, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = GeneralizedRidge(information=kind).fit(X, X[:, 0] + 1e140 * X[:, 3]).coef_
    np.testing.assert_allclose(found * [1.0, 1.0, 1.0, 1e-140], [1.0, 0.0, 0.0, 1.0], rtol=1e-7, atol=1e-9)
