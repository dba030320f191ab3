"""Every I/O call of every operation is made to fail, or to kill the process."""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ridgeway.errors import RidgewayError, UncertainStoreError
from torture.broken import IGNORES_ERRORS, NO_JOURNAL, SCHEMA_FIRST, SOUND, Variant
from torture.children import Tell, fork
from torture.families import FAMILY_SCENARIOS
from torture.growing_scenarios import GROWING_SCENARIOS, MORE_GROWING_SCENARIOS
from torture.job import Job
from torture.kept import KEPT_SCENARIOS
from torture.more_scenarios import MORE_SCENARIOS
from torture.outcome import Outcome
from torture.scenarios import SCENARIOS, Scenario, contents, settle, small_blocks, view
from torture.shim import Fault, Shim, missing

ALL_SCENARIOS = (
    *SCENARIOS,
    *MORE_SCENARIOS,
    *GROWING_SCENARIOS,
    *MORE_GROWING_SCENARIOS,
    *KEPT_SCENARIOS,
    *FAMILY_SCENARIOS,
)
CONTROLS = {NO_JOURNAL: "absorb", IGNORES_ERRORS: "absorb", SCHEMA_FIRST: "widen"}
"""Broken stores, each with the scenarios that it is tried on, by the beginning of their names."""
JOURNAL = re.compile(r".+\.rw-journal")
"""A journal that a failure may leave beside a file. By then it has been applied to the file."""
HALF_MADE = re.compile(r"\..+\.rw\.[0-9a-f]+\.new(-journal)?|\.ridgeway-.+|\.tmp.+")
"""What a process that dies while it makes a file may leave beside it."""


class Case(NamedTuple):
    """A scenario, what is there before and after it, and one character for each of its calls."""

    scenario: Scenario
    files: dict[str, bytes]
    before: dict[str, str]
    after: dict[str, str]
    kinds: str


class Faults:
    """Runs cases in a folder and judges the result."""

    def __init__(self, folder: Path, outcome: Outcome, variant: Variant = SOUND) -> None:
        self.place, self._outcome, self._variant = folder / "place", outcome, variant
        self._shim = Shim()

    def case(self, scenario: Scenario) -> Case:
        """Run a scenario without a fault, and record it."""
        self._fill({})
        scenario.prepare(self.place)
        files, before = contents(self.place), view(self.place)
        self._fill(files)
        told = fork(lambda tell: self._operate(scenario, 0, None, tell)).finish().decode()
        if not told.startswith("kinds "):
            raise RuntimeError(f"{scenario.name} fails without a fault: {told}")
        return Case(scenario, files, before, view(self.place), told.removeprefix("kinds "))

    def one(self, case: Case, call: int, fault: Fault) -> str:
        """Make one call meet a fault; return what is wrong with the result, or an empty string."""
        told = self.meet(case, call, fault)
        wrong = self._wrong(case, fault, told)
        if not wrong and fault.kills:
            wrong = self._wrong_after_repeating(case)
        if wrong:
            kind = case.kinds[call - 1]
            where = f"{case.scenario.name}, call {call} ({kind}) of {len(case.kinds)}, {fault.name}"
            return f"{where}: {wrong}; reported {told!r}"
        return ""

    def meet(self, case: Case, call: int, fault: Fault) -> str:
        """Make one call meet a fault, and leave what is left; return what was reported."""
        self._fill(case.files)
        return fork(lambda tell: self._operate(case.scenario, call, fault, tell)).finish().decode()

    def _fill(self, files: dict[str, bytes]) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir()
        for name, content in files.items():
            (self.place / name).write_bytes(content)

    def _operate(self, scenario: Scenario, call: int, fault: Fault | None, tell: Tell) -> None:
        with self._variant.in_force():
            self._shim.arm(self.place, call, fault)
            try:
                scenario.operate(self.place)
            except RidgewayError as error:
                self._shim.disarm()
                tell(f"{type(error).__name__} {error}".encode())
            else:
                tell(f"kinds {self._shim.disarm()}".encode())

    def _wrong(self, case: Case, fault: Fault, told: str) -> str:
        if told.startswith("!") or (not told and not fault.kills):
            return "no typed error"
        at_once = self._stores(fault)
        settle(self.place)
        later, now = self._stores(fault), view(self.place)
        if told.startswith("kinds "):
            self._outcome.add("went well")
            return "" if now == case.after else f"it succeeded, and left {now}"
        if told and later == case.files:
            self._outcome.add("refused")
            self._outcome.add("refused, undone when next opened", at_once != case.files)
            return "" if at_once == case.files or fault.lasts else "the file is as it was only after it is opened again"
        if not told and later == case.files:
            self._outcome.add("killed, as before")
            return ""
        if not told and now == case.after:
            self._outcome.add("killed, as after")
            return ""
        if told.startswith(f"{UncertainStoreError.__name__} ") and fault.lasts and now in (case.before, case.after):
            self._outcome.add("not known, and said so")
            return ""
        differing = sorted(name for name in {*later, *case.files} if later.get(name) != case.files.get(name))
        return f"{differing} differ from before; {'it is as after' if now == case.after else now}"

    def _stores(self, fault: Fault) -> dict[str, bytes]:
        """Return the files, except those that a fault may leave beside them."""
        found = contents(self.place)
        left = [name for name in found if JOURNAL.fullmatch(name)]
        if fault.kills or fault.lasts:
            left += [name for name in found if HALF_MADE.fullmatch(name)]
        return {name: content for name, content in found.items() if name not in left}

    def _wrong_after_repeating(self, case: Case) -> str:
        """Repeat the call after a crash: the result must be the same."""
        if view(self.place) == case.after:
            return ""
        try:
            case.scenario.operate(self.place)
        except RidgewayError as error:
            return f"repeating it fails: {error}"
        return "" if view(self.place) == case.after else "repeating it gives another result"


