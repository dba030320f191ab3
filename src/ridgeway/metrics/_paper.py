"""The paper's metrics, for tasks that share one true parameter."""

from typing import Any

import numpy as np

from ridgeway._checks import Array, real_array
from ridgeway.errors import InvalidDataError
from ridgeway.metrics._losses import mean_before


def estimation_error(coef: Any, true_coef: Any) -> Any:
    """Return 𝓛 = ‖ŵ − w_*‖², summed over the last axis.

    Parameters
    ----------
    coef : array of shape (..., n_features)
        One estimate, or a stack of estimates: one per task, per target, or both.
    true_coef : array that broadcasts against `coef`

    Returns
    -------
    float or ndarray of shape (...)

    Examples
    --------
    >>> estimation_error([1.0, 2.0], [1.0, 0.0])
    4.0
    """
    one, two = real_array(coef, "coef", largest=np.inf), real_array(true_coef, "true_coef", largest=np.inf)
    if one.ndim == 0 or two.ndim == 0 or one.shape[-1] != two.shape[-1] or not _broadcast(one, two):
        raise InvalidDataError(
            f"coef has shape {one.shape} and true_coef {two.shape}; their last axes must both be the features."
        )
    error = np.square(one - two).sum(axis=-1)
    return float(error) if error.ndim == 0 else error


def forgetting(errors: Any) -> Array:
    """Return F_t = (1/(t−1))·Σ_{τ<t}(𝓛(ŵ_t) − 𝓛(ŵ_τ)); > 0 means that something was forgotten. F_1 is NaN.

    Parameters
    ----------
    errors : array of shape (n_tasks,)
        𝓛(ŵ_t) after each task.

    Returns
    -------
    ndarray of shape (n_tasks,)

    Examples
    --------
    >>> forgetting([3.0, 1.0, 2.0])
    array([nan, -2.,  0.])
    """
    L = _errors(errors)
    return L - mean_before(np.cumsum(L) - L)


def generalization_error(errors: Any) -> Array:
    """Return G_t = (1/t)·Σ_{τ≤t} 𝓛(ŵ_t), which is 𝓛(ŵ_t) itself: all tasks share one true parameter.

    Parameters
    ----------
    errors : array of shape (n_tasks,)
        𝓛(ŵ_t) after each task.

    Examples
    --------
    >>> generalization_error([3.0, 1.0, 2.0])
    array([3., 1., 2.])
    """
    return _errors(errors).copy()


def _broadcast(one: Array, two: Array) -> bool:
    return all(1 in sides or len(set(sides)) == 1 for sides in zip(one.shape[::-1], two.shape[::-1], strict=False))


def _errors(errors: Any) -> Array:
    L = real_array(errors, "errors", largest=np.inf)
    if L.ndim != 1 or len(L) == 0:
        raise InvalidDataError(f"errors has shape {L.shape}; pass one error per task, shape (n_tasks,).")
    return L
