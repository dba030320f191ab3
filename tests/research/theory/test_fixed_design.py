"""Exact risks for any designs: against the closed forms, against brute-force matrices, and at singular limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeway.research.theory import CommutingProblem, FixedDesignProblem
from ridgeway.weights import Accumulated, Explicit, Isotropic, Zero


def commuting_pair(seed, n_tasks=4, p=5):
    """The same problem twice: by eigenvalues, and by designs U_t diag(√(n_tγ)) Vᵀ with one V; some γ are 0."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(p, p)))
    counts = rng.integers(2, 9, n_tasks)
    gamma = np.exp(rng.normal(0, 1, (n_tasks, p)))
    designs = []
    for t, n in enumerate(counts):
        gamma[t, rng.permutation(p)[min(n, p - 1) :]] = 0
        seen = np.flatnonzero(gamma[t])
        left, _ = np.linalg.qr(rng.normal(size=(n, seen.size)))
        designs.append((left * np.sqrt(n * gamma[t, seen])) @ basis[:, seen].T)
    coef = rng.normal(size=p)
    closed = CommutingProblem(gamma, counts, noise_variance=0.7, initial_errors=(basis.T @ coef) ** 2)
    return closed, FixedDesignProblem(designs, noise_variance=0.7, signal=coef), basis


def as_matrices(penalties, basis):
    return [(basis * row) @ basis.T for row in penalties]


def random_designs(rng, n_tasks=4, p=5, low=2, high=9):
    return [rng.normal(size=(rng.integers(low, high), p)) for _ in range(n_tasks)]


def random_weights(rng, n_tasks, p, rank):
    roots = [rng.normal(size=(p, rank)) for _ in range(n_tasks)]
    return [root @ root.T for root in roots]


def nudged(weights, p, delta=1e-9):
    """H_t + δI: what the singular updates are the limit of."""
    return [np.asarray(h) + delta * np.eye(p) for h in weights]


def brute_force(designs, weights, coef, noise):
    """The error of every ŵ_t as one linear map of w_* and all noise so far."""
    p = len(coef)
    onto_coef, onto_noise, totals = -np.eye(p), np.zeros((p, 0)), []
    for design, weight in zip(designs, weights, strict=True):
        n = len(design)
        gain = np.linalg.inv(design.T @ design + n * weight) @ design.T
        kept = np.eye(p) - gain @ design
        onto_coef, onto_noise = kept @ onto_coef, np.hstack([kept @ onto_noise, gain])
        totals.append([np.sum((onto_coef @ coef) ** 2), noise * np.sum(onto_noise**2)])
    return np.array(totals).T


@pytest.mark.parametrize("seed", range(10))
def test_closed_forms_agree_on_simultaneously_diagonalisable_designs(seed):
    closed, general, basis = commuting_pair(seed)
    rng = np.random.default_rng(seed)
    schedules = {
        "optimal": closed.optimal_penalties(),
        "minimum norm": np.zeros_like(closed.eigenvalues),
        "ridge": np.broadcast_to(rng.exponential(size=(4, 1)), closed.eigenvalues.shape),
        "any": rng.exponential(size=closed.eigenvalues.shape) * (rng.random(closed.eigenvalues.shape) > 0.3),
    }
    for penalties in schedules.values():
        error = general.expected_error(as_matrices(penalties, basis))
        directions = closed.direction_errors(penalties)
        np.testing.assert_allclose(error.total, directions.sum(axis=1), rtol=1e-9)
        rotated = np.diagonal(basis.T @ error.second_moment @ basis, axis1=1, axis2=2)
        np.testing.assert_allclose(rotated, directions, rtol=1e-9, atol=1e-9 * directions.max())
    best = general.expected_error(as_matrices(schedules["optimal"], basis)).total
    np.testing.assert_allclose(best, closed.optimal_error(), rtol=1e-9)
    # Negative control: the optimum is missed by penalties off by a tenth.
    off = general.expected_error(as_matrices(1.1 * schedules["optimal"], basis)).total
    assert (off > best * (1 + 1e-9)).all()
    assert (general.expected_error(Zero()).total >= closed.minimum_norm_bound() * (1 - 1e-12)).all()


