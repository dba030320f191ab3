"""All parts of a file: checked one by one, or read into memory, or made from memory."""

import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ridgeway.data import Schema
from ridgeway.errors import DamagedStoreError, StoreError
from ridgeway.information import Information, Join, Leaf, Node, found, with_leaf
from ridgeway.store._digests import RESTORE, Array, schema_from
from ridgeway.store._generations import Generation, KeptParts, check_budget, stream_ledger
from ridgeway.store._ledger import Record
from ridgeway.store._nodes import KEY_BITS, NodeRef, PartLeaf, Shelf, Stored, StoredLeaf, is_below
from ridgeway.store._part_arrays import ARRAYS, kept_by
from ridgeway.store._state import read_state
from ridgeway.weights import Retained, policy_of

COPIES = 4
"""Bytes of memory for each byte of a part that is read and used."""
CLOSE = 1e-8
"""The rounding that merging two parts again may cost on another machine, as a share of the sums of squares."""

Seen = dict[int, str]
"""The digests of nodes that were checked, by their ids."""


def shelf_of(connection: sqlite3.Connection, generation: Generation, path: Path) -> Shelf:
    """Return what reads the parts of a generation."""
    return Shelf(connection, path, tuple(map(schema_from, generation.schemas)))


def check_parts(
    connection: sqlite3.Connection,
    generation: Generation,
    path: Path,
    arrays: Mapping[str, Array],
    seen: Seen | None = None,
) -> Seen:
    """Check every part of a generation, if it has any: return the digests of its nodes.

    Each node must have the digest that the node above it keeps, be where its name says, and be the merge of those
    below. The leaves must be the tasks of the ledger, and the root must be the state, bit for bit. Nodes that have been
    `seen` are not read again, and then the leaves are not compared with the ledger.
    """
    if generation.parts is None:
        return {}
    shelf, kept = shelf_of(connection, generation, path), generation.parts
    found, root = dict[int, str](), shelf.root(kept.root)
    check_total(path, root, generation.schema, arrays)
    leaves = iter(()) if root is None else _checked_below(shelf, root, seen or {}, found)
    if seen is not None:
        deque(leaves, maxlen=0)
    else:
        check_leaves(path, leaves, [one.record for one in stream_ledger(connection, generation, path, full=False)])
        _check_rows(connection, shelf, kept, found)
    return found


def _checked_below(shelf: Shelf, node: Stored, seen: Seen, found: Seen) -> Iterator[StoredLeaf]:
    """Check a node and all that is below it, and yield the parts."""
    found[node.ref.id] = node.ref.digest
    if seen.get(node.ref.id) == node.ref.digest:
        return
    version = shelf.version(node.body)
    information = shelf.information(node.body, version)
    if isinstance(node, StoredLeaf):
        yield node
        return
    below = node.children
    left, right = (shelf.information(child.body, version).plain for child in below)  # as when they were merged
    if not _is_near(left.merge(right), information):
        raise shelf.damaged("a part is not the merge of those below it")
    for child in below:
        yield from _checked_below(shelf, child, seen, found)


def _is_near(one: Information, two: Information) -> bool:
    """Return whether two are the same but for rounding."""
    if (one.n_samples, one.digits_lost) != (two.n_samples, two.digits_lost):
        return False
    scale = np.sqrt(np.maximum(one.peak, two.peak))
    spread = scale / np.sqrt(one.total_weight) + np.abs(one.mean)
    weights = np.allclose([one.total_weight, one.log_weight], [two.total_weight, two.log_weight], CLOSE, CLOSE)
    means = (np.abs(one.mean - two.mean) <= CLOSE * spread).all()
    return bool(weights and means and (np.abs(one.moments() - two.moments()) <= CLOSE * np.outer(scale, scale)).all())


def check_total(path: Path, root: Node | None, schema: Schema, arrays: Mapping[str, Array]) -> None:
    """Raise unless the root of a tree is the state, bit for bit."""
    state = read_state(schema, arrays).information
    same = root is None and state.n_samples == 0
    if root is not None:
        (counts, found), (known, expected) = root.information.to_parts(), state.to_parts()
        same = counts == known and all(found[name].tobytes() == expected[name].tobytes() for name in ARRAYS)
    if not same:
        raise _damaged(path, "the state is not the merge of its parts")


