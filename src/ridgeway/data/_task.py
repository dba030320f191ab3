"""One task's rows, checked: what the one door (`_validation`) lets through. It does without scikit-learn."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ridgeway._checks import LARGEST

__all__ = ["LARGEST", "Task", "dense", "is_sparse"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Task:
    """One task's rows, checked.

    Attributes
    ----------
    X : ndarray of float64, or of float32 that `dense` converts block by block, or scipy.sparse CSR of float64, of shape
        (n_samples, n_features)
    y : ndarray of shape (n_samples, n_targets), float64
    sample_weight : ndarray of shape (n_samples,), all positive; None where every row weighs 1
    feature_names : ndarray of str, or None
    single_target : whether `y` came as one column without a second axis
    """

    X: Any
    y: Array
    sample_weight: Array | None
    feature_names: NDArray[np.object_] | None
    single_target: bool

    @property
    def n_samples(self) -> int:
        """Number of rows of positive weight."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of `X`."""
        return int(self.X.shape[1])

    @property
    def n_targets(self) -> int:
        """Number of columns of `y`."""
        return int(self.y.shape[1])

    @property
    def total_weight(self) -> float:
        """The n_t of the paper: Σ sample_weight."""
        return float(self.n_samples) if self.sample_weight is None else float(self.sample_weight.sum())

    @property
    def log_weight(self) -> float:
        """Σ log sample_weight, which the evidence needs."""
        return 0.0 if self.sample_weight is None else float(np.log(self.sample_weight).sum())

    def part(self, start: int, stop: int | None) -> "Task":
        """Return the rows start to stop as a task of their own, not copied."""
        rows = slice(start, stop)
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], sample_weight=weight)

    def rows(self, start: int, stop: int) -> Array:
        """Return a dense copy of `[X, y]`, rows start to stop."""
        return np.hstack([dense(self.X[start:stop]), self.y[start:stop]])


def is_sparse(X: Any) -> bool:
    """Say whether X is a scipy.sparse matrix or array."""
    return bool(sparse.issparse(X))


def dense(X: Any) -> Array:
    """Return X as a float64 ndarray: itself, or what a sparse or a float32 X stands for."""
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