@pytest.mark.parametrize("seed", range(5))
def test_pooled_information_as_weights_is_the_oracle(seed):
    closed, general, _ = commuting_pair(seed, n_tasks=8)
    oracle = closed.oracle_error()
    regular = np.isfinite(oracle)
    assert regular.any()
    np.testing.assert_allclose(general.expected_error(Accumulated()).total[regular], oracle[regular], rtol=1e-9)


def test_pooled_information_as_weights_is_minimum_norm_least_squares_where_singular():
    """Corrections row 11, at every t: the error of pinv on the stacked rows."""
    rng = np.random.default_rng(0)
    designs, coef = random_designs(rng, p=12), rng.normal(size=12)
    error = FixedDesignProblem(designs, noise_variance=2.0, signal=coef).expected_error(Accumulated())
    for t in range(4):
        rows = np.vstack(designs[: t + 1])
        inverse = np.linalg.pinv(rows)
        expected = np.sum(((inverse @ rows - np.eye(12)) @ coef) ** 2), 2.0 * np.sum(inverse**2)
        np.testing.assert_allclose([error.bias[t], error.variance[t]], expected, rtol=1e-9, atol=1e-12)
    explicit = [np.zeros((12, 12))]
    for t in range(1, 4):
        rows = np.vstack(designs[:t])
        explicit.append(rows.T @ rows / len(designs[t]))
    again = FixedDesignProblem(designs, noise_variance=2.0, signal=coef).expected_error(explicit)
    np.testing.assert_allclose(again.total, error.total, rtol=1e-9)


@pytest.mark.parametrize("rank", [2, 5])
def test_recursion_against_brute_force(rank):
    rng = np.random.default_rng(rank)
    designs, coef = random_designs(rng), rng.normal(size=5)
    weights = nudged(random_weights(rng, 4, 5, rank), 5, 1e-3)
    error = FixedDesignProblem(designs, noise_variance=0.3, signal=coef).expected_error(weights)
    bias, variance = brute_force(designs, weights, coef, 0.3)
    np.testing.assert_allclose(error.bias, bias, rtol=1e-9)
    np.testing.assert_allclose(error.variance, variance, rtol=1e-9)
    np.testing.assert_allclose(np.trace(error.second_moment, axis1=1, axis2=2), error.total, rtol=1e-12)
    np.testing.assert_array_equal(error.drift, 0)


@pytest.mark.parametrize("kind", ["zero", "low rank", "diagonal with zeros", "pooled"])
def test_singular_updates_are_the_limit(kind):
    rng = np.random.default_rng(7)
    designs, coef = random_designs(rng, p=9, high=6), rng.normal(size=9)
    weights = {
        "zero": [np.zeros((9, 9))] * 4,
        "low rank": random_weights(rng, 4, 9, 2),
        "diagonal with zeros": [np.diag(rng.exponential(size=9) * (np.arange(9) % 3 > 0)) for _ in range(4)],
        "pooled": [sum((x.T @ x for x in designs[:t]), np.zeros((9, 9))) / len(designs[t]) for t in range(4)],
    }[kind]
    problem = FixedDesignProblem(designs, signal=coef)
    limit = problem.expected_error(weights).total
    near = [sum(brute_force(designs, nudged(weights, 9, delta), coef, 1.0)) for delta in (1e-5, 1e-6)]
    np.testing.assert_allclose(near[1], limit, rtol=1e-2)
    # First order in δ: ten times closer is ten times nearer.
    np.testing.assert_allclose(near[1] + (near[1] - near[0]) / 9, limit, rtol=1e-4)


def test_bad_scales_do_not_move_the_rank():
    rng = np.random.default_rng(8)
    designs, coef = random_designs(rng, low=6), rng.normal(size=5)
    scale = 10.0 ** np.array([-8, 0, 6, -3, 2])
    plain = FixedDesignProblem(designs, signal=coef).expected_error(Accumulated())
    scaled = FixedDesignProblem([x * scale for x in designs], signal=coef / scale).expected_error(Accumulated())
    moments = scaled.second_moment * scale * scale[:, np.newaxis]
    np.testing.assert_allclose(moments, plain.second_moment, rtol=1e-6, atol=1e-9)


