"""What the assumptions of the paper exclude, and the library must refuse."""

from collections.abc import Callable

import numpy as np

from ridgeway.errors import RidgewayError
from ridgeway.research import theory
from ridgeway.research.theory import CommutingProblem, FixedDesignProblem
from ridgeway.research.verify._library import LibraryCheck

Call = Callable[[], object]


def _commuting(eigenvalues: object = ((1.0, 2.0),), n: object = (3,), initial: object = (1.0, 1.0)) -> CommutingProblem:
    return CommutingProblem(np.asarray(eigenvalues), np.asarray(n), initial_errors=np.asarray(initial))


def _designed(*designs: object, signal: object = 1.0, coefs: object = None) -> FixedDesignProblem:
    matrices = [np.asarray(design) for design in designs]
    given = None if coefs is None else np.asarray(coefs)
    return FixedDesignProblem(matrices, signal=np.asarray(signal), task_coefs=given)


ROW = ((1.0, 2.0),)
EXCLUDED: dict[str, Call] = {
    "eigenvalues without tasks": lambda: _commuting((1.0, 2.0)),
    "no direction": lambda: _commuting(np.zeros((1, 0)), initial=()),
    "a negative eigenvalue": lambda: _commuting(((-1.0, 2.0),)),
    "an infinite eigenvalue": lambda: _commuting(((np.inf, 2.0),)),
    "an empty task": lambda: _commuting(((1.0, 2.0), (1.0, 2.0)), (0, 3)),
    "an infinite n": lambda: _commuting(n=(np.inf,)),
    "n for two tasks": lambda: _commuting(n=(3, 3)),
    "errors of three directions": lambda: _commuting(initial=(1.0, 1.0, 1.0)),
    "an infinite initial error": lambda: _commuting(initial=(1.0, np.inf)),
    "no noise": lambda: CommutingProblem(ROW, [3], noise_variance=0.0, initial_errors=[1.0, 1.0]),
    "penalties of three directions": lambda: _commuting().direction_errors([1.0, 1.0, 1.0]),
    "a negative penalty": lambda: _commuting().direction_errors(-1.0),
    "a factor below 1": lambda: _commuting().penalty_range(0.5),
    "steps of two tasks": lambda: _commuting().optimal_learning_rates([1, 2]),
    "half a step": lambda: _commuting().optimal_learning_rates(1.5),
    "no step": lambda: theory.penalties_from_early_stopping([1.0], 0.5, 0),
    "an infinite rate": lambda: theory.penalties_from_early_stopping([0.0], np.inf, 1),
    "shapes that do not match": lambda: theory.penalties_from_early_stopping([1.0, 2.0], [0.1] * 3, 1),
    "A_t that is not definite": lambda: theory.weight_matrix_from_early_stopping(np.eye(2), np.diag([0.5, 0.0]), 1),
    "an estimate that never moves": lambda: theory.weight_matrix_from_early_stopping(np.eye(1), 2 * np.eye(1), 2),
    "no designs": lambda: _designed(),
    "a design of one dimension": lambda: _designed((1.0, 2.0)),
    "a design without rows": lambda: _designed(np.zeros((0, 2))),
    "designs of different widths": lambda: _designed(ROW, ((1.0,),)),
    "a missing value": lambda: _designed(((1.0, np.nan),)),
    "a signal of three entries": lambda: _designed(ROW, signal=(1.0, 1.0, 1.0)),
    "a negative signal": lambda: _designed(ROW, signal=-1.0),
    "an indefinite signal": lambda: _designed(ROW, signal=np.diag([1.0, -1.0])),
    "parameters of two tasks": lambda: _designed(ROW, signal=(1.0, 1.0), coefs=np.ones((2, 2))),
    "parameters and a random signal": lambda: _designed(ROW, coefs=np.ones((1, 2))),
    "gains of two tasks": lambda: _designed(ROW).expected_error_of_gains([np.zeros((2, 1))] * 2),
    "a gain of the wrong shape": lambda: _designed(ROW).expected_error_of_gains([np.zeros((1, 2))]),
    "weights of two tasks": lambda: _designed(ROW).expected_error([1.0, 1.0]),
    "a weight of the wrong shape": lambda: _designed(ROW).expected_error([np.ones(3)]),
    "a negative weight": lambda: _designed(ROW).expected_error([-1.0]),
    "an indefinite weight matrix": lambda: _designed(ROW).expected_error([np.diag([1.0, -1.0])]),
    "one weight": lambda: _designed(ROW).expected_error(np.array(1.0)),
    "a singular signal": lambda: _designed(ROW, signal=(1.0, 1.0)).optimal_weight_matrices(),
    "optimal gains with parameters per task": lambda: _designed(ROW, signal=(1.0, 1.0), coefs=ROW).optimal_gains(),
    "pooling without parameters per task": lambda: theory.pooling_gain(_designed(ROW)),
    "a gap without directions": lambda: theory.ridge_gap([], [], []),
    "a gap of matrices": lambda: theory.ridge_gap(ROW, ROW, ROW),
    "a gap of different directions": lambda: theory.ridge_gap([1.0], [1.0, 2.0], [1.0]),
    "a gap with nothing to learn": lambda: theory.ridge_gap([1.0], [1.0], [0.0]),
}


def _is_refused(name: str) -> float:
    try:
        EXCLUDED[name]()
    except RidgewayError:
        return 1.0
    return 0.0


REFUSALS = LibraryCheck("what is refused", lambda search: list(EXCLUDED), _is_refused, lambda name: 1.0)
