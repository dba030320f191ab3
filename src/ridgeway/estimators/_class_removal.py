"""States without the rows of some classes."""

from dataclasses import replace
from typing import Any

import numpy as np

from ridgeway._checks import Array
from ridgeway.data import Label, Task, class_name, listed_classes
from ridgeway.errors import RemovalError
from ridgeway.information import class_weights
from ridgeway.weights import TaskKeeper

ROUNDING = 1e-9
"""The share of a class's weight that is rounding: less than that is left if all of its rows are removed."""


def without_class(state: Any, label: Label) -> Any:
    """Return a state as if no row of a class had been learned, or raise."""
    classes = state.origin.classes
    if not isinstance(state, TaskKeeper):
        raise RemovalError(
            "a class can be removed without its rows from a model with information='by_task', which keeps the classes "
            "apart. From this one, remove its rows."
        )
    if label not in classes:
        raise RemovalError(f"there is no class {label!r}. The classes are {listed_classes(classes)}.")
    left = state.by_task.without_cluster(class_name(classes[classes.index(label)]))
    if left.tree is None:
        raise RemovalError(f"{label!r} is the only class: nothing would remain. Start a new model.")
    rest = tuple(other for other in classes if other != label)
    changed: Any = state.with_tasks(left)
    return changed.with_classes(rest)


def without_empty_classes(state: Any, before: Array) -> Any:
    """Return a state without the classes whose rows are all gone, given how much they weighed before."""
    gone = (before > 0.0) & (class_weights(state.information) <= ROUNDING * before)
    return _with_the_rest(state, gone) if gone.any() else state


def without_rows(state: Any, rows: Task) -> Any:
    """Return a state without rows. The target of a class without any others is left out first: it would be 0."""
    before = class_weights(state.information)
    weight = np.ones(rows.n_samples) if rows.sample_weight is None else rows.sample_weight
    gone = (before > 0.0) & (before - weight @ rows.y <= ROUNDING * before)
    if gone.all():
        raise RemovalError("these are all rows of all classes: nothing would remain. Start a new model.")
    if gone.any():
        state = _with_the_rest(state, gone)
        rows = replace(rows, y=rows.y[:, ~gone], n_targets=int((~gone).sum()), classes=state.origin.classes)
    return state.remove(rows)


def _with_the_rest(state: Any, gone: Any) -> Any:
    return state.with_classes(tuple(np.array(state.origin.classes, dtype=object)[~gone]))
