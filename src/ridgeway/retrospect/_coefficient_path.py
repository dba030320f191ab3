"""The coefficients after each task, or over a moving window of tasks."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway._checks import Array, whole
from ridgeway._optional import require
from ridgeway._printed import Printed, Rows
from ridgeway.information import Information
from ridgeway.retrospect._cells import cells, targets
from ridgeway.retrospect._compressed import by_task, without_prior
from ridgeway.retrospect._estimates import estimates, merged, terms_of
from ridgeway.retrospect._model import checked_level, per_target, state_of
from ridgeway.retrospect._reweighted import in_order

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ("coef", "standard_error", "lower", "upper")


@dataclass(frozen=True, eq=False)
class CoefficientPath(Printed):
    """The coefficients over time. With several targets, the arrays of coefficients have one more axis in front.

    Attributes
    ----------
    tasks : tuple of str
        The last task of each step, in order.
    terms : tuple of str
        The intercept, if there is one, and the features.
    coef, standard_errors : ndarray of shape (n_steps, n_terms)
        Of least squares on the tasks of each step. A coefficient is NaN, with an infinite standard error, if these
        tasks do not determine it. Standard errors are infinite if they leave no degrees of freedom.
    intervals : ndarray of shape (n_steps, n_terms, 2)
    level : float
    window : int or None
        The number of tasks in each step; None if a step has all tasks so far.
    n_samples, degrees_of_freedom : ndarray of int of shape (n_steps,)
    assumption : str
        What the intervals are and what they assume, in words.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> X, y = [[0.0], [1.0], [2.0], [0.0], [1.0], [2.0]], [1.0, 3.0, 5.0, 1.0, 2.0, 3.0]
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=list("aaabbb"))
    >>> found = retrospect.coefficient_path(model)
    >>> dict(zip(found.tasks, found.coef[:, 1].round(2).tolist()))  # the slope
    {'a': 2.0, 'b': 1.5}
    """

    tasks: tuple[str, ...]
    terms: tuple[str, ...]
    coef: Array
    standard_errors: Array
    intervals: Array
    level: float
    window: int | None
    n_samples: Array
    degrees_of_freedom: Array
    assumption: str

    def to_frame(self) -> "DataFrame":
        """Return one row per step and term, and per target if there are several, as a pandas DataFrame."""
        require("pandas", extra="frame")
        from pandas import DataFrame, MultiIndex

        table = np.concatenate([self.coef[..., None], self.standard_errors[..., None], self.intervals], axis=-1)
        axes: list[Any] = [range(len(table)), self.tasks, self.terms][4 - table.ndim :]
        index = MultiIndex.from_product(axes, names=["target", "task", "term"][4 - table.ndim :])
        return DataFrame(table.reshape(-1, len(COLUMNS)), index=index, columns=list(COLUMNS))

    def _title(self) -> str:
        several = "of each task" if self.window == 1 else f"over each {self.window} consecutive tasks"
        over = "after each task" if self.window is None else several
        return f"Coefficients {over}: {len(self.tasks)} steps, standard errors in parentheses"

    def _tables(self) -> Iterator[tuple[str, Rows]]:
        single = self.coef.ndim == 2
        pairs = zip(targets(self.coef, single), targets(self.standard_errors, single), strict=True)
        for number, (coef, errors) in enumerate(pairs):
            rows = [["up to task", "rows", *self.terms]]
            for task, n, values, deviations in zip(self.tasks, self.n_samples, coef, errors, strict=True):
                both = zip(cells(values), cells(deviations, ".2g"), strict=True)
                rows.append([task, str(n), *(f"{value} ({error})" for value, error in both)])
            yield "" if single else f"target {number}", rows

    def _notes(self) -> list[str]:
        note = "The intervals of steps that share tasks are not independent. Each holds at its level on its own."
        return [self.assumption, note]


def coefficient_path(
    model: Any, *, window: int | None = None, order: Any = None, level: float = 0.95
) -> CoefficientPath:
    """Return the coefficients after each task, or over a moving window, with their intervals.

    Each step is least squares on the tasks so far, or on the last `window` of them: its numbers are those of `summary`
    for a model that learned only these. O(T·p³), or O(T·window·p³).

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with information="by_task", without a prior.
    window : int, optional
        The number of tasks in each step; by default, all tasks so far. The first step ends with task number `window`.
    order : list of task ids, optional
        All tasks in the order of time; by default, the order in which they were learned.
    level : float, default 0.95
        Level of the intervals.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> X, y = [[0.0], [1.0], [2.0], [0.0], [1.0], [3.0]], [1.0, 3.0, 5.0, 2.0, 2.0, 3.0]
    >>> model = GeneralizedRidge(information="by_task").fit(
    ...     X, y, tasks=["a", "a", "a", "b", "b", "b"]
    ... )
    >>> retrospect.coefficient_path(model).coef[:, 1].round(3)
    array([2.  , 0.78])
    >>> retrospect.coefficient_path(model, window=1).coef[:, 1].round(3)
    array([2.   , 0.357])
    """
    level, held = checked_level(level), by_task(model)
    without_prior(model, "a coefficient path")
    tasks = in_order(held.ids, order)
    parts = [held.part(task) for task in tasks]
    if window is not None:
        window = whole(window, "window", most=len(parts))
        parts = [merged(parts[end - window : end]) for end in range(window, len(parts) + 1)]
    else:
        parts = list(accumulate(parts, Information.merge))
    steps = [estimates(part, level) for part in parts]
    state = state_of(model)
    return CoefficientPath(
        tasks=tasks[len(tasks) - len(steps) :],
        terms=terms_of(model),
        coef=per_target(state, np.stack([step.coef for step in steps], axis=1)),
        standard_errors=per_target(state, np.stack([step.errors for step in steps], axis=1)),
        intervals=per_target(state, np.stack([step.bounds for step in steps], axis=1)),
        level=level,
        window=window,
        n_samples=np.array([part.n_samples for part in parts]),
        degrees_of_freedom=np.array([step.known.degrees_of_freedom for step in steps]),
        assumption="Confidence intervals. Within a step, the coefficients are assumed to be the same in all tasks, and "
        "rows independent, of equal variance (weights aside).",
    )