def _trials(cases: list[Case], job: Job) -> list[tuple[Case, int, Fault]]:
    """Return this lane's faults in random order, so that the first few are a fair sample."""
    every = [
        (case, call, fault)
        for case in cases
        for call, kind in enumerate(case.kinds, 1)
        for fault in Fault
        if fault.applies(kind)
    ]
    order = np.random.default_rng([job.seed, 3]).permutation(len(every))
    return [every[place] for place in order[: job.times][job.lane :: job.lanes]]


def run(job: Job) -> Outcome:
    """Try every fault, or as many as asked for; then check that broken stores are caught. The shim must be loaded."""
    if reason := missing():
        return Outcome("faults", skipped=reason)
    with small_blocks():
        return _run(job)


def _run(job: Job) -> Outcome:
    outcome = Outcome("faults")
    faults = Faults(job.folder, outcome)
    cases = [faults.case(scenario) for scenario in ALL_SCENARIOS]
    if not all("w" in case.kinds for case in cases if case.before != case.after):
        return Outcome("faults", skipped="the shim does not see what SQLite writes")
    for case in cases if job.has_controls else ():
        outcome.counts[f"I/O calls of {case.scenario.name}"] = len(case.kinds)
    for case, call, fault in _trials(cases, job):
        job.advance()
        outcome.add("faults")
        if wrong := faults.one(case, call, fault):
            outcome.violations.append(wrong)
    for variant, beginning in CONTROLS.items() if job.has_controls else ():
        trial = Outcome("faults")
        faults = Faults(job.folder, trial, variant)
        cases = [faults.case(scenario) for scenario in ALL_SCENARIOS if scenario.name.startswith(beginning)]
        found = (faults.one(case, call, fault) for case, call, fault in _trials(cases, job))
        trial.violations += [wrong for wrong in [next(filter(variant.shown_by, filter(None, found)), "")] if wrong]
        outcome.control(variant, trial)
    return outcome
