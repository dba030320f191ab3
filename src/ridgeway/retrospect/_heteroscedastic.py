"""Errors that allow every row a noise variance of its own."""

from typing import Any, Literal

import numpy as np

from ridgeway._checks import Array
from ridgeway.data import listed
from ridgeway.errors import InferenceError, InvalidParameterError
from ridgeway.information import ByTask, score_squares
from ridgeway.retrospect._model import checked_level, state_of
from ridgeway.retrospect._robust import Fit, RobustSummary, upper_case
from ridgeway.weights import TaskKeeper

HeteroscedasticKind = Literal["HC0", "HC1"]

ROUNDING = 8.0 * np.finfo(np.float64).eps
LARGEST_SHARE = 1e-3
"""How much of a variance may be rounding."""


def heteroscedastic(model: Any, kind: HeteroscedasticKind = "HC1", *, level: float = 0.95) -> RobustSummary:
    """Return the coefficients with errors that allow unequal variances, as if all rows were available.

    Rows are independent, and the noise of each may have a variance of its own (White). The coefficients are those of
    least squares. With M the inverse of XᵀWX and e the residuals, the covariance is

    - HC0: M·(Σ w²·e²·xxᵀ)·M; with weight_kind="frequency", w instead of w².
    - HC1: as HC0, times N/(N − K).

    The sum follows from products of up to four columns, which the model must have kept. HC2 and HC3 divide each
    residual by a function of the leverage of its row, and no finite set of sums gives that for numeric columns.
    O(p⁴) for each task.

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with information=ByTask(fourth_moments=True), and without a prior; or `Store.model_by_task()` of a state
        file made with keep=("tasks", "fourth-moments").
    kind : {"HC0", "HC1"}, default "HC1"
    level : float, default 0.95
        Level of the intervals.

    Raises
    ------
    InferenceError
        If no degrees of freedom are left, the model has a prior, or rounding has taken the digits of an error: sums of
        four columns have few left if columns are nearly collinear.

    References
    ----------
    White (1980); MacKinnon and White (1985).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> from ridgeway.information import ByTask
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 1))
    >>> y = X[:, 0] + np.abs(X[:, 0]) * rng.normal(size=400)  # more noise far from 0
    >>> model = GeneralizedRidge(information=ByTask(fourth_moments=True)).fit(X, y)
    >>> retrospect.summary(model).standard_errors.round(3)
    array([0.046, 0.046])
    >>> retrospect.heteroscedastic(model).standard_errors.round(3)
    array([0.046, 0.08 ])
    """
    kind = upper_case(kind)
    if kind in ("HC2", "HC3"):
        raise InvalidParameterError(
            f"{kind} needs the leverage of every row, and the rows are gone: no finite set of sums gives it. Use "
            "'HC1', or retrospect.clustered with kind 'CR2' or 'CR3'."
        )
    if kind not in ("HC0", "HC1"):
        raise InvalidParameterError(f"kind must be 'HC0' or 'HC1'; got {kind!r}.")
    level = checked_level(level)
    state = state_of(model)
    parts = (state.by_task if isinstance(state, TaskKeeper) else ByTask()).fourth()
    fit = Fit.of(model, "heteroscedastic")
    held, freedom = fit.known.information, fit.known.degrees_of_freedom
    squares, sizes = score_squares(parts, held.running_mean, fit.known.coef)
    turned = fit.whitened(np.eye(len(fit.terms)))
    _check_digits(fit, squares, sizes, turned @ fit.contrasts)
    factor = held.n_samples / freedom if kind == "HC1" else 1.0
    return fit.summary(
        turned.T @ squares @ turned * factor,
        np.where(fit.estimable, float(freedom), np.nan),
        level,
        kind=kind,
        n_clusters=None,
        assumption="Confidence intervals for many rows. Rows are assumed independent; each may have its own variance.",
    )


def _check_digits(fit: Fit, squares: Array, sizes: Array, terms: Array) -> None:
    """Raise if rounding may have taken the digits of a variance, vᵀSv for a column v of `terms`."""
    variances = np.einsum("im,kij,jm->km", terms, squares, terms)
    rounding = ROUNDING * np.square(sizes @ np.abs(terms))
    lost = fit.estimable & (rounding > LARGEST_SHARE * variances).any(axis=0)
    if lost.any():
        named = listed([term for term, is_lost in zip(fit.terms, lost, strict=True) if is_lost])
        raise InferenceError(
            f"fourth moments do not have the digits for the errors of {named}: the "
            "columns are nearly collinear, or the noise is small beside the target. Center the columns before they are "
            "learned, drop some, or use retrospect.clustered (`--errors cluster`)."
        )
