"""`ridgeway absorb` with several files: each is absorbed completely or not at all, and the exit code says which."""

import io
import re
import shutil
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ridgeway import store
from ridgeway.cli import _commands
from ridgeway.errors import RidgewayError
from torture.broken import IGNORES_ERRORS, SAYS_ALL, SOUND, Variant
from torture.children import Tell, fork
from torture.growth import FIRST_JOBS, PAST, columns, distance, pooled, start, table
from torture.job import Job
from torture.outcome import Outcome
from torture.scenarios import contents
from torture.shim import Fault, Shim, missing
from torture.tasks import CLOSE, name

CONTROLS = (IGNORES_ERRORS, SAYS_ALL)
MOST_FOR_A_CONTROL = 600
BY_TIME = 3
"""One trial in this many is a kill at a random time; the others meet a fault at a random I/O call."""
SLOWER = 1.5
"""A kill comes within this many times the duration of the command."""
THERE, GIVEN = range(2), range(2, 5)
"""Tasks that are in the store, and those that the files contain."""
TASKS = {number: (number, FIRST_JOBS + (number > 2), frozenset(PAST)) for number in (*THERE, *GIVEN)}
"""Some files have a category that the store does not know yet: it is added with their rows."""


class Lines(io.StringIO):
    """Standard output that is reported as it is written."""

    def __init__(self, tell: Callable[[bytes], None]) -> None:
        super().__init__()
        self._tell = tell

    def write(self, text: str) -> int:
        """Report a text."""
        self._tell(text.encode())
        return len(text)


def _command(folder: Path, tell: Tell) -> None:
    """Run the command; report what it prints and its exit code."""
    given = ["absorb", str(folder / "a.rw"), *(str(folder / f"{name(number)}.csv") for number in GIVEN)]
    lines = Lines(tell)
    try:
        with redirect_stdout(lines), redirect_stderr(lines):
            _commands.commands.main([*given, "--task-from-name"], prog_name="ridgeway")
    except SystemExit as end:
        tell(f"\nexit {end.code or 0}\n".encode())


def _prepare(folder: Path) -> None:
    made = start(folder / "a.rw")
    made.widen(features=PAST)
    for number in THERE:
        made.absorb_table(table(*TASKS[number], PAST), task_id=name(number))
    for number in GIVEN:
        found = columns(*TASKS[number])
        rows = zip(*(values.tolist() for values in found.values()), strict=True)
        text = "\n".join([",".join(found), *(",".join(map(str, row)) for row in rows)])
        (folder / f"{name(number)}.csv").write_text(text + "\n")


