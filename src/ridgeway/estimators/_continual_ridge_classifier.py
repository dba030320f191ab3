"""Continual ridge regression for classes: hold on to every direction equally."""

from typing import Any

from ridgeway.estimators._classifier import ContinualClassifier
from ridgeway.estimators._shell import AnchoredMixin
from ridgeway.weights import Isotropic


class ContinualRidgeClassifier(AnchoredMixin, ContinualClassifier):
    """`ContinualRidge` with one target per class. It forgets less than `MinimumNormClassifier`, but it does.

    Parameters
    ----------
    penalty : float, sequence of floats, or callable of the task number (from 1), default 1.0
        λ_t ≥ 0, as for `ContinualRidge`.
    fit_intercept : bool, default True
        Whether each task sets an intercept per class from its own means.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        In ascending order.
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features) if there are two classes
    intercept_ : ndarray of shape (n_classes,), or (1,) if there are two classes
    n_tasks_, n_samples_seen_, n_features_in_, rank_ : int
    feature_names_in_ : ndarray of str, if the tasks were DataFrames

    Examples
    --------
    >>> from ridgeway import ContinualRidgeClassifier
    >>> model = ContinualRidgeClassifier(penalty=0.1).fit(
    ...     [[0.0], [1.0], [4.0], [5.0]], [False, False, True, True]
    ... )
    >>> model.predict([[0.5], [4.5]])
    array([False,  True])
    """

    def __init__(self, penalty: Any = 1.0, *, fit_intercept: bool = True) -> None:
        self.penalty = penalty
        self.fit_intercept = fit_intercept

    def _policy(self) -> Isotropic:
        return Isotropic(self.penalty)
