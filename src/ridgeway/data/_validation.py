"""The single entry point for raw data.

Whatever a user passes (arrays, sparse matrices, pandas, polars, pyarrow) leaves here as a frozen `Task`: float64,
its columns named if they had names, without rows of weight zero; or as a typed error that says what is wrong, what was
received and what to do. Nothing here changes the estimator that asks.
"""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import LARGEST, Array
from ridgeway._text import counted
from ridgeway.data._frames import FLOATS, unframed
from ridgeway.data._refusals import from_arrow, refuse_ambiguous_names, refuse_non_numbers, refuse_shuffled_index
from ridgeway.data._schema import listed
from ridgeway.data._task import Task, is_sparse
from ridgeway.errors import FeatureMismatchError, InvalidDataError, InvalidDataTypeError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

LARGEST_OFFSET = 1e6
"""The largest offset: linear predictors have ten digits after the point beside it."""


def check_tasks(
    estimator: "BaseEstimator",
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    first: bool,
    labels: Any = None,
    task_id: Any = None,
    clusters: Any = None,
    offset: Any = None,
) -> list[Task]:
    """Check the rows of one call, and cut them into one `Task` per label, in order of first appearance.

    Parameters
    ----------
    estimator : the calling estimator; used only to look up its columns
    X, y, sample_weight : what the user passed
    first : whether the columns are to be learned from this call rather than compared with the estimator's
    labels : one label per row, or None for a single task
    task_id : what the single task is called, if it has a name
    clusters : one label per row, or None
    offset : what is added to the linear predictor of each row, or None

    Examples
    --------
    >>> from ridgeway.data import check_tasks, columns_of_a_model
    >>> model = columns_of_a_model(1, None)
    >>> tasks = check_tasks(model, [[1], [2], [3]], [4, 5, 6], first=True, labels="aba")
    >>> [(task.task_id, task.X.ravel()) for task in tasks]
    [('a', array([1., 3.])), ('b', array([2.]))]
    """
    if sample_weight is labels is clusters is offset is None:
        if _is_plain(estimator, X, y, first=first):
            return [_plain_task(X, y, None, task_id)]
        if (found := unframed(estimator, X, y, first=first)) is not None:
            return [_plain_task(*found, task_id)]
    given = {"X": X, "y": y, "sample_weight": sample_weight, "tasks": labels, "clusters": clusters, "offset": offset}
    for one, other in combinations(given, 2):
        refuse_shuffled_index(given[one], given[other], (one, other))
    X, y, sample_weight, labels, clusters, offset = (from_arrow(data, name) for name, data in given.items())
    X, y, names = _check_table(estimator, X, y, first=first)
    single_target = y.ndim == 1
    y = y.reshape(len(y), -1)
    weight = _check_weight(sample_weight, len(y))
    _refuse_overflow(X, y, weight)
    offset = check_offset(offset, len(y))
    cluster_of = None if clusters is None else np.array(_labels(clusters, len(y), "clusters"), dtype=object)
    tasks = []
    for label, index in groups(labels, len(y)):
        said = "" if label is None else f" of task {label!r}"
        part = None if weight is None else weight[index]
        if part is not None and not part.any():
            raise InvalidDataError(
                f"sample_weight is zero for every row{said}. Leave the task out, or give some row a weight."
            )
        if part is not None and not part.all():
            index = np.arange(len(y))[index][part > 0.0]
            part = part[part > 0.0]
        task = Task.of(X[index], y[index], part, names, single_target)
        named = task_id if label is None else label
        parts = {"clusters": cluster_of, "offset": offset}
        parts = {name: None if whole is None else whole[index] for name, whole in parts.items()}
        tasks.append(replace(task, task_id=named, **parts))
    return tasks


