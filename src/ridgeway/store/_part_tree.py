"""The tree of parts during a change: what is added, what goes, and which rows of the file change."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from ridgeway.errors import RemovalError
from ridgeway.information import Join, Node, found, task_node, with_leaf, without
from ridgeway.store._generations import Generation, KeptParts
from ridgeway.store._journal import PAGE_BYTES
from ridgeway.store._nodes import NodeRow, NodeRows, PartLeaf, Shelf, Stored, StoredJoin, StoredLeaf, unstored
from ridgeway.store._part_arrays import part_bytes
from ridgeway.store._state import emptied
from ridgeway.weights import Retained

MOST_FREE, MOST_FREE_BYTES = 256, 16 * 2**20
"""Limits on the nodes that are gone and still take room: their number, and their bytes."""


class NewParts(NamedTuple):
    """What becomes of the parts in a change: the tree as it is then, rows to write, and ids to delete."""

    kept: KeptParts
    rows: Sequence[NodeRow] = ()
    dropped: Sequence[int] = ()


def unchanged(parts: KeptParts) -> NewParts:
    """Return the same tree for the next generation: nodes that only the generation before the last used become free."""
    return NewParts(parts._replace(replaced=(), free=(*parts.free, *parts.replaced)))


class PartTree:
    """The tree of a generation, and the one that follows.

    A tree has one place for each part, which its name decides. The total is the root, bit for bit.
    """

    def __init__(self, shelf: Shelf, generation: Generation) -> None:
        if generation.parts is None:
            raise RemovalError("this state file does not keep its tasks. Pass the rows.")
        self._shelf, self._before = shelf, generation.parts
        self._old = shelf.root(generation.parts.root)
        self.tree: Node | None = self._old

    def put(self, leaf: PartLeaf) -> None:
        """Add a part, or raise if its place is taken."""
        if found(self.tree, leaf.key) is not None:
            raise self._shelf.damaged(f"it has a part of task {leaf.name.task!a} that the ledger does not have")
        self.tree = with_leaf(self.tree, leaf)

    def remove(self, task_id: str, digest: str) -> None:
        """Remove the parts of a task; if rows were forced in under the same id, only those with this digest."""
        leaves: list[Any] = list(below.leaves()) if (below := task_node(self.tree, task_id)) is not None else []
        wanted = digest if any(leaf.again == digest for leaf in leaves) else None
        gone = [leaf for leaf in leaves if leaf.again == wanted]
        if not gone:
            raise self._shelf.damaged(f"it has no part of task {task_id!a}")
        for leaf in gone:
            self.tree = None if self.tree is None else without(self.tree, leaf.key)

    def renew_root(self) -> None:
        """Have the root written under the last schema, as it is after a change of reference levels.

        The state is the root, bit for bit, and this change rounds: another machine may round otherwise. All other nodes
        are changed when they are read.
        """
        root = self.tree
        if root is None:
            return
        information = root.information
        if isinstance(root, StoredJoin):
            self.tree = Join(root.key, root.shared, root.left, root.right, lambda: information)
        elif isinstance(root, StoredLeaf):
            self.tree = PartLeaf.made(root.name, root.again, root.sequence, lambda: information)

    def total(self, state: Retained) -> Retained:
        """Return the state with the total of the tree as its information."""
        return emptied(state) if self.tree is None else replace(state, information=self.tree.information.plain)

    def change(self, *, keep_previous: bool) -> NewParts:
        """Return what is to be written.

        New nodes take the places of nodes that are gone: those that are close to each other, so that few pages of the
        file change. Places that are left are kept for the next change, up to a limit; if the previous generation is not
        kept, they are deleted, because they may still hold data of a removed task.
        """
        before, schemas = self._before, self._shelf.schemas
        size = part_bytes(schemas[-1])
        most = min(MOST_FREE, MOST_FREE_BYTES // size)
        replaced = tuple(_replaced(self._old, {*_frontier(self.tree)}))
        n_new = sum(1 for _ in unstored(self.tree))
        free = [*before.free, *before.replaced, *(() if keep_previous else replaced)]
        taken, left = _close(free, n_new, max(1, PAGE_BYTES // size), most)
        fresh = range(before.next_id, before.next_id + n_new - len(taken))
        rows = NodeRows(self.tree, reversed([*taken, *fresh]), len(schemas))
        written = list(rows)
        n_kept = most if keep_previous else 0
        kept = KeptParts(rows.root, replaced if keep_previous else (), tuple(left[:n_kept]), fresh.stop)
        return NewParts(kept, written, left[n_kept:])


def _close(free: Sequence[int], n_new: int, per_page: int, most: int) -> tuple[list[int], list[int]]:
    """Return which of the free ids new nodes take, and the others.

    Ids of one page are close to each other. If there are few free ids, only pages that are mostly free are used.
    """
    used = Counter(number // per_page for number in free)
    ordered = sorted(free, key=lambda number: (-used[number // per_page], number))
    if len(free) <= most:
        n_new = min(n_new, sum(2 * used[number // per_page] >= per_page for number in free))
    return ordered[:n_new], ordered[n_new:]


def _frontier(node: Node | None) -> Iterator[int]:
    """Yield the ids of the stored nodes right below the new ones."""
    if isinstance(node, Stored):
        yield node.ref.id
    elif node is not None:
        yield from chain.from_iterable(map(_frontier, node.children))


def _replaced(node: Node | None, kept: set[int]) -> Iterator[int]:
    """Yield the ids of stored nodes that are not kept, the upper ones first."""
    if isinstance(node, Stored) and node.ref.id not in kept:
        yield node.ref.id
        if isinstance(node, StoredJoin):
            for side, ref in zip(("left", "right"), node.refs, strict=True):
                if ref.id not in kept:
                    yield from _replaced(getattr(node, side), kept)
