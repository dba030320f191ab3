"""Priors and decays as a user may pass them."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array, nonnegative
from ridgeway.errors import InvalidParameterError
from ridgeway.linalg import checked_semidefinite

PriorValue = float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
Decay = float | Literal["adaptive"]


def checked_prior(prior: Any, n_features: int) -> Array:
    """Return a prior P as its diagonal (n_features,) or as a matrix (n_features, n_features), or raise."""
    if isinstance(prior, str):
        raise InvalidParameterError(
            f"prior={prior!r} is not a number, a vector or a matrix. (prior='evidence' is learned from rows, which "
            "only weights.Accumulated in a GeneralizedRidge can do.)"
        )
    try:
        axes = np.ndim(prior)
    except ValueError:
        raise InvalidParameterError("the prior is ragged. Pass a number, a vector or a square matrix.") from None
    if axes > 1:
        return checked_semidefinite(prior, n_features, "the prior")
    if axes == 0:
        return np.full(n_features, nonnegative(prior, "the prior"))
    diagonal = np.array([nonnegative(entry, "each entry of the prior") for entry in prior])
    if len(diagonal) != n_features:
        raise InvalidParameterError(
            f"the prior has {len(diagonal)} entries; this model has {n_features} features. Pass one per feature."
        )
    return diagonal


def checked_decay(decay: Any) -> float:
    """Return a decay γ in (0, 1], or raise."""
    if isinstance(decay, str):
        raise InvalidParameterError(
            f"decay={decay!r} is not a number. (decay='adaptive' is chosen from rows, which only weights.Accumulated "
            "in a GeneralizedRidge can do.)"
        )
    number = nonnegative(decay, "decay")
    if not 0.0 < number <= 1.0:
        raise InvalidParameterError(
            f"decay must lie in (0, 1]; got {number!r}. 1 keeps the whole past; smaller values let it fade."
        )
    return number
