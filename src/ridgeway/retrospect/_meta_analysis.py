"""One coefficient, estimated by each task alone: how much the tasks agree, and what they say together."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy

from ridgeway._checks import Array
from ridgeway._printed import Printed
from ridgeway.errors import InferenceError
from ridgeway.information import Information
from ridgeway.retrospect._cells import framed, number
from ridgeway.retrospect._compressed import by_task, without_prior
from ridgeway.retrospect._estimated import margins
from ridgeway.retrospect._model import checked_level, feature_names, least_squares, per_target, positions, state_of
from ridgeway.retrospect._rounding import is_exact
from ridgeway.retrospect._units import check_range, units_of

if TYPE_CHECKING:
    from pandas import DataFrame

GRID = 200
"""Values of τ² between which the slope of the likelihood is searched for zeros."""


FEW_FOR_POOLING = 20
"""Degrees of freedom below which a standard error should not be taken as known."""
POOLED = ("fixed", "fixed_error", "fixed_interval", "random", "random_error", "random_interval", "prediction_interval")
PER_TARGET = ("coef", "standard_errors", "intervals", *POOLED, "between_variance", "q", "p_value", "i_squared")
"""What has an entry for each target, if there are several, and is shown."""


@dataclass(frozen=True, eq=False)
class MetaAnalysis(Printed):
    """Estimates of one coefficient by each task alone, and pooled. Prints as a table.

    With several targets each array has one more axis in front, and each number is an array of shape (n_targets,).

    Attributes
    ----------
    terms : tuple of one str
        The feature.
    tasks : tuple of str
        The tasks that determine the coefficient and a noise variance.
    left_out : tuple of str
        The others, such as tasks with too few rows, or rows that are fitted up to rounding.
    coef, standard_errors : ndarray of shape (n_tasks,)
        The estimate of each task alone, with its own noise variance.
    intervals : ndarray of shape (n_tasks, 2)
        Student's t, with each task's degrees of freedom.
    degrees_of_freedom : ndarray of shape (n_tasks,)
    level : float
    fixed, fixed_error : float
        The coefficient if it is the same in all tasks, weighted by precision.
    fixed_interval : ndarray of shape (2,)
    random, random_error : float
        Its mean over tasks if it varies.
    random_interval : ndarray of shape (2,)
    prediction_interval : ndarray of shape (2,)
        For the coefficient of a further task; infinite for fewer than three tasks.
    between_variance : float
        τ²: the variance over tasks, by restricted maximum likelihood.
    q, p_value : float
        Cochran's test that the coefficient is the same in all tasks.
    i_squared : float
        The share of the variation of estimates that is due to differences between tasks, (Q − k + 1)/Q, at least 0.
    h_squared : float
        Q/(k − 1).
    assumption : str

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> trials, X = np.repeat(["a", "b", "c"], 30), rng.normal(size=(90, 1))
    >>> y = np.repeat([1.0, 1.0, 3.0], 30) * X[:, 0] + rng.normal(size=90)
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=trials)
    >>> found = retrospect.meta_analysis(model, 0)
    >>> dict(zip(found.tasks, found.coef.round(1).tolist())), round(found.i_squared, 2)
    ({'a': 1.0, 'b': 1.0, 'c': 3.2}, 0.98)
    """

    terms: tuple[str, ...]
    tasks: tuple[str, ...]
    left_out: tuple[str, ...]
    coef: Array
    standard_errors: Array
    intervals: Array
    degrees_of_freedom: Array
    level: float
    fixed: Any
    fixed_error: Any
    fixed_interval: Array
    random: Any
    random_error: Any
    random_interval: Array
    prediction_interval: Array
    between_variance: Any
    q: Any
    p_value: Any
    i_squared: Any
    h_squared: Any
    assumption: str

    def to_frame(self) -> "DataFrame":
        """Return the estimates as a pandas DataFrame: one row per task, and per target if there are several."""
        columns = (self.coef, self.standard_errors, *np.moveaxis(self.intervals, -1, 0))
        return framed(np.stack(columns, axis=-1), self.tasks, ("coef", "standard_error", "lower", "upper"), "task")

    def _title(self) -> str:
        return f"{self.terms[0]} in {len(self.tasks)} tasks"

    def _tables(self) -> Iterator[tuple[str, list[list[str]]]]:
        percent = f"{100 * self.level:g} %"
        several = self.coef.ndim == 2
        for target in range(len(np.atleast_2d(self.coef))):
            at = {name: value[target] if several else value for name, value in vars(self).items() if name in PER_TARGET}
            rows = [["", "coef", "std err", f"[{percent}", f"{percent}]"]]
            table = np.column_stack([at["coef"], at["standard_errors"], at["intervals"]])
            rows += [[task, *map(number, row)] for task, row in zip(self.tasks, table, strict=True)]
            for name in ("fixed", "random"):
                shown = at[name], at[f"{name}_error"], *at[f"{name}_interval"]
                rows.append([f"({name})", *map(number, shown)])
            rows.append(["(a further task)", "", "", *map(number, at["prediction_interval"])])
            caption = f"target {target}: " if several else ""
            caption += f"Q {at['q']:.4g}, p {at['p_value']:.3g}, I² {100 * at['i_squared']:.0f} %, "
            yield f"{caption}standard deviation between tasks {np.sqrt(at['between_variance']):.4g}", rows

    def _notes(self) -> list[str]:
        notes = [self.assumption]
        if self.left_out:
            notes.append(f"Left out, because their rows do not determine it or its noise: {', '.join(self.left_out)}.")
        least = int(self.degrees_of_freedom.min())
        if least < FEW_FOR_POOLING:
            notes.append(
                f"A standard error has only {least} degrees of freedom: Q rejects too often, and the pooled intervals "
                "are too narrow."
            )
        return notes


def meta_analysis(model: Any, feature: Any, *, level: float = 0.95) -> MetaAnalysis:
    """Return what each task alone says about one coefficient, how much the tasks agree, and the pooled estimates.

    Each task is fitted alone, with all features, an intercept and a noise variance of its own. If the coefficient is
    the same everywhere, the fixed estimate is the best mean; if it varies, the random one is, and the prediction
    interval says where the coefficient of a further task would be. Standard errors are taken as known where tasks are
    combined, as is usual. If they have few degrees of freedom, Q rejects too often and the pooled intervals are too
    narrow; `random_effects` does not have this problem if the noise is equal. O(n_tasks·p³).

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with information="by_task".
    feature : name or position
    level : float, default 0.95
        Level of the intervals. Those of the pooled estimates are normal; the prediction interval is Student's t with
        k − 2 degrees of freedom.

    Raises
    ------
    InferenceError
        If fewer than two tasks determine the coefficient and a noise variance, or the model has a prior.

    References
    ----------
    Cochran (1954); Higgins and Thompson (2002); Higgins, Thompson and Spiegelhalter (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> trials = np.repeat(["a", "b", "c", "d"], 30)
    >>> X = rng.normal(size=(120, 1))
    >>> y = np.repeat([1.0, 1.0, 1.0, 3.0], 30) * X[:, 0] + rng.normal(size=120)
    >>> found = retrospect.meta_analysis(
    ...     GeneralizedRidge(information="by_task").fit(X, y, tasks=trials), 0
    ... )
    >>> print(found)
    x0 in 4 tasks
    Q 32.55, p 4.01e-07, I² 91 %, standard deviation between tasks 0.7416
    ------------------------------------------------------------
                           coef    std err      [95 %      95 %]
    ------------------------------------------------------------
    a                     1.026     0.2265     0.5619       1.49
    b                    0.9277     0.1992     0.5197      1.336
    c                     1.117     0.1562     0.7968      1.437
    d                     2.592     0.2522      2.075      3.108
    (fixed)               1.281    0.09929      1.086      1.476
    (random)              1.404     0.3855     0.6483      2.159
    (a further task)                           -2.192          5
    ------------------------------------------------------------
    Tasks are assumed independent. Where they are combined, their standard errors are taken as known.
    """
    state, level = state_of(model), checked_level(level)
    without_prior(model, "meta_analysis")
    parts = by_task(model).parts()
    position = int(positions(model, [feature], "feature")[0])
    found = {task: _estimate(part, position) for task, part in parts.items()}
    kept = {task: each for task, each in found.items() if each is not None}
    if len(kept) < 2:
        raise InferenceError(
            f"too few tasks determine the coefficient of {feature!r} and a noise variance on their own; got "
            f"{len(kept)}, and at least 2 are needed: tasks in which the feature varies, with more rows than "
            "coefficients, not fitted exactly."
        )
    coef, deviations = (np.stack([each[i] for each in kept.values()], axis=1) for i in (0, 1))
    freedom = np.array([each.freedom for each in kept.values()])
    combined = [Combined.of(*pair) for pair in zip(coef, deviations, strict=True)]
    each = {name: np.array([getattr(one, name) for one in combined]) for name in Combined._fields}
    spread = np.hypot(np.sqrt(each["between_variance"]), each["random_error"])
    further = margins(spread, len(kept) - 2.0, level) if len(kept) > 2 else np.full(len(spread), np.inf)
    half = {name: margins(each[f"{name}_error"], np.inf, level) for name in ("fixed", "random")}
    return MetaAnalysis(
        terms=(feature_names(model)[position],),
        tasks=tuple(kept),
        left_out=tuple(task for task in parts if task not in kept),
        coef=per_target(state, coef),
        standard_errors=per_target(state, deviations),
        intervals=per_target(state, _ends(coef, margins(deviations, freedom, level))),
        degrees_of_freedom=freedom,
        level=level,
        fixed_interval=per_target(state, _ends(each["fixed"], half["fixed"])),
        random_interval=per_target(state, _ends(each["random"], half["random"])),
        prediction_interval=per_target(state, _ends(each["random"], further)),
        assumption="Tasks are assumed independent. Where they are combined, their standard errors are taken as known.",
        **{name: per_target(state, values) for name, values in each.items()},
    )


class OneTaskEstimate(NamedTuple):
    """The estimate of a coefficient by a task alone, and its standard error, (n_targets,) each."""

    coef: Array
    deviation: Array
    freedom: int


def _estimate(part: Information, position: int) -> OneTaskEstimate | None:
    """Return what a task alone says about a coefficient, or None if it does not determine it, or no noise variance."""
    alone = least_squares(part)
    functional = np.eye(part.n_features)[:, [position]]
    whitened, known = alone.whiten(functional, 0.0)
    if alone.degrees_of_freedom < 1 or not known[0] or is_exact(alone):
        return None
    deviation = np.sqrt(alone.noise_variance) * np.sqrt(np.square(whitened).sum())
    return OneTaskEstimate(alone.coef[position], deviation, alone.degrees_of_freedom)


class Combined(NamedTuple):
    """Estimates of the same quantity, combined; the names are those of `MetaAnalysis`."""

    fixed: float
    fixed_error: float
    random: float
    random_error: float
    between_variance: float
    q: float
    p_value: float
    i_squared: float
    h_squared: float

    @classmethod
    def of(cls, estimates: Array, deviations: Array) -> "Combined":
        """Combine k estimates, given their standard errors, or raise if τ² is out of range."""
        freedom, unit = len(estimates) - 1.0, units_of(deviations)[0]
        estimates, variances = estimates / unit, np.square(deviations / unit)
        fixed, fixed_error = _weighted(estimates, variances)
        q = float((np.square(estimates - fixed) / variances).sum())
        between = between_variance(estimates, variances)
        random, random_error = _weighted(estimates, variances + between)
        share = max((q - freedom) / q, 0.0) if q > 0.0 else 0.0
        p_value = float(scipy.special.chdtrc(freedom, q))
        check_range(np.sqrt(between) * np.array([unit]), "the variance between tasks")
        fixed, fixed_error, random, random_error = (unit * x for x in (fixed, fixed_error, random, random_error))
        return cls(fixed, fixed_error, random, random_error, between * unit * unit, q, p_value, share, q / freedom)


def between_variance(estimates: Array, variances: Array) -> float:
    """Return the τ² ≥ 0 of largest restricted likelihood for estimates ~ N(μ, variance + τ²).

    A maximum is at 0, or where the slope falls through 0 between two points of a grid.
    """

    def slope(between: float) -> float:
        weights = 1.0 / (variances + between)
        mean, _ = _weighted(estimates, variances + between)
        squares = np.square(weights)
        return float(squares @ np.square(estimates - mean) - weights.sum() + squares.sum() / weights.sum())

    def deviance(between: float) -> float:
        total = variances + between
        mean, _ = _weighted(estimates, total)
        return float(np.log(total).sum() + np.log((1.0 / total).sum()) + (np.square(estimates - mean) / total).sum())

    grid = np.r_[0.0, np.geomspace(1e-12, 4.0, GRID)] * np.square(np.ptp(estimates))
    slopes = [slope(point) for point in grid]
    falls = [i for i in range(GRID) if slopes[i] > 0.0 >= slopes[i + 1]]
    maxima = [float(scipy.optimize.brentq(slope, grid[i], grid[i + 1], xtol=1e-300, rtol=1e-14)) for i in falls]
    return min([0.0, *maxima], key=deviance)


def _weighted(estimates: Array, variances: Array) -> tuple[float, float]:
    """Return the mean weighted by precision, and its standard error."""
    weights = 1.0 / variances
    return float(weights @ estimates / weights.sum()), float(1.0 / np.sqrt(weights.sum()))


def _ends(middle: Array, half: Array) -> Array:
    return np.stack([middle - half, middle + half], axis=-1)
