"""Many writers at once, on tasks that they share: from memory, and from files through Dask clusters."""

import os
import time
from pathlib import Path

import numpy as np

from ridgeway import store
from ridgeway.errors import DuplicateTaskError, RidgewayError
from torture.broken import NO_TRANSACTION, SOUND, UNLOCKED, Variant
from torture.children import Child, Tell, fork
from torture.job import Job
from torture.outcome import Outcome
from torture.spread import LOOKS_EARLY, Absorb, FromFiles, FromMemory, Means
from torture.tasks import CLOSE, FEATURES, TARGET, answers, distance_from_pooled, name

CONTROLS = (NO_TRANSACTION, UNLOCKED)
MOST_WRITERS, FEWEST_TASKS = 32, 12
CONTROL_WRITERS, CONTROL_TASKS = 8, 12
CLIENTS, CLIENT_SHARE, FEWEST_CLIENT_TASKS = 4, 100, 4
"""Writers with a cluster each; each has a task for so many of the others'."""
SHARED_BY = 4
"""The number of writers that share a task."""
LONGEST = 300.0
ABSORBED, ALREADY, REFUSED = b"a", b"o", b"r"


def run(job: Job) -> Outcome:
    """Start the writers; then check that broken stores are caught."""
    writers = min(MOST_WRITERS, job.times // FEWEST_TASKS)
    memory, files = FromMemory(), FromFiles(job.place("rows"))
    outcome = Race(job.folder / "sound.rw", writers, job.times // writers, job.seed, SOUND, memory).run()
    tasks = max(FEWEST_CLIENT_TASKS, job.times // CLIENT_SHARE)
    spread = Race(job.folder / "spread.rw", CLIENTS, tasks, job.seed, SOUND, files).run()
    outcome.violations += spread.violations
    for what, count in spread.counts.items():
        outcome.add(f"{what}, through clusters", count)
    if job.has_controls:
        for number, variant in enumerate(CONTROLS):
            path = job.folder / f"broken-{number}.rw"
            race = Race(path, CONTROL_WRITERS, CONTROL_TASKS, job.seed, variant, memory)
            outcome.control(variant, race.run())
        race = Race(job.folder / "early.rw", CLIENTS, FEWEST_CLIENT_TASKS, job.seed, LOOKS_EARLY, files)
        outcome.control(LOOKS_EARLY, race.run())
    return outcome


class Race:
    """Writers that start at the same time on one store."""

    def __init__(self, path: Path, writers: int, tasks: int, seed: int, variant: Variant, means: Means) -> None:
        self._path, self._variant, self._means = path, variant, means
        self._n_tasks = writers * tasks // SHARED_BY
        first = np.arange(writers) * self._n_tasks // writers
        self._own = [
            np.random.default_rng([seed, 4, writer]).permutation((first[writer] + np.arange(tasks)) % self._n_tasks)
            for writer in range(writers)
        ]

    def run(self) -> Outcome:
        """Start them; return what they did, and what is wrong with their reports and with the store."""
        store.create(self._path, features=FEATURES, target=TARGET)
        self._means.prepare({self._content(int(task), writer) for writer, own in enumerate(self._own) for task in own})
        gate, opener = os.pipe()
        children: list[Child] = []
        for writer in range(len(self._own)):

            def work(tell: Tell, writer: int = writer) -> None:
                os.close(opener)
                with self._means.writer() as absorb, self._variant.in_force():
                    os.read(gate, 1)
                    for number in self._own[writer]:
                        tell(self._absorb(absorb, int(number), writer))

            children.append(fork(work))
        os.close(gate)
        os.close(opener)
        limit = time.monotonic() + LONGEST
        told = [child.finish(limit - time.monotonic()) for child in children]
        outcome = Outcome("writers", {"writers": len(told), "tasks": self._n_tasks}, self._wrong(told))
        for word, letter in {"absorbed": ABSORBED, "already absorbed": ALREADY, "refused": REFUSED}.items():
            outcome.add(word, sum(what.partition(b"!")[0].count(letter) for what in told))
        return outcome

    def _absorb(self, absorb: Absorb, number: int, writer: int) -> bytes:
        try:
            return ALREADY if absorb(self._path, number, self._content(number, writer)).already else ABSORBED
        except DuplicateTaskError:
            if not self._contested(number):
                raise
            return REFUSED

    def _contested(self, number: int) -> bool:
        """Return whether each writer has its own rows for a task, so that the first one wins."""
        return number % 7 == 0

    def _content(self, number: int, writer: int) -> int:
        """Return which rows a writer has for a task."""
        return number + self._n_tasks * (1 + writer) if self._contested(number) else number

    def _wrong(self, told: list[bytes]) -> list[str]:
        wrong = [f"writer {writer}: {what.decode()}" for writer, what in enumerate(told) if b"!" in what]
        took = [
            (int(number), writer)
            for writer, what in enumerate(told)
            for number, letter in zip(self._own[writer], what.partition(b"!")[0].decode(), strict=False)
            if letter == ABSORBED.decode()
        ]
        if sorted(number for number, _ in took) != list(range(self._n_tasks)):
            wrong.append(f"{len(took)} tasks were acknowledged as new; there are {self._n_tasks}")
        try:
            said = answers(self._path)
        except RidgewayError as error:
            return [*wrong, str(error)]
        if sorted(said.ids) != sorted(map(name, range(self._n_tasks))):
            wrong.append(f"{len(said.ids)} tasks in the ledger, {len(set(said.ids))} different; not {self._n_tasks}")
        if wrong:
            return wrong
        gap = distance_from_pooled(said, [self._content(number, writer) for number, writer in took], self._means.rows)
        if not gap < CLOSE:
            return [f"the information is not the sum over the tasks (off by {gap:.1e})"]
        return []
