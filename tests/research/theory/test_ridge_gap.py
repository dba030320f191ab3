"""Thm (ridge): unbounded with one λ; with a λ per task below 2, growing as repaired, and with a zero in w_*."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from ridgeway.research.theory import CommutingProblem, ridge_gap


def printed(n_1, n_2, epsilon, initial=(1.0, 1.0)):
    return ridge_gap([n_1, epsilon * n_1], [epsilon * n_2, n_2], initial)


def repaired(m, power=0.5):
    return ridge_gap([m, 1.0], [m**power, m], [1.0, 1.0])


def one_penalty(n, initial=(1.0, 1.0)):
    """The least ratio with one λ for both tasks, n_1 = n_2 = n and ε = n^−½; see docs/ridge-gap.md."""
    case = CommutingProblem([[1.0, n**-0.5], [n**-0.5, 1.0]], [n, n], initial_errors=initial)
    found = [
        minimize_scalar(
            lambda log: case.direction_errors(np.exp(log))[1].sum(), bounds=(low, low + 4), method="bounded"
        )
        for low in range(-40, 12, 2)
    ]
    return min(result.fun for result in found) / case.optimal_error()[1]


def test_one_penalty_grows():
    """The numbers of an independent computation, and the limit √(e_1 + e_2)·n^¼, twice that with a zero in w_*."""
    found = [one_penalty(10.0**power) for power in (4, 6, 8, 10, 12)]
    np.testing.assert_allclose(found, [7.84, 30.7, 113, 393, 1314], rtol=2e-3)
    for initial, limit in (((1.0, 1.0), 2**0.5), ((4.0, 9.0), 13**0.5), ((0.0, 4.0), 4.0)):
        ratios = [one_penalty(10.0**power, initial) / 10.0 ** (power / 4) for power in (16, 20, 24)]
        assert (np.diff(np.abs(np.array(ratios) / limit - 1)) < 0).all()
        assert ratios[-1] == pytest.approx(limit, rel=0.01)


def proof_penalty(n_1, n_2, epsilon):
    """The second penalty of the proof that the gap is below 2; see docs/ridge-gap.md."""
    first, second = (1 + n_1) * epsilon * n_2, (1 + epsilon * n_1) * n_2
    return np.sqrt(second) if n_2 <= 1 + epsilon * n_1 else np.sqrt(first)


@pytest.mark.parametrize("seed", range(15))
def test_against_a_search_over_both_penalties(seed):
    rng = np.random.default_rng(seed)
    first, second, initial = np.exp(rng.normal(0, 3, (3, 3)))
    noise = np.exp(rng.normal())
    case = CommutingProblem([first, second], [1, 1], noise_variance=noise, initial_errors=initial)

    def error(logs):
        return case.direction_errors(np.exp(logs)[:, np.newaxis])[1].sum()

    starts = rng.uniform(-12, 12, (30, 2))
    found = min(
        minimize(error, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 0}).fun for start in starts
    )
    assert ridge_gap(first, second, initial, noise_variance=noise) == pytest.approx(
        found / case.optimal_error()[1], rel=1e-7
    )


def test_as_printed_it_stays_below_2_and_comes_near():
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(300):
        n_1, n_2, epsilon = 10.0 ** rng.uniform([0, 0, -12], [10, 10, 0])
        gap = printed(n_1, n_2, epsilon)
        assert 1 <= gap < 2
        largest = max(largest, gap)
        # The proof's own penalty stays below 2 in each direction, and so do both.
        case = CommutingProblem([[n_1, epsilon * n_1], [epsilon * n_2, n_2]], [1, 1], initial_errors=[1.0, 1.0])
        errors = case.direction_errors([[1.0], [proof_penalty(n_1, n_2, epsilon)]])[1]
        assert (errors < 2 * case.direction_errors(case.optimal_penalties())[1]).all()
    assert largest > 1.2
    assert printed(1e24, 1e24, 1e-12) == pytest.approx(2, abs=1e-5)


def test_as_printed_with_n_equal_it_tends_to_the_closed_form():
    for epsilon in (1e-2, 1e-4, 1e-6):
        limit = 1 + ((1 - np.sqrt(epsilon)) / (1 + np.sqrt(epsilon))) ** 2
        assert printed(1e16, 1e16, epsilon) == pytest.approx(limit, rel=1e-9)


def test_in_the_regime_of_the_printed_proof_it_tends_to_1():
    gaps = [printed(n**2, n**3, n**-0.5) for n in (10.0, 1e2, 1e3, 1e4)]
    np.testing.assert_allclose(gaps, [1.0232, 1.0070, 1.0009, 1.0001], atol=1e-4)


def test_as_repaired_it_grows_like_the_fourth_root():
    gaps = np.array([repaired(m) for m in (1e2, 1e4, 1e6, 1e8, 1e10)])
    np.testing.assert_allclose(gaps, [1.8857, 6.0215, 19.9678, 65.8048, 214.1326], rtol=1e-4)
    assert repaired(1e24) / (1e24**0.25 / np.sqrt(2)) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(("power", "rate"), [(0.25, 0.125), (0.5, 0.25), (2 / 3, 1 / 3), (0.8, 0.2)])
def test_the_rate_of_other_repairs(power, rate):
    measured = np.log(repaired(1e28, power) / repaired(1e24, power)) / np.log(1e4)
    assert measured == pytest.approx(rate, abs=2e-3)


def test_with_a_zero_in_the_true_parameter_the_printed_family_is_unbounded():
    for n in (1e6, 1e9):
        assert printed(n, 1.0, 0.5 * n ** (-1 / 3), initial=(1.0, 0.0)) == pytest.approx(0.75 * n ** (1 / 3), rel=0.01)


def test_with_unequal_true_parameters_it_is_bounded_by_their_ratio():
    rng = np.random.default_rng(1)
    for _ in range(40):
        ratio = 10.0 ** rng.uniform(0, 4)
        n_1, n_2, epsilon = 10.0 ** rng.uniform([0, 0, -8], [8, 8, 0])
        for initial in ((1.0, ratio), (ratio, 1.0)):
            assert printed(n_1, n_2, epsilon, initial) <= (ratio + 1) ** 2 / (4 * ratio) * (1 + np.sqrt(ratio))


def test_equal_information_has_no_gap():
    assert ridge_gap([3.0, 3.0], [5.0, 5.0], [2.0, 2.0], noise_variance=0.3) == pytest.approx(1, rel=1e-12)
    assert ridge_gap([0.0, 0.0], [0.0, 0.0], [2.0, 1.0]) == pytest.approx(1, rel=1e-12)


def test_the_first_penalty_may_lie_beyond_all_scales_of_the_problem():
    """The second task is silent on direction 2, so the best second penalty for direction 1 is σ² over its error."""
    first, second = 1.0, 5.0
    penalties = np.exp(np.linspace(0, 10, 100_001))
    after_first = (penalties**2 + first) / (penalties + first) ** 2
    errors = after_first / (1 + second * after_first) + first / (penalties + first) ** 2
    best = penalties[errors.argmin()]
    assert 20 < best < 40  # the largest of the given numbers is 5
    gap = ridge_gap([first, first], [second, 0.0], [1.0, 0.0])
    assert gap == pytest.approx(errors.min() * (1 + first + second), rel=1e-8)
    # Negative control: neither the largest scale nor an infinite penalty reaches it.
    assert min(errors[0], 1 / (1 + second)) * (1 + first + second) > 1.004 * gap


def test_an_infinite_first_penalty_may_be_the_best():
    """The first task has noise for a direction that is known exactly, and nothing else."""
    assert ridge_gap([0.0, 100.0], [1e20, 0.0], [1.0, 0.0]) == pytest.approx(1, rel=1e-12)
