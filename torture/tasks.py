"""The tasks that the campaign learns, the steps of a store's life, and what the store must answer after each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ridgeway import GeneralizedRidge, store
from ridgeway.errors import RemovalError, RidgewayError
from ridgeway.information import Information

Array = NDArray[np.float64]

FEATURES = ["age", "education", "tenure"]
TARGET = "log_wage"
N_ROWS = 8
CLOSE = 1e-9


class Answers(NamedTuple):
    """All answers of a store, numbers as bytes."""

    schema: str
    ledger: tuple[store.Record, ...]
    state: bytes
    information: bytes

    @property
    def ids(self) -> tuple[str, ...]:
        """The tasks, in order."""
        return tuple(record.task_id for record in self.ledger)


class LifeStep(Protocol):
    """One call in a store's life."""

    def take(self, path: Path) -> None:
        """Make the call."""

    def repeat(self, path: Path) -> None:
        """Make the call if it may have been made before, as a careful user would."""


class Life(NamedTuple):
    """A sequence of calls on a store, and what must hold after the first of them.

    Attributes
    ----------
    steps : the calls
    disagreement : returns how a store differs from what the first `done` steps leave, or an empty string
    moment : returns ids and state after the first `done` steps
    """

    steps: Sequence[LifeStep]
    disagreement: Callable[[Path, int], str]
    moment: Callable[[int], tuple[tuple[str, ...], bytes]]


@dataclass(frozen=True)
class Step:
    """One call in a store's life."""

    verb: Literal["create", "absorb", "remove"]
    number: int = 0

    def take(self, path: Path) -> None:
        """Make the call."""
        if self.verb == "create":
            store.create(path, features=FEATURES, target=TARGET)
        elif self.verb == "absorb":
            store.open(path).absorb(name(self.number), *rows(self.number))
        else:
            store.open(path).remove(name(self.number), *rows(self.number))

    def repeat(self, path: Path) -> None:
        """Make the call if it may have been made before, as a careful user would."""
        if self.verb == "create" and path.exists():
            store.open(path)
            return
        try:
            self.take(path)
        except RemovalError:
            if name(self.number) in [record.task_id for record in store.open(path).history()]:
                raise


LIFE = [
    Step("create"),
    *(Step("absorb", number) for number in range(5)),
    Step("remove", 2),
    Step("absorb", 5),
    Step("absorb", 2),
    Step("remove", 0),
    *(Step("absorb", number) for number in range(6, 10)),
]
"""Each step changes the ledger, so the ledger shows which was the last."""


def name(number: int) -> str:
    """Return a task's id."""
    return f"task-{number}"


@lru_cache(maxsize=4096)
def rows(number: int, n_features: int = len(FEATURES)) -> tuple[Array, Array]:
    """Return a task's rows and targets, always the same ones, in the memory order in which a store learns them."""
    rng = np.random.default_rng([6, number])
    X = np.asfortranarray(rng.standard_normal((N_ROWS + n_features, n_features)) + number % 3)
    y = X @ np.arange(1.0, n_features + 1.0) + rng.standard_normal(len(X))
    X.flags.writeable = y.flags.writeable = False
    return X, y


def learned(steps: Sequence[Step]) -> tuple[list[int], GeneralizedRidge]:
    """Return the tasks in the ledger and a model that took the same steps in memory."""
    ledger: list[int] = []
    model = GeneralizedRidge()
    for step in steps:
        if step.verb == "absorb":
            model.partial_fit(*rows(step.number))
            ledger.append(step.number)
        elif step.verb == "remove":
            model = model.remove(*rows(step.number))
            ledger.remove(step.number)
    return ledger, model


@lru_cache(maxsize=256)
def expected(done: int) -> tuple[tuple[str, ...], bytes]:
    """Return ids and state after the first steps of `LIFE`."""
    ledger, model = learned(LIFE[:done])
    return tuple(name(number) for number in ledger), state_of(model) if ledger else b""


def state_of(model: GeneralizedRidge) -> bytes:
    """Return the numbers of a model."""
    held = model.information_
    numbers = [model.coef_, model.intercept_, held.matrix, held.mean, held.mean_low, held.peak, held.digits_lost]
    return b"".join(np.asarray(value, dtype=np.float64).tobytes() for value in [*numbers, held.total_weight])


def arrays_of(model: Any) -> bytes:
    """Return all that a model has learned."""
    return b"".join(name.encode() + array.tobytes() for name, array in sorted(model.to_arrays().items()))


def parts_of(parts: Mapping[str, Information]) -> bytes:
    """Return the numbers of the parts of tasks, in their order."""
    return b"".join(array.tobytes() for part in parts.values() for array in part.to_parts()[1].values())


def said(opened: store.Store) -> Answers:
    """Return all answers of a store, and the parts of its tasks if it keeps them."""
    ledger = opened.history()
    if not ledger:
        return Answers(repr(opened.schema), ledger, b"", b"")
    model, parts = opened.model(), b""
    if opened.schema.family is not None:
        return Answers(repr(opened.schema), ledger, arrays_of(model), b"")
    if opened.schema.keep is not None:
        held: Any = opened.model_by_task().information_
        parts = parts_of(held.parts())
    return Answers(repr(opened.schema), ledger, state_of(model) + parts, model.information_.matrix.tobytes())


def answers(path: Path) -> Answers:
    """Open a store, check it in full, and return all its answers."""
    opened = store.open(path)
    opened.check()
    return said(opened)


def disagreement(path: Path, done: int) -> str:
    """Return how a store differs from what the first `done` steps of `LIFE` leave, or an empty string."""
    return difference(path, done, expected)


def difference(path: Path, done: int, moment: Callable[[int], tuple[tuple[str, ...], bytes]]) -> str:
    """Return how a store differs from the ids and the state that `moment` gives, or an empty string."""
    try:
        found = answers(path)
    except RidgewayError as error:
        return "" if done == 0 and not path.exists() else f"does not open: {error}"
    ids, state = moment(done)
    if found.ids != ids:
        return f"the ledger has {list(found.ids)}, not {list(ids)}"
    if found.state != state:
        return "the state is not that of the ledger's tasks"
    if not ids or not found.information:
        return ""
    gap = distance_from_pooled(found, [int(task_id.removeprefix("task-")) for task_id in ids])
    return "" if gap < CLOSE else f"the information is not the sum over the ledger's tasks (off by {gap:.1e})"


def distance_from_pooled(
    found: Answers, ledger: Sequence[int], rows_of: Callable[[int], tuple[Array, Array]] = rows
) -> float:
    """Return how far the information is from Σ (a − ā)(a − ā)ᵀ over all rows a = [x, y], by plain NumPy."""
    pooled = np.vstack([np.column_stack(rows_of(number)) for number in ledger])
    centered = pooled - pooled.mean(axis=0)
    total = centered.T @ centered
    factor = np.frombuffer(found.information).reshape(total.shape)
    if not np.array_equal(factor, np.triu(factor)):
        factor = factor.T
    return float(np.abs(factor.T @ factor - total).max() / np.abs(total).max())


PLAIN_LIFE = Life(LIFE, disagreement, expected)
