"""Classification that does not forget, whatever the order of the classes."""

import copy
import warnings
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from ridgeway._checks import Array, flag, nonnegative, one_of
from ridgeway.data import (
    InformationKind,
    Label,
    Task,
    WeightKind,
    check_rows,
    check_tasks,
    coded_labels,
    listed_classes,
)
from ridgeway.errors import InvalidParameterError, MaskedClassWarning, RemovalError
from ridgeway.estimators._class_decisions import (
    balanced,
    linear_discriminants,
    masked_classes,
    said_before,
)
from ridgeway.estimators._class_removal import without_class, without_empty_classes, without_rows
from ridgeway.estimators._default_policy import DefaultPolicyMixin
from ridgeway.estimators._retaining import RetainingMixin, without_task
from ridgeway.estimators._shell import ContinualEstimator
from ridgeway.information import ByTask, class_weights
from ridgeway.weights import Answer, Informed, State, WeightPolicy

DECISIONS, CODINGS = ("least_squares", "lda"), ("one_hot", "signed")


def _has_probabilities(model: "GeneralizedRidgeClassifier") -> bool:
    """Return whether the scores are logarithms of probabilities, or raise an AttributeError that says what to do."""
    if model.decision != "lda":
        raise AttributeError(
            f"decision={model.decision!r} has no probabilities. Use decision='lda', or scikit-learn's "
            "CalibratedClassifierCV(FrozenEstimator(model)) with rows that were not learned."
        )
    return True


