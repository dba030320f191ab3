"""Does a task share the model's parameter? Asked before it is absorbed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import fdtrc

from ridgeway._checks import Array, flag
from ridgeway.data import check_tasks
from ridgeway.errors import InferenceError
from ridgeway.information import Inference, SquareRoot
from ridgeway.retrospect._model import feature_names, least_squares_of, per_target, state_of
from ridgeway.retrospect._rotated import Seen
from ridgeway.weights import kept_share

FEW = 4
"""Degrees of freedom below which a variance is too uncertain for Welch's approximation."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """A task beside the model. With several targets each number is an array of shape (n_targets,).

    Attributes
    ----------
    f, p_value : float
        The test of equal parameters, intercept included: Wald's with both noise variances or, if `equal_noise`, Chow's.
    degrees_of_freedom : tuple
        Of the numerator, q, the number of directions that both know, and of the denominator.
    equal_noise : bool
        Whether the test assumes that past and task have the same noise variance.
    assumption : str
        What the test assumes, in words.
    noise_variance, task_noise_variance : float
        σ̂² of the past and of the task, each from its own residuals; both the same, from all residuals, if
        `equal_noise`.
    noncentrality : float
        Estimate of δᵀ(σ²J⁻¹ + σ_t²J_t⁻¹)⁻¹δ for parameters that differ by δ, set to 0 if it is negative, and so too
        large on average if δ is small. Under equal noise, absorbing helps in every direction if and only if the true
        value is at most 1 (`theory.pooling_gain`).
    gain_for_past, gain_for_task : float
        Unbiased estimates of how much absorbing lowers the error ‖ŵ − w‖²: for the past's parameter, against leaving
        the task out; and for the task's, against learning the task alone. Infinite if the past, or the task, alone
        leaves a direction undetermined that both together determine. Negative if absorbing harms.
    share : float
        The share of the past that `weights.Accumulated(decay="adaptive")` would leave in force: 1 unless the task
        contradicts the past.
    terms : tuple of str
        The intercept, if there is one, and the features.
    directions : ndarray of shape (q, n_terms)
        Linear functions of the terms of unit norm that both estimate, independently of each other; those that
        disagree most come first.
    differences : ndarray of shape (q,), or (n_targets, q)
        The task's estimate of each minus the past's.
    statistics : ndarray of shape (q,), or (n_targets, q)
        The differences divided by their standard errors; (Σ statistics²)/q is `f`.
    """

    f: Any
    p_value: Any
    degrees_of_freedom: tuple[int, Any]
    equal_noise: bool
    assumption: str
    noise_variance: Any
    task_noise_variance: Any
    noncentrality: Any
    gain_for_past: Any
    gain_for_task: Any
    share: float
    terms: tuple[str, ...]
    directions: Array
    differences: Array
    statistics: Array


def compare(model: Any, X: Any, y: Any, sample_weight: Any = None, *, equal_noise: bool = False) -> Comparison:
    """Ask whether a task shares the model's parameter, before it is absorbed. The model is left as it is.

    Past and task are rotated to directions in which they are independent. In each, the difference of the two estimates
    is divided by its standard error; each side has its own noise variance, and the degrees of freedom are the smallest
    that Welch's approximation gives for a direction (those of the smaller side if it has fewer than four). If one
    side has no residual degrees of freedom, such as a task with fewer rows than features, the test assumes equal noise
    and is Chow's F test in the directions that both know. The prior is left out. O((n + p)·p²).

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with `weights.Accumulated`.
    X, y, sample_weight : the task, as for `partial_fit`
    equal_noise : bool, default False
        Whether to assume that past and task have the same noise variance. Chow's test has more power if that is true;
        if the task is noisier, it rejects far too often.

    Raises
    ------
    InferenceError
        If no degrees of freedom are left, or the task and the past have no direction in common.

    References
    ----------
    Chow (1960); Welch (1947).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=60)
    >>> model = GeneralizedRidge().fit(X[:40], y[:40])
    >>> same = retrospect.compare(model, X[40:], y[40:])
    >>> other = retrospect.compare(model, X[40:], y[40:] + 5.0 * X[40:, 1])
    >>> bool(same.p_value > 0.1), bool(other.p_value < 1e-4), other.gain_for_past < 0.0 < same.gain_for_past
    (True, True, True)
    >>> same.assumption
    'each side has its own noise variance'
    """
    state, asked = state_of(model), flag(equal_noise, "equal_noise")
    known = least_squares_of(model)
    (task,) = check_tasks(model, X, y, sample_weight, first=False)
    state.origin.check_targets(task)
    task = task.counted() if state.origin.weight_kind == "frequency" else task
    alone = SquareRoot.empty(task.n_features, task.n_targets, centered=known.information.centered).add(task)
    seen = Seen.of(known, task, alone)
    share = kept_share(state, alone)
    if len(seen.strengths) == 0:
        raise InferenceError(
            "the task and the past have no direction in common, so there is nothing to compare. Absorb the task, or "
            "learn more rows first."
        )
    if known.degrees_of_freedom + seen.freedom < 1:
        raise InferenceError(
            f"no degrees of freedom are left for the comparison: {known.information.n_samples} rows of the past and "
            f"{task.n_samples} of the task fit exactly. Learn more rows."
        )
    equal = asked or min(known.degrees_of_freedom, seen.freedom) < 1
    assumption = "each side has its own noise variance"
    if equal:
        few = "the past has" if known.degrees_of_freedom < 1 else "the task has"
        why = "" if asked else f": {few} too few rows for a noise variance of its own"
        assumption = f"past and task have the same noise variance{why}"
    tested = _Tested.of(known, seen, equal)
    order = np.argsort(-np.square(tested.statistics).sum(axis=0), kind="stable")
    directions = seen.directions[order]
    norms = np.sqrt(np.square(directions).sum(axis=1))
    terms = feature_names(model)
    return Comparison(
        f=per_target(state, tested.f),
        p_value=per_target(state, tested.p_value),
        degrees_of_freedom=(len(order), per_target(state, tested.freedom)),
        equal_noise=equal,
        assumption=assumption,
        noise_variance=per_target(state, tested.noise),
        task_noise_variance=per_target(state, tested.task_noise),
        noncentrality=per_target(state, tested.noncentrality),
        gain_for_past=per_target(state, seen.gain_for_past(tested.noise)),
        gain_for_task=per_target(state, seen.gain_for_task(tested.task_noise)),
        share=share,
        terms=("intercept", *terms) if known.information.centered else tuple(terms),
        directions=directions / norms[:, None],
        differences=per_target(state, (seen.differences()[order] / norms[:, None]).T),
        statistics=per_target(state, tested.statistics[:, order]),
    )


@dataclass(frozen=True, eq=False)
class _Tested:
    """The test of each target: noise variances (n_targets,) and degrees of freedom, statistics (n_targets, q)."""

    noise: Array
    task_noise: Array
    freedom: Array
    statistics: Array

    @classmethod
    @np.errstate(divide="ignore", invalid="ignore")
    def of(cls, known: Inference, seen: Seen, equal: bool) -> "_Tested":
        past, task = known.degrees_of_freedom, seen.freedom
        if equal:
            noise = task_noise = (known.residual_squares + seen.left) / (past + task)
        else:
            noise, task_noise = known.residual_squares / past, seen.left / task
        of_task = task_noise / seen.strengths[:, None]
        variances = noise + of_task  # of the differences, (q, n_targets)
        freedom = np.full(len(noise), float(past + task if equal else min(past, task)))
        if not equal and min(past, task) >= FEW:
            welch = 1.0 / (np.square(noise / variances) / past + np.square(of_task / variances) / task)
            freedom = np.where(variances.all(axis=0), welch.min(axis=0), freedom)
        return cls(noise, task_noise, freedom, (seen.differences() / np.sqrt(variances)).T)

    @property
    def f(self) -> Array:
        """The mean of the squared statistics."""
        return np.asarray(np.square(self.statistics).mean(axis=1))

    @property
    def p_value(self) -> Array:
        """The probability of a larger F under equal parameters."""
        return np.asarray(fdtrc(self.statistics.shape[1], self.freedom, self.f), dtype=np.float64)

    @property
    def noncentrality(self) -> Array:
        """The excess of the squared statistics over their mean under equal parameters, at least 0."""
        shrunk = self.f * np.maximum(self.freedom - 2.0, 1.0) / self.freedom
        return np.asarray(np.maximum(self.statistics.shape[1] * (shrunk - 1.0), 0.0))
