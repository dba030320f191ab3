"""What all estimators share: the shell around a pure step on a frozen state."""

import copy
import os
from abc import ABC, abstractmethod
from operator import is_
from threading import RLock
from typing import Any, Literal, Self, get_args, overload
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, Tags
from sklearn.utils.validation import check_is_fitted

from ridgeway._checks import LARGEST, Array, flag, one_of
from ridgeway.data import Task, WeightKind, check_rows, check_tasks
from ridgeway.errors import InferenceError, InvalidParameterError, InvalidStateError
from ridgeway.information import ByTask, SquareRoot
from ridgeway.weights import Inferable, Origin, State, WeightPolicy


class ContinualEstimator(BaseEstimator, ABC):
    """An estimator that learns task after task.

    A subclass defines its policy. The policy's step is pure, so a call that fails leaves the model as it was.

    Threads may share a model: those that learn take turns, and those that ask see a state before or after a task.
    """

    _state: State
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    fit_intercept: bool
    initial_coef: Any = None
    weight_kind: WeightKind = "precision"

    @abstractmethod
    def _policy(self) -> WeightPolicy:
        """Return the policy that takes one step per task."""

    @property
    @abstractmethod
    def _information_kind(self) -> Any:
        """The kind of information to keep, if the policy keeps some."""

    @abstractmethod
    def _checked(self, state: State | None, X: Any, y: Any, sample_weight: Any, **names: Any) -> list[Task]:
        """Return the tasks of one call, checked; `state` is what they are learned after, None at the beginning."""

    @property
    def rank_(self) -> int:
        """Rank of the last system that was solved: directions that are only rounding do not count."""
        rank = self.state_.answer.rank
        if rank is None:
            raise AttributeError(f"{type(self).__name__} solves no system of equations, so it has no rank_.")
        return rank

    @property
    def state_(self) -> State:
        """What is remembered between tasks. It is frozen; see `ridgeway.weights`."""
        if "_state" not in vars(self):
            check_is_fitted(self)
        return self._state

    @property
    def n_tasks_(self) -> int:
        """Tasks learned."""
        return self.state_.n_tasks

    @property
    def n_samples_seen_(self) -> int:
        """Rows learned, not counting rows of weight zero."""
        return self.state_.n_samples

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _learn(self, X: Any, y: Any, sample_weight: Any, *, first: bool, **names: Any) -> Self:
        """Learn the tasks of one call: from the beginning if it is the `first`, or after those learned before."""
        given = [name for name in ("task_id", "clusters") if names.get(name) is not None]
        if given and self._information_kind.name != ByTask.name:
            name = "task" if "task_id" in given else "clusters"
            raise InvalidParameterError(
                f"the argument `{name}` needs a GeneralizedRidge, or its classifier, with information='by_task'. Leave "
                "it out."
            )
        with lock_of(self):
            before = getattr(self, "_state", None)
            state = None if first else before
            return self._take(state, self._checked(state, X, y, sample_weight, **names), before)

    def _take(self, state: State | None, tasks: list[Task], before: State | None) -> Self:
        """Learn tasks, starting from a state, and swap the new state in.

        Whether a step solves at once or when `answer` is first read is up to the state. If the model's own state is no
        longer `before`, something else was learned meanwhile: raise.
        """
        policy, first = self._policy(), tasks[0]
        after = policy.start(self._origin(first)) if state is None else self._resumed(state, first)
        for task in tasks:
            after = policy.step(after, task)
        names = {} if first.feature_names is None else {"feature_names_in_": first.feature_names}
        if getattr(self, "_state", None) is not before:  # the thread that holds the lock may call again
            raise interrupted()
        vars(self).update(_state=after, n_features_in_=first.n_features, **names)  # nothing can fail from here
        if not names:
            vars(self).pop("feature_names_in_", None)
        return self

    def _resumed(self, state: State, task: Task) -> State:
        """Return the state under the present settings, or raise if they or the targets do not fit."""
        if task.classes != state.origin.classes and task.classes is not None:
            state = state.with_classes(task.classes)
        origin = state.origin
        if task.single_target != origin.single_target or task.n_targets != origin.coef.shape[1]:
            origin.check_targets(task)
        settings = (self.initial_coef, self.fit_intercept, self._information_kind, self.weight_kind)
        if all(map(is_, settings, (origin.given, origin.centered, origin.information, origin.weight_kind))):
            return state
        return state.resumed(self._origin(task))

    def _origin(self, task: Task) -> Origin:
        """Return where a model with these settings starts."""
        centered = flag(self.fit_intercept, "fit_intercept")
        start = checked_start(self.initial_coef, task.n_features, task.n_targets)
        kind = one_of(self.weight_kind, get_args(WeightKind), "weight_kind")
        return Origin(
            start, self._information_kind, centered, task.single_target, self.initial_coef, kind, task.classes
        )

    def _with(self, state: State) -> Self:
        """Return a model like this one, with another state."""
        other = copy.copy(self)
        other._state = state
        return other


