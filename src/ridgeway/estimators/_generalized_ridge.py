"""Generalized ℓ2-regularization: hold on to each direction as a policy says."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import InformationKind, WeightKind, check_tasks
from ridgeway.errors import InvalidStateError, MergeError, RemovalError
from ridgeway.estimators._default_policy import DEFAULT, DefaultPolicyMixin
from ridgeway.estimators._shell import ContinualRegressor
from ridgeway.information import KINDS, ByTask, Information, checked_kind
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


class GeneralizedRidge(DefaultPolicyMixin, ContinualRegressor):
    """Continual regression that does not forget (GR).

    ŵ_t = argmin_w (1/n_t)‖X_t·w − y_t‖² + ‖w − ŵ_{t−1}‖²_{H_t}, with H_t from a policy. With `weights.Accumulated()`,
    the default, the estimate after every task **is** pooled least squares on all rows so far, in any order and however
    they are divided into tasks, from a state of fixed size.

    Parameters
    ----------
    weights : policy of `ridgeway.weights`, optional
        How H_t is chosen; `Accumulated(prior=0.0)` if not given. `set_params(weights__prior=1.0)` works in either case.
    information : {"square_root", "moments", "by_task"} or `information.ByTask`, default "square_root"
        How `Accumulated` keeps the past. "square_root" is a triangular factor, as accurate as a QR decomposition of all
        rows; "moments" is faster, with half as many digits. "by_task" keeps one factor per task, so that tasks can be
        removed, weighted and compared when their rows are gone; `ByTask(Moments)` keeps moments,
        and `ByTask(fourth_moments=True)` also what `retrospect.heteroscedastic` needs.
    fit_intercept : bool, default True
        Whether an intercept is fitted. It is never penalised. With `Accumulated` there is one for all tasks; otherwise
        each task sets its own, b_t = ȳ_t − x̄_t·ŵ_t.
    initial_coef : array of shape (n_features,) or (n_targets, n_features), optional
        ŵ_0; zero if not given.
    weight_kind : {"precision", "frequency"}, default "precision"
        What `sample_weight` means to `Accumulated`. "precision": the noise of a row has the variance σ²/weight, and
        the row counts once. "frequency": the weight is the number of times that the row was observed, a whole number,
        and the row counts that often in `n_samples_seen_`, degrees of freedom and standard errors. The coefficients
        are the same, unless the prior or the decay is chosen from the rows.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Solved for on first access.
    intercept_ : float or ndarray of shape (n_targets,)
    rank_ : int
        Rank of the last system, the prior included.
    information_ : Information
        What the past left behind (`Accumulated` only).
    digits_lost_ : float
        Decimal digits that `remove` may have cost (`Accumulated` only).
    n_tasks_, n_samples_seen_, n_features_in_ : int
    feature_names_in_ : ndarray of str, if the tasks were DataFrames

    Notes
    -----
    With `Accumulated`, a task costs O(n·p²). The coefficients cost O(p²) with "square_root" and no prior, or if they
    are asked for after every task and the prior is a diagonal that is neither very weak nor very strong; otherwise
    O(p³). It remembers (p + k)² numbers in memory and half as many in a file. While coefficients are asked for under a
    prior, it keeps a second factor of the same size. Singular systems use the limit H_t + δI, δ → 0⁺: the change, and
    for the first task the norm, is as small as possible.

    References
    ----------
    Thm (adaptive ridge), with the prior σ²·E_0⁻¹ in the corrected form; Sec. "A Practical Algorithm" for H̃_t.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge
    >>> model = GeneralizedRidge()
    >>> model = model.partial_fit([[0.0], [1.0]], [1.0, 3.0]).partial_fit([[2.0], [3.0]], [5.0, 7.0])
    >>> model.predict([[10.0]])
    array([21.])
    """

    def __init__(
        self,
        weights: WeightPolicy | None = None,
        *,
        information: InformationKind | Literal["by_task"] | ByTask = "square_root",
        fit_intercept: bool = True,
        initial_coef: Any = None,
        weight_kind: WeightKind = "precision",
    ) -> None:
        self.weights = weights
        self.information = information
        self.fit_intercept = fit_intercept
        self.initial_coef = initial_coef
        self.weight_kind = weight_kind

    def merge(self, other: "GeneralizedRidge") -> Self:
        """Return a new model, as if it had learned the tasks of both. The prior counts once. O(p³) at most.

        Both must keep all rows (`weights.Accumulated`, decay 1) of the same features and targets under the same prior,
        intercept setting, kind of information and of weights, and ŵ_0; otherwise `MergeError` lists what differs.
        """
        if not isinstance(other, GeneralizedRidge):
            raise MergeError(f"cannot merge a GeneralizedRidge with {other!r}. Pass another GeneralizedRidge.")
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
        state = self.state_
        if not isinstance(state, Removable):
            raise RemovalError(f"cannot remove: {_reason(self.weights)}")
        if task is not None:
            return self._with(_without(state, task, X))
        (task,) = check_tasks(self, X, y, sample_weight, first=False)
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
        >>> model = GeneralizedRidge().fit([[0.0], [1.0]], [1.0, 3.0])
        >>> GeneralizedRidge.from_arrays(model.to_arrays()).predict([[2.0]])
        array([5.])
        """
        return cls.from_state(from_arrays(arrays), feature_names)

    @classmethod
    def from_state(cls, state: Retained, feature_names: Sequence[str] | None = None) -> Self:
        """Return the fitted model of a state that keeps information, such as another model's `state_`."""
        origin, n_features = state.origin, state.information.n_features
        kind: Any = state.information.setting
        start = origin.coef.T.copy() if origin.coef.any() else None
        model = cls(
            policy_of(state),
            information=kind,
            fit_intercept=origin.centered,
            initial_coef=start,
            weight_kind=origin.weight_kind,
        )
        if feature_names is not None:
            if len(feature_names) != n_features:
                raise InvalidStateError(
                    f"got {len(feature_names)} names for a state of {n_features} features. Pass one per feature."
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
    def _keeps(self) -> Any:
        named = isinstance(self.information, str) and self.information in KINDS
        return KINDS[str(self.information)] if named else checked_kind(self.information)

    def _policy(self) -> WeightPolicy:
        return DEFAULT if self.weights is None else checked_policy(self.weights)

    def _informed(self) -> Any:
        if not isinstance(self.state_, Informed):
            raise AttributeError(f"a model with weights={self.weights!r} keeps no information about the past.")
        return self.state_

    def _columns(self) -> list[Any]:
        return list(getattr(self, "feature_names_in_", range(self.n_features_in_)))


def _without(state: Any, task: Any, X: Any) -> Any:
    if X is not None or not isinstance(state, TaskKeeper):
        raise RemovalError(
            "a task is removed by its id alone, from a model with information='by_task'; or by its rows, from any."
        )
    return state.without(str(task))


def _reason(weights: Any) -> str:
    return f"weights={weights!r} does not keep the whole past. Use weights.Accumulated() with decay=1.0."
