"""A state as arrays, by name and version: the one form that pickles, `to_arrays` and the state file share."""

import copyreg
import json
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import LARGEST
from ridgeway.data import Classes, WeightKind
from ridgeway.errors import InvalidParameterError, InvalidStateError
from ridgeway.information import KINDS, ByTask, checked_kind
from ridgeway.weights._accumulated import Accumulated
from ridgeway.weights._parted import Faded, Parted
from ridgeway.weights._settings import checked_decay, checked_prior
from ridgeway.weights._states import Fading, Origin, Pooled, Retained

VERSION = 1
MOST_TASKS = 2**53
STATES: dict[str, type[Retained]] = {
    "pooled": Pooled,
    "by_task": Parted,
    "faded_by_task": Faded,
    "fading": Fading,
}


def to_arrays(state: Retained) -> dict[str, NDArray[Any]]:
    """Return a state as arrays: a header (JSON, as bytes) and float64 numbers. `from_arrays` reads them, bit for bit.

    The header names the version, the kind of state and of information, the counts and the settings, the kind of
    weights unless they are precisions, whether the features were selected if they were, and the classes of a
    classifier. `matrix` is an upper triangle, column after column; `start` is ŵ_0; `prior` is there unless it is
    learned.

    Examples
    --------
    >>> import json
    >>> from ridgeway import GeneralizedRidge, weights
    >>> arrays = weights.to_arrays(GeneralizedRidge().fit([[0.0], [1.0]], [0, 1]).state_)
    >>> header = json.loads(arrays["header"].tobytes())
    >>> header["state"], header["information"], header["n_samples"]
    ('pooled', 'square_root', 2)
    """
    counts, arrays = state.information.to_parts()
    header = {
        "version": VERSION,
        "state": next(name for name, kind in STATES.items() if kind is type(state)),
        "information": state.information.name,
        "n_tasks": state.n_tasks,
        "single_target": state.origin.single_target,
        "prior": "evidence" if state.prior is None else "given",
        "decay": state.decay if isinstance(state, Fading) else None,
        **counts,
    } | ({} if state.origin.weight_kind == "precision" else {"weight_kind": state.origin.weight_kind})
    if state.features_selected:
        header["features_selected"] = True
    if state.origin.classes is not None:
        header["classes"] = list(state.origin.classes)
    text = json.dumps(header, allow_nan=False, sort_keys=True, separators=(",", ":"))
    settings = {"start": state.origin.coef} | ({} if state.prior is None else {"prior": state.prior})
    arrays |= {name: np.array(array) for name, array in settings.items()}  # changing them leaves the state as it is
    return {"header": np.frombuffer(text.encode(), dtype=np.uint8), **arrays}


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Retained:
    """Return the state that `to_arrays` wrote, checked, or raise `InvalidStateError`.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, weights
    >>> state = GeneralizedRidge().fit([[0.0], [1.0], [3.0]], [0, 1, 2]).state_
    >>> same = weights.from_arrays(weights.to_arrays(state))
    >>> same.answer.coef.tobytes() == state.answer.coef.tobytes()
    True
    """
    header = checked_header(arrays)
    names = {"information": list(KINDS), "state": list(STATES), "prior": ["given", "evidence"]}
    known = [header.get(field) in choices for field, choices in names.items()]
    known.append(header.get("weight_kind", "precision") in get_args(WeightKind))
    known.append(type(header.get("features_selected", False)) is bool)
    if not all(known) or type(header.get("single_target")) is not bool:
        raise InvalidStateError("the header of a state names something unknown. Read an intact copy, or upgrade.")
    information = KINDS[header["information"]].from_parts(header, arrays)
    p, k = information.n_features, information.n_targets
    n_tasks: Any = header.get("n_tasks")
    start = np.array(arrays.get("start", ()))
    counted = type(n_tasks) is int and (0 < n_tasks <= MOST_TASKS if information.n_samples else n_tasks == 0)
    if not counted or (header["single_target"] and k > 1):
        raise InvalidStateError("the number of tasks or of targets is out of range. Read an intact copy.")
    if start.dtype != np.float64 or start.shape != (p, k) or not (np.abs(start) <= LARGEST).all():
        raise InvalidStateError(f"the start of a state does not fit {p} features and {k} targets. Read an intact copy.")
    kind, kept = STATES[header["state"]], KINDS[header["information"]]
    keeps_tasks = kind in (Parted, Faded)
    if keeps_tasks != (kept.name == ByTask.name):
        raise InvalidStateError("the state and its information are of different kinds. Read an intact copy.")
    kept = checked_kind(information.setting) if keeps_tasks else kept
    weights = header.get("weight_kind", "precision")
    single = header["single_target"]
    classes = checked_classes(header["classes"], 0 if single or start.any() else k) if "classes" in header else None
    origin = Origin(start, kept, information.centered, single, weight_kind=weights, classes=classes)
    try:
        prior = None if header["prior"] == "evidence" else np.array(arrays.get("prior", ()))
        plain = prior is None or (prior.dtype == np.float64 and prior.shape == (p,))
        if prior is not None and not (plain and ((prior >= 0.0) & (prior <= LARGEST)).all()):
            prior = checked_prior(prior, p)
        settings: dict[str, Any] = {"decay": checked_decay(header.get("decay"))} if kind is Fading else {}
    except InvalidParameterError as error:
        raise InvalidStateError(f"a setting of a state is damaged: {error}") from error
    selected = header.get("features_selected", False)
    return kind(origin, n_tasks, information, prior, features_selected=selected, **settings)


