"""A tall task is learned in two halves, side by side where there are threads: the same answer either way."""

import multiprocessing
import os
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from ridgeway import GeneralizedRidge, linalg
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
def test_bitwise_the_same_with_one_thread_and_with_two(kind, monkeypatch):
    together = []
    side_by_side = linalg.side_by_side
    monkeypatch.setattr(
        "ridgeway.information._base.side_by_side", lambda *both: together.append(1) or side_by_side(*both)
    )
    monkeypatch.setattr("ridgeway.linalg._threads._cores", lambda: 2)
    one, two = (learn(kind, threads).to_arrays() for threads in (1, 2))
    assert len(together) == 2
    for name in one:
        assert_array_equal(one[name], two[name])


def test_both_halves_run_at_the_same_time(monkeypatch):
    monkeypatch.setattr("ridgeway.linalg._threads._cores", lambda: 2)
    barrier = threading.Barrier(2, timeout=30)
    with threadpool_limits(2), linalg.threads_for(60):
        assert sorted(linalg.side_by_side(barrier.wait, barrier.wait)) == [0, 1]
    with threadpool_limits(1), linalg.threads_for(60):
        assert linalg.side_by_side(lambda: "first", lambda: "second") == ("first", "second")


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_in_either_half_is_raised(failing, monkeypatch):
    monkeypatch.setattr("ridgeway.linalg._threads._cores", lambda: 2)

    def fail():
        raise RuntimeError("half")

    halves = [int, int]
    halves[failing] = fail
    with threadpool_limits(2), linalg.threads_for(60), pytest.raises(RuntimeError, match="half"):
        linalg.side_by_side(*halves)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_starts_its_own_thread(monkeypatch):
    monkeypatch.setattr("ridgeway.linalg._threads._cores", lambda: 2)
    want = learn().coef_  # the second thread of this process is running now
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert_array_equal(pool.apply_async(learn).get(timeout=60).coef_, want)


def test_overflow_in_a_tall_task_is_an_error_of_the_task():
    model = GeneralizedRidge().fit(X[:100], Y[:100])
    before = model.to_arrays()
    with pytest.raises(InvalidDataError, match="overflow"):
        model.partial_fit(np.where(X > 5.0, 1e160, X), Y)
    for name, array in model.to_arrays().items():
        assert_array_equal(array, before[name])
