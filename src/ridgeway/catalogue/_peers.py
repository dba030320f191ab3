"""Peers that are compared with Ridgeway's estimators: scikit-learn's gradient steps, and river."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.catalogue._method import SGD_STEPS


class Sgd:
    """scikit-learn's SGDRegressor: a gradient step per row, of its default length or shorter if that would overflow."""

    def __init__(self) -> None:
        from sklearn.linear_model import SGDRegressor

        self.model = SGDRegressor(random_state=0)

    def partial_fit(self, X: Array, y: Array) -> "Sgd":
        """Learn one task."""
        longest = 1.0 + float(np.square(X).sum(axis=1).max())
        self.model.set_params(eta0=min(0.01, 0.5 / longest))
        passes = math.ceil(SGD_STEPS / len(X))
        self.model.partial_fit(np.tile(X, (passes, 1)), np.tile(y, passes))
        return self

    def predict(self, X: Array) -> Array:
        """Return predictions."""
        return self.model.predict(X)


class SgdClasses:
    """scikit-learn's SGDClassifier with the logistic loss: a gradient step per row."""

    def __init__(self) -> None:
        from sklearn.linear_model import SGDClassifier

        self.model = SGDClassifier(loss="log_loss", random_state=0)

    def partial_fit(self, X: Array, y: Array, classes: Array | None = None) -> "SgdClasses":
        """Learn one task. The first one has to say which classes there are."""
        passes = math.ceil(SGD_STEPS / len(X))
        self.model.partial_fit(np.tile(X, (passes, 1)), np.tile(y, passes), classes=classes)
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        """Return the class of each row."""
        return self.model.predict(X)

    def predict_proba(self, X: Array) -> Array:
        """Return the probabilities of the classes."""
        shares: Array = self.model.predict_proba(X)
        return shares


class River:
    """river's BayesianLinearRegression: ridge regression on all rows so far, with prior 1 and without an intercept."""

    def __init__(self) -> None:
        from river.linear_model import BayesianLinearRegression

        self.model = BayesianLinearRegression()

    def partial_fit(self, X: Array, y: Array) -> "River":
        """Learn one task."""
        import pandas as pd

        self.model.learn_many(pd.DataFrame(X), pd.Series(y))
        return self

    def predict(self, X: Array) -> Array:
        """Return predictions."""
        import pandas as pd

        return np.asarray(self.model.predict_many(pd.DataFrame(X)), dtype=np.float64)
