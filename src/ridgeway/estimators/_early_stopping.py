"""Early stopping: a few gradient steps on each task, from where the last one ended."""

from typing import Any

from ridgeway.estimators._shell import AnchoredMixin, ContinualRegressor
from ridgeway.weights import GradientSteps


class EarlyStopping(AnchoredMixin, ContinualRegressor):
    """Gradient descent on each task, stopped early (ES).

    From w = ŵ_{t−1}, it takes m_t steps w ← w − (A_t/n_t)·X_tᵀ(X_t·w − y_t); then ŵ_t = w. Equal to `GeneralizedRidge`
    with H = F⁻ᵀ·V·diag(λ)·Vᵀ·F⁻¹, λ_j = d_j(1 − d_j)^m / (1 − (1 − d_j)^m), where A_t = F·Fᵀ and FᵀΣ_tF = V·diag(d)·Vᵀ.

    Parameters
    ----------
    learning_rate : float, (p, p) matrix, sequence of these, or callable of the task number (from 1), optional
        A_t: a number s stands for s·I; a matrix must be positive definite, but need not share eigenvectors with Σ_t.
        If not given, 1/γ_max of each task, where γ_max is the largest eigenvalue of Σ_t. A 2-D array is one matrix for
        all tasks; a list or a 3-D array has one entry per task.
    n_steps : int, sequence of int, or callable of the task number (from 1), default 100
        m_t ≥ 0.
    fit_intercept : bool, default True
        Whether each task sets an intercept from its own means, b_t = ȳ_t − x̄_t·ŵ_t.
    initial_coef : array of shape (n_features,) or (n_targets, n_features), optional
        ŵ_0; zero if not given.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    n_tasks_, n_samples_seen_, n_features_in_ : int
    feature_names_in_ : ndarray of str, if the tasks were DataFrames

    Notes
    -----
    A few steps are taken one by one, O(n·p) each; many are summed in closed form by an SVD, O(n·p·min(n, p)), with the
    same answer. It remembers p numbers per target.

    References
    ----------
    Thm (early stopping) and Cor. (ES), without the condition that A_t shares eigenvectors with Σ_t.

    Examples
    --------
    >>> from ridgeway import EarlyStopping
    >>> model = EarlyStopping(learning_rate=0.5, n_steps=2, fit_intercept=False)
    >>> model.partial_fit([[1.0]], [4.0]).coef_
    array([3.])
    """

    def __init__(
        self,
        learning_rate: Any = None,
        n_steps: Any = 100,
        *,
        fit_intercept: bool = True,
        initial_coef: Any = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.n_steps = n_steps
        self.fit_intercept = fit_intercept
        self.initial_coef = initial_coef

    def _policy(self) -> GradientSteps:
        return GradientSteps(self.learning_rate, self.n_steps)
