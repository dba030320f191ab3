"""Logistic regression that learns task after task."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from ridgeway._checks import Array
from ridgeway.data import Classes, Task, check_tasks, coded_labels, listed_classes
from ridgeway.errors import InvalidDataError, InvalidParameterError
from ridgeway.estimators._likelihood_shell import LikelihoodEstimator
from ridgeway.likelihoods import Binomial, Likelihood
from ridgeway.weights import State


class GeneralizedLogistic(ClassifierMixin, LikelihoodEstimator):
    """Classes, task after task: the log-odds are x·w + b + offset.

    ŵ_t = argmin_w −(1/n_t)·log-likelihood_t(w) + ½‖w − ŵ_{t−1}‖²_{H_t}, with H_t from a policy. With
    `weights.Accumulated()`, the default, the past's log-likelihood is kept as a polynomial about the last estimate, so
    that the estimate stays close to that of all rows pooled.

    Parameters
    ----------
    weights : policy of `ridgeway.weights`, optional
        How H_t is chosen; `Accumulated(prior=0.0)` if not given. A prior P adds ½‖w‖²_P once; classes that the columns
        separate need one.
    memory : {"quadratic", "cubic"}, default "quadratic"
        How `Accumulated` keeps the past. "quadratic" takes p² numbers: the online Laplace approximation, or elastic
        weight consolidation with the whole matrix. "cubic" takes C(p + 2, 3) numbers, for at most 300 coefficients, and
        is much closer to the pooled estimate.
    fit_intercept : bool, default True
        Whether an intercept is fitted. It is never penalised. With `Accumulated` there is one for all tasks; otherwise
        each task sets its own.
    initial_coef : array of shape (n_features,), optional
        ŵ_0; zero if not given. For two classes only.
    weight_kind : {"precision", "frequency"}, default "precision"
        What `sample_weight` means. "frequency": the number of times that the row was observed, a whole number, and the
        row counts that often in `n_samples_seen_`. The estimates are the same.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_, standard_errors_ : ndarray of shape (n_features,), or (n_classes, n_features) if there are more than two
        The effect on the log-odds of the second class; of more classes, on the score of each. The scores sum to 0.
    intercept_, intercept_error_ : float, or ndarray of shape (n_classes,)
    log_likelihood_ : float
        Of all rows learned, as far as the state knows it.
    n_tasks_, n_samples_seen_, n_features_in_ : int
    feature_names_in_ : ndarray of str, if the tasks were DataFrames

    Notes
    -----
    Rows cannot be removed: only their expansion about an old estimate was added, and they cannot give it back.

    Examples
    --------
    >>> from ridgeway import GeneralizedLogistic, weights
    >>> model = GeneralizedLogistic(weights.Accumulated(prior=1e-3), memory="cubic")
    >>> model = model.partial_fit([[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"])
    >>> model.partial_fit([[2.0], [4.0]], ["no", "yes"]).predict([[0.0], [4.0]])
    array(['no', 'yes'], dtype='<U3')
    """

    @property
    def _likelihood(self) -> Likelihood:
        return Binomial()

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in ascending order."""
        return np.array(self.state_.origin.classes)

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, tasks: Any = None, offset: Any = None, classes: Any = None
    ) -> Self:
        """Forget everything, then learn one task, or one per label in `tasks` in order of first appearance.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Class labels: text, whole numbers or bools.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts; rows of weight zero are ignored.
        tasks : array of shape (n_samples,), optional
            The task that each row belongs to.
        offset : array of shape (n_samples,), optional
            What is added to the log-odds, for two classes only.
        classes : array of shape (n_classes,), optional
            All classes, if `y` does not have all of them.
        """
        return self._learn(X, y, sample_weight, first=True, labels=tasks, offset=offset, classes=classes)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, classes: Any = None) -> Self:
        """Learn one more task. Its rows are not kept.

        Parameters
        ----------
        X, y, sample_weight, offset, classes : as for `fit`
            The first task decides which classes there are, unless `classes` lists more.
        """
        return self._learn(X, y, sample_weight, first=False, offset=offset, classes=classes)

    def decision_function(self, X: Any, offset: Any = None) -> Array:
        """Return the log-odds, of shape (n_samples,); of more than two classes the scores, (n_samples, n_classes)."""
        scores, predictor = self._scores(), self._predictor(X, offset)
        return predictor @ scores.T if len(scores) > 1 else predictor[:, 0]

    def predict_proba(self, X: Any, offset: Any = None) -> Array:
        """Return the probability of each class, of shape (n_samples, n_classes)."""
        predictor = self._predictor(X, offset)
        likelihood = self._likelihood.with_targets(predictor.shape[1])
        if predictor.shape[1] == 1:
            return np.column_stack([likelihood.mean(-predictor), likelihood.mean(predictor)])
        shares = likelihood.mean(predictor)
        return np.column_stack([shares, 1.0 - shares.sum(axis=1)])

    def predict(self, X: Any, offset: Any = None) -> NDArray[Any]:
        """Return the most probable class of each row, of shape (n_samples,)."""
        scores = self.decision_function(X, offset)
        place = scores.argmax(axis=1) if scores.ndim > 1 else (scores > 0.0).astype(np.intp)
        return np.asarray(self.classes_[place])

    def _checked(
        self, state: State | None, X: Any, y: Any, sample_weight: Any, classes: Any = None, **names: Any
    ) -> list[Task]:
        known: Classes = () if state is None else state.origin.classes or ()
        others = {"X": X, "sample_weight": sample_weight, "tasks": names.get("labels"), "offset": names.get("offset")}
        coded = coded_labels(y, known, classes, beside=others)
        if known and coded.classes != known:
            new = listed_classes([label for label in coded.classes if label not in known])
            raise InvalidDataError(
                f"the class {new} is new; this model has {listed_classes(known)}. List all classes when the first "
                "task is learned, as classes=[…]."
            )
        if len(coded.classes) < 2:
            raise InvalidDataError(
                f"y has one class only, {coded.classes[0]!r}; the classifier needs at least 2 classes. Pass all of "
                "them as classes=[…] with the first task."
            )
        columns = coded.columns
        if len(coded.classes) > 2 and (self.initial_coef is not None or names.get("offset") is not None):
            raise InvalidParameterError("initial_coef and offset are for two classes; got more. Leave them out.")
        target = columns[:, 1] if len(coded.classes) == 2 else columns[:, :-1]
        tasks = check_tasks(self, X, target, sample_weight, first=state is None, **names)
        return [replace(task, classes=coded.classes) for task in tasks]
