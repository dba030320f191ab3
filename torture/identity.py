"""Files that are taken for others: journals beside the wrong file, replaced files, files with two names."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

from ridgeway import store
from ridgeway.errors import RidgewayError, UncertainStoreError
from ridgeway.store import _changes, _new_file
from torture.broken import ANY_JOURNAL, BY_NAME, SOUND, TWO_NAMES, Variant, rewriting_sql
from torture.children import ACKNOWLEDGED, Tell, fork
from torture.faults import Case, Faults
from torture.job import Job
from torture.outcome import Outcome
from torture.scenarios import SCENARIOS, WIDE, Scenario, filled, view
from torture.shim import Fault, missing
from torture.tasks import FEATURES, TARGET, name, rows

MOST_FOR_A_CONTROL = 200
OWN = "its own file"
KILLS = [fault for fault in Fault if fault.kills]
NEVER = 10**6
"""A statement that no call comes to."""


class Subject(NamedTuple):
    """A file, other files that may come to have its name, and what each of those answers."""

    content: bytes
    others: dict[str, bytes]
    answers: dict[str, str]


def subject(folder: Path, n_features: int) -> Subject:
    """Make a file with four tasks, copies of it that went other ways, and files that have nothing to do with it."""
    others = {}
    path = folder / "a.rw"
    made = filled(path, range(3), n_features)
    others["an older copy"] = path.read_bytes()
    made.absorb(name(3), *rows(3, n_features))
    content = path.read_bytes()
    path.write_bytes(others["an older copy"])
    for number, kind in enumerate(("a copy as old", "a copy one task ahead", "a copy two tasks ahead"), 7):
        made.absorb(name(number), *rows(number, n_features))
        others[kind] = path.read_bytes()
    for kind, numbers in {
        "a new file": range(0),
        "a file as old": range(10, 14),
        "a large file": range(10, 30),
    }.items():
        path.unlink()
        filled(path, numbers, n_features)
        others[kind] = path.read_bytes()
    answers = {}
    for kind, other in others.items():
        path.write_bytes(other)
        answers[kind] = view(folder)[path.name]
    return Subject(content, others, answers)


class Journals:
    """A writer is killed, and its journal stays behind beside another file."""

    def __init__(self, folder: Path, outcome: Outcome, variant: Variant) -> None:
        self._outcome, self._variant, self._faults = outcome, variant, Faults(folder, outcome)
        self._cases: list[tuple[Case, Subject]] = []
        for n_features in (len(FEATURES), WIDE):
            place = folder / f"subject-{n_features}"
            place.mkdir()
            made = subject(place, n_features)
            for scenario in _changing(n_features):
                start = replace(scenario, prepare=partial(_put, made.content))
                self._cases.append((self._faults.case(start), made))

    def one(self, rng: np.random.Generator) -> str:
        """Kill at a random call, and ask the file that has the name then."""
        place = self._faults.place
        path, journal = place / "a.rw", place / "a.rw-journal"
        while True:
            case, made = self._cases[rng.integers(len(self._cases))]
            call, fault = int(rng.integers(len(case.kinds))) + 1, KILLS[rng.integers(len(KILLS))]
            self._faults.meet(case, call, fault)
            if journal.exists() and journal.stat().st_size:
                break
        kind = str(rng.choice([OWN, *made.others]))
        if kind != OWN:
            path.write_bytes(made.others[kind])
        before = path.read_bytes()
        with self._variant.in_force():
            said = view(place)[path.name]
        where = f"{kind} beside the journal of {case.scenario.name}, call {call} of {len(case.kinds)}, {fault.name}"
        self._outcome.add(f"journals beside {'their own file' if kind == OWN else 'another file'}")
        if kind == OWN:
            return "" if {path.name: said} in (case.before, case.after) else f"{where}: {said}"
        if "does not belong" in said and path.read_bytes() == before:
            self._outcome.add("journals refused")
            return ""
        harmless = said == made.answers[kind] and path.read_bytes() == before
        return "" if harmless else f"{where}: {said}, not {made.answers[kind]}"


def _changing(n_features: int) -> Iterator[Scenario]:
    """Yield the scenarios that absorb into a file or remove from it."""
    for scenario in SCENARIOS:
        wide = scenario.name.endswith(("pages", "cache"))
        if scenario.name.startswith(("absorb", "remove")) and wide == (n_features == WIDE):
            yield scenario


def _put(content: bytes, folder: Path) -> None:
    (folder / "a.rw").write_bytes(content)


CALLS: dict[str, Callable[[store.Store], object]] = {
    "absorb": lambda opened: opened.absorb(name(5), *rows(5)),
    "repeat": lambda opened: opened.absorb(name(1), *rows(1)),
    "remove": lambda opened: opened.remove(name(1), *rows(1)),
}


class Replaced:
    """A file is replaced before the k-th statement of a call, or after the last one."""

    def __init__(self, folder: Path, outcome: Outcome, variant: Variant) -> None:
        self._folder, self._outcome, self._variant = folder, outcome, variant
        self._path, self._other, self._aside = folder / "a.rw", folder / "b.rw", folder / "aside.rw"
        filled(self._path, range(4))
        swapped = store.create(self._other, features=FEATURES[::-1], target=TARGET)
        swapped.absorb(name(1), *rows(1))
        self._content = self._path.read_bytes()
        self._others = {"a copy": self._content, "another order of features": self._other.read_bytes(), "nothing": b""}

    def one(self, rng: np.random.Generator) -> str:
        """Replace the file at a random moment of a random call."""
        call, kind = str(rng.choice(list(CALLS))), str(rng.choice(list(self._others)))
        self._fill(b"")
        statements = int(self._child(call, NEVER).partition(b"|")[0])
        at = int(rng.integers(statements + 2))
        self._fill(self._others[kind])
        told = self._child(call, at).partition(b"|")[2]
        self._outcome.add("files replaced")
        wrong = self._wrong(kind, told)
        return f"{call}, replaced by {kind} at statement {at} of {statements}: {wrong}" if wrong else ""

    def _wrong(self, kind: str, told: bytes) -> str:
        if told.startswith(b"!") or not told:
            return f"no typed error: {told!r}"
        if told == ACKNOWLEDGED:
            return "acknowledged, though the file was replaced"
        if (self._path.read_bytes() if self._path.exists() else b"") != self._others[kind]:
            return f"the other file was changed; reported {told!r}"
        if told.startswith(UncertainStoreError.__name__.encode()):
            self._outcome.add("replaced, not known, and said so")
        elif self._aside.read_bytes() != self._content:
            return f"refused, but the file was changed; reported {told!r}"
        return ""

    def _fill(self, other: bytes) -> None:
        for left in self._folder.glob("*.rw*"):
            left.unlink()
        self._path.write_bytes(self._content)
        if other:
            self._other.write_bytes(other)

    def _child(self, call: str, at: int) -> bytes:
        """Make a call whose file is replaced at a statement; return `number of statements|what was reported`."""

        def work(tell: Tell) -> None:
            with self._variant.in_force():
                opened = store.open(self._path)
                with self._replacing(at) as count:
                    try:
                        CALLS[call](opened)
                        said = ACKNOWLEDGED
                    except RidgewayError as error:
                        said = f"{type(error).__name__} {error}".encode()
            tell(b"%d|" % len(count) + said)

        return fork(work).finish()

    @contextmanager
    def _replacing(self, at: int) -> Iterator[list[str]]:
        """Replace the file before statement `at`, or before the last check if there are fewer; yield the statements."""
        count: list[str] = []
        check = _changes.check_after

        def replace_file() -> None:
            if self._path.exists():
                self._path.rename(self._aside)
            if self._other.exists():
                self._other.rename(self._path)

        def before(sql: str) -> str:
            if len(count) == at:
                replace_file()
            count.append(sql)
            return sql

        def last(path: Path, inode: tuple[int, int]) -> None:
            if len(count) <= at < NEVER:
                replace_file()
            check(path, inode)

        ours = [mock.patch.object(module, "check_after", last) for module in (_changes, _new_file)]
        with rewriting_sql(before), ours[0], ours[1]:
            yield count


class Links:
    """A writer is killed under one name of a file; another one goes on under a second name."""

    def __init__(self, folder: Path, outcome: Outcome, variant: Variant) -> None:
        self._outcome, self._variant, self._faults = outcome, variant, Faults(folder, outcome)
        self._cases = [self._faults.case(scenario) for scenario in SCENARIOS if scenario.name == "absorb"]

    def one(self, rng: np.random.Generator) -> str:
        """Kill at a random call; then absorb under the other name, and look at what is there under the first."""
        place, (case,) = self._faults.place, self._cases
        call, fault = int(rng.integers(len(case.kinds))) + 1, KILLS[rng.integers(len(KILLS))]
        self._faults.meet(case, call, fault)
        path, other = place / "a.rw", place / "b.rw"
        os.link(path, other)
        acknowledged = True
        with self._variant.in_force():
            try:
                store.open(other).absorb(name(9), *rows(9))
            except RidgewayError:
                acknowledged = False
        other.unlink()
        self._outcome.add("files with two names")
        said = view(place)[path.name]
        fine = name(9) in said if acknowledged else {path.name: said} in (case.before, case.after)
        where = f"call {call} of {len(case.kinds)}, {fault.name}"
        what = (
            "acknowledged under one name, not there under the other"
            if acknowledged
            else "neither as before nor as after"
        )
        return "" if fine else f"{where}: {what}: {said}"


SUBJECTS: dict[type[Journals] | type[Replaced] | type[Links], Variant] = {
    Journals: ANY_JOURNAL,
    Replaced: BY_NAME,
    Links: TWO_NAMES,
}


def run(job: Job) -> Outcome:
    """Take turns with the three; then check that broken stores are caught. The shim must be loaded."""
    if reason := missing():
        return Outcome("identity", skipped=reason)
    outcome, rng = Outcome("identity"), job.rng(7)
    sound = [kind(job.place(kind.__name__), outcome, SOUND) for kind in SUBJECTS]
    for trial in range(job.share):
        job.advance()
        if wrong := sound[trial % len(sound)].one(rng):
            outcome.violations.append(f"trial {trial} of lane {job.lane}: {wrong}")
    for kind, variant in SUBJECTS.items() if job.has_controls else ():
        control = Outcome("identity")
        broken = kind(job.place(f"broken-{kind.__name__}"), control, variant)
        found = (broken.one(rng) for _ in range(MOST_FOR_A_CONTROL))
        control.violations += [wrong for wrong in [next(filter(variant.shown_by, filter(None, found)), "")] if wrong]
        outcome.control(variant, control)
    return outcome
