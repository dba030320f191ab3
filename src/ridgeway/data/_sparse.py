"""Sparse matrices are checked before use: SciPy trusts their arrays, and may read beyond them if they do not fit."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway.errors import InvalidDataError, InvalidDataTypeError

Values = Any
"""The entries of a matrix; not an array if it is malformed."""


def entries_of(X: Any) -> NDArray[Any]:
    """Return the entries of a sparse matrix, or raise `InvalidDataError` if its arrays do not fit together. O(nnz)."""
    if X.ndim != 2:
        raise InvalidDataError(f"X is sparse and has shape {X.shape}. Reshape your data: X has one row per sample.")
    if X.format not in _READERS:
        raise InvalidDataTypeError(
            f"X is a sparse matrix in {X.format} format; the formats {', '.join(_READERS)} are read. Pass X.tocsr()."
        )
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
    """Read csr and csc: the entries of row (or column) i are those from indptr[i] to indptr[i + 1]."""
    n_rows, n_columns = reversed(X.shape) if X.format == "csc" else X.shape
    ends, indices, values = X.indptr, X.indices, X.data
    if not _is_index(ends, n_rows + 1, len(indices) + 1) or ends[0] != 0 or (ends[1:] < ends[:-1]).any():
        return None
    fits = len(indices) == len(values) and _is_index(indices[: ends[-1]], ends[-1], n_columns)
    return values if fits else None


def _coordinates(X: Any) -> Values:
    """Read coo: a row and a column for each entry."""
    fits = all(_is_index(index, len(X.data), limit) for index, limit in zip(X.coords, X.shape, strict=True))
    return X.data if fits else None


_READERS: dict[str, Callable[[Any], Values]] = {"csr": _compressed, "csc": _compressed, "coo": _coordinates}


def _is_index(index: Any, length: int, limit: int) -> bool:
    """Return whether an array has `length` integers, none of them negative and all below `limit`."""
    if not isinstance(index, np.ndarray) or index.shape != (length,) or index.dtype.kind not in "iu":
        return False
    return length == 0 or bool(index.min() >= 0 and index.max() < limit)
