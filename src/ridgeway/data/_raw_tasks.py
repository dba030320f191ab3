"""Rows that are not numbers yet, cut into tasks: what a pipeline hands to its first step."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from ridgeway.data._refusals import from_arrow, refuse_shuffled_index
from ridgeway.data._validation import groups, typed_errors


def raw_tasks(X: Any, y: Any, sample_weight: Any = None, labels: Any = None) -> Iterator[tuple[Any, Any, Any]]:
    """Yield (X, y, sample_weight) of each task, in order of first appearance of its label. The values are not checked.

    Parameters
    ----------
    X, y, sample_weight : what the user passed; y and sample_weight may be None
    labels : one label per row, or None for a single task

    Examples
    --------
    >>> from ridgeway.data import raw_tasks
    >>> tasks = raw_tasks([["a"], ["b"], ["c"]], [1, 2, 3], labels=[7, 8, 7])
    >>> [(X, y) for X, y, _ in tasks]
    [([['a'], ['c']], [1, 3]), ([['b']], [2])]
    """
    from sklearn.utils import _safe_indexing
    from sklearn.utils.validation import check_consistent_length

    given = {"X": X, "y": y, "sample_weight": sample_weight, "tasks": labels}
    for one, other in combinations(given, 2):
        refuse_shuffled_index(given[one], given[other], (one, other))
    if labels is None:
        yield X, y, sample_weight
        return
    per_row = [data if np.ndim(data) else None for data in (y, sample_weight)]
    with typed_errors(None):
        check_consistent_length(X, *per_row)
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    for _, index in groups(from_arrow(labels, "tasks"), n_samples):
        part, weight = (None if data is None else _safe_indexing(data, index) for data in per_row)
        yield _safe_indexing(X, index), part, sample_weight if weight is None else weight
