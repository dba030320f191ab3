"""What least squares on some of the tasks says about each coefficient; nothing, if they do not determine it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ridgeway._checks import Array
from ridgeway.information import Inference, Information
from ridgeway.retrospect._model import feature_names, least_squares, state_of


class Estimates(NamedTuple):
    """Coefficients of some of the tasks, the intercept first if there is one.

    Attributes
    ----------
    coef : ndarray of shape (n_targets, n_terms)
        NaN if the rows do not determine it.
    errors : ndarray of shape (n_targets, n_terms)
        Infinite if the rows do not determine the coefficient, or leave no degrees of freedom.
    bounds : ndarray of shape (n_targets, n_terms, 2)
    noise_variance : ndarray of shape (n_targets,)
        NaN if no degrees of freedom are left.
    known : Inference
    """

    coef: Array
    errors: Array
    bounds: Array
    noise_variance: Array
    known: Inference


def estimates(held: Information, level: float = 0.95) -> Estimates:
    """Return what is known about each coefficient from some of the rows, without a prior. O(p³)."""
    known = least_squares(held)
    functionals, on_intercept = functionals_of(held)
    _, determined = known.whiten(functionals, on_intercept)
    coef = known.coef.T @ functionals + held.intercept(known.coef)[:, None] * on_intercept
    coef = np.where(determined, coef, np.nan)
    if known.degrees_of_freedom < 1:
        errors, bounds = np.full(coef.shape, np.inf), np.stack([np.full(coef.shape, s * np.inf) for s in (-1, 1)], -1)
        return Estimates(coef, errors, bounds, np.full(held.n_targets, np.nan), known)
    found = known.marginals(functionals, on_intercept)
    bounds = np.stack(found.bounds(level), axis=-1)
    return Estimates(coef, found.deviations, bounds, known.noise_variance, known)


def functionals_of(held: Information) -> tuple[Array, Array]:
    """Return c, (n_features, n_terms), and c_0, (n_terms,), with which each term is c_0·b + c·w."""
    p = held.n_features
    if not held.centered:
        return np.eye(p), np.zeros(p)
    return np.eye(p, p + 1, k=1), np.r_[1.0, np.zeros(p)]


def terms_of(model: Any) -> tuple[str, ...]:
    """Return the names of the terms: the intercept, if there is one, and the features."""
    return (*(["intercept"] if state_of(model).origin.centered else []), *feature_names(model))


def merged(parts: Iterable[Information]) -> Information:
    """Return the information of some parts, merged from left to right."""
    first, *others = parts
    for part in others:
        first = first.merge(part)
    return first
