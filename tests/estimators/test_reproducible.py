"""The same build, threads and cutting give bitwise the same state; others agree to 1e-12 of the largest entry."""

import copy
import pickle

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from ridgeway import ContinualRidge, EarlyStopping, GeneralizedRidge, MinimumNorm, Oracle, kernels

MODELS = [
    GeneralizedRidge(),
    GeneralizedRidge(information="moments"),
    MinimumNorm(),
    ContinualRidge(0.1),
    EarlyStopping(n_steps=7),
    EarlyStopping(n_steps=1),
    Oracle(),
]
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(900, 60)) + 3.0, rng.normal(size=(900, 2))


def learn(model, cuts=9, threads=2):
    with threadpool_limits(threads):
        model.fit(X, Y, tasks=np.arange(900) * cuts // 900)
        return model.coef_, pickle.dumps(model)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("threads", [1, 2])
def test_bitwise_the_same_again(model, threads):
    (coef, state), (again, same) = learn(model, threads=threads), learn(model, threads=threads)
    np.testing.assert_array_equal(coef, again)
    assert state == same


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_other_threads_agree(model):
    one, two = (learn(model, threads=threads)[0] for threads in (1, 2))
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-12 * np.abs(one).max())


@pytest.mark.parametrize("model", [MODELS[0], MODELS[1], MODELS[-1]], ids=repr)
def test_other_cuttings_agree(model):
    one, two = (learn(model, cuts=cuts)[0] for cuts in (1, 30))
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-12 * np.abs(one).max())


def test_a_copy_learns_on_bitwise():
    model = GeneralizedRidge().fit(X, Y[:, 0])
    back = copy.deepcopy(model)  # by the same protocol as a pickle
    np.testing.assert_array_equal(back.partial_fit(X[:9], Y[:9, 0]).coef_, model.partial_fit(X[:9], Y[:9, 0]).coef_)


def states(kind, p, n, fit_intercept):
    """Return the bits of a first task, of another one, of a merged model and of one without a task."""
    drawn = np.random.default_rng(p)
    rows, y = drawn.normal(size=(254 + n, p)), drawn.normal(size=254 + n)
    new = {"information": kind, "fit_intercept": fit_intercept}
    first = GeneralizedRidge(**new).partial_fit(rows[:254], y[:254])
    second = copy.deepcopy(first).partial_fit(rows[254:], y[254:])
    merged = first.merge(GeneralizedRidge(**new).partial_fit(rows[254:], y[254:]))
    rest = second.remove(rows[254:], y[254:])
    return [
        [array.tobytes() for array in model.information_.to_parts()[1].values()]
        for model in (first, second, merged, rest)
    ]


@pytest.mark.parametrize("kind", ["square_root", "moments"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("p", [3, 16, 37, 63, 80, 97, 128, 180, 240])
@pytest.mark.parametrize("n", [1, 2, 6, 50, 3000])
def test_small_tasks_are_bitwise_the_same_with_any_number_of_threads(kind, p, n, fit_intercept):
    with threadpool_limits(1):
        one = states(kind, p, n, fit_intercept)
    with threadpool_limits(2 if kernels.NAME == "lapack" else 1):  # the plain ones leave threads to BLAS
        two = states(kind, p, n, fit_intercept)
    assert one == two