def check_leaves(path: Path, leaves: Iterable[PartLeaf], records: Iterable[Record]) -> None:
    """Raise unless the leaves of a tree are the tasks of a ledger."""
    found: dict[int, tuple[int, str, str | None]] = {}
    for leaf in leaves:
        n_samples, task, again = found.get(leaf.sequence, (0, leaf.name.task, leaf.again))
        if (task, again) != (leaf.name.task, leaf.again):
            raise _damaged(path, f"the parts of task {leaf.name.task!a} do not belong together")
        found[leaf.sequence] = n_samples + leaf.information.n_samples, task, again
    tasks = {record.sequence: record for record in records if record.removed is None}
    if tasks.keys() != found.keys():
        raise _damaged(path, "its parts are not those of the tasks in the ledger")
    for sequence, (n_samples, task, again) in found.items():
        record = tasks[sequence]
        # The ledger counts each row once, parts count it as often as it was observed.
        if task != record.task_id or again not in (None, record.digest) or n_samples < record.n_samples:
            raise _damaged(path, f"the part of task {record.task_id!a} is not that of the ledger")


def _check_rows(connection: sqlite3.Connection, shelf: Shelf, kept: KeptParts, found: Seen) -> None:
    """Raise if there are nodes that belong to neither of the generations."""
    n_rows, last = connection.execute("SELECT count(*), max(id) FROM parts").fetchone()
    others = {*kept.replaced, *kept.free}
    if n_rows != len(found) + len(others) or (last or 0) >= kept.next_id or found.keys() & others:
        raise shelf.damaged("it has parts that its tasks do not have")


def loaded(connection: sqlite3.Connection, generation: Generation, path: Path) -> Node | None:
    """Return the tree of a generation, all of it in memory; None if there are no parts."""
    if generation.parts is None or generation.parts.root is None:
        return None
    shelf, used = shelf_of(connection, generation, path), [0]

    def read(ref: NodeRef, above: Node | None, side: int) -> Node:
        node = shelf.node(ref, above, side)
        used[0] += COPIES * len(node.body)
        check_budget(path, used[0], "parts")
        if isinstance(node, StoredLeaf):
            return node
        left, right = (read(below, node, place) for place, below in enumerate(node.refs))
        return Join(node.key, node.shared, left, right, _reader(shelf, node.body))

    return read(generation.parts.root, None, 0)


def _reader(shelf: Shelf, body: bytes) -> Callable[[], Information]:
    return lambda: shelf.information(body)


def parted(schema: Schema, state: Retained, tree: Node | None, ids: Iterable[str]) -> Retained:
    """Return a state that keeps its tasks apart, or raise if the file does not."""
    if schema.family is not None:
        raise StoreError(f"a file of family {schema.family.name} keeps the total alone, not its tasks.")
    if schema.keep is None:
        raise StoreError("this state file does not keep its tasks. Start a new one with --keep tasks.")
    kind = kept_by(schema)
    leaves: list[Any] = [] if tree is None else list(tree.leaves())
    if any(leaf.again is not None for leaf in leaves):
        tree = None
        for leaf in leaves:
            before = found(tree, leaf.name.key)
            part = leaf.information if before is None else before.information.merge(leaf.information)
            tree = with_leaf(tree, Leaf.of(leaf.name, part))
    held = replace(kind.empty(len(schema.features), len(schema.targets), centered=schema.fit_intercept), tree=tree)
    start = policy_of(state).start(replace(state.origin, information=kind))
    tasks: Any = replace(held, ids=tuple(ids))
    return replace(start, information=tasks, n_tasks=len(tasks.ids))


def joined(left: Node, right: Node, information: Information, path: Path) -> Join:
    """Return the node above two others whose information is known, or raise if they cannot be side by side."""
    shared = KEY_BITS - (left.key ^ right.key).bit_length()
    node = Join(left.key, shared, left, right, lambda: information)
    if not is_below(left, node, 0) or not is_below(right, node, 1):
        raise _damaged(path, "its parts are in the wrong places")
    return node


def _damaged(path: Path, what: str) -> DamagedStoreError:
    return DamagedStoreError(f"{path} is damaged: {what}. {RESTORE}")
