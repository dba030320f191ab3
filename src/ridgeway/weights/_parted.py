"""The state that keeps one memory per task."""

from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from ridgeway.data import Task
from ridgeway.information import ByTask
from ridgeway.weights._states import Pooled


@runtime_checkable
class TaskKeeper(Protocol):
    """States that keep the information of each task.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, weights
    >>> model = GeneralizedRidge(information="by_task")
    >>> state = model.fit([[0], [1], [0], [1]], [0, 1, 5, 9], tasks=list("aabb")).state_
    >>> isinstance(state, weights.TaskKeeper), state.by_task.ids
    (True, ('a', 'b'))
    >>> state.without("b").answer.coef
    array([[1.]])
    """

    @property
    def by_task(self) -> ByTask:
        """The information of each task."""

    def without(self, task_id: str) -> Any:
        """Return the state as if the task had never been learned."""

    def with_tasks(self, tasks: ByTask) -> Any:
        """Return the state of other tasks, or of the same with other weights."""


class Parted(Pooled):
    """Every row counts fully, and what is known from each task is kept apart."""

    @property
    def by_task(self) -> ByTask:
        """The information of each task."""
        held: Any = self.information
        kept: ByTask = held
        return kept

    def after(self, task: Task) -> "Parted":
        """Return the state after a task. Rows of a known task are added to it."""
        return self._counted(super().after(task))

    def merge(self, other: Any) -> "Parted":
        """Return the state of the tasks of both. The prior counts once."""
        return self._counted(super().merge(other))

    def without(self, task_id: str) -> "Parted":
        """Return the state as if a task had never been learned, or raise `RemovalError`. No digits are lost."""
        return self.with_tasks(self.by_task.without(task_id))

    def with_tasks(self, tasks: ByTask) -> "Parted":
        """Return the state of other tasks, or of the same with other weights."""
        held: Any = tasks
        return self._counted(replace(self, information=held))

    @staticmethod
    def _counted(state: Any) -> "Parted":
        counted: Parted = replace(state, n_tasks=len(state.by_task.ids))
        return counted
