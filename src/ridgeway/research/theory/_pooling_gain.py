"""Tasks that disagree: when pooling a task with the past helps, and when it hurts."""

from dataclasses import dataclass

import numpy as np

from ridgeway._checks import Array
from ridgeway.errors import InvalidParameterError
from ridgeway.linalg import definite_inverse
from ridgeway.research.theory._fixed_design import FixedDesignProblem


@dataclass(frozen=True, eq=False)
class PoolingGain:
    """What pooling each task with the past changes. NaN if the past is singular.

    Attributes
    ----------
    noncentrality : ndarray of shape (T,)
        κ = δᵀ(J⁻¹ + J_t⁻¹)⁻¹δ/σ². Up to 1, pooling helps in every direction, both for the past's parameter and for the
        task's; above 1, it hurts in some direction.
    gain_for_past : ndarray of shape (T,)
        How much pooling lowers E‖ŵ − w‖² for the past's parameter, compared with leaving the task out.
    gain_for_task : ndarray of shape (T,)
        The same for the task's parameter, compared with learning the task alone; infinite if X_t lacks full rank.

    Examples
    --------
    >>> from ridgeway.research import theory
    >>> coefs = [[0.0], [2.0]]  # the second task differs
    >>> problem = theory.FixedDesignProblem(
    ...     [[[2.0]], [[1.0]]], noise_variance=1.0, signal=[0.0], task_coefs=coefs
    ... )
    >>> found = theory.pooling_gain(problem)
    >>> found.noncentrality.round(2), found.gain_for_past.round(2)  # above 1, pooling hurts
    (array([nan, 3.2]), array([  nan, -0.11]))
    """

    noncentrality: Array
    gain_for_past: Array
    gain_for_task: Array


def pooling_gain(problem: FixedDesignProblem) -> PoolingGain:
    """Return, for each task of a problem with `task_coefs`, how much pooling it with the past helps or hurts.

    The past is pooled least squares with information J and mean w̄ = J⁻¹Σ_{τ<t} J_τw_τ; the task has J_t = X_tᵀX_t and
    differs by δ = w_t − w̄. With A = (J + J_t)⁻¹, pooling changes

    - for w̄: it lowers the variance by σ²(tr J⁻¹ − tr A) and adds the bias A·J_tδ;
    - for w_t: it lowers the variance by σ²(tr J_t⁻¹ − tr A) and adds the bias A·Jδ.

    In both cases it helps in every direction if and only if δδᵀ ⪯ σ²(J⁻¹ + J_t⁻¹), that is, κ ≤ 1 (the criterion of
    Toro-Vizcarrondo and Wallace, 1968, for restricted least squares). O(T·(n + p)·p²).

    Parameters
    ----------
    problem : FixedDesignProblem
        With `task_coefs`; its `signal` is not used.

    Examples
    --------
    >>> from ridgeway.research import theory
    >>> designs, coefs = [[[2.0]], [[1.0]]], [[0.0], [1.0]]
    >>> problem = theory.FixedDesignProblem(
    ...     designs, noise_variance=1.0, signal=[0.0], task_coefs=coefs
    ... )
    >>> found = theory.pooling_gain(problem)
    >>> found.noncentrality, found.gain_for_past, found.gain_for_task
    (array([nan, 0.8]), array([ nan, 0.01]), array([ nan, 0.16]))
    """
    if problem.task_coefs is None:
        raise InvalidParameterError(
            "pooling_gain() compares the parameters of tasks. Create the problem with task_coefs."
        )
    noise, rows = problem.noise_variance, []
    past, weighted = np.zeros((problem.signal.size,) * 2), np.zeros(problem.signal.size)
    for design, coef in zip(problem.designs, problem.task_coefs, strict=True):
        task = design.T @ design
        rows.append(_gains(past, weighted, task, coef, noise))
        past, weighted = past + task, weighted + task @ coef
    return PoolingGain(*np.array(rows).T)


def _gains(past: Array, weighted: Array, task: Array, coef: Array, noise: float) -> tuple[float, float, float]:
    inverse, pooled = definite_inverse(past), definite_inverse(past + task)
    if inverse is None or pooled is None:
        return np.nan, np.nan, np.nan
    apart = coef - inverse @ weighted
    alone = definite_inverse(task)
    for_past = noise * np.trace(inverse - pooled) - np.square(pooled @ (task @ apart)).sum()
    variance = np.inf if alone is None else noise * np.trace(alone - pooled)
    for_task = variance - np.square(pooled @ (past @ apart)).sum()
    return float(apart @ past @ pooled @ task @ apart / noise), float(for_past), float(for_task)
