"""The oracle for classes: pooled least squares on all rows ever seen. A yardstick, not a method."""

from ridgeway.estimators._classifier import ContinualClassifier
from ridgeway.information import AllRows
from ridgeway.weights import Accumulated


class OracleClassifier(ContinualClassifier):
    """Least squares on the rows of all tasks, which it keeps, with one target per class.

    The yardstick for the other classifiers, as `Oracle` is for regressors: it computes its answer in its own way.

    Parameters
    ----------
    fit_intercept : bool, default True
        Whether an intercept per class is fitted for all tasks.

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
    >>> from ridgeway import OracleClassifier
    >>> model = OracleClassifier().partial_fit([[0.0], [1.0]], ["low", "low"])
    >>> model.partial_fit([[4.0], [5.0]], ["top", "top"]).predict([[0.5], [4.5]])
    array(['low', 'top'], dtype='<U3')
    """

    def __init__(self, *, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept

    @property
    def _information_kind(self) -> type[AllRows]:
        return AllRows

    def _policy(self) -> Accumulated:
        return Accumulated()
