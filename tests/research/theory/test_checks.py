"""Every wrong argument is a typed error that says what, got and remedy."""

import numpy as np
import pytest

from ridgeway.errors import InvalidDataError, InvalidDataTypeError, InvalidParameterError
from ridgeway.research import theory
from ridgeway.research.theory import CommutingProblem, FixedDesignProblem, ridge_gap
from ridgeway.weights import Accumulated, WeightPolicy


def commuting(**changes):
    arguments = {"eigenvalues": [[1.0, 2.0]], "n_samples": [3], "noise_variance": 1.0, "initial_errors": [1.0, 1.0]}
    arguments |= changes
    return CommutingProblem(arguments.pop("eigenvalues"), arguments.pop("n_samples"), **arguments)


def fixed(**changes):
    return FixedDesignProblem(**({"designs": [np.eye(2)] * 2, "noise_variance": 1.0, "signal": [1.0, 1.0]} | changes))


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"eigenvalues": [1.0, 2.0]}, InvalidParameterError, r"shape \(2,\)"),
        ({"eigenvalues": np.ones((0, 2))}, InvalidParameterError, "at least one task"),
        ({"eigenvalues": [[1.0, -1e-17]]}, InvalidParameterError, "≥ 0"),
        ({"eigenvalues": [[1.0, np.nan]]}, InvalidParameterError, "≥ 0"),
        ({"eigenvalues": [[1.0, np.inf]]}, InvalidParameterError, "infinity"),
        ({"eigenvalues": [["a", "b"]]}, InvalidDataTypeError, "real numbers"),
        ({"eigenvalues": [[1j, 1.0]]}, InvalidDataTypeError, "real numbers"),
        ({"eigenvalues": [[1.0, 2.0], [1.0]]}, InvalidDataTypeError, "ragged"),
        ({"n_samples": [3, 4]}, InvalidParameterError, "one per task"),
        ({"n_samples": [0]}, InvalidParameterError, "empty tasks"),
        ({"noise_variance": 0.0}, InvalidParameterError, "> 0"),
        ({"noise_variance": [1.0]}, InvalidParameterError, "a finite number"),
        ({"initial_errors": [1.0]}, InvalidParameterError, "one per direction"),
        ({"initial_errors": [1.0, np.inf]}, InvalidParameterError, "infinity"),
    ],
)
def test_commuting_problem(changes, error, match):
    with pytest.raises(error, match=match):
        commuting(**changes)


def test_penalties_and_steps():
    with pytest.raises(InvalidParameterError, match="does not match"):
        commuting().direction_errors([1.0, 2.0, 3.0])
    with pytest.raises(InvalidParameterError, match="≥ 0"):
        commuting().approximation_constant(-1.0)
    for constant in (0.99, 0.0, np.nan, np.inf, "2"):
        with pytest.raises(InvalidParameterError, match="constant"):
            commuting().penalty_range(constant)
    with pytest.raises(InvalidParameterError, match="integers"):
        commuting().optimal_learning_rates(1.5)
    with pytest.raises(InvalidParameterError, match="one number, or one per task"):
        commuting().optimal_learning_rates([1, 2])
    with pytest.raises(InvalidDataTypeError, match="masked"):
        commuting().direction_errors(np.ma.array([1.0], mask=[True]))
    with pytest.raises(InvalidParameterError, match="different unit"):
        commuting().direction_errors(1e200)
    with pytest.raises(InvalidParameterError, match="contains NaN"):
        commuting().direction_errors(np.nan)