class GeneralizedRidgeClassifier(RetainingMixin, DefaultPolicyMixin, ClassifierMixin, ContinualEstimator):
    """Continual classification that does not forget.

    Least squares on one target per class, which is 1 in the rows of the class and 0 in all others. With
    `weights.Accumulated()`, the default, the model after every task **is** one fit on all rows so far, in any order of
    rows, tasks and classes. Classes need not be declared: a new one was 0 in every row before.

    Parameters
    ----------
    weights : policy of `ridgeway.weights`, optional
        As for `GeneralizedRidge`; `Accumulated(prior=0.0)` if not given.
    decision : {"least_squares", "lda"}, default "least_squares"
        What the scores are: the fitted targets, or the linear discriminants, log π_k + x·C⁻¹m_k − ½·m_kᵀC⁻¹m_k, with
        the shares π_k and the means m_k of the classes and the covariance C within them. Both come from the same
        memory, so this may be changed at any time. Discriminants need a policy that keeps information, and do not
        depend on its prior.
    coding : {"one_hot", "signed"}, default "one_hot"
        Whether `coef_` and `decision_function` are those of targets 0 and 1, or −1 and 1, with "least_squares" and
        more than two classes. `predict` is the same.
    shrinkage : float from 0 to 1, or "auto", default 0.0
        With "lda", the covariance is (1 − s)·C + s·(trace C/p)·I. "auto" shrinks that of each class as far as it is
        best for normal distributions (OAS), which needs information="by_task".
    balanced : bool, default False
        Whether all classes count the same, however many rows they have. This needs information="by_task".
    information : {"square_root", "moments", "by_task"} or `information.ByTask`, default "square_root"
        As for `GeneralizedRidge`. "by_task" keeps one memory for each class of each task, so that tasks and classes
        can be removed without their rows.
    fit_intercept : bool, default True
        Whether an intercept is fitted for each class. Discriminants always have one.
    weight_kind : {"precision", "frequency"}, default "precision"
        What `sample_weight` means, as for `GeneralizedRidge`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        In ascending order.
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features) if there are two classes
    intercept_ : ndarray of shape (n_classes,), or (1,) if there are two classes
    information_ : Information
        What the past left behind (`Accumulated` only).
    digits_lost_ : float
        Decimal digits that `remove` may have cost (`Accumulated` only).
    n_tasks_, n_samples_seen_, n_features_in_, rank_ : int
    feature_names_in_ : ndarray of str, if the tasks were DataFrames

    Notes
    -----
    A task costs O(n·(p + k)²) for k classes; the memory has (p + k)² numbers.

    `predict_proba` needs decision="lda". scikit-learn's `CalibratedClassifierCV(FrozenEstimator(model))` makes
    probabilities of either decision from rows that were not learned.

    A learned prior (`prior="evidence"`) is that of the targets 0 and 1.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidgeClassifier
    >>> model = GeneralizedRidgeClassifier()
    >>> model = model.partial_fit(
    ...     [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], ["cat", "cat", "cat"]
    ... )
    >>> model = model.partial_fit(
    ...     [[4.0, 4.0], [5.0, 4.0], [4.0, 5.0]], ["dog", "dog", "dog"]
    ... )
    >>> model.classes_
    array(['cat', 'dog'], dtype='<U3')
    >>> model.predict([[0.5, 0.5], [4.5, 4.5]])
    array(['cat', 'dog'], dtype='<U3')
    """

    def __init__(
        self,
        weights: WeightPolicy | None = None,
        *,
        decision: Literal["least_squares", "lda"] = "least_squares",
        coding: Literal["one_hot", "signed"] = "one_hot",
        shrinkage: float | Literal["auto"] = 0.0,
        balanced: bool = False,
        information: InformationKind | Literal["by_task"] | ByTask = "square_root",
        fit_intercept: bool = True,
        weight_kind: WeightKind = "precision",
    ) -> None:
        self.weights = weights
        self.decision = decision
        self.coding = coding
        self.shrinkage = shrinkage
        self.balanced = balanced
        self.information = information
        self.fit_intercept = fit_intercept
        self.weight_kind = weight_kind

    def fit(self, X: Any, y: Any, sample_weight: Any = None, tasks: Any = None) -> Self:
        """Forget everything, then learn one task, or one per label in `tasks` in order of first appearance.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            The class of each row: text, whole numbers or bools.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts; rows of weight zero are ignored.
        tasks : array of shape (n_samples,), optional
            The task that each row belongs to.
        """
        return self._learn(X, y, sample_weight, first=True, labels=tasks)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, task: Any = None) -> Self:
        """Learn one more task. Its rows are not kept.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            The class of each row. New classes may appear in any task.
        classes : array of labels, optional
            Classes that may come later. They are never predicted before they have rows, unless there is no intercept.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts; rows of weight zero are ignored.
        task : str or int, optional
            The id of the task, with information="by_task".
        """
        return self._learn(X, y, sample_weight, first=False, task_id=task, declared=classes)

    def remove(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, *, task: Any = None, label: Label | None = None
    ) -> Self:
        """Return a new model, as if some rows had never been learned, or raise `RemovalError`. This one stays as it is.

        With "by_task" a whole task is removed by its id, and a whole class by its label. No rows are needed, and no
        digits are lost. Otherwise the rows must be passed again, as for `GeneralizedRidge`. A class that has no rows
        left is a class no longer.

        Parameters
        ----------
        X, y, sample_weight : the rows to remove
        task : the id of the task to remove
        label : the class to remove
        """
        state = self._removable()
        if label is not None:
            if not all(given is None for given in (X, y, sample_weight, task)):
                raise RemovalError("a class is removed by its label alone. Leave out rows and task.")
            return self._with(without_class(state, label))
        if task is not None:
            return self._with(without_empty_classes(without_task(state, task, X), class_weights(state.information)))
        (rows,) = self._checked(state, X, y, sample_weight)
        if rows.classes != state.origin.classes:
            never = [label for label in rows.classes or () if label not in state.origin.classes]
            raise RemovalError(f"no rows were learned of class {listed_classes(never)}. Remove rows that were learned.")
        return self._with(without_rows(state, rows))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the highest score for each row, of shape (n_samples,).

        Warns
        -----
        MaskedClassWarning
            If least squares hides a class that discriminants recognise: once for what has been learned so far.
        """
        now = copy.copy(self)  # the warning is about the state that predicts, whatever other threads do
        predicted = np.asarray(now.classes_[now._ranked(X).argmax(axis=1)])
        for sentence in now._cautions():
            warnings.warn(sentence, MaskedClassWarning, stacklevel=2)
        return predicted

    def decision_function(self, X: Any) -> Array:
        """Return the scores, of shape (n_samples, n_classes).

        If there are two classes, return the score of the second less that of the first, of shape (n_samples,).
        """
        now = copy.copy(self)
        return now._contrasted(now._scores(X))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, of shape (n_samples, n_classes), if the decision is "lda".

        The most probable class is that of `predict`. A class without rows has probability 0.
        """
        return np.asarray(np.exp(self.predict_log_proba(X)))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities of the classes, of shape (n_samples, n_classes)."""
        now = copy.copy(self)
        return np.asarray(log_softmax(now._ranked(X), axis=1))

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes learned or declared so far, in ascending order."""
        return np.array(self.state_.origin.classes)

    @property
    def coef_(self) -> Array:
        """What the features count in `decision_function`, (n_classes, n_features); one row if there are two classes."""
        return np.atleast_2d(self._contrasted(self._rule().coef).T.copy())

    @property
    def intercept_(self) -> Array:
        """The intercepts of `decision_function`, (n_classes,); one if there are two classes."""
        return np.atleast_1d(self._contrasted(self._rule().intercept).copy())

    def _cautions(self) -> list[str]:
        """Return one sentence for the masked classes of a state that has not predicted before."""
        state = self.state_
        if self.decision != "least_squares" or not isinstance(state, Informed):
            return []
        state = self._in_force()
        masked = masked_classes(state)
        if not masked or said_before(state):
            return []
        return [
            f"least squares hides class {self.classes_[position].item()!r} behind others: about {by_least_squares:.0%} "
            f"of its rows are expected to be recognised, and {by_discriminants:.0%} with decision='lda', which needs "
            "nothing but the same memory. Use set_params(decision='lda')."
            for position, by_least_squares, by_discriminants in masked
        ]

    def _rule(self) -> Answer:
        """Return what the scores are computed with: coefficients (n_features, n_classes) and intercepts."""
        decision, shrinkage, even = self._choices(self.state_)
        if decision == "lda":
            return linear_discriminants(self.state_, shrinkage, even=even)
        return self._in_force().answer

    def _in_force(self) -> State:
        state: State = balanced(self.state_) if self.balanced else self.state_
        return state

    def _contrasted(self, values: Array) -> Array:
        """Return what is shown of one value per class, the last axis: their difference if there are two classes."""
        if values.shape[-1] == 2:
            return np.asarray(values[..., 1] - values[..., 0])
        if self.coding == "signed" and self.decision == "least_squares" and values.shape[-1] > 2:
            return np.asarray(2.0 * values - values.sum(axis=-1, keepdims=True))  # 2·y_k − 1, and 1 = Σ_j y_j
        return values

    def _choices(self, state: State | None) -> tuple[Any, ...]:
        """Return decision, shrinkage and balance, or raise if a state, or a model without one, does not allow them."""
        decision = one_of(self.decision, DECISIONS, "decision")
        one_of(self.coding, CODINGS, "coding")
        automatic = isinstance(self.shrinkage, str) and self.shrinkage == "auto"
        shrinkage = "auto" if automatic else nonnegative(self.shrinkage, "shrinkage")
        if isinstance(shrinkage, float) and shrinkage > 1.0:
            raise InvalidParameterError(f"shrinkage must lie between 0 and 1; got {self.shrinkage!r}.")
        kept, even = (
            self._information_kind if state is None else state.origin.information,
            flag(self.balanced, "balanced"),
        )
        if decision == "lda" and not self._retains(state):
            raise InvalidParameterError(
                f"decision='lda' needs the information of all rows, and weights={self.weights!r} keeps none. Use "
                "weights.Accumulated(), or decision='least_squares'."
            )
        needs = "balanced=True" * even or "shrinkage='auto'" * (automatic and decision == "lda")
        if needs and (kept.name != ByTask.name or not self._retains(state)):
            raise InvalidParameterError(
                f"{needs} needs one memory for each class, and this model keeps at most that of all rows. Start a new "
                "model with information='by_task'."
            )
        if kept.name == ByTask.name and kept.fourth_moments:
            raise InvalidParameterError("a classifier has no use for fourth moments. Use ByTask without them.")
        return decision, shrinkage, even

    def _retains(self, state: State | None) -> bool:
        """Return whether the state keeps information, or that of a first task will."""
        return self._policy().retains if state is None else isinstance(state, Informed)

    def _scores(self, X: Any) -> Array:
        """Return the score of each class, of shape (n_samples, n_classes)."""
        rule, rows = self._rule(), check_rows(self, X)
        return np.asarray(rows @ rule.coef + rule.intercept)

    def _ranked(self, X: Any) -> Array:
        """Return the scores, which are −∞ for classes that are known to have no rows: they are never predicted."""
        scores, state = self._scores(X), self.state_
        if isinstance(state, Informed):
            scores[:, class_weights(state.information) == 0.0] = -np.inf
        return scores

    def _checked(self, state: State | None, X: Any, y: Any, sample_weight: Any, **names: Any) -> list[Task]:
        """Check the rows of one call; their classes are those of the state, and new ones."""
        self._choices(state)
        known = () if state is None else state.origin.classes or ()
        beside = {"X": X, "sample_weight": sample_weight, "tasks": names.get("labels")}
        labels = coded_labels(y, known, names.pop("declared", None), beside)
        if self._information_kind.name == ByTask.name:
            names["clusters"] = labels.names
        tasks = check_tasks(self, X, labels.columns, sample_weight, first=state is None, **names)
        return [replace(task, classes=labels.classes) for task in tasks]
