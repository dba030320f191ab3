"""What a state can do: answer, and whatever else an estimator may ask it for."""

from typing import Any, Protocol, runtime_checkable

from ridgeway.data import Classes, Task
from ridgeway.information import AveragedInference, Inference, Information
from ridgeway.weights._states import Answer, Origin


class State(Protocol):
    """What a policy remembers between tasks: all that an estimator asks for.

    Examples
    --------
    >>> from ridgeway import ContinualRidge, Oracle
    >>> for model in (ContinualRidge(), Oracle()):
    ...     state = model.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).state_
    ...     print(type(state).__name__, state.n_tasks, state.n_samples)
    Anchored 1 3
    Pooled 1 3
    """

    @property
    def origin(self) -> Origin:
        """Where the model started."""

    @property
    def n_tasks(self) -> int:
        """Tasks learned."""

    @property
    def n_samples(self) -> int:
        """Rows learned, not counting rows of weight zero."""

    @property
    def answer(self) -> Answer:
        """The estimate after the last task."""

    def resumed(self, origin: Origin) -> "State":
        """Return the state under the model's present settings, or raise if they cannot change any more."""

    def with_classes(self, classes: Classes) -> "State":
        """Return the state with these classes as targets. A new one is a target that was 0 in every past row."""


@runtime_checkable
class Informed(Protocol):
    """States that keep information about the past.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, MinimumNorm, weights
    >>> models = GeneralizedRidge(), MinimumNorm()
    >>> [isinstance(m.fit([[1.0], [2.0]], [1, 2]).state_, weights.Informed) for m in models]
    [True, False]
    """

    information: Information


@runtime_checkable
class Mergeable(Protocol):
    """States that can be merged.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, weights
    >>> both = [GeneralizedRidge().fit([[0], [1]], y).state_ for y in ([0, 1], [2, 3])]
    >>> isinstance(both[0], weights.Mergeable)
    True
    >>> both[0].merge(both[1]).answer.intercept  # as if both had been one task
    array([1.])
    """

    def merge(self, other: Any) -> Any:
        """Return the state of both pasts."""


@runtime_checkable
class Removable(Protocol):
    """States that a task can be removed from.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, weights
    >>> kept, faded = weights.Accumulated(), weights.Accumulated(decay=0.5)
    >>> states = [GeneralizedRidge(p).fit([[0], [1]], [0, 1]).state_ for p in (kept, faded)]
    >>> [isinstance(state, weights.Removable) for state in states]
    [True, False]
    """

    def remove(self, task: Task) -> Any:
        """Return the state as if the task had never been learned."""


@runtime_checkable
class Inferable(Protocol):
    """States that know how well the estimate is known.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, weights
    >>> state = GeneralizedRidge().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0]).state_
    >>> isinstance(state, weights.Inferable)
    True
    >>> state.inference().degrees_of_freedom  # three rows, two parameters
    1
    """

    def inference(self) -> Inference | AveragedInference:
        """Return what is known about the estimate."""
