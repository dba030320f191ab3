"""Threads: the limit on BLAS always comes back, every part is taken once, and bits do not depend on their number."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits

from ridgeway import kernels
from ridgeway.kernels import Mean, _lapack, _tall, _threads
from ridgeway.kernels._tall import joined_in_a_tree

RNG = np.random.default_rng(2)
X, Y = RNG.normal(size=(30_000, 20)) + 5.0, RNG.normal(size=(30_000, 2))
UPDATES = [_lapack.factor_update, _lapack.comoment_update]


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def updated(update, threads=2, n=30_000):
    with threadpool_limits(threads):
        return update(np.zeros((22, 22), order="F"), Mean.of_nothing(22), X[:n], Y[:n], None, centered=True)


@pytest.fixture(params=[1, 2, 3, 8])
def cores(request, monkeypatch):
    monkeypatch.setattr(_threads, "_cores", lambda: request.param)
    with threadpool_limits(request.param):
        yield request.param


def test_small_systems_have_one_thread_and_large_ones_what_there_is():
    with threadpool_limits(2):
        with _threads.threads_for(100, 1e6):
            assert blas_threads() == {1}
            with _threads.threads_for(20, 1e6):
                assert blas_threads() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == {2}
        for size in ((10_000, 1e9), (3, 27.0)):
            with _threads.threads_for(*size):
                assert blas_threads() == {2}


def test_single_threaded_holds_for_the_thread_and_ends(monkeypatch):
    monkeypatch.setattr(_threads, "_cores", lambda: 2)
    names = set()

    def worker():
        names.add(threading.current_thread().name)
        return lambda part: None

    with threadpool_limits(2):
        with kernels.single_threaded():
            assert blas_threads() == {1}
            with kernels.single_threaded():
                _threads.in_parallel(worker, 50)
            assert blas_threads() == {1}
            _threads.in_parallel(worker, 50)
        assert blas_threads() == {2}
    assert len(names) == 1


def test_parts_are_taken_once_each_and_an_error_comes_out(cores):
    taken = []
    _threads.in_parallel(lambda: taken.append, 100)
    assert sorted(taken) == list(range(100))
    with pytest.raises(ZeroDivisionError):
        _threads.in_parallel(lambda: lambda part: 1 // (part - 1), 5)
    with pytest.raises(KeyError):
        _threads.in_parallel(lambda: {}["worker"], 5)
    assert blas_threads() == {cores}


INTERRUPTED = """
import signal, threading, time
from ridgeway.kernels import _threads
from threadpoolctl import threadpool_info, threadpool_limits

_threads._cores = lambda: 2
signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background may ignore it
taken = []

def interrupt(part):
    taken.append(part)
    if part == 50:  # by then the caller waits
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    time.sleep(0.01)

with threadpool_limits(2):
    try:
        _threads.in_parallel(lambda: interrupt, 1000)
    except KeyboardInterrupt:
        n_taken = len(taken)
        time.sleep(0.05)
        threads = {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}
        print(n_taken < 1000, len(taken) == n_taken, threads)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="threads get no signals on this system")
def test_an_interrupt_comes_out_when_all_have_stopped():
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], env=environment, capture_output=True, text=True, timeout=60
    )
    assert ran.stdout == "True True {2}\n", ran.stderr


def test_a_limit_holds_whichever_thread_asks_for_it():
    with threadpool_limits(2):
        with _threads.threads_for(100, 1e6):
            assert blas_threads() == {1}
        with ThreadPoolExecutor(1) as pool:
            limit = _threads.OneThread()
            inside = pool.submit(limit.__enter__)
            inside.result()
            assert blas_threads() == {1}
        limit.__exit__()  # another thread than the one that came in
        assert blas_threads() == {2}


@pytest.mark.parametrize("update", UPDATES)
def test_bitwise_the_same_in_another_thread(update):
    here = updated(update, n=2000)
    with ThreadPoolExecutor(1) as pool:
        there = pool.submit(updated, update, n=2000).result()
    assert_array_equal(here.matrix, there.matrix)


