"""Steps that transform each task, and a model that learns it."""

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, Tags, clone, is_classifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ridgeway.data import raw_tasks
from ridgeway.errors import MergeError
from ridgeway.estimators._pipeline_steps import Steps, as_pipeline, checked_steps, fitted, same, with_names
from ridgeway.estimators._shell import interrupted, lock_of

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

Method = TypeVar("Method", bound=Callable[..., Any])


def _model_has(method: str) -> Callable[[Method], Method]:
    """Return a decorator for what a pipeline can do only if its model can."""
    return available_if(lambda pipeline: hasattr(with_names(pipeline.steps)[-1][1], method))


class ContinualPipeline(BaseEstimator):
    """Transform each task, then learn it: a pipeline with `partial_fit`.

    The last step is the model. The first task fits all steps before it, and no task changes them afterwards. So
    `GeneralizedRidge` gives the answer of all rows pooled, transformed by these steps. A step that was fitted
    before, in `sklearn.frozen.FrozenEstimator`, is used as it is.

    Parameters
    ----------
    steps : list of estimators, or of (name, estimator)
        Transformers, then a model with `partial_fit`. Steps without names are named as by `make_pipeline`. They are
        copied, never changed. A step that is fitted already must be frozen; it is not copied, so do not fit it again.

    Attributes
    ----------
    pipeline_ : sklearn.pipeline.Pipeline
        The fitted steps. `pipeline_[-1]` is the model, `pipeline_[:-1]` transforms rows to its columns.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if the tasks were DataFrames
    classes_ : ndarray, if the model is a classifier

    Notes
    -----
    A call that fails changes no step. Threads that learn take turns. `set_params` changes what the next `fit` starts
    with, not the steps that are fitted.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ridgeway import ContinualPipeline, GeneralizedRidge
    >>> pipeline = ContinualPipeline([StandardScaler(), GeneralizedRidge()])
    >>> pipeline = pipeline.partial_fit([[0.0], [1.0]], [1.0, 3.0]).partial_fit(
    ...     [[2.0], [3.0]], [5.0, 7.0]
    ... )
    >>> pipeline.predict([[10.0]])
    array([21.])
    >>> pipeline.named_steps["generalizedridge"].n_tasks_
    2
    """

    pipeline_: "Pipeline"

    def __init__(self, steps: Any) -> None:
        self.steps = steps

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, tasks: Any = None, **params: Any) -> Self:
        """Forget everything, then learn one task, or one per label in `tasks` in order of first appearance.

        Parameters
        ----------
        X : whatever the first step transforms, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
            Passed to the model, and to the steps that take it.
        tasks : array of shape (n_samples,), optional
            The task that each row belongs to.
        **params
            Passed to the model's `partial_fit`. A classifier gets the `classes` in y.
        """
        with lock_of(self):
            before, after = getattr(self, "pipeline_", None), None
            if is_classifier(self):
                params.setdefault("classes", np.unique(np.asarray(y)))
            for task in raw_tasks(X, y, sample_weight, tasks):
                after = self._after(after, *task, params)
            return self._swapped(before, after)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Learn one more task. Its rows are not kept.

        Parameters
        ----------
        X : whatever the first step transforms, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
            Passed to the model, and to the steps that take it.
        **params
            Passed to the model's `partial_fit`, such as `classes` of a classifier.
        """
        with lock_of(self):
            before = getattr(self, "pipeline_", None)
            (task,) = raw_tasks(X, y, sample_weight)
            return self._swapped(before, self._after(before, *task, params))

    def predict(self, X: Any, **params: Any) -> Any:
        """Return the model's predictions for the transformed rows."""
        return self._fitted().predict(X, **params)

    @_model_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes, if the model has them."""
        return self._fitted().predict_proba(X)

    @_model_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the model's decision function, if it has one."""
        return self._fitted().decision_function(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the model's own score on the transformed rows: R² of a regressor, accuracy of a classifier."""
        return float(self._fitted().score(X, y, sample_weight=sample_weight))

    @_model_has("merge")
    def merge(self, other: "ContinualPipeline") -> Self:
        """Return a new pipeline, as if it had learned the tasks of both, or raise `MergeError`.

        The models must allow it, and the steps before them must be equal: fit them once, freeze them, and start both
        pipelines with them.
        """
        if not isinstance(other, ContinualPipeline):
            raise MergeError(f"cannot merge a ContinualPipeline with {other!r}. Pass another ContinualPipeline.")
        (*mine, (label, model)), (*theirs, (_, their_model)) = self._fitted().steps, other._fitted().steps
        differing = [name for (name, one), (_, two) in zip(mine, theirs, strict=False) if not same(one, two)]
        if differing or len(mine) != len(theirs):
            raise MergeError(
                f"cannot merge two pipelines that differ in: {', '.join(differing) or 'the number of steps'}. Fit the "
                "steps once, and start both pipelines with them in sklearn.frozen.FrozenEstimator."
            )
        return self._with([*mine, (label, model.merge(their_model))])

    @_model_has("remove")
    def remove(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Return a new pipeline, as if a task had never been learned, or raise `RemovalError`. The steps stay fitted.

        The model must allow it.
        """
        (*transformers, (name, model)) = self._fitted().steps
        ((X, y, sample_weight),) = raw_tasks(X, y, sample_weight)
        for _, step in transformers:
            X = step.transform(X)
        return self._with([*transformers, (name, model.remove(X, y, sample_weight))])

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what the steps hand on, before the first task: "pandas" or "polars" gives the model named columns."""
        as_pipeline(with_names(self.steps)).set_output(transform=transform)
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and if deep also each step by its name and its parameters as `name__parameter`."""
        params: dict[str, Any] = {"steps": self.steps}
        for name, step in with_names(self.steps) if deep else []:
            own = step.get_params() if hasattr(step, "get_params") else {}
            params |= {name: step, **{f"{name}__{key}": value for key, value in own.items()}}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and return the pipeline. A step can be replaced by its name."""
        if "steps" in params:
            self.steps = params.pop("steps")
        steps = with_names(self.steps)
        if params.keys() & dict(steps).keys():
            self.steps = [(name, params.pop(name, step)) for name, step in steps]
        return super().set_params(**params)

    @property
    def named_steps(self) -> Any:
        """The steps by name: fitted, if the pipeline is."""
        return getattr(self, "pipeline_", as_pipeline(with_names(self.steps))).named_steps

    @property
    def n_features_in_(self) -> int:
        """Number of columns before the first step."""
        return int(self.pipeline_.n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """Names of the columns before the first step."""
        return self.pipeline_.feature_names_in_

    @property
    def classes_(self) -> Any:
        """The classes of the model, if it is a classifier."""
        return self.pipeline_.classes_

    def __sklearn_tags__(self) -> Tags:
        return as_pipeline(with_names(self.steps)).__sklearn_tags__()

    def _fitted(self) -> "Pipeline":
        check_is_fitted(self)
        return self.pipeline_

    def _after(self, before: "Pipeline | None", X: Any, y: Any, weight: Any, params: dict[str, Any]) -> "Pipeline":
        """Return the fitted steps after a task. Those that were fitted before are not changed: the model is a copy."""
        (*transformers, (name, model)) = checked_steps(with_names(self.steps)) if before is None else before.steps
        learned: Steps = []
        for label, step in transformers:
            unchanging = fitted(step, X, y, weight) if before is None else step
            X = unchanging.transform(X)
            learned.append((label, unchanging))
        model = clone(model) if before is None else copy.deepcopy(model)
        model.partial_fit(X, y, **params if weight is None else {**params, "sample_weight": weight})
        return as_pipeline([*learned, (name, model)])

    def _swapped(self, before: "Pipeline | None", after: "Pipeline | None") -> Self:
        """Take the new steps, or raise if the present ones are not the same as before."""
        if getattr(self, "pipeline_", None) is not before:
            raise interrupted()
        vars(self)["pipeline_"] = after
        return self

    def _with(self, steps: Steps) -> Self:
        """Return a pipeline like this one, with other fitted steps."""
        other = copy.copy(self)
        other.pipeline_ = as_pipeline(steps)
        return other
