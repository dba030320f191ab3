"""Rows without noise: what rounding alone makes is not a difference between tasks."""

import warnings

import numpy as np
import pytest

from ridgeway import GeneralizedRidge, retrospect
from ridgeway.errors import InferenceError
from ridgeway.information import ByTask, Moments

LABELS = np.repeat(["a", "b", "c"], 30)


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def learned(X, y, **parameters):
    return GeneralizedRidge(**{"information": "by_task"} | parameters).fit(X, y, tasks=LABELS)


def exact(kind):
    """Return X and y = X·w + b up to rounding."""
    X = np.random.default_rng(0).normal(size=(90, 2))
    if kind == "integers":
        X = np.round(10.0 * X)
        return X, X @ [1.0, 2.0]
    if kind == "large terms":  # that cancel: the target is small beside its rounding
        X[:, 1] = X[:, 0] + 1e-7 * X[:, 1]
        return X, X @ [1e8, -1e8]
    if kind == "offset":
        return X + 1e6, (X + 1e6) @ [1.0, 0.3] - 1.3e6
    return X + 10.0, (X + 10.0) @ [1.0, 0.3] + (1e6 if kind == "large target" else 0.0)


EXACT = pytest.mark.parametrize("kind", ["plain", "integers", "large terms", "offset", "large target"])


@EXACT
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_tasks_without_noise_do_not_differ(kind, fit_intercept):
    X, y = exact(kind)
    if not fit_intercept:
        X = np.column_stack([X, np.ones(90)])
    found = retrospect.tasks(learned(X, y, fit_intercept=fit_intercept))
    np.testing.assert_array_equal(found.f, 0.0)
    np.testing.assert_array_equal(found.p_values, 1.0)
    np.testing.assert_array_equal(found.adjusted_p_values, 1.0)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_rounding_of_a_task_and_that_of_the_others_both_count(scale):
    X, _ = exact("plain")
    X[LABELS == "c"] *= scale
    found = retrospect.tasks(learned(X, X @ [1.0, 0.3]))
    np.testing.assert_array_equal(found.p_values, 1.0)


def test_moments_know_half_of_the_digits():
    X, y = exact("plain")
    found = retrospect.tasks(learned(X, y, information=ByTask(Moments)))
    np.testing.assert_array_equal(found.p_values, 1.0)


@EXACT
def test_a_real_difference_is_one_even_without_noise(kind):
    X, y = exact(kind)
    size = np.abs(X).max() * (1e8 if kind == "large terms" else 1.0) + np.abs(y).max()
    y = y + 1e-10 * size * (LABELS == "c") * (1.0 + np.arange(90) % 2)
    found = retrospect.tasks(learned(X, y))
    assert found.p_values[2] < 0.05


def test_little_noise_is_noise(rng):
    """The test does not depend on the size of the noise, as long as that is not rounding."""
    X, y = exact("plain")
    noise = rng.normal(size=90)
    large, small = (retrospect.tasks(learned(X, y + size * noise)) for size in (1.0, 1e-7))
    np.testing.assert_allclose(small.p_values, large.p_values, rtol=1e-6)
    assert (large.p_values < 1.0).all()


@EXACT
def test_tasks_without_noise_have_no_influence(kind):
    found = retrospect.influence(learned(*exact(kind)))
    np.testing.assert_array_equal(found.distance, 0.0)
    np.testing.assert_array_equal(found.standardized_change, 0.0)


def test_influence_of_a_task_that_differs_among_exact_ones():
    X, y = exact("plain")
    found = retrospect.influence(learned(X, y + X[:, 0] * (LABELS == "c")))
    assert found.distance.argmax() == 2
    assert (found.distance > 0.01).all()
    assert (np.abs(found.standardized_change[2, 1:]) > 1e6).all()


def test_influence_without_degrees_of_freedom_is_unknown(rng):
    model = GeneralizedRidge(information="by_task").fit(rng.normal(size=(3, 2)), rng.normal(size=3), tasks=[0, 0, 1])
    assert np.isnan(retrospect.influence(model).distance).all()


@EXACT
def test_questions_that_need_noise_say_so(kind):
    model = learned(*exact(kind))
    for question in (retrospect.segments, retrospect.cusum):
        with pytest.raises(InferenceError, match="without noise"):
            question(model)
