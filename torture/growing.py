"""A state machine of hypothesis: random calls on a store that grows, compared with plain NumPy on all rows."""

from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from ridgeway import store
from ridgeway.errors import DuplicateTaskError, InvalidParameterError, MergeError, RemovalError
from torture.broken import FORGETS_VERSIONS, KNOWS_NOTHING_OLD, MERGES_TWICE, PAST_IS_ZERO
from torture.broken_parts import PARTS_NOT_WIDENED
from torture.growth import FIRST_JOBS, JOB, JOBS, PAST, distance, pooled, start, table
from torture.job import Job
from torture.outcome import Outcome
from torture.tasks import name
from torture.watched import WatchedMachine, run_machine

CONTROLS = (FORGETS_VERSIONS, KNOWS_NOTHING_OLD, MERGES_TWICE, PAST_IS_ZERO)
KEPT_CONTROLS = (PARTS_NOT_WIDENED,)
SHARE_KEPT = 2
"""The number of steps per step of a store that keeps its tasks."""
CLOSE = 1e-7

Content = tuple[int, int, frozenset[str]]
IDS, NUMBERS, N_JOBS = st.integers(0, 5), st.integers(0, 5), st.integers(FIRST_JOBS, len(JOBS))
LATE = st.frozensets(st.sampled_from(sorted(PAST)))
OTHERS = st.lists(st.tuples(st.integers(3, 9), st.integers(3, 9), N_JOBS), max_size=3, unique_by=lambda task: task[0])


class Shape(NamedTuple):
    """The categories and the late columns of a store, and the version of its schema."""

    jobs: frozenset[str] = frozenset(JOBS[:FIRST_JOBS])
    late: tuple[str, ...] = ()
    version: int = 1

    @property
    def features(self) -> list[str]:
        """The features, in order."""
        return ["age", "education", *(f"{JOB}={job}" for job in sorted(self.jobs - {JOBS[0]})), *self.late]


