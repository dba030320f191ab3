"""What the assumptions of the paper exclude, the library refuses."""

import numpy as np
import pytest

from ridgeway.errors import RidgewayError
from ridgeway.research import theory
from ridgeway.research.theory import CommutingProblem, FixedDesignProblem


def commuting(eigenvalues=((1.0, 2.0),), n=(3,), initial=(1.0, 1.0)):
    return CommutingProblem(np.asarray(eigenvalues), np.asarray(n), initial_errors=np.asarray(initial))


def designed(*designs, signal=1.0, coefs=None):
    matrices = [np.asarray(design) for design in designs]
    given = None if coefs is None else np.asarray(coefs)
    return FixedDesignProblem(matrices, signal=np.asarray(signal), task_coefs=given)


ROW = ((1.0, 2.0),)
EXCLUDED = {
    "eigenvalues without tasks": lambda: commuting((1.0, 2.0)),
    "no direction": lambda: commuting(np.zeros((1, 0)), initial=()),
    "a negative eigenvalue": lambda: commuting(((-1.0, 2.0),)),
    "an infinite eigenvalue": lambda: commuting(((np.inf, 2.0),)),
    "an empty task": lambda: commuting(((1.0, 2.0), (1.0, 2.0)), (0, 3)),
    "an infinite n": lambda: commuting(n=(np.inf,)),
    "n for two tasks": lambda: commuting(n=(3, 3)),
    "errors of three directions": lambda: commuting(initial=(1.0, 1.0, 1.0)),
    "an infinite initial error": lambda: commuting(initial=(1.0, np.inf)),
    "no noise": lambda: CommutingProblem(ROW, [3], noise_variance=0.0, initial_errors=[1.0, 1.0]),
    "penalties of three directions": lambda: commuting().direction_errors([1.0, 1.0, 1.0]),
    "a negative penalty": lambda: commuting().direction_errors(-1.0),
    "a factor below 1": lambda: commuting().penalty_range(0.5),
    "steps of two tasks": lambda: commuting().optimal_learning_rates([1, 2]),
    "half a step": lambda: commuting().optimal_learning_rates(1.5),
    "no step": lambda: theory.penalties_from_early_stopping([1.0], 0.5, 0),
    "an infinite rate": lambda: theory.penalties_from_early_stopping([0.0], np.inf, 1),
    "shapes that do not match": lambda: theory.penalties_from_early_stopping([1.0, 2.0], [0.1] * 3, 1),
    "A_t that is not definite": lambda: theory.weight_matrix_from_early_stopping(np.eye(2), np.diag([0.5, 0.0]), 1),
    "an estimate that never moves": lambda: theory.weight_matrix_from_early_stopping(np.eye(1), 2 * np.eye(1), 2),
    "no designs": lambda: designed(),
    "a design of one dimension": lambda: designed((1.0, 2.0)),
    "a design without rows": lambda: designed(np.zeros((0, 2))),
    "designs of different widths": lambda: designed(ROW, ((1.0,),)),
    "a missing value": lambda: designed(((1.0, np.nan),)),
    "a signal of three entries": lambda: designed(ROW, signal=(1.0, 1.0, 1.0)),
    "a negative signal": lambda: designed(ROW, signal=-1.0),
    "an indefinite signal": lambda: designed(ROW, signal=np.diag([1.0, -1.0])),
    "parameters of two tasks": lambda: designed(ROW, signal=(1.0, 1.0), coefs=np.ones((2, 2))),
    "parameters and a random signal": lambda: designed(ROW, coefs=np.ones((1, 2))),
    "gains of two tasks": lambda: designed(ROW).expected_error_of_gains([np.zeros((2, 1))] * 2),
    "a gain of the wrong shape": lambda: designed(ROW).expected_error_of_gains([np.zeros((1, 2))]),
    "weights of two tasks": lambda: designed(ROW).expected_error([1.0, 1.0]),
    "a weight of the wrong shape": lambda: designed(ROW).expected_error([np.ones(3)]),
    "a negative weight": lambda: designed(ROW).expected_error([-1.0]),
    "an indefinite weight matrix": lambda: designed(ROW).expected_error([np.diag([1.0, -1.0])]),
    "one weight": lambda: designed(ROW).expected_error(np.array(1.0)),
    "a singular signal": lambda: designed(ROW, signal=(1.0, 1.0)).optimal_weight_matrices(),
    "optimal gains with parameters per task": lambda: designed(ROW, signal=(1.0, 1.0), coefs=ROW).optimal_gains(),
    "pooling without parameters per task": lambda: theory.pooling_gain(designed(ROW)),
    "a gap without directions": lambda: theory.ridge_gap([], [], []),
    "a gap of matrices": lambda: theory.ridge_gap(ROW, ROW, ROW),
    "a gap of different directions": lambda: theory.ridge_gap([1.0], [1.0, 2.0], [1.0]),
    "a gap with nothing to learn": lambda: theory.ridge_gap([1.0], [1.0], [0.0]),
}


@pytest.mark.parametrize("name", EXCLUDED)
def test_it_is_refused(name):
    with pytest.raises(RidgewayError):
        EXCLUDED[name]()


def test_what_the_assumptions_allow_is_not():
    assert commuting().optimal_penalties().shape == (1, 2)
    assert designed(ROW).expected_error([1.0]).total.shape == (1,)
