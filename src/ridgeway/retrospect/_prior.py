"""σ² and the prior, learned from all rows ever seen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import one_of
from ridgeway.errors import InvalidParameterError
from ridgeway.information import LearnedPrior, learn_by_gcv, learn_directions, learn_groups, learn_penalty
from ridgeway.retrospect._model import per_target, positions, state_of, whole_information

if TYPE_CHECKING:
    from ridgeway.estimators import GeneralizedRidge

Criterion = Literal["evidence", "gcv"]
Groups = Sequence[Sequence[str]] | Sequence[Sequence[int]]


@dataclass(frozen=True, eq=False)
class Prior:
    """A learned prior.

    Attributes
    ----------
    prior : float, ndarray of shape (n_features,) or (n_features, n_features)
        P = σ²·E_0⁻¹, as `weights.Accumulated(prior=…)` takes it; the same for all targets.
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

    prior: Any
    noise_variance: Any
    log_evidence: float
    model: "GeneralizedRidge"


def learn_prior(
    model: "GeneralizedRidge",
    groups: Groups | Literal["direction"] | None = None,
    *,
    criterion: Criterion = "evidence",
) -> Prior:
    """Learn σ² and the prior from all rows ever seen, using only the state.

    The evidence is the marginal likelihood of y under w ~ N(start, σ²P⁻¹), a flat intercept and noise N(0, σ²/weight);
    each target has its own σ², and P is common. O(p³), with one penalty per group O(p³) per step.

    The model that is returned takes the learned prior as given, so its intervals are too narrow. With one penalty,
    `weights.Accumulated(prior="evidence")` averages over it.

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with `weights.Accumulated`. Its own prior is ignored.
    groups : None, list of lists of features, or "direction"
        What gets its own penalty: None for one λ, P = λI; lists of names or positions that together contain each
        feature once, for one per group; "direction" for one per eigenvector of the information.
    criterion : {"evidence", "gcv"}, default "evidence"
        "gcv" is generalized cross-validation, for one λ only.

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
    one_of(criterion, get_args(Criterion), "criterion")
    if criterion == "gcv" and groups is not None:
        raise InvalidParameterError("criterion='gcv' learns one penalty. Leave groups out, or use 'evidence'.")
    held, start = whole_information(model), state.origin.coef
    if isinstance(groups, str) and groups == "direction":
        learned = learn_directions(held, start)
    elif groups is not None:
        learned = learn_groups(held, start, _checked_groups(model, groups))
    else:
        learned = learn_by_gcv(held, start) if criterion == "gcv" else learn_penalty(held, start)
    return Prior(
        float(learned.prior[0]) if groups is None else learned.prior,
        per_target(state, learned.noise_variance),
        learned.log_evidence,
        _under(model, learned),
    )


def _under(model: "GeneralizedRidge", learned: LearnedPrior) -> "GeneralizedRidge":
    """Return the model under another prior."""
    names = getattr(model, "feature_names_in_", None)
    return type(model).from_state(replace(state_of(model), prior=learned.prior), names)


def _checked_groups(model: "GeneralizedRidge", groups: Any) -> list[NDArray[np.intp]]:
    if isinstance(groups, str):
        raise InvalidParameterError(f"groups must be None, 'direction' or a list of lists of features; got {groups!r}.")
    try:
        listed = list(groups)
    except TypeError:
        raise InvalidParameterError(f"groups must be a list of lists of features; got {groups!r}.") from None
    found = [positions(model, group, f"groups[{number}]") for number, group in enumerate(listed)]
    counts = np.bincount(np.concatenate(found), minlength=model.n_features_in_) if found else np.zeros(1)
    if (counts != 1).any():
        raise InvalidParameterError(
            "groups must together contain each feature once; the features at positions "
            f"{np.flatnonzero(counts != 1).tolist()} are missing or repeated. Put missing ones into their own group."
        )
    return found
