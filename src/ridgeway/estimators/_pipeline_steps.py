"""The steps of a pipeline: their names, how the first task fits them, and whether two of them are the same."""

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
    model = steps[-1][1] if steps else None
    if isinstance(model, FrozenEstimator) or not hasattr(model, "partial_fit"):
        got = repr(model) if steps else "no steps"
        raise InvalidParameterError(f"the last step must be a model with partial_fit, not frozen; got {got}.")
    for name, step in steps:
        if isinstance(step, FrozenEstimator):
            if not step.__sklearn_is_fitted__():
                raise InvalidParameterError(
                    f"step {name!r} is frozen but not fitted. Fit it, or pass it unfrozen: the first task fits it."
                )
        elif any(key.endswith("_") for key in vars(step)):
            raise InvalidParameterError(
                f"step {name!r} is fitted already. Put it into sklearn.frozen.FrozenEstimator to use it as it is, or "
                "pass sklearn.base.clone(step) to fit it on the first task."
            )
    return steps


def fitted(step: Any, X: Any, y: Any, weight: Any) -> Any:
    """Return a copy of a step, fitted to the first task, with the weights if it takes them; a frozen one as it is."""
    fresh = clone(step)
    takes = weight is not None and "sample_weight" in signature(fresh.fit).parameters
    return fresh.fit(X, y, **{"sample_weight": weight} if takes else {})


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
