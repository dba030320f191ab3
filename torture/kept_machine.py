"""A state machine of hypothesis: random calls on a store that keeps its tasks, compared with the rows themselves."""

from collections import Counter
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from ridgeway import GeneralizedRidge, store
from ridgeway.errors import DuplicateTaskError, MergeError, RemovalError, RidgewayError
from torture.machine import CLOSE, CONTENTS, IDS, OTHERS, WRONG
from torture.tasks import FEATURES, TARGET, name, rows
from torture.watched import WatchedMachine


@lru_cache(maxsize=64)
def part_of(content: int) -> tuple[bytes, bytes]:
    """Return what is kept of a task, as a model of that task alone has it."""
    held = GeneralizedRidge().fit(*rows(content)).information_
    return held.matrix.tobytes(), held.mean.tobytes()


class KeptMachine(WatchedMachine):
    """A store that keeps its tasks, and the tasks that it should hold."""

    runs_a_round = 5

    def __init__(self) -> None:
        super().__init__()
        self.store = self.start()
        self.tasks: list[tuple[int, int]] = []

    def start(self) -> store.Store:
        """Make an empty store."""
        return store.create(self.another(), features=FEATURES, target=TARGET, keep="tasks")

    @rule(task_id=IDS, content=CONTENTS, force=st.sampled_from([None, "on purpose"]))
    def absorb(self, task_id: int, content: int, force: str | None) -> None:
        """Absorb: a new task counts, the same again does not, and any other clash needs a reason."""
        if (task_id, content) in self.tasks:
            self.unchanged(lambda: self.known(self.store.absorb(name(task_id), *rows(content), force=force)))
        elif force is None and any(task_id == i or content == c for i, c in self.tasks):
            self.refused(DuplicateTaskError, lambda: self.store.absorb(name(task_id), *rows(content)))
        else:
            taken = self.store.absorb(name(task_id), *rows(content), force=force)
            self.expect(not taken.already, "a new task was taken for an old one")
            self.tasks.append((task_id, content))

    @rule(task_id=IDS, by_rows=st.booleans(), content=CONTENTS)
    def remove(self, task_id: int, by_rows: bool, content: int) -> None:
        """Remove a task by its id, the last one first; or by its rows."""
        held = [task for task in self.tasks if task[0] == task_id and (not by_rows or task[1] == content)]
        given = rows(content) if by_rows else ()
        if not held:
            self.refused(RemovalError, lambda: self.store.remove(name(task_id), *given))
            return
        lost = self.store.remove(name(task_id), *given).digits_lost
        self.expect(lost == 0.0, f"{lost} digits were lost")
        self.tasks.remove(held[-1])
        file = self.store.path.read_bytes()
        if held[-1][1] not in [content for _, content in self.tasks]:
            gone = part_of(held[-1][1])[1]
            self.expect(gone not in file, "the file still has the part that was removed")

    @rule(others=OTHERS)
    def merge(self, others: list[tuple[int, int]]) -> None:
        """Merge with another store, if they have no id and no content in common, and continue with the result."""
        other, out = self.start(), self.another()
        for task_id, content in others:
            other.absorb(name(task_id), *rows(content))
        if any(task_id == i or content == c for task_id, content in others for i, c in self.tasks):
            self.refused(MergeError, lambda: self.store.merge(other, out))
            return
        self.store = self.store.merge(other, out)
        self.tasks += others

    @rule()
    def export(self) -> None:
        """Continue with what an export makes of the store."""
        self.import_export()

    @rule(wrong=st.sampled_from(list(WRONG)))
    def absorb_what_is_wrong(self, wrong: str) -> None:
        """Refuse invalid rows, and tasks that are too small."""
        self.refused(RidgewayError, lambda: self.store.absorb(*WRONG[wrong]()))
        X, y = rows(99)
        self.refused(RidgewayError, lambda: self.store.absorb("small", X[:9], y[:9]))

    @invariant()
    def keeps_every_task(self) -> None:
        """Compare the parts with the rows of the tasks, and the total with least squares on all rows."""
        self.count()
        self.unchanged(self.store.check)
        ids = [record.task_id for record in self.store.history()]
        self.expect(ids == [name(task_id) for task_id, _ in self.tasks], f"the ledger has {ids}")
        leaves: list[Any] = self.store.snapshot().leaves
        held = Counter((leaf.name.task, leaf.information.matrix.tobytes()) for leaf in leaves)
        due = Counter((name(task_id), part_of(content)[0]) for task_id, content in self.tasks)
        self.expect(held == due, "the parts are not those of the tasks")
        if not self.tasks:
            return
        model = self.store.model()
        pooled = np.vstack([np.column_stack(rows(content)) for _, content in self.tasks])
        X, y = np.insert(pooled[:, :-1], 0, 1.0, axis=1), pooled[:, -1]
        exact = np.linalg.lstsq(X, y, rcond=None)[0]
        near = np.allclose(np.append(model.intercept_, model.coef_), exact, rtol=CLOSE, atol=CLOSE)
        self.expect(bool(near), "the coefficients are not those of least squares on all rows")
