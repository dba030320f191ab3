"""What the estimators with a likelihood share: the shell around a step on a polynomial of the past."""

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.data import MemoryKind, WeightKind, check_offset, check_rows
from ridgeway.errors import InferenceError, InvalidStateError, MergeError
from ridgeway.estimators._default_policy import DEFAULT, DefaultPolicyMixin
from ridgeway.estimators._shell import ContinualEstimator
from ridgeway.information import SquareRoot
from ridgeway.likelihoods import Likelihood
from ridgeway.weights import (
    Accumulated,
    Expandable,
    Expanded,
    Mergeable,
    WeightPolicy,
    checked_policy,
    expanded_from_arrays,
    expanded_to_arrays,
    with_likelihood,
)


class LikelihoodEstimator(DefaultPolicyMixin, ContinualEstimator):
    """An estimator that learns task after task, from the likelihood of each."""

    def __init__(
        self,
        weights: WeightPolicy | None = None,
        *,
        memory: MemoryKind = "quadratic",
        fit_intercept: bool = True,
        initial_coef: Any = None,
        weight_kind: WeightKind = "precision",
    ) -> None:
        self.weights = weights
        self.memory: MemoryKind = memory
        self.fit_intercept = fit_intercept
        self.initial_coef = initial_coef
        self.weight_kind = weight_kind

    @property
    @abstractmethod
    def _likelihood(self) -> Likelihood:
        """What one row says about w."""

    def merge(self, other: Self) -> Self:
        """Return a new model that knows the tasks of both. The prior counts once.

        The polynomials that stand for the two pasts add exactly. What each of them had lost stays lost, and the
        estimate moves to where both agree best, so that what they leave out grows with the distance that each moves.
        """
        if type(other) is not type(self):
            name = type(self).__name__
            raise MergeError(f"cannot merge a {name} with {other!r}. Pass a {name}.")
        mine, theirs = self.state_, other.state_
        if not isinstance(mine, Mergeable) or not isinstance(theirs, Mergeable):
            raise MergeError("cannot merge models that keep only their last estimate. Use weights.Accumulated().")
        columns = [list(getattr(one, "feature_names_in_", range(one.n_features_in_))) for one in (self, other)]
        if columns[0] != columns[1]:
            raise MergeError("cannot merge two models that differ in: features. Learn both with the same settings.")
        return self._with(mine.merge(theirs))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what was learned as arrays, if the policy is `Accumulated`. Column names are not included.

        `from_arrays` makes a model from them whose answers are bit for bit the same. `header` is JSON, as bytes; the
        others hold float64 numbers.
        """
        return expanded_to_arrays(self._expanded())

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], feature_names: Sequence[str] | None = None) -> Self:
        """Return the fitted model that `to_arrays` described, or raise `InvalidStateError`."""
        return cls.from_state(expanded_from_arrays(arrays), feature_names)

    @classmethod
    def from_state(cls, state: Expanded, feature_names: Sequence[str] | None = None) -> Self:
        """Return the fitted model of a state that keeps the past as a polynomial, such as another model's `state_`."""
        origin, n_features = state.origin, len(state.origin.coef)
        model = cls(
            Accumulated(state.prior, state.decay),
            memory="quadratic" if state.past.third is None else "cubic",
            fit_intercept=origin.centered,
            initial_coef=origin.coef.T.copy() if origin.coef.any() else None,
            weight_kind=origin.weight_kind,
        )
        expected = model._likelihood.with_targets(origin.coef.shape[1]).name
        named = origin.classes is not None
        if state.likelihood.name != expected or (state.n_tasks and named != issubclass(cls, ClassifierMixin)):
            raise InvalidStateError(
                f"the state is {state.likelihood.name}, with{'' if named else 'out'} classes; a {cls.__name__} is "
                f"{expected}. Use the estimator that wrote it."
            )
        if feature_names is not None and len(feature_names) != n_features:
            raise InvalidStateError(
                f"got {counted(len(feature_names), 'name')} for a state of {counted(n_features, 'feature')}. Pass one "
                "per feature."
            )
        if feature_names is not None:
            model.feature_names_in_ = np.array(feature_names, dtype=object)
        vars(model).update(n_features_in_=n_features, _state=state)
        return model

    @property
    def coef_(self) -> Array:
        """ŵ_t, of shape (n_features,), or (n_classes, n_features) if there are more than two classes."""
        scores = self._scores()
        return (self.state_.answer.coef @ scores.T).T if len(scores) > 1 else self.state_.answer.coef[:, 0].copy()

    @property
    def intercept_(self) -> float | Array:
        """b_t, a number, or of shape (n_classes,) if there are more than two classes."""
        scores, intercept = self._scores(), self.state_.answer.intercept
        return scores @ intercept if len(scores) > 1 else float(intercept[0])

    @property
    def standard_errors_(self) -> Array:
        """The standard errors of `coef_`, of the same shape, from the curvature of the log-likelihood and the prior."""
        deviations = self._deviations()[:, : self.n_features_in_]
        return deviations if len(deviations) > 1 else deviations[0]

    @property
    def intercept_error_(self) -> float | Array:
        """The standard error of `intercept_`; 0 without an intercept."""
        if not self.state_.origin.centered:
            return 0.0
        deviations = self._deviations()[:, -1]
        return deviations if len(deviations) > 1 else float(deviations[0])

    @property
    def log_likelihood_(self) -> float:
        """The log-likelihood of all rows learned, at the estimate, as far as the state knows it."""
        value: float = self._expanded().past.value
        return value

    @property
    def _information_kind(self) -> type[SquareRoot]:
        return SquareRoot

    def _policy(self) -> WeightPolicy:
        policy = DEFAULT if self.weights is None else checked_policy(self.weights)
        return with_likelihood(policy, self._likelihood, self.memory)

    def _expanded(self) -> Any:
        if not isinstance(self.state_, Expandable):
            raise InferenceError(
                f"a model with weights={self.weights!r} keeps only its last estimate. Use weights.Accumulated()."
            )
        return self.state_

    def _scores(self) -> Array:
        """Return what turns linear predictors into what the user sees, of shape (n_scores, q)."""
        return self._likelihood.with_targets(self.state_.origin.coef.shape[1]).scores

    def _deviations(self) -> Array:
        """Return the standard errors of all scores, (n_scores, n_features + intercept); infinite if undetermined."""
        scores, state = self._scores(), self._expanded()
        lost, n_intercepts = state.undetermined(), int(state.origin.centered)
        covariance, q = state.without(lost).covariance(), scores.shape[1]
        blocks = covariance.reshape(len(covariance) // q, q, len(covariance) // q, q)
        found = np.full((len(scores), len(lost) + n_intercepts), np.inf)
        found[:, np.append(~lost, np.ones(n_intercepts, dtype=bool))] = np.sqrt(
            np.einsum("ka,iaib,kb->ki", scores, blocks, scores)
        )
        if n_intercepts and state.about[lost].any():  # at x = 0, a feature that was 1 in every row counts too
            found[:, -1] = np.inf
        return found

    def _predictor(self, X: Any, offset: Any) -> Array:
        """Return the linear predictors η of some rows, of shape (n_samples, q)."""
        now = copy.copy(self)  # its state and its columns belong together, whatever other threads do
        answer, rows = now.state_.answer, check_rows(now, X)
        predictor = np.asarray(rows @ answer.coef + answer.intercept)
        added = check_offset(offset, len(predictor))
        return predictor if added is None else predictor + added[:, None]
