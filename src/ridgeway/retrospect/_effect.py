"""How large the difference between a task and the past is, in the unit of the target."""

import numpy as np
import scipy
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.data import Task
from ridgeway.information import Inference
from ridgeway.retrospect._rotated import Seen
from ridgeway.retrospect._wald import Noise

LEVEL = 0.95
"""Of the intervals for differences of coefficients, all together."""
ROUNDING = 1e-6
"""The size, in standard deviations of the target, up to which a difference may be rounding."""


def squared_difference(seen: Seen, noise: Noise) -> Array:
    """Return the unbiased estimate of Σ w·(x·δ)² over the task's rows, intercept included, (n_targets,).

    The rows are U·diag(√b)·Vᵀ in the directions of the past's unit variance, so the sum is Σ_j b_j·δ_j². The estimate
    of δ_j has the variance σ² + σ_t²/b_j, and b_j·δ̂_j² = (1 + b_j)·d_j² therefore exceeds b_j·δ_j² by b_j·σ² + σ_t² on
    average. It is negative if past and task differ by less than noise explains. If the past leaves directions of the
    task undetermined, it estimates the smallest sum over all values that they may have.
    """
    b = seen.strengths[:, None]
    return np.asarray(((1.0 + b) * np.square(seen.gaps) - b * noise.past - noise.task).sum(axis=0))


def prediction_gains(seen: Seen, noise: Noise) -> tuple[Array, Array]:
    """Return what absorbing takes off Σ w·(x·(ŵ − w))² over the past's and over the task's rows, each (n_targets,).

    In each direction it is the gain of `Seen.gain_for_past` or `gain_for_task`, (2σ² − d²)·b/(1 + b) or
    (2σ_t² − d²)/(b(1 + b)), times what the rows know: 1 for the past and b for the task. Both are unbiased. They are
    finite even if one side alone leaves directions undetermined, because its own rows do not depend on them.
    """
    b, squares = seen.strengths, np.square(seen.gaps)
    return (b / (1.0 + b)) @ (2.0 * noise.past - squares), (1.0 / (1.0 + b)) @ (2.0 * noise.task - squares)


def coef_differences(known: Inference, alone: Inference, noise: Noise) -> tuple[Array, Array]:
    """Return task minus past for each term, (n_targets, n_terms), and intervals (n_targets, n_terms, 2).

    They are NaN if past or task does not determine the term. The intervals are Bonferroni's: they hold all together.
    """
    p, c = known.information.n_features, int(known.information.centered)
    functionals, on_intercept = np.eye(p + c)[c:], np.eye(1, p + c)[0] * c
    roots, both = known.whiten(functionals, on_intercept)
    task_roots, too = alone.whiten(functionals, on_intercept)
    both &= too
    means = [
        side.coef.T @ functionals + side.information.intercept(side.coef)[:, None] * on_intercept
        for side in (known, alone)
    ]
    variances, freedom = noise.of_difference(np.square(roots).sum(axis=0), np.square(task_roots).sum(axis=0))
    beyond = (1.0 - LEVEL) / (2.0 * max(int(both.sum()), 1))
    margins = scipy.special.stdtrit(freedom, 1.0 - beyond) * np.sqrt(variances)
    found = np.where(both, means[1] - means[0], np.nan)
    return found, np.stack([found - margins.T, found + margins.T], axis=-1)


def target_deviations(task: Task) -> Array:
    """Return the standard deviation of each target in the task, weighted, (n_targets,)."""
    mean = np.average(task.y, axis=0, weights=task.sample_weight)
    return np.asarray(np.sqrt(np.average(np.square(task.y - mean), axis=0, weights=task.sample_weight)))


def within_rounding(seen: Seen, task: Task) -> NDArray[np.bool_]:
    """Say of each target whether past and task differ by no more than rounding, noise included, (n_targets,)."""
    apart = (1.0 + seen.strengths) @ np.square(seen.gaps)
    return np.asarray(apart <= task.total_weight * np.square(ROUNDING * target_deviations(task)))
