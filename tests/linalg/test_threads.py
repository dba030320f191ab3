"""The limit on BLAS threads is the process's: it must always come back."""

import subprocess
import sys
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


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_helper_that_asks_for_helpers_does_not_wait_for_itself(monkeypatch, threads):
    monkeypatch.setattr(_threads, "_cores", lambda: threads)

    def both(*calls):
        return _threads.side_by_side(*calls)

    with threadpool_limits(threads), linalg.one_thread():
        found = both(lambda: both(lambda: 1, lambda: 2), lambda: both(lambda: 3, lambda: 4), lambda: both(lambda: 5))
    assert found == ((1, 2), (3, 4), (5,))


def test_a_model_learns_while_the_interpreter_ends():
    code = """
import atexit, threading, time, numpy as np
from threadpoolctl import threadpool_limits
from ridgeway import GeneralizedRidge
from ridgeway.linalg import _memory, _threads
_memory.MANY, _threads._cores = 10, lambda: 2
limit = threadpool_limits(2)
rng = np.random.default_rng(0)
X, y = rng.normal(size=(8, 6)), rng.normal(size=8)
model = GeneralizedRidge().partial_fit(X, y)
def learn():
    model.partial_fit(X, y)
    print("learned", flush=True)
def later():
    threading.main_thread().join()
    learn()
atexit.register(learn)
threading.Thread(target=later).start()
"""
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "learned\nlearned\n", "")


def test_who_gives_blas_one_thread_gets_no_other_from_openmp(monkeypatch):
    monkeypatch.setattr(_threads, "_cores", lambda: 4)
    for blas in (1, 2):
        with threadpool_limits({"blas": blas, "openmp": 3}), linalg.one_thread():
            assert _threads.threads_to_spare() == blas


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
