"""What the five estimators share: the shell around a pure step on a frozen state."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, Tags
from sklearn.utils.validation import check_is_fitted

from ridgeway.data import Task, check_rows, check_tasks
from ridgeway.errors import InvalidDataError, InvalidParameterError
from ridgeway.linalg import Rows, threads_for

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Answer:
    """ŵ_t of shape (n_features, n_targets), b_t of shape (n_targets,), and the rank of the system they solve."""

    coef: Array
    intercept: Array
    rank: int | None = None


@dataclass(frozen=True, eq=False)
class State(ABC):
    """What an estimator remembers between tasks."""

    n_tasks: int
    n_samples: int
    n_targets: int
    single_target: bool

    @property
    @abstractmethod
    def answer(self) -> Answer:
        """The estimate after the last task."""

    def predictive_deviations(self, X: Any) -> Array:
        """Return the standard deviation of a new observation at each row, (n_samples, n_targets)."""
        raise InvalidParameterError(
            "return_std=True needs a model that keeps information about the past. Use GeneralizedRidge with "
            "weights.Accumulated()."
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is computed when asked for: asking does not change what is stored."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, eq=False)
class Estimate(State):
    """The state of an estimator that remembers its last answer alone."""

    last: Answer

    @property
    def answer(self) -> Answer:
        """The estimate after the last task."""
        return self.last


class ContinualRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator, ABC):
    """A regressor that learns task after task.

    A subclass has one method, `_learn`: (state, task) → new state. It is pure, so that a call that fails leaves the
    model as it was.
    """

    _state: State
    fit_intercept: bool
    initial_coef: Any

    @abstractmethod
    def _learn(self, state: State | None, task: Task) -> State:
        """Return the state after `task`; `state` is None for the first."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, tasks: Any = None) -> Self:
        """Forget everything, then learn one task, or one per label in `tasks` in order of first appearance.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
            How much each row counts; a weight of zero is an absent row.
        tasks : array of shape (n_samples,), optional
            The task that each row belongs to.
        """
        return self._take(None, check_tasks(self, X, y, sample_weight, first=True, labels=tasks))

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn one more task. Its rows are not kept.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
            How much each row counts; a weight of zero is an absent row.
        """
        state = getattr(self, "_state", None)
        return self._take(state, check_tasks(self, X, y, sample_weight, first=state is None))

    @overload
    def predict(self, X: Any, return_std: Literal[False] = False) -> Array: ...
    @overload
    def predict(self, X: Any, return_std: Literal[True]) -> tuple[Array, Array]: ...
    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Return X·ŵ_t + b_t, of shape (n_samples,) or (n_samples, n_targets).

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        return_std : bool, default False
            Whether to return as well the standard deviation of a new observation of weight 1, noise included: infinite
            where the rows learned say nothing about it. For `GeneralizedRidge` with `weights.Accumulated`.
        """
        check_is_fitted(self)
        state, rows = self._state, check_rows(self, X)
        predicted = rows @ state.answer.coef + state.answer.intercept
        shape = (len(predicted),) if state.single_target else predicted.shape
        if not return_std:
            return np.asarray(predicted).reshape(shape)
        return np.asarray(predicted).reshape(shape), state.predictive_deviations(rows).reshape(shape)

    @property
    def coef_(self) -> Array:
        """ŵ_t, of shape (n_features,), or (n_targets, n_features) if y has two axes."""
        check_is_fitted(self)
        coef = self._state.answer.coef.T.copy()
        return coef[0] if self._state.single_target else coef

    @property
    def intercept_(self) -> float | Array:
        """b_t, a number, or of shape (n_targets,) if y has two axes."""
        check_is_fitted(self)
        intercept = self._state.answer.intercept
        return float(intercept[0]) if self._state.single_target else intercept.copy()

    @property
    def rank_(self) -> int:
        """Rank of the last system that was solved, decided on columns scaled to unit norm."""
        check_is_fitted(self)
        if self._state.answer.rank is None:
            raise AttributeError(f"{type(self).__name__} solves no system of equations, so it has no rank_.")
        return self._state.answer.rank

    @property
    def n_tasks_(self) -> int:
        """Tasks learned."""
        check_is_fitted(self)
        return self._state.n_tasks

    @property
    def n_samples_seen_(self) -> int:
        """Rows learned, rows of weight zero aside."""
        check_is_fitted(self)
        return self._state.n_samples

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _take(self, state: State | None, tasks: list[Task]) -> Self:
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise InvalidParameterError(f"fit_intercept must be True or False; got {self.fit_intercept!r}.")
        with threads_for(tasks[0].n_features):
            learned = self._after(state, tasks[0])
            for task in tasks[1:]:
                learned = self._after(learned, task)
        self._swap(learned, tasks[0])
        return self

    def _after(self, state: State | None, task: Task) -> State:
        if state is not None:
            check_targets(state, task)
        return self._learn(state, task)

    def _swap(self, state: State, task: Task) -> None:
        """Put a new state in place: nothing can fail here."""
        self._state = state
        self.n_features_in_ = task.n_features
        if task.feature_names is not None:
            self.feature_names_in_ = task.feature_names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _start(self, task: Task) -> Array:
        """Return ŵ_0, of shape (n_features, n_targets)."""
        p, k = task.n_features, task.n_targets
        if self.initial_coef is None:
            return np.zeros((p, k))
        try:
            start = np.array(self.initial_coef, dtype=np.float64)
        except (OverflowError, TypeError, ValueError):
            raise InvalidParameterError("initial_coef must hold numbers. Pass an array like coef_.") from None
        if not np.isfinite(start).all():
            raise InvalidParameterError("initial_coef holds NaN or infinity. Pass finite numbers.")
        if start.shape not in ((p,), (k, p)):
            raise InvalidParameterError(
                f"initial_coef has shape {start.shape}; it needs ({p},) or ({k}, {p}), like coef_."
            )
        return np.array(np.broadcast_to(start, (k, p)).T)


def check_targets(state: State, task: Task) -> None:
    """Raise where a task's targets are not those of the state."""
    if (task.single_target, task.n_targets) != (state.single_target, state.n_targets):
        got, has = (f"shape (n_samples,{'' if it.single_target else f' {it.n_targets}'})" for it in (task, state))
        raise InvalidDataError(f"y has {got}; this model learned y of {has}. Start a new model, or reshape y.")


def next_estimate(state: State | None, task: Task, rows: Rows, coef: Array, rank: int | None = None) -> Estimate:
    """Return the state after a task that sets its own intercept: b_t = ȳ_t − x̄_t·ŵ_t."""
    if not np.isfinite(coef).all():
        raise InvalidDataError("the coefficients overflow with this task. Change the unit of its columns.")
    p = task.n_features
    intercept = (rows.mean[p:] - rows.mean[:p] @ coef) + (rows.mean_low[p:] - rows.mean_low[:p] @ coef)
    return Estimate(
        n_tasks=1 + (state.n_tasks if state else 0),
        n_samples=task.n_samples + (state.n_samples if state else 0),
        n_targets=task.n_targets,
        single_target=task.single_target,
        last=Answer(coef, intercept, rank),
    )
