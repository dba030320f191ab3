"""A task and the past, rotated to directions in which they are independent."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ridgeway._checks import Array
from ridgeway.data import Task, dense
from ridgeway.information import Inference, Information, SquareRoot
from ridgeway.linalg import column_complement, svd_economic


class RowsAbout(NamedTuple):
    """A column of ones (if any), X and y about the past's means, weighted; squares and freedom left over."""

    ones: Array
    rows: Array
    targets: Array
    left: Array
    freedom: int


@dataclass(frozen=True, eq=False)
class Seen:
    """A task in the directions in which it and the past are independent, each of unit variance for the past.

    Attributes
    ----------
    strengths : ndarray of shape (q,)
        b_j: what the task knows about each direction, where the past knows 1.
    gaps : ndarray of shape (q, n_targets)
        d_j = (task's estimate − past's)/√(1 + 1/b_j), of variance σ² if the parameters are equal.
    left : ndarray of shape (n_targets,)
        Residual squares of the task.
    freedom : int
        Degrees of freedom of `left`.
    directions : ndarray of shape (q, n_terms)
        The directions as functions of the terms.
    past_moves, task_moves : ndarray of shape (n_features, q), or None
        What a unit of each direction moves in the coefficients of the past, or of the task, alone; None if the
        other knows a direction that it does not.
    """

    strengths: Array
    gaps: Array
    left: Array
    freedom: int
    directions: Array
    past_moves: Array | None
    task_moves: Array | None

    @classmethod
    def of(cls, known: Inference, task: Task, alone: SquareRoot) -> "Seen":
        if task.n_samples > alone.n_features + alone.centered:
            return cls.of_part(known, alone)
        return cls._rotated(known, _about(known.information, task))

    @classmethod
    def of_part(cls, known: Inference, alone: Information) -> "Seen":
        """Return the same from what is kept of a task, without its rows."""
        return cls._rotated(known, _kept(known.information, alone))

    @classmethod
    def _rotated(cls, known: Inference, task: RowsAbout) -> "Seen":
        held = known.information
        p, c, space = held.n_features, int(held.centered), known.row_space
        ones, rows, targets, left, freedom = task
        # What the past knows, whitened: ψ = [√W·b, values·basisᵀ·scale·w], estimated with unit variance.
        with np.errstate(divide="ignore"):
            inverse = np.where(space.scale > 0.0, 1.0 / space.scale, 0.0)
        moves = inverse[:, None] * space.basis / space.values
        inside = rows @ moves
        outside = rows - inside @ (space.values[:, None] * space.basis.T * space.scale)
        inside = np.hstack([ones / np.sqrt(held.total_weight), inside])
        targets = targets - rows @ known.coef  # as seen from the past's estimate, which is now 0
        rest = np.eye(len(rows))
        if space.rank < p:  # what the past does not know is free: only rows orthogonal to it can be compared
            rest = column_complement(outside, rows)
            inside, targets = rest.T @ inside, rest.T @ targets
        U, s, Vt = svd_economic(inside)
        projected = U.T @ targets
        freedom += len(targets) - len(s)
        left = left + np.square(targets - U @ projected).sum(axis=0)
        gaps = projected / np.sqrt(1.0 + np.square(s))[:, None]
        functions = Vt[:, c:] @ (space.values[:, None] * space.basis.T * space.scale)
        if c:
            on_intercept = Vt[:, :1] * np.sqrt(held.total_weight)
            functions = np.hstack([on_intercept, functions + on_intercept * held.mean[:p]])
        past_moves = moves @ Vt[:, c:].T if rest.shape[1] == len(rows) else None
        task_moves = None
        if len(s) == c + space.rank:  # the task knows all that the past knows
            task_moves = past_moves if past_moves is not None else _solved(ones, rows, rest @ (U * s))
        return cls(np.square(s), gaps, left, freedom, functions, past_moves, task_moves)

    def differences(self) -> Array:
        """Return the task's estimates of the directions minus the past's, (q, n_targets)."""
        return self.gaps * np.sqrt(1.0 + 1.0 / self.strengths)[:, None]

    def gain_for_past(self, noise: Array) -> Array:
        """Return the unbiased estimate of the gain of absorbing for the past, (n_targets,), given its noise variance.

        The pooled estimate of a direction is (past's + b·task's)/(1 + b), of variance (σ² + b·σ_t²)/(1 + b)² and bias
        δ·b/(1 + b); δ̂² exceeds δ² by σ² + σ_t²/b on average. In the estimate of the gain σ_t² cancels, and what is left
        is 2σ²·b/(1 + b) − (δ̂·b/(1 + b))². For the task it is the same with 1/b for b and σ_t² for σ².
        """
        return _gain(self.past_moves, self.strengths / (1.0 + self.strengths), self.gaps, noise)

    def gain_for_task(self, noise: Array) -> Array:
        """Return the same for the task, given its noise variance."""
        b = self.strengths
        return _gain(self.task_moves, 1.0 / (b * (1.0 + b)), self.gaps, noise)


def _gain(moves: Array | None, saved: Array, gaps: Array, noise: Array) -> Array:
    """Return the gain from the variance saved in each direction; infinite if there is no estimate to improve."""
    if moves is None:
        return np.full(len(noise), np.inf)
    moved = moves @ (np.sqrt(saved)[:, None] * gaps)
    return np.asarray(2.0 * noise * (np.square(moves).sum(axis=0) @ saved) - np.square(moved).sum(axis=0))


def _solved(ones: Array, rows: Array, targets: Array) -> Array:
    """Return the coefficients of the rows that give the targets, an intercept aside, (n_features, q)."""
    design = np.hstack([ones, rows])
    norms = np.sqrt(np.square(design).sum(axis=0))
    norms[norms == 0.0] = 1.0
    U, s, Vt = svd_economic(design / norms)
    return np.asarray((Vt.T @ ((U.T @ targets) / s[:, None]) / norms[:, None])[ones.shape[1] :])


def _kept(held: Information, alone: Information) -> RowsAbout:
    """Return as many rows as there are terms, which stand for those of a task."""
    p, c = held.n_features, int(held.centered)
    factor = alone.factor()
    root = np.sqrt(alone.total_weight)
    apart = root * ((alone.mean - held.mean) + (alone.mean_low - held.mean_low))
    rows = np.vstack([*([apart] * c), factor[:p]])
    ones = np.zeros((p + c, c))
    ones[:1] = root
    left, freedom = np.square(factor[p:, p:]).sum(axis=0), alone.n_samples - p - c
    return RowsAbout(ones, rows[:, :p], rows[:, p:], left, freedom)


def _about(held: Information, task: Task) -> RowsAbout:
    """Return the rows of a task themselves."""
    p, c = held.n_features, int(held.centered)
    root_weight = np.ones(task.n_samples) if task.sample_weight is None else np.sqrt(task.sample_weight)
    rows = np.hstack([dense(task.X), task.y]) - held.mean - held.mean_low
    rows *= root_weight[:, None]
    return RowsAbout(np.tile(root_weight[:, None], (1, c)), rows[:, :p], rows[:, p:], np.zeros(held.n_targets), 0)
