"""Expected errors over normal rows: against rational arithmetic, simulation, and the exact error given the rows."""

from fractions import Fraction

import numpy as np
import pytest

from ridgeway.errors import InvalidDataTypeError, InvalidParameterError
from ridgeway.research import theory
from ridgeway.research.theory import FixedDesignProblem, gaussian_minimum_norm_error, gaussian_pooled_error
from ridgeway.weights import Accumulated, Zero


def inverse_trace(n, p):
    """E tr(XXᵀ)⁻¹ for n normal rows in p > n + 1 dimensions, row by row.

    By Bartlett's decomposition the k-th row adds (1 + trace so far) times the mean of 1/χ² with p − k + 1 degrees of
    freedom.
    """
    trace = Fraction(0)
    for k in range(1, n + 1):
        trace += (1 + trace) / (p - k - 1)
    return trace


def unrolled(n, p, n_tasks, start, noise, distances):
    """The closed form as it is written, for n rows in each task."""
    share = 1 - Fraction(n, p)
    errors = []
    for t in range(1, n_tasks + 1):
        past = sum(share ** (t - k) * distances[k - 1] for k in range(1, t + 1))
        errors.append(share**t * start + (1 - share) * past + (1 - share**t) * noise * Fraction(p, p - n - 1))
    return errors


def recursion(counts, p, start, noise, distances):
    """The same task by task, from what a projection and the noise do."""
    error, errors = Fraction(start), []
    for n, distance in zip(counts, distances, strict=True):
        share = 1 - Fraction(n, p)
        error = share * error + (1 - share) * distance + noise * inverse_trace(n, p)
        errors.append(error)
    return errors


@pytest.mark.parametrize(("n", "p"), [(1, 3), (2, 9), (5, 8), (150, 200)])
def test_minimum_norm_is_the_closed_form(n, p):
    distances = [Fraction(k * k, 3) for k in range(6)]
    exact = unrolled(n, p, 6, Fraction(7, 2), Fraction(3, 4), distances)
    assert exact == recursion([n] * 6, p, Fraction(7, 2), Fraction(3, 4), distances)
    found = gaussian_minimum_norm_error(
        [n] * 6, p, initial_error=3.5, noise_variance=0.75, distances=[float(d) for d in distances]
    )
    np.testing.assert_allclose(found, [float(error) for error in exact], rtol=1e-13)


def test_tasks_of_different_sizes():
    counts, distances = [1, 7, 3, 5], [Fraction(0), Fraction(2), Fraction(1, 5), Fraction(4)]
    exact = recursion(counts, 9, 5, Fraction(1, 3), distances)
    found = gaussian_minimum_norm_error(
        counts, 9, initial_error=5.0, noise_variance=1 / 3, distances=[0.0, 2.0, 0.2, 4.0]
    )
    np.testing.assert_allclose(found, [float(error) for error in exact], rtol=1e-13)
    same = gaussian_minimum_norm_error(counts, 9, initial_error=5.0, distances=2.0)
    np.testing.assert_array_equal(same, gaussian_minimum_norm_error(counts, 9, initial_error=5.0, distances=[2.0] * 4))


def test_enough_rows_are_fitted_alone_and_nearly_as_many_as_features_have_no_mean():
    found = gaussian_minimum_norm_error([3, 4, 3, 5, 10, 2], 4, initial_error=1.0, noise_variance=2.0, distances=3.0)
    assert np.isinf(found[:4]).all()
    assert found[4] == 3.0 + 2.0 * 4 / 5
    assert found[5] == (found[4] + 3.0) / 2 + 2.0 * 2
    assert np.isinf(gaussian_pooled_error([3, 1, 1, 1], 4, initial_error=1.0)).tolist() == [True, True, True, False]


def test_without_noise_there_is_always_a_mean():
    pooled = gaussian_pooled_error([3, 1, 1, 1], 4, initial_error=2.0, noise_variance=0.0)
    np.testing.assert_array_equal(pooled, [0.5, 0.0, 0.0, 0.0])
    alone = gaussian_minimum_norm_error([3, 4], 4, initial_error=2.0, noise_variance=0.0, distances=[0.0, 1.0])
    np.testing.assert_array_equal(alone, [0.5, 1.0])


