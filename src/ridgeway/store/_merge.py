"""Two state files into one: columns are matched by name, and nothing is counted twice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ridgeway.data import Rebased, Schema, differences, listed, rebased, united, widening
from ridgeway.errors import InvalidParameterError, MergeError
from ridgeway.information import Information, Node, with_leaf
from ridgeway.store._absorb import checked_id
from ridgeway.store._changes import Contents
from ridgeway.store._digests import Array, schema_from
from ridgeway.store._generations import Generation
from ridgeway.store._ledger import Entry, Record
from ridgeway.store._nodes import PartLeaf
from ridgeway.store._part_arrays import check_part_size
from ridgeway.store._references import empty_references, substitutes
from ridgeway.store._state import checked_arrays, read_state
from ridgeway.store._widen import next_schemas, shortest_digest, widened

MOST_ENTRIES = 3
"""The most entries of two priors that a message quotes."""


class Snapshot(NamedTuple):
    """A generation with its ledger, its arrays and the tree of its parts, all digests checked."""

    generation: Generation
    ledger: tuple[Entry, ...]
    arrays: dict[str, Array]
    tree: Node | None = None

    @property
    def leaves(self) -> list[Any]:
        """The parts of the tasks."""
        return [] if self.tree is None else list(self.tree.leaves())

    @property
    def tasks(self) -> list[Record]:
        """The records of the tasks that the state holds."""
        return [entry.record for entry in self.ledger if entry.record.removed is None]


def renamed(snapshot: Snapshot, prefix: str) -> Snapshot:
    """Return a state file with a prefix before the ids of its tasks."""
    if not prefix:
        return snapshot
    tree: Node | None = None
    for leaf in snapshot.leaves:
        name = leaf.name._replace(task=f"{prefix}{leaf.name.task}")
        tree = with_leaf(tree, PartLeaf.made(name, leaf.again, leaf.sequence, leaf.get))
    return snapshot._replace(
        ledger=tuple(
            entry._replace(record=replace(entry.record, task_id=checked_id(f"{prefix}{entry.record.task_id}")))
            for entry in snapshot.ledger
        ),
        tree=tree,
    )


def total_alone(snapshot: Snapshot) -> Snapshot:
    """Return a state file as if it did not keep its tasks."""
    schema = replace(snapshot.generation.schema, keep=None)
    return snapshot._replace(generation=replace(snapshot.generation, schema=schema, parts=None), tree=None)


def merged(one: Snapshot, two: Snapshot, names: tuple[str, str]) -> Contents:
    """Return a state file's contents, as if one had absorbed the tasks of both; or raise `MergeError`."""
    found = _differences(one, two, names)
    if found:
        raise MergeError(f"cannot merge: {'; '.join(found)}. No file was created.")
    mine, theirs = one.generation.schema, two.generation.schema
    schema, rebasing = united(mine, theirs)
    try:
        check_part_size(schema)
        states = [_fitted(one, schema, None), _fitted(two, schema, rebasing)]
        # The state of a file without tasks is not merged with the other, so its prior is compared here.
        priors = _prior_differences(schema.features, states[0].prior, states[1].prior, names)
        if priors:
            raise MergeError(f"cannot merge: {priors[0]}. No file was created.")
        state: Any = states[0] if one.tasks else states[1]
        if one.tasks and two.tasks:
            state = state.merge(states[1])
        past = one.generation.next_sequence - 1
        tree = _united_tree(one, two, schema, rebasing, past)

        # The reference level of the first file may have no row in either.
        references = substitutes(state, schema, empty_references(state, schema))
        if references:
            change = rebased(schema, references)
            state = state.mapped(change.matrix, change.shift)
            tree = _mapped_tree(tree, change)
            schema = change.after
        if tree is not None:
            state = replace(state, information=tree.information.plain)
    except InvalidParameterError as error:
        raise MergeError(f"cannot merge: {error} No file was created.") from error
    schemas, shift = _schemas(one.generation.schemas, two.generation.schemas, schema)
    ledger = [*one.ledger, *(_later(entry, past, shift) for entry in two.ledger)]
    tasks = one.tasks + two.tasks
    arrays = checked_arrays(schema, state, len(tasks), sum(task.n_samples for task in tasks))
    return Contents(schemas, ledger, arrays, tree)


def _united_tree(one: Snapshot, two: Snapshot, schema: Schema, rebasing: Rebased | None, past: int) -> Node | None:
    """Return the tree of the parts of both, with the columns of both; all that is not a leaf is merged again."""
    tree: Node | None = None
    for snapshot, change, later in ((one, None, 0), (two, rebasing, past)):
        for leaf in snapshot.leaves:
            fitted = partial(_fitted_part, leaf, snapshot.generation.schema, schema, change)
            tree = with_leaf(tree, PartLeaf.made(leaf.name, leaf.again, leaf.sequence + later, fitted))
    return tree


def _mapped_tree(tree: Node | None, change: Rebased) -> Node | None:
    """Return a tree with other reference levels in every part."""
    mapped: Node | None = None
    leaves: list[Any] = [] if tree is None else list(tree.leaves())
    for leaf in leaves:
        part = partial(_mapped_part, leaf, change)
        mapped = with_leaf(mapped, PartLeaf.made(leaf.name, leaf.again, leaf.sequence, part))
    return mapped


