"""Continual ridge regression: hold on to every direction equally."""

from typing import Any

from ridgeway.estimators._shell import AnchoredMixin, ContinualRegressor
from ridgeway.weights import Isotropic


class ContinualRidge(AnchoredMixin, ContinualRegressor):
    """Ridge regression towards the last estimate (CRR).

    ŵ_t = argmin_w (1/n_t)‖X_t·w − y_t‖² + λ_t‖w − ŵ_{t−1}‖². The penalty is relative to the mean squared error, so it
    does not depend on the number of rows of a task. It holds on to all directions equally firmly, whatever the past
    knows about each; `GeneralizedRidge` does better.

    Parameters
    ----------
    penalty : float, sequence of floats, or callable of the task number (from 1), default 1.0
        λ_t ≥ 0; zero is the limit λ → 0⁺, the minimum norm estimator.
    fit_intercept : bool, default True
        Whether each task sets an intercept from its own means, b_t = ȳ_t − x̄_t·ŵ_t. It is not penalised.
    initial_coef : array of shape (n_features,) or (n_targets, n_features), optional
        ŵ_0; zero if not given.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    rank_ : int
        Rank of the last system: n_features, unless the penalty is zero.
    n_tasks_, n_samples_seen_, n_features_in_ : int
    feature_names_in_ : ndarray of str, if the tasks were DataFrames

    Notes
    -----
    A task costs O(n·p·min(n, p)): the n×n dual is solved if n < p. It remembers p numbers per target.

    References
    ----------
    Thm (ridge); Li et al. (2023).

    Examples
    --------
    >>> from ridgeway import ContinualRidge
    >>> model = ContinualRidge(penalty=[1.0, 3.0], fit_intercept=False)
    >>> model.partial_fit([[1.0]], [2.0]).partial_fit([[1.0]], [5.0]).coef_
    array([2.])
    """

    def __init__(self, penalty: Any = 1.0, *, fit_intercept: bool = True, initial_coef: Any = None) -> None:
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.initial_coef = initial_coef

    def _policy(self) -> Isotropic:
        return Isotropic(self.penalty)
