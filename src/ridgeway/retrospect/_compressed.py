"""Tasks as a few rows each: what the questions about tasks are computed from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ridgeway._checks import Array
from ridgeway.errors import InferenceError, InvalidParameterError
from ridgeway.information import ByTask, Information
from ridgeway.retrospect._model import feature_names, state_of, whole_information
from ridgeway.weights import TaskKeeper


@dataclass(frozen=True, eq=False)
class CompressedTasks:
    """Few rows that stand for the rows of each task: their sums of products are the same, so least squares is too.

    A row is a = [1, x, y], or [x, y] without an intercept. With one, x and y are taken about their means over all
    tasks, so that a large offset costs no digits.

    Attributes
    ----------
    names : tuple of str
        The tasks in the order in which they were learned, or the clusters.
    rows : ndarray of shape (n_tasks, m, m), m = n_terms + n_targets
        `rows[g].T @ rows[g]` is Σ w·aaᵀ over the rows of task g.
    center : ndarray of shape (n_features + n_targets,)
        What x and y are taken about; zero without an intercept.
    n_samples : ndarray of int of shape (n_tasks,)
    total_weight : ndarray of shape (n_tasks,)
    terms : tuple of str
        The intercept, if there is one, and the features.
    """

    names: tuple[str, ...]
    rows: Array
    center: Array
    n_samples: Array
    total_weight: Array
    terms: tuple[str, ...]

    @property
    def X(self) -> Array:
        """The columns of the terms, of shape (n_tasks, m, n_terms)."""
        return self.rows[:, :, : len(self.terms)]

    @property
    def y(self) -> Array:
        """The columns of the targets, of shape (n_tasks, m, n_targets)."""
        return self.rows[:, :, len(self.terms) :]

    @property
    def is_centered(self) -> bool:
        """Whether there is an intercept."""
        return bool(self.rows.shape[1] > len(self.center))

    def uncentered(self, coef: Array) -> Array:
        """Return coefficients (n_terms, n_targets) for rows about `center` as those for the user's rows."""
        if not self.is_centered:
            return coef
        p = len(self.terms) - 1
        moved = coef.copy()
        moved[0] += self.center[p:] - self.center[:p] @ coef[1:]
        return moved

    def back(self) -> Array:
        """Return B, (n_terms, n_terms): what `uncentered` does to a difference of coefficients, and B·V·Bᵀ to V."""
        matrix = np.eye(len(self.terms))
        if self.is_centered:
            matrix[0, 1:] = -self.center[: len(self.terms) - 1]
        return matrix


def by_task(model: Any) -> ByTask:
    """Return the memory of each task that a model keeps, or raise if it keeps none or if rows have faded."""
    tasks = tasks_of(model)
    whole_information(model)
    return tasks


def tasks_of(model: Any) -> ByTask:
    """Return the memory of each task that a model keeps, whatever its rows count, or raise if it keeps none."""
    state = state_of(model)
    if not isinstance(state, TaskKeeper):
        raise InvalidParameterError(
            "this question is about tasks, and the model keeps only their total. Learn with "
            'GeneralizedRidge(information="by_task"), or `ridgeway init --keep tasks`.'
        )
    return state.by_task


def without_prior(model: Any, question: str) -> None:
    """Raise if a model has a prior or a start other than 0: the question is about least squares."""
    state = state_of(model)
    if state.prior is None or state.prior.any() or state.origin.coef.any():
        raise InferenceError(
            f"{question} is about least squares; this model has a prior or an initial_coef. Learn without them."
        )


def compressed(model: Any, parts: Mapping[str, Information] | None = None) -> CompressedTasks:
    """Return the tasks of a model, or other parts of its rows such as clusters, as a few rows each."""
    held = by_task(model)
    parts, total = held.parts() if parts is None else parts, held.total
    p, k = total.n_features, total.n_targets
    rows = np.zeros((len(parts), total.centered + p + k, total.centered + p + k))
    for row, part in zip(rows, parts.values(), strict=True):
        row[total.centered :, total.centered :] = part.factor()
        if total.centered:
            gap = (part.mean - total.mean) + (part.mean_low - total.mean_low)
            row[0] = np.sqrt(part.total_weight) * np.r_[1.0, gap]
    intercept = ["intercept"] if total.centered else []
    return CompressedTasks(
        tuple(parts),
        rows,
        total.mean + total.mean_low,
        np.array([part.n_samples for part in parts.values()]),
        np.array([part.total_weight for part in parts.values()]),
        (*intercept, *feature_names(model)),
    )
