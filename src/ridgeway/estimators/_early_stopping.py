"""Early stopping: a few gradient steps on each task, from where the last one ended."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import Task
from ridgeway.errors import InvalidParameterError
from ridgeway.estimators._base import ContinualRegressor, Estimate, State, next_estimate
from ridgeway.linalg import (
    Rows,
    cholesky_root,
    filtered_step,
    gradient_steps,
    is_definite,
    largest_eigenvalue,
)
from ridgeway.weights import check_semidefinite, scheduled

Array = NDArray[np.float64]

STEPS_PER_SIDE = 16
"""Plain steps are taken where there are this many times fewer of them than rows and columns."""


class EarlyStopping(ContinualRegressor):
    """Gradient descent on each task, stopped early (ES).

    From w = ŵ_{t−1}, m_t times w ← w − (A_t/n_t)·X_tᵀ(X_t·w − y_t); then ŵ_t = w. Equal to `GeneralizedRidge` with
    H = F⁻ᵀ·V·diag(λ)·Vᵀ·F⁻¹, λ_j = d_j(1 − d_j)^m / (1 − (1 − d_j)^m), where A_t = F·Fᵀ and FᵀΣ_tF = V·diag(d)·Vᵀ.

    Parameters
    ----------
    learning_rate : float, (p, p) matrix, sequence of these, or callable of the task number (from 1), optional
        A_t: a number s stands for s·I, a matrix must be positive definite; it need not share eigenvectors with Σ_t.
        1/γ_max of each task if not given, γ_max the largest eigenvalue of Σ_t. A 2-D array is one matrix for all
        tasks; a list or a 3-D array is one entry per task.
    n_steps : int, sequence of int, or callable of the task number (from 1), default 100
        m_t ≥ 0.
    fit_intercept : bool, default True
        Whether each task sets an intercept from its own means, b_t = ȳ_t − x̄_t·ŵ_t.
    initial_coef : array of shape (n_features,) or (n_targets, n_features), optional
        ŵ_0; zero if not given.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    n_tasks_, n_samples_seen_, n_features_in_ : int
    feature_names_in_ : ndarray of str, where the tasks were DataFrames

    Notes
    -----
    Few steps are taken as they stand, O(n·p) each; many are summed in closed form through an SVD,
    O(n·p·min(n, p)), the same answer. It remembers p numbers a target.

    References
    ----------
    Thm (early stopping) and Cor. (ES), without the condition that A_t shares eigenvectors with Σ_t.

    Examples
    --------
    >>> from ridgeway import EarlyStopping
    >>> model = EarlyStopping(learning_rate=0.5, n_steps=2, fit_intercept=False)
    >>> model.partial_fit([[1.0]], [4.0]).coef_
    array([3.])
    """

    def __init__(
        self,
        learning_rate: Any = None,
        n_steps: Any = 100,
        *,
        fit_intercept: bool = True,
        initial_coef: Any = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.n_steps = n_steps
        self.fit_intercept = fit_intercept
        self.initial_coef = initial_coef

    def _learn(self, state: State | None, task: Task) -> Estimate:
        number = 1 if state is None else state.n_tasks + 1
        rate = self._rate(number, task.n_features)
        n_steps = self._steps(number)
        rows = Rows(task, center=self.fit_intercept)
        coef = self._start(task) if state is None else state.answer.coef
        few = 0 < n_steps * STEPS_PER_SIDE <= min(task.n_samples, task.n_features)
        step = (_plain if few else _closed)(rows, coef, rate, n_steps)
        return next_estimate(state, task, rows, coef + step)

    def _rate(self, number: int, n_features: int) -> float | Array | None:
        """Return s_t, A_t, or None for 1/γ_max."""
        value = self.learning_rate
        if not (isinstance(value, np.ndarray) and value.ndim == 2):
            value = scheduled(value, number, "learning_rate")
        if value is None:
            return None
        name = f"the learning rate of task {number}"
        if np.ndim(value) == 0:
            try:
                rate = float(value)
            except (OverflowError, TypeError, ValueError):
                raise InvalidParameterError(f"{name} must be a number or a matrix; got {value!r}.") from None
            if not (np.isfinite(rate) and rate > 0.0):
                raise InvalidParameterError(f"{name} must be a finite number > 0; got {rate!r}.")
            return rate
        matrix = check_semidefinite(value, n_features, name)
        if not is_definite(matrix):
            raise InvalidParameterError(f"{name} is singular. A learning rate matrix must be positive definite.")
        return matrix

    def _steps(self, number: int) -> int:
        value = scheduled(self.n_steps, number, "n_steps")
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise InvalidParameterError(f"n_steps of task {number} must be a whole number ≥ 0; got {value!r}.")
        return int(value)


def _plain(rows: Rows, coef: Array, rate: float | Array | None, n_steps: int) -> Array:
    root = cholesky_root(rate) if isinstance(rate, np.ndarray) else None
    largest = largest_eigenvalue(rows, root)
    if rate is None:
        rate = 1.0 / largest if largest > 0.0 else 1.0
    _check_converges(rate, largest)
    return gradient_steps(rows, coef, rate, n_steps)


def _closed(rows: Rows, coef: Array, rate: float | Array | None, n_steps: int) -> Array:
    def gain(eigenvalues: Array) -> Array:
        largest = float(eigenvalues.max(initial=0.0))
        if rate is None:
            factor = 1.0 / largest if largest > 0.0 else 1.0
        else:
            _check_converges(rate, largest)
            factor = rate if isinstance(rate, float) else 1.0
        return factor * _progress(factor * eigenvalues, n_steps)

    return filtered_step(rows, coef, gain, cholesky_root(rate) if isinstance(rate, np.ndarray) else None)


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
