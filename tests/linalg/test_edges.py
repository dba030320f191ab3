"""The rare branches of the numerical core, each against an answer known by other means."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from ridgeway import ContinualRidge, GeneralizedRidge, MinimumNorm, linalg, weights
from ridgeway.errors import RemovalError
from ridgeway.linalg import _rows


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
def test_a_weak_prior_on_some_columns_alone(rng):
    """Duplicate columns of which one pair has a weak prior, the third column none."""
    x = rng.normal(size=(30, 2))
    X, y = np.c_[x[:, 0], x[:, 0], x[:, 1]], rng.normal(size=30)
    model = GeneralizedRidge(weights.Accumulated(prior=[1e-9, 1e-9, 0.0]), fit_intercept=False).fit(X, y)
    slope = np.linalg.lstsq(x, y, rcond=None)[0]
    assert_allclose(model.coef_, [slope[0] / 2, slope[0] / 2, slope[1]], rtol=1e-5)


@pytest.mark.parametrize("solve", ["triangle", "moments"])
def test_full_rank_that_only_a_decomposition_shows(solve):
    """Singular values just above the tolerance, below what a condition estimate can vouch for."""
    p, gap = 8, {"triangle": 1e-13, "moments": 3e-14}[solve]
    R = np.asfortranarray(np.eye(p))
    R[0, 1], R[1, 1] = 1.0, gap if solve == "triangle" else np.sqrt(gap)
    right = np.ones((p, 1))
    if solve == "triangle":
        solution = linalg.solve_triangle(R, R @ right, size=1)
    else:
        S = R.T @ R
        solution = linalg.solve_moments(np.triu(S), S @ right, size=1)
    assert solution.rank == p
    assert_allclose(solution.coef, right, rtol=1e-1 if solve == "moments" else 1e-2)


def test_nothing_to_learn_from_wide_sparse_rows(monkeypatch):
    monkeypatch.setattr(_rows, "SPARSE_ENTRIES", 4)
    silent = sparse.csr_array((3, 50))
    for model in (MinimumNorm(initial_coef=np.arange(50.0)), ContinualRidge(1.0, initial_coef=np.arange(50.0))):
        assert_array_equal(model.fit(silent, [1.0, 2.0, 3.0]).coef_, np.arange(50.0))


def test_a_penalty_below_rounding_of_wide_sparse_rows(monkeypatch, rng):
    wide = rng.normal(size=(3, 50))
    expected = MinimumNorm(fit_intercept=False).fit(wide, [1.0, 2.0, 3.0]).coef_
    monkeypatch.setattr(_rows, "SPARSE_ENTRIES", 4)
    streamed = ContinualRidge(1e-40, fit_intercept=False).fit(sparse.csr_array(wide), [1.0, 2.0, 3.0]).coef_
    assert_allclose(streamed, expected, rtol=1e-10)


def test_moments_refuse_targets_that_were_never_learned(rng):
    X = rng.normal(size=(40, 2))
    y = X @ [1.0, 2.0] + 1e-3 * rng.normal(size=40)
    model = GeneralizedRidge(information="moments").fit(X, y)
    with pytest.raises(RemovalError, match="never learned"):
        model.remove(X[:3], [5.0, -5.0, 5.0])


def test_a_refit_without_names_forgets_the_names(rng):
    import pandas as pd

    X, y = rng.normal(size=(9, 2)), rng.normal(size=9)
    model = MinimumNorm().fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert not hasattr(model.fit(X, y), "feature_names_in_")


def test_a_penalty_as_an_array_of_no_axes():
    assert weights.Isotropic(np.array(0.5)).weight(2, linalg.Rows.of(np.ones((1, 2)))) == 0.5