def _is_plain(estimator: "BaseEstimator", X: Any, y: Any, *, first: bool) -> bool:
    """Say whether X and y are arrays of floats that fit together and fit the model: nothing to check but the values."""
    if not (type(X) is type(y) is np.ndarray and X.dtype in FLOATS and y.dtype in FLOATS):
        return False
    if not (X.ndim == 2 and y.ndim in (1, 2) and len(X) == len(y) and X.size and y.size):
        return False
    known = vars(estimator)
    return first or ("feature_names_in_" not in known and X.shape[1] == known.get("n_features_in_"))


def _plain_task(X: Array, y: Array, names: NDArray[np.object_] | None, task_id: Any) -> Task:
    (n, p), columns = X.shape, y.reshape(len(y), -1).astype(np.float64, copy=False)
    return Task(
        X=X,
        y=columns,
        sample_weight=None,
        feature_names=names,
        single_target=y.ndim == 1,
        is_finite=False,
        n_samples=n,
        n_features=p,
        n_targets=columns.shape[1],
        total_weight=float(n),
        log_weight=0.0,
        task_id=task_id,
    )


def check_values(task: Task) -> None:
    """Raise if a value of a task is not finite, or overflows once it is squared and summed. One pass over the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import check_tasks, check_values, columns_of_a_model
    >>> model = columns_of_a_model(1, None)
    >>> (task,) = check_tasks(model, np.array([[np.nan]]), np.ones(1), first=True)
    >>> check_values(task)
    Traceback (most recent call last):
    ...
    ridgeway.errors.InvalidDataError: Input X contains NaN. ...
    """
    if task.is_finite:
        return
    from sklearn.utils.validation import check_array

    with typed_errors(None):
        check_array(task.X, dtype=None, input_name="X")
        check_array(task.y, dtype=None, input_name="y")
    _refuse_overflow(task.X, task.y, None)


def _check_table(
    estimator: "BaseEstimator", X: Any, y: Any, *, first: bool
) -> tuple[Any, Array, NDArray[np.object_] | None]:
    """Return X and y as float64, and the names of the columns."""
    from sklearn.utils.validation import validate_data

    refuse_non_numbers(X, "X")
    refuse_non_numbers(y, "y")
    refuse_ambiguous_names(estimator, X, first=first)
    probe = copy.copy(estimator)  # validate_data writes to the estimator that it is given
    with typed_errors(estimator):
        X, y = validate_data(
            probe, X, y, reset=first, accept_sparse="csr", dtype=np.float64, multi_output=True, y_numeric=True
        )
    return X, np.asarray(y, dtype=np.float64), getattr(probe, "feature_names_in_", None)


def columns_of_a_model(n_features: int, names: Sequence[str] | None) -> "BaseEstimator":
    """Return what `check_tasks` compares the columns of a table with, if there is no estimator yet.

    Examples
    --------
    >>> from ridgeway.data import columns_of_a_model
    >>> columns_of_a_model(2, ["a", "b"]).feature_names_in_.tolist()
    ['a', 'b']
    """
    from sklearn.base import BaseEstimator

    known = BaseEstimator()
    vars(known)["n_features_in_"] = n_features
    if names is not None:
        vars(known)["feature_names_in_"] = np.array(names, dtype=object)
    return known


def checked_numbers(data: Any, name: str) -> Array:
    """Return targets or weights as float64, whatever their values; raise if they are not real numbers."""
    from sklearn.utils.validation import check_array

    data = from_arrow(data, name)
    refuse_non_numbers(data, name)
    with typed_errors(None):
        checked: Array = check_array(data, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, input_name=name)
    return checked