class GrowingMachine(WatchedMachine):
    """A store, its shape, and its tasks with the versions of their schema."""

    def __init__(self) -> None:
        super().__init__()
        self.store = start(self.another(), self.keep)
        self.shape = Shape()
        self.tasks: list[tuple[int, Content]] = []
        self.versions: list[int] = []

    runs_a_round = 6
    keep: ClassVar[str | None] = None
    shape: Shape

    @rule(task_id=IDS, number=NUMBERS, n_jobs=N_JOBS, late=LATE, force=st.booleans())
    def absorb(self, task_id: int, number: int, n_jobs: int, late: frozenset[str], force: bool) -> None:
        """Absorb, also by force: unknown categories are added."""
        self.present(task_id, (number, n_jobs, late & {*self.shape.late}), force=force)

    @rule(place=st.integers(0, 9), task_id=st.none() | IDS)
    def absorb_again(self, place: int, task_id: int | None) -> None:
        """Absorb what is there, under its id or another; it may have been learned with fewer columns."""
        if self.tasks:
            known, content = self.tasks[place % len(self.tasks)]
            self.present(known if task_id is None else task_id, content, force=False)

    def present(self, task_id: int, content: Content, *, force: bool) -> None:
        """Absorb a task: a new one counts, the same again does not, and any other clash is refused unless forced."""

        def call() -> store.Absorbed:
            rows = table(*content, self.shape.late)
            (taken,) = self.store.absorb_table(rows, task_id=name(task_id), force="on purpose" if force else None)
            return taken

        if (task_id, content) in self.tasks:
            self.unchanged(lambda: self.known(call()))
        elif not force and any(task_id == other or content == held for other, held in self.tasks):
            self.refused(DuplicateTaskError, call)
        else:
            self.expect(not call().already, "a new task was taken for an old one")
            if new := {*JOBS[: content[1]]} - self.shape.jobs:
                self.shape = self.shape._replace(jobs=self.shape.jobs | new, version=self.shape.version + 1)
            self.tasks.append((task_id, content))
            self.versions.append(self.shape.version)

    @rule(place=st.integers(0, 9), short=st.booleans())
    def remove(self, place: int, short: bool) -> None:
        """Remove a task, with or without the columns that it did not have; other rows are refused."""
        if not self.tasks:
            return
        place %= len(self.tasks)
        task_id, (number, n_jobs, late) = self.tasks[place]
        wrong = table(number + 10, n_jobs, late, self.shape.late)
        self.refused(RemovalError, lambda: self.store.remove_table(wrong, task_id=name(task_id)))
        names = late if short and self.versions[place] < self.shape.version else self.shape.late
        rows = table(number, n_jobs, late, names)
        others = [held for at, (_, held) in enumerate(self.tasks) if at != place]
        if others and late - frozenset[str]().union(*(held[2] for held in others)):
            # It has all that is known about a column, so this may be refused.
            with suppress(RemovalError):
                self.store.remove_table(rows, task_id=name(task_id))
            if len(self.store.history()) == len(self.tasks):
                return
        else:
            self.store.remove_table(rows, task_id=name(task_id))
        del self.tasks[place], self.versions[place]

    @rule(job=st.sampled_from(JOBS))
    def widen_category(self, job: str) -> None:
        """Add a category, unless it is there."""
        if job in self.shape.jobs:
            self.refused(InvalidParameterError, lambda: self.store.widen(categories={JOB: [job]}))
            return
        self.store.widen(categories={JOB: [job]})
        self.widened(self.shape._replace(jobs=self.shape.jobs | {job}))

    @rule(column=st.sampled_from(sorted(PAST)))
    def widen_feature(self, column: str) -> None:
        """Add a column, unless it is there."""
        if column in self.shape.late:
            self.refused(InvalidParameterError, lambda: self.store.widen(features={column: PAST[column]}))
            return
        self.store.widen(features={column: PAST[column]})
        self.widened(self.shape._replace(late=(*self.shape.late, column)))

    def widened(self, shape: Shape) -> None:
        """Expect a wider shape."""
        self.shape = shape._replace(version=self.shape.version + 1)

    @rule(others=OTHERS, n_before=st.integers(0, 3), narrow=st.sampled_from([0, 0, 0, 1]), same=st.booleans())
    def merge(self, others: list[tuple[int, int, int]], n_before: int, narrow: int, same: bool) -> None:
        """Merge with a store that was widened in another order and by other categories; continue with the result."""
        other, out = start(self.another(), self.keep), self.another()
        added: list[tuple[int, Content]] = []
        if same:  # the rows of a task under another id, perhaps learned with fewer columns
            narrow_ones = [content for _, content in reversed(self.tasks) if not content[2]]
            others = [(10, *content[:2]) for content in narrow_ones[:1]] + others
            n_before = max(n_before, 1)
        late = tuple(reversed(self.shape.late))[narrow:]
        for place, (task_id, number, n_jobs) in enumerate(others):
            if place == n_before:
                self.widen_by(other, late)
            content = number, n_jobs, frozenset(late if place >= n_before else ())
            try:
                other.absorb_table(table(*content, other.schema.columns), task_id=name(task_id))
            except DuplicateTaskError:
                continue
            added.append((task_id, content))
        self.widen_by(other, [column for column in late if column not in other.schema.columns])
        clash = any(task_id == i or content == held for task_id, content in added for i, held in self.tasks)
        if clash or len(late) < len(self.shape.late):
            self.refused(MergeError, lambda: self.store.merge(other, out))
            self.expect(not out.exists(), "a refused merge left a file")
            return
        self.store = self.store.merge(other, out)
        self.tasks += added
        jobs = self.shape.jobs.union(*(JOBS[:n_jobs] for _, (_, n_jobs, _) in added))
        self.shape = Shape(jobs, self.shape.late, self.store.schema.version)
        self.versions = [record.schema for record in self.store.history()]

    def widen_by(self, other: store.Store, late: list[str] | tuple[str, ...]) -> None:
        """Widen another store, column by column."""
        for column in late:
            other.widen(features={column: PAST[column]})

    @invariant()
    def answers_as_all_rows(self) -> None:
        """Compare every answer with what all rows say when they are encoded at once."""
        self.count()
        schema, history = self.store.schema, self.store.history()
        self.expect(list(schema.features) == self.shape.features, f"the features are {schema.features}")
        self.expect(schema.version == self.shape.version, f"the version of the schema is {schema.version}")
        ids = [record.task_id for record in history]
        self.expect(ids == [name(task_id) for task_id, _ in self.tasks], f"the ledger has {ids}")
        versions = [record.schema for record in history]
        self.expect(versions == self.versions, f"the ledger has versions {versions}, not {self.versions}")
        self.store.check()
        if not self.tasks:
            return
        model = self.store.model()
        rows = pooled((content for _, content in self.tasks), self.shape.features)
        gap = distance(model.information_.matrix, rows)
        self.expect(gap < CLOSE, f"the information is not the sum over all rows (off by {gap:.1e})")
        X, y = rows[:, :-1], rows[:, -1]
        design = np.insert(X, 0, 1.0, axis=1)
        fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
        near = np.allclose(X @ model.coef_ + model.intercept_, fitted, rtol=CLOSE, atol=CLOSE)
        self.expect(bool(near), "the fitted values are not those of least squares on all rows")
        self.expect(model.n_samples_seen_ == len(y), "the rows are counted wrongly")


class KeptGrowingMachine(GrowingMachine):
    """A store that grows and keeps its tasks."""

    runs_a_round = 3
    keep = "tasks"

    @rule(place=st.integers(0, 9))
    def remove_by_id(self, place: int) -> None:
        """Remove a task without its rows; the last one, if there are several of the same id."""
        if self.tasks:
            task_id = self.tasks[place % len(self.tasks)][0]
            self.store.remove(name(task_id))
            last = max(at for at, (other, _) in enumerate(self.tasks) if other == task_id)
            del self.tasks[last], self.versions[last]

    @invariant()
    def parts_are_those_of_their_rows(self) -> None:
        """Compare each part, with all columns, with the rows of its task."""
        leaves: list[Any] = self.store.snapshot().leaves
        found = sorted((leaf.name.task, leaf.information.moments().round(6).tolist()) for leaf in leaves)
        due = []
        for task_id, content in self.tasks:
            rows = pooled([content], self.shape.features)
            centered = rows - rows.mean(axis=0)
            due.append((name(task_id), (centered.T @ centered).round(6).tolist()))
        same = [task for task, _ in found] == [task for task, _ in sorted(due)]
        pairs = zip(found, sorted(due), strict=True) if same else ()
        near = all(np.allclose(mine, theirs, atol=1e-5) for (_, mine), (_, theirs) in pairs)
        self.expect(same and near, "the parts are not those of the rows")


def run(job: Job) -> Outcome:
    """Take steps; then check that broken stores are caught."""
    outcome = run_machine(GrowingMachine, "growing", job, CONTROLS)
    shared = replace(job, times=-(-job.times // SHARE_KEPT))
    outcome.merge(run_machine(KeptGrowingMachine, "growing", shared, KEPT_CONTROLS).of("a store that keeps tasks"))
    return outcome
