"""Sparse matrices are checked before use: SciPy trusts their arrays, and may read beyond them if they do not fit."""

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway.errors import InvalidDataError

Values = Any
"""The entries of a matrix; not an array if it is malformed."""


def entries_of(X: Any) -> NDArray[Any]:
    """Return the entries of a sparse matrix, or raise `InvalidDataError` if its arrays do not fit together. O(nnz)."""
    if X.ndim != 2:
        raise InvalidDataError(f"X is sparse and has shape {X.shape}. Reshape your data: X has one row per sample.")
    try:
        values = _READERS[X.format](X)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        values = None
    if not isinstance(values, np.ndarray):
        raise InvalidDataError(
            f"X is a malformed sparse matrix: the arrays of its {X.format} format do not describe a matrix of shape "
            f"{X.shape}. Build it again from rows, columns and values (scipy.sparse.coo_array)."
        )
    return values


def _compressed(X: Any) -> Values:
    """Read csr, csc and bsr: the entries of row i are those from indptr[i] to indptr[i + 1]."""
    n_rows, n_columns = reversed(X.shape) if X.format == "csc" else X.shape
    ends, indices, values = X.indptr, X.indices, X.data
    if X.format == "bsr":
        if np.ndim(values) != 3 or n_rows % values.shape[1] or n_columns % values.shape[2]:
            return None
        n_rows, n_columns = n_rows // values.shape[1], n_columns // values.shape[2]
    if not _is_index(ends, n_rows + 1, len(indices) + 1) or ends[0] != 0 or (ends[1:] < ends[:-1]).any():
        return None
    fits = len(indices) == len(values) and _is_index(indices[: ends[-1]], ends[-1], n_columns)
    return values if fits else None


def _coordinates(X: Any) -> Values:
    """Read coo: a row and a column for each entry."""
    fits = all(_is_index(index, len(X.data), limit) for index, limit in zip(X.coords, X.shape, strict=True))
    return X.data if fits else None


def _diagonals(X: Any) -> Values:
    """Read dia: one row of entries per offset."""
    n_rows, n_columns = X.shape
    fits = X.data.ndim == 2 and _is_index(X.offsets + (n_rows - 1), len(X.data), n_rows + n_columns - 1)
    return X.data if fits and len(np.unique(X.offsets)) == len(X.offsets) else None


def _lists(X: Any) -> Values:
    """Read lil: a list of columns and a list of entries per row."""
    if not len(X.rows) == len(X.data) == X.shape[0] or [*map(len, X.rows)] != [*map(len, X.data)]:
        return None
    values = np.array([*chain.from_iterable(X.data)])
    columns = np.array([*chain.from_iterable(X.rows)], dtype=None if len(values) else np.intp)
    return values if _is_index(columns, len(values), X.shape[1]) else None


def _keys(X: Any) -> Values:
    """Read dok: a dictionary of entries by row and column."""
    pairs = np.array([*X.keys()], dtype=None if X.nnz else np.intp).reshape(-1, 2)
    fits = all(_is_index(pairs[:, axis], len(pairs), limit) for axis, limit in enumerate(X.shape))
    return np.array([*X.values()]) if fits else None


_READERS: dict[str, Callable[[Any], Values]] = {
    **dict.fromkeys(("csr", "csc", "bsr"), _compressed),
    "coo": _coordinates,
    "dia": _diagonals,
    "lil": _lists,
    "dok": _keys,
}


def _is_index(index: Any, length: int, limit: int) -> bool:
    """Return whether an array has `length` integers, none of them negative and all below `limit`."""
    if not isinstance(index, np.ndarray) or index.shape != (length,) or index.dtype.kind not in "iu":
        return False
    return length == 0 or bool(index.min() >= 0 and index.max() < limit)
