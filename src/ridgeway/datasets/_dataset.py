"""What a loader returns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table, with its target, its features and its tasks.

    Attributes
    ----------
    name : str
    columns : mapping of str to ndarray of shape (n_rows,)
        Missing values are NaN in numeric columns and None in text columns. `pandas.DataFrame`, `polars.DataFrame` and
        `pyarrow.table` accept the mapping as it is.
    target : str
        The column to predict.
    task_columns : tuple of str
        The columns whose values together name a task.
    features : tuple of str
        The columns to predict from.
    source : str
        Who collected it, and its licence.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.datasets import Dataset
    >>> columns = {"site": np.array(["a", "b"]), "x": np.ones(2), "y": np.zeros(2)}
    >>> mine = Dataset("mine", columns, "y", ("site",), ("x",), "measured by us")
    >>> mine.n_rows, mine.columns[mine.target]
    (2, array([0., 0.]))
    """

    name: str
    columns: Mapping[str, NDArray[Any]]
    target: str
    task_columns: tuple[str, ...]
    features: tuple[str, ...]
    source: str

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[self.target])
