"""Tasks that are kept: the information of each is collected from its rows, and becomes a part of the tree."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ridgeway._text import counted
from ridgeway.data import Block, Schema, widening
from ridgeway.errors import InvalidDataError
from ridgeway.information import Information, PartName
from ridgeway.store._generations import check_budget
from ridgeway.store._ledger import Record
from ridgeway.store._nodes import PartLeaf
from ridgeway.store._part_arrays import FOURTH, array_sizes, check_part_size, kept_by
from ridgeway.store._part_tree import PartTree
from ridgeway.store._state import task_of

COPIES = 3
"""How often a part is in memory while it is added to, at most."""
LONGEST_LABEL = 200


class NewTasks:
    """The parts of the tasks of one call.

    Parameters
    ----------
    path : Path
        The file, for messages.
    schema : Schema
        That of the first rows.
    """

    def __init__(self, path: Path, schema: Schema) -> None:
        self._path, self._schema, self._blank = path, schema, _blank(schema)
        self._parts: dict[PartName, Information] = {}
        self._rows = Counter[PartName]()

    def add(self, task_id: str, block: Block) -> None:
        """Add some rows of a task to its part, or to those of its clusters."""
        schema = block.schema
        self._widen(schema)
        for cluster, rows in _divided(schema, block):
            name, task = PartName(task_id, cluster), task_of(schema, rows)
            if name not in self._parts:
                size = COPIES * 8 * (schema.width**2 + array_sizes(schema, is_leaf=True).get(FOURTH, 0))
                check_budget(self._path, size * (len(self._parts) + 1), "new parts", "Absorb fewer tasks at once.")
            counted = task.counted() if schema.weight_kind == "frequency" else task
            self._parts[name] = self._parts.get(name, self._blank).add(counted)
            self._rows[name] += len(rows.X)

    def parts(self) -> dict[PartName, tuple[Information, int]]:
        """Return the parts, each with the number of its rows."""
        return {name: (part, self._rows[name]) for name, part in self._parts.items()}

    def take(self, parts: Mapping[PartName, tuple[Information, int]]) -> None:
        """Add parts that were made elsewhere, with the columns of the schema."""
        self._parts |= {name: part for name, (part, _) in parts.items()}
        self._rows.update({name: n_rows for name, (_, n_rows) in parts.items()})

    def grow(self, tree: PartTree, schema: Schema, records: Sequence[tuple[Record, bool]]) -> None:
        """Put the parts of new records into a tree, or raise if one is too small; True stands for a known id."""
        self._widen(schema)
        fewest = 1 if schema.keep is None else schema.keep.fewest(len(schema.features))
        by_task: dict[str, list[PartName]] = {}
        for name in self._parts:
            by_task.setdefault(name.task, []).append(name)
        smallest = min((name for record, _ in records for name in by_task[record.task_id]), key=self._rows.__getitem__)
        if self._rows[smallest] < fewest:
            raise _too_small(smallest, self._rows[smallest], fewest)
        for record, again in records:
            for name in by_task[record.task_id]:
                digest = record.digest if again else None
                tree.put(PartLeaf.made(name, digest, record.sequence, _known(self._parts[name])))

    def _widen(self, schema: Schema) -> None:
        """Give all parts the columns of a schema that has grown."""
        if schema is not self._schema:
            check_part_size(schema)
            wider, self._schema = widening(self._schema, schema), schema
            self._blank = _blank(schema)
            self._parts = {name: part.widened(*wider) for name, part in self._parts.items()}


def _blank(schema: Schema) -> Information:
    """Return the part of no rows."""
    columns = len(schema.features), len(schema.targets)
    return kept_by(schema).part_kind.empty(*columns, centered=schema.fit_intercept)


def _known(information: Information) -> Callable[[], Information]:
    return lambda: information


def _divided(schema: Schema, block: Block) -> Iterator[tuple[str | None, Block]]:
    """Yield the clusters of a block and their rows; None for all rows, if there are no clusters."""
    if not schema.labels:  # in one memory order, so that the same rows give the same bits from every source
        yield None, block._replace(X=np.asfortranarray(block.X), y=np.asfortranarray(block.y))
        return
    if block.clusters is None:
        raise InvalidDataError(f"the model has a cluster column, {schema.labels[0]!r}. Pass its values as clusters.")
    labels = sorted({*block.clusters.tolist()})
    places = {label: place for place, label in enumerate(labels)}
    codes = np.array([places[label] for label in block.clusters.tolist()], dtype=np.int64)
    ends = np.cumsum(np.bincount(codes, minlength=len(labels)))[:-1]
    for label, rows in zip(labels, np.split(np.argsort(codes, kind="stable"), ends), strict=True):
        if len(label) > LONGEST_LABEL:
            said = f"the cluster {label[:20]!r}… is {len(label)} characters long; the limit is {LONGEST_LABEL}."
            raise InvalidDataError(f"{said} Shorten it.")
        X, y = np.asfortranarray(block.X[rows]), np.asfortranarray(block.y[rows])
        weight = None if block.sample_weight is None else block.sample_weight[rows]
        yield label, block._replace(X=X, y=y, sample_weight=weight, clusters=None)


def _too_small(name: PartName, n_rows: int, fewest: int) -> InvalidDataError:
    kind = "tasks" if name.cluster is None else "clusters"
    what = f"task {name.task!r}" if name.cluster is None else f"cluster {name.cluster!r} of task {name.task!r}"
    return InvalidDataError(
        f"{what} has {counted(n_rows, 'row')}; this file keeps parts of {fewest} or more, because the part of a few "
        f"rows gives them away. Put small {kind} together, or create the file with --min-rows {n_rows}."
    )
