"""σ² and the prior, learned from all rows ever seen."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ridgeway.information import learn_penalty
from ridgeway.retrospect._model import per_target, state_of, whole_information

if TYPE_CHECKING:
    from ridgeway.estimators import GeneralizedRidge


@dataclass(frozen=True, eq=False)
class Prior:
    """A learned prior.

    Attributes
    ----------
    prior : float
        λ, where P = λI = σ²·E_0⁻¹, as `weights.Accumulated(prior=…)` takes it; the same for all targets.
    noise_variance : float, or ndarray of shape (n_targets,)
        σ².
    log_evidence : float
        Log marginal likelihood of all rows under this prior and noise, summed over the targets.
    model : GeneralizedRidge
        The fitted model with this prior; it can continue to learn.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 10))
    >>> model = GeneralizedRidge().fit(X, X @ rng.normal(size=10) + rng.normal(size=50))
    >>> found = retrospect.learn_prior(model)
    >>> found.prior > 0.0, bool((found.model.weights.prior == found.prior).all())
    (True, True)
    """

    prior: float
    noise_variance: Any
    log_evidence: float
    model: "GeneralizedRidge"


def learn_prior(model: "GeneralizedRidge") -> Prior:
    """Learn σ² and the prior P = λI from all rows ever seen, using only the state.

    The evidence is the marginal likelihood of y under w ~ N(start, σ²P⁻¹), a flat intercept and noise N(0, σ²/weight);
    each target has its own σ², and λ is common. O(p³).

    The model that is returned takes the learned prior as given, so its intervals are too narrow.
    `weights.Accumulated(prior="evidence")` averages over λ.

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with `weights.Accumulated`. Its own prior is ignored.

    Raises
    ------
    InferenceError
        If there are too few rows to tell noise from signal, or the weights of the rows fade (decay below 1).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(30, 20))
    >>> model = GeneralizedRidge(fit_intercept=False).fit(
    ...     X, X @ rng.normal(size=20) + 2.0 * rng.normal(size=30)
    ... )
    >>> found = retrospect.learn_prior(model)
    >>> round(found.prior, 2), round(found.noise_variance, 2)
    (2.45, 3.99)
    """
    state = state_of(model)
    learned = learn_penalty(whole_information(model), state.origin.coef)
    names = getattr(model, "feature_names_in_", None)
    return Prior(
        prior=float(learned.prior[0]),
        noise_variance=per_target(state, learned.noise_variance),
        log_evidence=learned.log_evidence,
        model=type(model).from_state(replace(state, prior=learned.prior), names),
    )
