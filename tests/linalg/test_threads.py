"""The limit on BLAS threads is the process's: it must always come back."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from ridgeway import GeneralizedRidge, linalg
from ridgeway.linalg import _panels, _threads


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_small_systems_have_one_thread_and_large_ones_what_there_is():
    with threadpool_limits(2):
        with linalg.threads_for(10):
            assert blas_threads() == {1}
            with linalg.threads_for(20):
                assert blas_threads() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == {2}
        with linalg.threads_for(10_000):
            assert blas_threads() == {2}


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("width", [3, 7, 40])
def test_a_large_update_in_parts_gives_the_same_factor(rng, monkeypatch, threads, width):
    monkeypatch.setattr(_panels, "SMALL", 2)
    monkeypatch.setattr(_panels, "LARGE", 1.0)
    monkeypatch.setattr(_panels, "OUTER", 7)
    monkeypatch.setattr(_panels, "LEAST", 2)
    monkeypatch.setattr("ridgeway.linalg._threads._cores", lambda: threads)
    rows = rng.normal(size=(25, width))
    with threadpool_limits(threads):
        R = linalg.add_rows(linalg.empty_triangle(width), [np.asfortranarray(rows[:5]), np.asfortranarray(rows[5:])])
        assert blas_threads() == {threads}
    np.testing.assert_allclose(np.triu(R), R)
    np.testing.assert_allclose(R.T @ R, rows.T @ rows, rtol=1e-12, atol=1e-12)
    assert abs(R.T @ R - rows[1:].T @ rows[1:]).max() > 1e-3


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("stop", [8, 10, 11, 300])
def test_the_shares_are_all_columns_once_and_begin_with_the_next_panel(threads, stop):
    shares = list(_panels._shares(7, stop, min(stop - 7, 3), threads))
    assert [column for share in shares for column in range(*share)] == list(range(7, stop))
    assert shares[0] == ((7, stop) if threads == 1 else (7, min(stop, 10)))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_parts_are_taken_once_each_and_an_error_comes_out(monkeypatch, threads):
    monkeypatch.setattr(_threads, "_cores", lambda: threads)
    taken = []
    with threadpool_limits(threads), linalg.one_thread():
        _threads.share_out(lambda *part: taken.append(part), [(i, -i) for i in range(100)], threads)
        assert sorted(taken) == [(i, -i) for i in range(100)]
        with pytest.raises(ZeroDivisionError):
            _threads.share_out(lambda number: 1 / number, [(1,), (0,), (2,)], threads)


def test_an_error_inside_does_not_keep_the_limit():
    def fail():
        with linalg.threads_for(10):
            raise RuntimeError

    with threadpool_limits(2):
        with pytest.raises(RuntimeError):
            fail()
        assert blas_threads() == {2}


def test_models_that_learn_at_once_give_the_limit_back(rng):
    tasks = [(rng.normal(size=(50, 5)), rng.normal(size=50)) for _ in range(20)]

    def learn(_):
        model = GeneralizedRidge()
        for X, y in tasks:
            model.partial_fit(X, y)
        return model.coef_

    with threadpool_limits(2):
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(learn, range(8)))
        assert blas_threads() == {2}
    np.testing.assert_array_equal(answers, [answers[0]] * 8)
