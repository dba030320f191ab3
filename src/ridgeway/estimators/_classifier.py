"""What the classifiers share: classes as columns of zeros and ones, and scores."""

import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from ridgeway._checks import Array
from ridgeway.data import Task, check_rows, check_tasks, coded_labels
from ridgeway.estimators._shell import ContinualEstimator
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
