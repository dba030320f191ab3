"""The penalties of `crr:best`: λ_t of least expected error after task t, averaged over a few separate designs."""

import numpy as np

from ridgeway._checks import Array
from ridgeway.kernels import single_threaded
from ridgeway.research.simulation._core import updated_moment
from ridgeway.research.simulation._draws import REHEARSAL, Draws
from ridgeway.research.simulation._setting import Setting
from ridgeway.research.simulation._shared_task import Past, SharedTask

N_DESIGNS = 4
GRID = 65
ROUNDS = 6


def best_penalties(setting: Setting, seed: int, noise_variance: float) -> list[float]:
    """Return λ_1, …, λ_T, each of least expected error given those before it. O(T·p³) per design."""
    with single_threaded():
        p, drift = setting.n_features, setting.distance**2 / setting.n_features
        courses = [Draws(setting, seed, number, REHEARSAL).designs() for number in range(N_DESIGNS)]
        moments = [np.eye(p) for _ in courses]
        penalties = []
        for designs in zip(*courses, strict=True):
            tasks = [SharedTask(design, np.zeros((len(design.rows), 2)), Past.empty(p)) for design in designs]
            noise = [task.noise_moment(noise_variance, drift) for task in tasks]
            terms = [_terms(*entry) for entry in zip(tasks, moments, noise, strict=True)]
            values, errors, spread = (np.concatenate(part) for part in zip(*terms, strict=True))
            weight = least_error_weight(values, errors, spread)
            n_samples = designs[0].n_samples
            penalties.append(weight / n_samples)
            moments = [
                updated_moment(moment, task.equations, _gain(task, weight), entry)
                for task, moment, entry in zip(tasks, moments, noise, strict=True)
            ]
        return penalties


def _terms(task: SharedTask, moment: Array, noise: Array) -> tuple[Array, Array, Array]:
    """Return, for each eigenvector v of X_tᵀX_t with eigenvalue g > 0: g, vᵀMv, and the variance of vᵀX_tᵀy_t.

    The error after the task is a constant plus Σ_j (weight²·e_j + s_j)/(weight + g_j)² with weight n_tλ.
    """
    values, vectors = task.eigen
    seen = values > 1e-12 * values.max(initial=0.0)
    values, vectors = values[seen], vectors[:, seen]
    spread = (vectors * (noise @ vectors)).sum(axis=0)
    if task.is_dual:
        vectors, spread = (task.rows.T @ vectors) / np.sqrt(values), spread * values
    return values, (vectors * (moment @ vectors)).sum(axis=0), spread


def least_error_weight(values: Array, errors: Array, spread: Array) -> float:
    """Return the weight ≥ 0 that minimises Σ_j (weight²·e_j + s_j)/(weight + g_j)², by a grid that is refined."""
    if not len(values) or not spread.any():
        return 0.0

    def error(weights: Array) -> Array:
        column = weights[:, np.newaxis]
        return np.asarray(((column**2 * errors + spread) / (column + values) ** 2).sum(axis=1))

    turning = spread / values / np.maximum(errors, 1e-300)
    low, high = np.log(turning.min()) - 1.0, np.log(min(turning.max(), 1e12 * values.max())) + 1.0
    for _ in range(ROUNDS):
        grid = np.linspace(low, high, GRID)
        best = int(np.argmin(error(np.exp(grid))))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, GRID - 1)]
    return float(np.exp(grid[best]))


def _gain(task: SharedTask, weight: float) -> Array:
    values, vectors = task.eigen
    seen = values > 1e-12 * values.max(initial=0.0)
    inverse = np.where(seen, 1.0 / np.where(seen, values + weight, 1.0), 0.0)
    return task.lift((vectors * inverse) @ vectors.T)
