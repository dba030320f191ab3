"""How much of the past a task leaves standing: the share under which the task is most probable."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from ridgeway._checks import Array
from ridgeway.information._base import Information
from ridgeway.information._evidence import Spectrum, learn_from
from ridgeway.kernels import solve_triangular
from ridgeway.linalg import cholesky_root

DECISIVE = 2.0 * np.log(100.0)
"""The gain in −2·log likelihood at which the past counts as different: odds of a hundred to one."""
POINTS = 16


def evidence_decay(past: Information, task: Information, start: Array) -> float:
    """Return γ in [0, 1], by which the weight of the past is best multiplied before the task is added.

    Given the past, w ~ N(m, σ²(γJ + λI)⁻¹) with m = (γJ + λI)⁻¹γJŵ: γ = 1 is the posterior, γ = 0 knows nothing but
    the prior. λ and σ² are those of largest evidence in the past, and γ the one that makes the task's targets most
    probable. If that does not beat γ = 1 by `DECISIVE`, it is 1; if it does not beat γ = 0 by as much, it is 0.
    w is measured from `start`. O(p³).
    """
    if past.n_samples - past.centered <= past.n_features:
        return 1.0  # noise and signal cannot be told apart yet
    spectrum = Spectrum.of(past, start)
    learned = learn_from(spectrum)
    used = learned.noise_variance > 0.0
    if not used.any():
        return 1.0
    view = _View(past, task, start, spectrum, float(learned.prior[0]), learned.noise_variance, used)
    whole = view.deviance(1.0)
    lowest = min(1e-3 * view.penalty / max(float(spectrum.values[0]), view.penalty), 0.1)
    grid = np.log(np.geomspace(lowest, 1.0, POINTS))
    tried = np.array([view.deviance(share) for share in np.exp(grid)])
    best = int(tried.argmin())
    found = minimize_scalar(
        lambda log: view.deviance(float(np.exp(log))),
        bounds=(grid[max(best - 1, 0)], grid[min(best + 1, POINTS - 1)]),
        method="bounded",
        options={"xatol": 1e-3},
    )
    nothing = view.deviance(0.0)
    if whole - min(float(found.fun), nothing) < DECISIVE:
        return 1.0
    return 0.0 if nothing < float(found.fun) + DECISIVE else float(np.exp(found.x))


class _View:
    """The task seen from the past: in the directions of the past, about the mean of the past."""

    def __init__(
        self,
        past: Information,
        task: Information,
        start: Array,
        spectrum: Spectrum,
        penalty: float,
        variance: Array,
        used: NDArray[np.bool_],
    ) -> None:
        p, factor = past.n_features, task.factor()
        self.penalty, self.spectrum, self.used = penalty, spectrum, used
        self.n_past, self.n_task = spectrum.n_samples, task.n_samples
        self.scale = variance[used] * self.n_past
        B, target = factor[:p, :p] @ spectrum.directions, factor[:p, p:] - factor[:p, :p] @ start
        if past.centered:  # one more coordinate, the intercept: the past knows it with the weight of its rows
            apart = np.sqrt(task.total_weight) * ((task.mean - past.mean) + (task.mean_low - past.mean_low))
            top = np.hstack([[np.sqrt(task.total_weight)], apart[:p] @ spectrum.directions])
            B = np.vstack([top, np.hstack([np.zeros((p, 1)), B])])
            target = np.vstack([apart[p:] - apart[:p] @ start, target])
        self.B, self.target = B, target[:, used]
        self.left = np.square(factor[p:, p:]).sum(axis=0)[used]
        self.weight = past.total_weight if past.centered else None
        self.one_row = past.total_weight / past.n_samples

    def deviance(self, share: float) -> float:
        """Return −2·log of the density of the task's targets (Student's t), up to a constant."""
        known = share * self.spectrum.values + self.penalty
        mean = share * np.sqrt(self.spectrum.values)[:, None] * self.spectrum.scores[:, self.used] / known[:, None]
        if self.weight is not None:
            known = np.r_[share * self.weight + self.one_row, known]
            mean = np.vstack([np.zeros(mean.shape[1]), mean])
        error = self.target - self.B @ mean
        seen = self.B / np.sqrt(known)
        root = cholesky_root(np.eye(len(known)) + seen.T @ seen)
        explained = solve_triangular(root.T, seen.T @ error, transposed=True)
        squares = self.left + np.square(error).sum(axis=0) - np.square(explained).sum(axis=0)
        fit = (self.n_past + self.n_task) * np.log1p(squares / self.scale)
        return float((fit + 2.0 * np.log(np.diag(root)).sum()).sum())
