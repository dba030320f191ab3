"""Stores whose processes crash again and again, at random moments."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from ridgeway import errors
from torture.broken import SOUND, Variant
from torture.children import ACKNOWLEDGED, Child, Tell, fork
from torture.job import Job
from torture.outcome import Outcome
from torture.tasks import PLAIN_LIFE, Life

MOST_FOR_A_CONTROL = 400
MOST_ACKNOWLEDGED = 4
"""A crash comes after fewer acknowledgements than this, and a delay."""
SPREAD, NEAR = (0.0, 1.5), (0.7, 1.05)
"""The delay, as a share of the time that a step takes: anywhere, or close to the next acknowledgement."""


@dataclass
class Crashes:
    """Start child processes, crash them, and examine what is left.

    Attributes
    ----------
    job : the random numbers
    folder : where the stores are
    crash : what ends a child
    outcome : where crashes, acknowledgements and violations are counted
    times : the number of crashes, or the most of them until a broken store is caught
    errors_expected : whether a child may meet an error, a typed one, between the crash and its end
    variant : the store, or a broken one
    life : what is done to a store
    """

    job: Job
    folder: Path
    crash: Callable[[Child], None]
    outcome: Outcome
    times: int
    errors_expected: bool = False
    variant: Variant = SOUND
    life: Life = PLAIN_LIFE
    rng: np.random.Generator = field(init=False)
    lives: int = field(default=0, init=False)
    done: int = field(default=0, init=False)
    seen: int = field(default=0, init=False)
    pace: float = field(default=0.0, init=False)

    def run(self) -> Outcome:
        """Crash many times, each process continuing where the last one ended; a broken store until it is caught."""
        self.rng = self.job.rng(1)
        self._set_pace()
        for trial in range(self.times):
            self.job.advance()
            if self.done == len(self.life.steps):
                self._start_over()
            low, high = SPREAD if trial % 2 else NEAR
            wrong = self._one(int(self.rng.integers(MOST_ACKNOWLEDGED)), self.pace * float(self.rng.uniform(low, high)))
            if wrong:
                self.outcome.violations.append(f"crash {trial} of life {self.lives}: {wrong}")
                if self.variant is not SOUND and self.variant.shown_by(wrong):
                    break
                self._start_over()
        return self.outcome

    @property
    def path(self) -> Path:
        """The store of this life."""
        return self.folder / f"life-{self.lives}.rw"

    def _set_pace(self) -> None:
        """Measure how long a step takes, on a separate store."""
        child = fork(lambda tell: live(self.life, self.folder / "pace.rw", 0, SOUND, tell))
        child.listen(1)
        begin = time.perf_counter()
        child.listen(len(self.life.steps))
        self.pace = (time.perf_counter() - begin) / (len(self.life.steps) - 1)
        child.end()

    def _start_over(self) -> None:
        for left in self.folder.glob(f"{self.path.name}*"):
            left.unlink()
        self.lives += 1
        self.done = self.seen = 0

    def _one(self, acknowledged: int, jitter: float) -> str:
        """Crash once; return what is wrong with what is left, or nothing."""
        begin = self.done
        child = fork(lambda tell: live(self.life, self.path, begin, self.variant, tell))
        try:
            child.listen(min(acknowledged, len(self.life.steps) - begin))
            time.sleep(jitter)
            early = b"!" in child.so_far()
            self.crash(child)
        finally:
            told = child.end()
        came = told.count(ACKNOWLEDGED)
        self.done = begin + came
        self.outcome.add("crashes")
        self.outcome.add("acknowledged", came)
        wrong = self.life.disagreement(self.path, self.done)
        ahead = self.done
        if wrong and self.done < len(self.life.steps) and not self.life.disagreement(self.path, self.done + 1):
            ahead, wrong = self.done + 1, ""
        if ahead > max(self.seen, self.done):
            self.outcome.add("committed, not acknowledged")
        self.seen = max(self.seen, ahead)
        if not wrong and b"!" in told and (early or not self.errors_expected or not _is_typed(told)):
            wrong = "a call failed, with an error that is not typed or came before the crash"
        if wrong:
            step = self.life.steps[min(self.done, len(self.life.steps) - 1)]
            return f"{self.done} steps acknowledged, then {step}: {wrong}; reported {told!r}"
        return ""


def _is_typed(told: bytes) -> bool:
    """Return whether the error that a child reports is one of ours, or that of a command that was refused."""
    said = told.partition(b"!")[2].decode()
    return hasattr(errors, said.partition(":")[0]) or said.startswith("RefusedError: exit code 2: ridgeway ")


def live(life: Life, path: Path, begin: int, variant: Variant, tell: Tell) -> None:
    """Take the steps of a life, starting with `begin`; report each one when it is done, and wait to be killed.

    What was done before is repeated first, unless it may only have been acknowledged: it must not count again.
    """
    if begin and not variant.early:
        with variant.in_force():
            life.steps[begin - 1].repeat(path)
    for number, step in enumerate(life.steps[begin:]):
        variant.run(partial(step.take if number else step.repeat, path), tell)
    while True:
        signal.pause()
