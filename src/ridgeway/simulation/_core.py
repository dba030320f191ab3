"""One repetition: its tasks in turn, all methods on each, one task's numbers in cache at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeway.simulation._draws import REPETITION, Draws
from ridgeway.simulation._methods import Method, PooledMethod
from ridgeway.simulation._setting import Setting
from ridgeway.simulation._task import Past, SharedTask

__all__ = ["Outcome", "drawn_repetition", "exact_repetition", "updated_moment"]

Array = NDArray[np.float64]
Methods = Sequence[Method | PooledMethod]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a repetition leaves: L noise levels, M methods, T tasks, p directions.

    Attributes
    ----------
    errors : ndarray of shape (L, M, T)
        ‖ŵ_t − w_*‖², or its expectation given the designs.
    direction_errors : ndarray of shape (L, M, p)
        The same after the last task, direction by direction.
    information : ndarray of shape (p,)
        Σ_t n_tΣ_t of the population in each direction.
    """

    errors: Array
    direction_errors: Array
    information: Array


def drawn_repetition(
    setting: Setting, methods: Methods, seed: int, repetition: int, best_penalties: Mapping[float, Sequence[float]]
) -> Outcome:
    """Draw the noise. Estimates are linear in w_* and ε: two columns serve every noise level."""
    draws = Draws(setting, seed, repetition)
    levels = setting.noise_variance
    mixes = np.array([np.ones(len(levels)), np.sqrt(levels)])
    p = setting.n_features
    coefs = [np.zeros((p, len(levels) if method.uses_noise else 2)) for method in methods]
    estimates = np.empty((len(methods), p, len(levels)))
    errors = np.empty((len(levels), len(methods), setting.n_tasks))
    true_coef = draws.true_coef[:, np.newaxis]
    past = Past.empty(p)
    for t, design in enumerate(draws.designs()):
        task = SharedTask(design, draws.targets(design), past, _at(best_penalties, t))
        for i, method in enumerate(methods):
            coefs[i] = _learned(method, task, coefs[i], levels, mixes)
            estimates[i] = coefs[i] if method.uses_noise else coefs[i] @ mixes
        errors[:, :, t] = np.square(estimates - true_coef).sum(axis=1).T
        past = task.pooled
    information, vectors = draws.directions
    gaps = estimates - true_coef
    seen = gaps if vectors is None else np.matmul(vectors.T, gaps)
    return Outcome(errors, np.square(seen).transpose(2, 0, 1), information)


def _learned(
    method: Method | PooledMethod, task: SharedTask, coef: Array, levels: Sequence[float], mixes: Array
) -> Array:
    """Return the estimates after the task: a column per noise level, or one for the signal and one for the noise."""
    if isinstance(method, PooledMethod):
        if not method.uses_noise:
            return method.estimate(task, np.eye(2))
        return np.hstack([method.estimate(task, mix[:, np.newaxis]) for mix in mixes.T])
    if not method.uses_noise:
        return coef + method.gain(task, np.nan)(task.right_sides - task.equations @ coef)
    residuals = task.right_sides @ mixes - task.equations @ coef
    steps = [method.gain(task, level)(residuals[:, k : k + 1]) for k, level in enumerate(levels)]
    return coef + np.hstack(steps)


def exact_repetition(
    setting: Setting, methods: Methods, seed: int, repetition: int, best_penalties: Mapping[float, Sequence[float]]
) -> Outcome:
    """Compute the expectation given the designs: over the noise, over w_* and over the parameters of tasks."""
    draws = Draws(setting, seed, repetition, REPETITION)
    levels, p = setting.noise_variance, setting.n_features
    drift = setting.distance**2 / p
    moments = [[np.eye(p) for _ in levels] for _ in methods]
    errors = np.empty((len(levels), len(methods), setting.n_tasks))
    scatter = [np.zeros((p, p)) for _ in levels]
    pools = any(isinstance(method, PooledMethod) for method in methods)
    past = Past.empty(p)
    for t, design in enumerate(draws.designs()):
        task = SharedTask(design, np.zeros((len(design.rows), 2)), past, _at(best_penalties, t))
        noise = [task.noise_moment(level, drift) for level in levels]
        if pools:
            scatter = [sum_ + task.scatter(level, drift) for sum_, level in zip(scatter, levels, strict=True)]
        for i, method in enumerate(methods):
            moments[i] = _expected(method, task, moments[i], noise, scatter, levels)
            errors[:, i, t] = [np.trace(moment) for moment in moments[i]]
        past = task.pooled
    information, vectors = draws.directions
    seen = np.empty((len(levels), len(methods), p))
    for i, k in np.ndindex(len(methods), len(levels)):
        moment = moments[i][k]
        seen[k, i] = np.diagonal(moment) if vectors is None else (vectors * (moment @ vectors)).sum(axis=0)
    return Outcome(errors, seen, information)


def _expected(
    method: Method | PooledMethod,
    task: SharedTask,
    moments: list[Array],
    noise: list[Array],
    scatter: list[Array],
    levels: Sequence[float],
) -> list[Array]:
    """Return E[(ŵ_t − w_*)(ŵ_t − w_*)ᵀ] after the task, for each noise level."""
    if isinstance(method, PooledMethod):
        if method.second_moment is None:
            raise TypeError(f"{method.name} has no exact error")
        return [method.second_moment(task, entry) for entry in scatter]
    unit = np.eye(len(task.equations))
    gains = [method.gain(task, level)(unit) for level in (levels if method.uses_noise else levels[:1])]
    each = gains if method.uses_noise else gains * len(levels)
    return [updated_moment(m, task.equations, gain, r) for m, gain, r in zip(moments, each, noise, strict=True)]


def updated_moment(moment: Array, equations: Array, gain: Array, noise: Array) -> Array:
    """Return (I − KZ)·M·(I − KZ)ᵀ + K·R·Kᵀ, symmetric, in four products of shape (m, p). O(m·p²)."""
    seen = equations @ moment
    half = seen - 0.5 * ((seen @ equations.T + noise) @ gain.T)
    change = gain @ half
    return np.asarray(moment - change - change.T)


def _at(best_penalties: Mapping[float, Sequence[float]], t: int) -> dict[float, float]:
    return {level: penalties[t] for level, penalties in best_penalties.items()}
