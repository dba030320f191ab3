"""The door to a model's memory: what may be asked, and the names of its columns."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ridgeway._checks import fraction
from ridgeway.errors import FeatureMismatchError, InvalidParameterError
from ridgeway.estimators import GeneralizedRidge
from ridgeway.estimators._memory import Memory

Array = NDArray[np.float64]


def memory_of(model: Any) -> Memory:
    """Return what a model remembers, or raise where it does not accumulate."""
    if not isinstance(model, GeneralizedRidge):
        raise InvalidParameterError(
            f"only a GeneralizedRidge keeps what is needed; got {type(model).__name__}. Learn the tasks with it."
        )
    check_is_fitted(model)
    if not isinstance(model._state, Memory):
        raise InvalidParameterError(
            f"a model with weights={model.weights!r} keeps no information about the past. Use weights.Accumulated()."
        )
    return model._state


def feature_names(model: GeneralizedRidge) -> list[str]:
    """Return the names of the columns: the model's, or x0, x1, …."""
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]


def positions(model: GeneralizedRidge, features: Any, what: str = "features") -> NDArray[np.intp]:
    """Return the positions of features given by name or position, in the order given, or raise."""
    try:
        listed = [features] if isinstance(features, str) else list(features)
    except TypeError:
        raise InvalidParameterError(f"{what} must be a list of names or positions; got {features!r}.") from None
    if not listed:
        raise InvalidParameterError(f"{what} is empty. Name at least one feature.")
    named = getattr(model, "feature_names_in_", None)
    known = {} if named is None else {name: j for j, name in enumerate(feature_names(model))}
    found = [_position(feature, known, model.n_features_in_) for feature in listed]
    unknown = [repr(feature) for feature, position in zip(listed, found, strict=True) if position is None]
    if unknown:
        columns = f"its columns are {', '.join(known)}" if known else "it has no names: pass positions"
        raise FeatureMismatchError(
            f"{what} that this model has not learned: {', '.join(unknown)}. It has {model.n_features_in_} features, "
            f"counted from 0; {columns}."
        )
    chosen = [position for position in found if position is not None]
    twice = [repr(listed[found.index(position)]) for position, count in Counter(chosen).items() if count > 1]
    if twice:
        raise FeatureMismatchError(f"{what} given more than once: {', '.join(twice)}. Name each once.")
    return np.array(chosen, dtype=np.intp)


def _position(feature: Any, known: dict[str, int], n_features: int) -> int | None:
    if isinstance(feature, str):
        return known.get(feature)
    whole = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
    return int(feature) if whole and 0 <= feature < n_features else None


def checked_level(level: Any) -> float:
    """Return the level of an interval, or raise."""
    return fraction(level, "level", "For 95 % intervals pass 0.95.")


def is_number(value: Any) -> bool:
    """Say whether a value is a number, and not a truth."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def per_target(memory: Memory, values: Array) -> Any:
    """Return values (n_targets, …) as they are, or without the first axis for a single target."""
    if not memory.single_target:
        return values
    return float(values[0]) if values.ndim == 1 else values[0]
