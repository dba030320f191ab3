"""Fit and predict on Dask collections."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ridgeway.distributed._fixed_tree import FixedTree, Place
from ridgeway.distributed._partitions import paired
from ridgeway.distributed._window import PATIENCE, completed, connected, require_dask
from ridgeway.errors import InvalidDataError, InvalidParameterError
from ridgeway.kernels import single_threaded
from ridgeway.weights import Mergeable, TaskKeeper

Model = TypeVar("Model", bound=Any)


def fit(model: Model, X: Any, y: Any, sample_weight: Any = None, *, client: Any, patience: float = PATIENCE) -> Model:
    """Return a fitted copy of a model that has learned the rows of a Dask collection as one task.

    Each partition is learned where it is; what it leaves is merged in a fixed tree. So the bits depend on how the rows
    are partitioned, not on the workers.

    Parameters
    ----------
    model : GeneralizedRidge or GeneralizedRidgeClassifier that keeps all rows
        It is not changed.
    X : dask array or DataFrame, or list of delayed tables or futures
        An array is cut along its rows only: if not, it is rechunked.
    y : dask array or Series, list of delayed or futures, or the name of a column of X
    sample_weight : like y, optional
    client : distributed.Client
    patience : float, default 60.0
        Seconds for which the cluster may be without any worker. Then the call ends with `WorkError`.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from ridgeway import GeneralizedRidge, distributed
    >>> X, y = np.arange(6.0).reshape(6, 1), np.array([1.0, 2.0, 2.0, 4.0, 4.0, 6.0])
    >>> with Client(processes=False, n_workers=1, dashboard_address=None) as client:
    ...     parts = da.from_array(X, chunks=(2, 1)), da.from_array(y, chunks=2)
    ...     model = distributed.fit(GeneralizedRidge(), *parts, client=client)
    >>> np.allclose(model.coef_, GeneralizedRidge().fit(X, y).coef_), model.n_tasks_
    (True, 1)
    """
    require_dask()
    from dask import delayed
    from sklearn.base import clone

    if hasattr(X, "chunks") and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    columns = {"y": y, "sample_weight": sample_weight}
    named = {name: column for name, column in columns.items() if isinstance(column, str)}
    parts = paired(X, {name: data for name, data in columns.items() if data is not None and name not in named})
    learn, blank = delayed(_learned, pure=False), clone(model)

    def submit(number: int) -> Any:
        data = {name: tables[number] for name, tables in parts.items()}
        return client.compute(learn(blank, data, named))

    n_parts = len(parts["X"])
    tree = FixedTree[Any](n_parts, _merged)
    names = [f"partition {number} failed" for number in range(n_parts)]
    cluster = connected(client, patience)
    for number, fitted in completed(cluster, submit, names, range(n_parts), "partitions were learned"):
        tree.put(Place(0, number), fitted)
    fitted = tree.root
    if fitted is None:
        raise InvalidDataError("there are no rows to learn: all partitions are empty. Pass rows.")
    whole: Model = fitted._with(replace(fitted.state_, n_tasks=1))
    return whole


def _learned(model: Any, data: dict[str, Any], named: dict[str, str]) -> Any:
    """Return a model that has learned one partition, or None if it has no rows."""
    X = data.pop("X")
    for name, column in named.items():
        data[name] = X[column]
    if named:
        X = X.drop(columns=list(named.values()))
    if not len(X):
        return None
    with single_threaded():
        fitted = model.fit(X, **data)
    if not isinstance(fitted.state_, Mergeable) or isinstance(fitted.state_, TaskKeeper):
        raise InvalidParameterError(
            f"{model!r} cannot learn a task in parts. Use weights.Accumulated() with decay=1.0, and information="
            "'square_root' or 'moments'."
        )
    return fitted


def _merged(left: Any, right: Any) -> Any:
    """Return the model of two partitions, either of which may be empty."""
    if left is None or right is None:
        return right if left is None else left
    with single_threaded():
        return left.merge(right)


def predict(model: Any, X: Any) -> Any:
    """Return predictions for a Dask collection, one partition for each of X. Nothing is computed yet.

    Parameters
    ----------
    model : fitted model
    X : dask array or DataFrame, or list of delayed tables or futures

    Returns
    -------
    A dask array for an array; for a DataFrame a dask Series with its index, or a DataFrame if there are several
    targets; a list of delayed arrays for a list.

    Examples
    --------
    >>> import dask.array as da
    >>> from ridgeway import GeneralizedRidge, distributed
    >>> model = GeneralizedRidge().fit([[0.0], [1.0]], [1.0, 3.0])
    >>> found = distributed.predict(model, da.from_array([[2.0], [3.0]], chunks=1))
    >>> found.compute().round(6)
    array([5., 7.])
    """
    require_dask()
    from dask import delayed

    if isinstance(X, list | tuple):
        learned = delayed(model)
        return [learned.predict(table) for table in X]
    if hasattr(X, "chunks"):
        targets = np.shape(model.intercept_)
        axis: dict[str, Any] = {"chunks": (X.chunks[0], targets)} if targets else {"drop_axis": 1}
        return X.rechunk({1: -1}).map_blocks(model.predict, dtype=float, **axis)
    return X.map_partitions(_predicted, model, meta=_predicted(X._meta, model))


def _predicted(table: Any, model: Any) -> Any:
    """Return the predictions for a pandas table, with its index."""
    import pandas as pd

    found = model.predict(table) if len(table) else np.empty((0, *np.shape(model.intercept_)))
    if found.ndim == 1:
        return pd.Series(found, index=table.index, name="prediction")
    return pd.DataFrame(found, index=table.index, columns=[f"prediction {j}" for j in range(found.shape[1])])