def test_policies_and_plain_entries_say_the_same():
    rng = np.random.default_rng(3)
    designs = random_designs(rng)
    problem = FixedDesignProblem(designs, noise_variance=0.5, signal=rng.normal(size=5))
    prior, decay = np.diag([1.0, 0.0, 2.0, 0.5, 3.0]), 0.8
    information, explicit = prior, []
    for design in designs:
        explicit.append(decay * information / len(design))
        information = decay * information + design.T @ design
    matrices = random_weights(rng, 4, 5, 5)
    pairs = [
        (Zero(), [0.0] * 4),
        (Isotropic(0.3), [0.3] * 4),
        (Isotropic([0.1, 0.2, 0.3, 0.4]), [h * np.eye(5) for h in (0.1, 0.2, 0.3, 0.4)]),
        (Explicit(matrices), np.array(matrices)),
        (Accumulated(prior=prior, decay=decay), explicit),
        (Accumulated(prior=np.diag(prior), decay=decay), explicit),
        ([[0.1, 0.2, 0.3, 0.4, 0.5]] * 4, [np.diag([0.1, 0.2, 0.3, 0.4, 0.5])] * 4),
    ]
    for one, other in pairs:
        np.testing.assert_allclose(problem.expected_error(one).total, problem.expected_error(other).total, rtol=1e-10)


def test_an_infinite_weight_holds_a_feature():
    rng = np.random.default_rng(4)
    problem = FixedDesignProblem(random_designs(rng), signal=rng.normal(size=5))
    held = np.array([1.0, np.inf, 0.5, np.inf, 2.0])
    near = np.where(np.isinf(held), 1e12, held)
    np.testing.assert_allclose(problem.expected_error([held] * 4).total, problem.expected_error([near] * 4).total, 1e-8)
    still = problem.expected_error([np.inf] * 4)
    np.testing.assert_allclose(still.total, np.sum(problem.signal**2))


def test_dependent_rows_take_the_minimum_norm_too():
    rng = np.random.default_rng(14)
    design, coef = np.repeat(rng.normal(size=(2, 6)), 2, axis=0), rng.normal(size=6)
    error = FixedDesignProblem([design], signal=coef).expected_error(Zero())
    inverse = np.linalg.pinv(design)
    np.testing.assert_allclose(error.bias, np.sum((inverse @ design @ coef - coef) ** 2), rtol=1e-12)
    np.testing.assert_allclose(error.variance, np.sum(inverse**2), rtol=1e-12)


def test_a_design_of_zeros_changes_nothing():
    problem = FixedDesignProblem([np.zeros((3, 2))], signal=[3.0, 4.0])
    for weight in (0.0, 1.0, np.diag([1.0, 0.0])):
        np.testing.assert_allclose(problem.expected_error([weight]).total, [25.0])


def test_a_random_signal_averages_known_ones():
    rng = np.random.default_rng(5)
    designs, weights = random_designs(rng), [0.2, 0.0, 1.0, 0.4]
    root = rng.normal(size=(5, 3))
    whole = FixedDesignProblem(designs, signal=root @ root.T).expected_error(weights)
    parts = [FixedDesignProblem(designs, signal=column).expected_error(weights).bias for column in root.T]
    np.testing.assert_allclose(whole.bias, sum(parts), rtol=1e-10)
    isotropic = FixedDesignProblem(designs, signal=2.0).expected_error(weights)
    np.testing.assert_allclose(
        isotropic.second_moment,
        FixedDesignProblem(designs, signal=2.0 * np.eye(5)).expected_error(weights).second_moment,
        atol=1e-12,
    )


