"""What the feature maps share: drawn once, then applied to some rows at a time."""

import copy
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, Tags, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ridgeway.data import check_rows
from ridgeway.errors import InvalidDataError

Floats = NDArray[np.floating]

LARGEST = 1e15
"""The largest value that is accepted: its square, summed over many columns, does not overflow in float32."""
NUMBERS = 2**20
"""Numbers that a block of rows may take up on the way: they stay in cache."""


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """A transformer that the first task fits, and that never changes after that."""

    n_features_in_: int
    _n_features_out: int

    @abstractmethod
    def _draw(self, rows: NDArray[Any]) -> dict[str, Any]:
        """Return the fitted attributes, or raise if a parameter is out of range."""

    @abstractmethod
    def _encode(self, rows: NDArray[Any]) -> Floats:
        """Return the features of some rows, of shape (n_rows, n_features_out)."""

    @property
    @abstractmethod
    def _numbers_per_row(self) -> int:
        """Numbers that one row takes up on the way."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the map. Later tasks are not seen.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows of the first task.
        y : ignored
        """
        fresh = copy.copy(self)  # a call that fails changes nothing
        rows = self._checked(fresh, X, first=True)
        vars(fresh).update(self._draw(rows))
        self.__dict__ = vars(fresh)
        return self

    def transform(self, X: Any) -> Floats:
        """Return the features of each row, of shape (n_samples, n_features_out)."""
        check_is_fitted(self)
        rows = self._checked(self, X, first=False)
        step = max(NUMBERS // self._numbers_per_row, 1)
        head = self._encode(rows[:step])
        features = np.empty((len(rows), head.shape[1]), dtype=head.dtype)
        features[:step] = head
        for start in range(step, len(rows), step):
            features[start : start + step] = self._encode(rows[start : start + step])
        return features

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    @staticmethod
    def _checked(owner: "FeatureMap", X: Any, *, first: bool) -> NDArray[Any]:
        """Return rows of finite numbers as they are; if they are the first, with the columns noted in their owner."""
        rows: NDArray[Any] = check_rows(owner, X, first=first, sparse=False, dtype="numeric")
        largest = max(float(rows.max()), -float(rows.min()))
        if largest > LARGEST:
            raise InvalidDataError(f"X has values up to {largest:.3g}; the limit is {LARGEST:g}. Change the unit.")
        return rows
