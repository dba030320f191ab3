"""Two state files into one: only where nothing would be counted twice and both are about the same thing."""

from dataclasses import asdict, replace

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import listed
from ridgeway.errors import MergeError
from ridgeway.store._generations import FIRST, Generation
from ridgeway.store._records import Record, live, next_sequence, totals
from ridgeway.store._state import check_state, merged_arrays

Array = NDArray[np.float64]
Snapshot = tuple[Generation, dict[str, Array]]

WORDS = {
    "features": "features",
    "targets": "targets",
    "weight_column": "weight column",
    "fit_intercept": "intercept",
    "information": "kind of information",
}


def merged(one: Snapshot, two: Snapshot) -> tuple[list[tuple[int, Record]], dict[str, Array]]:
    """Return the ledger and the state of both, as if one had absorbed the tasks of both; or raise `MergeError`."""
    (first, arrays), (second, others) = one, two
    differences = _differences(one, two)
    if differences:
        raise MergeError(f"cannot merge: {'; '.join(differences)}. Nothing was made.")
    past = next_sequence(first.ledger) - 1
    records = [*first.ledger, *(_later(record, past) for record in second.ledger)]
    entries = [(FIRST, record) for record in records]
    tasks = live(records)
    state = merged_arrays(first.schema, arrays, others)
    check_state(first.schema, state, *totals(tasks))
    return entries, state


def _later(record: Record, past: int) -> Record:
    """Return a record with all that happened in the other file before it."""
    removed = None if record.removed is None else past + record.removed
    return replace(record, sequence=past + record.sequence, removed=removed)


def _differences(one: Snapshot, two: Snapshot) -> list[str]:
    (first, arrays), (second, others) = one, two
    mine, theirs = asdict(first.schema), asdict(second.schema)
    found = [
        f"the {word} differ ({_short(mine[name])} and {_short(theirs[name])})"
        for name, word in WORDS.items()
        if mine[name] != theirs[name]
    ]
    if first.schema.single_target != second.schema.single_target:
        found.append("one names its target alone and the other in a list")
    prior, other = arrays["prior"], others["prior"]
    if mine["features"] != theirs["features"]:
        prior, other = np.unique(prior), np.unique(other)
    if not np.array_equal(prior, other):
        found.append("the prior differs")
    ids = [{record.task_id for record in live(generation.ledger)} for generation in (first, second)]
    if ids[0] & ids[1]:
        found.append(f"both have a task {listed(sorted(ids[0] & ids[1]))}")
    owners = {record.digest: record.task_id for record in live(first.ledger)}
    twice = [
        f"{owners[record.digest]!r} and {record.task_id!r}"
        for record in live(second.ledger)
        if record.digest in owners and record.task_id not in ids[0]
    ]
    if twice:
        found.append(f"the same rows are in both, as {', '.join(twice[:6])}")
    return found


def _short(value: object) -> str:
    return listed(value) if isinstance(value, tuple) else repr(value)
