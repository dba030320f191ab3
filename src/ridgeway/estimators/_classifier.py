"""What the classifiers share: classes as columns of zeros and ones, scores, and probabilities."""

import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.data import Task, check_rows, check_tasks, coded_labels, listed_classes
from ridgeway.errors import InferenceError, InvalidDataError
from ridgeway.estimators._shell import ContinualEstimator, lock_of
from ridgeway.estimators._temperature import best_factor, log_probabilities
from ridgeway.information import ByTask
from ridgeway.weights import Answer, State


class ContinualClassifier(ClassifierMixin, ContinualEstimator):
    """A classifier that learns task after task: least squares on one target per class, 1 in its rows and 0 elsewhere.

    Classes need not be declared. One that appears later was 0 in every row before, so its target is known exactly.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidgeClassifier
    >>> from ridgeway.estimators import ContinualClassifier
    >>> model = GeneralizedRidgeClassifier()
    >>> isinstance(model, ContinualClassifier)
    True
    >>> model.partial_fit([[0.0], [1.0]], ["a", "b"]).partial_fit([[2.0]], ["c"]).classes_
    array(['a', 'b', 'c'], dtype='<U1')
    """

    _calibration: tuple[State, tuple[Any, ...], float]

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
            The id of the task, for a `GeneralizedRidgeClassifier` with information="by_task".
        """
        return self._learn(X, y, sample_weight, first=False, task_id=task, declared=classes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the highest score for each row, of shape (n_samples,)."""
        now = copy.copy(self)  # its state and its columns belong together, whatever other threads do
        return np.asarray(now.classes_[now._ranked(X).argmax(axis=1)])

    def decision_function(self, X: Any) -> Array:
        """Return the scores, of shape (n_samples, n_classes).

        If there are two classes, return the score of the second less that of the first, of shape (n_samples,).
        """
        now = copy.copy(self)
        return now._contrasted(now._scores(X))

    @available_if(lambda model: model._has_probabilities())
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, of shape (n_samples, n_classes). `calibrate` says how sure they are.

        The most probable class is that of `predict`. A class that is known to have no rows has probability 0.
        """
        return np.asarray(np.exp(self._log_probabilities(X)))

    @available_if(lambda model: model._has_probabilities())
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities of the classes, of shape (n_samples, n_classes)."""
        return self._log_probabilities(X)

    def calibrate(self, X: Any, y: Any) -> Self:
        """Choose how sure `predict_proba` is, from rows that were not learned: the temperature of least log-loss.

        `predict` stays the same. The temperature belongs to the model as it is: once the model has learned another
        task, or has other settings, it counts no longer, and the model has to be calibrated again.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            The class of each row, among those learned.
        """
        with lock_of(self):
            scores, classes = self._ranked(X), self.state_.origin.classes or ()
            labels = coded_labels(y, classes, beside={"X": X})
            if len(labels.positions) != len(scores):
                raise InvalidDataError(
                    f"X has {counted(len(scores), 'row')} and y has {counted(len(labels.positions), 'label')}. Pass "
                    "one label per row."
                )
            seen = np.asarray(np.isfinite(scores).all(axis=0))  # the score of a class without rows is −∞
            learned = dict(zip(classes, seen, strict=True))
            unknown = [label for label in labels.found if not learned.get(label)]
            if unknown:
                raise InvalidDataError(
                    f"y has classes that this model has not learned: {listed_classes(unknown)}. Learn them first, or "
                    "leave their rows out."
                )
            places = np.cumsum(seen) - 1
            doubt = 1.0 / (len(scores) + 2.0)  # as in Platt scaling
            factor = best_factor(scores[:, seen], places[labels.positions], np.ones(len(scores)), doubt)
            if factor is None:
                raise InferenceError(
                    "the scores of these rows are no better than chance, so no probabilities follow from them. Pass "
                    "rows of at least two classes, like those that the model is for."
                )
            self._calibration = (self.state_, self._settings(), factor)
        return self

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

    def _rule(self) -> Answer:
        """Return what the scores are computed with: coefficients (n_features, n_classes) and intercepts."""
        return self.state_.answer

    def _contrasted(self, values: Array) -> Array:
        """Return what is shown of one value per class, the last axis: their difference if there are two classes."""
        return np.asarray(values[..., 1] - values[..., 0]) if values.shape[-1] == 2 else values

    def _settings(self) -> tuple[Any, ...]:
        """Return what `_rule` depends on besides the state."""
        return ()

    def _calibrated(self) -> float | None:
        """Return the factor of the last calibration, or None if it was one of another state or of other settings."""
        state, settings, factor = vars(self).get("_calibration", (None, None, None))
        return factor if state is not None and state is self.state_ and settings == self._settings() else None

    def _has_probabilities(self) -> bool:
        return self._calibrated() is not None

    def _factor(self) -> float:
        """Return what the scores are multiplied by to become logarithms of probabilities, up to a constant."""
        factor = self._calibrated()
        if factor is None:
            raise InferenceError(
                "the probabilities of this model need rows that it did not learn. Call calibrate(X, y)."
            )
        return factor

    def _log_probabilities(self, X: Any) -> Array:
        now = copy.copy(self)
        return log_probabilities(now._ranked(X), now._factor())

    def _scores(self, X: Any) -> Array:
        """Return the score of each class, of shape (n_samples, n_classes)."""
        rule, rows = self._rule(), check_rows(self, X)
        return np.asarray(rows @ rule.coef + rule.intercept)

    def _ranked(self, X: Any) -> Array:
        """Return the scores, which are −∞ for classes that are known to have no rows: they are never predicted."""
        return self._scores(X)

    def _checked(self, state: State | None, X: Any, y: Any, sample_weight: Any, **names: Any) -> list[Task]:
        """Check the rows of one call; their classes are those of the state, and new ones."""
        known = () if state is None else state.origin.classes or ()
        beside = {"X": X, "sample_weight": sample_weight, "tasks": names.get("labels")}
        labels = coded_labels(y, known, names.pop("declared", None), beside)
        if self._information_kind.name == ByTask.name:
            names["clusters"] = labels.names
        tasks = check_tasks(self, X, labels.columns, sample_weight, first=state is None, **names)
        return [replace(task, classes=labels.classes) for task in tasks]
