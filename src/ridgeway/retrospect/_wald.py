"""The test of equal parameters, each side with its own noise variance or both with the same."""

from dataclasses import dataclass

import numpy as np
import scipy

from ridgeway._checks import Array
from ridgeway.information import Inference
from ridgeway.retrospect._rotated import Seen

FEW = 4
"""Degrees of freedom below which a variance is too uncertain for Welch's approximation."""


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise variances of past and task, (n_targets,), and the degrees of freedom of each."""

    past: Array
    task: Array
    past_freedom: int
    task_freedom: int
    equal: bool

    @classmethod
    @np.errstate(divide="ignore", invalid="ignore")
    def of(cls, known: Inference, seen: Seen, equal: bool) -> "Noise":
        past, task = known.degrees_of_freedom, seen.freedom
        if equal:
            both = (known.residual_squares + seen.left) / (past + task)
            return cls(both, both, past, task, equal)
        return cls(known.residual_squares / past, seen.left / task, past, task, equal)

    @np.errstate(divide="ignore", invalid="ignore")
    def of_difference(self, past: Array, task: Array) -> tuple[Array, Array]:
        """Return variances and degrees of freedom of differences, both (m, n_targets).

        `past` and `task`, (m,), are the variances of the two estimates if the noise has variance 1.
        """
        of_past, of_task = past[:, None] * self.past, task[:, None] * self.task
        variances, freedoms = of_past + of_task, (self.past_freedom, self.task_freedom)
        least = np.full(variances.shape, float(sum(freedoms) if self.equal else min(freedoms)))
        if self.equal or min(freedoms) < FEW:
            return variances, least
        welch = 1.0 / (np.square(of_past / variances) / freedoms[0] + np.square(of_task / variances) / freedoms[1])
        return variances, np.where(variances > 0.0, welch, least)


@dataclass(frozen=True, eq=False)
class WaldTest:
    """The test of each target: statistics (n_targets, q) and degrees of freedom (n_targets,)."""

    statistics: Array
    freedom: Array

    @classmethod
    @np.errstate(divide="ignore", invalid="ignore")
    def of(cls, seen: Seen, noise: Noise) -> "WaldTest":
        variances, freedom = noise.of_difference(np.ones(len(seen.strengths)), 1.0 / seen.strengths)
        return cls((seen.differences() / np.sqrt(variances)).T, freedom.min(axis=0))

    @property
    def f(self) -> Array:
        """The mean of the squared statistics."""
        return np.asarray(np.square(self.statistics).mean(axis=1))

    @property
    def p_value(self) -> Array:
        """The probability of a larger F under equal parameters."""
        return np.asarray(scipy.special.fdtrc(self.statistics.shape[1], self.freedom, self.f), dtype=np.float64)

    @property
    def noncentrality(self) -> Array:
        """The excess of the squared statistics over their mean under equal parameters, at least 0."""
        shrunk = self.f * np.maximum(self.freedom - 2.0, 1.0) / self.freedom
        return np.asarray(np.maximum(self.statistics.shape[1] * (shrunk - 1.0), 0.0))
