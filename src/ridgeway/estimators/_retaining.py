"""What models share that keep the information of all rows: merge, remove, and the state as arrays."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from ridgeway._text import counted
from ridgeway.data import label_of
from ridgeway.errors import InvalidStateError, MergeError, RemovalError
from ridgeway.estimators._default_policy import DEFAULT
from ridgeway.estimators._shell import ContinualEstimator
from ridgeway.information import KINDS, Information, checked_kind
from ridgeway.weights import (
    Informed,
    Mergeable,
    Removable,
    Retained,
    TaskKeeper,
    WeightPolicy,
    checked_policy,
    from_arrays,
    policy_of,
    to_arrays,
)


class RetainingMixin(ContinualEstimator):
    """A model whose policy may keep the information of all rows."""

    weights: Any
    information: Any

    def merge(self, other: Any) -> Self:
        """Return a new model, as if it had learned the tasks of both. The prior counts once. O(p³) at most.

        Both must keep all rows (`weights.Accumulated`, decay 1) of the same features and targets under the same prior,
        intercept setting, kind of information and of weights, and ŵ_0; otherwise `MergeError` lists what differs. The
        classes of classifiers may differ: the new model has those of both.
        """
        if not isinstance(other, RetainingMixin):
            name = type(self).__name__
            raise MergeError(f"cannot merge a {name} with {other!r}. Pass a {name}.")
        mine, theirs = self.state_, other.state_
        if not isinstance(mine, Mergeable) or not isinstance(theirs, Mergeable):
            raise MergeError(f"cannot merge: {_reason(other.weights if isinstance(mine, Mergeable) else self.weights)}")
        if self._columns() != other._columns():
            raise MergeError("cannot merge two models that differ in: features. Learn both with the same settings.")
        return self._with(mine.merge(theirs))

    def remove(self, X: Any = None, y: Any = None, sample_weight: Any = None, *, task: Any = None) -> Self:
        """Return a new model, as if a task had never been learned, or raise `RemovalError`. This one is not changed.

        With "by_task" the id of the task is enough, any task can be removed, and no digits are lost. Otherwise the rows
        must be passed again. What remains must clearly have full rank, without the prior; `digits_lost_` then says how
        many digits the removal may have cost. `n_tasks_` goes down by one. O((n + p)·p²).
        """
        state = self._removable()
        if task is not None:
            return self._with(without_task(state, task, X))
        (task,) = self._checked(state, X, y, sample_weight)
        state.origin.check_targets(task)
        return self._with(state.remove(task))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what was learned as arrays, if the policy keeps information.

        `from_arrays` makes a model from them whose answers are bit for bit the same. `header` is JSON, as bytes; the
        others hold float64 numbers, (p + k)²/2 in all. Column names are not included.
        """
        return to_arrays(self._informed())

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], feature_names: Sequence[str] | None = None) -> Self:
        """Return the fitted model that `to_arrays` described, or raise `InvalidStateError`.

        Examples
        --------
        >>> from ridgeway import GeneralizedRidge
        >>> model = GeneralizedRidge().fit([[0.0], [1.0]], [1.0, 3.0])
        >>> GeneralizedRidge.from_arrays(model.to_arrays()).predict([[2.0]])
        array([5.])
        """
        return cls.from_state(from_arrays(arrays), feature_names)

    @classmethod
    def from_state(cls, state: Retained, feature_names: Sequence[str] | None = None) -> Self:
        """Return the fitted model of a state that keeps information, such as another model's `state_`."""
        origin, n_features = state.origin, state.information.n_features
        if (origin.classes is None) == issubclass(cls, ClassifierMixin):
            kinds = ["GeneralizedRidgeClassifier", "GeneralizedRidge"]
            made, wanted = kinds if origin.classes is not None else reversed(kinds)
            raise InvalidStateError(f"the state is that of a {made}, not of a {wanted}. Use {made}.from_arrays.")
        start = {"initial_coef": origin.coef.T.copy()} if origin.coef.any() else {}
        make: Any = cls
        settings = {"information": state.information.setting, "weight_kind": origin.weight_kind, **start}
        model: Self = make(policy_of(state), fit_intercept=origin.centered, **settings)
        if feature_names is not None:
            if len(feature_names) != n_features:
                raise InvalidStateError(
                    f"got {counted(len(feature_names), 'name')} for a state of {counted(n_features, 'feature')}. Pass "
                    "one per feature."
                )
            model.feature_names_in_ = np.array(feature_names, dtype=object)
        model.n_features_in_ = n_features
        model._state = state
        return model

    @property
    def information_(self) -> Information:
        """What the past left behind: the information of the rows alone, without the prior."""
        information: Information = self._informed().information
        return information

    @property
    def digits_lost_(self) -> float:
        """Decimal digits that removals may have cost."""
        return self.information_.digits_lost

    @property
    def _information_kind(self) -> Any:
        named = isinstance(self.information, str) and self.information in KINDS
        return KINDS[str(self.information)] if named else checked_kind(self.information)

    def _policy(self) -> WeightPolicy:
        return DEFAULT if self.weights is None else checked_policy(self.weights)

    def _removable(self) -> Any:
        if not isinstance(self.state_, Removable):
            raise RemovalError(f"cannot remove: {_reason(self.weights)}")
        return self.state_

    def _informed(self) -> Any:
        if not isinstance(self.state_, Informed):
            raise AttributeError(f"a model with weights={self.weights!r} keeps no information about the past.")
        return self.state_

    def _columns(self) -> list[Any]:
        return list(getattr(self, "feature_names_in_", range(self.n_features_in_)))


def without_task(state: Any, task: Any, X: Any) -> Any:
    """Return a state without a task, or raise unless it keeps its tasks apart and rows are not given."""
    if X is not None or not isinstance(state, TaskKeeper):
        raise RemovalError("to remove a task, pass its id alone (needs information='by_task') or its rows.")
    given = str(task)
    return state.without(given if given in state.by_task.ids else label_of(task))


def _reason(weights: Any) -> str:
    return f"weights={weights!r} does not keep the whole past. Use weights.Accumulated() with decay=1.0."
