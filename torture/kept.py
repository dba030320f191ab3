"""Stores that keep their tasks: their life, and the calls on them that meet faults."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

from ridgeway import GeneralizedRidge, store
from ridgeway.errors import DamagedStoreError, RemovalError
from ridgeway.information import ByTask
from torture.more_scenarios import command, table
from torture.scenarios import WIDE, Scenario, filled
from torture.tasks import (
    FEATURES,
    LIFE,
    TARGET,
    Life,
    Step,
    difference,
    name,
    parts_of,
    rows,
    state_of,
)

KEEP = ("tasks", "fourth-moments")


class KeptStep(Step):
    """One call in the life of a store that keeps its tasks: a task is removed without its rows."""

    def take(self, path: Path) -> None:
        """Make the call."""
        if self.verb == "create":
            store.create(path, features=FEATURES, target=TARGET, keep=KEEP)
        elif self.verb == "absorb":
            store.open(path).absorb(name(self.number), *rows(self.number))
        else:
            store.open(path).remove(name(self.number))

    def repeat(self, path: Path) -> None:
        """Make the call if it may have been made before, as a careful user would."""
        if self.verb == "create" and path.exists():
            store.open(path)
            return
        try:
            self.take(path)
        except RemovalError as error:
            if "no task" not in str(error):
                raise


KEPT_STEPS = [KeptStep(step.verb, step.number) for step in LIFE]


@lru_cache(maxsize=256)
def _expected(done: int) -> tuple[tuple[str, ...], bytes]:
    """Return ids and state after the first steps: those of a model in memory that learned the tasks that are left."""
    tasks = _left(KEPT_STEPS[:done])
    if not tasks:
        return (), b""
    model = GeneralizedRidge(information=ByTask(fourth_moments=True))
    for number in sorted(tasks):  # in another order, on purpose
        model.partial_fit(*rows(number), task=name(number))
    ids = tuple(map(name, tasks))
    held: Any = model.information_
    return ids, state_of(model) + parts_of({task: held.part(task) for task in ids})


def _left(steps: Sequence[Step]) -> list[int]:
    """Return the tasks that are left after some steps, in the order of the ledger."""
    tasks: list[int] = []
    for step in steps:
        if step.verb == "absorb":
            tasks.append(step.number)
        elif step.verb == "remove":
            tasks.remove(step.number)
    return tasks


def _kept_differently(path: Path, done: int) -> str:
    """Return how a store differs from what the first steps leave, or an empty string."""
    return difference(path, done, _expected)


KEPT_LIFE = Life(KEPT_STEPS, _kept_differently, _expected)


def _some(folder: Path) -> None:
    filled(folder / "a.rw", range(5), keep=KEEP)
    table(folder / "new.csv", range(4, 6), "task")


def _wide(folder: Path) -> None:
    filled(folder / "a.rw", range(4), WIDE, keep="tasks")


def _two(folder: Path) -> None:
    filled(folder / "a.rw", range(3), keep=KEEP)
    filled(folder / "b.rw", range(3, 6), keep=KEEP)


def _damaged(folder: Path) -> None:
    """Make a store whose current tree has a damaged root, and whose previous one is intact."""
    root = filled(folder / "a.rw", range(5), keep=KEEP).snapshot().generation.parts
    place = 0 if root is None or root.root is None else root.root.id
    with closing(sqlite3.connect(folder / "a.rw", isolation_level=None)) as connection:
        connection.execute("UPDATE parts SET data = zeroblob(length(data)) WHERE id = ?", (place,))


def _restore(folder: Path) -> None:
    """Restore the previous generation, unless that was done before."""
    try:
        store.open(folder / "a.rw").check()
    except DamagedStoreError:
        store.restore_previous(folder / "a.rw")


def _remove(folder: Path, number: int = 2) -> None:
    """Remove a task, unless that was done before."""
    opened = store.open(folder / "a.rw")
    if name(number) in [record.task_id for record in opened.history()]:
        opened.remove(name(number))


KEPT_SCENARIOS = (
    Scenario("kept: absorb", _some, lambda folder: _absorb(folder, len(FEATURES))),
    Scenario("kept: absorb by column", _some, command("absorb", "a.rw", "new.csv", "--task-column", "task")),
    Scenario("kept: absorb, several pages", _wide, lambda folder: _absorb(folder, WIDE)),
    Scenario("kept: remove", _some, _remove),
    Scenario("kept: remove, several pages", _wide, _remove),
    Scenario("kept: widen", _some, command("widen", "a.rw", "--feature", "hours", "--past-value", "2")),
    Scenario("kept: merge", _two, lambda folder: _merge(folder)),
    Scenario("kept: export", _some, command("export", "a.rw", "out.safetensors")),
    Scenario("kept: restore", _damaged, _restore),
)


def _absorb(folder: Path, n_features: int) -> None:
    store.open(folder / "a.rw").absorb(name(8), *rows(8, n_features))


def _merge(folder: Path) -> None:
    store.open(folder / "a.rw").merge(folder / "b.rw", folder / "both.rw")