def check_rows(
    estimator: "BaseEstimator", X: Any, *, first: bool = False, sparse: bool = True, dtype: Any = np.float64
) -> Any:
    """Check rows without targets: an array, or a CSR matrix, with the estimator's columns.

    Parameters
    ----------
    estimator : the calling estimator
    X : what the user passed
    first : whether the columns are to be written to the estimator rather than compared with it
    sparse : whether X may be sparse
    dtype : what numbers are converted to; None leaves them as they are

    Examples
    --------
    >>> from ridgeway.data import check_rows, columns_of_a_model
    >>> check_rows(columns_of_a_model(2, None), [[1, 2]])
    array([[1., 2.]])
    >>> check_rows(columns_of_a_model(3, None), [[1, 2]])
    Traceback (most recent call last):
    ...
    ridgeway.errors.FeatureMismatchError: X has 2 features, but ...
    """
    from sklearn.utils.validation import validate_data

    X = from_arrow(X, "X")
    refuse_non_numbers(X, "X")
    with typed_errors(estimator):
        return validate_data(estimator, X, reset=first, accept_sparse="csr" if sparse else False, dtype=dtype)


def groups(labels: Any, n_samples: int) -> Iterator[tuple[Any, Any]]:
    """Yield each label, or None if there are none, and the index of its rows."""
    if labels is None:
        yield None, slice(None)
        return
    listed = _labels(labels, n_samples, "tasks")
    numbers = {label: number for number, label in enumerate(dict.fromkeys(listed))}
    numbered = np.array([numbers[label] for label in listed])
    for label, number in numbers.items():
        yield label, np.flatnonzero(numbered == number)


def _labels(labels: Any, n_samples: int, what: str) -> list[Any]:
    """Return one label per row, or raise."""
    remedy = f"Pass the column that says which {what[:-1]} a row belongs to."
    shape: tuple[int, ...] = getattr(labels, "shape", ())
    if len(shape) == 2:
        two_ways = "Clustering in two or more ways is not supported. " if what == "clusters" and shape[1] > 1 else ""
        raise InvalidDataTypeError(f"{what} has shape {shape}; it must hold one label per row. {two_ways}{remedy}")
    try:
        listed = list(labels)
        hash(tuple(listed))
    except TypeError:
        raise InvalidDataTypeError(
            f"{what} must hold one label per row, each a number or a string; got {type(labels).__name__}. {remedy}"
        ) from None
    if len(listed) != n_samples:
        raise InvalidDataError(f"{what} has {len(listed)} labels; it needs one per row, {n_samples}. {remedy}")
    missing = sum(is_missing(label) for label in listed)
    if missing:
        raise InvalidDataError(f"{what} has {counted(missing, 'missing label')}. Label those rows, or drop them.")
    return listed


