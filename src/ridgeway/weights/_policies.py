"""The policies that choose H_t."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ridgeway.data import LARGEST
from ridgeway.errors import InvalidParameterError
from ridgeway.linalg import asymmetry, is_semidefinite, tolerance
from ridgeway.weights._schedule import nonnegative, scheduled

Array = NDArray[np.float64]


class WeightPolicy(BaseEstimator, ABC):
    """How firmly to hold on to the past. Has `get_params` and `set_params`, so that it can be searched over."""


class TaskPolicy(WeightPolicy):
    """A policy whose H_t does not depend on the past's information, only on the task's number."""

    @abstractmethod
    def weight_matrix(self, task_number: int, n_features: int) -> float | Array:
        """Return H_t for a task (numbered from 1): λ for λI, or a (n_features, n_features) matrix."""


class Zero(TaskPolicy):
    """H_t → 0: fit the task, change as little as possible (the minimum norm estimator).

    Examples
    --------
    >>> Zero().weight_matrix(task_number=1, n_features=3)
    0.0
    """

    def weight_matrix(self, task_number: int, n_features: int) -> float:
        """Return 0, the limit."""
        return 0.0


class Isotropic(TaskPolicy):
    """H_t = λ_t·I (continual ridge regression).

    Parameters
    ----------
    penalty : float, sequence of floats, or callable of the task number (from 1)
        λ_t ≥ 0; zero is the limit λ → 0⁺.

    Examples
    --------
    >>> Isotropic(penalty=lambda t: 1 / t).weight_matrix(task_number=4, n_features=3)
    0.25
    """

    def __init__(self, penalty: Any = 1.0) -> None:
        self.penalty = penalty

    def weight_matrix(self, task_number: int, n_features: int) -> float:
        """Return λ_t."""
        return nonnegative(scheduled(self.penalty, task_number, "penalty"), f"the penalty of task {task_number}")


class Explicit(TaskPolicy):
    """H_t as given.

    Parameters
    ----------
    matrices : sequence of positive semidefinite (p, p) matrices, or callable of the task number (from 1)

    Examples
    --------
    >>> import numpy as np
    >>> Explicit([np.eye(2), 3 * np.eye(2)]).weight_matrix(task_number=2, n_features=2)
    array([[3., 0.],
           [0., 3.]])
    """

    def __init__(self, matrices: Any) -> None:
        self.matrices = matrices

    def weight_matrix(self, task_number: int, n_features: int) -> Array:
        """Return H_t, checked."""
        matrix = scheduled(self.matrices, task_number, "matrices")
        return check_semidefinite(matrix, n_features, f"the weight matrix of task {task_number}")


class Accumulated(WeightPolicy):
    """H_t = (1/n_t)·(Σ_{τ<t} X_τᵀX_τ + P): hold on to each direction as firmly as the past knows it.

    With P = 0 it is H̃_t of the paper and the estimate equals pooled least squares at every t. With P = σ²·E_0⁻¹,
    E_0 = E[w_*w_*ᵀ], it is the best H_t there is, whether covariances commute or not. P is counted once.

    Parameters
    ----------
    prior : float, vector of shape (p,), positive semidefinite matrix of shape (p, p) or "evidence", default 0.0
        P; a number stands for that multiple of the identity, a vector for a diagonal. "evidence" learns σ² and
        P = λI from all rows so far, by maximising their marginal likelihood: the best H_t without knowing w_*.
    decay : float in (0, 1] or "adaptive", default 1.0
        Online EWC's γ: J_0 = P, n_t·H_t = γ·J_{t−1}, J_t = γ·J_{t−1} + X_tᵀX_t. The prior decays too.
        "adaptive" chooses γ_t in [0, 1] for each task: 1 unless the task makes another one a hundred times as probable,
        0 where the past is of no use. The prior then stays whole.

    Examples
    --------
    >>> Accumulated(prior=0.5).prior_matrix(n_features=2)
    array([0.5, 0.5])
    """

    def __init__(self, prior: Any = 0.0, decay: float | str = 1.0) -> None:
        self.prior = prior
        self.decay = decay

    def prior_matrix(self, n_features: int) -> Array:
        """Return P, checked: its diagonal (n_features,) where it is diagonal, else (n_features, n_features)."""
        if self.learns_prior:
            raise InvalidParameterError(
                "prior='evidence' is learned from rows, and here are none. Pass a number, a vector or a matrix."
            )
        axes = _axes(self.prior)
        if axes > 1:
            return check_semidefinite(self.prior, n_features, "the prior")
        if axes == 0:
            return np.full(n_features, nonnegative(self.prior, "the prior"))
        diagonal = np.array([nonnegative(entry, "each entry of the prior") for entry in self.prior])
        if len(diagonal) != n_features:
            raise InvalidParameterError(
                f"the prior has {len(diagonal)} entries; this model has {n_features} features. Give one per feature."
            )
        return diagonal

    @property
    def learns_prior(self) -> bool:
        """Whether the prior is learned from the rows."""
        return isinstance(self.prior, str) and self.prior == "evidence"

    @property
    def adapts(self) -> bool:
        """Whether each task chooses how much of the past to keep."""
        return isinstance(self.decay, str) and self.decay == "adaptive"

    def checked_decay(self) -> float:
        """Return γ, checked."""
        if self.adapts:
            raise InvalidParameterError("decay='adaptive' is chosen from rows, and here are none. Pass a number.")
        decay = nonnegative(self.decay, "decay")
        if not 0.0 < decay <= 1.0:
            raise InvalidParameterError(
                f"decay must lie in (0, 1]; got {decay!r}. 1 keeps the whole past, smaller values let it fade."
            )
        return decay


def _axes(value: Any) -> int:
    try:
        return int(np.ndim(value))
    except ValueError:
        raise InvalidParameterError("the prior is ragged. Pass a number, a vector or a square matrix.") from None


def check_semidefinite(matrix: Any, n_features: int, name: str) -> Array:
    """Return a symmetric positive semidefinite (n_features, n_features) float64 matrix, or raise."""
    try:
        array = np.array(matrix)
        array = array.astype(np.float64, casting="unsafe" if array.dtype.kind == "O" else "same_kind")
    except (OverflowError, TypeError, ValueError):
        raise InvalidParameterError(f"{name} is not a matrix of real numbers; got {type(matrix).__name__}.") from None
    if array.shape != (n_features, n_features):
        raise InvalidParameterError(
            f"{name} has shape {array.shape}; it needs ({n_features}, {n_features}), one row and column per feature."
        )
    if not (np.abs(array) <= LARGEST).all():
        raise InvalidParameterError(f"{name} holds NaN or infinity, or entries over {LARGEST:g}. Pass finite numbers.")
    if asymmetry(array) > tolerance(n_features):
        raise InvalidParameterError(
            f"{name} is not symmetric (relative difference {asymmetry(array):.2g}). Pass (H + H.T) / 2 if meant."
        )
    if not is_semidefinite(array):
        raise InvalidParameterError(f"{name} has a negative eigenvalue. A weight matrix must be positive semidefinite.")
    return np.asarray((array + array.T) / 2.0)