class ContinualRegressor(MultiOutputMixin, RegressorMixin, ContinualEstimator):
    """A regressor that learns task after task.

    Examples
    --------
    >>> from ridgeway import MinimumNorm
    >>> from ridgeway.estimators import ContinualRegressor
    >>> model = MinimumNorm(fit_intercept=False)
    >>> isinstance(model, ContinualRegressor)
    True
    >>> model.partial_fit([[1.0]], [2.0]).partial_fit([[1.0]], [3.0]).n_tasks_
    2
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, tasks: Any = None, clusters: Any = None) -> Self:
        """Forget everything, then learn one task, or one per label in `tasks` in order of first appearance.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
            How much each row counts; rows of weight zero are ignored.
        tasks : array of shape (n_samples,), optional
            The task that each row belongs to.
        clusters : array of shape (n_samples,), optional
            Rows with the same label may have dependent errors. For a `GeneralizedRidge` with information="by_task",
            which keeps each cluster of a task apart.
        """
        return self._learn(X, y, sample_weight, first=True, labels=tasks, clusters=clusters)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, task: Any = None, clusters: Any = None) -> Self:
        """Learn one more task. Its rows are not kept.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
            How much each row counts; rows of weight zero are ignored.
        task : str or int, optional
            The id of the task, for a `GeneralizedRidge` with information="by_task"; the next number if not given. Rows
            of a known task are added to it.
        clusters : array of shape (n_samples,), optional
            As for `fit`.
        """
        return self._learn(X, y, sample_weight, first=False, task_id=task, clusters=clusters)

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
            Whether to also return the standard deviation of a new observation of weight 1, noise included: infinite
            if the learned rows say nothing about it. For `GeneralizedRidge` with `weights.Accumulated`.
        """
        now = copy.copy(self)  # its state and its columns belong together, whatever other threads do
        state, rows = now.state_, check_rows(now, X)
        predicted = rows @ state.answer.coef + state.answer.intercept
        shape = (len(predicted),) if state.origin.single_target else predicted.shape
        if not return_std:
            return np.asarray(predicted).reshape(shape)
        if not isinstance(state, Inferable):
            raise InferenceError(
                "return_std=True needs a model in which all rows count fully. Use GeneralizedRidge with "
                "weights.Accumulated() and decay=1.0."
            )
        return np.asarray(predicted).reshape(shape), state.inference().predictive_deviations(rows).reshape(shape)

    @property
    def coef_(self) -> Array:
        """ŵ_t, of shape (n_features,), or (n_targets, n_features) if y has two axes."""
        state = self.state_
        coef = state.answer.coef.T.copy()
        return coef[0] if state.origin.single_target else coef

    @property
    def intercept_(self) -> float | Array:
        """b_t, a number, or of shape (n_targets,) if y has two axes."""
        state = self.state_
        intercept = state.answer.intercept
        return float(intercept[0]) if state.origin.single_target else intercept.copy()

    def _checked(self, state: State | None, X: Any, y: Any, sample_weight: Any, **names: Any) -> list[Task]:
        return check_tasks(self, X, y, sample_weight, first=state is None, **names)


class AnchoredMixin(ContinualEstimator):
    """A model that remembers only its last estimate, and keeps no information."""

    @property
    def _information_kind(self) -> type[SquareRoot]:
        return SquareRoot


_LOCKS: WeakKeyDictionary[BaseEstimator, RLock] = WeakKeyDictionary()
"""One per model that learns. They are not kept in the model, so that it can be copied and pickled."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LOCKS.clear)  # other threads of the parent may have held some


def lock_of(model: BaseEstimator) -> RLock:
    """Return the lock that a thread holds while the model learns."""
    return _LOCKS.setdefault(model, RLock())


def interrupted() -> InvalidStateError:
    """Return the error for a model that learned a task in the middle of learning another one."""
    return InvalidStateError(
        "the model learned another task in the middle of this one, in a signal handler or while data were converted. "
        "This one was not learned. Learn it again."
    )


def checked_start(initial_coef: Any, n_features: int, n_targets: int) -> Array:
    """Return ŵ_0, of shape (n_features, n_targets), or raise."""
    p, k = n_features, n_targets
    if initial_coef is None:
        return np.zeros((p, k))
    try:
        start = np.array(initial_coef, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        raise InvalidParameterError("initial_coef must hold numbers. Pass an array like coef_.") from None
    if not (np.abs(start) <= LARGEST).all():
        raise InvalidParameterError(
            f"initial_coef holds NaN, infinity or entries above {LARGEST:g}. Pass finite numbers."
        )
    if start.shape not in ((p,), (k, p)):
        raise InvalidParameterError(
            f"initial_coef has shape {start.shape}; it must be ({p},) or ({k}, {p}), like coef_."
        )
    return np.array(np.broadcast_to(start, (k, p)).T)
