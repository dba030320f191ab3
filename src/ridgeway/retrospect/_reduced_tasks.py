"""Tasks without what their own coefficients explain: all that questions about differences between tasks need."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ridgeway._checks import Array
from ridgeway.errors import InferenceError
from ridgeway.kernels import triangular_factor
from ridgeway.linalg import row_basis
from ridgeway.retrospect._compressed import by_task, compressed, without_prior
from ridgeway.retrospect._model import least_squares
from ridgeway.retrospect._reweighted import in_order
from ridgeway.retrospect._rounding import rounding_squares


@dataclass(frozen=True, eq=False)
class ReducedTasks:
    """Each task as a few independent rows [terms, targets], and what its own coefficients leave unexplained.

    What least squares on some tasks leaves is what it leaves of these rows, and `left` of each task.

    Attributes
    ----------
    names : tuple of str
        In the order of time.
    rows : tuple of ndarray of shape (rank, n_terms)
    right : ndarray of shape (Σ rank, n_targets)
        The targets of all these rows.
    left : ndarray of shape (n_tasks, n_targets, n_targets)
        Upper triangular: leftᵀ·left are the residual products of each task's own fit.
    freedom : ndarray of int of shape (n_tasks,)
        Their degrees of freedom.
    total_weight : ndarray of shape (n_tasks,)
    center : ndarray of shape (n_terms,)
        The sizes of what the columns were centred by.
    rounding : ndarray of shape (n_targets,)
        The squares that rounding alone can leave of all tasks together.
    """

    names: tuple[str, ...]
    rows: tuple[Array, ...]
    right: Array
    left: Array
    freedom: Array
    total_weight: Array
    center: Array
    rounding: Array

    @property
    def ends(self) -> Array:
        """Where the rows of each task end."""
        return np.cumsum([len(rows) for rows in self.rows])

    @property
    def n_terms(self) -> int:
        """The number of terms, the intercept included."""
        return len(self.center)

    @cached_property
    def basis(self) -> Array:
        """What all rows together can fit: orthonormal columns, of shape (Σ rank, total rank)."""
        stacked = np.vstack(self.rows)
        offset = np.sqrt(self.total_weight.sum()) * self.center
        return row_basis(stacked, size=min(stacked.shape), offset=offset)[1]

    def about_fit(self, right: Array) -> Array:
        """Return targets (Σ rank, m) less the fit of all tasks."""
        return np.asarray(right - self.basis @ (self.basis.T @ right))

    def divided(self, deviations: Array) -> "ReducedTasks":
        """Return the tasks with all rows divided by the noise standard deviation of their task, (n_tasks,)."""
        each = np.repeat(deviations, [len(rows) for rows in self.rows])
        return replace(
            self,
            rows=tuple(rows / deviation for rows, deviation in zip(self.rows, deviations, strict=True)),
            right=self.right / each[:, None],
            left=self.left / deviations[:, None, None],
            total_weight=self.total_weight / np.square(deviations),
        )

    def residual_squares(self) -> Array:
        """Return what the own coefficients of each task leave, of shape (n_tasks, n_targets)."""
        return np.asarray(np.square(self.left).sum(axis=1))


def reduced_tasks(model: Any, order: Any, question: str) -> ReducedTasks:
    """Return the tasks of a model in the order of time, or raise if there are fewer than two."""
    held = by_task(model)
    without_prior(model, question)
    if len(held.ids) < 2:
        raise InferenceError(f"{question} compares tasks, and the model has learned only one. Learn another one.")
    parts = {task: held.part(task) for task in in_order(held.ids, order)}
    few, p, intercept = compressed(model, parts), held.total.n_features, int(held.total.centered)
    rows, right, left, freedom = [], [], [], []
    for part, given in zip(parts.values(), few.rows, strict=True):
        top, own, rest = np.split(given, [intercept, intercept + p])
        X, y = own[:, intercept : intercept + p], own[:, intercept + p :]
        offset = np.sqrt(part.total_weight) * np.abs(part.mean[:p])
        kept, basis = row_basis(X, size=min(part.n_samples - intercept, p), offset=offset)
        if len(kept) == p:  # the one triangle with a positive diagonal: draws then do not depend on units or kernels
            basis = np.diag(np.copysign(1.0, np.diagonal(X)))
            kept = basis @ X
        rows.append(np.vstack([top[:, : intercept + p], np.pad(kept, ((0, 0), (intercept, 0)))]))
        right.append(np.vstack([top[:, intercept + p :], basis.T @ y]))
        unexplained = np.vstack([y - basis @ right[-1][intercept:], rest[:, intercept + p :]])
        left.append(triangular_factor(unexplained))
        freedom.append(part.n_samples - intercept - len(kept))
    return ReducedTasks(
        names=few.names,
        rows=tuple(rows),
        right=np.vstack(right),
        left=np.array(left),
        freedom=np.array(freedom),
        total_weight=few.total_weight,
        center=np.r_[np.zeros(intercept), np.abs(few.center[:p])],
        rounding=rounding_squares(least_squares(held.total)),
    )


def refuse_exact_fit(tasks: ReducedTasks, squares: Array) -> None:
    """Raise if what is left of a target, (…, n_targets), is not more than rounding."""
    if not (squares > tasks.rounding).all():
        raise InferenceError(
            "the coefficients fit the rows without noise, so chance cannot be told from change. Compare the "
            "coefficients themselves: retrospect.coefficient_path(model, window=1)."
        )
