"""Models of fewer features, exactly as if refitted on all rows."""

import heapq
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import whole
from ridgeway.information import Inference, Information
from ridgeway.retrospect._model import feature_names, per_target, positions, state_of

if TYPE_CHECKING:
    from ridgeway.estimators import GeneralizedRidge


def submodel(model: "GeneralizedRidge", features: Any) -> "GeneralizedRidge":
    """Return the model that learned only some of the features, in the order given, as if refitted on all the rows.

    The result is a fitted `GeneralizedRidge` that can continue to learn. A prior keeps the entries of these features.
    The triangular factor of "square_root" is cut and made triangular again, so that no digits are lost. O(p³) at most.

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with `weights.Accumulated`.
    features : list of names or positions

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> model = GeneralizedRidge().fit(
    ...     [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], [1.0, 2.0, 2.0, 4.0]
    ... )
    >>> retrospect.submodel(model, features=[0]).coef_
    array([0.9])
    """
    state = state_of(model)
    columns = positions(model, features)
    names = getattr(model, "feature_names_in_", None)
    return type(model).from_state(state.select(columns), None if names is None else names[columns])


@dataclass(frozen=True, eq=False)
class Subset:
    """The best subset of a given size.

    Attributes
    ----------
    features : tuple of str
        Their names, in the order of the columns.
    columns : ndarray of shape (k,)
        Their positions.
    residual_squares, r_squared : float, or ndarray of shape (n_targets,)
    model : GeneralizedRidge
        The fitted model of these features. Its p-values and intervals do not account for the choice, and say so
        (`post_selection`).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> model = GeneralizedRidge().fit(X, 3.0 * X[:, 1] - X[:, 2])
    >>> found = retrospect.best_subset(model, 2)
    >>> found.features, found.model.coef_.round(6)
    (('x1', 'x2'), array([ 3., -1.]))
    """

    features: tuple[str, ...]
    columns: NDArray[np.intp]
    residual_squares: Any
    r_squared: Any
    model: "GeneralizedRidge"


def best_subset(model: "GeneralizedRidge", k: int) -> Subset:
    """Return the k features with the smallest residual squares, found with certainty by branch and bound.

    Dropping a feature never lowers the residual squares, so the subsets of a set that is already worse than the best
    one found are skipped. The choice uses least squares, without the prior. With several targets, it uses the sum of
    their residual squares, each relative to its total. Exponential at worst: about thirty features are the limit.

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with `weights.Accumulated`.
    k : int
        Number of features, from 1 to n_features.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> model = GeneralizedRidge().fit(
    ...     [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], [1.0, 2.0, 2.0, 4.0]
    ... )
    >>> retrospect.best_subset(model, 1).features
    ('x0',)
    """
    state = state_of(model)
    p = model.n_features_in_
    k = whole(k, "k, the number of features,", most=p)
    columns = _search(state.information, k)
    smaller = submodel(model, columns)
    selected = replace(state_of(smaller), features_selected=state.features_selected or k < p)
    chosen = type(model).from_state(selected, getattr(smaller, "feature_names_in_", None))
    fit = _least_squares(state.information, columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        r_squared = 1.0 - fit.residual_squares / fit.total_squares
    return Subset(
        tuple(feature_names(model)[j] for j in columns),
        columns,
        per_target(state, fit.residual_squares),
        per_target(state, r_squared),
        chosen,
    )


def _least_squares(information: Information, columns: NDArray[np.intp]) -> Inference:
    """Return the least-squares fit of some of the features."""
    held = information.select(columns)
    zero = np.zeros((len(columns), held.n_targets))
    return Inference(held, np.zeros(len(columns)), zero, held.solve(np.zeros(len(columns)), zero).coef)


def _loss(information: Information, columns: NDArray[np.intp]) -> float:
    """Return the residual squares relative to the total, summed over the targets that vary."""
    fit = _least_squares(information, columns)
    live = fit.total_squares > 0.0
    return float((fit.residual_squares[live] / fit.total_squares[live]).sum())


def _search(information: Information, k: int) -> NDArray[np.intp]:
    """Search the tree of sets in which each child drops one feature after the last that its parent dropped.

    Sets are taken in the order of their bound, the loss with all their features: the first of size k is the best.
    """
    every = np.arange(information.n_features)
    # Drop first what costs little: bounds then rise fast where many children are.
    order = every if len(every) == k else _by_cost(information)
    queue = [(_loss(information, order), 0, 0, tuple(order))]
    while True:
        _, _, fixed, kept = heapq.heappop(queue)
        if len(kept) == k:
            return np.sort(np.array(kept, dtype=np.intp))
        for place in range(fixed, min(k, len(kept) - 1) + 1):  # those before `place` stay for good: at most k may
            child = kept[:place] + kept[place + 1 :]
            if len(child) >= k:
                bound = _loss(information, np.array(child, dtype=np.intp))
                heapq.heappush(queue, (bound, -place, place, child))


def _by_cost(information: Information) -> NDArray[np.intp]:
    """Return the features, the most costly to drop first."""
    every = np.arange(information.n_features)
    costs = [_loss(information, np.delete(every, j)) for j in every]
    return np.argsort(-np.array(costs), kind="stable")
