"""Dask collections as lists of partitions."""

from typing import Any

from ridgeway.errors import InvalidDataError, InvalidDataTypeError


def is_partitioned(data: Any) -> bool:
    """Return whether data are a Dask collection, or a list of delayed tables or futures."""
    first = data[0] if isinstance(data, list | tuple) and data else data
    return hasattr(first, "__dask_graph__") or _is_future(first)


def _is_future(data: Any) -> bool:
    return type(data).__module__.startswith("distributed.")


def delayed_tables(data: Any) -> list[Any]:
    """Return the partitions of a dask DataFrame or array, or a list of delayed tables or futures as it is."""
    if isinstance(data, list | tuple):
        return list(data)
    if not hasattr(data, "to_delayed"):
        raise InvalidDataTypeError(f"cannot take partitions from {type(data).__name__}. Pass a Dask collection.")
    return list(data.to_delayed().ravel() if hasattr(data, "chunks") else data.to_delayed())


def paired(X: Any, others: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the partitions of X and of what belongs to its rows, such as y, cut at the same places."""
    parts = {"X": delayed_tables(X)}
    for name, data in others.items():
        if hasattr(X, "chunks") and hasattr(data, "chunks"):
            data = data.rechunk({0: X.chunks[0]} | dict.fromkeys(range(1, data.ndim), -1))
        parts[name] = delayed_tables(data)
        if len(parts[name]) != len(parts["X"]):
            raise InvalidDataError(
                f"X has {len(parts['X'])} partitions; {name} has {len(parts[name])}. Cut both at the same rows."
            )
    return parts
