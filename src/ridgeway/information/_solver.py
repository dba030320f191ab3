"""What solves for the estimate under a prior, and goes on to do so as tasks are added."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import Task
from ridgeway.linalg import Solution

Array = NDArray[np.float64]


class Solver(Protocol):
    """Solves min Σ w·(y − x·w − b)² + ‖w − start‖²_prior."""

    @property
    def prior(self) -> Array:
        """P, a diagonal (n_features,) or a matrix (n_features, n_features)."""

    def solve(self) -> Solution:
        """Return the minimiser."""

    def after(self, task: Task, decay: float = 1.0) -> "Solver | None":
        """Return the solver once the past, prior included, is multiplied by `decay` and a task is added.

        None if it would cost more to carry on than to start again.
        """


class Solvable(Protocol):
    """What can be solved under a prior."""

    def solve(self, prior: Array, start: Array) -> Solution:
        """Return the minimiser of Σ w·(y − x·w − b)² + ‖w − start‖²_prior."""


@dataclass(frozen=True, eq=False)
class PlainSolver:
    """Solves from the information each time: the prior is added when the system is solved."""

    information: Solvable
    prior: Array
    start: Array

    def solve(self) -> Solution:
        """Return the minimiser."""
        return self.information.solve(self.prior, self.start)

    def after(self, task: Task, decay: float = 1.0) -> None:
        """Return None: nothing is kept."""
