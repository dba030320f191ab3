"""Standard errors, tests and intervals of the coefficients of a likelihood, from the state."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.errors import InferenceError
from ridgeway.retrospect._coefficients import HEADS, CoefficientTable
from ridgeway.retrospect._model import checked_level, feature_names
from ridgeway.weights import Expandable


@dataclass(frozen=True, eq=False)
class LikelihoodSummary(CoefficientTable):
    """What is known about each coefficient of a logistic or Poisson regression. Prints as a table.

    With more than two classes each array has one more axis in front.

    Attributes
    ----------
    terms : tuple of str
        The intercept, if there is one, and the features.
    coef, standard_errors, t, p_values : ndarray of shape (n_terms,)
        The errors come from the curvature of the log-likelihood and the prior; t is their ratio. It is nearly normal,
        and printed as z.
    intervals : ndarray of shape (n_terms, 2)
    level : float
    log_likelihood : float
        Of all rows learned, as far as the state knows it.
    rates : bool
        Whether some targets of a Poisson regression were not whole: then the log-likelihood is not one of counts.
    n_samples, n_tasks : int
    posterior : bool
        Whether there is a prior, so that the quantities are those of the posterior.
    not_estimable : tuple of str
        Terms that neither the rows nor a prior determine, because no row learned differs in them: their standard errors
        are infinite.

    Examples
    --------
    >>> from ridgeway import GeneralizedPoisson, retrospect
    >>> model = GeneralizedPoisson().fit([[0.0], [0.0], [1.0], [1.0]], [1, 3, 5, 7])
    >>> found = retrospect.likelihood_summary(model)
    >>> dict(zip(found.terms, found.coef.round(4).tolist()))  # log 2, and log 6 − log 2
    {'intercept': 0.6931, 'x0': 1.0986}
    """

    log_likelihood: float
    n_samples: int
    n_tasks: int
    posterior: bool
    not_estimable: tuple[str, ...]
    rates: bool = False

    heads: ClassVar[dict[str, str]] = HEADS | {"t": "z", "p_value": "P>|z|"}

    def _title(self) -> str:
        kind = "Posterior under the prior" if self.posterior else "Maximum likelihood"
        return f"{kind}: {counted(self.n_samples, 'row')} of {counted(self.n_tasks, 'task')}"

    def _caption(self, target: int) -> str:
        return f"log-likelihood {self.log_likelihood:.6g}{', of rates' if self.rates else ''}"

    def _notes(self) -> list[str]:
        kind = "Credible" if self.posterior else "Confidence"
        notes = [f"{kind} intervals from the curvature of the log-likelihood. Rows are assumed independent."]
        if self.rates:
            notes.append(
                "Some targets are rates, so the log-likelihood is not that of counts. Learn the counts, with the "
                "logarithm of the exposure as offset; in a state file, use init --exposure."
            )
        if self.not_estimable:
            notes.append(f"No row determines: {', '.join(self.not_estimable)}. Absorb rows that do, or give a prior.")
        return notes


def likelihood_summary(model: Any, *, level: float = 0.95) -> LikelihoodSummary:
    """Return coefficients, standard errors, tests and intervals of a `GeneralizedLogistic` or `GeneralizedPoisson`.

    Parameters
    ----------
    model : fitted, with `weights.Accumulated`
    level : float, default 0.95
        Level of the intervals.

    Raises
    ------
    InferenceError
        If the columns learned are collinear and there is no prior, or the model keeps only its last estimate.

    Examples
    --------
    >>> from ridgeway import GeneralizedPoisson, retrospect
    >>> model = GeneralizedPoisson().fit([[0.0], [1.0], [1.0], [2.0]], [1, 2, 4, 5])
    >>> retrospect.likelihood_summary(model).standard_errors.round(2)
    array([0.65, 0.43])
    """
    level, state = checked_level(level), getattr(model, "state_", None)
    if not isinstance(state, Expandable):
        raise InferenceError(
            f"expected a GeneralizedLogistic or GeneralizedPoisson with weights.Accumulated(); got {model!r}."
        )
    with_intercept = bool(model.fit_intercept)
    terms = (*(("intercept",) if with_intercept else ()), *feature_names(model))
    coef = _joined(model.intercept_, model.coef_, with_intercept)
    errors = _joined(model.intercept_error_, model.standard_errors_, with_intercept)
    t = coef / errors
    half = scipy.special.ndtri(0.5 + 0.5 * level) * errors
    return LikelihoodSummary(
        terms=terms,
        coef=coef,
        standard_errors=errors,
        t=t,
        p_values=2.0 * scipy.special.ndtr(-np.abs(t)),
        intervals=np.stack([coef - half, coef + half], axis=-1),
        level=level,
        log_likelihood=model.log_likelihood_,
        n_samples=model.n_samples_seen_,
        n_tasks=model.n_tasks_,
        posterior=bool(state.prior_in_force().curvature.any()),
        not_estimable=tuple(terms[j] for j in np.flatnonzero(np.isinf(np.atleast_2d(errors)).any(axis=0))),
        rates=state.rates,
    )


def _joined(intercept: Any, coef: Array, with_intercept: bool) -> Array:
    """Return the intercept, if there is one, followed by the coefficients."""
    return np.concatenate([np.asarray(intercept)[..., None], coef], axis=-1) if with_intercept else coef
