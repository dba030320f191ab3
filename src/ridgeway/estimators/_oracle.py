"""The oracle: pooled least squares on all rows ever seen. A yardstick, not a method."""

from typing import Any

from ridgeway.estimators._shell import ContinualRegressor
from ridgeway.information import AllRows
from ridgeway.weights import Accumulated


class Oracle(ContinualRegressor):
    """Least squares on the rows of all tasks, which it keeps (ORA).

    The yardstick for the other estimators. It does what continual learning rules out, and computes its answer in its
    own way (Householder QR of the pooled rows and an SVD), so that agreement is meaningful.

    Parameters
    ----------
    fit_intercept : bool, default True
        Whether one intercept is fitted for all tasks.
    initial_coef : array of shape (n_features,) or (n_targets, n_features), optional
        Of all solutions, the estimate is the one nearest to this; zero if not given.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    rank_ : int
        Rank of the pooled rows.
    n_tasks_, n_samples_seen_, n_features_in_ : int
    feature_names_in_ : ndarray of str, if the tasks were DataFrames

    Notes
    -----
    The first answer after each task costs O(n·p²) over all rows. It remembers every row.

    References
    ----------
    Lemma (oracle).

    Examples
    --------
    >>> from ridgeway import Oracle
    >>> model = Oracle().partial_fit([[0.0], [1.0]], [1.0, 3.0]).partial_fit([[2.0]], [5.0])
    >>> model.coef_, model.intercept_
    (array([2.]), 1.0)
    """

    def __init__(self, *, fit_intercept: bool = True, initial_coef: Any = None) -> None:
        self.fit_intercept = fit_intercept
        self.initial_coef = initial_coef

    @property
    def _information_kind(self) -> type[AllRows]:
        return AllRows

    def _policy(self) -> Accumulated:
        return Accumulated()
