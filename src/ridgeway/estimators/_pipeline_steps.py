"""The steps of a pipeline: their names, how each learns from a task, and whether two of them are the same."""

import copy
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from ridgeway.errors import InvalidParameterError

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

Steps = list[tuple[str, Any]]


def as_pipeline(steps: Steps) -> "Pipeline":
    """Return scikit-learn's pipeline of these steps. It is imported here, since that takes a while."""
    from sklearn.pipeline import Pipeline

    return Pipeline(steps)


def with_names(steps: Any) -> Steps:
    """Return steps with their names, given or made; none if this is not a list of steps."""
    from sklearn.pipeline import make_pipeline

    if not isinstance(steps, list | tuple):
        return []
    if all(isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str) for step in steps):
        return list(steps)
    return list(make_pipeline(*steps).steps)


def checked_steps(steps: Steps) -> Steps:
    """Return steps that can learn a first task, or raise."""
    names = [name for name, _ in steps]
    if len(set(names)) < len(names) or any("__" in name or name == "steps" for name in names):
        raise InvalidParameterError(f"each step needs its own name, without '__' and not 'steps'; got {names}.")
    for name, step in steps[:-1]:
        if not (hasattr(step, "fit") and hasattr(step, "transform")):
            raise InvalidParameterError(f"step {name!r} must have fit and transform; got {step!r}.")
    if not steps or not is_updated(steps[-1][1]):
        got = repr(steps[-1][1]) if steps else "no steps"
        raise InvalidParameterError(f"the last step must be a model with partial_fit, not frozen; got {got}.")
    for name, step in steps:
        if not isinstance(step, FrozenEstimator) and any(key.endswith("_") for key in vars(step)):
            raise InvalidParameterError(
                f"step {name!r} is fitted already. Put it into sklearn.frozen.FrozenEstimator to use it as it is, or "
                "pass sklearn.base.clone(step) to fit it on the first task."
            )
    return steps


def is_updated(step: Any) -> bool:
    """Say whether a step changes with each task."""
    return hasattr(step, "partial_fit") and not isinstance(step, FrozenEstimator)


def fit_first(step: Any, X: Any, y: Any, weight: Any) -> Any:
    """Return a copy of a step, fitted on the first task; a frozen one as it is, if it is fitted."""
    if isinstance(step, FrozenEstimator):
        return step if step.__sklearn_is_fitted__() else FrozenEstimator(fit_first(step.estimator, X, y, weight))
    fresh = clone(step)
    _teach(fresh.partial_fit if is_updated(fresh) else fresh.fit, X, y, weight)
    return fresh


def updated(step: Any, X: Any, y: Any, weight: Any) -> Any:
    """Return a step after one more task: a copy if it changes with each task, otherwise itself."""
    if not is_updated(step):
        return step
    changed = copy.deepcopy(step)
    _teach(changed.partial_fit, X, y, weight)
    return changed


def _teach(learn: Any, X: Any, y: Any, weight: Any) -> None:
    """Call `fit` or `partial_fit`, with the weights if it takes them."""
    takes = weight is not None and "sample_weight" in signature(learn).parameters
    learn(X, y, **{"sample_weight": weight} if takes else {})


def same(one: Any, other: Any) -> bool:
    """Say whether two fitted steps have equal attributes; False if that cannot be told."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        return same(one.tolist(), other.tolist()) if one.dtype.hasobject else one.tobytes() == other.tobytes()
    if getattr(one, "__dict__", None):
        return same(vars(one), vars(other))
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # compared entry by entry
        return False