def _mapped_part(leaf: PartLeaf, change: Rebased) -> Information:
    return leaf.information.mapped(change.matrix, change.shift)


def _fitted_part(leaf: PartLeaf, mine: Schema, schema: Schema, rebasing: Rebased | None) -> Information:
    """Return a part with the columns of both files, as `_fitted` returns the state."""
    part = leaf.information
    if rebasing is not None:
        part = part.widened(*widening(mine, rebasing.before)).mapped(rebasing.matrix, rebasing.shift)
        mine = rebasing.after
    same = mine.features == schema.features and mine.targets == schema.targets
    return part if same else part.widened(*widening(mine, schema))


def _fitted(snapshot: Snapshot, schema: Schema, rebasing: Rebased | None) -> Any:
    """Return the state of a file with the columns of both."""
    mine = snapshot.generation.schema
    state: Any = read_state(mine, snapshot.arrays)
    if rebasing is not None:
        if mine.family is not None and mine.family.memory is not None:
            raise MergeError(
                f"cannot merge: categories have different reference levels, and a file of family {mine.family.name} "
                "cannot change from one to the other. Start both files with the same reference."
            )
        wider: Any = widened(state, mine, rebasing.before)
        state = wider.mapped(rebasing.matrix, rebasing.shift)
        mine = rebasing.after
    same = (mine.features, mine.targets, mine.family) == (schema.features, schema.targets, schema.family)
    return state if same else widened(state, mine, schema)


def _schemas(one: Sequence[bytes], two: Sequence[bytes], schema: Schema) -> tuple[list[bytes], int]:
    """Return the schemas of both files and the one in force, and by how much the versions of the second are moved."""
    if one == two and schema_from(one[-1]) == schema:
        return list(one), 0
    found = list(one)
    for stored in two:
        found = next_schemas(found, schema_from(stored))
    last = replace(schema_from(found[-1]), version=schema.version)
    return (found if last == schema else next_schemas(found, schema)), len(one)


def _later(entry: Entry, past: int, shift: int) -> Entry:
    """Return an entry as it is when all that happened in the other file comes before it."""
    record = entry.record
    removed = None if record.removed is None else past + record.removed
    moved = replace(record, sequence=past + record.sequence, removed=removed, schema=record.schema + shift)
    return entry._replace(record=moved)


def _differences(one: Snapshot, two: Snapshot, names: tuple[str, str]) -> list[str]:
    found = differences(one.generation.schema, two.generation.schema, names)
    known = set(two.generation.schema.features)
    shared = [name for name in one.generation.schema.features if name in known]
    found += _prior_differences(shared, _prior_of(one, shared), _prior_of(two, shared), names)
    ids = {task.task_id for task in one.tasks}
    both = sorted(ids & {task.task_id for task in two.tasks})
    if both:
        what = "the task" if len(both) == 1 else "the tasks"
        found.append(f"both have {what} {listed(both)} (give the ids of each file a prefix if their rows differ)")
    past = {**two.generation.schema.past, **one.generation.schema.past}
    owners = dict(_contents(one, past))
    twice = [
        f"{owners[digest]!r} and {task_id!r}"
        for digest, task_id in _contents(two, past)
        if digest in owners and task_id not in ids
    ]
    if twice:
        found.append(f"the same rows are in both, as {', '.join(twice[:6])}")
    return found


def _prior_of(snapshot: Snapshot, features: Sequence[str]) -> Array:
    """Return the prior of some features of a file, in this order: a diagonal or a matrix."""
    places = {name: place for place, name in enumerate(snapshot.generation.schema.features)}
    chosen = [places[name] for name in features]
    prior = snapshot.arrays["prior"]
    return prior[chosen] if prior.ndim == 1 else prior[np.ix_(chosen, chosen)]


def _prior_differences(features: Sequence[str], one: Array, two: Array, names: tuple[str, str]) -> list[str]:
    """Return which entries of two priors of the same features differ, in one sentence; nothing if they are equal."""
    if one.ndim != two.ndim:
        one = np.diag(one) if one.ndim == 1 else one
        two = np.diag(two) if two.ndim == 1 else two
    differing = one != two
    entries = np.argwhere(np.triu(differing) if differing.ndim == 2 else differing)
    if not len(entries):
        return []

    values = []
    for entry in map(tuple, entries[:MOST_ENTRIES]):
        pair = " and ".join(repr(features[place]) for place in dict.fromkeys(entry))
        values.append(f"{one[entry]} in {names[0]} and {two[entry]} in {names[1]} for {pair}")
    more = f", … ({len(entries)} in all)" if len(entries) > MOST_ENTRIES else ""
    return [f"the prior differs (it is {', '.join(values)}{more})"]


def _contents(snapshot: Snapshot, past: Mapping[str, float | str]) -> Iterator[tuple[str, str]]:
    """Yield what tells the rows of each task from others, however many columns it was learned with, and its id."""
    learned = [schema_from(stored) for stored in snapshot.generation.schemas]
    schema = replace(snapshot.generation.schema, past=past)
    for entry in snapshot.ledger:
        if entry.record.removed is None:
            yield shortest_digest(entry, learned[entry.record.schema - 1], schema), entry.record.task_id
