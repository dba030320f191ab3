"""Intervals for predictions, and tests of linear hypotheses."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.data import check_rows, dense
from ridgeway.errors import InferenceError, InvalidParameterError
from ridgeway.kernels import triangular_factor
from ridgeway.linalg import RowSpace
from ridgeway.retrospect._model import assumption_of, checked_level, inference_of, per_target, state_of


@dataclass(frozen=True, eq=False)
class Intervals:
    """Predictions with their intervals; each array of shape (n_samples,) or (n_samples, n_targets).

    Attributes
    ----------
    prediction : ndarray
        X·ŵ + b; with prior="evidence" its mean over all penalties that the rows allow, which may differ from `predict`.
    lower, upper : ndarray
        For a new observation of weight 1, noise included.
    mean_lower, mean_upper : ndarray
        For the mean response alone.
    level : float
    post_selection : bool
        Whether `best_subset` chose the features. The level does not account for that.
    assumption : str
        What the intervals are and what they assume, in words.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> model = GeneralizedRidge().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 2.0, 4.0])
    >>> found = retrospect.intervals(model, [[4.0]])
    >>> found.mean_lower, found.mean_upper  # of the mean
    (array([1.38243191]), array([7.61756809]))
    >>> found.lower, found.upper  # of a new observation
    (array([0.47523691]), array([8.52476309]))
    """

    prediction: Array
    lower: Array
    upper: Array
    mean_lower: Array
    mean_upper: Array
    level: float
    post_selection: bool
    assumption: str


def intervals(model: Any, X: Any, level: float = 0.95) -> Intervals:
    """Return prediction intervals, with Student's t; infinite if the learned rows say nothing.

    With prior="evidence" they are credible intervals, averaged over the penalty.

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with `weights.Accumulated`.
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
    level : float, default 0.95

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> model = GeneralizedRidge().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 2.0, 4.0])
    >>> found = retrospect.intervals(model, [[4.0]])
    >>> found.lower, found.upper
    (array([0.47523691]), array([8.52476309]))
    """
    state, level = state_of(model), checked_level(level)
    rows = dense(check_rows(model, X))
    known = inference_of(model)
    new, mean = (known.marginals(rows.T, float(known.information.centered), extra) for extra in (1.0, 0.0))
    found = (mean.mean, *new.bounds(level), *mean.bounds(level))
    prediction, lower, upper, mean_lower, mean_upper = (
        part[0] if state.origin.single_target else part.T for part in found
    )
    chosen, assumption = state.features_selected, assumption_of(state)
    return Intervals(prediction, lower, upper, mean_lower, mean_upper, level, chosen, assumption)


@dataclass(frozen=True, eq=False)
class Contrast:
    """The test of a linear hypothesis. With several targets each array has one more axis in front.

    Attributes
    ----------
    estimate : ndarray of shape (q,)
        Cŵ − d.
    standard_errors : ndarray of shape (q,)
    f, p_value : float
        For all q hypotheses together.
    degrees_of_freedom : tuple of int
        Of the numerator, q, and of the denominator.
    posterior : bool
        Whether there is a prior, so that the quantities are those of the posterior.
    post_selection : bool
        Whether `best_subset` chose the features. The p-value does not account for that.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> model = GeneralizedRidge().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 2.0, 4.0])
    >>> found = retrospect.contrast(model, [1.0])  # is the slope 0?
    >>> round(found.f, 3), retrospect.summary(model).t[1:] ** 2  # F is t²
    (11.571, array([11.57142857]))
    """

    estimate: Array
    standard_errors: Array
    f: Any
    p_value: Any
    degrees_of_freedom: tuple[int, int]
    posterior: bool
    post_selection: bool


def contrast(model: Any, C: Any, d: Any = 0.0) -> Contrast:
    """Test the linear hypotheses Cw = d: F test with rank(C) and the residual degrees of freedom.

    With prior="evidence" the estimate and its covariance are averaged over the penalty. For one hypothesis the p-value
    is then that of the averaged posterior; for several together the F test with these moments is an approximation.

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with `weights.Accumulated`.
    C : array of shape (q, n_features) or (n_features,)
        One hypothesis per row; with one more column in front, the first stands for the intercept.
    d : float or array of shape (q,) or (n_targets, q), default 0.0

    Raises
    ------
    InferenceError
        If the learned rows do not determine a hypothesis, hypotheses follow from each other, or no degrees of freedom
        are left.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> model = GeneralizedRidge().fit(
    ...     [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], [1.0, 2.0, 2.0, 4.0]
    ... )
    >>> test = retrospect.contrast(model, [[1.0, -1.0]])     # are the two slopes the same?
    >>> test.f, test.p_value
    (9.0, 0.2048...)
    """
    state = state_of(model)
    known = inference_of(model)
    rows = _checked_rows(C, model.n_features_in_, intercept=known.information.centered)
    functionals, on_intercept = rows[:, -model.n_features_in_ :].T, np.zeros(len(rows))
    if rows.shape[1] > model.n_features_in_:
        on_intercept = rows[:, 0]
    found = known.marginals(functionals, on_intercept)
    values = _checked_values(d, found.mean.shape)
    estimate = found.mean - values
    roots, answered = known.roots(functionals, on_intercept)
    if not answered.all():
        raise InferenceError(
            f"the learned rows do not determine the hypotheses {np.flatnonzero(~answered).tolist()} (rows of C, "
            "counted from 0): they involve collinear or constant columns. Leave them out, or give a prior."
        )
    squares = np.array([_distance(root, gap) for root, gap in zip(roots, estimate, strict=True)])
    freedom = (len(rows), known.degrees_of_freedom)
    f = squares / len(rows)
    p_value = found.p_values(values)[:, 0] if len(rows) == 1 else np.asarray(scipy.special.fdtrc(*freedom, f))
    return Contrast(
        estimate=per_target(state, estimate),
        standard_errors=per_target(state, found.deviations),
        f=per_target(state, f),
        p_value=per_target(state, p_value),
        degrees_of_freedom=freedom,
        posterior=bool(known.prior.any()),
        post_selection=state.features_selected,
    )


def _distance(root: Array, gap: Array) -> float:
    """Return gapᵀ(rootᵀroot)⁻¹gap, infinite if there is no noise, or raise if hypotheses follow from each other."""
    q = len(gap)
    space = RowSpace.of(triangular_factor(np.vstack([root, np.zeros((q, q))])), size=q)
    if not root.any():
        return np.inf if gap.any() else np.nan
    if space.rank < q:
        raise InferenceError(
            f"only {space.rank} of the {q} hypotheses are independent. Drop the rows of C that depend on others."
        )
    return float(np.square(space.whiten(gap[:, None])[0]).sum())


def _checked_rows(C: Any, n_features: int, *, intercept: bool) -> Array:
    try:
        rows = np.atleast_2d(np.asarray(C, dtype=np.float64))
    except (TypeError, ValueError):
        raise InvalidParameterError("C must be a matrix of numbers, one hypothesis per row.") from None
    widths = (n_features, n_features + 1) if intercept else (n_features,)
    if rows.ndim != 2 or rows.shape[1] not in widths or not len(rows):
        extra = f", or {n_features + 1} with the intercept in front" if intercept else ""
        raise InvalidParameterError(
            f"C has shape {rows.shape}; it needs a row per hypothesis and {counted(n_features, 'column')}, one per "
            f"feature{extra}."
        )
    if not np.isfinite(rows).all() or not rows.any(axis=1).all():
        raise InvalidParameterError("C holds NaN, infinity or a row of zeros. Give each hypothesis finite numbers.")
    return rows


def _checked_values(d: Any, shape: tuple[int, ...]) -> Array:
    try:
        values = np.broadcast_to(np.asarray(d, dtype=np.float64), shape)
    except (TypeError, ValueError):
        raise InvalidParameterError(
            f"d must be a number, one per hypothesis, ({shape[1]},), or also one per target, {shape}; got {d!r}."
        ) from None
    if not np.isfinite(values).all():
        raise InvalidParameterError("d holds NaN or infinity. Pass finite numbers.")
    return values
