"""Torn and reordered writes: of what was not synced, any sectors may have reached the disk, in any order."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from torture.broken import NOT_SYNCED, SOUND, Variant
from torture.children import Tell, fork
from torture.growing_scenarios import GROWING_SCENARIOS
from torture.job import Job
from torture.outcome import Outcome
from torture.scenarios import SCENARIOS, Scenario, contents, small_blocks, view
from torture.shim import Shim, missing

CONTROLS = (NOT_SYNCED,)
MOST_FOR_A_CONTROL = 500
SECTORS = (512, 4096)
"""Bytes that a disk writes as one."""


class Event(NamedTuple):
    """A change of the folder: what was done, to which file, under which other name, where, and the bytes."""

    kind: str
    name: str
    other: str
    place: int
    data: bytes


@dataclass
class Stored:
    """A file: what is on the disk for certain, and what was written since it was last synced."""

    durable: bytearray
    pending: list[Event] = field(default_factory=list)

    def sync(self) -> None:
        """Bring everything to the disk."""
        for event in self.pending:
            apply(self.durable, event)
        self.pending = []

    def after_a_crash(self, rng: np.random.Generator) -> bytes:
        """Return what may be on the disk: each sector that was written since the last sync, or not."""
        content, sector = bytearray(self.durable), int(rng.choice(SECTORS))
        chance = rng.choice([0.1, 0.5, 0.9])
        pieces = [piece for event in self.pending for piece in cut(event, sector)]
        for piece in pieces:
            if rng.random() < chance:
                apply(content, piece)
        return bytes(content)


def cut(event: Event, sector: int) -> Iterator[Event]:
    """Cut a write at the borders of sectors; anything else is whole."""
    if event.kind != "w":
        yield event
        return
    start, end = event.place, event.place + len(event.data)
    while start < end:
        stop = min((start // sector + 1) * sector, end)
        yield event._replace(place=start, data=event.data[start - event.place : stop - event.place])
        start = stop


def apply(content: bytearray, event: Event) -> None:
    """Write, or set the length of a file."""
    if len(content) < event.place:
        content += bytes(event.place - len(content))
    if event.kind == "w":
        content[event.place : event.place + len(event.data)] = event.data
    else:
        del content[event.place :]


class Disk:
    """A folder on a disk that keeps only what is synced. Names are kept once the folder is synced, in order."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.names = {name: Stored(bytearray(content)) for name, content in files.items()}
        self._durable, self._pending = dict(self.names), list[dict[str, Stored]]()

    def take(self, event: Event) -> None:
        """Do what was recorded."""
        if event.kind in "wt":
            self.names[event.name].pending.append(event)
        elif event.kind != "s":
            self._rename(event)
            self._pending.append(dict(self.names))
        elif event.name:
            self.names[event.name].sync()
        else:
            self._durable, self._pending = dict(self.names), []

    def _rename(self, event: Event) -> None:
        if event.kind == "o":
            self.names[event.name] = Stored(bytearray())
        elif event.kind == "l":
            self.names[event.other] = self.names[event.name]
        elif event.kind == "m":
            self.names[event.other] = self.names.pop(event.name)
        else:
            del self.names[event.name]

    def after_a_crash(self, rng: np.random.Generator) -> dict[str, bytes]:
        """Return what may be in the folder: the names of some moment since it was synced."""
        moments = [self._durable, *self._pending]
        return {name: file.after_a_crash(rng) for name, file in moments[int(rng.integers(len(moments)))].items()}

    def contents(self) -> dict[str, bytes]:
        """Return the folder as processes see it."""
        for file in self.names.values():
            file.sync()
        return {name: bytes(file.durable) for name, file in self.names.items()}


@dataclass(frozen=True)
class Recorded:
    """A scenario, with the files before it, what stores answer before and after it, and all that it wrote."""

    scenario: Scenario
    files: dict[str, bytes]
    before: dict[str, str]
    after: dict[str, str]
    events: list[Event]

    def crash(self, place: Path, at: int, rng: np.random.Generator) -> str:
        """Crash before an event, and return what is wrong with the folder that is left."""
        disk = Disk(self.files)
        for event in self.events[:at]:
            disk.take(event)
        fill(place, disk.after_a_crash(rng))
        found = view(place)
        allowed = (self.after,) if at == len(self.events) else (self.before, self.after)
        return "" if found in allowed else f"does not open, or is of no moment: {found}"


def fill(place: Path, files: dict[str, bytes]) -> None:
    """Make a folder with these files and no others."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name, content in files.items():
        (place / name).write_bytes(content)


def recorded(job: Job, scenario: Scenario, variant: Variant) -> Recorded:
    """Run a scenario once, and record it."""
    place, log = job.folder / "place", job.folder / "log"
    fill(place, {})
    scenario.prepare(place)
    files, before = contents(place), view(place)
    fill(place, files)
    told = fork(partial(_operate, scenario, variant, place, log)).finish()
    events = list(_events(log.read_bytes()))
    disk = Disk(files)
    for event in events:
        disk.take(event)
    if told or disk.contents() != contents(place):
        raise RuntimeError(f"{scenario.name}: the record is not complete, or it fails: {told.decode()}")
    return Recorded(scenario, files, before, view(place), events)


def _operate(scenario: Scenario, variant: Variant, place: Path, log: Path, _: Tell) -> None:
    shim = Shim()
    shim.record(log)
    with variant.in_force():
        shim.arm(place)
        scenario.operate(place)
        shim.disarm()


def _events(log: bytes) -> Iterator[Event]:
    start = 0
    while start < len(log):
        end = log.index(b"\n", start)
        kind, name, other, place, length = log[start:end].decode().split("\t")
        start = end + 1 + int(length)
        yield Event(kind, name, other, int(place), log[end + 1 : start])


def run(job: Job) -> Outcome:
    """Crash each scenario at random moments; then check that a broken store is caught. The shim must be loaded."""
    if reason := missing():
        return Outcome("sectors", skipped=reason)
    with small_blocks():
        outcome = _crashes(job, SOUND, job.share)
        for variant in CONTROLS if job.has_controls else ():
            outcome.control(variant, _crashes(job, variant, MOST_FOR_A_CONTROL))
    return outcome


def _crashes(job: Job, variant: Variant, times: int) -> Outcome:
    outcome = Outcome("sectors")
    subjects = [recorded(job, scenario, variant) for scenario in (*SCENARIOS, *GROWING_SCENARIOS)]
    for number in range(times):
        job.advance()
        subject, rng = subjects[number % len(subjects)], job.rng(7, number)
        at = int(rng.integers(len(subject.events) + 1))
        outcome.add("crashes")
        outcome.add("crashes after the last write", at == len(subject.events))
        if wrong := subject.crash(job.folder / "place", at, rng):
            where = f"crash {number} of lane {job.lane}: {subject.scenario.name}, event {at} of {len(subject.events)}"
            outcome.violations.append(f"{where}: {wrong}")
        if variant is not SOUND and any(map(variant.shown_by, outcome.violations)):
            break
    return outcome
