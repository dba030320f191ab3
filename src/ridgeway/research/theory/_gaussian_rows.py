"""Expected errors over standard normal rows: minimum norm task by task, and all rows pooled."""

import numpy as np
from numpy.typing import ArrayLike

from ridgeway._checks import Array, finite, nonnegative, nonnegative_array, real_array, shaped, whole
from ridgeway.errors import InvalidParameterError


def gaussian_minimum_norm_error(
    n_samples: ArrayLike,
    n_features: int,
    *,
    initial_error: float,
    noise_variance: float = 1.0,
    distances: ArrayLike = 0.0,
) -> Array:
    """Return E‖ŵ_t − v‖² of the minimum-norm estimator after each task, over rows from N(0, I) and noise.

    With n rows in every task, n < p − 1, and r = 1 − n/p it is

        rᵗ·‖v‖² + (1 − r)·Σ_{k≤t} rᵗ⁻ᵏ·‖w_k − v‖² + (1 − rᵗ)·σ²p/(p − n − 1),

    where w_k is the parameter of task k (Lin, Ju, Liang and Shroff, ICML 2023). A task keeps the error outside the span
    of its rows, a share r of it on average, and adds the noise σ²·tr(X_tX_tᵀ)⁻¹, whose mean is σ²n/(p − n − 1). So the
    error tends to σ²p/(p − n − 1) if the tasks are alike, however many there are: corrections row 13a.

    Parameters
    ----------
    n_samples : array_like of shape (T,)
        n_1, …, n_T, integers ≥ 1. A task with n_t > p + 1 is fitted by least squares alone: σ²p/(n_t − p − 1).
    n_features : int
        p.
    initial_error : float
        ‖v‖², the error of ŵ_0 = 0; its mean if v is random.
    noise_variance : float, default 1.0
        σ² ≥ 0.
    distances : float or array_like of shape (T,), default 0.0
        ‖w_t − v‖² of each task.

    Returns
    -------
    ndarray of shape (T,)
        Infinite from a task with |n_t − p| ≤ 1 on, unless σ² = 0, until a task with n_t > p + 1.

    Examples
    --------
    >>> from ridgeway.research import theory
    >>> error = theory.gaussian_minimum_norm_error([150] * 20, 200, initial_error=200.0)
    >>> error[[0, 1, 4, 19]].round(3)  # the paper's experiment: it tends to 200/49
    array([53.061, 16.327,  4.273,  4.082])
    """
    counts, p = _counts(n_samples), whole(n_features, "n_features")
    error, noise = nonnegative(initial_error, "initial_error"), nonnegative(noise_variance, "noise_variance")
    apart = finite(nonnegative_array(distances, "distances"), "distances")
    apart = shaped(
        np.broadcast_to(apart, counts.shape) if apart.ndim == 0 else apart, counts.shape, "distances", "one per task"
    )

    errors = []
    for n, distance in zip(counts.tolist(), apart.tolist(), strict=True):
        error = _after_one_fit(error, distance, n, p, noise)
        errors.append(error)
    return np.array(errors)


def gaussian_pooled_error(
    n_samples: ArrayLike, n_features: int, *, initial_error: float, noise_variance: float = 1.0
) -> Array:
    """Return E‖ŵ_t − w_*‖² of pooled least squares after each task, over rows from N(0, I) and noise.

    Generalized ridge with H̃_t has the same error, because it is pooled least squares. With N rows so far it is

    - (1 − N/p)·‖w_*‖² + σ²N/(p − N − 1) for N < p − 1, where the answer of least norm is taken;
    - infinite for |N − p| ≤ 1;
    - σ²p/(N − p − 1) for N > p + 1

    (Belkin, Hsu and Xu, 2020). So the error does not fall in every task: it rises as the rows come near p, and falls
    beyond. Corrections row 17a.

    Parameters
    ----------
    n_samples : array_like of shape (T,)
        n_1, …, n_T, integers ≥ 1.
    n_features : int
        p.
    initial_error : float
        ‖w_*‖², or its mean if w_* is random.
    noise_variance : float, default 1.0
        σ² ≥ 0. Without noise no error is infinite.

    Returns
    -------
    ndarray of shape (T,)

    Examples
    --------
    >>> from ridgeway.research import theory
    >>> theory.gaussian_pooled_error([150] * 3, 200, initial_error=200.0).round(3)
    array([53.061,  2.02 ,  0.803])
    >>> theory.gaussian_pooled_error([50] * 5, 200, initial_error=200.0).round(3)
    array([150.336, 101.01 ,  53.061,     inf,   4.082])
    """
    counts, p = _counts(n_samples), whole(n_features, "n_features")
    start, noise = nonnegative(initial_error, "initial_error"), nonnegative(noise_variance, "noise_variance")
    return np.array([_after_one_fit(start, 0.0, rows, p, noise) for rows in np.cumsum(counts).tolist()])


def _after_one_fit(error: float, distance: float, n: int, p: int, noise: float) -> float:
    """Return the mean error after the least change of an estimate that fits n rows, given its error before.

    Where the rows point it is the distance of their parameter, plus noise; elsewhere the error stays.
    """
    variance = noise * _inverse_trace(n, p) if noise else 0.0
    if n >= p:
        return distance + variance
    share = n / p
    return (1.0 - share) * error + share * distance + variance


def _inverse_trace(n: int, p: int) -> float:
    """Return the mean trace of (XXᵀ)⁻¹, or of (XᵀX)⁻¹ for n > p, of an inverse Wishart matrix."""
    spare = abs(n - p) - 1
    return min(n, p) / spare if spare > 0 else float("inf")


def _counts(n_samples: ArrayLike) -> Array:
    counts = finite(real_array(n_samples, "n_samples"), "n_samples")
    if counts.ndim != 1 or counts.size == 0:
        raise InvalidParameterError(f"n_samples has shape {counts.shape}; it must be (T,), one number per task.")
    if (counts < 1).any() or (counts != np.floor(counts)).any():
        raise InvalidParameterError(f"n_samples must be integers ≥ 1; got {counts.tolist()}.")
    return counts
