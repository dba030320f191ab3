"""When did the relation change? Segments of consecutive tasks with equal coefficients."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway._checks import Array, fraction, nonnegative
from ridgeway._optional import require
from ridgeway._printed import Printed, Rows
from ridgeway._text import counted
from ridgeway.errors import InvalidParameterError
from ridgeway.retrospect._cells import cells
from ridgeway.retrospect._compressed import by_task
from ridgeway.retrospect._estimates import estimates, merged, terms_of
from ridgeway.retrospect._no_change import DRAWS, OwnNoise
from ridgeway.retrospect._reduced_tasks import ReducedTasks, reduced_tasks
from ridgeway.retrospect._segment_costs import best_partition
from ridgeway.retrospect._segment_search import search

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_TASKS, MOST_WORK = 400, 2e7
"""The most tasks, and the largest number of segments times the squared number of terms."""


@dataclass(frozen=True, eq=False)
class Segments(Printed):
    """Segments of consecutive tasks with equal coefficients.

    Attributes
    ----------
    segments : tuple of tuple of str
        The tasks of each segment, in order.
    changes : tuple of str
        The first task of each segment except the first: the relation changed before it.
    gains : ndarray of shape (n_changes,)
        How much each change lowers Σ RSS/σ², given the other changes. All exceed `penalty`.
    terms : tuple of str
        The intercept, if there is one, and the features.
    coef, standard_errors : ndarray of shape (n_segments, n_terms)
        Of least squares on the tasks of each segment, weighted by their precision. They do not account for the choice
        of the changes.
    noise_variances : ndarray of shape (n_segments,)
        The noise variance in each of these fits, in units of that of the tasks alone.
    penalty : float
        The least that a change must gain.
    false_alarms : float or None
        With penalty="calibrated", the probability that a sequence without change is divided.
    best_single : str
        The first task after the best single change, whether or not it is among `changes`.
    p_value : float
        Of that change: how often the best single change gains as much if nothing changes.
    n_draws : int
        Draws of the Monte Carlo simulation.
    noise_degrees_of_freedom : int
        Of the noise variances of all tasks together.
    assumption : str
        What the p-value and the calibrated penalty assume, in words.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> months, X = np.repeat(np.arange(1, 9), 10), rng.normal(size=(80, 1))
    >>> y = np.where(months > 5, 2.0, 1.0) + 0.3 * rng.normal(size=80)  # higher after May
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=months)
    >>> found = retrospect.segments(model)
    >>> found.changes, found.coef[:, 0].round(1)
    (('6',), array([1., 2.]))
    """

    segments: tuple[tuple[str, ...], ...]
    changes: tuple[str, ...]
    gains: Array
    terms: tuple[str, ...]
    coef: Array
    standard_errors: Array
    noise_variances: Array
    penalty: float
    false_alarms: float | None
    best_single: str
    p_value: float
    n_draws: int
    noise_degrees_of_freedom: int
    assumption: str

    def to_frame(self) -> "DataFrame":
        """Return one row per segment and term as a pandas DataFrame."""
        require("pandas", extra="frame")
        from pandas import DataFrame, MultiIndex

        firsts = [segment[0] for segment in self.segments]
        index = MultiIndex.from_product([firsts, self.terms], names=["first task", "term"])
        return DataFrame({"coef": self.coef.ravel(), "standard_error": self.standard_errors.ravel()}, index=index)

    def _title(self) -> str:
        n_tasks = sum(map(len, self.segments))
        rate = "" if self.false_alarms is None else f" (false alarms: {100 * self.false_alarms:g} % of sequences)"
        found = f"{counted(len(self.changes), 'change')} in {counted(n_tasks, 'task')}"
        return f"{found}; a change must gain {self.penalty:.4g}{rate}"

    def _tables(self) -> Iterator[tuple[str, Rows]]:
        gains = ["", *cells(self.gains)]
        rows = [["segment", "tasks", "gain", *self.terms]]
        for segment, gain, values, deviations in zip(
            self.segments, gains, self.coef, self.standard_errors, strict=True
        ):
            name = segment[0] if len(segment) == 1 else f"{segment[0]} to {segment[-1]}"
            both = zip(cells(values), cells(deviations, ".2g"), strict=True)
            rows.append([name, str(len(segment)), gain, *(f"{value} ({error})" for value, error in both)])
        yield "", rows

    def _notes(self) -> list[str]:
        single = f"Best single change: before {self.best_single!r}, p = {self.p_value:.4g} ({self.n_draws} draws)."
        return [single, self.assumption, "Standard errors (in parentheses) do not account for the choice of segments."]


def segments(
    model: Any,
    *,
    penalty: Any = "calibrated",
    false_alarms: float = 0.05,
    order: Any = None,
) -> Segments:
    """Divide the tasks into segments of consecutive tasks with equal coefficients, the intercept included.

    Minimises Σ RSS(segment) + penalty·(number of changes) over all partitions, by dynamic programming. RSS is the
    residual sum of squares of least squares on a segment, whose rows are divided by the noise standard deviation of
    their task. The task's own fit shows it, so changes do not inflate it. If a task has few rows it is uncertain: the
    draws allow for that, and false alarms are approximate.

    Every segment is fitted for every draw of a Monte Carlo simulation: T(T + 1)/2 fits of q terms. The limits are 400
    tasks and 2·10⁷ for fits times q². O(T²·q²) per draw.

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with information="by_task", without a prior, and with one target. It needs at least two tasks, each with
        more rows than coefficients.
    penalty : "calibrated", "bic" or number ≥ 0, default "calibrated"
        "calibrated": a sequence without change is divided with probability `false_alarms`. The penalty is a
        quantile of 1,999 draws of noise with the designs of these tasks (fixed seed). "bic": log(n) for each
        coefficient of a segment and for its start.
    false_alarms : float, default 0.05
    order : list of task ids, optional
        All tasks in the order of time; by default, the order in which they were learned.

    References
    ----------
    Bai and Perron (2003); Yao (1988) for "bic".

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> model = GeneralizedRidge(information="by_task")
    >>> for year in range(2011, 2021):
    ...     x = rng.normal(size=(30, 1))
    ...     y = (1.0 if year < 2017 else 3.0) * x[:, 0] + rng.normal(size=30)
    ...     model = model.partial_fit(x, y, task=year)
    >>> found = retrospect.segments(model)
    >>> found.changes, found.coef[:, 1].round(2), found.p_value
    (('2017',), array([1.01, 2.91]), 0.0005)
    """
    share = fraction(false_alarms, "false_alarms", "For 5 % pass 0.05.")
    tasks = reduced_tasks(model, order, "a search for changes")
    calibrated = isinstance(penalty, str) and penalty == "calibrated"
    given = 0.0 if calibrated else _given(penalty, tasks, by_task(model).n_samples)
    _check_size(len(tasks.rows), tasks.n_terms)
    null = OwnNoise.of(tasks)
    found = search(null)
    required = found.calibrated(share) if calibrated else given
    firsts = best_partition(found.costs, np.array([required])).firsts(0)
    ends = [*firsts[1:], len(tasks.names)]
    singles = found.costs.single()[:, 0]
    return Segments(
        segments=tuple(tasks.names[first:end] for first, end in zip(firsts, ends, strict=True)),
        changes=tuple(tasks.names[first] for first in firsts[1:]),
        gains=np.array(
            [found.costs.gain(a, b, c - 1)[0] for a, b, c in zip(firsts[:-1], firsts[1:], ends[1:], strict=True)]
        ),
        **_fits(model, null, firsts, ends),
        penalty=required,
        false_alarms=share if calibrated else None,
        best_single=tasks.names[int(singles.argmax()) + 1],
        p_value=found.p_value(),
        n_draws=DRAWS,
        noise_degrees_of_freedom=int(tasks.freedom.sum()),
        assumption="Gaussian, independent noise with its own variance in each task is assumed; false alarms and "
        "p-value are approximate, and rows are divided by the noise of their task.",
    )


def _given(penalty: Any, tasks: ReducedTasks, n_samples: int) -> float:
    """Return the penalty that the user asked for, or raise."""
    if not isinstance(penalty, str):
        return nonnegative(penalty, "penalty")
    if penalty != "bic":
        raise InvalidParameterError(f"penalty must be 'calibrated', 'bic' or a number; got {penalty!r}.")
    return float((tasks.n_terms + 1) * np.log(n_samples))


def _check_size(n_tasks: int, n_terms: int) -> None:
    fits = n_tasks * (n_tasks + 1) // 2
    if n_tasks > MOST_TASKS or fits * n_terms**2 > MOST_WORK:
        raise InvalidParameterError(
            f"{n_tasks} tasks have T(T + 1)/2 = {fits} segments, each fitted with {n_terms} terms for each of {DRAWS} "
            f"draws; the limits are {MOST_TASKS} tasks, and {MOST_WORK:g} for segments times squared terms (here "
            f"{fits * n_terms**2:.2g}). Ask about the last tasks (retrospect.reweighted(model, last=…)) or about fewer "
            "features (retrospect.submodel)."
        )


def _fits(model: Any, null: OwnNoise, firsts: list[int], ends: list[int]) -> dict[str, Any]:
    """Return the estimates of each segment, by their names in `Segments`; rows have the weights of the search."""
    held = by_task(model)
    parts = [held.part(name) for name in null.tasks.names]
    weights = [weight / part.total_weight for part, weight in zip(parts, null.tasks.total_weight, strict=True)]
    parts = [part if weight == 1.0 else part.scaled(weight) for part, weight in zip(parts, weights, strict=True)]
    fits = [estimates(merged(parts[first:end])) for first, end in zip(firsts, ends, strict=True)]
    return {
        "terms": terms_of(model),
        "coef": np.stack([fit.coef[0] for fit in fits]),
        "standard_errors": np.stack([fit.errors[0] for fit in fits]),
        "noise_variances": np.array([fit.noise_variance[0] for fit in fits]),
    }
