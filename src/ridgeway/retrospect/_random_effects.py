"""Intercepts and slopes that vary over tasks at random: mixed models by restricted maximum likelihood."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.errors import InferenceError, InvalidParameterError
from ridgeway.retrospect._compressed import CompressedTasks, by_task, compressed, without_prior
from ridgeway.retrospect._estimated import Estimated, estimates, flags, margins
from ridgeway.retrospect._mixed import MixedModel
from ridgeway.retrospect._model import checked_level, per_target, positions, state_of
from ridgeway.retrospect._stacked import Separated
from ridgeway.retrospect._units import lengths

SINGULAR = 1e-4
"""The size of the relative factor below which a variance counts as 0, as in lme4."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RandomEffects(Estimated):
    """Common coefficients, how much effects vary over tasks, and the effects of each task.

    With several targets each array has one more axis in front, and each number is an array of shape (n_targets,).

    Attributes
    ----------
    terms : tuple of str
    coef, standard_errors, t, p_values : ndarray of shape (n_terms,)
        The common coefficients, which are the means over tasks.
    intervals : ndarray of shape (n_terms, 2)
    level : float
    degrees_of_freedom : int
        Of Student's t: tasks less the terms that are constant within every task.
    noise_variance : float
        The variance within tasks.
    effect_terms : tuple of str
        What varies over tasks.
    covariance : ndarray of shape (n_effects, n_effects)
        Of the effects over tasks.
    log_likelihood : float
        The restricted log likelihood. Compare it only between models with the same terms.
    tasks : tuple of str
    effects, effect_errors : ndarray of shape (n_tasks, n_effects)
        The predicted deviation of each task from the common coefficients (BLUP), and its standard deviation given the
        variances and the common coefficients.
    task_coef, task_errors : ndarray of shape (n_tasks, n_terms)
        The coefficients of each task, which are the common ones and its effects, and their standard errors. A task with
        many rows nearly keeps its own estimate; one with few rows gets nearly the common one.
    task_intervals : ndarray of shape (n_tasks, n_terms, 2)
        They are normal, and take the variances as known: too narrow if there are only a few tasks per effect.
    is_singular : bool or ndarray of bool
        Whether a variance, or a combination of effects, is estimated to be 0: the tasks do not differ in it.
    is_converged : bool or ndarray of bool
        Whether the gradient of the likelihood is 0 at the estimate.
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
    >>> schools, X = np.repeat(np.arange(20), 15), rng.normal(size=(300, 1))
    >>> y = 2.0 * X[:, 0] + 3.0 * rng.normal(size=20)[schools] + rng.normal(size=300)
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=schools)
    >>> found = retrospect.random_effects(model)
    >>> np.sqrt([found.covariance[0, 0], found.noise_variance]).round(1)  # between, within
    array([3.3, 1. ])
    """

    effect_terms: tuple[str, ...]
    covariance: Array
    log_likelihood: Any
    tasks: tuple[str, ...]
    effects: Array
    effect_errors: Array
    task_coef: Array
    task_errors: Array
    task_intervals: Array
    is_singular: Any
    is_converged: Any

    def _title(self) -> str:
        own = ", ".join(self.effect_terms)
        return f"Random effects ({own}) of {self.n_tasks} tasks: {self.n_samples} rows, REML"

    def _captions(self) -> list[str]:
        q = len(self.effect_terms)
        found = []
        for D, noise, likelihood in zip(
            self.covariance.reshape(-1, q, q),
            np.atleast_1d(self.noise_variance),
            np.atleast_1d(self.log_likelihood),
            strict=True,
        ):
            sizes = zip((*self.effect_terms, "noise"), np.sqrt([*np.diag(D), noise]), strict=True)
            shown = ", ".join(f"{name} {size:.4g}" for name, size in sizes)
            found.append(f"standard deviations: {shown}; log likelihood {likelihood:.6g}")
        return found

    def _notes(self) -> list[str]:
        notes = super()._notes()
        if np.any(self.is_singular):
            notes.append(
                "A variance is estimated to be 0: in some effect, the tasks differ by no more than the noise explains."
            )
        if not np.all(self.is_converged):
            notes.append("The search for the variances did not converge. Name fewer effects.")
        return notes


