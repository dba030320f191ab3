"""Generalized ℓ2-regularization: hold on to each direction as a policy says."""

from typing import Any, Literal

from ridgeway.data import InformationKind, WeightKind
from ridgeway.estimators._default_policy import DefaultPolicyMixin
from ridgeway.estimators._retaining import RetainingMixin
from ridgeway.estimators._shell import ContinualRegressor
from ridgeway.information import ByTask
from ridgeway.weights import WeightPolicy


class GeneralizedRidge(RetainingMixin, DefaultPolicyMixin, ContinualRegressor):
    """Continual regression that does not forget (GR).

    ŵ_t = argmin_w (1/n_t)‖X_t·w − y_t‖² + ‖w − ŵ_{t−1}‖²_{H_t}, with H_t from a policy. With `weights.Accumulated()`,
    the default, the estimate after every task **is** pooled least squares on all rows so far, in any order and however
    they are divided into tasks, from a state of fixed size.

    Parameters
    ----------
    weights : policy of `ridgeway.weights`, optional
        How H_t is chosen; `Accumulated(prior=0.0)` if not given. `set_params(weights__prior=1.0)` works in either case.
    information : {"square_root", "moments", "by_task"} or `information.ByTask`, default "square_root"
        How `Accumulated` keeps the past. "square_root" is a triangular factor, as accurate as a QR decomposition of all
        rows; "moments" is usually faster, but loses twice as many digits on badly conditioned columns. "by_task" keeps
        one factor per task, so that tasks can be removed, weighted and compared when their rows are gone;
        `ByTask(Moments)` keeps moments, and `ByTask(fourth_moments=True)` also what `retrospect.heteroscedastic` needs.
    fit_intercept : bool, default True
        Whether an intercept is fitted. It is never penalised. With `Accumulated` there is one for all tasks; otherwise
        each task sets its own, b_t = ȳ_t − x̄_t·ŵ_t.
    initial_coef : array of shape (n_features,) or (n_targets, n_features), optional
        ŵ_0; zero if not given.
    weight_kind : {"precision", "frequency"}, default "precision"
        What `sample_weight` means to `Accumulated`. "precision": the noise of a row has the variance σ²/weight, and
        the row counts once. "frequency": the weight is the number of times that the row was observed, a whole number,
        and the row counts that often in `n_samples_seen_`, degrees of freedom and standard errors. The coefficients
        are the same, unless the prior is learned from the rows.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Solved for on first access.
    intercept_ : float or ndarray of shape (n_targets,)
    rank_ : int
        Rank of the last system, the prior included.
    information_ : Information
        What the past left behind (`Accumulated` only).
    digits_lost_ : float
        Decimal digits that `remove` may have cost (`Accumulated` only).
    n_tasks_, n_samples_seen_, n_features_in_ : int
    feature_names_in_ : ndarray of str, if the tasks were DataFrames

    Notes
    -----
    With `Accumulated`, a task costs O(n·p²). The coefficients cost O(p²) with "square_root" and no prior, or under a
    diagonal prior that the rows outweigh in every direction (if p ≥ 128·k); otherwise O(p³). It remembers (p + k)²
    numbers in memory and half as many in a file. If coefficients are asked for after every small task under a stronger
    diagonal prior, it also keeps a second factor, so that they cost O(n·p²). Singular systems use the limit H_t + δI,
    δ → 0⁺: the change, and for the first task the norm, is as small as possible.

    References
    ----------
    Thm (adaptive ridge), with the prior σ²·E_0⁻¹ in the corrected form; Sec. "A Practical Algorithm" for H̃_t.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge
    >>> model = GeneralizedRidge()
    >>> model = model.partial_fit([[0.0], [1.0]], [1.0, 3.0]).partial_fit(
    ...     [[2.0], [3.0]], [5.0, 7.0]
    ... )
    >>> model.predict([[10.0]])
    array([21.])
    """

    def __init__(
        self,
        weights: WeightPolicy | None = None,
        *,
        information: InformationKind | Literal["by_task"] | ByTask = "square_root",
        fit_intercept: bool = True,
        initial_coef: Any = None,
        weight_kind: WeightKind = "precision",
    ) -> None:
        self.weights = weights
        self.information = information
        self.fit_intercept = fit_intercept
        self.initial_coef = initial_coef
        self.weight_kind = weight_kind
