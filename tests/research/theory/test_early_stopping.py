"""The dictionary between early stopping and generalized ridge: both ways, its limits, and against the two updates."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeway.errors import InvalidParameterError
from ridgeway.research.theory import (
    learning_rates_from_penalties,
    penalties_from_early_stopping,
    weight_matrix_from_early_stopping,
)


def test_penalties_in_rational_arithmetic():
    gamma, rate, steps = Fraction(3, 4), Fraction(1, 2), 5
    kept = (1 - rate * gamma) ** steps
    expected = float(gamma * kept / (1 - kept))
    assert penalties_from_early_stopping([0.75], 0.5, 5)[0] == pytest.approx(expected, rel=1e-14)
    # Negative control: one step more is another penalty.
    assert penalties_from_early_stopping([0.75], 0.5, 6)[0] != pytest.approx(expected, rel=1e-3)


def test_a_task_of_one_row_is_ridge_at_one_rate():
    """x = (1, 2), y = 3, three steps of 1/10 from (1, −1): γ = 5 in the direction of x, and 0 across it."""
    row, target, rate = (Fraction(1), Fraction(2)), Fraction(3), Fraction(1, 10)
    stopped = [Fraction(1), Fraction(-1)]
    for _ in range(3):
        residual = row[0] * stopped[0] + row[1] * stopped[1] - target
        stopped = [value - rate * residual * entry for value, entry in zip(stopped, row, strict=True)]
    assert stopped == [Fraction(17, 10), Fraction(2, 5)]

    penalty = Fraction(5, 7)
    assert penalties_from_early_stopping([5.0], 0.1, 3)[0] == pytest.approx(float(penalty), rel=1e-14)
    residual = row[0] * stopped[0] + row[1] * stopped[1] - target
    gradient = [
        residual * entry + penalty * (value - start) for entry, value, start in zip(row, stopped, (1, -1), strict=True)
    ]
    assert gradient == [0, 0]


@settings(max_examples=200, deadline=None)
@given(gamma=st.floats(1e-12, 1e12), part=st.floats(1e-9, 1.0), steps=st.integers(1, 20))
def test_there_and_back(gamma, part, steps):
    rate = part / gamma if (part / gamma) * gamma <= 1 else np.nextafter(part / gamma, 0)
    penalty = penalties_from_early_stopping([gamma], [rate], steps)
    np.testing.assert_allclose(learning_rates_from_penalties([gamma], penalty, steps), [rate], rtol=1e-9)


@settings(max_examples=100, deadline=None)
@given(gamma=st.floats(1e-12, 1e12), ratio=st.floats(1e-9, 1e9), steps=st.integers(1, 20))
def test_back_and_there(gamma, ratio, steps):
    rate = learning_rates_from_penalties([gamma], [gamma * ratio], steps)
    assert 0 < rate[0] * gamma <= 1
    np.testing.assert_allclose(penalties_from_early_stopping([gamma], rate, steps), [gamma * ratio], rtol=1e-6)


def test_a_direction_without_information_takes_the_limit():
    for steps in (1, 4):
        limit = penalties_from_early_stopping([1e-13], [0.5], steps)
        np.testing.assert_allclose(penalties_from_early_stopping([0.0], [0.5], steps), limit, rtol=1e-12)
        limit = learning_rates_from_penalties([1e-13], [0.5], steps)
        np.testing.assert_allclose(learning_rates_from_penalties([0.0], [0.5], steps), limit, rtol=1e-12)


def test_zero_and_infinite_penalties():
    np.testing.assert_array_equal(learning_rates_from_penalties([2.0, 2.0, 0.0, 0.0], [0, np.inf, np.inf, 0], 3)[1:], 0)
    assert learning_rates_from_penalties([2.0], [0.0], 3)[0] == 0.5
    np.testing.assert_array_equal(penalties_from_early_stopping([2.0, 0.0], [0.0, 0.0], 3), np.inf)
    assert penalties_from_early_stopping([2.0], [0.5], 3)[0] == 0


def test_an_overshoot_has_a_penalty_for_even_steps_only():
    even = penalties_from_early_stopping([1.0, 1.0], [1.5, 2.0], 2)
    np.testing.assert_allclose(even, [*penalties_from_early_stopping([1.0], [0.5], 2), np.inf])
    for rate, steps in ((1.5, 3), (2.5, 2)):
        with pytest.raises(InvalidParameterError, match="no penalty"):
            penalties_from_early_stopping([1.0], [rate], steps)


def test_one_step_count_per_task():
    gamma = np.array([[1.0, 0.5], [0.2, 0.0]])
    both = penalties_from_early_stopping(gamma, 0.9, [2, 7])
    for t, steps in enumerate((2, 7)):
        np.testing.assert_array_equal(both[t], penalties_from_early_stopping(gamma[t], 0.9, steps))
    with pytest.raises(InvalidParameterError, match="do not match"):
        penalties_from_early_stopping(gamma, 0.9, [2, 7, 1])


def definite(rng, p, rank):
    root = rng.normal(size=(p, rank))
    return root @ root.T


@pytest.mark.parametrize("steps", [1, 3, 8])
@pytest.mark.parametrize("rank", [2, 4])
def test_any_learning_rate_matrix_has_its_weight_matrix(steps, rank):
    rng = np.random.default_rng(steps)
    sigma, rates = definite(rng, 4, rank), definite(rng, 4, 6)
    rates /= 1.3 * np.abs(np.linalg.eigvals(rates @ sigma)).max()
    assert abs(rates @ sigma - sigma @ rates).max() > 0.01
    weight = weight_matrix_from_early_stopping(sigma, rates, steps)
    kept = np.linalg.matrix_power(np.eye(4) - rates @ sigma, steps)
    np.testing.assert_allclose(np.linalg.solve(sigma + weight, weight), kept, atol=1e-10)
    # Negative control: the weight matrix for one step fewer leaves something else.
    wrong = weight_matrix_from_early_stopping(sigma, rates, steps + 1)
    assert abs(np.linalg.solve(sigma + wrong, wrong) - kept).max() > 1e-3


def test_shared_eigenvectors_give_the_theorem_as_printed():
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    gamma, rates = np.array([2.0, 1.0, 0.5, 0.1]), np.array([0.3, 0.9, 1.5, 4.0])
    weight = weight_matrix_from_early_stopping((basis * gamma) @ basis.T, (basis * rates) @ basis.T, 3)
    penalties = penalties_from_early_stopping(gamma, rates, 3)
    np.testing.assert_allclose(weight, (basis * penalties) @ basis.T, atol=1e-12)


def test_the_inverse_covariance_as_learning_rate_needs_no_weight():
    sigma = definite(np.random.default_rng(1), 5, 9)
    for steps in (1, 2, 3):
        weight = weight_matrix_from_early_stopping(sigma, np.linalg.inv(sigma), steps)
        np.testing.assert_allclose(weight, 0, atol=1e-12)


@pytest.mark.parametrize(
    ("covariance", "rates", "steps", "match"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], np.eye(2), 1, "covariance is not positive semidefinite"),
        (np.eye(2), np.diag([1.0, 0.0]), 1, "must be positive definite"),
        (np.eye(2), [[1.0, 0.5], [0.0, 1.0]], 1, "not symmetric"),
        (np.eye(2), np.eye(3), 1, "shape"),
        (np.eye(2), 3 * np.eye(2), 1, "no penalty"),
        (np.eye(2) / 2, 4 * np.eye(2), 2, "never moves"),
        (np.eye(2), np.eye(2), 0, "integers ≥ 1"),
        (np.eye(2), np.eye(2), [1, 2], "one integer"),
        (1.0, 1.0, 1, "shape"),
        ([[np.nan]], [[1.0]], 1, "NaN"),
    ],
)
def test_what_cannot_be_translated_is_an_error(covariance, rates, steps, match):
    with pytest.raises(InvalidParameterError, match=match):
        weight_matrix_from_early_stopping(covariance, rates, steps)
