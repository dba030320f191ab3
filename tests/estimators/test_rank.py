"""A column that is only rounding is dropped, and nothing else; whatever is dropped, there is a warning.

The reference never decides a rank: rational arithmetic on the columns that are said to remain.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from benchmarks.nist import exact_least_squares
from ridgeway import ContinualRidge, GeneralizedRidge, MinimumNorm, Oracle, weights
from ridgeway.errors import PrecisionWarning

MODELS = {
    "square_root": GeneralizedRidge(),
    "moments": GeneralizedRidge(information="moments"),
    "weak prior": GeneralizedRidge(weights.Accumulated(prior=1e-20)),
    "moments, weak prior": GeneralizedRidge(weights.Accumulated(prior=1e-20), information="moments"),
    "matrix prior": GeneralizedRidge(weights.Accumulated(prior=1e-20 * np.eye(6))),
    "minimum norm": MinimumNorm(),
    "oracle": Oracle(),
    "continual ridge": ContinualRidge(1e-22),
}
TRUE = np.arange(1.0, 6.0)


def shares(variation, *, seed=0, n=60, scale=1.0):
    """Five good features, and a column that should be constant: all that varies is rounding, or little more."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return np.column_stack([X, scale * (1.0 + variation * rng.choice([-1.0, 1.0], n))]), X @ TRUE + 2.0


def learned(model, X, y, tasks=3):
    """Return the model, task by task (one task if it remembers only its estimate), and the messages of warnings."""
    tasks = 1 if isinstance(model, MinimumNorm | ContinualRidge) else tasks
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, tasks=np.arange(len(X)) * tasks // len(X))
        _ = model.coef_
    assert all(issubclass(warning.category, PrecisionWarning) for warning in caught)
    return model, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("variation", [8e-16, 1.1e-15, 3e-15, 1e-14, 1e-13, 1e-11])
@pytest.mark.parametrize("scale", [1.0, 1e8, 1e-8])
@pytest.mark.parametrize("name", MODELS)
def test_a_nearly_constant_column_leaves_the_others_alone(name, variation, scale):
    X, y = shares(variation, scale=scale)
    model, messages = learned(MODELS[name], X, y)
    assert_allclose(model.coef_[:5], TRUE, rtol=1e-12)
    assert_allclose(model.predict(X), y, rtol=1e-12)
    if variation < 1e-14 and "prior" not in name:
        assert model.rank_ == (6 if name == "continual ridge" else 5)
        assert model.coef_[5] == 0.0
        assert any("columns [5] of X" in message for message in messages)


@pytest.mark.parametrize("name", ["square_root", "moments", "oracle", "minimum norm"])
def test_a_dropped_column_keeps_its_initial_coefficient(name):
    X, y = shares(8e-16)
    start = np.full((2, 6), 7.0)
    model, messages = learned(clone(MODELS[name]).set_params(initial_coef=start), X, np.column_stack([y, 2 * y]))
    assert_allclose(model.coef_, [[*TRUE, 7.0], [*(2 * TRUE), 7.0]], rtol=1e-12)
    assert messages


@pytest.mark.parametrize("name", ["square_root", "moments", "oracle"])
@pytest.mark.parametrize("spread", [1e10, 1e12, 1e13, 3e13])
def test_a_column_that_is_mostly_rounding_does_not_mix_with_collinear_ones(name, spread):
    """The others have a condition number of a hundred: small singular values, which are theirs alone."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4))
    X[:, 1] = X[:, 0] + 0.02 * X[:, 1]
    X[:, 3] = 1.0 + X[:, 3] / spread
    y = rng.normal(size=40)
    model, _ = learned(MODELS[name], X, y)
    without, kept = ([float(c) for c in exact_least_squares(A, y, fit_intercept=True)[1:4]] for A in (X[:, :3], X))
    assert min(np.abs(model.coef_[:3] / exact - 1.0).max() for exact in (without, kept)) < 1e-9


@pytest.mark.parametrize("name", ["square_root", "moments", "oracle", "minimum norm"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_duplicates_are_reported_and_share_their_coefficient(name, fit_intercept):
    X, y = shares(0.5)
    X[:, 5] = X[:, 0]
    model, messages = learned(clone(MODELS[name]).set_params(fit_intercept=fit_intercept), X, y - 2.0)
    assert_allclose(model.coef_, [0.5, *TRUE[1:], 0.5], rtol=1e-12)
    assert any("collinear, exactly or to within" in message and "rank 5" in message for message in messages)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "moments, weak prior"])
def test_what_is_rank_deficient_by_design_is_silent(name):
    """Fewer rows than columns, and columns that never vary: the least change is the definition."""
    X, y = shares(0.5)
    assert learned(MODELS[name], X[:4], y[:4])[1] == []
    X[:, 5] = 0.1
    model, messages = learned(MODELS[name], X, y, tasks=7)
    assert messages == []
    assert model.coef_[5] == 0.0


def test_collinearity_under_an_offset_is_never_silent():
    """Columns alike to 1e-7 that centring takes 1e8 off: what sets them apart is the rounding of the data."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    X[:, 1] = X[:, 0] + 1e-7 * X[:, 1]
    for name in ("square_root", "moments", "oracle", "minimum norm"):
        model, messages = learned(MODELS[name], X + 1e8, rng.normal(size=90))
        assert model.rank_ == 2
        assert messages


def test_clean_designs_are_silent():
    for seed in range(100):
        X, y = shares(0.5, seed=seed)
        X = (X + 10.0 ** (seed % 8)) * 10.0 ** np.random.default_rng(seed).uniform(-8, 8, 6)
        name = list(MODELS)[seed % len(MODELS)]
        assert learned(MODELS[name], X, y)[1] == []
