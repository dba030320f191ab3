"""Closed forms: against rational arithmetic, against their own recursion, and with the optimum as a minimum."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ridgeway.research.theory import CommutingProblem

GAMMA = [[1, 0, 3], [2, 0, 0], [0, 5, 1], [1, 1, 1]]
COUNTS = [4, 7, 3, 10]
NOISE = Fraction(3, 2)
INITIAL = [Fraction(1, 2), Fraction(5, 1), Fraction(1, 9)]


def problem(gamma=GAMMA, counts=COUNTS, noise=NOISE, initial=INITIAL):
    initial = [float(e) for e in initial]
    return CommutingProblem(gamma, counts, noise_variance=float(noise), initial_errors=initial)


def rational_errors(penalties):
    """The error of each direction by one scalar ridge update after another, in fractions."""
    rows, before = [], list(INITIAL)
    for gamma, n, lam in zip(GAMMA, COUNTS, penalties, strict=True):
        before = [
            e if g == 0 else (h / (h + g)) ** 2 * e + (1 / (h + g)) ** 2 * g * NOISE / n
            for g, h, e in zip(gamma, lam, before, strict=True)
        ]
        rows.append(before)
    return rows


def rational_optimum():
    precision, penalties, errors = [NOISE / e for e in INITIAL], [], []
    for gamma, n in zip(GAMMA, COUNTS, strict=True):
        penalties.append([d / n for d in precision])
        precision = [d + n * g for d, g in zip(precision, gamma, strict=True)]
        errors.append(sum(NOISE / d for d in precision))
    return penalties, errors


def floats(rows):
    return np.array([[float(x) for x in row] for row in rows])


def random_problem(rng, zeros=0.3):
    n_tasks, p = rng.integers(1, 6), rng.integers(1, 6)
    gamma = np.exp(rng.normal(0, 2, (n_tasks, p))) * (rng.random((n_tasks, p)) > zeros)
    return CommutingProblem(
        gamma,
        rng.integers(1, 50, n_tasks),
        noise_variance=np.exp(rng.normal()),
        initial_errors=np.exp(rng.normal(0, 2, p)),
    )


def test_optimal_penalties_and_errors_in_rational_arithmetic():
    penalties, errors = rational_optimum()
    np.testing.assert_allclose(problem().optimal_penalties(), floats(penalties), rtol=1e-14)
    np.testing.assert_allclose(problem().optimal_error(), [float(e) for e in errors], rtol=1e-14)


def test_direction_errors_in_rational_arithmetic():
    penalties = [[Fraction(1, t + j) for j in range(1, 4)] for t in range(1, 5)]
    np.testing.assert_allclose(problem().direction_errors(floats(penalties)), floats(rational_errors(penalties)), 1e-14)


def test_the_optimal_penalties_reach_the_optimal_error():
    for seed in range(50):
        case = random_problem(np.random.default_rng(seed))
        reached = case.direction_errors(case.optimal_penalties()).sum(axis=1)
        np.testing.assert_allclose(reached, case.optimal_error(), rtol=1e-12)
        # Negative control: penalties off by a tenth do not reach it where a task has information.
        if case.eigenvalues[0].any():
            assert case.direction_errors(1.1 * case.optimal_penalties()).sum(axis=1)[0] > reached[0] * (1 + 1e-9)


def test_no_penalties_beat_the_optimum_in_any_direction():
    rng = np.random.default_rng(1)
    for _ in range(50):
        case = random_problem(rng)
        best = case.direction_errors(case.optimal_penalties())
        other = case.direction_errors(np.exp(rng.normal(0, 3, best.shape)))
        assert (other >= best * (1 - 1e-12)).all()


def test_the_last_error_does_not_depend_on_the_order_of_the_tasks():
    order = [2, 0, 3, 1]
    shuffled = problem([GAMMA[t] for t in order], [COUNTS[t] for t in order])
    np.testing.assert_allclose(shuffled.optimal_error()[-1], problem().optimal_error()[-1], rtol=1e-14)
    assert abs(shuffled.optimal_penalties()[-1] - problem().optimal_penalties()[-1]).max() > 0.1


def test_oracle_error_is_nan_until_the_pooled_information_is_regular():
    expected = [np.nan, np.nan, sum(1.5 / d for d in (18, 15, 15)), sum(1.5 / d for d in (28, 25, 25))]
    np.testing.assert_allclose(problem().oracle_error(), expected, rtol=1e-14)


def test_oracle_is_the_limit_of_the_optimum_for_large_initial_errors():
    loose = problem(initial=[1e12] * 3)
    np.testing.assert_allclose(loose.optimal_error()[2:], loose.oracle_error()[2:], rtol=1e-9)
    assert (loose.optimal_error()[2:] < loose.oracle_error()[2:]).all()


def test_minimum_norm_errors_respect_their_bound_and_the_printed_one_fails_for_many_rows():
    rng = np.random.default_rng(2)
    slack = []
    for _ in range(200):
        case = random_problem(rng)
        errors = case.direction_errors(0.0).sum(axis=1)
        bound = case.minimum_norm_bound()
        assert (errors >= bound * (1 - 1e-12)).all()
        slack.append(errors / np.where(bound > 0, bound, 1))
    flat = CommutingProblem([[2.0, 2.0]], [10], initial_errors=[1.0, 1.0])
    np.testing.assert_allclose(flat.direction_errors(0.0).sum(axis=1), flat.minimum_norm_bound(), rtol=1e-15)
    assert flat.direction_errors(0.0).sum() < 1 / 2.0  # the printed σ²/γ_max, corrections row 10b


def test_a_task_without_information_leaves_bound_0_and_errors_as_they_were():
    empty = CommutingProblem([[0.0, 0.0], [1.0, 0.0]], [3, 3], initial_errors=[1.0, 2.0])
    assert empty.minimum_norm_bound()[0] == 0
    for penalty in (0.0, 1.0, np.inf):
        assert empty.direction_errors(penalty)[0].tolist() == [1.0, 2.0]


def test_an_initial_error_of_zero_means_an_infinite_penalty():
    case = CommutingProblem([[1.0, 1.0]] * 2, [5, 5], initial_errors=[0.0, 1.0])
    penalties = case.optimal_penalties()
    assert np.isinf(penalties[:, 0]).all()
    assert np.isfinite(penalties[:, 1]).all()
    np.testing.assert_allclose(case.direction_errors(penalties).sum(axis=1), case.optimal_error(), rtol=1e-15)
    assert case.approximation_constant(penalties).constant.tolist() == pytest.approx([1, 1], abs=1e-12)
    assert not case.approximation_constant(1.0).holds.any()


def condition_holds(case, penalties, constant):
    """Thm (approx) as corrected, term by term as it reads."""
    before, denominator = case.initial_errors, case.noise_variance / case.initial_errors
    errors = case.direction_errors(penalties)
    for t, (gamma, n) in enumerate(zip(case.eigenvalues, case.n_samples, strict=True)):
        best = case.noise_variance / (n * before)
        with np.errstate(divide="ignore", invalid="ignore"):
            delta = gamma * (1 / (penalties[t] + gamma) - 1 / (best + gamma))
        rho = gamma * n / denominator
        bound = constant * (constant - 1) * rho**2 / ((1 + rho) * (1 + constant * rho) ** 2)
        if not (delta**2 <= bound)[gamma > 0].all():
            return False
        before, denominator = errors[t], denominator + n * gamma
    return True


def test_the_approximation_constant_is_the_smallest_and_bounds_the_error():
    rng = np.random.default_rng(3)
    finite = 0
    for _ in range(300):
        case = random_problem(rng, zeros=0.2)
        penalties = case.optimal_penalties() * np.exp(rng.normal(0, 0.7, case.eigenvalues.shape))
        result = case.approximation_constant(penalties)
        assert (np.diff(result.constant[np.isfinite(result.constant)]) >= 0).all()
        errors = case.direction_errors(penalties).sum(axis=1)
        assert (errors <= result.constant * case.optimal_error() * (1 + 1e-9)).all()
        last = result.constant[-1]
        if result.holds[-1] and last > 1 + 1e-6:
            finite += 1
            assert condition_holds(case, penalties, last * (1 + 1e-9))
            assert not condition_holds(case, penalties, 1 + (last - 1) * (1 - 1e-6))
        elif not result.holds[-1]:
            assert not condition_holds(case, penalties, 1e12)
    assert finite > 100


def step_is_within_bound(penalty, best, gamma, constant):
    """Whether an error of C/λ before (σ² = n = 1) is at most C/(λ + γ) after a ridge update with penalty λ̃."""
    after = (penalty / (penalty + gamma)) ** 2 * constant / best + gamma / (penalty + gamma) ** 2
    return after <= constant / (best + gamma)


def test_penalty_range_is_where_a_step_keeps_the_bound():
    """In fractions, for numbers whose limits λ ∓ √((1 − 1/C)·λ(λ + γ)) are rational."""
    for best, gamma, constant in (("1", "3", "4/3"), ("9", "7", "9/5"), ("1/4", "2", "2"), ("16", "9", "25/9")):
        best, gamma, constant = Fraction(best), Fraction(gamma), Fraction(constant)
        squared = (1 - 1 / constant) * best * (best + gamma)
        case = CommutingProblem([[float(gamma)]], [1], initial_errors=[float(1 / best)])
        (least,), (largest,) = case.penalty_range(float(constant))
        least, largest = Fraction(least.item()), Fraction(largest.item())
        for limit, inside in ((least, 1), (largest, -1)):
            if limit > 0:
                assert float((limit - best) ** 2) == pytest.approx(float(squared), rel=1e-12)
                nudge = inside * limit / 10**9
                assert step_is_within_bound(limit + nudge, best, gamma, constant)
                assert not step_is_within_bound(limit - nudge, best, gamma, constant)
            else:
                assert step_is_within_bound(Fraction(0), best, gamma, constant)


def test_penalties_in_the_range_keep_the_bound_and_it_is_reached():
    rng = np.random.default_rng(8)
    closest = 0.0
    for number in range(400):
        case = random_problem(rng, zeros=0.2)
        constant = 1 + float(np.exp(rng.normal(-1, 1)))
        limits = case.penalty_range(constant)
        ends = rng.integers(2, size=case.eigenvalues.shape)
        if number % 2:
            ends[:] = number // 2 % 2
        penalties = np.where(ends, limits[1], limits[0])
        ratios = case.direction_errors(penalties) * case._denominators() / case.noise_variance
        assert ratios.max() <= constant * (1 + 1e-9)
        closest = max(closest, float(ratios.max()) / constant)
    assert closest > 0.97


def test_penalty_range_in_directions_without_information_or_error():
    case = CommutingProblem([[0.0, 1.0, 1.0]], [5], initial_errors=[1.0, 0.0, 1e-200])
    least, largest = case.penalty_range(2.0)
    assert least[0].tolist() == [0.0, np.inf, pytest.approx(2e199 * (1 - 0.5**0.5))]
    assert largest[0].tolist() == [np.inf, np.inf, pytest.approx(2e199 * (1 + 0.5**0.5))]
    least, largest = case.penalty_range(1.0)
    assert least[0, 1:].tolist() == largest[0, 1:].tolist() == case.optimal_penalties()[0, 1:].tolist()


def test_the_printed_approximation_condition_breaks_its_bound():
    """Negative control, corrections row 7: with Δ from eq. (lambda), one limit on |γΔ| allows too much."""
    rng = np.random.default_rng(4)
    broken = 0
    for _ in range(200):
        case = CommutingProblem(np.exp(rng.normal(0, 1, (6, 1))), np.full(6, 5), initial_errors=[1.0])
        best, constant = case.optimal_penalties()[:, 0], 1.5
        denominator = case.noise_variance / case.direction_errors(case.optimal_penalties())[:, 0]
        gamma, before = case.eigenvalues[:, 0], np.append(1.0, denominator[:-1])
        rho = gamma * 5 / before
        edge = np.sqrt(constant * (constant - 1) * rho**2 / ((1 + rho) * (1 + constant * rho) ** 2))
        penalties = gamma / np.clip(gamma / (best + gamma) - edge, 1e-9, 1) - gamma
        errors = case.direction_errors(penalties[:, np.newaxis]).sum(axis=1)
        broken += bool((errors > constant * case.optimal_error() * (1 + 1e-9)).any())
    assert broken > 20


def test_optimal_learning_rates_reach_the_optimum_by_gradient_descent():
    rng = np.random.default_rng(5)
    for _ in range(20):
        case = random_problem(rng)
        steps = rng.integers(1, 6, len(case.n_samples))
        rates = case.optimal_learning_rates(steps)
        kept = (1 - rates * case.eigenvalues) ** steps[:, np.newaxis]
        before = case.initial_errors
        for t, (gamma, n) in enumerate(zip(case.eigenvalues, case.n_samples, strict=True)):
            noise = np.divide(case.noise_variance, n * gamma, out=np.zeros_like(gamma), where=gamma > 0)
            before = kept[t] ** 2 * before + (1 - kept[t]) ** 2 * noise
            np.testing.assert_allclose(before.sum(), case.optimal_error()[t], rtol=1e-11)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_errors_stay_between_zero_and_what_a_task_can_do(data):
    n_tasks, p = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    scale = st.one_of(st.just(0.0), st.floats(1e-30, 1e30))
    gamma = data.draw(arrays(np.float64, (n_tasks, p), elements=scale))
    initial = data.draw(arrays(np.float64, p, elements=scale))
    lam = data.draw(arrays(np.float64, (n_tasks, p), elements=st.one_of(scale, st.just(np.inf))))
    case = CommutingProblem(gamma, np.full(n_tasks, 3.0), initial_errors=initial)
    errors = case.direction_errors(lam)
    before = np.vstack([initial, errors[:-1]])
    with np.errstate(divide="ignore"):
        own = np.where(gamma > 0, 1 / (3 * gamma), 0.0)
    assert np.isfinite(errors).all()
    assert (errors >= 0).all()
    assert (errors <= np.maximum(before, own) * (1 + 1e-12)).all()
    assert (np.diff(case.optimal_error()) <= 0).all()
    assert (case.approximation_constant(lam).constant >= 1).all()
    reached = case.direction_errors(case.optimal_penalties()).sum(axis=1)
    np.testing.assert_allclose(reached, case.optimal_error(), rtol=1e-10)
