"""The lasso and the elastic net of rows that are gone, through scikit-learn's Gram solvers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ridgeway._checks import Array
from ridgeway.errors import InvalidParameterError
from ridgeway.retrospect._model import is_number, per_target, state_of

TIGHT, MOST_STEPS = 1e-10, 100_000
"""The gap of the dual, relative to the squares of the targets, at which the solver stops; and its most steps."""


@dataclass(frozen=True, eq=False)
class Path:
    """Coefficients along a path of penalties. With several targets each array has one more axis in front.

    Attributes
    ----------
    penalties : ndarray of shape (n_penalties,)
        Descending; scikit-learn's alpha.
    coefs : ndarray of shape (n_penalties, n_features)
    intercepts : ndarray of shape (n_penalties,)
    l1_ratio : float
        1 for the lasso.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> model = GeneralizedRidge().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 2.0, 4.0])
    >>> found = retrospect.elastic_net(model, l1_ratio=1.0)
    >>> found.coefs[[0, -1], 0].round(3), model.coef_.round(3)  # from 0 to least squares
    (array([0.   , 0.899]), array([0.9]))
    """

    penalties: Array
    coefs: Array
    intercepts: Array
    l1_ratio: float


def elastic_net(model: Any, *, l1_ratio: float = 0.5, penalties: Any = None) -> Path:
    """Minimise Σ w·(y − x·v − b)²/(2Σw) + penalty·(l1_ratio·‖v‖₁ + ½(1 − l1_ratio)·‖v‖²), from the state alone.

    The same as scikit-learn's `ElasticNet` on the pooled rows, for each target separately. The penalty takes the place
    of the model's prior.

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with `weights.Accumulated`.
    l1_ratio : float in (0, 1], default 0.5
        1 is the lasso.
    penalties : float or array of floats above 0, optional
        If not given, 100 values, from the smallest that makes all coefficients zero down to a thousandth of it.

    Examples
    --------
    >>> from sklearn.linear_model import ElasticNet
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], [1.0, 2.0, 2.0, 4.0]
    >>> model = GeneralizedRidge().partial_fit(X[:2], y[:2]).partial_fit(X[2:], y[2:])
    >>> retrospect.elastic_net(model, penalties=0.1).coefs.round(6)
    array([[ 0.886973, -0.312261]])
    >>> ElasticNet(alpha=0.1, tol=1e-10).fit(X, y).coef_.round(6)
    array([ 0.886973, -0.312261])
    """
    from sklearn.linear_model import enet_path  # slow to import, and needed here alone

    state = state_of(model)
    if not is_number(l1_ratio) or not 0.0 < l1_ratio <= 1.0:
        raise InvalidParameterError(f"l1_ratio must lie in (0, 1]; got {l1_ratio!r}. 1 is the lasso.")
    held, p = state.information, model.n_features_in_
    factor = held.factor() * np.sqrt(p / held.total_weight)  # scikit-learn divides by the number of rows, here p
    A, targets = np.ascontiguousarray(factor[:p, :p]), factor[:p, p:]
    gram, products = A.T @ A, A.T @ targets
    chosen = _checked_penalties(penalties, float(np.abs(products).max()) / (p * l1_ratio))
    coefs = np.stack(
        [
            enet_path(
                A,
                np.ascontiguousarray(targets[:, k]),
                l1_ratio=float(l1_ratio),
                alphas=chosen,
                precompute=gram,
                Xy=np.ascontiguousarray(products[:, k]),
                tol=TIGHT,
                max_iter=MOST_STEPS,
            )[1].T
            if targets[:, k].any()
            else np.zeros((len(chosen), p))  # scikit-learn < 1.8 warns here that the solver did not converge
            for k in range(held.n_targets)
        ]
    )
    intercepts = np.stack([held.intercept(np.moveaxis(coefs, 0, -1)[i]) for i in range(len(chosen))], axis=-1)
    return Path(chosen, per_target(state, coefs), per_target(state, intercepts), float(l1_ratio))


def _checked_penalties(penalties: Any, largest: float) -> Array:
    if penalties is None:
        return np.geomspace(largest, largest * 1e-3, 100) if largest > 0.0 else np.ones(1)
    try:
        chosen = np.sort(np.atleast_1d(np.array(penalties, dtype=np.float64)))[::-1]
    except (TypeError, ValueError):
        raise InvalidParameterError(f"penalties must be numbers above 0; got {penalties!r}.") from None
    if chosen.ndim != 1 or not chosen.size or not (np.isfinite(chosen) & (chosen > 0.0)).all():
        raise InvalidParameterError(
            f"penalties must be finite numbers above 0; got {penalties!r}. For no penalty, use summary()."
        )
    return np.ascontiguousarray(chosen)
