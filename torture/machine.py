"""A state machine of hypothesis: random calls on a store, compared with a plain model in memory."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from ridgeway import GeneralizedRidge, store
from ridgeway.errors import DuplicateTaskError, InvalidDataError, MergeError, RemovalError, RidgewayError
from ridgeway.information import Information
from torture.broken import COUNTS_TWICE, KEEPS_WHAT_IS_REMOVED, NOT_OVERWRITTEN, UNCHECKED
from torture.broken_families import ADDS_TWICE, FORGETS_CLASSES
from torture.broken_parts import LEAVES_THE_PART, NOT_THE_ROOT
from torture.job import Job
from torture.outcome import Outcome
from torture.tasks import FEATURES, TARGET, name, rows, state_of
from torture.watched import WatchedMachine, run_machine

CONTROLS = (COUNTS_TWICE, KEEPS_WHAT_IS_REMOVED, NOT_OVERWRITTEN, UNCHECKED)
KEPT_CONTROLS = (LEAVES_THE_PART, NOT_THE_ROOT)
SHARE_KEPT = 5
"""The number of steps per step of a store that keeps its tasks."""
FAMILY_CONTROLS = (FORGETS_CLASSES, ADDS_TWICE)
SHARE_FAMILY = 25
"""The number of steps per step of a store of classes or counts."""
CLOSE = 1e-7

IDS, CONTENTS = st.integers(0, 5), st.integers(0, 5)
OTHERS = st.lists(
    st.tuples(st.integers(3, 9), st.integers(3, 9)), max_size=3, unique_by=(lambda task: task[0], lambda task: task[1])
)
WRONG: dict[str, Callable[[], tuple[Any, ...]]] = {
    "not a number": lambda: ("x", rows(0)[0] * np.nan, rows(0)[1]),
    "an infinite target": lambda: ("x", rows(0)[0], rows(0)[1] + np.inf),
    "a column too few": lambda: ("x", rows(0)[0][:, 1:], rows(0)[1]),
    "a row too few": lambda: ("x", rows(0)[0][1:], rows(0)[1]),
    "no rows": lambda: ("x", rows(0)[0][:0], rows(0)[1][:0]),
    "an id that is a path": lambda: ("../x", *rows(0)),
    "an empty id": lambda: ("", *rows(0)),
    "text": lambda: ("x", rows(0)[0].astype(str), rows(0)[1]),
    "a negative weight": lambda: ("x", *rows(0), -np.ones(len(rows(0)[1]))),
    "squares that overflow": lambda: ("x", rows(0)[0] * 1e300, rows(0)[1]),
}


class StoreMachine(WatchedMachine):
    """A store, the tasks that it should hold, and a model that took the same steps."""

    def __init__(self) -> None:
        super().__init__()
        self.store = store.create(self.another(), features=FEATURES, target=TARGET)
        self.tasks: list[tuple[int, int]] = []
        self.model = GeneralizedRidge()

    @rule(task_id=IDS, content=CONTENTS)
    def absorb(self, task_id: int, content: int) -> None:
        """Absorb: a new task counts, the same again does not, and any other clash is refused."""
        if (task_id, content) in self.tasks:
            self.unchanged(lambda: self.known(self.store.absorb(name(task_id), *rows(content))))
        elif any(task_id == i or content == c for i, c in self.tasks):
            self.refused(DuplicateTaskError, lambda: self.store.absorb(name(task_id), *rows(content)))
        else:
            self.take(task_id, content, None)

    @rule(task_id=IDS, content=CONTENTS)
    def absorb_by_force(self, task_id: int, content: int) -> None:
        """Absorb with a reason: a clash counts once more, but never the same task twice."""
        if (task_id, content) in self.tasks:
            self.unchanged(lambda: self.known(self.store.absorb(name(task_id), *rows(content), force="again")))
        else:
            self.take(task_id, content, "on purpose")

    @rule(task_id=IDS, content=CONTENTS)
    def remove(self, task_id: int, content: int) -> None:
        """Remove a task with exactly its rows; anything else is refused."""
        if (task_id, content) not in self.tasks:
            self.refused(RemovalError, lambda: self.store.remove(name(task_id), *rows(content)))
            return
        gone = self.store.model().to_arrays()["matrix"].tobytes()
        self.tasks.remove((task_id, content))
        self.store.remove(name(task_id), *rows(content))
        self.expect(gone not in self.store.path.read_bytes(), "the file still has the state that was removed")
        if self.tasks:
            self.model = self.model.remove(*rows(content))
        else:
            self.model = GeneralizedRidge()

    @rule(others=OTHERS)
    def merge(self, others: list[tuple[int, int]]) -> None:
        """Merge with another store, if they have no id and no content in common, and continue with the result."""
        other = store.create(self.another(), features=FEATURES, target=TARGET)
        out = self.another()
        model = GeneralizedRidge()
        for task_id, content in others:
            other.absorb(name(task_id), *rows(content))
            model.partial_fit(*rows(content))
        if any(task_id == i or content == c for task_id, content in others for i, c in self.tasks):
            self.refused(MergeError, lambda: self.store.merge(other, out))
            self.expect(not out.exists(), "a refused merge left a file")
            return
        self.store = self.store.merge(other, out)
        if self.tasks and others:
            self.model = self.model.merge(model)
        elif others:
            self.model = model
        self.tasks += others

    @rule(wrong=st.sampled_from(list(WRONG)))
    def absorb_what_is_wrong(self, wrong: str) -> None:
        """Refuse invalid rows."""
        self.refused(RidgewayError, lambda: self.store.absorb(*WRONG[wrong]()))

    @rule()
    def absorb_with_a_slip(self) -> None:
        """Refuse a state that does not count all rows."""
        with mock.patch.object(Information, "add", lambda held, _: held):
            self.refused(InvalidDataError, lambda: self.store.absorb("slip", *rows(99)))

    @rule()
    def open_again(self) -> None:
        """Continue with another handle on the same file."""
        self.unchanged(lambda: store.open(self.store.path).check())
        self.store = store.open(self.store.path)

    @rule()
    def leave_it_where_it_is(self) -> None:
        """Refuse to overwrite a store, and to restore an intact one."""
        path = self.store.path
        self.refused(RidgewayError, lambda: store.create(path, features=["z"], target="y"))
        self.refused(RidgewayError, lambda: store.restore_previous(path))

    @invariant()
    def answers_as_the_model(self) -> None:
        """Compare every answer with the model, and the model with least squares on all rows."""
        self.count()
        history = self.store.history()
        ids = [record.task_id for record in history]
        self.expect(ids == [name(task_id) for task_id, _ in self.tasks], f"the ledger has {ids}")
        digests = {record.digest for record in history}
        self.expect(len(digests) == len({content for _, content in self.tasks}), "the ledger's digests differ")
        if not self.tasks:
            return
        model = self.store.model()
        self.expect(state_of(model) == state_of(self.model), "the state is not that of the model")
        pooled = np.vstack([np.column_stack(rows(content)) for _, content in self.tasks])
        X, y = np.insert(pooled[:, :-1], 0, 1.0, axis=1), pooled[:, -1]
        exact = np.linalg.lstsq(X, y, rcond=None)[0]
        near = np.allclose(np.append(model.intercept_, model.coef_), exact, rtol=CLOSE, atol=CLOSE)
        self.expect(bool(near), "the coefficients are not those of least squares on all rows")
        counted = sum(record.n_samples for record in history)
        self.expect(model.n_samples_seen_ == len(y) == counted, "the rows are counted wrongly")

    def take(self, task_id: int, content: int, force: str | None) -> None:
        """Absorb in the store and in the model."""
        taken = self.store.absorb(name(task_id), *rows(content), force=force)
        self.expect(not taken.already, "a new task was taken for an old one")
        self.model.partial_fit(*rows(content))
        self.tasks.append((task_id, content))


def run(job: Job) -> Outcome:
    """Take steps; then check that broken stores are caught."""
    from torture.family_machine import FamilyMachine
    from torture.kept_machine import KeptMachine

    outcome = run_machine(StoreMachine, "machine", job, CONTROLS)
    shared = replace(job, times=-(-job.times // SHARE_KEPT))
    outcome.merge(run_machine(KeptMachine, "machine", shared, KEPT_CONTROLS).of("a store that keeps tasks"))
    shared = replace(job, times=-(-job.times // SHARE_FAMILY))
    outcome.merge(run_machine(FamilyMachine, "machine", shared, FAMILY_CONTROLS).of("a store of classes or counts"))
    return outcome
