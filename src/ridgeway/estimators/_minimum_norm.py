"""The minimum norm estimator: fit the new task, change as little as possible."""

from typing import Any

from ridgeway.estimators._shell import AnchoredMixin, ContinualRegressor
from ridgeway.weights import Zero


class MinimumNorm(AnchoredMixin, ContinualRegressor):
    """Continual least squares that remembers only its last estimate (MN).

    ŵ_t = ŵ_{t−1} + X_t⁺(y_t − X_t·ŵ_{t−1}): the limit of H_t = δ·I as δ → 0. Of all coefficients that fit task t best,
    those nearest to ŵ_{t−1}. It forgets: its error never falls below σ²·rank_t/(n_t·γ_max).

    Parameters
    ----------
    fit_intercept : bool, default True
        Whether each task sets an intercept from its own means, b_t = ȳ_t − x̄_t·ŵ_t.
    initial_coef : array of shape (n_features,) or (n_targets, n_features), optional
        ŵ_0; zero if not given.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    rank_ : int
        Rank of the last task's rows.
    n_tasks_, n_samples_seen_, n_features_in_ : int
    feature_names_in_ : ndarray of str, if the tasks were DataFrames

    Notes
    -----
    A task costs O(n·p·min(n, p)); it remembers p numbers per target.

    References
    ----------
    Thm (min-norm); Evron et al. (2022).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import MinimumNorm
    >>> model = MinimumNorm(fit_intercept=False)
    >>> model.partial_fit([[1.0, 0.0]], [2.0]).partial_fit([[1.0, 1.0]], [4.0]).coef_
    array([3., 1.])
    """

    def __init__(self, *, fit_intercept: bool = True, initial_coef: Any = None) -> None:
        self.fit_intercept = fit_intercept
        self.initial_coef = initial_coef

    def _policy(self) -> Zero:
        return Zero()
