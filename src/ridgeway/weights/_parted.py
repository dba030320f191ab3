"""The states that keep one memory per task."""

from dataclasses import replace
from typing import Any, Protocol, Self, runtime_checkable

from ridgeway._checks import Array
from ridgeway.data import Task
from ridgeway.errors import InferenceError
from ridgeway.information import ByTask
from ridgeway.weights._capabilities import Inferable
from ridgeway.weights._states import Summed, Whole


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

    def faded(self) -> Any:
        """Return the same as a state whose rows do not all count fully."""


class _TaskSums(Summed):
    """A sum over rows that is kept for each task."""

    @property
    def by_task(self) -> ByTask:
        """The information of each task."""
        held: Any = self.information
        kept: ByTask = held
        return kept

    def after(self, task: Task) -> Self:
        """Return the state after a task. Rows of a known task are added to it."""
        return super().after(task)._counted()

    def merge(self, other: Any) -> Any:
        """Return the state of the tasks of both; its rows have faded if those of one have. The prior counts once."""
        merged = super().merge(other)._counted()
        return merged if isinstance(other, Inferable) else merged.faded()

    def without(self, task_id: str) -> Self:
        """Return the state as if a task had never been learned, or raise `RemovalError`. No digits are lost."""
        return self.with_tasks(self.by_task.without(task_id))

    def with_tasks(self, tasks: ByTask) -> Self:
        """Return the state of other tasks, or of the same with other weights."""
        held: Any = tasks
        return replace(self, information=held)._counted()

    def faded(self) -> "Faded":
        """Return the same as a state whose rows do not all count fully."""
        return Faded(self.origin, self.n_tasks, self.information, self.prior)

    def _counted(self) -> Self:
        return replace(self, n_tasks=len(self.by_task.ids))


class Parted(_TaskSums, Whole):
    """Every row counts fully, and what is known from each task is kept apart."""


class Faded(_TaskSums):
    """The rows of older tasks count less, because of a decay: it is not known how many rows they are worth.

    So there is no `inference`. The weights stay as they are when further tasks are learned.
    """

    @property
    def prior_in_force(self) -> Array:
        """P, which does not fade; or raise if it would have to be learned."""
        if self.prior is None:
            raise InferenceError(
                "the prior is learned, and the noise cannot be estimated from rows that have faded. Learn with "
                "decay=1.0, or give the prior as a number."
            )
        return self.prior
