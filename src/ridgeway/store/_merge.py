"""Two state files into one: only if they have the same columns and settings, and nothing would be counted twice."""

from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np

from ridgeway.data import listed
from ridgeway.errors import MergeError
from ridgeway.store._changes import Contents
from ridgeway.store._digests import Array
from ridgeway.store._generations import Generation
from ridgeway.store._ledger import Entry, Record
from ridgeway.store._state import checked_arrays, read_state

WORDS = {
    "features": "features",
    "targets": "targets",
    "weight_column": "weight column",
    "weight_kind": "kind of weights",
    "fit_intercept": "intercept",
    "information": "kind of information",
}


class Snapshot(NamedTuple):
    """A generation with its ledger and its arrays, all digests checked."""

    generation: Generation
    ledger: tuple[Entry, ...]
    arrays: dict[str, Array]

    @property
    def tasks(self) -> list[Record]:
        """The records of the tasks that the state holds."""
        return [entry.record for entry in self.ledger if entry.record.removed is None]


def merged(one: Snapshot, two: Snapshot) -> Contents:
    """Return a state file's contents, as if one had absorbed the tasks of both; or raise `MergeError`."""
    differences = _differences(one, two)
    if differences:
        raise MergeError(f"cannot merge: {'; '.join(differences)}. Nothing was made.")
    past, schema = one.generation.next_sequence - 1, one.generation.schema
    ledger = [*one.ledger, *(_later(entry, past) for entry in two.ledger)]
    state: Any = read_state(schema, (one if one.tasks else two).arrays)
    if one.tasks and two.tasks:
        state = state.merge(read_state(schema, two.arrays))
    tasks = one.tasks + two.tasks
    arrays = checked_arrays(schema, state, len(tasks), sum(task.n_samples for task in tasks))
    return Contents(one.generation.schemas, ledger, arrays)


def _later(entry: Entry, past: int) -> Entry:
    """Return an entry as it is when all that happened in the other file comes before it."""
    record = entry.record
    removed = None if record.removed is None else past + record.removed
    return entry._replace(record=replace(record, sequence=past + record.sequence, removed=removed))


def _differences(one: Snapshot, two: Snapshot) -> list[str]:
    mine, theirs = asdict(one.generation.schema), asdict(two.generation.schema)
    found = [
        f"the {word} differ ({_short(mine[name])} and {_short(theirs[name])})"
        for name, word in WORDS.items()
        if mine[name] != theirs[name]
    ]
    if mine["single_target"] != theirs["single_target"]:
        found.append("one names its target alone and the other in a list")
    prior, other = one.arrays["prior"], two.arrays["prior"]
    if mine["features"] != theirs["features"]:
        prior, other = np.unique(prior), np.unique(other)
    if not np.array_equal(prior, other):
        found.append("the prior differs")
    ids = {task.task_id for task in one.tasks}
    both = sorted(ids & {task.task_id for task in two.tasks})
    if both:
        found.append(f"both have a task {listed(both)}")
    owners = {task.digest: task.task_id for task in one.tasks}
    twice = [
        f"{owners[task.digest]!r} and {task.task_id!r}"
        for task in two.tasks
        if task.digest in owners and task.task_id not in ids
    ]
    if twice:
        found.append(f"the same rows are in both, as {', '.join(twice[:6])}")
    return found


def _short(value: object) -> str:
    return listed(value) if isinstance(value, tuple) else repr(value)
