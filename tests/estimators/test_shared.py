"""One model in several threads: no task is lost, and whoever asks sees a whole state."""

import copy
import io
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from threading import Thread

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from ridgeway import ContinualRidge, EarlyStopping, GeneralizedRidge, MinimumNorm, Oracle
from ridgeway.errors import InvalidStateError
from ridgeway.estimators import _shell

THREADS, TASKS = 4, 50
rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 3)), rng.normal(size=20)


def slow_penalty(task_number):
    time.sleep(0.0005)  # lets another thread run in the middle of a step
    return 1.0


def taught_by_threads(model):
    """Let several threads teach a model at the same time."""

    def teach(_):
        for _ in range(TASKS):
            model.partial_fit(X, y)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(teach, range(THREADS)))
    return model


@pytest.fixture
def impatient():
    """Threads take turns a hundred times more often than usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(before / 100)
    yield
    sys.setswitchinterval(before)


MODELS = [
    GeneralizedRidge(),
    GeneralizedRidge(information="moments"),
    ContinualRidge(slow_penalty),
    MinimumNorm(),
    EarlyStopping(),
    Oracle(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_no_task_is_lost(model, impatient):
    model = taught_by_threads(clone(model))
    assert model.n_tasks_ == THREADS * TASKS
    assert model.n_samples_seen_ == THREADS * TASKS * len(X)


def test_without_the_lock_tasks_would_be_lost(monkeypatch):
    monkeypatch.setattr(_shell, "lock_of", lambda model: nullcontext())
    with pytest.raises(InvalidStateError, match="not learned"):
        taught_by_threads(ContinualRidge(slow_penalty))


class Calling:
    """Rows that teach a model another task when they are read."""

    def __init__(self, teach):
        self.teach = teach

    def __array__(self, dtype=None, copy=None):
        teach, self.teach = self.teach, lambda: None
        teach()
        return X


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("n_before", [0, 1])
def test_no_task_is_lost_in_a_call_within_a_call(method, n_before):
    model = GeneralizedRidge()
    for _ in range(n_before):
        model.partial_fit(X, y)
    with pytest.raises(InvalidStateError, match="This one was not learned"):
        getattr(model, method)(Calling(lambda: model.partial_fit(X, y)), y)
    assert model.n_tasks_ == n_before + 1


def test_the_order_of_the_threads_does_not_matter(impatient):
    """The answer is least squares on the rows of all threads."""
    model, parts = GeneralizedRidge(), [rng.normal(size=(10, 4)) for _ in range(THREADS * TASKS)]
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda part: model.partial_fit(part[:, :3], part[:, 3]), parts))
    rows = np.vstack(parts)
    expected = np.linalg.lstsq(np.c_[rows[:, :3], np.ones(len(rows))], rows[:, 3], rcond=None)[0]
    assert_allclose([*model.coef_, model.intercept_], expected, rtol=1e-10)


def unpickled(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def with_state_set(model):
    other = type(model)()
    other.__setstate__(model.__getstate__())
    return other


COPIES = {
    "pickle": unpickled,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "clone": clone,
    "state": with_state_set,
}


@pytest.mark.parametrize("kind", COPIES)
def test_copies_have_a_lock_of_their_own(kind):
    model = ContinualRidge(slow_penalty).partial_fit(X, y)
    with _shell.lock_of(model):
        other = COPIES[kind](model)  # also while the model learns
        learner = Thread(target=other.partial_fit, args=(X, y), daemon=True)
        learner.start()
        learner.join(timeout=60)
        assert not learner.is_alive()
    before = other.n_tasks_
    assert taught_by_threads(other).n_tasks_ == before + THREADS * TASKS
    assert model.n_tasks_ == 1


def test_a_model_that_is_gone_leaves_no_lock():
    model = MinimumNorm().fit(X, y)
    before = len(_shell._LOCKS)
    del model
    assert len(_shell._LOCKS) < before


def test_readers_see_a_whole_state(impatient):
    """Every task has the same rows, so every whole state has the same coefficients."""
    model, learning = GeneralizedRidge().fit(X, y), True
    coef, intercept, other = model.coef_, model.intercept_, GeneralizedRidge().fit(X, y)

    def ask(question):
        asked = 0
        while learning or not asked:
            question()
            asked += 1

    def ask_for_the_state():
        state = model.state_
        assert state.n_samples == len(X) * state.n_tasks

    questions = [
        ask_for_the_state,
        lambda: assert_allclose([*model.coef_, model.intercept_], [*coef, intercept], rtol=1e-9),
        lambda: assert_allclose(model.predict(X[:2]), X[:2] @ coef + intercept, rtol=1e-9, atol=1e-12),
        lambda: assert_allclose(model.merge(other).coef_, coef, rtol=1e-9),
        lambda: assert_allclose(copy.copy(model).partial_fit(X, y).remove(X, y).coef_, coef, rtol=1e-9),
    ]
    with ThreadPoolExecutor(len(questions)) as pool:
        asking = [pool.submit(ask, question) for question in questions]
        taught_by_threads(model)
        learning = False
        for future in asking:
            future.result()


def test_a_prediction_is_that_of_one_state(monkeypatch):
    """Another thread starts over with other columns, at the worst moment."""
    model = GeneralizedRidge().fit(X, y)
    expected, check_rows = model.predict(X), _shell.check_rows

    def interrupted(now, rows):
        model.fit(np.hstack([X, X**2]), y)
        return check_rows(now, rows)

    monkeypatch.setattr(_shell, "check_rows", interrupted)
    assert_array_equal(model.predict(X), expected)
    assert model.n_features_in_ == 6


FORK = """
import os, threading
import numpy as np
from ridgeway import MinimumNorm
started, finished = threading.Event(), threading.Event()
model = MinimumNorm()
class Slow(list):  # data that another thread is still reading
    def __array__(self, dtype=None, copy=None):
        started.set(); finished.wait(60)
        return np.eye(3)
reader = threading.Thread(target=model.partial_fit, args=(Slow(), [1.0, 2.0, 3.0]))
reader.start(); started.wait(60)
if (child := os.fork()) == 0:
    model.partial_fit(np.eye(3), np.ones(3))
    os._exit(model.n_tasks_)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
finished.set(); reader.join()
"""


def test_a_forked_process_can_learn_while_its_parent_does():
    command = [sys.executable, "-W", "ignore", "-c", FORK]
    assert subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout == "1\n"
