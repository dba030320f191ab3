"""Memory that runs out: at the k-th allocation of Python, or beyond some number of bytes that SQLite may use."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from ridgeway.errors import RidgewayError
from torture.broken import IGNORES_ERRORS, SOUND, Variant
from torture.children import Tell, fork
from torture.growing_scenarios import GROWING_SCENARIOS
from torture.job import Job
from torture.outcome import Outcome
from torture.scenarios import SCENARIOS, Scenario, contents, settle, view
from torture.sectors import fill

CONTROLS = (IGNORES_ERRORS,)
MOST_FOR_A_CONTROL = 500
DONE, NO_MEMORY = "done", "MemoryError"
SAID = "not enough memory"
"""How a command reports the same."""


@contextmanager
def _python(number: int) -> Iterator[None]:
    """Let one allocation of Python fail."""
    hooks = import_module("_testcapi")
    hooks.set_nomemory(number, number + 1)
    try:
        yield
    finally:
        hooks.remove_mem_hooks()


@contextmanager
def _sqlite(number: int) -> Iterator[None]:
    """Limit the bytes that SQLite may use."""
    connect = sqlite3.connect

    def limited(*args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)
        connection.execute(f"PRAGMA hard_heap_limit = {number}")
        return connection

    with mock.patch.object(sqlite3, "connect", limited):
        yield


LIMITS: dict[str, tuple[Callable[[int], AbstractContextManager[None]], int, int]] = {
    "Python": (_python, 1, 20_000),
    "SQLite": (_sqlite, 100_000, 10_000_000),
}
"""What runs out of memory, and between which numbers, drawn on a logarithmic scale."""


@dataclass(frozen=True)
class Call:
    """A scenario, the files before it, and what stores answer before and after it."""

    scenario: Scenario
    files: dict[str, bytes]
    after: dict[str, str]

    @classmethod
    def of(cls, scenario: Scenario, place: Path) -> "Call":
        """Run a scenario with enough memory."""
        fill(place, {})
        scenario.prepare(place)
        files = contents(place)
        scenario.operate(place)
        return cls(scenario, files, view(place))

    def wrong(self, place: Path, what: str, number: int, variant: Variant, outcome: Outcome) -> str:
        """Run it with too little memory; return what is wrong with the result, or an empty string."""
        fill(place, self.files)
        child = fork(partial(self._operate, place, what, number, variant))
        told = child.finish().decode()
        settle(place)
        left = {name: content for name, content in contents(place).items() if not name.endswith(("-journal", ".new"))}
        as_before, as_after = left == self.files, view(place) == self.after
        if told == DONE:
            outcome.add("went well")
            return "" if as_after else f"it succeeded, and left {view(place)}"
        if told.startswith("!") and what != "Python":  # Python's own functions may then raise anything
            return f"neither a typed error nor a MemoryError: {told}"
        short = told == NO_MEMORY or SAID in told or told.startswith("!")
        kind = "no memory" if short else "refused" if told else "died"
        if as_before:
            outcome.add(f"{kind}, as before")
        elif as_after and kind != "refused":
            outcome.add(f"{kind}, as after")  # it ran out after the commit; repeating the call is safe
        else:
            return f"{kind}, and left {view(place)}; reported {told!r}"
        return ""

    def _operate(self, place: Path, what: str, number: int, variant: Variant, tell: Tell) -> None:
        with variant.in_force():
            try:
                with LIMITS[what][0](number):
                    self.scenario.operate(place)
            except MemoryError:
                said = NO_MEMORY
            except RidgewayError as error:
                said = f"{type(error).__name__} {error}"
            else:
                said = DONE
        tell(said.encode())


def run(job: Job) -> Outcome:
    """Run out of memory many times; then check that a broken store is caught."""
    if find_spec("_testcapi") is None:
        return Outcome("memory", skipped="needs a Python with its test modules")
    outcome = _many(job, SOUND, job.share)
    for variant in CONTROLS if job.has_controls else ():
        outcome.control(variant, _many(job, variant, MOST_FOR_A_CONTROL))
    return outcome


def _many(job: Job, variant: Variant, times: int) -> Outcome:
    outcome, place = Outcome("memory"), job.folder / "place"
    calls = [Call.of(scenario, place) for scenario in (*SCENARIOS, *GROWING_SCENARIOS)]
    for number in range(times):
        job.advance()
        call, rng = calls[number % len(calls)], job.rng(8, number)
        what = str(rng.choice(list(LIMITS)))
        amount = int(np.exp(rng.uniform(*np.log(LIMITS[what][1:]))))
        outcome.add(f"calls, {what}")
        if wrong := call.wrong(place, what, amount, variant, outcome):
            where = f"call {number} of lane {job.lane}: {call.scenario.name}, {what} {amount}"
            outcome.violations.append(f"{where}: {wrong}")
        if variant is not SOUND and any(map(variant.shown_by, outcome.violations)):
            break
    return outcome