def test_the_caller_only_waits(monkeypatch):
    monkeypatch.setattr(_threads, "_cores", lambda: 2)
    barrier, names = threading.Barrier(2, timeout=30), set()

    def name(part):
        barrier.wait()
        names.add(threading.current_thread().name)

    with threadpool_limits(2):
        _threads.in_parallel(lambda: name, 2)
    assert len(names) == 2
    assert threading.current_thread().name not in names


def test_work_goes_on_with_the_helpers_that_can_be_started(monkeypatch):
    started = []

    class Few(_threads._Helper):
        def start(self):
            if len(started) == 1:
                raise RuntimeError("can't start new thread")
            started.append(self)
            super().start()

    monkeypatch.setattr(_threads, "_cores", lambda: 4)
    monkeypatch.setattr(_threads, "_helpers", _threads._Helpers())
    monkeypatch.setattr(_threads, "_Helper", Few)
    taken = []
    with threadpool_limits(4):
        _threads.in_parallel(lambda: taken.append, 20)
    assert sorted(taken) == list(range(20))
    assert len(started) == 1


def test_a_caller_does_not_wait_for_the_helpers_of_another_while_some_are_idle(monkeypatch):
    monkeypatch.setattr(_threads, "_cores", lambda: 4)
    monkeypatch.setattr(_threads, "_helpers", _threads._Helpers())
    begun, go_on, taken = threading.Barrier(3), threading.Event(), []

    def work(part):
        begun.wait(10)
        go_on.wait(10)

    with threadpool_limits(4):
        first = threading.Thread(target=_threads.in_parallel, args=(lambda: work, 2))
        second = threading.Thread(target=_threads.in_parallel, args=(lambda: taken.append, 2))
        first.start()
        begun.wait(10)
        second.start()
        second.join(5)
        waited = second.is_alive()
        go_on.set()
        first.join()
        second.join()
    assert sorted(taken) == [0, 1]
    assert not waited


def test_a_helper_that_asks_for_helpers_does_not_wait_for_itself(cores):
    taken = []
    _threads.in_parallel(lambda: lambda part: _threads.in_parallel(lambda: taken.append, 3), 9)
    assert sorted(taken) == sorted([0, 1, 2] * 9)


@pytest.mark.parametrize(("width", "many"), [(11, 32), (101, 16)])
def test_more_than_a_few_blocks_are_larger_unless_they_are_narrow(width, many):
    rows = _tall.ENTRIES // width
    counts = [_tall.n_blocks(n * rows, width) for n in range(1, 33)]
    assert counts[:8] == list(range(1, 9))
    assert counts == sorted(counts)
    assert counts[-1] == many


@pytest.mark.parametrize("n_leaves", [1, 2, 3, 7, 8, 33])
def test_the_tree_does_not_depend_on_threads(cores, n_leaves):
    def pair(one, two):
        return f"({one} {two})"

    def expected(leaves):
        while len(leaves) > 1:
            leaves = [pair(*leaves[i : i + 2]) if i + 1 < len(leaves) else leaves[i] for i in range(0, len(leaves), 2)]
        return leaves[0]

    assert joined_in_a_tree(lambda: str, pair, n_leaves) == expected([str(i) for i in range(n_leaves)])


@pytest.mark.parametrize("update", UPDATES)
def test_bitwise_the_same_with_any_number_of_threads(update, monkeypatch):
    used = []
    in_parallel = _threads.in_parallel
    monkeypatch.setattr("ridgeway.kernels._tall.in_parallel", lambda *args: used.append(1) or in_parallel(*args))
    results = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(_threads, "_cores", lambda threads=threads: threads)
        results.append(updated(update, threads))
    assert len(used) == 3
    for other in results[1:]:
        assert_array_equal(other.matrix, results[0].matrix)
        assert_array_equal(other.mean.high, results[0].mean.high)


