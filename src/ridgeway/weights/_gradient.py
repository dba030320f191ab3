"""Early stopping as a policy: a few gradient steps on each task, from where the last one ended."""

from typing import Any

import numpy as np

from ridgeway._checks import Array, positive, scheduled, whole
from ridgeway.errors import InvalidParameterError
from ridgeway.linalg import (
    Rows,
    Solution,
    checked_definite,
    cholesky_root,
    filtered_gain,
    filtered_step,
    gradient_steps,
    largest_eigenvalue,
)
from ridgeway.weights._policy import DesignPolicy

Rate = float | Array | None

STEPS_PER_SIDE = 16
"""Steps are taken one by one if there are this many times fewer of them than rows and columns."""


class GradientSteps(DesignPolicy):
    """m_t steps of gradient descent from ŵ_{t−1}: w ← w − (A_t/n_t)·X_tᵀ(X_t·w − y_t).

    Parameters
    ----------
    learning_rate : float, (p, p) matrix, sequence of these, or callable of the task number (from 1), optional
        A_t: a number s stands for s·I, a matrix must be positive definite. 1/γ_max of each task if not given.
    n_steps : int, sequence of int, or callable of the task number (from 1), default 100
        m_t ≥ 0.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, weights
    >>> model = GeneralizedRidge(
    ...     weights.GradientSteps(learning_rate=0.5, n_steps=2), fit_intercept=False
    ... )
    >>> model.partial_fit([[1.0]], [4.0]).coef_
    array([3.])
    """

    def __init__(self, learning_rate: Any = None, n_steps: Any = 100) -> None:
        self.learning_rate = learning_rate
        self.n_steps = n_steps

    def gain(self, memory: int | None, rows: Rows) -> Array:
        """Return K_t, of shape (n_features, n_samples). The memory is the number of tasks so far."""
        rate, n_steps = self._settings(memory, rows)
        return filtered_gain(rows.X, rows.total_weight, _filter(rate, n_steps), _root(rate))

    def remember(self, memory: int | None, rows: Rows) -> int:
        """Count the task."""
        return (memory or 0) + 1

    def _change(self, memory: int | None, rows: Rows, coef: Array) -> Solution:
        """Return what the steps add up to: few are taken as they are, many are summed in closed form."""
        rate, n_steps = self._settings(memory, rows)
        if 0 < n_steps * STEPS_PER_SIDE <= min(rows.n_samples, rows.n_features):
            return Solution(_one_by_one(rows, coef, rate, n_steps), None, 1.0)
        return Solution(filtered_step(rows, coef, _filter(rate, n_steps), _root(rate)), None, 1.0)

    def _settings(self, memory: int | None, rows: Rows) -> tuple[Rate, int]:
        """Return A_t as a number, a matrix, or None for 1/γ_max; and m_t."""
        number = (memory or 0) + 1
        steps = whole(scheduled(self.n_steps, number, "n_steps"), f"n_steps of task {number}", least=0)
        rate = self.learning_rate
        if not (isinstance(rate, np.ndarray) and rate.ndim == 2):  # one matrix for all tasks
            rate = scheduled(rate, number, "learning_rate")
        return _checked_rate(rate, rows.n_features, f"the learning rate of task {number}"), steps


def _checked_rate(value: Any, n_features: int, name: str) -> Rate:
    if value is None:
        return None
    if np.ndim(value) == 0:
        return positive(value, name)
    return checked_definite(value, n_features, name)


def _root(rate: Rate) -> Array | None:
    return cholesky_root(rate) if isinstance(rate, np.ndarray) else None


def _one_by_one(rows: Rows, coef: Array, rate: Rate, n_steps: int) -> Array:
    largest = largest_eigenvalue(rows, _root(rate))
    if rate is None:
        rate = 1.0 / largest if largest > 0.0 else 1.0
    _check_converges(rate, largest)
    return gradient_steps(rows, coef, rate, n_steps)


def _filter(rate: Rate, n_steps: int) -> Any:
    """Return what m steps do to each eigenvalue of Σ_t, or of FᵀΣ_tF with A_t = FFᵀ."""

    def gain(eigenvalues: Array) -> Array:
        largest = float(eigenvalues.max(initial=0.0))
        if rate is None:
            factor = 1.0 / largest if largest > 0.0 else 1.0
        else:
            _check_converges(rate, largest)
            factor = rate if isinstance(rate, float) else 1.0
        return factor * _progress(factor * eigenvalues, n_steps)

    return gain


def _progress(d: Array, n_steps: int) -> Array:
    """Return (1 − (1 − d)^m)/d, which is m at d = 0, without cancellation for small d."""
    small = np.where((d > 0.0) & (d < 1.0), d, 0.5)
    large = np.where(d >= 1.0, d, 1.0)
    return np.select(
        [d == 0.0, d < 1.0],
        [np.full_like(d, n_steps), -np.expm1(n_steps * np.log1p(-small)) / small],
        (1.0 - (1.0 - large) ** n_steps) / large,
    )


def _check_converges(rate: float | Array, largest: float) -> None:
    """Refuse a step size that diverges: every eigenvalue of A_tΣ_t must lie below 2."""
    if isinstance(rate, float):
        if rate * largest >= 2.0:
            raise InvalidParameterError(
                f"learning_rate={rate!r} diverges on this task: it must be below 2/γ_max = {2.0 / largest:.9g}. "
                "Lower it, or leave it out for 1/γ_max."
            )
    elif largest >= 2.0:
        raise InvalidParameterError(
            f"the learning rate matrix diverges on this task: the largest eigenvalue of A·Σ is {largest:.6g}, and it "
            f"must be below 2. Multiply the matrix by less than {2.0 / largest:.6g}."
        )
