import numpy as np
import pytest
from numpy.testing import assert_allclose

from ridgeway import metrics
from ridgeway.errors import InvalidDataError


def brute_forgetting(errors):
    return [np.mean([errors[t] - errors[s] for s in range(t)]) if t else np.nan for t in range(len(errors))]


def test_forgetting_is_the_papers_sum_and_its_first_is_nan():
    errors = np.random.default_rng(0).random(9)
    assert_allclose(metrics.forgetting(errors), brute_forgetting(errors))
    assert np.isnan(metrics.forgetting(errors)[0])


def test_signs():
    worse, better = [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]
    assert (metrics.forgetting(worse)[1:] > 0).all()
    assert (metrics.forgetting(better)[1:] < 0).all()
    forgot = [[0.0, 9.0], [5.0, 0.0]]
    assert metrics.backward_transfer(forgot)[1] == -5.0
    helped = [[0.0, 1.0], [0.0, 0.0]]
    assert metrics.forward_transfer(helped, baseline=[9.0, 9.0])[1] == 8.0


def test_a_shared_parameter_makes_the_two_families_agree():
    """R[t, τ] = 𝓛(ŵ_t) for every τ: backward transfer is forgetting with the other sign, average loss is G_t."""
    errors = np.random.default_rng(1).random(7)
    losses = np.repeat(errors[:, None], 7, axis=1)
    assert_allclose(metrics.backward_transfer(losses), -metrics.forgetting(errors))
    assert_allclose(metrics.average_loss(losses), metrics.generalization_error(errors))


def test_transfer_by_brute_force():
    rng = np.random.default_rng(2)
    R, base = rng.random((6, 6)), rng.random(6)
    for t in range(1, 6):
        assert_allclose(metrics.backward_transfer(R)[t], np.mean([R[s, s] - R[t, s] for s in range(t)]))
        assert_allclose(metrics.forward_transfer(R, base)[t], np.mean([base[s] - R[s - 1, s] for s in range(1, t + 1)]))
        assert_allclose(metrics.average_loss(R)[t], R[t, : t + 1].mean())
    assert np.isnan(metrics.backward_transfer(R)[0])
    assert np.isnan(metrics.forward_transfer(R, base)[0])


def test_estimation_error_sums_over_features_alone():
    rng = np.random.default_rng(3)
    coefs, true = rng.random((5, 2, 3)), rng.random(3)
    assert metrics.estimation_error(coefs, true).shape == (5, 2)
    assert_allclose(metrics.estimation_error(coefs, true)[4, 1], np.sum((coefs[4, 1] - true) ** 2))
    assert isinstance(metrics.estimation_error(true, true), float)


@pytest.mark.parametrize(
    "call",
    [
        lambda: metrics.forgetting([]),
        lambda: metrics.forgetting([[1.0]]),
        lambda: metrics.generalization_error(3.0),
        lambda: metrics.average_loss([[1.0, 2.0]]),
        lambda: metrics.backward_transfer([1.0]),
        lambda: metrics.forward_transfer([[1.0]], [1.0, 2.0]),
        lambda: metrics.estimation_error([1.0, 2.0], [1.0]),
        lambda: metrics.estimation_error(1.0, 2.0),
    ],
)
def test_shapes_that_make_no_sense(call):
    with pytest.raises(InvalidDataError, match="shape"):
        call()
