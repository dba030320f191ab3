"""A noise variance for each task: tasks count in proportion to their precision."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.errors import InferenceError
from ridgeway.retrospect._cells import number
from ridgeway.retrospect._compressed import CompressedTasks, by_task, compressed, without_prior
from ridgeway.retrospect._estimated import Estimated, estimates, flags
from ridgeway.retrospect._model import checked_level, least_squares, per_target, state_of
from ridgeway.retrospect._precision_weighted import PrecisionWeighted
from ridgeway.retrospect._wald import FEW


@dataclass(frozen=True, eq=False, kw_only=True)
class NoiseWeighted(Estimated):
    """Common coefficients if each task has its own noise variance, and these variances.

    With several targets each array has one more axis in front, and each number is an array of shape (n_targets,).

    Attributes
    ----------
    terms : tuple of str
    coef, standard_errors, t, p_values : ndarray of shape (n_terms,)
    intervals : ndarray of shape (n_terms, 2)
    level : float
    degrees_of_freedom : ndarray of shape (n_terms,)
        Satterthwaite's, for the variance of each coefficient as a sum over tasks.
    noise_variance : ndarray of shape (n_tasks,)
        σ̂_g² of each task: weighted residual squares divided by `task_freedom`.
    task_freedom : ndarray of shape (n_tasks,)
        Rows less the share of the common coefficients that the task determines.
    tasks : tuple of str
    shared : tuple of str
        Tasks with too few rows for their own variance. They share one.
    bartlett, bartlett_p_value : float
        Bartlett's test that all variances are equal, from separate fits of the tasks that have their own variance; NaN
        if fewer than two do. It is sensitive to noise that is not normal.
    is_converged : bool or ndarray of bool
    n_samples, n_tasks : int
    assumption : str
    not_estimable : tuple of str
    post_selection : bool
        Whether `best_subset` chose the features, which p-values and intervals do not account for.
    cautions : tuple of str
        What `post_selection` means, in words.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> labs, X = np.repeat(["careful", "hasty"], 40), rng.normal(size=(80, 1))
    >>> y = 2.0 * X[:, 0] + np.where(labs == "hasty", 5.0, 0.5) * rng.normal(size=80)
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=labs)
    >>> found = retrospect.weighted_by_noise(model)
    >>> dict(zip(found.tasks, np.sqrt(found.noise_variance).round(1).tolist()))
    {'careful': 0.5, 'hasty': 4.9}
    """

    task_freedom: Array
    tasks: tuple[str, ...]
    shared: tuple[str, ...]
    bartlett: Any
    bartlett_p_value: Any
    is_converged: Any

    def _title(self) -> str:
        tasks = counted(self.n_tasks, "task")
        return f"Least squares with a noise variance per task: {counted(self.n_samples, 'row')} of {tasks}"

    def _captions(self) -> list[str]:
        spread = self.noise_variance.reshape(-1, self.n_tasks)
        tests = zip(*map(np.atleast_1d, (self.bartlett, self.bartlett_p_value)), strict=True)
        return [
            f"noise variances {row.min():.4g} to {row.max():.4g}; equal? Bartlett {number(value)}, p {number(p, '.3g')}"
            for row, (value, p) in zip(spread, tests, strict=True)
        ]

    def _notes(self) -> list[str]:
        notes = super()._notes()
        if self.shared:
            notes.append(f"Too few rows for separate noise variances, so they share one: {', '.join(self.shared)}.")
        if not np.all(self.is_converged):
            notes.append("The variances did not converge. Learn more rows per task.")
        return notes


def weighted_by_noise(model: Any, *, level: float = 0.95) -> NoiseWeighted:
    """Return the common coefficients if each task has its own noise variance: feasible generalised least squares.

    Tasks are weighted by 1/σ̂_g². The variance σ̂_g² is the sum of the task's squared residuals about the common fit,
    divided by its rows less its share of the coefficients (Σ leverages). Weights and variances are computed in turn
    until they no longer change. This is restricted maximum likelihood. Tasks with fewer than four residual degrees
    of freedom share one variance. O(n_tasks·p³) per step.

    The standard errors include what is lost because the weights are estimated, to first order (Meier's formula for a
    mean, Kenward and Roger's in general), and the intervals use Satterthwaite's degrees of freedom. If many tasks have
    fewer than about ten residual degrees of freedom, the intervals are still somewhat too narrow.

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with information="by_task".
    level : float, default 0.95
        Level of the intervals.

    Raises
    ------
    InferenceError
        If a variance cannot be estimated or is 0, or the model has a prior.

    References
    ----------
    Bartlett (1937); Meier (1953); Harville (1977); Kenward and Roger (1997); Satterthwaite (1946).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> labs = np.repeat(["careful", "hasty"], 40)
    >>> X = rng.normal(size=(80, 1))
    >>> y = 2.0 * X[:, 0] + np.where(labs == "hasty", 5.0, 0.5) * rng.normal(size=80)
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=labs)
    >>> found = retrospect.weighted_by_noise(model)
    >>> found.noise_variance.round(2), bool(found.bartlett_p_value < 1e-9)
    (array([ 0.22, 24.41]), True)
    >>> float(
    ...     (retrospect.summary(model).standard_errors[1] / found.standard_errors[1]).round(
    ...         2
    ...     )
    ... )
    4.26
    """
    state, level = state_of(model), checked_level(level)
    without_prior(model, "weighted_by_noise")
    tasks = compressed(model)
    parts = [least_squares(part) for part in by_task(model).parts().values()]
    freedom = np.array([part.degrees_of_freedom for part in parts])
    groups, shared = _groups(tasks, freedom)
    found = [PrecisionWeighted.of(tasks, target, groups) for target in range(tasks.y.shape[2])]
    own = freedom >= FEW
    squares = np.stack([part.residual_squares for part in parts])[own]
    tests = np.array([bartlett(each, freedom[own]) for each in squares.T])
    converged = np.array([each.is_converged for each in found])
    return NoiseWeighted(
        **estimates(
            state,
            tasks.terms,
            tasks.uncentered(np.hstack([each.coef for each in found])).T,
            np.stack([each.deviations for each in found]),
            np.stack([each.freedom for each in found]),
            level,
        ),
        noise_variance=per_target(state, np.stack([each.variances for each in found])),
        task_freedom=per_target(state, np.stack([each.task_freedom for each in found])),
        tasks=tasks.names,
        shared=shared,
        bartlett=per_target(state, tests[:, 0]),
        bartlett_p_value=per_target(state, tests[:, 1]),
        is_converged=flags(state, converged),
        n_samples=int(tasks.n_samples.sum()),
        n_tasks=len(tasks.names),
        assumption="Rows are assumed independent, with the same coefficients in all tasks and a separate noise "
        "variance for each task (weights aside). Errors allow for the estimated variances to first order.",
    )


def _groups(tasks: CompressedTasks, freedom: Array) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Return the number of the variance of each task, and the tasks that share one; or raise."""
    few = freedom < FEW
    shared = tuple(name for name, small in zip(tasks.names, few, strict=True) if small)
    rows, n_terms = int(tasks.n_samples[few].sum()), len(tasks.terms)
    if shared and rows < n_terms + FEW:
        raise InferenceError(
            f"the tasks {', '.join(shared[:6])}{' …' if len(shared) > 6 else ''} have {counted(rows, 'row')} in all, "
            f"too few for a noise variance; at least {n_terms + FEW} are needed. Learn more of their rows, or remove "
            "them."
        )
    return np.where(few, len(few), np.arange(len(few))), shared


def bartlett(squares: Array, freedom: Array) -> tuple[float, float]:
    """Return Bartlett's statistic that variances are equal, and its p-value; NaN for fewer than two variances.

    Parameters
    ----------
    squares : ndarray of shape (n_tasks,)
        Residual squares.
    freedom : ndarray of shape (n_tasks,)
        Their degrees of freedom.
    """
    k, total = len(squares), freedom.sum()
    if k < 2:
        return np.nan, np.nan
    apart = total * np.log(squares.sum() / total) - (freedom * np.log(squares / freedom)).sum()
    statistic = apart / (1.0 + ((1.0 / freedom).sum() - 1.0 / total) / (3.0 * (k - 1.0)))
    return float(statistic), float(scipy.special.chdtrc(k - 1.0, statistic))
