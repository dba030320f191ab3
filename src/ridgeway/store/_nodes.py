"""The nodes of the tree of parts as rows of the file: each is checked by the digest that the node above it keeps."""

import sqlite3
import struct
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ridgeway.data import Schema, new_references, rebased, widening
from ridgeway.errors import DamagedStoreError, InvalidStateError
from ridgeway.information import Information, Join, Leaf, Node, PartName
from ridgeway.store._digests import RESTORE, canonical, parsed
from ridgeway.store._part_arrays import ARRAYS, FOURTH, stored_information

CHILDREN, LENGTH = struct.Struct("<qq"), struct.Struct("<I")
"""What a row begins with: the ids of the node's children, or zeros; then, the length of its header."""
KEY_BITS = 256
Step = Callable[[Information], Information]
"""A change of the columns of information."""
LEAF = {"again": (str, type(None)), "cluster": (str, type(None)), "counts": (dict,), "schema": (int,), "task": (str,)}
JOIN = {"children": (list,), "counts": (dict,), "key": (str,), "schema": (int,), "shared": (int,)}
"""The fields of a header, and their types. A part with fourth moments has one more, their number."""


class NodeRef(NamedTuple):
    """Where a node is, and the digest of what it is."""

    id: int
    digest: str


class NodeRow(NamedTuple):
    """A row of the table of parts; `task` is the sequence number of the task that a leaf belongs to."""

    id: int
    task: int | None
    data: bytes


@dataclass(frozen=True, eq=False)
class PartLeaf(Leaf):
    """A part of a task in a state file.

    Attributes
    ----------
    again : str or None
        The digest of the task's rows, if they were forced in beside a task of the same id.
    sequence : int
        That of the task in the ledger.
    """

    again: str | None = None
    sequence: int = 0

    @classmethod
    def made(cls, name: PartName, again: str | None, sequence: int, get: Callable[[], Information]) -> "PartLeaf":
        """Return a part under a name of its own."""
        return cls(part_key(name, again), KEY_BITS, name, get, again, sequence)


@dataclass(frozen=True, eq=False)
class StoredLeaf(PartLeaf):
    """A part that was read."""

    ref: NodeRef = field(kw_only=True)
    body: bytes = field(kw_only=True)


class StoredJoin(Join):
    """An inner node that was read. What is below it is read when it is first asked for."""

    def __init__(self, at: NodeRef, body: bytes, place: tuple[int, int], refs: list[NodeRef], shelf: "Shelf") -> None:
        fields = {"ref": at, "body": body, "refs": refs, "shelf": shelf, "key": place[0], "shared": place[1]}
        vars(self).update(fields)

    ref: NodeRef
    body: bytes
    refs: list[NodeRef]
    shelf: "Shelf"

    @cached_property
    def left(self) -> Node:
        """The node on the left."""
        return self.shelf.node(self.refs[0], self, 0)

    @cached_property
    def right(self) -> Node:
        """The node on the right."""
        return self.shelf.node(self.refs[1], self, 1)

    @property
    def children(self) -> "tuple[Stored, ...]":
        """Left and right, read again each time, so that a walk over the tree does not keep it in memory."""
        return tuple(self.shelf.node(ref, self, side) for side, ref in enumerate(self.refs))

    @cached_property
    def information(self) -> Information:
        """The information of both, as it was written."""
        return self.shelf.information(self.body)


Stored = StoredLeaf | StoredJoin


def part_key(name: PartName, again: str | None) -> int:
    """Return where a part is in the tree: where `information.ByTask` has it, unless it was forced in."""
    return name.key if again is None else PartName(name.task, f"{again}\n{name.cluster or ''}").key


def steps_between(schemas: Sequence[Schema]) -> Iterator[Step]:
    """Yield how information gets from the columns of the first schema to those of the last, in the order they came.

    Each version has either more columns than the one before, which is exact at once from any earlier one, or other
    reference levels.
    """
    reached = schemas[0]
    for before, after in pairwise(schemas):
        references = new_references(before, after)
        if references:
            if before is not reached:
                yield methodcaller("widened", *widening(reached, before))
            change = rebased(before, references)
            yield methodcaller("mapped", change.matrix, change.shift)
            reached = after
    if schemas[-1] is not reached:
        yield methodcaller("widened", *widening(reached, schemas[-1]))