def random_effects(model: Any, effects: Any = ("intercept",), *, level: float = 0.95) -> RandomEffects:
    """Return the common coefficients if the intercept, or coefficients of features, vary over tasks at random.

    The linear mixed model y = x·β + z·b_g + ε for the rows of task g, where z are some of the terms, b_g ~ N(0, D) and
    ε ~ N(0, σ²/weight). D is any covariance. D and σ² maximise the restricted likelihood, which is computed without
    loss from what is kept of each task. The intervals take them as known, and Student's t allows for the number of
    tasks: its degrees of freedom are the tasks less the terms that are constant within every task. This is
    conservative for terms that do not vary over tasks. Given the variances, the coefficients of tasks are posterior
    means (empirical Bayes), which have the smallest mean squared error. O(n_tasks·p³) per step of the search.

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with information="by_task".
    effects : list of "intercept" and names or positions of features, default ("intercept",)
        What varies over tasks. Tasks are the only grouping: crossed effects need the rows.
    level : float, default 0.95
        Level of the intervals.

    Raises
    ------
    InferenceError
        If there are fewer than three tasks, noise and effects cannot be told apart, or the model has a prior.

    References
    ----------
    Patterson and Thompson (1971); Lindley and Smith (1972) and Laird and Ware (1982), for the coefficients of tasks;
    Bates, Mächler, Bolker and Walker (2015), for the profiled deviance.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> schools = np.repeat(np.arange(20), 15)
    >>> X = rng.normal(size=(300, 1))
    >>> y = 1.0 + 2.0 * X[:, 0] + 3.0 * rng.normal(size=20)[schools] + rng.normal(size=300)
    >>> found = retrospect.random_effects(
    ...     GeneralizedRidge(information="by_task").fit(X, y, tasks=schools)
    ... )
    >>> print(found)
    Random effects (intercept) of 20 tasks: 300 rows, REML
    standard deviations: intercept 3.274, noise 0.9804; log likelihood -471.344
    ---------------------------------------------------------------------------
                    coef    std err          t      P>|t|      [95 %      95 %]
    ---------------------------------------------------------------------------
    intercept     0.6583     0.7342     0.8965      0.381    -0.8785      2.195
    x0             1.989    0.05709      34.84      0.000      1.869      2.108
    ---------------------------------------------------------------------------
    Effects and noise are assumed normal and independent. The intervals take the estimated variances as known; ...
    """
    state, level = state_of(model), checked_level(level)
    without_prior(model, "random_effects")
    tasks = compressed(model)
    vary = _terms(model, tasks, effects)
    mixed = MixedModel.of(tasks, vary)
    freedom = task_freedom(tasks)
    predicted, spread = mixed.predicted()
    task_coef, task_errors = mixed.task_coefficients()
    half = margins(task_errors, np.inf, level)
    singular = [np.min(np.abs(np.diagonal(fit.factor))) < SINGULAR for fit in mixed.fits]
    return RandomEffects(
        **estimates(state, tasks.terms, mixed.coef, mixed.deviations, freedom, level),
        noise_variance=per_target(state, mixed.noise_variance),
        effect_terms=tuple(tasks.terms[j] for j in vary),
        covariance=per_target(state, mixed.covariance),
        log_likelihood=per_target(state, mixed.log_likelihood + 0.5 * by_task(model).total.log_weight),
        tasks=tasks.names,
        effects=per_target(state, predicted),
        effect_errors=per_target(state, lengths(spread, 3)),
        task_coef=per_target(state, task_coef),
        task_errors=per_target(state, task_errors),
        task_intervals=per_target(state, np.stack([task_coef - half, task_coef + half], axis=-1)),
        is_singular=flags(state, np.array(singular)),
        is_converged=flags(state, np.array([fit.is_converged for fit in mixed.fits])),
        n_samples=int(tasks.n_samples.sum()),
        n_tasks=len(tasks.names),
        assumption="Effects and noise are assumed normal and independent. The intervals take the estimated variances "
        f"as known; they use Student's t with {freedom} degrees of freedom, based on the number of tasks.",
    )


def task_freedom(tasks: CompressedTasks) -> int:
    """Return the number of tasks less that of the terms that are constant within every task, at least 1."""
    constant = 1
    if tasks.is_centered:
        within = Separated.of(tasks, np.zeros(1, dtype=np.intp))
        constant += int(np.count_nonzero(within.fit.space.scale == 0.0))
    return max(len(tasks.names) - constant, 1)


def _terms(model: Any, tasks: CompressedTasks, effects: Any) -> NDArray[np.intp]:
    """Return the positions of the terms that vary, or raise."""
    listed = [effects] if isinstance(effects, str) else effects
    plain = isinstance(listed, Sequence | np.ndarray)
    if not plain or not all(isinstance(each, str | int | np.integer) for each in listed):
        raise InvalidParameterError(
            f"effects must be a list of 'intercept' and features that vary over tasks; got {effects!r}. Tasks are the "
            "only grouping: crossed effects cannot be computed without the rows."
        )
    features = [each for each in listed if each != "intercept"]
    if len(features) == len(listed):
        found = positions(model, listed, "effects")
        return found + 1 if tasks.is_centered else found
    if not tasks.is_centered:
        raise InferenceError("the model has no intercept that could vary over tasks. Learn with fit_intercept=True.")
    if len(listed) > len(features) + 1:
        raise InvalidParameterError("effects names the intercept more than once. Name it once.")
    first = np.zeros(1, dtype=np.intp)
    return np.append(first, positions(model, features, "effects") + 1) if features else first
