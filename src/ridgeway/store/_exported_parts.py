"""Parts as plain arrays: one line of text and one row of numbers for each node of the tree."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ridgeway.data import Schema
from ridgeway.errors import DamagedStoreError, InvalidStateError
from ridgeway.information import KINDS, Node, PartName
from ridgeway.store._digests import Array, canonical, parsed
from ridgeway.store._nodes import PartLeaf
from ridgeway.store._part_arrays import ARRAYS, FOURTH, array_sizes, kept_by
from ridgeway.store._whole_tree import joined

PREFIX = "parts."
LINES = f"{PREFIX}nodes"


def exported_parts(tree: Node | None) -> dict[str, Array]:
    """Return a tree as arrays by name.

    Each node has a line of JSON and a row in each array of numbers; children come before the node above them. The line
    of a leaf says which task it belongs to, that of an inner node the numbers of its children. Fourth moments have a
    row for each leaf.
    """
    lines, rows = list[bytes](), dict[str, list[Array]]()
    if tree is None:
        return {}
    for fields, node in _numbered(tree):
        counts, arrays = node.information.to_parts()
        lines.append(canonical(fields | {"counts": counts}) + b"\n")
        for name, values in arrays.items():
            rows.setdefault(name, []).append(values)
    found = {f"{PREFIX}{name}": np.stack(values) for name, values in rows.items()}
    return {LINES: np.frombuffer(b"".join(lines), np.uint8), **found}


def _numbered(node: Node, first: int = 0) -> Iterator[tuple[dict[str, Any], Node]]:
    """Yield what is said about each node, children first; `first` is the number of the first one."""
    places, done = list[int](), first
    for child in node.children:
        for pair in _numbered(child, done):
            yield pair
            done += 1
        places.append(done - 1)
    if places:
        yield {"children": places}, node
    else:
        leaf: Any = node
        name = {"task": leaf.name.task, "cluster": leaf.name.cluster}
        yield {**name, "again": leaf.again, "sequence": leaf.sequence}, node


def imported_parts(arrays: dict[str, Array], schema: Schema, path: Path) -> Node | None:
    """Return the tree that `exported_parts` described, and take its arrays away; or raise `DamagedStoreError`."""
    if LINES not in arrays:
        return None
    lines = arrays.pop(LINES).tobytes().splitlines()
    numbers = {name: arrays.pop(f"{PREFIX}{name}") for name in ARRAYS}
    sums = arrays.pop(f"{PREFIX}{FOURTH}") if schema.keeps_fourth_moments else np.empty((0, 0))
    damaged = DamagedStoreError(f"{path} has parts that do not fit together. Export it again.")
    if any(len(values) != len(lines) for values in numbers.values()):
        raise damaged
    if sums.shape[1:] != (array_sizes(schema, is_leaf=True).get(FOURTH, 0),):
        raise damaged
    fourth = iter(sums)
    nodes: list[Node | None] = []
    columns = len(schema.features), len(schema.targets), schema.fit_intercept
    for place, line in enumerate(lines):
        fields = parsed(line)
        try:
            held = {name: values[place] for name, values in numbers.items()}
            if is_leaf := "children" not in fields:
                held[FOURTH] = next(fourth, np.empty(0))
            kind = kept_by(schema).part_kind if is_leaf else KINDS[schema.information]
            part = kind.from_parts(fields["counts"], held)
        except InvalidStateError as error:
            raise damaged from error
        if (part.n_features, part.n_targets, part.centered) != columns or part.n_samples == 0:
            raise damaged
        if not is_leaf:
            left, right = (nodes[child] for child in fields["children"])
            if left is None or right is None:
                raise damaged
            for child in fields["children"]:
                nodes[child] = None  # each has one place
            nodes.append(joined(left, right, part, path))
        else:
            name = PartName(str(fields["task"]), fields["cluster"])
            nodes.append(PartLeaf.made(name, fields["again"], int(fields["sequence"]), _known(part)))
    if any(node is not None for node in nodes[:-1]) or next(fourth, None) is not None:
        raise damaged
    return nodes[-1]


def _known(part: Any) -> Any:
    return lambda: part
