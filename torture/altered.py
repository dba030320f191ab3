"""Altered files: every answer is bitwise the original's, or there is a typed error."""

import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ridgeway import store
from ridgeway.errors import RidgewayError
from torture.broken import NOT_READ_BACK, SOUND, TRUSTING, UNTYPED, Variant
from torture.broken_parts import PARTS_NOT_COMPARED
from torture.children import Child, Tell, fork
from torture.job import Job
from torture.mutations import mutate
from torture.outcome import Outcome
from torture.scenarios import WIDE, filled, summary
from torture.tasks import FEATURES, Answers, name, rows, said

CONTROLS = (TRUSTING, UNTYPED, NOT_READ_BACK, PARTS_NOT_COMPARED)
MOST_FOR_A_CONTROL = 3000
SLOWEST = 5.0
PER_CHILD = 100
WIDE_ONES = 20
"""One file in this many has a state of several pages."""
KEPT_ONES = 3
"""One file in this many keeps its tasks."""
WRITES = 4
"""One alteration in this many is followed by absorbing a task into what is left."""


@dataclass(frozen=True)
class Subject:
    """A file, another one like it to take pieces from, and what it answers before and after one more task."""

    n_features: int
    content: bytes
    donor: bytes
    before: Answers
    after: str


def subject(folder: Path, n_features: int, keep: str | None = None) -> Subject:
    """Make a file with two generations, a removed task and unused pages."""
    one, two = folder / f"one-{n_features}-{keep}.rw", folder / f"two-{n_features}-{keep}.rw"
    made = filled(one, range(5), n_features, keep)
    made.remove(name(0), *rows(0, n_features))
    made.absorb(name(5), *rows(5, n_features))
    filled(two, range(10, 16), n_features, keep)
    content, before = one.read_bytes(), said(made)
    made.absorb(name(6), *rows(6, n_features))
    return Subject(n_features, content, two.read_bytes(), before, summary(said(made)))


def run(job: Job) -> Outcome:
    """Alter a file many times; then check that stores with fewer checks are caught."""
    small, kept = (subject(job.folder, len(FEATURES), keep) for keep in (None, "tasks"))
    originals = small, subject(job.folder, WIDE), kept
    outcome = Altered(job, *originals, SOUND).run()
    for variant in CONTROLS if job.has_controls else ():
        outcome.control(variant, Altered(job, *originals, variant).run())
    return outcome


@dataclass(frozen=True)
class Altered:
    """Alters a file many times, in child processes, so that a crash is noticed and survived."""

    job: Job
    small: Subject
    wide: Subject
    kept: Subject
    variant: Variant
    outcome: Outcome = field(default_factory=lambda: Outcome("altered"))

    def run(self) -> Outcome:
        """Alter the file; with a broken store only until it is caught."""
        times = self.job.share if self.variant is SOUND else MOST_FOR_A_CONTROL
        done = 0
        while done < times and not (self.variant is not SOUND and self._caught()):
            some = range(done, min(done + PER_CHILD, times))
            child = fork(partial(self._look_at, some))
            try:
                done += self._follow(child, some)
            finally:
                child.end()
        return self.outcome

    def _caught(self) -> bool:
        return any(map(self.variant.shown_by, self.outcome.violations))

    def _follow(self, child: Child, some: range) -> int:
        """Read one line per alteration; return how many were processed, including one that ended the child."""
        for done, number in enumerate(some):
            line = child.line(2.0 * SLOWEST)
            kind, _, wrong = line.partition("|")
            self.job.advance()
            self.outcome.add("files")
            if not line:
                child.end()
                wrong = f"the process ended with status {child.status}, or hung; reported {child.told!r}"
            else:
                self.outcome.add(kind)
            if wrong:
                self.outcome.violations.append(f"file {number} of lane {self.job.lane}, {kind}: {wrong}")
            if not line:
                return done + 1
        return len(some)

    def _look_at(self, numbers: range, tell: Tell) -> None:
        with self.variant.in_force():
            for number in numbers:
                tell(f"{self.one(number)}\n".encode())

    def one(self, number: int) -> str:
        """Alter the file in the way that belongs to a number; return `outcome|what is wrong`."""
        path = self.job.folder / "altered.rw"
        for left in self.job.folder.glob("altered.rw*"):
            left.unlink()
        original = (self.small if number % KEPT_ONES else self.kept) if number % WIDE_ONES else self.wide
        how = mutate(path, original.content, original.donor, self.job.rng(5, number))
        content = path.read_bytes()
        begin = time.perf_counter()
        try:
            taken, wrong = self._taken(path, original, write=original is self.wide or number % WRITES == 0)
        except Exception as error:
            taken, wrong = "error of another type", f"{type(error).__name__}: {error}"
        took = time.perf_counter() - begin
        if not taken.endswith("then a task absorbed") and path.read_bytes() != content and not wrong:
            wrong = "the file was changed by a call that failed or only read"
        if took > SLOWEST:
            wrong = wrong or f"{took:.1f} s"
        return f"{taken}|{f'{how}: {wrong}' if wrong else ''}"

    def _taken(self, path: Path, original: Subject, *, write: bool) -> tuple[str, str]:
        """Ask the store everything; return the outcome and what is wrong with it."""
        try:
            opened = store.open(path)
            answered = said(opened)
        except RidgewayError:
            return "refused", ""
        if answered != original.before:
            return "answered", f"other answers: {summary(answered)}"
        taken = "same answers"
        try:
            opened.check()
        except RidgewayError:
            taken = "same answers, check complains"
        if not write:
            return taken, ""
        try:
            opened.absorb(name(6), *rows(6, original.n_features))
        except RidgewayError:
            return f"{taken}, absorbing refused", ""
        try:
            now = summary(said(opened))
        except RidgewayError as error:
            now = f"it does not open: {error}"
        return f"{taken}, then a task absorbed", "" if now == original.after else f"then {now}"
