"""Merge values in a tree that is fixed beforehand: the result does not depend on the order in which they arrive."""

from collections.abc import Callable, Iterator
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Place(NamedTuple):
    """A node of the tree: the leaves from number·2^level to (number + 1)·2^level − 1.

    Examples
    --------
    >>> Place(1, 2).children
    (Place(level=0, number=4), Place(level=0, number=5))
    """

    level: int
    number: int

    @property
    def children(self) -> tuple["Place", "Place"]:
        """The two nodes below."""
        return Place(self.level - 1, 2 * self.number), Place(self.level - 1, 2 * self.number + 1)

    def leaves(self, n_leaves: int) -> range:
        """Return the leaves below."""
        return range(self.number << self.level, min((self.number + 1) << self.level, n_leaves))


class FixedTree(Generic[T]):
    """Merges the values of leaves 0, …, n − 1, always neighbours and always the same ones.

    If values arrive about in order, few of them wait: one per level, besides those that are out of order.

    Parameters
    ----------
    n_leaves : int
    merge : callable
        Merges two neighbours; the left one comes first.

    Examples
    --------
    >>> tree = FixedTree(3, lambda left, right: f"({left}{right})")
    >>> for leaf in (2, 0, 2, 1):
    ...     _ = tree.put(Place(0, leaf), "abc"[leaf])
    >>> tree.root
    '((ab)c)'
    """

    def __init__(self, n_leaves: int, merge: Callable[[T, T], T]) -> None:
        self._n_leaves, self._merge = n_leaves, merge
        self._waiting: dict[Place, T] = {}
        self._known: set[int] = set()

    def put(self, place: Place, value: T) -> list[tuple[Place, T]]:
        """Add the value of a node, unless it is known; return the nodes that were merged, the lower ones first."""
        leaves = place.leaves(self._n_leaves)
        if not self._known.isdisjoint(leaves):
            return []
        self._known.update(leaves)
        made: list[tuple[Place, T]] = []
        while len(place.leaves(self._n_leaves)) < self._n_leaves:
            above = Place(place.level + 1, place.number // 2)
            left, right = above.children
            if right.leaves(self._n_leaves):
                other = right if place == left else left
                if other not in self._waiting:
                    break
                pair = (value, self._waiting.pop(other))
                value = self._merge(*pair) if place == left else self._merge(*reversed(pair))
                made.append((above, value))
            place = above
        self._waiting[place] = value
        return made

    def missing(self) -> Iterator[int]:
        """Yield the leaves that no value is known of."""
        yield from (leaf for leaf in range(self._n_leaves) if leaf not in self._known)

    @property
    def n_waiting(self) -> int:
        """The number of values that are kept now."""
        return len(self._waiting)

    @property
    def root(self) -> T:
        """The value of all leaves. They must be known."""
        (value,) = self._waiting.values()
        return value
