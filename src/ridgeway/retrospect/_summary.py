"""Standard errors, tests and intervals of the coefficients, over all rows ever learned."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.errors import InferenceError
from ridgeway.retrospect._coefficients import HEADS, CoefficientTable
from ridgeway.retrospect._model import (
    assumption_of,
    checked_level,
    feature_names,
    inference_of,
    per_target,
    selection_cautions,
    state_of,
)
from ridgeway.weights import Expandable


@dataclass(frozen=True, eq=False)
class Summary(CoefficientTable):
    """What is known about each coefficient. Prints as a table, in a notebook too.

    With several targets each array has one more axis in front, and each number is an array of shape (n_targets,). With
    more than two classes each array has one more axis in front.

    Attributes
    ----------
    terms : tuple of str
        The intercept, if there is one, and the features.
    coef, standard_errors, t, p_values : ndarray of shape (n_terms,)
        With a prior, the posterior mean, its standard deviation, and what follows from them. If the prior is learned
        (prior="evidence"), the mean over all penalties that the rows allow, which may differ from `coef_`. The errors
        of a likelihood come from its curvature and the prior; t is then nearly normal, and printed as z.
    intervals : ndarray of shape (n_terms, 2)
        Confidence intervals; with a prior, credible intervals.
    level : float
    noise_variance : float or None
        σ̂²: weighted squares over `degrees_of_freedom`. None for a likelihood.
    r_squared, aic, bic : float or None
        With a prior, the number of parameters is the effective one. R² is NaN if the target is constant. None for a
        likelihood.
    log_likelihood : float
        Of a likelihood: that of all rows learned, as far as the state knows it.
    degrees_of_freedom : int or float
        Of Student's t; infinite for a likelihood.
    n_samples, n_tasks : int
    post_selection : bool
        Whether `best_subset` chose the features. The p-values and the level of the intervals do not account for that.
    posterior : bool
        Whether there is a prior, so that the quantities are those of the posterior.
    assumption : str
        What the intervals are and what they assume, in words.
    not_estimable : tuple of str
        Terms that the rows do not determine, nor a prior of a likelihood: their standard errors are infinite.
    cautions : tuple of str
        What `post_selection` means, in words.
    rates : bool
        Whether some targets of a Poisson regression were not whole: then the log-likelihood is not one of counts.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> model = GeneralizedRidge().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 2.0, 4.0])
    >>> found = retrospect.summary(model)
    >>> dict(zip(found.terms, found.p_values.round(2).tolist())), round(found.r_squared, 2)
    ({'intercept': 0.21, 'x0': 0.08}, 0.85)
    """

    noise_variance: Any
    r_squared: Any
    log_likelihood: Any
    aic: Any
    bic: Any
    degrees_of_freedom: int | float
    n_samples: int
    n_tasks: int
    post_selection: bool
    posterior: bool
    assumption: str
    not_estimable: tuple[str, ...]
    cautions: tuple[str, ...]
    rates: bool = False

    @property
    def _is_likelihood(self) -> bool:
        return self.noise_variance is None

    def _title(self) -> str:
        counts = f"{counted(self.n_samples, 'row')} of {counted(self.n_tasks, 'task')}"
        if self._is_likelihood:
            return f"{'Posterior under the prior' if self.posterior else 'Maximum likelihood'}: {counts}"
        kind = "Posterior under the prior" if self.posterior else "Least squares"
        return f"{kind}: {counts}, {counted(int(self.degrees_of_freedom), 'degree')} of freedom"

    def _heads(self) -> dict[str, str]:
        return HEADS | {"t": "z", "p_value": "P>|z|"} if self._is_likelihood else HEADS

    def _caption(self, target: int) -> str:
        if self._is_likelihood:
            return f"log-likelihood {self.log_likelihood:.6g}{', of rates' if self.rates else ''}"
        numbers = (self.r_squared, self.noise_variance, self.aic, self.bic)
        return _fit(*(float(np.atleast_1d(values)[target]) for values in numbers))

    def _notes(self) -> list[str]:
        notes = [*self.cautions, self.assumption]
        if self.rates:
            notes.append(
                "Some targets are rates, so the log-likelihood is not that of counts. Learn the counts, with the "
                "logarithm of the exposure as offset; in a state file, use init --exposure."
            )
        if self.not_estimable and self._is_likelihood:
            notes.append(f"No row determines: {', '.join(self.not_estimable)}. Absorb rows that do, or give a prior.")
        elif self.not_estimable:
            notes.append(
                f"The rows do not determine: {', '.join(self.not_estimable)} (collinear or constant columns). Drop "
                "a column, or give a prior."
            )
        return notes


def _fit(r_squared: float, noise: float, aic: float, bic: float) -> str:
    """Say how well the rows are fitted."""
    share = "undefined (the target is constant)" if np.isnan(r_squared) else f"{r_squared:.4g}"
    criteria = (
        f"AIC {aic:.4g}, BIC {bic:.4g}" if np.isfinite(aic) else "AIC and BIC undefined (every row is fitted exactly)"
    )
    return f"R² {share}, noise variance {noise:.4g}, {criteria}"


def summary(model: Any, *, level: float = 0.95) -> Summary:
    """Return coefficients, standard errors, tests, intervals and fit, as if all rows were available.

    Without a prior these are the quantities of (weighted) least squares on the pooled rows. Sample weights are
    precisions: the variance of a row's noise is σ²/weight, and degrees of freedom count rows. With a prior P they are
    those of the posterior w | σ² ~ N(ŵ, σ²(J + P)⁻¹), p(σ²) ∝ 1/σ². With prior="evidence" they are averaged over λ,
    whose prior is the uniform shrinkage prior (`information.AveragedInference`). O(p³).

    The errors of a logistic or Poisson regression come from the curvature of the log-likelihood and the prior, and its
    tests and intervals are normal.

    All intervals assume that rows are independent and, weights aside, of equal variance. If tasks differ in noise, or
    the rows of a task resemble each other, intervals can be far too narrow: `clustered` and `heteroscedastic` give
    others.

    Parameters
    ----------
    model : GeneralizedRidge, GeneralizedLogistic or GeneralizedPoisson
        Fitted, with `weights.Accumulated`.
    level : float, default 0.95
        Level of the intervals.

    Raises
    ------
    InferenceError
        If no degrees of freedom are left, the weights of the rows fade (decay below 1), or the model keeps only its
        last estimate. With a likelihood, if the columns learned are collinear and there is no prior.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> model = GeneralizedRidge().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 2.0, 4.0])
    >>> print(retrospect.summary(model))
    Least squares: 4 rows of 1 task, 2 degrees of freedom
    R² 0.8526, noise variance 0.35, AIC 8.38, BIC 7.152
    ---------------------------------------------------------------------------
                    coef    std err          t      P>|t|      [95 %      95 %]
    ---------------------------------------------------------------------------
    intercept        0.9      0.495      1.818      0.211      -1.23       3.03
    x0               0.9     0.2646      3.402      0.077    -0.2384      2.038
    ---------------------------------------------------------------------------
    Confidence intervals. Rows are assumed independent, of equal variance (weights aside).
    """
    level = checked_level(level)
    if hasattr(type(model), "log_likelihood_"):
        return _of_likelihood(model, level)
    state = state_of(model)
    known, held = inference_of(model), state.information
    p = held.n_features
    terms, functionals, on_intercept = feature_names(model), np.eye(p), np.zeros(p)
    if held.centered:
        terms, functionals = ["intercept", *terms], np.hstack([np.zeros((p, 1)), functionals])
        on_intercept = np.r_[1.0, on_intercept]
    found = known.marginals(functionals, on_intercept)
    unknown = np.isinf(found.deviations).any(axis=0)
    parameters = known.effective_parameters
    with np.errstate(divide="ignore", invalid="ignore"):
        t = found.mean / found.deviations
        rounding = held.total_weight * np.square(np.finfo(np.float64).eps * held.mean[p:])
        varies = known.total_squares > rounding
        r_squared = np.where(varies, 1.0 - known.residual_squares / known.total_squares, np.nan)
        rows = held.n_samples
        likelihood = 0.5 * (held.log_weight - rows * (np.log(2.0 * np.pi * known.residual_squares / rows) + 1.0))
    return Summary(
        terms=tuple(terms),
        coef=per_target(state, found.mean),
        standard_errors=per_target(state, found.deviations),
        t=per_target(state, t),
        p_values=per_target(state, found.p_values()),
        intervals=per_target(state, np.stack(found.bounds(level), axis=-1)),
        level=level,
        noise_variance=per_target(state, known.noise_variance),
        r_squared=per_target(state, r_squared),
        log_likelihood=per_target(state, likelihood),
        aic=per_target(state, 2.0 * parameters - 2.0 * likelihood),
        bic=per_target(state, np.log(rows) * parameters - 2.0 * likelihood),
        degrees_of_freedom=known.degrees_of_freedom,
        n_samples=rows,
        n_tasks=state.n_tasks,
        post_selection=state.features_selected,
        posterior=bool(known.prior.any()),
        assumption=assumption_of(state),
        not_estimable=tuple(terms[j] for j in np.flatnonzero(unknown)),
        cautions=selection_cautions(state),
    )


def _of_likelihood(model: Any, level: float) -> Summary:
    """Return what is known about each coefficient of a logistic or Poisson regression."""
    state = model.state_
    if not isinstance(state, Expandable):
        raise InferenceError(
            f"a model with weights={model.weights!r} keeps only its last estimate. Use weights.Accumulated()."
        )
    with_intercept = bool(model.fit_intercept)
    terms = (*(("intercept",) if with_intercept else ()), *feature_names(model))
    coef = _joined(model.intercept_, model.coef_, with_intercept)
    errors = _joined(model.intercept_error_, model.standard_errors_, with_intercept)
    t = coef / errors
    half = scipy.special.ndtri(0.5 + 0.5 * level) * errors
    posterior = bool(state.prior_in_force().curvature.any())
    kind = "Credible" if posterior else "Confidence"
    return Summary(
        terms=terms,
        coef=coef,
        standard_errors=errors,
        t=t,
        p_values=2.0 * scipy.special.ndtr(-np.abs(t)),
        intervals=np.stack([coef - half, coef + half], axis=-1),
        level=level,
        noise_variance=None,
        r_squared=None,
        log_likelihood=model.log_likelihood_,
        aic=None,
        bic=None,
        degrees_of_freedom=np.inf,
        n_samples=model.n_samples_seen_,
        n_tasks=model.n_tasks_,
        post_selection=False,
        posterior=posterior,
        assumption=f"{kind} intervals from the curvature of the log-likelihood. Rows are assumed independent.",
        not_estimable=tuple(terms[j] for j in np.flatnonzero(np.isinf(np.atleast_2d(errors)).any(axis=0))),
        cautions=(),
        rates=state.rates,
    )


def _joined(intercept: Any, coef: Array, with_intercept: bool) -> Array:
    """Return the intercept, if there is one, followed by the coefficients."""
    return np.concatenate([np.asarray(intercept)[..., None], coef], axis=-1) if with_intercept else coef
