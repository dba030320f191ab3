"""Absorb and remove: rows come in blocks, are hashed beside the linear algebra, and count at most once."""

from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ridgeway.data import Block, Schema
from ridgeway.errors import DuplicateTaskError, InvalidDataError, RemovalError
from ridgeway.store._changes import changing
from ridgeway.store._digests import ContentDigest
from ridgeway.store._generations import Generation
from ridgeway.store._records import Record, checked_id, live, next_sequence, totals
from ridgeway.store._state import Learner, emptied

Blocks = Iterable[tuple[str, Block]]
Source = Callable[[], Blocks]
"""Gives the rows of one or more tasks in blocks, each with its task id, and the same again when called again."""


class Absorbed(NamedTuple):
    """What came of absorbing a task: its record in the ledger, and whether it was there already."""

    record: Record
    already: bool


class Removed(NamedTuple):
    """What came of removing a task: its record, marked, and the decimal digits that removals may have cost."""

    record: Record
    digits_lost: float


def absorb(path: Path, timeout: float, schema: Schema, source: Source, force: str | None) -> list[Absorbed]:
    """Add the tasks of `source` to a state file, all of them or none, each at most once."""
    with changing(path, timeout) as change:
        now = change.generation
        tasks = live(now.ledger)
        known = {record.task_id for record in tasks}
        learner = Learner(schema, change.arrays())
        digests = _learn(source(), learner, lambda task_id: task_id not in known)
        found = {task_id: digest.hexdigest(schema.columns) for task_id, digest in digests.items()}
        there = {(record.task_id, record.digest): record for record in tasks}
        forced = [task_id for task_id, digest in found.items() if task_id in known and (task_id, digest) not in there]
        _refuse_duplicates(tasks, {i: d for i, d in found.items() if (i, d) not in there}, force)
        if forced:  # their rows were only looked at so far
            again = _learn(source(), learner, lambda task_id: task_id in forced, hashed=forced)
            if any(again[task_id].hexdigest(schema.columns) != found[task_id] for task_id in forced):
                raise InvalidDataError("the rows changed while they were read. Absorb a file that nobody writes to.")
        new = _records(now, digests, {i: d for i, d in found.items() if (i, d) not in there}, tasks, force)
        if new:
            entries = [*now.entries, *((now.number + 1, record) for record in new)]
            change.commit(entries, learner.arrays(*totals([*tasks, *new])))
        else:
            change.confirm()
    made = {record.task_id: record for record in new}
    return [Absorbed(made.get(i) or there[i, digest], i not in made) for i, digest in found.items()]


def _learn(
    blocks: Blocks, learner: Learner, wanted: Callable[[str], bool], *, hashed: Collection[str] | None = None
) -> dict[str, ContentDigest]:
    """Add the wanted tasks' rows to the learner; return the digests of all tasks, or of those in `hashed`."""
    digests: dict[str, ContentDigest] = {}
    with ThreadPoolExecutor(1) as pool:  # which hashes, in order, while this thread does the linear algebra
        for task_id, block in blocks:
            if hashed is not None and task_id not in hashed:
                continue
            digest = digests.setdefault(checked_id(task_id), ContentDigest())
            hashing = pool.submit(digest.add, *block)
            if wanted(task_id):
                learner.add(*block)
            hashing.result()
    if not digests:
        raise InvalidDataError("there are no rows. An empty task teaches nothing: leave it out.")
    return digests


def _refuse_duplicates(tasks: Collection[Record], new: dict[str, str], force: str | None) -> None:
    """Raise for an id that has other content, and for content that another id has, unless forced."""
    if force is not None:
        return
    ids = {record.task_id for record in tasks}
    owners = {record.digest: record.task_id for record in tasks}
    for task_id, digest in new.items():
        if task_id in ids:
            raise DuplicateTaskError(
                f"task {task_id!r} is in the state file with other content (digest {digest[:12]}… is new). Give the "
                "new rows an id of their own, or force them in with a reason."
            )
        other = owners.setdefault(digest, task_id)
        if other != task_id:
            raise DuplicateTaskError(
                f"the rows of task {task_id!r} are those of task {other!r} (digest {digest[:12]}…). Absorbing them "
                "again would count them twice; force them in with a reason if that is meant."
            )


def _records(
    now: Generation,
    digests: dict[str, ContentDigest],
    new: dict[str, str],
    tasks: Collection[Record],
    force: str | None,
) -> list[Record]:
    first = next_sequence(now.ledger)
    clock = datetime.now(UTC).isoformat(timespec="seconds")
    ids, contents = {record.task_id for record in tasks}, {record.digest for record in tasks}
    records = []
    for sequence, (task_id, digest) in enumerate(new.items(), first):
        reason = force if task_id in ids or digest in contents else None
        contents.add(digest)
        seen = digests[task_id]
        records.append(Record(sequence, task_id, digest, seen.n_samples, seen.total_weight, clock, reason))
    return records


def remove(path: Path, timeout: float, schema: Schema, task_id: str, source: Source) -> Removed:
    """Take a task out of a state file, exactly, or raise `RemovalError`; what it leaves behind is overwritten."""
    digest = _digest_alone(source())
    with changing(path, timeout, wipe=True) as change:
        now = change.generation
        record = _recorded(now, task_id, digest.hexdigest(schema.columns))
        rest = [task for task in live(now.ledger) if task is not record]
        before, digits = change.arrays(), 0.0
        arrays = emptied(schema, before)
        if rest:
            learner, again = Learner(schema, before), ContentDigest()
            for _, block in source():
                again.add(*block)
                learner.remove(*block)
            if again.hexdigest(schema.columns) != record.digest:
                raise RemovalError("the rows changed while they were read. Remove with a file that nobody writes to.")
            arrays, digits = learner.arrays(*totals(rest)), learner.digits_lost
        gone = replace(record, digest="", removed=next_sequence(now.ledger), digits_lost=digits)
        entries = [(generation, gone if task is record else task) for generation, task in now.entries]
        change.commit(entries, arrays, keep_previous=False)
    return Removed(gone, digits)


def _digest_alone(blocks: Blocks) -> ContentDigest:
    digest = ContentDigest()
    for _, block in blocks:
        digest.add(*block)
    return digest


def _recorded(now: Generation, task_id: str, digest: str) -> Record:
    """Return the record of a task, or raise where there is none or its rows were others."""
    records = [record for record in live(now.ledger) if record.task_id == task_id]
    if not records:
        raise RemovalError(
            f"there is no task {task_id!r} in the state file. See `ridgeway history` for those there are."
        )
    for record in records:
        if record.digest == digest:
            return record
    raise RemovalError(
        f"these are not the rows that were absorbed as task {task_id!r}: their digest is {digest[:12]}…, the ledger "
        f"has {', '.join(record.digest[:12] + '…' for record in records)}. Pass the very rows."
    )


def one_task(task_id: str, blocks: Callable[[], Iterator[Block]]) -> Source:
    """Return a source of one task."""
    return lambda: ((task_id, block) for block in blocks())