@pytest.mark.parametrize("n", [40, 700])
def test_bits_of_a_wide_factor_do_not_depend_on_threads(n, monkeypatch):
    rows, results = RNG.normal(size=(n, _threads.WIDE + 90)), []
    start, past = np.zeros((rows.shape[1],) * 2, order="F"), Mean.of_nothing(rows.shape[1])
    for threads in (1, 2, 3):
        monkeypatch.setattr(_threads, "_cores", lambda threads=threads: threads)
        with threadpool_limits(threads):
            update, task = _lapack.factor_update, (rows[:, :-1], rows[:, -1:], None)
            once = update(start, past, *task, centered=True)
            results.append(update(once.matrix, once.mean, *task, centered=True).matrix)
    assert_array_equal(results, [results[0]] * 3)


def test_an_error_inside_does_not_keep_the_limit():
    def fail():
        with _threads.threads_for(10, 1e6):
            raise RuntimeError

    with threadpool_limits(2):
        with pytest.raises(RuntimeError):
            fail()
        assert blas_threads() == {2}


@pytest.mark.parametrize("update", UPDATES)
def test_threads_that_learn_at_once_give_the_limit_back(update, cores):
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(
                lambda _: update(np.zeros((22, 22), order="F"), Mean.of_nothing(22), X, Y, None, centered=True).matrix,
                range(8),
            )
        )
    assert blas_threads() == {cores}
    assert_array_equal(answers, [answers[0]] * 8)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("update", UPDATES)
def test_a_forked_process_starts_its_own_threads(update, monkeypatch):
    monkeypatch.setattr(_threads, "_cores", lambda: 2)
    want = updated(update).matrix  # the second thread of this process is running now
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert_array_equal(pool.apply_async(updated, (update,)).get(timeout=60).matrix, want)


def test_rows_are_learned_while_the_interpreter_ends():
    code = """
import atexit, threading, numpy as np
from threadpoolctl import threadpool_limits
from ridgeway.kernels import Mean, _threads, comoment_update
_threads._cores = lambda: 2
limit = threadpool_limits(2)
X, y = np.random.default_rng(0).normal(size=(30_000, 20)), np.zeros((30_000, 1))
def learn():
    comoment_update(np.zeros((21, 21), order="F"), Mean.of_nothing(21), X, y, None, centered=True)
    print("learned", flush=True)
def later():
    threading.main_thread().join()
    learn()
atexit.register(learn)
threading.Thread(target=later).start()
"""
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "learned\nlearned\n", "")


def limited_once(_):
    with _threads.OneThread():
        inside = blas_threads()
    return inside, blas_threads()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_process_forked_while_another_thread_is_limited_gets_its_threads_back():
    with threadpool_limits(2), ThreadPoolExecutor(1) as pool:
        limit = _threads.OneThread()
        pool.submit(limit.__enter__).result()
        with multiprocessing.get_context("fork").Pool(1) as processes:
            assert processes.map(limited_once, [0]) == [({1}, {2})]
        pool.submit(limit.__exit__).result()
        assert limited_once(0) == ({1}, {2})


def test_a_signal_handler_may_limit_threads_while_a_limit_is_being_set():
    ended = []

    def interrupted():
        with _threads._limits._lock:  # where a handler may run
            ended.append(limited_once(0))

    thread = threading.Thread(target=interrupted, daemon=True)
    with threadpool_limits(2):
        thread.start()
        thread.join(10.0)
        assert ended == [({1}, {2})]


def test_a_limit_whose_exit_was_interrupted_ends(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    entered = _threads.OneThread.__enter__
    with threadpool_limits(2):
        for step in ("__enter__", "__exit__"):
            with monkeypatch.context() as patch:
                patch.setattr(_threads.OneThread, step, lambda limit, *_: (entered(limit), interrupted()))
                with pytest.raises(KeyboardInterrupt), _threads.OneThread():
                    pass
            assert not _threads._limits._inside
            assert blas_threads() == {2}
        assert limited_once(0) == ({1}, {2})