@dataclass(frozen=True, eq=False)
class Shelf:
    """Reads the nodes of a file.

    Attributes
    ----------
    connection, path : the file
    schemas : those that parts may have been written under; information gets the columns of the last
    """

    connection: sqlite3.Connection
    path: Path
    schemas: tuple[Schema, ...]
    _steps: dict[tuple[int, int], list[Step]] = field(default_factory=dict)

    def root(self, ref: NodeRef | None) -> Stored | None:
        """Return the root of a tree, or None if it is empty."""
        return None if ref is None else self.node(ref)

    def node(self, ref: NodeRef, above: Node | None = None, side: int = 0) -> Stored:
        """Return a node, its digest and its place in the tree checked."""
        row = self.connection.execute("SELECT task, data FROM parts WHERE id = ?", (ref.id,)).fetchone()
        if row is None or type(row[1]) is not bytes or len(row[1]) < CHILDREN.size + LENGTH.size:
            raise self.damaged("a part is missing or of another type")
        data: bytes = row[1]
        body = data[CHILDREN.size :]
        if not self.agrees(body, ref.digest):
            raise self.damaged("a part is not what was committed")
        fields, _ = split(body)
        is_leaf = "task" in fields
        made: Stored = self._leaf(row[0], ref, body, fields) if is_leaf else self._join(data, ref, body, fields)
        if above is not None and not is_below(made, above, side):
            raise self.damaged("a part is in the wrong place")
        return made

    @staticmethod
    def agrees(body: bytes, digest: str) -> bool:
        """Return whether a node has a digest."""
        return sha256(body).hexdigest() == digest

    def information(self, body: bytes, version: int | None = None) -> Information:
        """Return the information of a node, as if it had been written under the last schema or a version."""
        fields, numbers = split(body)
        written, target = fields["schema"], len(self.schemas) if version is None else version
        if not 0 < written <= target:
            raise self.damaged("a part has a schema that is not there")
        schema = self.schemas[written - 1]
        try:
            made = stored_information(schema, fields, numbers)
        except (InvalidStateError, ValueError) as error:
            raise self.damaged(f"a part is invalid ({error})") from error
        columns = len(schema.features), len(schema.targets), schema.fit_intercept
        if (made.n_features, made.n_targets, made.centered) != columns or made.n_samples == 0:
            raise self.damaged("a part does not have the columns of its schema")
        if (written, target) not in self._steps:
            self._steps[written, target] = list(steps_between(self.schemas[written - 1 : target]))
        for step in self._steps[written, target]:
            made = step(made)
        return made

    def version(self, body: bytes) -> int:
        """Return the version of the schema that a node was written under, or raise if there is none."""
        written: int = split(body)[0]["schema"]
        if not 0 < written <= len(self.schemas):
            raise self.damaged("a part has a schema that is not there")
        return written

    def damaged(self, what: str) -> DamagedStoreError:
        """Return the error for a part that is damaged."""
        return DamagedStoreError(f"{self.path} is damaged: {what}. {RESTORE}")

    def _leaf(self, task: Any, ref: NodeRef, body: bytes, fields: dict[str, Any]) -> StoredLeaf:
        kinds = LEAF | ({FOURTH: (int,)} if self.schemas[-1].keeps_fourth_moments else {})
        if not _fits(fields, kinds) or not fields["task"] or fields["cluster"] == "" or type(task) is not int:
            raise self.damaged("a part has an invalid header")
        name, again = PartName(fields["task"], fields["cluster"]), fields["again"]
        place = part_key(name, again), KEY_BITS, name
        return StoredLeaf(*place, lambda: self.information(body), again, task, ref=ref, body=body)

    def _join(self, data: bytes, ref: NodeRef, body: bytes, fields: dict[str, Any]) -> StoredJoin:
        if not _fits(fields, JOIN) or len(fields["children"]) != 2 or not 0 <= fields["shared"] < KEY_BITS:
            raise self.damaged("a part has an invalid header")
        try:
            key = int(fields["key"], 16)
        except ValueError:
            raise self.damaged("a part has an invalid header") from None
        if not 0 <= key < 2**KEY_BITS or key & (1 << KEY_BITS - fields["shared"]) - 1:
            raise self.damaged("a part has an invalid header")
        ids = CHILDREN.unpack_from(data)
        refs = [NodeRef(number, str(digest)) for number, digest in zip(ids, fields["children"], strict=True)]
        return StoredJoin(ref, body, (key, fields["shared"]), refs, self)


