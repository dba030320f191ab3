"""Each task with its own intercept, and its own slopes if asked for: fixed effects."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.errors import InferenceError, InvalidParameterError
from ridgeway.retrospect._compressed import CompressedTasks, compressed, without_prior
from ridgeway.retrospect._estimated import Estimated, estimates
from ridgeway.retrospect._model import checked_level, per_target, positions, state_of
from ridgeway.retrospect._stacked import Separated


@dataclass(frozen=True, eq=False, kw_only=True)
class FixedEffects(Estimated):
    """The coefficients that are common to all tasks, and each task's own.

    With several targets each array has one more axis in front, and each number is an array of shape (n_targets,).

    Attributes
    ----------
    terms : tuple of str
        The features with a common coefficient.
    coef, standard_errors, t, p_values : ndarray of shape (n_terms,)
    intervals : ndarray of shape (n_terms, 2)
    level : float
    degrees_of_freedom : int
        Rows less the rank of the common terms and the ranks of the tasks' own.
    noise_variance : float
    tasks : tuple of str
    effect_terms : tuple of str
        Each task's own terms: the intercept and the features in `slopes`.
    effects, effect_errors : ndarray of shape (n_tasks, n_effects)
        Estimates and standard errors; NaN and infinity if the rows of a task do not determine one.
    n_samples, n_tasks : int
    assumption : str
    not_estimable : tuple of str
        Features that are constant within every task, or collinear there: their standard errors are infinite. What
        they explain is part of the intercepts.
    post_selection : bool
        Whether `best_subset` chose the features, which p-values and intervals do not account for.
    cautions : tuple of str
        What `post_selection` means, in words.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> X, y = [[0.0], [1.0], [2.0], [0.0], [1.0], [2.0]], [1.0, 3.1, 5.0, 7.0, 9.0, 11.1]
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=list("aaabbb"))
    >>> found = retrospect.fixed_effects(model)
    >>> found.coef.round(2), dict(zip(found.tasks, found.effects[:, 0].round(2).tolist()))
    (array([2.02]), {'a': 1.01, 'b': 7.01})
    """

    tasks: tuple[str, ...]
    effect_terms: tuple[str, ...]
    effects: Array
    effect_errors: Array

    def _title(self) -> str:
        own = ", ".join(self.effect_terms)
        counts = f"{counted(self.n_samples, 'row')}, {counted(self.degrees_of_freedom, 'degree')} of freedom"
        return f"Fixed effects ({own}) of {counted(self.n_tasks, 'task')}: {counts}"

    def _captions(self) -> list[str]:
        return [f"noise variance {noise:.4g}" for noise in np.atleast_1d(self.noise_variance)]

    def _notes(self) -> list[str]:
        notes = super()._notes()
        if self.not_estimable:
            notes[-1] += " They are constant or collinear within the tasks: drop them, or use random effects."
        return notes


def fixed_effects(model: Any, slopes: Any = (), *, level: float = 0.95) -> FixedEffects:
    """Return the common coefficients if each task has its own intercept, and its own slopes for some features.

    The same as least squares with a dummy variable for each task and its products with the features in `slopes`,
    which is called the within estimator. Each task's own terms are removed by an orthogonal rotation, and what is
    left of all tasks is solved together. Differences between tasks in these terms, whatever their cause, cannot bias
    the common coefficients; features that do not vary within tasks cannot be estimated. O(n_tasks·p³).

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with information="by_task" and an intercept.
    slopes : list of names or positions of features, default ()
        The features that have a separate coefficient in each task.
    level : float, default 0.95
        Level of the intervals.

    Raises
    ------
    InferenceError
        If no degrees of freedom are left, or the model has a prior or no intercept.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> model = GeneralizedRidge(information="by_task")
    >>> model = model.partial_fit([[0.0], [1.0], [2.0]], [0.0, 1.1, 1.9], task="north")
    >>> model = model.partial_fit([[2.0], [3.0], [4.0]], [0.1, 0.9, 2.0], task="south")
    >>> found = retrospect.fixed_effects(model)
    >>> print(found)
    Fixed effects (intercept) of 2 tasks: 6 rows, 3 degrees of freedom
    noise variance 0.01
    --------------------------------------------------------------------
             coef    std err          t      P>|t|      [95 %      95 %]
    --------------------------------------------------------------------
    x0       0.95       0.05         19      0.000     0.7909      1.109
    --------------------------------------------------------------------
    Rows are assumed independent, of equal variance in all tasks (weights aside).
    >>> found.effects.round(3).tolist()
    [[0.05], [-1.85]]
    """
    state, level = state_of(model), checked_level(level)
    without_prior(model, "fixed_effects")
    tasks = compressed(model)
    if not tasks.is_centered:
        raise InferenceError(
            "a model without an intercept does not keep the sums of its columns, from which the intercepts of tasks "
            "are found. Learn with fit_intercept=True."
        )
    own = np.zeros(1, dtype=np.intp)
    if not (isinstance(slopes, Sequence | np.ndarray) and len(slopes) == 0):
        own = np.append(own, 1 + positions(model, slopes, "slopes"))
    common: NDArray[np.intp] = np.setdiff1d(np.arange(len(tasks.terms)), own)
    if not len(common):
        raise InvalidParameterError(
            "every feature has a slope in each task, so no coefficient is common. Leave at least one out of slopes, or "
            "use retrospect.tasks for separate fits."
        )
    parted = Separated.of(tasks, own)
    if parted.degrees_of_freedom < 1:
        raise InferenceError(
            f"no degrees of freedom are left: {counted(int(tasks.n_samples.sum()), 'row')} and as many independent "
            "effects. Learn more rows, or name fewer slopes."
        )
    noise = parted.fit.residual_squares / parted.degrees_of_freedom
    whitened, known = parted.fit.space.whiten(np.eye(len(common)))
    scales = np.where(known, np.sqrt(np.square(whitened).sum(axis=0)), np.inf)
    effects, spread = _effects(tasks, parted, own, common)
    return FixedEffects(
        **estimates(
            state,
            tuple(tasks.terms[j] for j in common),
            parted.fit.coef.T,
            np.sqrt(noise)[:, None] * scales,
            parted.degrees_of_freedom,
            level,
        ),
        noise_variance=per_target(state, noise),
        tasks=tasks.names,
        effect_terms=tuple(tasks.terms[j] for j in own),
        effects=per_target(state, effects),
        effect_errors=per_target(state, np.sqrt(noise)[:, None, None] * spread),
        n_samples=int(tasks.n_samples.sum()),
        n_tasks=len(tasks.names),
        assumption="Rows are assumed independent, of equal variance in all tasks (weights aside).",
    )


def _effects(
    tasks: CompressedTasks, parted: Separated, own: NDArray[np.intp], common: NDArray[np.intp]
) -> tuple[Array, Array]:
    """Return each task's own terms, (n_targets, n_tasks, n_effects), and their errors (n_tasks, n_effects) at σ = 1.

    With the common coefficients b, the own terms of a task solve R·a = y − X·b; what is known about c·a is then
    ‖R⁻ᵀc‖² and, from b, the variance of (R⁻ᵀc)ᵀX·b. The intercept is that at 0 in the user's units.
    """
    fit, q = parted.fit, len(common)
    to_user = np.eye(len(own))
    to_user[0, 1:] = -tasks.center[own[1:] - 1]
    at_zero = np.zeros((len(own), q))
    at_zero[0] = tasks.center[common - 1]
    shift = np.zeros((len(own), tasks.y.shape[2]))
    shift[0] = tasks.center[len(tasks.terms) - 1 :]
    effects, spread = [], []
    for each in parted.own:
        whitened, known = each.space.whiten(to_user.T)
        seen = whitened.T @ each.rows
        through = seen[:, :q] + at_zero
        found = seen[:, q:] + shift - through @ fit.coef
        roots, determined = fit.space.whiten(np.where(fit.space.scale > 0.0, through, 0.0).T)
        known = known & determined
        squares = np.square(whitened).sum(axis=0) + np.square(roots).sum(axis=0)
        effects.append(np.where(known[:, None], found, np.nan).T)
        spread.append(np.where(known, np.sqrt(squares), np.inf))
    return np.stack(effects, axis=1), np.stack(spread)
