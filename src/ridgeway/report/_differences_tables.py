"""The numbers on how the tasks differ, as the rows of two tables; NaN if there is no answer."""

from typing import Any

import numpy as np

from ridgeway._checks import Array
from ridgeway.report._differences import TaskDifferences
from ridgeway.report._result import MethodComparison


def task_rows(comparison: MethodComparison) -> list[dict[str, Any]]:
    """Return one row per task: its noise, its test against the others, its influence and its segment."""
    found, n_tasks = comparison.differences, len(comparison.tasks)
    unknown = np.full(n_tasks, np.nan)
    table, moved = found.table, found.influence
    columns = {
        "noise_standard_deviation": unknown if table is None else np.sqrt(table.noise_variance),
        "f": unknown if table is None else table.f,
        "p_value": unknown if table is None else table.p_values,
        "adjusted_p_value": unknown if table is None else table.adjusted_p_values,
        "cooks_distance": unknown if moved is None else moved.distance,
    }
    numbers = [None] * n_tasks if found.segments is None else [int(i) + 1 for i in _segment_of(found)]
    return [
        {
            "number": i + 1,
            "task": task.name,
            "rows_learned": task.n_train,
            "rows_held_out": task.n_test,
            **{name: float(values[i]) for name, values in columns.items()},
            "segment": numbers[i],
        }
        for i, task in enumerate(comparison.tasks)
    ]


def coefficient_rows(found: TaskDifferences) -> list[dict[str, Any]]:
    """Return one row per task and term: the coefficient in the task alone, so far, without it, and in its segment."""
    alone, path, moved, divided = found.alone, found.path, found.influence, found.segments
    if alone is None:
        return []
    unknown = np.full(alone.coef.shape, np.nan)
    columns: dict[str, Array] = {"coef_alone": alone.coef, "standard_error_alone": alone.standard_errors}
    columns |= {
        "coef_so_far": unknown if path is None else path.coef,
        "standard_error_so_far": unknown if path is None else path.standard_errors,
        "coef_without": unknown if moved is None else moved.coef_without,
        "standard_error_without": unknown if moved is None else moved.standard_errors_without,
        "coef_in_segment": unknown if divided is None else divided.coef[_segment_of(found)],
        "standard_error_in_segment": unknown if divided is None else divided.standard_errors[_segment_of(found)],
    }
    return [
        {"number": i + 1, "task": task, "term": term, **{name: float(part[i, j]) for name, part in columns.items()}}
        for i, task in enumerate(alone.tasks)
        for j, term in enumerate(alone.terms)
    ]


def _segment_of(found: TaskDifferences) -> Any:
    """Return the position of the segment of each task, (n_tasks,)."""
    lengths = [] if found.segments is None else [len(segment) for segment in found.segments.segments]
    return np.repeat(np.arange(len(lengths)), lengths)
