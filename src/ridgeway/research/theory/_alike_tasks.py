"""Tasks that are all alike: what a single penalty for all of them costs."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from ridgeway._checks import Array, nonnegative_array, positive, whole
from ridgeway.research.theory._directions import GRID_STEP


@dataclass(frozen=True, init=False)
class AlikeTasks:
    """Tasks with the same parameter, the same number of rows n and Σ_t = I: no heterogeneity at all.

    Continual ridge keeps the share λ/(1 + λ) of the past in each task. The optimum is pooled ridge, with λ_t
    = t − 1 + B/A: the penalty grows with what is known. One λ for all tasks cannot follow, and its least error is
    larger by a factor that grows without bound, like (1 + ln(4TA/B))/4. Corrections row 9a; docs/ridge-gap.md has the
    proof.

    Parameters
    ----------
    initial_error : float
        A = ‖w_*‖² > 0, the error of ŵ_0 = 0.
    task_error : float
        B = σ²p/n > 0, the error of least squares on one task.

    Examples
    --------
    >>> from ridgeway.research import theory
    >>> tasks = theory.AlikeTasks(initial_error=1.0, task_error=1.0)
    >>> best = tasks.best_penalty(100)
    >>> errors = tasks.ridge_error(best, 100), tasks.optimal_error(100)
    >>> print(f"{best:.3f}: {errors[0]:.5f} {errors[1]:.5f}")
    32.952: 0.01744 0.00990
    >>> [round(tasks.ridge_gap(n_tasks), 3) for n_tasks in (100, 10**8)]
    [1.761, 5.202]
    """

    initial_error: float
    task_error: float

    def __init__(self, *, initial_error: float, task_error: float) -> None:
        vars(self).update(
            initial_error=positive(initial_error, "initial_error"), task_error=positive(task_error, "task_error")
        )

    def ridge_error(self, penalty: float, n_tasks: int) -> float:
        """Return 𝓛_T of continual ridge with one λ for all tasks.

        aᵀA + (1 − aᵀ)B/(1 + 2λ), a = (λ/(1 + λ))², where the exponent is T. O(1).

        Parameters
        ----------
        penalty : float
            λ in [0, ∞].
        n_tasks : int
            T.

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> tasks = theory.AlikeTasks(initial_error=4.0, task_error=3.0)
        >>> tasks.ridge_error(1.0, n_tasks=1)  # ¼·4 + ¼·3
        1.75
        """
        (penalties,) = nonnegative_array([penalty], "penalty")
        return self._error(float(penalties), whole(n_tasks, "n_tasks"))

    def _error(self, penalty: float, n_tasks: int) -> float:
        with np.errstate(divide="ignore"):
            exponent = -2.0 * n_tasks * np.log1p(1.0 / np.float64(penalty))
        past = np.exp(exponent) * self.initial_error
        return float(past - np.expm1(exponent) * self.task_error / (1.0 + 2.0 * penalty))

    def best_penalty(self, n_tasks: int) -> float:
        """Return the one λ with the least `ridge_error` after T tasks: about 2T/ln(4TA/B).

        Its error is about (B/4T)·(1 + ln(4TA/B)). The search covers [B/A, T − 1 + B/A], where the best λ must be:
        below it every task would gain from a larger penalty, above it from a smaller one.

        Parameters
        ----------
        n_tasks : int
            T.

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> tasks = theory.AlikeTasks(initial_error=4.0, task_error=3.0)
        >>> tasks.best_penalty(1)  # B/A
        0.75
        """
        count = whole(n_tasks, "n_tasks")
        low = np.log(self.task_error / self.initial_error)
        high = np.logaddexp(low, np.log(count - 1)) if count > 1 else low
        points = np.linspace(low, high, 2 + int((high - low) / GRID_STEP))

        def error(point: float) -> float:
            return self._error(float(np.exp(point)), count)

        errors = [error(point) for point in points]
        best = int(np.argmin(errors))
        around = (points[max(best - 1, 0)], points[min(best + 1, points.size - 1)])
        if around[0] == around[1]:
            return float(np.exp(low))
        refined = minimize_scalar(error, bounds=around, method="bounded", options={"xatol": 1e-10})
        return float(np.exp(refined.x if refined.fun < errors[best] else points[best]))

    def optimal_penalties(self, n_tasks: int) -> Array:
        """Return the λ_t = t − 1 + B/A of each task, which reach the least error after every task.

        Parameters
        ----------
        n_tasks : int
            T.

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> theory.AlikeTasks(initial_error=4.0, task_error=2.0).optimal_penalties(3)
        array([0.5, 1.5, 2.5])
        """
        return np.arange(whole(n_tasks, "n_tasks"), dtype=np.float64) + self.task_error / self.initial_error

    def optimal_error(self, n_tasks: int) -> float:
        """Return B/(T + B/A), the error after T tasks with a λ_t of its own in each of them.

        Parameters
        ----------
        n_tasks : int
            T.

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> theory.AlikeTasks(initial_error=4.0, task_error=2.0).optimal_error(3)
        0.5714285714285714
        """
        return self.task_error / (whole(n_tasks, "n_tasks") + self.task_error / self.initial_error)

    def ridge_gap(self, n_tasks: int) -> float:
        """Return the least error of continual ridge with one λ after T tasks, relative to `optimal_error`.

        Parameters
        ----------
        n_tasks : int
            T.

        Examples
        --------
        >>> from ridgeway.research import theory
        >>> round(theory.AlikeTasks(initial_error=1.0, task_error=1.0).ridge_gap(20), 3)
        1.397
        """
        return self._error(self.best_penalty(n_tasks), n_tasks) / self.optimal_error(n_tasks)
