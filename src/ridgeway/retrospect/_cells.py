"""Numbers as the cells of tables, and tables as DataFrames."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway._checks import Array
from ridgeway._optional import require

if TYPE_CHECKING:
    from pandas import DataFrame


def framed(table: Array, labels: Sequence[str], columns: Sequence[str], name: str) -> "DataFrame":
    """Return a table as a pandas DataFrame: one row per label, and per target if there are several.

    Parameters
    ----------
    table : ndarray of shape (n_labels, n_columns) or (n_targets, n_labels, n_columns)
    labels, columns : the names of rows and columns
    name : what the labels are
    """
    require("pandas", extra="frame")
    from pandas import DataFrame, MultiIndex

    if table.ndim == 2:
        return DataFrame(table, index=list(labels), columns=list(columns))
    index = MultiIndex.from_product([range(len(table)), labels], names=["target", name])
    return DataFrame(np.concatenate(table), index=index, columns=list(columns))


def cells(values: Iterable[float], kind: str = ".4g") -> list[str]:
    """Return numbers as text, with a dash for NaN."""
    return [number(value, kind) for value in values]


def number(value: Any, kind: str = ".4g") -> str:
    """Return a number as text, and a dash for NaN."""
    return "–" if np.isnan(value) else format(value, kind)


def targets(values: Array, single: bool) -> Array:
    """Return values (n_targets, …) with the axis of the targets, even if the answer has none."""
    return values[None] if single else values
