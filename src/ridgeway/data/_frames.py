"""Tables of pandas that hold nothing but floats: they are learned from where they are."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class Unframed(NamedTuple):
    """The arrays of a table and of its target, and the names of the columns."""

    X: Array
    y: Array
    names: NDArray[np.object_]


def unframed(estimator: "BaseEstimator", X: Any, y: Any, *, first: bool) -> Unframed | None:
    """Return what a table of floats and its target hold if only their values are left to check, or None.

    The columns must have different names, those of the model if this is not the `first` task, and the rows of both the
    same labels. Anything else is for scikit-learn's checks, which take longer than learning a small task.
    """
    if not (_is_pandas(X, "DataFrame") and (type(y) is np.ndarray or _is_pandas(y, "Series"))):
        return None
    kinds = set(X.dtypes)
    if not (len(kinds) == 1 and kinds.issubset(FLOATS) and y.dtype in FLOATS and y.ndim == 1 and X.size):
        return None
    if len(X) != len(y) or not (type(y) is np.ndarray or X.index.equals(y.index)):
        return None
    names, known = X.columns.tolist(), None if first else vars(estimator).get("feature_names_in_")
    if not (all(type(name) is str for name in names) and len(set(names)) == len(names)):
        return None
    if not first and (known is None or names != known.tolist()):
        return None
    return Unframed(X.to_numpy(), np.asarray(y), np.array(names, dtype=object) if known is None else known)


def _is_pandas(data: Any, name: str) -> bool:
    return type(data).__name__ == name and type(data).__module__.partition(".")[0] == "pandas"
