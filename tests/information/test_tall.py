"""A tall task is learned in blocks by all threads: the answer of all rows, the same bits for any number of threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from ridgeway import GeneralizedRidge, kernels
from ridgeway.errors import InvalidDataError
from ridgeway.weights import Accumulated

RNG = np.random.default_rng(2)
X = RNG.normal(size=(8000, 60)) + 5.0
Y = X @ RNG.normal(size=(60, 2)) + RNG.normal(size=(8000, 2)) + 3.0
WEIGHT = RNG.uniform(0.5, 2.0, 8000)
KINDS = ["square_root", "moments"]


def learn(kind="square_root", threads=2, **settings):
    with threadpool_limits(threads):
        model = GeneralizedRidge(information=kind, **settings)
        return model.partial_fit(X[:7], Y[:7]).partial_fit(X, Y, sample_weight=WEIGHT)


def weighted_least_squares(prior=0.0, *, fit_intercept=True):
    """Return the coefficients of the pooled rows by NumPy."""
    A, b, w = np.vstack([X[:7], X]), np.vstack([Y[:7], Y]), np.r_[np.ones(7), WEIGHT]
    if fit_intercept:
        A, b = A - w @ A / w.sum(), b - w @ b / w.sum()
    root = np.sqrt(w)[:, None]
    A, b = np.vstack([root * A, np.sqrt(prior) * np.eye(60)]), np.vstack([root * b, np.zeros((60, 2))])
    return np.linalg.lstsq(A, b, rcond=None)[0].T


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("prior", [0.0, 20.0])
def test_the_answer_is_that_of_all_rows(kind, fit_intercept, prior):
    model = learn(kind, weights=Accumulated(prior=prior), fit_intercept=fit_intercept)
    want = weighted_least_squares(prior, fit_intercept=fit_intercept)
    assert_allclose(model.coef_, want, rtol=1e-9, atol=1e-10)
    assert np.abs(model.coef_ - weighted_least_squares(prior + 1.0, fit_intercept=fit_intercept)).max() > 1e-7
    assert (model.n_samples_seen_, model.n_tasks_) == (8007, 2)
    assert_allclose(model.information_.total_weight, 7 + WEIGHT.sum())


@pytest.mark.parametrize("kind", KINDS)
def test_bitwise_the_same_with_any_number_of_threads(kind, monkeypatch):
    states = []
    for threads in (1, 2, 3) if kernels.NAME == "lapack" else (1, 1, 1):  # the plain ones leave threads to BLAS
        monkeypatch.setattr("ridgeway.kernels._threads._cores", lambda threads=threads: threads)
        states.append(learn(kind, threads).to_arrays())
    for name in states[0]:
        assert_array_equal(states[1][name], states[0][name])
        assert_array_equal(states[2][name], states[0][name])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [100, 8000])
def test_overflow_is_an_error_of_the_task(kind, n):
    model = GeneralizedRidge(information=kind).fit(X[:100], Y[:100])
    before = model.to_arrays()
    with pytest.raises(InvalidDataError, match="overflow"):
        model.partial_fit(np.where(X > 5.0, 1e160, X)[:n], Y[:n])
    for name, array in model.to_arrays().items():
        assert_array_equal(array, before[name])