def checked_classes(found: Any, n_classes: int) -> Classes:
    """Return `n_classes` classes, of one type and in ascending order, or raise."""
    plain = isinstance(found, list) and len(found) == n_classes
    if not plain or {type(label) for label in found} not in ({bool}, {int}, {float}, {str}):
        raise InvalidStateError("the classes of a state are not one label per target. Read an intact copy.")
    if any(not one < two for one, two in pairwise(found)) or not all(label == label for label in found):
        raise InvalidStateError("the classes of a state are not in ascending order. Read an intact copy.")
    return tuple(found)


def policy_of(state: Retained) -> Accumulated:
    """Return the policy that continues from a state.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, weights
    >>> model = GeneralizedRidge(weights.Accumulated(prior="evidence", decay=0.5))
    >>> weights.policy_of(model.fit([[0.0], [1.0]], [0, 1]).state_)
    Accumulated(decay=0.5, prior='evidence')
    """
    prior: NDArray[Any] | Literal["evidence"] = "evidence" if state.prior is None else state.prior
    return Accumulated(prior, state.decay if isinstance(state, Fading) else 1.0)


def checked_header(arrays: Any) -> dict[str, Any]:
    """Return the header of a state, or raise if the arrays are not those of one, or of another version."""
    found = list(arrays.values()) if isinstance(arrays, Mapping) else [arrays]
    if not all(isinstance(array, np.ndarray) and not isinstance(array, np.ma.MaskedArray) for array in found):
        raise InvalidStateError("a state is a dictionary of plain arrays. Pass everything from to_arrays().")
    try:
        header = json.loads(np.asarray(arrays["header"]).tobytes())
        version = header["version"]
    except (KeyError, ValueError, TypeError, RecursionError, IndexError):
        raise InvalidStateError("the arrays are not those of a state. Pass everything from to_arrays().") from None
    if version != VERSION or type(version) is not int:
        raise InvalidStateError(f"the state has version {version!r}; this Ridgeway reads version {VERSION}. Upgrade.")
    return dict(header)


def _reduced(state: Retained) -> tuple[Any, ...]:
    """Return how a state is pickled: through its arrays, so that a pickle is as durable as a state file."""
    if state.information.name in KINDS:
        return from_arrays, (to_arrays(state),)
    rebuild = partial(type(state), features_selected=state.features_selected)
    return rebuild, (state.origin, state.n_tasks, state.information, state.prior)


for _kind in STATES.values():
    copyreg.pickle(_kind, _reduced)
