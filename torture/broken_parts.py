"""Stores that keep their tasks and are broken on purpose."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np

from ridgeway.data import Schema, widening
from ridgeway.data._widening import Widening
from ridgeway.store import _changes, _nodes
from ridgeway.store._nodes import Shelf
from ridgeway.store._part_tree import NewParts, PartTree
from ridgeway.weights import Retained
from torture.broken import Variant

PARTS_NOT_COMPARED = Variant(
    "does not compare the digest of a part",
    lambda: mock.patch.object(Shelf, "agrees", staticmethod(lambda *_: True)),
    "other answers",
)


@contextmanager
def _leaving_leaves() -> Iterator[None]:
    """Delete no parts when a task is removed: what new ones overwrite is moved."""
    sound = _changes._write_parts

    def write(connection: Any, parts: NewParts) -> None:
        if parts.kept.replaced:  # the previous generation is kept: not a removal
            sound(connection, parts)
            return
        there = {number for (number,) in connection.execute("SELECT id FROM parts")}
        before = [
            (connection.execute("SELECT * FROM parts WHERE id = ?", (row.id,)).fetchone(), row.id + 10**6)
            for row in parts.rows
            if row.id in there
        ]
        connection.executemany("INSERT OR REPLACE INTO parts VALUES (?, ?, ?)", parts.rows)
        moved = [(number, *row[1:]) for row, number in before]
        connection.executemany("INSERT OR REPLACE INTO parts VALUES (?, ?, ?)", moved)

    with mock.patch.multiple(_changes, _write_parts=write, _read_back=lambda *_: None):
        yield


LEAVES_THE_PART = Variant(
    "leaves the part of a removed task in the file",
    _leaving_leaves,
    "still has the part that was removed",
)


@contextmanager
def _another_total() -> Iterator[None]:
    """Commit a total that is not the root of the tree, but close to it."""
    total = PartTree.total

    def moved(tree: PartTree, state: Retained) -> Retained:
        found = total(tree, state)
        held = found.information
        return replace(found, information=replace(held, mean=np.nextafter(held.mean, np.inf))) if tree.tree else found

    with mock.patch.object(PartTree, "total", moved):
        yield


NOT_THE_ROOT = Variant(
    "commits a total that is not the root of its parts",
    _another_total,
    "the state is not the merge of its parts|the state is not that",
)


def _with_zeros(old: Schema, new: Schema) -> Widening:
    found = widening(old, new)
    return found._replace(past=np.zeros_like(found.past))


PARTS_NOT_WIDENED = Variant(
    "takes a new column for 0 in the parts of earlier tasks",
    lambda: mock.patch.object(_nodes, "widening", _with_zeros),
    "the state is not the merge of its parts|the information is not the sum",
)
