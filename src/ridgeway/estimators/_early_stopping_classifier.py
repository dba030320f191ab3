"""Early stopping for classes: a few gradient steps on each task, from where the last one ended."""

from typing import Any

from ridgeway.estimators._classifier import ContinualClassifier
from ridgeway.estimators._shell import AnchoredMixin
from ridgeway.weights import GradientSteps


class EarlyStoppingClassifier(AnchoredMixin, ContinualClassifier):
    """`EarlyStopping` with one target per class: gradient descent on the squared error of each task, stopped early.

    Parameters
    ----------
    learning_rate : float, (p, p) matrix, sequence of these, or callable of the task number (from 1), optional
        A_t, as for `EarlyStopping`.
    n_steps : int, sequence of int, or callable of the task number (from 1), default 100
        m_t ≥ 0.
    fit_intercept : bool, default True
        Whether each task sets an intercept per class from its own means.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        In ascending order.
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features) if there are two classes
    intercept_ : ndarray of shape (n_classes,), or (1,) if there are two classes
    n_tasks_, n_samples_seen_, n_features_in_ : int
    feature_names_in_ : ndarray of str, if the tasks were DataFrames

    Examples
    --------
    >>> from ridgeway import EarlyStoppingClassifier
    >>> model = EarlyStoppingClassifier(n_steps=10).fit(
    ...     [[0.0], [1.0], [4.0], [5.0]], [1, 1, 2, 2]
    ... )
    >>> model.predict([[0.5], [4.5]])
    array([1, 2])
    """

    def __init__(self, learning_rate: Any = None, n_steps: Any = 100, *, fit_intercept: bool = True) -> None:
        self.learning_rate = learning_rate
        self.n_steps = n_steps
        self.fit_intercept = fit_intercept

    def _policy(self) -> GradientSteps:
        return GradientSteps(self.learning_rate, self.n_steps)
