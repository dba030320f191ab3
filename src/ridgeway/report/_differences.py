"""How the tasks of a comparison differ: what `retrospect` says about them, or why it cannot."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ridgeway import retrospect
from ridgeway._checks import Array
from ridgeway.data import FamilyName
from ridgeway.errors import InferenceError, InvalidParameterError, RidgewayError
from ridgeway.estimators import GeneralizedRidge
from ridgeway.report._tasks import Index
from ridgeway.retrospect import CoefficientPath, Influence, Segments, TaskTable

MOST_TASKS, MOST_WORK = 400, 1e8
"""The most tasks, and the most tasks times cubed number of coefficients, for which the questions are asked."""
MOST_ORDERED, MOST_FITS = 80, 2e6
"""The same for segments: the most tasks, and the most segments times squared number of coefficients."""
EXACT = 1e-10
"""Noise below this share of the standard deviation of the target is rounding."""
QUESTIONS = ("table", "alone", "path", "influence", "segments")
EXTREME = 1e50
"""Columns are not standardised here: the fourth powers of numbers beyond this could overflow."""
SIGNIFICANT = 0.05
"""An adjusted p-value below this counts as a difference."""


@dataclass(frozen=True, eq=False)
class TaskDifferences:
    """What the tasks say about their differences. A missing answer is None, and `reasons` says why.

    Coefficients are in the units of the table: the unit of the target per unit of the feature.

    Attributes
    ----------
    table : TaskTable or None
        Each task alone, and the test of each against the others.
    alone, path : CoefficientPath or None
        Of each task alone, and after each task.
    influence : Influence or None
    segments : Segments or None
    reasons : dict of str to str
        Why an answer is missing, by its name.

    Examples
    --------
    >>> from ridgeway import datasets, report
    >>> found = report.compare(datasets.load_penguins(), methods=["gr"]).differences
    >>> found.differing, found.segments.changes
    (('Dream / 2009',), ('Dream / 2007', 'Biscoe / 2008', 'Torgersen / 2009'))
    >>> found.reasons
    {}
    """

    table: TaskTable | None
    alone: CoefficientPath | None
    path: CoefficientPath | None
    influence: Influence | None
    segments: Segments | None
    reasons: dict[str, str]

    @classmethod
    def of(cls, model: GeneralizedRidge | str, order: str) -> "TaskDifferences":
        """Ask a model that keeps its tasks, or take the reason why there is none."""
        answers: dict[str, Any] = dict.fromkeys(QUESTIONS)
        if isinstance(model, str):
            return cls(**answers, reasons=dict.fromkeys(QUESTIONS, model))
        asked: dict[str, Callable[[], Any]] = {
            "table": lambda: _table(model),
            "alone": lambda: retrospect.coefficient_path(model, window=1),
            "path": lambda: _path(model),
            "influence": lambda: _influence(model),
            "segments": lambda: _segments(model, order),
        }
        reasons: dict[str, str] = {}
        for name, ask in asked.items():
            try:
                answers[name] = ask()
            except (RidgewayError, ValueError, ArithmeticError) as error:  # the rest of the report is worth having
                reasons[name] = str(error)
        return cls(**answers, reasons=reasons)

    @property
    def differing(self) -> tuple[str, ...]:
        """The tasks whose adjusted p-value is below 0.05."""
        if self.table is None:
            return ()
        pairs = zip(self.table.tasks, self.table.adjusted_p_values, strict=True)
        return tuple(task for task, p_value in pairs if p_value < SIGNIFICANT)


def learn_by_task(
    rows: Array, names: Sequence[str], train: list[Index], columns: Sequence[str], family: FamilyName
) -> GeneralizedRidge | str:
    """Return a model that keeps each task apart, or why there is none.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features + 1)
        The features, then the target, in the units of the table.
    names : sequence of str
        The tasks.
    train : list of ndarray of int
        The rows to learn from, one array per task.
    columns : sequence of str
        The names of the features.
    family : {"gaussian", "binomial", "poisson", "multiclass"}
        What the target is.
    """
    if family != "gaussian":
        return "these questions are for targets that are numbers. Use family 'gaussian' for them."
    n_tasks, n_terms = len(names), rows.shape[1]
    if n_tasks > MOST_TASKS or n_tasks * n_terms**3 > MOST_WORK:
        return (
            f"a report covers at most {MOST_TASKS} tasks, and {MOST_WORK:g} for tasks times cubed coefficients; here "
            f"are {n_tasks} tasks, and {n_tasks * n_terms**3:.2g}. Learn with information='by_task', and use "
            "ridgeway.retrospect."
        )
    spread, largest = np.ptp(rows, axis=0), np.abs(rows).max()
    if largest > EXTREME or np.min(spread[spread > 0.0], initial=1.0) < 1.0 / EXTREME:
        return f"a column has numbers above {EXTREME:g}, or varies by less than {1.0 / EXTREME:g}. Change its unit."
    model = GeneralizedRidge(information="by_task")
    for task, part in zip(_ids(names), train, strict=True):
        model.partial_fit(rows[part, :-1], rows[part, -1], task=task)
    state: Any = model.state_
    return GeneralizedRidge.from_state(state, columns)


def _ids(names: Sequence[str]) -> list[str]:
    """Return the names as ids of tasks; those of the same name ("a / b" and "c", "a" and "b / c") are numbered."""
    counts = Counter(names)
    return [name if counts[name] == 1 else f"{name} ({i})" for i, name in enumerate(names, start=1)]


def _table(model: GeneralizedRidge) -> TaskTable:
    found = retrospect.tasks(model)
    _refuse_exact(model, found.noise_variance)
    if np.isnan(found.p_values).all():
        raise InferenceError(
            "no task can be tested against the others: they have too few rows to estimate their noise, or no direction "
            "in common. Use tasks with more rows, or fewer features."
        )
    return found


def _path(model: GeneralizedRidge) -> CoefficientPath:
    found = retrospect.coefficient_path(model)
    if not np.isfinite(found.standard_errors[-1]).any():
        raise InferenceError(
            "all tasks together have too few rows to determine the coefficients and their errors. Use more rows, or "
            "fewer features."
        )
    return found


def _influence(model: GeneralizedRidge) -> Influence:
    _refuse_exact(model, np.array([retrospect.summary(model).noise_variance]))
    found = retrospect.influence(model)
    if np.isnan(found.distance).all():
        raise InferenceError(
            "without any one of the tasks, the others do not determine the coefficients. Use tasks with more rows, or "
            "fewer features."
        )
    return found


def _segments(model: GeneralizedRidge, order: str) -> Segments:
    if order == "random":
        raise InvalidParameterError(
            "the tasks were learned in a random order, so a change has no place in time. Compare in the order of the "
            "file, or sorted."
        )
    n_tasks, n_terms = model.n_tasks_, model.n_features_in_ + 1
    fits = n_tasks * (n_tasks + 1) // 2
    if n_tasks > MOST_ORDERED or fits * n_terms**2 > MOST_FITS:
        raise InvalidParameterError(
            f"a report looks for changes in at most {MOST_ORDERED} tasks, and {MOST_FITS:g} for segments times "
            f"squared coefficients; here are {n_tasks} tasks, and {fits * n_terms**2:.2g}. Use retrospect.segments, or "
            "fewer features."
        )
    return retrospect.segments(model)


def _refuse_exact(model: GeneralizedRidge, variances: Array) -> None:
    """Raise if the noise, as far as it is known, is only rounding."""
    held = model.information_
    spread = np.sqrt(held.peak[-1] / held.total_weight)
    rounding = EXACT * spread + 8.0 * np.finfo(np.float64).eps * abs(held.mean[-1])
    if not np.isnan(variances).all() and np.sqrt(np.nanmax(variances)) <= rounding:
        raise InferenceError(
            "the coefficients fit the rows without noise, so chance cannot be told from differences. Compare the "
            "coefficients themselves, which are in task_coefficients.csv."
        )
