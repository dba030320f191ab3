"""One task's rows, checked: what `_validation` lets through. It does without scikit-learn."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.data._columns import EXACT
from ridgeway.errors import InvalidDataError


@dataclass(frozen=True, eq=False)
class Task:
    """One task's rows, checked.

    Attributes
    ----------
    X : ndarray of float64, or of float32 that `dense` converts block by block, or scipy.sparse CSR of float64, of shape
        (n_samples, n_features)
    y : ndarray of shape (n_samples, n_targets), float64
    sample_weight : ndarray of shape (n_samples,), all positive; None if every row weighs 1
    feature_names : ndarray of str, or None
    single_target : bool
        Whether `y` came as one column without a second axis.
    is_finite : bool
        Whether all values are known to be finite, and their squares not to overflow. If not, whoever sums the rows sees
        it in the sums, and then calls `check_values`.
    n_samples, n_features, n_targets : int
        `n_samples` is the number of rows or, once `counted`, of the observations that they stand for.
    total_weight : float
        The n_t of the paper: Σ sample_weight.
    log_weight : float
        Σ log sample_weight, which the evidence needs.
    task_id : object
        What the user calls the task, or None.
    clusters : ndarray of object of shape (n_samples,), or None
        The cluster that each row belongs to.
    classes : tuple of labels, or None
        What the columns of `y` stand for, if they are the classes of a classifier.
    offset : ndarray of shape (n_samples,), or None
        What is added to the linear predictor of each row, for likelihoods that are not Gaussian.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> task = Task.of(np.ones((2, 1)), np.ones((2, 1)), sample_weight=np.array([3.0, 1.0]))
    >>> task.n_samples, task.total_weight, task.counted().n_samples
    (2, 4.0, 4)
    """

    X: Any
    y: Array
    sample_weight: Array | None
    feature_names: NDArray[np.object_] | None
    single_target: bool
    is_finite: bool
    n_samples: int
    n_features: int
    n_targets: int
    total_weight: float
    log_weight: float
    task_id: Any = None
    clusters: NDArray[np.object_] | None = None
    classes: tuple[Any, ...] | None = None
    offset: Array | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: Array,
        sample_weight: Array | None = None,
        feature_names: NDArray[np.object_] | None = None,
        single_target: bool = True,
    ) -> "Task":
        """Return rows that are known to be finite, counted."""
        total, log = float(len(y)), 0.0
        if sample_weight is not None:
            total, log = float(sample_weight.sum()), float(np.log(sample_weight).sum())
        shape = (len(y), int(X.shape[1]), int(y.shape[1]))
        return cls(X, y, sample_weight, feature_names, single_target, True, *shape, total, log)

    def counted(self) -> "Task":
        """Return the task with each row counted as often as its weight says, or raise if a weight is not whole."""
        weight = self.sample_weight
        if weight is None:
            return self
        broken = weight[weight != np.round(weight)]
        if len(broken):
            raise InvalidDataError(
                f"weight_kind='frequency' needs weights that are whole numbers; got {broken[0]:g}. Pass how often each "
                "row was observed, or use weight_kind='precision'."
            )
        if self.total_weight > EXACT:
            raise InvalidDataError(
                f"the weights add up to {self.total_weight:g} observations; the limit is {EXACT:g}. Pass how often "
                "each row was observed, or use weight_kind='precision'."
            )
        return replace(self, n_samples=round(self.total_weight), log_weight=0.0)

    def rows(self, start: int, stop: int) -> Array:
        """Return a dense copy of `[X, y]`, rows start to stop."""
        return np.hstack([dense(self.X[start:stop]), self.y[start:stop]])


def is_sparse(X: Any) -> bool:
    """Say whether X is a scipy.sparse matrix or array.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from ridgeway.data import is_sparse
    >>> is_sparse(sparse.csr_array(np.eye(2))), is_sparse(np.eye(2))
    (True, False)
    """
    return bool(scipy.sparse.issparse(X))


def dense(X: Any) -> Array:
    """Return X as a float64 ndarray: itself, or what a sparse or a float32 X stands for.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from ridgeway.data import dense
    >>> dense(sparse.csr_array(np.eye(2)))
    array([[1., 0.], [0., 1.]])
    """
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