def test_what_is_no_list_of_tasks():
    with pytest.raises(InvalidDataTypeError, match="one per task"):
        theory.FixedDesignProblem(5, signal=1.0)
    with pytest.raises(InvalidParameterError, match="one per task"):
        theory.FixedDesignProblem([[[1.0, 1.0]]], signal=1.0).expected_error_of_gains(1.0)


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"designs": []}, InvalidDataError, "empty"),
        ({"designs": [[1.0, 2.0]]}, InvalidDataError, "n_samples, n_features"),
        ({"designs": [np.ones((0, 2))]}, InvalidDataError, "empty tasks"),
        ({"designs": [np.eye(2), np.eye(3)]}, InvalidDataError, "same columns"),
        ({"designs": [[[np.nan, 1.0]]]}, InvalidDataError, "NaN"),
        ({"designs": [[["x", "y"]]]}, InvalidDataTypeError, "real numbers"),
        ({"noise_variance": -1.0}, InvalidParameterError, "> 0"),
        ({"signal": [1.0]}, InvalidParameterError, "one entry per feature"),
        ({"signal": [1.0, np.nan]}, InvalidParameterError, "NaN"),
        ({"signal": -1.0}, InvalidParameterError, "≥ 0"),
        ({"signal": np.inf}, InvalidParameterError, "infinity"),
        ({"signal": -np.eye(2)}, InvalidParameterError, "semidefinite"),
        ({"signal": [[0.0, 1.0], [1.0, 0.0]]}, InvalidParameterError, "semidefinite"),
        ({"signal": np.eye(3)}, InvalidParameterError, "shape"),
        ({"task_coefs": [[1.0, 1.0]]}, InvalidParameterError, "one row per task"),
        ({"task_coefs": [[1.0, np.inf]] * 2}, InvalidParameterError, "infinity"),
        ({"task_coefs": np.ones((2, 2)), "signal": 1.0}, InvalidParameterError, "vector"),
    ],
)
def test_fixed_design_problem(changes, error, match):
    with pytest.raises(error, match=match):
        fixed(**changes)


class Unheard(WeightPolicy):
    """A policy that gives no gain."""

    def start(self, origin):
        return None

    def step(self, state, task):
        return None


@pytest.mark.parametrize(
    ("weights", "match"),
    [
        ([1.0], "1 entries; pass 2"),
        (1.0, "one entry per task"),
        (np.array(1.0), "one entry per task"),
        (Unheard(), "policy"),
        ([1.0, [1.0]], r"weights\[1\] has shape"),
        ([1.0, -1.0], "≥ 0"),
        ([1.0, np.nan], "≥ 0"),
        ([np.eye(2), np.diag([1.0, -1.0])], "semidefinite"),
        ([np.eye(2), np.eye(3)], "shape"),
        ([np.eye(2), [[1.0, 0.5], [0.0, 1.0]]], "not symmetric"),
        ([np.eye(2), np.diag([1.0, np.inf])], "infinity"),
        (Accumulated(decay=2.0), "decay"),
        ("gr", r"a policy with a gain, such as weights\.Accumulated\(\), .* got 'gr'"),
    ],
)
def test_weight_matrices(weights, match):
    with pytest.raises(InvalidParameterError, match=match):
        fixed().expected_error(weights)


def test_gains_and_optima():
    with pytest.raises(InvalidParameterError, match="one per task"):
        fixed().expected_error_of_gains([np.eye(2)])
    with pytest.raises(InvalidParameterError, match=r"gains\[1\]"):
        fixed().expected_error_of_gains([np.eye(2), np.ones((2, 3))])
    drifting = fixed(task_coefs=np.ones((2, 2)))
    for method in ("optimal_weight_matrices", "optimal_gains", "optimal_isotropic_penalties"):
        with pytest.raises(InvalidParameterError, match="one common parameter"):
            getattr(drifting, method)()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (([[1.0]], [1.0], [1.0]), "one value per direction"),
        (([1.0, 1.0], [1.0], [1.0, 1.0]), "information_2"),
        (([1.0], [1.0], [1.0, 1.0]), "initial_errors"),
        (([1.0], [1.0], [0.0]), "all 0"),
    ],
)
def test_ridge_gap(arguments, match):
    with pytest.raises(InvalidParameterError, match=match):
        ridge_gap(*arguments)


def test_problems_are_frozen_copies():
    gamma = np.ones((1, 2))
    problem = CommutingProblem(gamma, [3], initial_errors=[1.0, 1.0])
    gamma[:] = 7
    assert problem.eigenvalues.max() == 1
    with pytest.raises(AttributeError):
        problem.noise_variance = 2.0
    with pytest.raises(ValueError, match="read-only"):
        problem.eigenvalues[0, 0] = 3


def test_every_public_name_is_there():
    for name in theory.__all__:
        assert getattr(theory, name).__doc__
