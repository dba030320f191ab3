"""Tables with text and with columns that come later, and the life of a store that grows with them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from ridgeway import store
from ridgeway.errors import RidgewayError
from torture.more_scenarios import command
from torture.tasks import CLOSE, TARGET, Answers, Array, Life, answers, name

JOB = "job"
JOBS = ("clerk", "nurse", "smith", "baker", "tailor")
FIRST_JOBS = 2
"""The first table has this many of them; the others come later."""
PAST = {"hours": 2.0, "bonus": 0.0}
"""Columns that come later, with the value that each of them had before."""
N_ROWS = 20


@lru_cache(maxsize=4096)
def columns(number: int, n_jobs: int, late: frozenset[str]) -> dict[str, Array]:
    """Return all columns of a task, always the same: the first jobs, and the late columns that vary."""
    rng = np.random.default_rng([8, number])
    jobs = np.array(JOBS)[np.arange(N_ROWS) % n_jobs]
    found = {"age": rng.standard_normal(N_ROWS) + number % 3, "education": rng.standard_normal(N_ROWS)}
    varying = {column: rng.standard_normal(N_ROWS) for column in PAST}
    found |= {column: varying[column] if column in late else np.full(N_ROWS, PAST[column]) for column in PAST}
    return found | {JOB: jobs, TARGET: found["age"] + rng.standard_normal(N_ROWS)}


def table(number: int, n_jobs: int, late: frozenset[str], names: Iterable[str]) -> pa.Table:
    """Return the rows of a task, with only the late columns that are named."""
    found = columns(number, n_jobs, late)
    rows: pa.Table = pa.table({column: found[column] for column in found if column not in PAST or column in names})
    return rows


def pooled(tasks: Iterable[tuple[int, int, frozenset[str]]], features: Sequence[str]) -> Array:
    """Return the rows of tasks, each with its features and its target, encoded here and at once."""
    rows = []
    for task in tasks:
        found = columns(*task)
        encoded = [found[JOB] == text.partition("=")[2] if "=" in text else found[text] for text in features]
        rows.append(np.column_stack([*encoded, found[TARGET]]).astype(np.float64))
    return np.vstack(rows)


def distance(information: Array, rows: Array) -> float:
    """Return how far the factor of a state is from Σ (a − ā)(a − ā)ᵀ over all rows a, by plain NumPy."""
    centered = rows - rows.mean(axis=0)
    total = centered.T @ centered
    factor = information if np.array_equal(information, np.triu(information)) else information.T
    return float(np.abs(factor.T @ factor - total).max() / np.abs(total).max())


def start(path: Path, keep: str | None = None) -> store.Store:
    """Make a store for the first table, which adds categories that are unknown."""
    first = table(0, FIRST_JOBS, frozenset(), ())
    encoding = store.encoding_of(first, leave_out=[TARGET], unknown="widen")
    return store.create(path, features=encoding, target=TARGET, keep=keep)


@dataclass(frozen=True)
class GrowingStep:
    """One call in the life of a store that grows.

    Attributes
    ----------
    verb : create, absorb, remove or widen
    number, n_jobs, late : the task, if there is one
    options : those of the command, to widen
    feature : the feature that is there afterwards, if this widens
    """

    verb: str
    number: int = 0
    n_jobs: int = FIRST_JOBS
    late: frozenset[str] = frozenset()
    options: tuple[str, ...] = ()
    feature: str = ""

    @property
    def task(self) -> tuple[int, int, frozenset[str]]:
        """What the rows depend on."""
        return self.number, self.n_jobs, self.late

    def take(self, path: Path) -> None:
        """Make the call."""
        if self.verb == "create":
            start(path)
        elif self.options:
            command("widen", path.name, *self.options)(path.parent)
        else:
            opened = store.open(path)
            rows = table(*self.task, opened.schema.columns)
            call = opened.absorb_table if self.verb == "absorb" else opened.remove_table
            call(rows, task_id=name(self.number))

    def repeat(self, path: Path) -> None:
        """Make the call if it was not made before, as a careful user would."""
        if self.verb == "absorb" or not path.exists():
            self.take(path)
            return
        opened = store.open(path)
        known = self.feature in opened.schema.features
        there = name(self.number) in [record.task_id for record in opened.history()]
        if {"remove": there, "widen": not known}.get(self.verb, False):
            self.take(path)


def _widen(*options: str, feature: str) -> GrowingStep:
    return GrowingStep("widen", options=options, feature=feature)


HOURS = frozenset({"hours"})
BOTH = frozenset(PAST)
GROWING = (
    GrowingStep("create"),
    GrowingStep("absorb", 0),
    GrowingStep("absorb", 1),
    _widen("--category", "job=smith", feature="job=smith"),
    GrowingStep("absorb", 2, 3),
    _widen("--feature", "hours", "--past-value", "2", feature="hours"),
    GrowingStep("absorb", 3, 3, HOURS),
    _widen("--category", "job=tailor", feature="job=tailor"),
    GrowingStep("absorb", 4, 4, HOURS),
    GrowingStep("remove", 1),
    _widen("--feature", "bonus", "--past-value", "0", feature="bonus"),
    GrowingStep("remove", 2, 3),
    GrowingStep("absorb", 5, 5, BOTH),
)
"""A life: categories come by name and with the rows, columns come later, and tasks from before are removed."""


@dataclass
class Moments:
    """What a store answers after each step of a life that nothing disturbs; made when first asked for."""

    found: list[Answers | None] = field(default_factory=list)

    def after(self, done: int) -> Answers | None:
        """Return the answers after some steps; None before the first."""
        if not self.found:
            with TemporaryDirectory(prefix="torture-") as folder:
                path = Path(folder) / "undisturbed.rw"
                self.found = [None, *(_answers_after(step, path) for step in GROWING)]
        return self.found[done]


def _answers_after(step: GrowingStep, path: Path) -> Answers:
    step.take(path)
    return answers(path)


def held(done: int) -> list[tuple[int, int, frozenset[str]]]:
    """Return the tasks that a store holds after some steps."""
    tasks = []
    for step in GROWING[:done]:
        if step.verb == "absorb":
            tasks.append(step.task)
        elif step.verb == "remove":
            tasks.remove(step.task)
    return tasks


MOMENTS = Moments()


def grown_differently(path: Path, done: int) -> str:
    """Return how a store differs from what the first steps of the life leave, or an empty string."""
    try:
        found = answers(path)
        features = store.open(path).schema.features
    except RidgewayError as error:
        return "" if done == 0 and not path.exists() else f"does not open: {error}"
    due = MOMENTS.after(done)
    if due is None or found.ids != due.ids:
        return f"the ledger has {list(found.ids)}, not {due and list(due.ids)}"
    if found.schema != due.schema:
        return f"the schema is not that of the moment: {found.schema}"
    if [record.schema for record in found.ledger] != [record.schema for record in due.ledger]:
        return "the ledger has other versions of the schema"
    if found.state != due.state:
        return "the state is not that of the ledger's tasks"
    if not found.ids:
        return ""
    factor = np.frombuffer(found.information).reshape(len(features) + 1, -1)
    gap = distance(factor, pooled(held(done), features))
    return "" if gap < CLOSE else f"the information is not the sum over the ledger's tasks (off by {gap:.1e})"


def _moment(done: int) -> tuple[tuple[str, ...], bytes]:
    found = MOMENTS.after(done)
    return (found.ids, found.state) if found else ((), b"")


GROWING_LIFE = Life(GROWING, grown_differently, _moment)
