"""A state machine of hypothesis: random calls on stores of classes and counts, compared with the estimators."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from ridgeway.errors import DuplicateTaskError, MergeError, RemovalError, RidgewayError
from torture.families import KINDS, PRIOR, Kind
from torture.machine import CLOSE, CONTENTS, IDS, OTHERS
from torture.tasks import arrays_of, name, rows
from torture.watched import WatchedMachine

WRONG: dict[str, Callable[[Kind], Any]] = {
    "another type": lambda kind: [7 if isinstance(value, str) else "many" for value in kind.task(0)[1]],
    "probabilities": lambda kind: -np.linspace(0.1, 0.9, len(kind.task(0)[1])),
    "a missing label": lambda kind: [None, *list(kind.task(0)[1])[1:]],
    "one too few": lambda kind: kind.task(0)[1][1:],
    "dates": lambda kind: np.full(len(kind.task(0)[1]), np.datetime64("2020-01-01")),
}


class FamilyMachine(WatchedMachine):
    """A store of a family, the tasks that it should hold, and the estimator that learned them, if none was removed."""

    runs_a_round = 4
    kind: Kind
    model: Any

    @initialize(family=st.sampled_from(list(KINDS)))
    def start(self, family: str) -> None:
        """Make a store."""
        self.kind = KINDS[family]
        self.store, self.model = self.kind.create(self.another()), self.kind.model()
        self.tasks: list[tuple[int, int]] = []

    @rule(task_id=IDS, content=CONTENTS, force=st.sampled_from([None, "on purpose"]))
    def absorb(self, task_id: int, content: int, force: str | None) -> None:
        """Absorb: a new task counts, the same again does not, and any other clash needs a reason."""
        given = self.kind.task(content)
        if (task_id, content) in self.tasks:
            self.unchanged(lambda: self.known(self.store.absorb(name(task_id), *given, force=force)))
        elif force is None and any(task_id == i or content == c for i, c in self.tasks):
            self.refused(DuplicateTaskError, lambda: self.store.absorb(name(task_id), *given))
        else:
            self.expect(not self.store.absorb(name(task_id), *given, force=force).already, "it is not new")
            self.tasks.append((task_id, content))
            if self.model is not None:
                self.model.partial_fit(*given)

    @rule(task_id=IDS, content=CONTENTS)
    def remove(self, task_id: int, content: int) -> None:
        """Remove a task of classes; tasks of a likelihood cannot be removed."""
        given = self.kind.task(content)
        if (task_id, content) not in self.tasks or self.kind.settings["family"] != "multiclass":
            self.refused(RemovalError, lambda: self.store.remove(name(task_id), *given))
            return
        self.store.remove(name(task_id), *given)
        self.tasks.remove((task_id, content))
        self.model = None

    @rule(others=OTHERS)
    def merge(self, others: list[tuple[int, int]]) -> None:
        """Merge with another store, if they have no id and no content in common, and continue with the result."""
        other, out, model = self.kind.create(self.another()), self.another(), self.kind.model()
        for task_id, content in others:
            other.absorb(name(task_id), *self.kind.task(content))
            model.partial_fit(*self.kind.task(content))
        if any(task_id == i or content == c for task_id, content in others for i, c in self.tasks):
            self.refused(MergeError, lambda: self.store.merge(other, out))
            return
        self.store = self.store.merge(other, out)
        if self.model is not None and others:
            self.model = self.model.merge(model) if self.tasks else model
        self.tasks += others

    @rule()
    def export(self) -> None:
        """Continue with what an export makes of the store."""
        self.import_export()

    @rule(wrong=st.sampled_from(list(WRONG)))
    def absorb_what_is_wrong(self, wrong: str) -> None:
        """Refuse labels of another type, and values that are neither labels nor counts."""
        if self.tasks:
            self.refused(RidgewayError, lambda: self.store.absorb("x", rows(0)[0], WRONG[wrong](self.kind)))

    @invariant()
    def answers_as_the_estimator(self) -> None:
        """Compare the state with that of the estimator, and classes with least squares on all rows."""
        self.count()
        self.unchanged(self.store.check)
        ids = [record.task_id for record in self.store.history()]
        self.expect(ids == [name(task_id) for task_id, _ in self.tasks], f"the ledger has {ids}")
        if not self.tasks:
            return
        model = self.store.model()
        if self.model is not None:
            self.expect(arrays_of(model) == arrays_of(self.model), "the state is not the estimator's")
        if self.kind.settings["family"] == "multiclass":
            self.expect(self.is_pooled(model), "the coefficients are not those of ridge regression on all rows")

    def is_pooled(self, model: Any) -> bool:
        """Say whether scores are those of ridge regression on the classes of all rows, by plain NumPy."""
        X = np.vstack([self.kind.task(content)[0] for _, content in self.tasks])
        y = np.concatenate([self.kind.task(content)[1] for _, content in self.tasks])
        Y = (y[:, None] == model.classes_).astype(float)
        centered, residual = X - X.mean(axis=0), Y - Y.mean(axis=0)
        exact = np.linalg.solve(centered.T @ centered + PRIOR * np.eye(X.shape[1]), centered.T @ residual)
        return bool(np.allclose(model.state_.answer.coef, exact, rtol=CLOSE, atol=CLOSE))
