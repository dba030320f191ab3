"""Yardsticks: the last task alone, and the oracles that keep all rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.catalogue._learners import estimator


class LastTask:
    """An estimator that is fitted to each task alone, and keeps nothing of those before."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self.model: Any = None

    def partial_fit(self, X: Array, y: Array) -> "LastTask":
        """Learn one task."""
        self.model = self.make().fit(X, y)
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        """Return predictions."""
        predicted: NDArray[Any] = self.model.predict(X)
        return predicted

    def predict_proba(self, X: Array) -> Array:
        """Return the probabilities of the classes."""
        shares: Array = self.model.predict_proba(X)
        return shares


class PooledRows(LastTask):
    """An estimator that is fitted to the rows of all tasks, which it keeps: the oracle of a likelihood."""

    def __init__(self, make: Callable[[], Any]) -> None:
        super().__init__(make)
        self.rows: list[tuple[Array, Array]] = []

    def partial_fit(self, X: Array, y: Array) -> "PooledRows":
        """Keep the rows of one task. They are fitted when predictions are asked for."""
        self.rows.append((X, y))
        self.model = None
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        """Return predictions."""
        self._fit()
        return super().predict(X)

    def predict_proba(self, X: Array) -> Array:
        """Return the probabilities of the classes."""
        self._fit()
        return super().predict_proba(X)

    def _fit(self) -> None:
        if self.model is None:
            X, y = (np.concatenate(part) for part in zip(*self.rows, strict=True))
            self.model = self.make().fit(X, y)


class PooledClasses:
    """The oracle of classes: that of numbers, with one target per class, which is 1 in its rows and 0 elsewhere."""

    def __init__(self) -> None:
        self.rows: list[tuple[Array, Array]] = []
        self.scores: tuple[NDArray[Any], Array, Array] | None = None

    def partial_fit(self, X: Array, y: Array) -> "PooledClasses":
        """Keep the rows of one task. They are fitted when predictions are asked for."""
        self.rows.append((X, y))
        self.scores = None
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        """Return the class of each row."""
        if self.scores is None:
            self.scores = self._fit()
        classes, coef, intercept = self.scores
        best: NDArray[Any] = classes[(X @ coef.T + intercept).argmax(axis=1)]
        return best

    def _fit(self) -> tuple[NDArray[Any], Array, Array]:
        classes = np.unique(np.concatenate([y for _, y in self.rows]))
        oracle = estimator("Oracle")
        for X, y in self.rows:
            oracle.partial_fit(X, np.equal.outer(y, classes).astype(np.float64))
        return classes, oracle.coef_, oracle.intercept_
