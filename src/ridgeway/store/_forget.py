"""Removal of a task that was the only one to have a category: what remains is known to be 0 there."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.data import Block, Label, Schema, Task, dense
from ridgeway.information import class_weights
from ridgeway.linalg import EPS
from ridgeway.weights import Retained

ROUNDING = 1e-12
"""A sum of a column of zeros and ones that is below this share of what is removed is 0.

Rounding stays below it, and rows that remain must weigh more.
"""
SHARE_OF_ROUNDING = 64 * EPS
"""The same as a share of √(W·peak), W being the weight of all rows: what the mean of the column may have lost.

It matters for a rare level that was once the reference, so that its mean is 1 minus large numbers.
"""
ROUNDING_OF_CLASSES = 1e-9
"""The same for the weight of a class, which is a mean times the weight of all rows."""


class Forgetting:
    """Removes the rows of a task from a state, part by part.

    A column of zeros and ones whose ones are all in these rows is 0 in the others, and so are products with it. Such
    columns are taken out first and come back as columns that were always 0: only the others must keep full rank. The
    same goes for classes that no other rows have.

    Parameters
    ----------
    state : Retained
        With `remove`.
    schema : Schema
    sums : ndarray of shape (n_features,)
        Σ w·x over the rows to remove.
    by_class : dict of label to float, optional
        Σ w of each class over the rows to remove.
    """

    def __init__(
        self, state: Retained, schema: Schema, sums: Array, by_class: Mapping[Label, float] | None = None
    ) -> None:
        self._state: Any = state
        self._classes = state.origin.classes
        if self._classes is not None:
            weights = dict(zip(self._classes, class_weights(state.information), strict=True))
            removed = {label: (by_class or {}).get(label, 0.0) for label in self._classes}
            rest = tuple(c for c in self._classes if not 0.0 < weights[c] <= (1.0 + ROUNDING_OF_CLASSES) * removed[c])
            self._state = state = state.with_classes(rest or self._classes)
        gone = _gone(state, schema, sums)
        self._gone = gone if not gone.all() else np.zeros_like(gone)
        self._prior = None if state.prior is None else state.prior[self._gone]
        if self._gone.any():
            self._state = state.select(np.flatnonzero(~self._gone))

    def remove(self, task: Task) -> None:
        """Remove some of the rows, or raise `RemovalError`."""
        if self._gone.any():
            X = np.asfortranarray(dense(task.X)[:, ~self._gone])
            task = replace(task, X=X, n_features=X.shape[1], feature_names=None)
        kept = self._state.origin.classes
        if kept != self._classes:
            y = task.y[:, [label in kept for label in task.classes or ()]]
            task = replace(task, y=y, n_targets=len(kept), classes=kept)
        self._state = self._state.remove(task)

    def state(self) -> Any:
        """Return the state of the rows that remain."""
        if self._state.origin.classes != self._classes:
            self._state = self._state.with_classes(self._classes)
        if not self._gone.any():
            return self._state
        places = np.where(self._gone, -1, np.cumsum(~self._gone) - 1)
        n_targets = self._state.information.n_targets
        past = np.zeros(len(places) + n_targets)
        return self._state.widened(places, np.arange(n_targets), past, self._prior)


def class_sums(block: Block) -> dict[Label, float]:
    """Return Σ w of each class over the rows of a block; nothing if the target is not a class."""
    family = block.schema.family
    columns, classes = (block.y, None) if family is None else family.targets(block.y)
    if classes is None:
        return {}
    weight = np.ones(len(columns)) if block.sample_weight is None else block.sample_weight
    return dict(zip(classes, (weight @ columns).tolist(), strict=True))


def _gone(state: Retained, schema: Schema, sums: Array) -> NDArray[np.bool_]:
    """Return which features are 0 in all rows that remain."""
    if schema.raw is None or (state.prior is not None and state.prior.ndim > 1):
        return np.zeros(len(sums), dtype=bool)
    held, p = state.information, len(sums)
    # Without an intercept there are no means, but the squares of zeros and ones are these numbers themselves.
    sum_of_all = held.total_weight * (held.mean + held.mean_low) if held.centered else np.diag(held.moments())
    totals = sum_of_all[:p]
    bounds = ROUNDING * sums
    if held.centered:
        bounds = bounds + SHARE_OF_ROUNDING * np.sqrt(held.total_weight * held.peak[:p])
    empty = (sums > 0.0) & (np.abs(totals - sums) <= bounds)
    return np.array(schema.raw.always_zero({schema.features[j] for j in np.flatnonzero(empty)}), dtype=bool)
