"""Priors and decays as a user may pass them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array, nonnegative
from ridgeway._text import counted
from ridgeway.errors import InvalidParameterError
from ridgeway.linalg import checked_semidefinite

PriorValue = float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
"""P as a user may pass it: a number for that multiple of the identity, a vector for a diagonal, or a matrix."""


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
            f"the prior has {len(diagonal)} entries; this model has {counted(n_features, 'feature')}. Pass one per "
            "feature."
        )
    return diagonal


def same_prior(one: Array | None, two: Array | None) -> bool:
    """Say whether two priors are the same matrix P, entry by entry; a learned prior (None) is like no other."""
    if one is None or two is None:
        return one is two
    if one.ndim != two.ndim:
        one = np.diag(one) if one.ndim == 1 else one
        two = np.diag(two) if two.ndim == 1 else two
    return np.array_equal(one, two)


def widened_prior(prior: Array | None, features: NDArray[np.intp], entries: Any) -> Array | None:
    """Return a prior with entries for new features, or raise; a multiple of the identity and None need none.

    Parameters
    ----------
    prior : P as a diagonal or a matrix, or None if it is learned
    features : for each feature its position in P, or −1 if it is new
    entries : what the diagonal of P has for the new features; None if nothing was given
    """
    if prior is None:
        if entries is not None:
            raise InvalidParameterError("the prior is learned from the rows; got entries for it. Leave them out.")
        return None
    new = features < 0
    if entries is None and new.any() and (prior.ndim > 1 or (prior != prior[0]).any()):
        raise InvalidParameterError(
            f"the prior is not one number for all features, so it needs an entry for each of the {new.sum()} new ones; "
            "got none. Pass them as prior."
        )
    added = checked_prior(float(prior.flat[0]) if entries is None else entries, int(new.sum()))
    if added.ndim > 1:
        raise InvalidParameterError("expected one entry of the prior per new feature; got a matrix. Pass its diagonal.")
    if prior.ndim == 1:
        wider = np.append(prior, 0.0)[features]
        wider[new] = added
    else:
        wider = np.pad(prior, (0, 1))[np.ix_(features, features)]
        wider[new, new] = added
    return wider


def checked_decay(decay: Any) -> float:
    """Return a decay γ in (0, 1], or raise."""
    number = nonnegative(decay, "decay")
    if not 0.0 < number <= 1.0:
        raise InvalidParameterError(
            f"decay must lie in (0, 1]; got {number!r}. 1 keeps the whole past; smaller values let it fade."
        )
    return number