def test_drift_is_exact_and_vanishes_with_a_common_parameter():
    rng = np.random.default_rng(6)
    designs, coef = random_designs(rng), rng.normal(size=5)
    weights = random_weights(rng, 4, 5, 5)
    common = FixedDesignProblem(designs, signal=coef, task_coefs=np.tile(coef, (4, 1))).expected_error(weights)
    np.testing.assert_array_equal(common.drift, 0)
    task_coefs = coef + rng.normal(size=(4, 5))
    error = FixedDesignProblem(designs, signal=coef, task_coefs=task_coefs).expected_error(weights)
    mean = np.zeros(5)
    for t, (design, weight) in enumerate(zip(designs, weights, strict=True)):
        system = design.T @ design + len(design) * weight
        mean = mean + np.linalg.solve(system, design.T @ (design @ (task_coefs[t] - mean)))
        np.testing.assert_allclose(error.bias[t] + error.drift[t], np.sum((mean - coef) ** 2), rtol=1e-9)
    np.testing.assert_allclose(error.bias, common.bias, rtol=1e-12)
    np.testing.assert_allclose(error.variance, common.variance, rtol=1e-12)
    np.testing.assert_allclose(np.trace(error.second_moment, axis1=1, axis2=2), error.total, rtol=1e-10)


def test_forgetting_by_definition():
    rng = np.random.default_rng(9)
    designs, coef = random_designs(rng), rng.normal(size=5)
    problem = FixedDesignProblem(designs, signal=coef)
    total = problem.expected_error(Zero()).total
    expected = [np.nan] + [np.mean(total[t] - total[:t]) for t in range(1, 4)]
    np.testing.assert_allclose(problem.expected_forgetting(Zero()), expected, rtol=1e-12)
    assert problem.expected_forgetting(Zero())[1:].max() > 0
    pooled = FixedDesignProblem(designs, signal=1.0)
    assert (pooled.expected_forgetting(pooled.optimal_weight_matrices())[1:] < 0).all()


def test_forgetting_of_tasks_with_parameters_of_their_own():
    rng = np.random.default_rng(10)
    designs, task_coefs = random_designs(rng), rng.normal(size=(4, 5))
    targets = [
        FixedDesignProblem(designs, signal=w, task_coefs=task_coefs).expected_error(Isotropic(0.1)).total
        for w in task_coefs
    ]
    expected = [np.nan] + [np.mean([targets[s][t] - targets[s][s] for s in range(t)]) for t in range(1, 4)]
    for signal in (task_coefs[0], np.zeros(5)):
        problem = FixedDesignProblem(designs, signal=signal, task_coefs=task_coefs)
        np.testing.assert_allclose(problem.expected_forgetting(Isotropic(0.1)), expected, rtol=1e-10)


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.integers(1, 7), min_size=1, max_size=4),
    p=st.integers(1, 5),
    power=st.integers(-6, 6),
    seed=st.integers(0, 1000),
)
def test_any_shape_and_scale(counts, p, power, seed):
    rng = np.random.default_rng(seed)
    scale = 10.0**power
    designs = [rng.normal(size=(n, p)) for n in counts]
    coef, penalties = rng.normal(size=p), rng.exponential(size=len(counts))
    plain = FixedDesignProblem(designs, noise_variance=0.5, signal=coef)
    scaled = FixedDesignProblem([scale * x for x in designs], noise_variance=0.5 * scale**2, signal=coef)
    for weights in (Zero(), Accumulated(), list(penalties)):
        error = plain.expected_error(weights)
        rescaled = weights if not isinstance(weights, list) else list(penalties * scale**2)
        np.testing.assert_allclose(scaled.expected_error(rescaled).total, error.total, rtol=1e-7)
        assert error.second_moment.shape == (len(counts), p, p)
        assert (error.bias >= 0).all()
        assert (error.variance >= 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_second_moments_are_symmetric_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    designs = [rng.normal(size=(4, 7)) for _ in range(3)]
    moments = FixedDesignProblem(designs, signal=1.0).expected_error([0.3, 0.2, 0.1]).second_moment
    np.testing.assert_array_equal(moments, moments.transpose(0, 2, 1))


@pytest.mark.parametrize("signal", [[0.0, 0.0], [1.0, 0.0], [30.0, -4.0]])
def test_some_tasks_make_minimum_norm_forget_without_bound(signal):
    """The rows (10, 0), then (0, s): the second task brings in σ²/s², whatever w_* is."""
    for size in (0.1, 0.001):
        problem = FixedDesignProblem([[[10.0, 0.0]], [[0.0, size]]], signal=signal)
        errors = problem.expected_error(Zero()).total
        assert errors == pytest.approx([0.01 + signal[1] ** 2, 0.01 + size**-2])
