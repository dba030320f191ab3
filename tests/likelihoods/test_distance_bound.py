"""The bound on the distance to the pooled estimate holds, and is not much larger than the distance."""

from dataclasses import replace

import numpy as np
import pytest
from glm_rows import MODELS, draw, learned

from ridgeway import GeneralizedLogistic, weights
from ridgeway.data import Task
from ridgeway.errors import InferenceError
from ridgeway.likelihoods import Gaussian, Polynomial
from ridgeway.weights import AccumulatedLikelihood, Origin

SHAPES = [(100, 5, 2), (200, 5, 2), (200, 10, 3), (400, 10, 3)]
"""Rows of a task, tasks and features."""


def distance(model, pooled):
    """The largest difference, in the model's own standard errors."""
    away = np.append(model.coef_ - pooled.coef_, model.intercept_ - pooled.intercept_)
    return np.max(np.abs(away) / np.append(model.standard_errors_, model.intercept_error_))


def sequences(family, memory, prior=0.1):
    for n, n_tasks, p in SHAPES:
        for seed in range(8):
            X, y = draw(np.random.default_rng(seed), family, n * n_tasks, p, size=0.4)
            settings = weights.Accumulated(prior=prior)
            model = learned(MODELS[family](settings, memory=memory), X, y, np.arange(n, n * n_tasks, n))
            yield model, MODELS[family](settings).fit(X, y)


@pytest.mark.parametrize("memory", ["quadratic", "cubic"])
@pytest.mark.parametrize("family", MODELS)
def test_the_bound_holds_and_is_within_100_times_in_the_median(family, memory):
    pairs = list(sequences(family, memory))
    away, bounds = (
        np.array(found) for found in zip(*((distance(*p), p[0].distance_bound_) for p in pairs), strict=True)
    )
    assert (away <= bounds).all()
    assert np.median(bounds / away) < 100.0
    assert np.mean(np.isinf(bounds)) <= 0.2


def test_a_bound_without_the_drift_does_not_hold():
    """The control: what is kept of the rows decides."""
    broken = 0
    for model, pooled in sequences("binomial", "quadratic"):
        state = model.state_
        still = replace(state.remainder, drifts=Polynomial.zero(state.past.centre))
        broken += replace(state, remainder=still).distance_bound() < distance(model, pooled)
    assert broken > 20


@pytest.mark.parametrize("family", MODELS)
def test_the_bound_of_merged_models_holds(family):
    for seed in range(8):
        X, y = draw(np.random.default_rng(seed), family, 1200, 2, size=0.4)
        X[600:] += 0.3 * X.std(axis=0)
        settings = weights.Accumulated(prior=0.1)
        halves = ((X[rows], y[rows]) for rows in (slice(600), slice(600, 1200)))
        parts = [learned(MODELS[family](settings, memory="cubic"), *half, [300]) for half in halves]
        both, pooled = parts[0].merge(parts[1]), MODELS[family](settings).fit(X, y)
        away = distance(both, pooled)
        assert away <= both.distance_bound_ < 1000.0 * away


def test_the_bound_of_faded_tasks_is_about_the_fading_fit():
    """With decay γ the pooled fit has weights γ^(T − t), and the prior γ^T."""
    for seed in range(8):
        X, y = draw(np.random.default_rng(seed), "binomial", 1200, 2, size=0.4)
        model = learned(GeneralizedLogistic(weights.Accumulated(0.5, decay=0.8), memory="cubic"), X, y, [300, 600, 900])
        faded = 0.8 ** np.repeat([3.0, 2.0, 1.0, 0.0], 300)
        pooled = GeneralizedLogistic(weights.Accumulated(0.5 * 0.8**4)).fit(X, y, sample_weight=faded)
        away = distance(model, pooled)
        assert away <= model.distance_bound_ < 1000.0 * away


@pytest.mark.parametrize("memory", ["quadratic", "cubic"])
def test_nothing_is_lost_of_gaussian_rows(memory):
    rng = np.random.default_rng(0)
    policy = AccumulatedLikelihood(0.5, 1.0, Gaussian(), memory)
    state = policy.start(Origin(np.zeros((2, 1))))
    for _ in range(4):
        state = policy.step(state, Task.of(rng.normal(size=(30, 2)), rng.normal(size=(30, 1))))
    assert state.distance_bound() < 1e-6


def test_one_task_is_exact():
    X, y = draw(np.random.default_rng(1), "binomial", 300, 3)
    assert GeneralizedLogistic().fit(X, y).distance_bound_ < 1e-6


def test_more_classes_have_no_bound():
    X, y = draw(np.random.default_rng(1), "poisson", 300, 2)
    model = GeneralizedLogistic(weights.Accumulated(prior=1.0)).fit(X, np.minimum(y, 2))
    with pytest.raises(InferenceError, match="two classes"):
        _ = model.distance_bound_
