"""When absorbing a task helps: the closed form beside the exact risks of the estimators."""

import numpy as np
import pytest

from ridgeway.errors import InvalidParameterError
from ridgeway.research import theory
from ridgeway.weights import Accumulated


def problem(rng, size, rows=(12, 9), p=4):
    designs = [rng.normal(size=(n, p)) for n in rows]
    old = rng.normal(size=p)
    coefs = np.array([old] * (len(rows) - 1) + [old + size * rng.normal(size=p)])
    return designs, coefs


def exact(designs, coefs, target):
    full = theory.FixedDesignProblem(designs, noise_variance=0.7, signal=target, task_coefs=coefs)
    return full.expected_error(Accumulated())


@pytest.mark.parametrize("size", [0.0, 0.1, 0.4, 2.0])
def test_gains_are_differences_of_exact_errors(rng, size):
    designs, coefs = problem(rng, size, rows=(12, 8, 9))
    found = theory.pooling_gain(
        theory.FixedDesignProblem(designs, noise_variance=0.7, signal=coefs[0], task_coefs=coefs)
    )
    error = exact(designs, coefs, coefs[0]).total
    np.testing.assert_allclose(found.gain_for_past[2], error[1] - error[2], rtol=1e-9)
    absorbed = exact(designs, coefs, coefs[2]).total[2]
    alone = exact(designs[2:], coefs[2:], coefs[2]).total[0]
    np.testing.assert_allclose(found.gain_for_task[2], alone - absorbed, rtol=1e-9)


def noncentrality(designs, coefs):
    made = theory.FixedDesignProblem(designs, noise_variance=0.7, signal=coefs[0], task_coefs=coefs)
    return theory.pooling_gain(made).noncentrality[1]


@pytest.mark.parametrize(("scale", "helps"), [(0.999, True), (1.001, False)])
def test_noncentrality_of_one_is_the_border_in_the_order_of_matrices(rng, scale, helps):
    designs, coefs = problem(rng, 1.0)
    factor = scale / np.sqrt(noncentrality(designs, coefs))
    coefs = np.array([coefs[0], coefs[0] + factor * (coefs[1] - coefs[0])])
    np.testing.assert_allclose(noncentrality(designs, coefs), scale**2)
    error = exact(designs, coefs, coefs[0]).second_moment
    saved = [error[0] - error[1]]
    alone = exact(designs[1:], coefs[1:], coefs[1]).second_moment[0]
    saved.append(alone - exact(designs, coefs, coefs[1]).second_moment[1])
    for gain in saved:
        assert (np.linalg.eigvalsh(gain).min() > 0.0) == helps


def test_singular_pasts_and_tasks(rng):
    designs, coefs = problem(rng, 1.0, rows=(3, 9, 2))
    found = theory.pooling_gain(theory.FixedDesignProblem(designs, signal=coefs[0], task_coefs=coefs))
    assert np.isnan(found.noncentrality[:2]).all()
    assert np.isfinite(found.gain_for_past[2])
    assert found.gain_for_task[2] == np.inf


def drift(designs, coefs):
    """What the distances of the parameters from 0 add to the error of H̃_t."""
    distances = theory.FixedDesignProblem(designs, signal=np.zeros(coefs.shape[1]), task_coefs=coefs)
    return distances.expected_error(Accumulated()).drift[-1]


@pytest.mark.parametrize("scale", [1.0, 1e3])
@pytest.mark.parametrize("q", [1, 10, 100, 1000])
def test_the_factor_of_the_additional_term_has_no_bound(q, scale):
    """The rows k(1, 1/q), then k(1, 0), with δ_1 = (0.01, 0): both are fitted, and w_2 alone is off, by q/100."""
    designs = [scale * np.array([[1.0, 1.0 / q]]), scale * np.array([[1.0, 0.0]])]
    assert drift(designs, np.array([[0.01, 0.0], [0.0, 0.0]])) == pytest.approx((q / 100) ** 2, rel=1e-6)


def test_the_factor_is_at_most_1_in_each_direction_if_covariances_commute(rng):
    basis, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    for _ in range(50):
        designs = [(basis * np.exp(2 * rng.normal(size=4))).T for _ in range(3)]
        distances = rng.normal(size=(3, 4))
        limit = np.square(distances @ basis).max(axis=0).sum()
        assert drift(designs, distances) <= limit * (1 + 1e-9)


@pytest.mark.parametrize("distance", [1.0, 1e4])
def test_pulls_can_cancel(distance):
    designs, coefs = [np.ones((1, 1))] * 3, np.array([[distance], [-distance], [0.0]])
    assert exact(designs, coefs, np.zeros(1)).total[-1] == pytest.approx(0.7 / 3, rel=1e-6)
    # Control: with both on one side they do not.
    assert exact(designs, np.abs(coefs), np.zeros(1)).total[-1] > 0.7 / 3 + distance**2 / 4


def test_a_task_that_hides_the_past_in_its_rounding_has_no_answer():
    designs = [np.eye(2), np.full((1, 2), 1e10)]
    found = theory.pooling_gain(theory.FixedDesignProblem(designs, signal=[0.0, 0.0], task_coefs=np.zeros((2, 2))))
    assert np.isnan([found.noncentrality, found.gain_for_past, found.gain_for_task]).all()


def test_a_problem_without_parameters_of_tasks():
    with pytest.raises(InvalidParameterError, match="task_coefs"):
        theory.pooling_gain(theory.FixedDesignProblem([[[1.0]]], signal=1.0))