@dataclass
class Files:
    """Runs the command on the same files again and again, and judges what is left."""

    folder: Path
    outcome: Outcome
    variant: Variant
    kinds: str = field(default="", init=False)
    seconds: float = field(default=0.0, init=False)
    files: dict[str, bytes] = field(default_factory=dict, init=False)

    def begin(self) -> None:
        """Run the command without a fault, and record it."""
        self.folder.mkdir(parents=True)
        _prepare(self.folder)
        self.files = contents(self.folder)
        begin = time.perf_counter()
        told = fork(lambda tell: self._operate(0, None, tell)).finish().decode()
        self.seconds = time.perf_counter() - begin
        self.kinds = told.rpartition("kinds ")[2]
        if wrong := self._wrong(told):
            raise RuntimeError(f"it fails without a fault: {wrong}: {told}")

    def one(self, trial: int, rng: np.random.Generator) -> str:
        """Run it with a fault or a kill; return what is wrong with the result, or an empty string."""
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        for file, content in self.files.items():
            (self.folder / file).write_bytes(content)
        if trial % BY_TIME == 0:
            where = f"killed after {rng.uniform(0, SLOWER * self.seconds):.4f} s"
            child = fork(lambda tell: self._operate(0, None, tell))
            time.sleep(float(where.split()[2]))
            told = child.end().decode()
        else:
            call = int(rng.integers(1, len(self.kinds) + 1))
            faults = [fault for fault in Fault if fault.applies(self.kinds[call - 1])]
            fault = faults[int(rng.integers(len(faults)))]
            where = f"call {call} ({self.kinds[call - 1]}) of {len(self.kinds)}, {fault.name}"
            told = fork(lambda tell: self._operate(call, fault, tell)).finish().decode()
        wrong = self._wrong(told) or self._wrong_after_repeating()
        return f"{where}: {wrong}; reported {told!r}" if wrong else ""

    def _operate(self, call: int, fault: Fault | None, tell: Tell) -> None:
        shim = Shim()
        with self.variant.in_force():
            shim.arm(self.folder, call, fault)
            _command(self.folder, tell)
            tell(f"kinds {shim.disarm()}".encode())

    def _wrong(self, told: str) -> str:
        """Compare what was said with what is there."""
        if "!" in told:
            return "no exit code"
        said = {number for number in GIVEN if f"{name(number)}: absorbed" in told}
        try:
            new = self._absorbed()
        except RidgewayError as error:
            return f"does not open: {error}"
        if isinstance(new, str):
            return new
        code = re.search(r"^exit (\d+)$", told, re.MULTILINE)
        self.outcome.add(f"exit code {code[1]}" if code else f"killed, {len(new)} of {len(GIVEN)} files absorbed")
        if not said <= new:
            return f"files were acknowledged that are not there: {said - new}"
        if code is None:
            return (
                "" if new <= set(range(GIVEN[0], GIVEN[0] + len(said) + 2)) else f"files {new} are there, {said} said"
            )
        due = 0 if len(said) == len(GIVEN) else 3 if said else 2
        if int(code[1]) != due:
            return f"the exit code is {code[1]}, not {due}"
        unknown = "it is not known whether" in told
        return "" if new == said or unknown else f"files {new - said} are there, and were reported as not absorbed"

    def _absorbed(self) -> set[int] | str:
        """Return which files the store has absorbed, or what is wrong with it."""
        opened = store.open(self.folder / "a.rw")
        opened.check()
        numbers = [int(record.task_id.removeprefix("task-")) for record in opened.history()]
        if numbers[: len(THERE)] != list(THERE) or len(set(numbers)) != len(numbers) or not set(numbers) <= set(TASKS):
            return f"the ledger has {numbers}"
        features = opened.schema.features
        rows = pooled((TASKS[number] for number in numbers), features)
        gap = distance(opened.model().information_.matrix, rows)
        if not gap < CLOSE:
            return f"the information is not the sum over the ledger's tasks (off by {gap:.1e})"
        known = any(TASKS[number][1] > FIRST_JOBS for number in numbers)
        if ("job=smith" in features) != known:
            return f"the features are {features}"
        return set(numbers) - set(THERE)

    def _wrong_after_repeating(self) -> str:
        """Repeat the command without a fault: it must finish the job."""
        told = fork(lambda tell: _command(self.folder, tell)).finish().decode()
        new = self._absorbed()
        done = new == set(GIVEN) and "exit 0" in told
        return "" if done else f"repeating it leaves {new}: {told}"


def run(job: Job) -> Outcome:
    """Run the command many times; then check that broken ones are caught. The shim must be loaded."""
    if reason := missing():
        return Outcome("files", skipped=reason)
    outcome, rng = Outcome("files"), job.rng(9)
    sound = Files(job.folder / "sound", outcome, SOUND)
    sound.begin()
    for trial in range(job.share):
        job.advance()
        outcome.add("commands")
        if wrong := sound.one(trial, rng):
            outcome.violations.append(f"trial {trial} of lane {job.lane}: {wrong}")
    for number, variant in enumerate(CONTROLS if job.has_controls else ()):
        control = Outcome("files")
        broken = Files(job.folder / f"broken-{number}", control, variant)
        broken.begin()
        found = (broken.one(trial, rng) for trial in range(MOST_FOR_A_CONTROL))
        control.violations += [wrong for wrong in [next(filter(variant.shown_by, filter(None, found)), "")] if wrong]
        outcome.control(variant, control)
    return outcome