def is_missing(label: Any) -> bool:
    """Say whether a label is None or NaN."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):  # pandas' NA has no truth value
        return True


def _check_weight(sample_weight: Any, n_samples: int) -> Array | None:
    if sample_weight is None:
        return None
    from sklearn.utils.validation import check_array

    refuse_non_numbers(sample_weight, "sample_weight")
    with typed_errors(None):
        weight: Array = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight", ensure_min_samples=0
        )
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.ndim != 1:
        raise InvalidDataError(
            f"Sample weights must be 1D array or scalar; got shape {weight.shape}. Pass one weight per row."
        )
    if len(weight) != n_samples:
        raise InvalidDataError(
            f"sample_weight.shape == {weight.shape}, expected {(n_samples,)}! Pass one weight per row."
        )
    if (weight < 0.0).any():
        raise InvalidDataError(
            f"Negative values in data passed to sample_weight: the smallest is {weight.min():g}. "
            "A weight says how much a row counts; use 0 to leave a row out, and remove() to take a task back."
        )
    if ((weight > 0.0) & (weight < 1.0 / LARGEST)).any():
        raise InvalidDataError(
            f"sample_weight has positive values below {1.0 / LARGEST:g}, whose products lose digits. Multiply all "
            "weights by the same number, or use 0 to leave a row out."
        )
    return weight


def check_single_target(y: Any) -> Any:
    """Return targets with one axis, those of a single column with scikit-learn's warning, or raise.

    Examples
    --------
    >>> from ridgeway.data import check_single_target
    >>> check_single_target([1.0, 2.0])
    [1.0, 2.0]
    >>> check_single_target([[1.0, 2.0]])
    Traceback (most recent call last):
    ...
    ridgeway.errors.InvalidDataError: y should be a 1d array, got ...
    """
    from sklearn.utils.validation import column_or_1d

    if y is None:
        return y
    y = from_arrow(y, "y")
    refuse_non_numbers(y, "y")
    shape = np.asarray(y).shape
    if len(shape) == 1:
        return y
    if shape[1:] != (1,):
        raise InvalidDataError(
            f"y should be a 1d array, got an array of shape {shape} instead. Pass one target per row."
        )
    return column_or_1d(np.asarray(y), warn=True)


def check_offset(offset: Any, n_samples: int) -> Array | None:
    """Return offsets as float64, one finite number per row, or raise; None if there are none.

    Examples
    --------
    >>> from ridgeway.data import check_offset
    >>> check_offset([0, 1], 2), check_offset(None, 2)
    (array([0., 1.]), None)
    """
    if offset is None:
        return None
    values = checked_numbers(offset, "offset")
    if values.shape != (n_samples,):
        raise InvalidDataError(f"offset has shape {values.shape}; it must be ({n_samples},), one number per row.")
    if not np.isfinite(values).all():
        raise InvalidDataError("offset contains NaN or infinity. Pass finite numbers, or drop those rows.")
    if (np.abs(values) > LARGEST_OFFSET).any():
        raise InvalidDataError(
            f"offset has values up to {np.abs(values).max():g}, so large that predictions would lose digits; the limit "
            f"is {LARGEST_OFFSET:g}. Pass logarithms or log-odds, such as the logarithm of the exposure."
        )
    return values


def _refuse_overflow(X: Any, y: Array, weight: Array | None) -> None:
    values = X.data if is_sparse(X) else X
    root = 1.0 if weight is None else np.sqrt(max(weight.max(), 1.0))
    for name, array in (("X", values), ("y", y)):
        largest = float(max(array.max(initial=0.0), -array.min(initial=0.0))) * root
        if largest > LARGEST:
            raise InvalidDataError(
                f"{name} has values whose squares overflow (up to {largest:.3g}, weight included; the limit is "
                f"{LARGEST:g}). Change the unit of that column."
            )


_REMEDIES = {
    "contains NaN": "Drop or impute those rows before learning.",
    "contains infinity": "Drop or clip those values before learning.",
    "too large for dtype": "Drop or clip those values before learning.",
    "Complex data": "Pass the real and imaginary parts as separate columns.",
    "inconsistent numbers of samples": "Pass one target per row of X.",
    "sample(s)": "Pass at least one row; leave out empty tasks.",
    "feature(s)": "Pass at least one column.",
    "Reshape your data": "A task is a table of shape (n_samples, n_features).",
    "features, but": "Start a new model, or select the columns that this one learned.",
    "y to be passed": "Pass the targets as y.",
    "1d array": "Pass one class label per row.",
    "feature names should match": "Pass X[model.feature_names_in_], or start a new model.",
}


@contextmanager
def typed_errors(estimator: "BaseEstimator | None") -> Iterator[None]:
    """Turn scikit-learn's errors into ours, its sentence kept and the remedy added."""
    try:
        yield
    except (NotImplementedError, OverflowError, TypeError, ValueError) as error:
        sentence = str(error).strip()
        remedy = next((text for key, text in _REMEDIES.items() if key in sentence), "Pass a table of real numbers.")
        known = getattr(estimator, "feature_names_in_", None)
        if known is not None and "features, but" in sentence:
            remedy = f"Select its columns {listed(known)}, or start a new model."
        message = f"{sentence} {remedy}" if sentence.endswith((".", "!")) else f"{sentence}. {remedy}"
        if isinstance(error, TypeError):
            raise InvalidDataTypeError(message) from error
        mismatch = "features, but" in sentence or "feature names should match" in sentence
        raise (FeatureMismatchError if mismatch else InvalidDataError)(message) from error
