"""Readers beside a writer: every answer is that of one moment, and time never runs backwards."""

from functools import partial
from pathlib import Path

from ridgeway import store
from torture.broken import READS_IN_PIECES, SOUND, Variant
from torture.children import Tell, fork
from torture.growth import GROWING_LIFE
from torture.job import Job
from torture.outcome import Outcome
from torture.tasks import PLAIN_LIFE, Life, state_of

CONTROLS = (READS_IN_PIECES,)
MOST_FOR_A_CONTROL = 200
READERS = 3
FIRST = 2
"""Steps of a life that are done before anybody reads: a store with one task."""
READ = b"."
SHARE_GROWING = 2
"""The number of lives per life of a store that grows."""


def run(job: Job) -> Outcome:
    """Let stores live while others read them; then check that a broken reader is caught."""
    outcome = Outcome("readers")
    for number in range(job.share):
        job.advance()
        _one(job.folder / f"{number}.rw", SOUND, PLAIN_LIFE, outcome)
        if number % SHARE_GROWING == 0:
            _one(job.folder / f"growing-{number}.rw", SOUND, GROWING_LIFE, outcome)
    for variant in CONTROLS if job.has_controls else ():
        trial = Outcome("readers")
        for number in range(MOST_FOR_A_CONTROL):
            _one(job.folder / f"broken-{number}.rw", variant, PLAIN_LIFE, trial)
            if any(map(variant.shown_by, trial.violations)):
                break
        outcome.control(variant, trial)
    return outcome


def _one(path: Path, variant: Variant, life: Life, outcome: Outcome) -> None:
    """Let a store live, with readers beside it; record what they saw."""
    for step in life.steps[:FIRST]:
        step.take(path)
    readers = [fork(partial(_watch, path, variant, life)) for _ in range(READERS)]
    for step in life.steps[FIRST:]:
        step.take(path)
    told = [child.finish() for child in readers]
    path.unlink()
    outcome.add("lives" if life is PLAIN_LIFE else "lives of a store that grows")
    outcome.add("reads", sum(what.count(READ) for what in told))
    outcome.violations += [f"{path.name}: {what.decode().strip('.')}" for what in told if b"!" in what]


def _watch(path: Path, variant: Variant, life: Life, tell: Tell) -> None:
    """Read until the store has come to the end of its life; raise if an answer is not one of its moments, in order."""
    end = len(life.steps)
    moments = [life.moment(done) for done in range(end + 1)]
    seen = FIRST
    with variant.in_force():
        while seen < end:
            opened = store.open(path)
            ids = tuple(record.task_id for record in opened.history())
            for place, answer in enumerate((ids, state_of(opened.model()))):
                now = next((done for done in range(seen, end + 1) if moments[done][place] == answer), None)
                if now is None:
                    raise AssertionError(f"the {('ids', 'state')[place]} are of no moment after step {seen}: {ids}")
                seen = now
            tell(READ)
