"""What is known about a setting before any row is drawn."""

import numpy as np
from numpy.typing import NDArray

from ridgeway.linalg import definite_inverse
from ridgeway.research.simulation._setting import Setting


def expected_oracle_error(setting: Setting, noise_variance: float) -> NDArray[np.float64]:
    """Return E‖ŵ_t − w_*‖² of pooled least squares over designs and noise, if there is a closed form.

    With one covariance Σ for all N_t rows so far, the information is Wishart and the error is
    σ²·tr(Σ⁻¹)/(N_t − p − 1). NaN if that does not apply: covariances that differ, N_t ≤ p + 1, heteroscedastic noise, a
    parameter per task, or a singular Σ.

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
    covariance = setting.covariance
    one = setting.shift == "none" and (covariance is None or (len(covariance) == 1 and not setting.rotate))
    if not one or setting.noise == "heteroscedastic" or setting.distance > 0.0:
        return errors
    spread = _inverse_trace(np.ones(setting.n_features) if covariance is None else covariance[0])
    spare = np.cumsum(setting.n_samples) - setting.n_features - 1.0
    return np.where(spare > 0.0, noise_variance * spread / np.where(spare > 0.0, spare, 1.0), errors)


def _inverse_trace(covariance: NDArray[np.float64]) -> float:
    if covariance.ndim == 1:
        return float((1.0 / covariance).sum()) if covariance.all() else float("nan")
    inverse = definite_inverse(covariance)
    return float("nan") if inverse is None else float(np.trace(inverse))
