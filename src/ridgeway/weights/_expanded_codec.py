"""The state of a likelihood as arrays, by name and version: the one form that pickles and `to_arrays` share."""

import copyreg
import json
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import LARGEST, Array
from ridgeway.data import MemoryKind, WeightKind
from ridgeway.errors import InvalidParameterError, InvalidStateError
from ridgeway.likelihoods import FAMILIES, Polynomial, packed_third, unpacked_third
from ridgeway.weights._codec import MOST_TASKS, checked_classes, checked_header
from ridgeway.weights._expanded import Expanded
from ridgeway.weights._settings import checked_decay, checked_prior
from ridgeway.weights._states import Origin

VERSION = 1
DAMAGED = "Read an intact copy."


def expanded_to_arrays(state: Expanded) -> dict[str, NDArray[Any]]:
    """Return a state as arrays: a header (JSON, as bytes) and float64 numbers. The reader returns it bit for bit.

    `curvature` is an upper triangle, row after row, and `third` has the entries i ≤ j ≤ k, C(p + 2, 3) of them.

    Examples
    --------
    >>> from ridgeway import GeneralizedPoisson, weights
    >>> state = GeneralizedPoisson().fit([[0.0], [0.0], [1.0]], [1, 3, 4]).state_
    >>> arrays = weights.expanded_to_arrays(state)
    >>> arrays["centre"].tolist() == state.past.centre.tolist()
    True
    """
    origin, past = state.origin, state.past
    header = {
        "version": VERSION,
        "state": "expanded",
        "likelihood": state.likelihood.name,
        "memory": "quadratic" if past.third is None else "cubic",
        "n_tasks": state.n_tasks,
        "n_samples": state.n_samples,
        "rank": state.rank,
        "decay": state.decay,
        "single_target": origin.single_target,
        "weight_kind": origin.weight_kind,
        "classes": origin.classes,
        **({"rates": True} if state.rates else {}),
    }
    text = json.dumps(header, allow_nan=False, sort_keys=True, separators=(",", ":"))
    arrays: dict[str, NDArray[Any]] = {"header": np.frombuffer(text.encode(), dtype=np.uint8), "start": origin.coef}
    arrays |= {"prior": state.prior, "centre": past.centre, **_written(past)}
    if state.about is not None:
        arrays["about"] = state.about
    return {name: np.array(array) for name, array in arrays.items()}  # whoever changes them leaves the state as it is


def expanded_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Expanded:
    """Return the state that `expanded_to_arrays` wrote, checked, or raise `InvalidStateError`.

    Examples
    --------
    >>> from ridgeway import GeneralizedPoisson, weights
    >>> state = GeneralizedPoisson().fit([[0.0], [0.0], [1.0]], [1, 3, 4]).state_
    >>> same = weights.expanded_from_arrays(weights.expanded_to_arrays(state))
    >>> same.answer.coef.tobytes() == state.answer.coef.tobytes()
    True
    """
    header = checked_header(arrays)
    shape = np.shape(arrays.get("start", ()))
    if len(shape) != 2 or 0 in shape or header.get("state") != "expanded":
        raise InvalidStateError(f"the arrays are not those of a state with a likelihood. {DAMAGED}")
    (p, q), reader = shape, _Reader(arrays)
    start, centered = reader.numbers("start", (p, q)), "about" in arrays
    about, size = reader.numbers("about", (p,)) if centered else None, (p + centered) * q
    _check_header(header, q, size)
    square = np.ndim(arrays.get("prior", ())) == 2
    prior = reader.numbers("prior", (p, p) if square else (p,))
    try:
        prior, decay = checked_prior(prior, p), checked_decay(header.get("decay"))
    except InvalidParameterError as error:
        raise InvalidStateError(f"a setting of a state is damaged: {error}") from error
    likelihood, cubic = FAMILIES[header["likelihood"]]().with_targets(q), header["memory"] == "cubic"
    centre = reader.numbers("centre", (size,))
    classes = None if header.get("classes") is None else checked_classes(header["classes"], q + 1)
    single, kind = header["single_target"], header["weight_kind"]
    return Expanded(
        origin=Origin(start, centered=centered, single_target=single, weight_kind=kind, classes=classes),
        n_tasks=header["n_tasks"],
        likelihood=likelihood,
        past=reader.polynomial(centre, cubic=cubic),
        prior=prior,
        decay=decay,
        about=about,
        n_samples=header["n_samples"],
        rank=header.get("rank"),
        rates=header.get("rates", False),
    )


def _check_header(header: Mapping[str, Any], n_targets: int, size: int) -> None:
    """Raise if a field of the header is unknown or does not fit."""
    for name, most in (("n_tasks", MOST_TASKS), ("n_samples", MOST_TASKS), ("rank", size)):
        count = header.get(name)
        if not (type(count) is int and 0 <= count <= most) and not (name == "rank" and count is None):
            raise InvalidStateError(f"{name} of a state is out of range. {DAMAGED}")
    choices = {"likelihood": tuple(FAMILIES), "memory": get_args(MemoryKind), "weight_kind": get_args(WeightKind)}
    known = [header.get(name) in words for name, words in choices.items()]
    flags = (header.get("single_target"), header.get("rates", False))
    if not all(known) or any(type(flag) is not bool for flag in flags):
        raise InvalidStateError("the header of a state names something unknown. Read an intact copy, or upgrade.")
    likelihood = FAMILIES[header["likelihood"]]().with_targets(n_targets)
    if likelihood.name != header["likelihood"] or likelihood.n_predictors != n_targets:
        raise InvalidStateError(f"the likelihood of a state does not fit its targets. {DAMAGED}")


class _Reader:
    """Arrays by name, checked."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.arrays = arrays

    def numbers(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return an array of float64 of this shape, without NaN."""
        array = np.array(self.arrays.get(name, ()))
        if array.dtype != np.float64 or array.shape != shape or not (np.abs(array) <= LARGEST**2).all():
            raise InvalidStateError(f"the array {name!r} of a state does not fit, or is damaged. {DAMAGED}")
        return array

    def symmetric(self, name: str, size: int) -> Array:
        """Return a symmetric matrix from its upper triangle."""
        matrix = np.zeros((size, size))
        matrix[np.triu_indices(size)] = self.numbers(name, (size * (size + 1) // 2,))
        return matrix + np.triu(matrix, 1).T

    def polynomial(self, centre: Array, *, cubic: bool) -> Polynomial:
        """Return the past, about a centre."""
        size = len(centre)
        gradient = self.numbers("gradient", (size,))
        value = float(self.numbers("value", (1,))[0])
        third = None
        if cubic:
            third = unpacked_third(self.numbers("third", (size * (size + 1) * (size + 2) // 6,)), size)
        return Polynomial(centre, value, gradient, self.symmetric("curvature", size), third)


def _written(polynomial: Polynomial) -> dict[str, NDArray[Any]]:
    upper = np.triu_indices(len(polynomial.centre))
    arrays = {"value": np.array([polynomial.value]), "gradient": polynomial.gradient}
    arrays["curvature"] = polynomial.curvature[upper]
    if polynomial.third is not None:
        arrays["third"] = packed_third(polynomial.third)
    return arrays


copyreg.pickle(Expanded, lambda state: (expanded_from_arrays, (expanded_to_arrays(state),)))
