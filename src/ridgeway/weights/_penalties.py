"""Policies that solve each task at once: H_t as a number, as given, or as everything that the past knows."""

from typing import Any

import numpy as np

from ridgeway._checks import Array, nonnegative, scheduled
from ridgeway.linalg import Rows, checked_semidefinite, joined_root, psd_root, root_gain
from ridgeway.weights._policy import DesignPolicy, PenaltyPolicy
from ridgeway.weights._settings import checked_decay, checked_prior


class Zero(PenaltyPolicy):
    """H_t → 0 isotropically: fit the task, change as little as possible (the minimum norm estimator).

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, weights
    >>> GeneralizedRidge(weights.Zero(), fit_intercept=False).partial_fit(
    ...     [[1.0, 1.0]], [2.0]
    ... ).coef_
    array([1., 1.])
    """

    def weight(self, memory: Any, rows: Rows) -> float:
        """Return 0, the limit."""
        return 0.0


class Isotropic(PenaltyPolicy):
    """H_t = λ_t·I (continual ridge regression).

    Parameters
    ----------
    penalty : float, sequence of floats, or callable of the task number (from 1)
        λ_t ≥ 0; zero is the limit λ → 0⁺.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, weights
    >>> model = GeneralizedRidge(
    ...     weights.Isotropic(penalty=lambda t: 1 / t), fit_intercept=False
    ... )
    >>> model.partial_fit([[1.0]], [2.0]).coef_
    array([1.])
    """

    def __init__(self, penalty: Any = 1.0) -> None:
        self.penalty = penalty

    def weight(self, memory: int | None, rows: Rows) -> float:
        """Return λ_t. The memory is the number of tasks so far."""
        number = (memory or 0) + 1
        return nonnegative(scheduled(self.penalty, number, "penalty"), f"the penalty of task {number}")

    def remember(self, memory: int | None, rows: Rows) -> int:
        """Count the task."""
        return (memory or 0) + 1


class Explicit(PenaltyPolicy):
    """H_t as given.

    Parameters
    ----------
    matrices : sequence of positive semidefinite (p, p) matrices, or callable of the task number (from 1)

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, weights
    >>> model = GeneralizedRidge(
    ...     weights.Explicit([np.eye(2), 3 * np.eye(2)]), fit_intercept=False
    ... )
    >>> model.partial_fit([[1.0, 0.0]], [4.0]).coef_
    array([2., 0.])
    """

    def __init__(self, matrices: Any) -> None:
        self.matrices = matrices

    def weight(self, memory: int | None, rows: Rows) -> Array:
        """Return H_t. The memory is the number of tasks so far."""
        number = (memory or 0) + 1
        matrix = scheduled(self.matrices, number, "matrices")
        return checked_semidefinite(matrix, rows.n_features, f"the weight matrix of task {number}")

    def remember(self, memory: int | None, rows: Rows) -> int:
        """Count the task."""
        return (memory or 0) + 1


class FullInformation(DesignPolicy):
    """H_t = (γ/n_t)·J_{t−1} with J_0 = P and J_t = γ·J_{t−1} + X_tᵀX_t, solved at each step.

    The twin of `Accumulated` that theory accepts. The two agree without an intercept; with one, `Accumulated` fits a
    single intercept for all tasks, and this policy one per task, like every policy that solves at once.

    Parameters
    ----------
    prior : float, vector of shape (p,) or positive semidefinite matrix of shape (p, p), default 0.0
        P; a number stands for that multiple of the identity, a vector for a diagonal.
    decay : float in (0, 1], default 1.0
        γ.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, weights
    >>> model = GeneralizedRidge(weights.FullInformation(prior=1.0), fit_intercept=False)
    >>> model.partial_fit([[1.0]], [3.0]).partial_fit([[1.0]], [3.0]).coef_
    array([2.])
    """

    def __init__(self, prior: Any = 0.0, decay: float = 1.0) -> None:
        self.prior = prior
        self.decay = decay

    def gain(self, memory: Array | None, rows: Rows) -> Array:
        """Return K_t from a root of J_{t−1}, which is never squared."""
        return root_gain(rows.X, self._faded(memory, rows))

    def remember(self, memory: Array | None, rows: Rows) -> Array:
        """Return a root of J_t."""
        return joined_root(self._faded(memory, rows), rows.X)

    def _faded(self, memory: Array | None, rows: Rows) -> Array:
        """Return a root of γ·J_{t−1}."""
        root = psd_root(checked_prior(self.prior, rows.n_features)) if memory is None else memory
        return np.asarray(np.sqrt(checked_decay(self.decay)) * root)