def is_below(node: Node, above: Node, side: int) -> bool:
    """Return whether a node can be the left (0) or right (1) child of another: the keys below say where it is."""
    if node.shared <= above.shared or node.key >> KEY_BITS - 1 - above.shared & 1 != side:
        return False
    return (node.key ^ above.key) >> KEY_BITS - above.shared == 0


def split(body: bytes) -> tuple[dict[str, Any], memoryview]:
    """Return the header of a node, and its numbers."""
    (length,) = LENGTH.unpack_from(body)
    view = memoryview(body)[LENGTH.size :]
    return parsed(bytes(view[:length])), view[length:]


def packed(node: Node, refs: list[NodeRef], version: int) -> bytes:
    """Return a node as it is stored, apart from the ids of its children; `version` is that of its schema."""
    counts, arrays = node.information.to_parts()
    fields: dict[str, Any] = {"counts": counts, "schema": version}
    if refs:
        prefix = node.key >> KEY_BITS - node.shared << KEY_BITS - node.shared
        fields |= {"children": [ref.digest for ref in refs], "key": f"{prefix:064x}", "shared": node.shared}
    else:
        leaf: Any = node
        fields |= {"task": leaf.name.task, "cluster": leaf.name.cluster, "again": leaf.again}
        fields |= {FOURTH: len(arrays[FOURTH])} if FOURTH in arrays else {}
    header = canonical(fields)
    numbers = (np.ascontiguousarray(arrays[name], "<f8").tobytes() for name in (*ARRAYS, FOURTH) if name in arrays)
    return b"".join((LENGTH.pack(len(header)), header, *numbers))


class NodeRows:
    """The rows of a tree: those of nodes that are not in the file yet, children first.

    Parameters
    ----------
    tree : the root, or None for an empty tree
    ids : those that are free, in the order in which they are taken
    version : that of the schema in force
    whole : whether all nodes are written, because they are in another file

    Attributes
    ----------
    root : NodeRef or None
        Where the root is. It is known when all rows have been taken.
    """

    def __init__(self, tree: Node | None, ids: Iterator[int], version: int, *, whole: bool = False) -> None:
        self._tree, self._ids, self._version, self._whole = tree, ids, version, whole
        self.root: NodeRef | None = None

    def __iter__(self) -> Iterator[NodeRow]:
        """Yield the rows, once."""
        if self._tree is not None:
            self.root = yield from self._rows(self._tree)

    def _rows(self, node: Node) -> Generator[NodeRow, None, NodeRef]:
        if isinstance(node, Stored) and not self._whole:
            return node.ref
        below = []
        for child in node.children:
            below.append((yield from self._rows(child)))
        body = node.body if isinstance(node, Stored) else packed(node, below, self._version)
        ref = NodeRef(next(self._ids), sha256(body).hexdigest())
        task = None if below else getattr(node, "sequence", 0)
        yield NodeRow(ref.id, task, CHILDREN.pack(*([one.id for one in below] or [0, 0])) + body)
        return ref


def unstored(node: Node | None) -> Iterable[Node]:
    """Yield the nodes that are not in the file yet, each before its children."""
    if node is not None and not isinstance(node, Stored):
        yield node
        for child in node.children:
            yield from unstored(child)


def _fits(fields: dict[str, Any], kinds: Mapping[str, tuple[type, ...]]) -> bool:
    return fields.keys() == kinds.keys() and all(type(fields[name]) in kind for name, kind in kinds.items())
