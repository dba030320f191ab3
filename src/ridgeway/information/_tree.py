"""A tree of parts whose shape depends on their names alone, so that their merge does not depend on their order.

The digest of a name says where its part is: each inner node divides the names below it at the first bit in which they
differ. Nodes are never changed. A tree with one part more or less shares all nodes with the old one but those above
the part, about log₂ T of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

from ridgeway.information._base import Information

HALF, BITS = 128, 256
"""The bits of a key that the task decides, and all of them; the cluster decides the others."""


class PartName(NamedTuple):
    """The id of the task that a part is of, and its cluster within the task, or None if it is the whole task.

    Examples
    --------
    >>> PartName("2013").key == PartName("2013", "school 7").key
    False
    """

    task: str
    cluster: str | None = None

    @property
    def key(self) -> int:
        """Where the part is in the tree. All parts of a task have their first bits in common."""
        return task_key(self.task) | (0 if self.cluster is None else _digest(self.cluster))


def task_key(task: str) -> int:
    """Return the key that the parts of a task begin with."""
    return _digest(task) << BITS - HALF


def _digest(text: str) -> int:
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[: HALF // 8], "big")


@dataclass(frozen=True, eq=False)
class Node(ABC):
    """A part, or two nodes.

    Attributes
    ----------
    key : int
        The key of one of the parts below.
    shared : int
        How many of its first bits all parts below have in common.

    Examples
    --------
    >>> from ridgeway.information import Leaf, Moments, PartName, with_leaf
    >>> leaf = Leaf.of(PartName("north"), Moments.empty(1, 1, centered=True))
    >>> other = Leaf.of(PartName("south"), leaf.information)
    >>> leaf.children, len(with_leaf(leaf, other).children)
    ((), 2)
    """

    key: int
    shared: int

    @property
    @abstractmethod
    def information(self) -> Information:
        """The information of all parts below."""

    @property
    @abstractmethod
    def children(self) -> tuple["Node", ...]:
        """The two nodes of an inner node; none of a part."""

    @abstractmethod
    def leaves(self) -> Iterator["Leaf"]:
        """Yield the parts below, in the order of their keys."""

    @abstractmethod
    def changed(self, change: Callable[[Information], Information]) -> "Node":
        """Return the same tree of changed parts. Each is changed when it is first asked for."""


@dataclass(frozen=True, eq=False)
class Leaf(Node):
    """One part.

    Examples
    --------
    >>> from ridgeway.information import Leaf, Moments, PartName
    >>> leaf = Leaf.of(PartName("north"), Moments.empty(1, 1, centered=True))
    >>> leaf.name.task, leaf.information.n_samples
    ('north', 0)
    """

    name: PartName
    get: Callable[[], Information]

    @classmethod
    def of(cls, name: PartName, information: Information) -> "Leaf":
        """Return a part that is known."""
        return cls(name.key, BITS, name, lambda: information)

    @cached_property
    def information(self) -> Information:
        """The information of the part."""
        return self.get()

    @property
    def children(self) -> tuple[Node, ...]:
        """None."""
        return ()

    def leaves(self) -> Iterator["Leaf"]:
        """Yield the part itself."""
        yield self

    def changed(self, change: Callable[[Information], Information]) -> "Leaf":
        """Return the part, changed when it is first asked for."""
        return Leaf(self.key, self.shared, self.name, lambda: change(self.information))


@dataclass(frozen=True, eq=False)
class Join(Node):
    """Two nodes: the keys below differ in the first bit that they do not share, which is 0 on the left.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.information import Leaf, Moments, PartName, with_leaf
    >>> task = Task.of(np.ones((2, 1)), np.ones((2, 1)))
    >>> north, south = (
    ...     Leaf.of(PartName(name), Moments.empty(1, 1, centered=True).add(task))
    ...     for name in ("north", "south")
    ... )
    >>> with_leaf(north, south).information.n_samples
    4
    """

    left: Node
    right: Node
    get: Callable[[], Information] | None = None

    @cached_property
    def information(self) -> Information:
        """The information of both, merged when it is first asked for."""
        if self.get is not None:
            return self.get()
        return self.left.information.plain.merge(self.right.information.plain)

    @property
    def children(self) -> tuple[Node, ...]:
        """Left and right."""
        return self.left, self.right

    def leaves(self) -> Iterator[Leaf]:
        """Yield the parts of both."""
        for child in self.children:
            yield from child.leaves()

    def changed(self, change: Callable[[Information], Information]) -> "Join":
        """Return the same tree of changed parts; so is the information of this node, not merged again."""
        left, right = self.left.changed(change), self.right.changed(change)
        return Join(self.key, self.shared, left, right, lambda: change(self.information))


def changed_now(node: Node, change: Callable[[Information], Information]) -> Node:
    """Return the same tree of changed parts, as `Node.changed`, but at once: no part of the old one stays in memory."""
    if not isinstance(node, Join):
        return Leaf.of(next(node.leaves()).name, change(node.information))
    made = Join(node.key, node.shared, changed_now(node.left, change), changed_now(node.right, change))
    if "information" in vars(node):  # what was merged is not merged again
        vars(made)["information"] = change(node.information)
    return made


def found(node: Node | None, key: int, bits: int = BITS) -> Node | None:
    """Return the node of all parts whose keys begin with the first bits of a key, or None.

    Examples
    --------
    >>> from ridgeway.information import Leaf, Moments, PartName, found, with_leaf
    >>> nothing = Moments.empty(1, 1, centered=True)
    >>> north, south = (Leaf.of(PartName(name), nothing) for name in ("north", "south"))
    >>> found(with_leaf(north, south), south.key) is south
    True
    >>> found(north, south.key) is None
    True
    """
    while node is not None and node.shared < bits and isinstance(node, Join) and _agrees(node, key, node.shared):
        node = node.right if _bit(key, node.shared) else node.left
    return node if node is not None and node.shared >= bits and _agrees(node, key, bits) else None


def task_node(node: Node | None, task: str) -> Node | None:
    """Return the node of all parts of a task, or None.

    Examples
    --------
    >>> from ridgeway.information import Leaf, Moments, PartName, task_node, with_leaf
    >>> nothing, tree = Moments.empty(1, 1, centered=True), None
    >>> for name in (PartName("2013", "a"), PartName("2013", "b"), PartName("2014", "a")):
    ...     tree = with_leaf(tree, Leaf.of(name, nothing))
    >>> sorted(leaf.name.cluster for leaf in task_node(tree, "2013").leaves())
    ['a', 'b']
    """
    return found(node, task_key(task), HALF)


def with_leaf(node: Node | None, leaf: Leaf) -> Node:
    """Return the tree with a part added, or in place of the one that has its name.

    Examples
    --------
    >>> from ridgeway.information import Moments
    >>> nothing = Moments.empty(1, 1, centered=True)
    >>> north, south = (Leaf.of(PartName(task), nothing) for task in ("north", "south"))
    >>> both = with_leaf(with_leaf(None, north), south)
    >>> [leaf.name.task for leaf in both.leaves()]
    ['south', 'north']
    >>> without(both, north.key) is south
    True
    """
    if node is None:
        return leaf
    shared = min(node.shared, BITS - (node.key ^ leaf.key).bit_length())
    if shared < node.shared:
        left, right = (node, leaf) if _bit(leaf.key, shared) else (leaf, node)
        return Join(leaf.key, shared, left, right)
    if not isinstance(node, Join):
        return leaf
    if _bit(leaf.key, shared):
        return Join(node.key, shared, node.left, with_leaf(node.right, leaf))
    return Join(node.key, shared, with_leaf(node.left, leaf), node.right)


def without(node: Node, key: int, bits: int = BITS) -> Node | None:
    """Return the tree without the parts whose keys begin with the first bits of a key; None if nothing remains.

    Examples
    --------
    >>> from ridgeway.information import Leaf, Moments, PartName, with_leaf, without
    >>> nothing = Moments.empty(1, 1, centered=True)
    >>> north, south = (Leaf.of(PartName(name), nothing) for name in ("north", "south"))
    >>> without(with_leaf(north, south), south.key) is north
    True
    >>> without(north, north.key) is None
    True
    """
    if node.shared >= bits and _agrees(node, key, bits):
        return None
    if not isinstance(node, Join) or not _agrees(node, key, min(node.shared, bits)):
        return node
    on_right = _bit(key, node.shared)
    kept, before = (node.left, node.right) if on_right else (node.right, node.left)
    after = without(before, key, bits)
    if after is None or after is before:
        return kept if after is None else node
    left, right = (kept, after) if on_right else (after, kept)
    return Join(kept.key, node.shared, left, right)


def _agrees(node: Node, key: int, bits: int) -> bool:
    return (node.key ^ key) >> BITS - bits == 0


def _bit(key: int, place: int) -> int:
    return key >> BITS - 1 - place & 1
