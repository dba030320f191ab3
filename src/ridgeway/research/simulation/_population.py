"""What is known about a setting before any row is drawn."""

import numpy as np
from numpy.typing import NDArray

from ridgeway.linalg import definite_inverse
from ridgeway.research.simulation._setting import Setting
from ridgeway.research.theory import gaussian_minimum_norm_error, gaussian_pooled_error


def expected_oracle_error(setting: Setting, noise_variance: float) -> NDArray[np.float64]:
    """Return E‖ŵ_t − w_*‖² of pooled least squares over designs and noise, if there is a closed form.

    With one covariance Σ for all N_t rows so far, the information is Wishart and the error is
    σ²·tr(Σ⁻¹)/(N_t − p − 1). With Σ = I the error before that is known too: `theory.gaussian_pooled_error`. NaN if
    neither applies: covariances that differ, N_t ≤ p + 1 and Σ ≠ I, heteroscedastic noise, a parameter per task, or a
    singular Σ.

    Parameters
    ----------
    setting : Setting
    noise_variance : float

    Returns
    -------
    ndarray of shape (T,)

    Examples
    --------
    >>> from ridgeway.research.simulation import Setting
    >>> expected_oracle_error(
    ...     Setting(n_tasks=3, n_samples=6, n_features=4), noise_variance=7.0
    ... )
    array([28.        ,  4.        ,  2.15384615])
    """
    errors = np.full(setting.n_tasks, np.nan)
    if not _has_one_law(setting) or setting.distance > 0.0:
        return errors
    counts, p = _counts(setting), setting.n_features
    if setting.covariance is None:
        return gaussian_pooled_error(counts, p, initial_error=p, noise_variance=noise_variance)
    spread = _inverse_trace(setting.covariance[0])
    spare = np.cumsum(counts) - p - 1.0
    return np.where(spare > 0.0, noise_variance * spread / np.where(spare > 0.0, spare, 1.0), errors)


def expected_minimum_norm_error(setting: Setting, noise_variance: float) -> NDArray[np.float64]:
    """Return E‖ŵ_t − w_*‖² of the minimum-norm estimator over designs and noise, if there is a closed form.

    `theory.gaussian_minimum_norm_error`, for Σ_t = I. NaN if Σ_t ≠ I or the noise is heteroscedastic.

    Parameters
    ----------
    setting : Setting
    noise_variance : float

    Returns
    -------
    ndarray of shape (T,)

    Examples
    --------
    >>> from ridgeway.research.simulation import Setting
    >>> expected_minimum_norm_error(
    ...     Setting(n_tasks=3, n_samples=6, n_features=12), noise_variance=1.0
    ... )
    array([7.2, 4.8, 3.6])
    """
    if not _has_one_law(setting) or setting.covariance is not None:
        return np.full(setting.n_tasks, np.nan)
    p = setting.n_features
    distance = setting.distance**2
    return gaussian_minimum_norm_error(
        _counts(setting), p, initial_error=p, noise_variance=noise_variance, distances=distance
    )


CLOSED_FORMS = {"mn": expected_minimum_norm_error, "gr": expected_oracle_error, "oracle": expected_oracle_error}
"""The methods whose expected error over designs, noise and parameters has a closed form."""


def _has_one_law(setting: Setting) -> bool:
    """Return whether all rows have the same law, and all noise the same variance."""
    covariance = setting.covariance
    one = covariance is None or (len(covariance) == 1 and not setting.rotate)
    return setting.shift == "none" and one and setting.noise != "heteroscedastic"


def _counts(setting: Setting) -> list[int]:
    """Return n_t of the tasks as they come; with one covariance for all, the largest task is the most informative."""
    counts = setting.n_samples
    return sorted(counts, reverse=True) if setting.order == "adversarial" else list(counts)


def _inverse_trace(covariance: NDArray[np.float64]) -> float:
    if covariance.ndim == 1:
        return float((1.0 / covariance).sum()) if covariance.all() else float("nan")
    inverse = definite_inverse(covariance)
    return float("nan") if inverse is None else float(np.trace(inverse))
