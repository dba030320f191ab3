"""The minimum norm estimator for classes: fit the new task, change as little as possible."""

from ridgeway.estimators._classifier import ContinualClassifier
from ridgeway.estimators._shell import AnchoredMixin
from ridgeway.weights import Zero


class MinimumNormClassifier(AnchoredMixin, ContinualClassifier):
    """`MinimumNorm` with one target per class. It forgets: after a task of one class it knows no other.

    Parameters
    ----------
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
    >>> from ridgeway import MinimumNormClassifier
    >>> model = MinimumNormClassifier().partial_fit([[0.0], [1.0]], ["low", "low"])
    >>> model.partial_fit([[4.0], [5.0]], ["top", "top"]).predict([[0.5], [4.5]])
    array(['top', 'top'], dtype='<U3')
    """

    def __init__(self, *, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept

    def _policy(self) -> Zero:
        return Zero()