@pytest.mark.parametrize(("n", "p"), [(1, 4), (3, 9), (150, 200)])
def test_pooled(n, p):
    found = gaussian_pooled_error([n] * 12, p, initial_error=2.0, noise_variance=0.5)
    for t, error in enumerate(found.tolist(), start=1):
        rows = t * n
        if abs(rows - p) <= 1:
            assert error == float("inf")
        elif rows < p:
            assert error == pytest.approx(float((1 - Fraction(rows, p)) * 2 + inverse_trace(rows, p) / 2), rel=1e-13)
        else:
            assert error == pytest.approx(float(inverse_trace(p, rows) / 2), rel=1e-13)


def exact_given_the_rows(weights, *, counts, p, signal, noise, coefs=None, repeats=1500):
    """The exact error given the rows, for many draws of the rows: (repeats, T)."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(repeats):
        designs = [rng.normal(size=(n, p)) for n in counts]
        problem = FixedDesignProblem(designs, noise_variance=noise, signal=signal, task_coefs=coefs)
        found.append(problem.expected_error(weights).total)
    return np.array(found)


def z_scores(samples, expected):
    return np.abs(samples.mean(axis=0) - expected) / (samples.std(axis=0, ddof=1) / np.sqrt(len(samples)))


def test_minimum_norm_against_many_draws_of_the_rows():
    counts, p, noise = [3, 5, 3, 4], 12, 6.0
    rng = np.random.default_rng(2)
    target, coefs = rng.normal(size=p), rng.normal(size=(4, p))
    samples = exact_given_the_rows(Zero(), counts=counts, p=p, signal=target, noise=noise, coefs=coefs)
    arguments = {"initial_error": float(target @ target), "distances": np.square(coefs - target).sum(axis=1)}
    assert z_scores(samples, gaussian_minimum_norm_error(counts, p, noise_variance=noise, **arguments)).max() < 4
    # Control: a tenth more noise, and a parameter that is a tenth further away, are seen.
    louder = gaussian_minimum_norm_error(counts, p, noise_variance=1.1 * noise, **arguments)
    assert z_scores(samples, louder).max() > 4
    arguments["distances"] = 1.1 * arguments["distances"]
    assert z_scores(samples, gaussian_minimum_norm_error(counts, p, noise_variance=noise, **arguments)).max() > 4


def test_pooled_against_many_draws_of_the_rows():
    counts, p, noise = [4, 3, 13, 9], 14, 0.7
    samples = exact_given_the_rows(Accumulated(), counts=counts, p=p, signal=1.0, noise=noise)
    expected = gaussian_pooled_error(counts, p, initial_error=p, noise_variance=noise)
    assert z_scores(samples, expected).max() < 4
    # Control: p − N for p − N − 1, and N − p for N − p − 1.
    rows = np.cumsum(counts)
    spare = np.abs(rows - p)
    wrong = np.where(rows < p, p - rows, 0) + noise * np.minimum(rows, p) / spare
    assert z_scores(samples, wrong).min() > 4


def test_the_error_of_minimum_norm_rises_or_falls_from_the_first_task_to_the_last():
    limit = 12 / (12 - 4 - 1)
    for start, sign in ((1.1 * limit, -1), (0.9 * limit, 1)):
        errors = gaussian_minimum_norm_error([4] * 30, 12, initial_error=start)
        assert (sign * np.diff([start, *errors]) > 0).all()
        assert errors[-1] == pytest.approx(limit, rel=1e-5)


@pytest.mark.parametrize("function", [gaussian_minimum_norm_error, gaussian_pooled_error])
@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"n_samples": 5}, r"shape \(\)"),
        ({"n_samples": []}, r"shape \(0,\)"),
        ({"n_samples": [5, 0]}, "integers ≥ 1"),
        ({"n_samples": [5, 1.5]}, "integers ≥ 1"),
        ({"n_samples": [5, np.inf]}, "infinity"),
        ({"n_features": 0}, "n_features must be an integer ≥ 1"),
        ({"initial_error": -1.0}, "initial_error"),
        ({"noise_variance": -1.0}, "noise_variance"),
    ],
)
def test_refusals(function, changes, match):
    arguments = {"n_samples": [5, 5], "n_features": 9, "initial_error": 1.0, "noise_variance": 1.0} | changes
    counts, p = arguments.pop("n_samples"), arguments.pop("n_features")
    with pytest.raises(InvalidParameterError, match=match):
        function(counts, p, **arguments)


def test_refusals_of_distances():
    for distances, error in (
        ([1.0], InvalidParameterError),
        (-1.0, InvalidParameterError),
        ("x", InvalidDataTypeError),
    ):
        with pytest.raises(error, match="distances"):
            theory.gaussian_minimum_norm_error([5, 5], 9, initial_error=1.0, distances=distances)
