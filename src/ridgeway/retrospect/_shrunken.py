"""A parameter for each task, shrunk towards the common one as far as the data suggest."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway._checks import Array
from ridgeway._printed import Printed
from ridgeway.kernels import solve_triangular
from ridgeway.retrospect._cells import framed, number
from ridgeway.retrospect._compressed import compressed, without_prior
from ridgeway.retrospect._estimated import flags, margins
from ridgeway.retrospect._mixed import MixedModel
from ridgeway.retrospect._model import checked_level, per_target, state_of
from ridgeway.retrospect._units import lengths

if TYPE_CHECKING:
    from pandas import DataFrame

TASKS_PER_TERM = 4
"""Tasks per term at which a covariance of all terms is worth estimating, rather than their variances alone."""


@dataclass(frozen=True, eq=False)
class ShrunkenTasks(Printed):
    """The coefficients of each task, shrunk towards the common ones. Prints as a table.

    With several targets each array has one more axis in front, and each number is an array of shape (n_targets,).

    Attributes
    ----------
    tasks, terms : tuple of str
    coef, standard_errors : ndarray of shape (n_tasks, n_terms)
        The coefficients of each task: posterior means and standard deviations.
    intervals : ndarray of shape (n_tasks, n_terms, 2)
    level : float
    common : ndarray of shape (n_terms,)
        The mean over tasks, towards which the estimates are shrunk.
    covariance : ndarray of shape (n_terms, n_terms)
        How coefficients vary over tasks, with the intercept at 0.
    noise_variance : float
    is_diagonal : bool
        Whether coefficients are taken to vary independently of each other, with the intercept at the means of the
        features: so if there are fewer than four tasks per term.
    is_converged : bool or ndarray of bool
        Whether the gradient of the likelihood is 0 at the estimated variances.
    n_samples : int
    assumption : str

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> tasks, X = np.repeat(np.arange(12), 6), rng.normal(size=(72, 1))
    >>> y = (1.0 + 0.3 * rng.normal(size=12)[tasks]) * X[:, 0] + rng.normal(size=72)
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=tasks)
    >>> found, alone = retrospect.shrunken(model), retrospect.tasks(model)
    >>> found.coef.std(axis=0).round(2), alone.coef.std(axis=0).round(2)  # over the tasks
    (array([0.19, 0.46]), array([0.49, 0.79]))
    """

    tasks: tuple[str, ...]
    terms: tuple[str, ...]
    coef: Array
    standard_errors: Array
    intervals: Array
    level: float
    common: Array
    covariance: Array
    noise_variance: Any
    is_diagonal: bool
    is_converged: Any
    n_samples: int
    assumption: str

    def to_frame(self) -> "DataFrame":
        """Return the coefficients as a pandas DataFrame: one row per task, and per target if there are several."""
        return framed(self.coef, self.tasks, self.terms, "task")

    def _title(self) -> str:
        return f"Coefficients of {len(self.tasks)} tasks, shrunk towards the common ones: {self.n_samples} rows"

    def _tables(self) -> Iterator[tuple[str, list[list[str]]]]:
        p = len(self.terms)
        tables = zip(
            np.atleast_1d(self.noise_variance),
            self.common.reshape(-1, p),
            self.covariance.reshape(-1, p, p),
            self.coef.reshape(-1, len(self.tasks), p),
            strict=True,
        )
        for target, (noise, common, covariance, coef) in enumerate(tables):
            caption = f"target {target}: " if self.coef.ndim == 3 else ""
            yield (
                f"{caption}noise variance {noise:.4g}",
                [
                    ["", *self.terms],
                    *([task, *map(number, row)] for task, row in zip(self.tasks, coef, strict=True)),
                    ["(common)", *map(number, common)],
                    ["(deviation)", *map(number, np.sqrt(np.diag(covariance)))],
                ],
            )

    def _notes(self) -> list[str]:
        notes = [self.assumption]
        if not np.all(self.is_converged):
            notes.append("The search for the variances did not converge. Drop features.")
        return notes


def shrunken(model: Any, *, level: float = 0.95) -> ShrunkenTasks:
    """Return coefficients for each task, shrunk towards the common ones: empirical Bayes.

    The coefficients of tasks are taken as drawn from N(β, D), intercept included, and D, β and σ² are estimated from
    all tasks by restricted maximum likelihood. Given these, the estimates are the posterior means, which have the
    smallest mean squared error. A task with many rows nearly keeps its own estimate; one with few rows gets
    nearly the common one. D is any covariance if there are at least four tasks per term, and diagonal otherwise.
    O(n_tasks·p³) per step of the search.

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with information="by_task".
    level : float, default 0.95
        Level of the intervals, which take the variances as known.

    Raises
    ------
    InferenceError
        If there are fewer than three tasks, the noise cannot be told from differences between tasks, columns are
        collinear, or the model has a prior.

    References
    ----------
    Lindley and Smith (1972); Laird and Ware (1982).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> sites = np.repeat(np.arange(12), 8)
    >>> slopes = 2.0 + 0.5 * rng.normal(size=12)
    >>> X = rng.normal(size=(96, 1))
    >>> y = slopes[sites] * X[:, 0] + rng.normal(size=96)
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=sites)
    >>> found = retrospect.shrunken(model)
    >>> alone = retrospect.tasks(model)
    >>> [
    ...     float(np.mean((each.coef[:, 1] - slopes) ** 2).round(3))
    ...     for each in (found, alone)
    ... ]
    [0.067, 0.144]
    """
    state, level = state_of(model), checked_level(level)
    without_prior(model, "shrunken")
    tasks = compressed(model)
    n_terms = len(tasks.terms)
    diagonal = len(tasks.names) < TASKS_PER_TERM * n_terms
    mixed = MixedModel.of(tasks, np.arange(n_terms), diagonal=diagonal)
    effects, spread = mixed.predicted()
    coef = mixed.coef[:, None] + effects
    deviations = lengths(np.concatenate([spread, _through_common(mixed)], axis=3), 3)
    half = margins(deviations, np.inf, level)
    kind = "independently of each other" if diagonal else "with any covariance"
    return ShrunkenTasks(
        tasks=tasks.names,
        terms=tasks.terms,
        coef=per_target(state, coef),
        standard_errors=per_target(state, deviations),
        intervals=per_target(state, np.stack([coef - half, coef + half], axis=-1)),
        level=level,
        common=per_target(state, mixed.coef),
        covariance=per_target(state, mixed.covariance),
        noise_variance=per_target(state, mixed.noise_variance),
        is_diagonal=diagonal,
        is_converged=flags(state, np.array([fit.is_converged for fit in mixed.fits])),
        n_samples=int(tasks.n_samples.sum()),
        assumption=f"Coefficients are assumed normal over tasks, {kind}, and the noise of equal variance in all tasks "
        "(weights aside). The intervals take the estimated variances as known.",
    )


def _through_common(mixed: MixedModel) -> Array:
    """Return J, (n_targets, n_tasks, n_terms, r), with J·Jᵀ the part of the covariance that is due to β̂.

    ŵ_g = β̂ + b̂_g, and b̂_g falls by N_g·own·β̂ as the common coefficients rise.
    """
    found = []
    for fit in mixed.fits:
        _, spread = fit.effects()
        moves = mixed.tasks.back() @ mixed.whole.whitening - mixed.to_effects @ spread @ fit.own[:, :, :-1]
        inverse = solve_triangular(fit.common[:-1, :-1], np.eye(len(fit.coef)))
        found.append(moves @ inverse)
    return mixed.noise_deviations[:, None, None, None] * np.stack(found)
