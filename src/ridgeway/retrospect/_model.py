"""The door to a model's state: what may be asked, and the names of its columns."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array, fraction
from ridgeway._text import did_you_mean
from ridgeway.errors import FeatureMismatchError, InferenceError, InvalidParameterError
from ridgeway.information import AveragedInference, Inference, Information
from ridgeway.weights import Expandable, Inferable, Informed, Retained, TaskKeeper

if TYPE_CHECKING:
    from ridgeway.estimators import GeneralizedRidge


def state_of(model: Any) -> Retained:
    """Return what a model remembers, or raise if it keeps no information about the past."""
    if isinstance(getattr(model, "state_", None), Expandable):
        raise InvalidParameterError(
            f"a {type(model).__name__} keeps a polynomial of the log-likelihood, and this needs sums of squares. "
            "retrospect.summary(model) gives its errors, tests and intervals."
        )
    if not hasattr(type(model), "information_"):
        raise InvalidParameterError(
            f"only a GeneralizedRidge keeps what is needed; got {type(model).__name__}. Learn the tasks with one."
        )
    state: Any = model.state_
    if not isinstance(model.state_, Informed):
        raise InvalidParameterError(
            f"a model with weights={model.weights!r} keeps no information about the past. Use weights.Accumulated()."
        )
    kept: Retained = state
    return kept


def inference_of(model: Any) -> Inference | AveragedInference:
    """Return what is known about a model's estimate, or raise if its rows do not count fully."""
    return _whole(model).inference()


def assumption_of(state: Retained) -> str:
    """Return what the intervals of a model are, and what they assume, as one line."""
    kind = "Confidence intervals"
    if state.prior is None:
        kind = "Credible intervals, averaged over the learned penalty"
    elif state.prior.any():
        kind = "Credible intervals, too narrow if the prior was learned from these rows"
    return f"{kind}. Rows are assumed independent, of equal variance (weights aside)."


def least_squares(held: Information) -> Inference:
    """Return what is known without a prior."""
    none, zero = np.zeros(held.n_features), np.zeros((held.n_features, held.n_targets))
    return Inference(held, none, zero, held.solve(none, zero).coef)


def whole_information(model: Any) -> Information:
    """Return the information of a model whose rows count fully, or raise."""
    _whole(model)
    return state_of(model).information


def _whole(model: Any) -> Inferable:
    state = state_of(model)
    if isinstance(state, Inferable):
        return state
    if isinstance(state, TaskKeeper):
        raise InferenceError(
            "the rows of older tasks have faded (retrospect.reweighted with a decay), and the noise cannot be "
            "estimated from what is left of them. Ask the model that was reweighted. If the noise of a row does have "
            "the variance σ²/weight, pass these weights by name: retrospect.reweighted(model, {task: weight})."
        )
    raise InferenceError(
        f"with weights={model.weights!r} the rows of older tasks fade, and the noise cannot be estimated from what "
        "is left of them. Learn with decay=1.0."
    )


def feature_names(model: "GeneralizedRidge") -> list[str]:
    """Return the names of the columns: the model's, or x0, x1, …."""
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]


def positions(model: "GeneralizedRidge", features: Any, what: str = "features") -> NDArray[np.intp]:
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
    unknown = [feature for feature, position in zip(listed, found, strict=True) if position is None]
    if unknown:
        near = did_you_mean(unknown[0], known)
        columns = f"their names are {', '.join(known)}" if known else "they have no names: pass positions"
        raise FeatureMismatchError(
            f"{what} that this model has not learned: {', '.join(map(repr, unknown))}.{near} It has "
            f"{model.n_features_in_} features, counted from 0; {columns}."
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
    """Say whether a value is a number, and not a bool."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def selection_cautions(state: Retained) -> tuple[str, ...]:
    """Return what the reader of an interval must know if `best_subset` chose the features."""
    if not state.features_selected:
        return ()
    return (
        "These features were chosen because they fit these rows best. The p-values and intervals do not account for "
        "that choice.",
    )


def per_target(state: Retained, values: Array) -> Any:
    """Return values (n_targets, …) as they are, or without the first axis for a single target."""
    if not state.origin.single_target:
        return values
    return float(values[0]) if values.ndim == 1 else values[0]
