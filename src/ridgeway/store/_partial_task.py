"""Tasks that are learned in parts, elsewhere: what a part leaves, how two are joined, and the one commit of all."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ridgeway.data import Block, Schema
from ridgeway.errors import InvalidDataError, InvalidParameterError, InvalidStateError, StoreError
from ridgeway.information import Information, PartName
from ridgeway.kernels import single_threaded
from ridgeway.store._absorb import Absorbed, checked_id, checked_reason, enter
from ridgeway.store._changes import Handle, changing
from ridgeway.store._digests import Array, ChunkDigests, ContentDigest
from ridgeway.store._new_tasks import NewTasks
from ridgeway.store._part_arrays import kept_by
from ridgeway.store._state import checked_arrays, read_state
from ridgeway.store._widen import new_names, next_schemas, widened


@dataclass(frozen=True, eq=False)
class PartialTask:
    """What some rows of a task leave: enough to absorb the task when all its parts are joined.

    Attributes
    ----------
    schema : Schema
        That of the columns.
    parts : dict of cluster to (Information, int)
        The information of each cluster and the number of its rows; the only key is None if there are no clusters.
    chunks : ChunkDigests
        The digests of the rows. All parts but the last have a multiple of `CHUNK_ROWS` rows.

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import data, store
    >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = store.create(f"{folder}/state.rw", features=["x"], target="y")
    ...     learner = store.PartLearner(state.schema)  # on another machine, say
    ...     for block in data.rows_in_memory(state.schema, X, y):
    ...         learner.add(block)
    ...     _ = state.absorb_partial("May", learner.finish(), before=state.schema)
    ...     print(state.absorb("May", X, y).already)  # the rows themselves are recognised
    True
    """

    schema: Schema
    parts: Mapping[str | None, tuple[Information, int]]
    chunks: ChunkDigests

    def followed_by(self, other: "PartialTask") -> "PartialTask":
        """Return what these rows and those that follow them leave."""
        parts = dict(self.parts)
        with single_threaded():
            for cluster, (information, n_rows) in other.parts.items():
                known, before = parts.get(cluster, (None, 0))
                parts[cluster] = (information if known is None else known.merge(information), before + n_rows)
        return PartialTask(self.schema, parts, self.chunks.followed_by(other.chunks))

    def to_arrays(self) -> dict[str, Array]:
        """Return everything but the schema as arrays: `from_arrays` restores the same, bit for bit."""
        taken = {cluster: information.to_parts() for cluster, (information, _) in self.parts.items()}
        header = {
            "clusters": [[cluster, self.parts[cluster][1], counts] for cluster, (counts, _) in taken.items()],
            "chunks": self.chunks[1:],
        }
        arrays = {f"{i}.{name}": array for i, (_, own) in enumerate(taken.values()) for name, array in own.items()}
        return {"header": np.frombuffer(json.dumps(header).encode(), np.uint8), "chunks": self.chunks.columns, **arrays}

    @classmethod
    def from_arrays(cls, schema: Schema, arrays: Mapping[str, Array]) -> "PartialTask":
        """Return what `to_arrays` took apart, or raise `InvalidStateError`."""
        kind = kept_by(schema).part_kind
        try:
            header = json.loads(arrays["header"].tobytes())
            parts: dict[str | None, Any] = {}
            for i, (cluster, n_rows, counts) in enumerate(header["clusters"]):
                own = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{i}.")}
                parts[cluster] = kind.from_parts(counts, own), int(n_rows)
            return cls(schema, parts, ChunkDigests(arrays["chunks"], *header["chunks"]))
        except (LookupError, TypeError, ValueError) as error:
            raise InvalidStateError(f"a part of a task cannot be read: {error}. Learn it again.") from error


class PartLearner:
    """Learns some rows of a task, with one thread: the bits do not depend on the number of cores.

    The first row must be the first of a chunk of the digest: their places among the rows of the task are multiples of
    `CHUNK_ROWS`.

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import data, store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     schema = store.create(f"{folder}/state.rw", features=["x"], target="y").schema
    >>> learner = store.PartLearner(schema)
    >>> for block in data.rows_in_memory(schema, [[0.0], [1.0]], [1.0, 2.0]):
    ...     learner.add(block)
    >>> information, n_rows = learner.finish().parts[None]
    >>> information.mean, n_rows  # the means of x and y
    (array([0.5, 1.5]), 2)
    """

    def __init__(self, schema: Schema) -> None:
        check_partial(schema)
        self._schema = schema
        self._new, self._digest = NewTasks(Path("the part"), schema), ContentDigest(keeps_chunks=True)

    def add(self, block: Block) -> None:
        """Learn the next rows."""
        self._digest.add(block.X if block.sources is None else block.sources, block.y, block.sample_weight)
        with single_threaded():
            self._new.add("", block)

    def finish(self) -> PartialTask:
        """Return what the rows leave, or raise if there were none."""
        if not self._digest.n_samples:
            raise InvalidDataError("there are no rows to learn. Leave out an empty part.")
        parts = {name.cluster: part for name, part in self._new.parts().items()}
        return PartialTask(self._schema, parts, self._digest.chunks())


def check_partial(schema: Schema) -> None:
    """Raise if a task of such a file cannot be learned in parts.

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/state.rw"
    ...     state = store.create(path, features=["x"], target="y", family="poisson")
    ...     store.check_partial(state.schema)
    Traceback (most recent call last):
    ridgeway.errors.InvalidParameterError: tasks of family poisson are not learned ...
    """
    if schema.family is not None:
        raise InvalidParameterError(
            f"tasks of family {schema.family.name} are not learned in parts. Absorb the task without workers."
        )
    if schema.keeps_fourth_moments:
        raise InvalidParameterError(
            "fourth moments are taken from all rows of a task at once, so it cannot be learned in parts. Absorb it "
            "without workers, or keep tasks alone."
        )


def absorb_partial(
    handle: Handle, task_id: str, before: Schema, partial: PartialTask, force: str | None, added: list[str] | None
) -> Absorbed:
    """Add a task that was learned in parts to a state file whose schema was `before`, at most once."""
    name, reason, schema = checked_id(task_id), checked_reason(force), partial.schema
    with changing(handle) as change:
        first, ledger = change.generation.schema, change.ledger
        if first != before:
            raise StoreError(
                f"the columns of {handle.path} were changed while task {name!r} was learned. Absorb it again."
            )
        schemas = change.generation.schemas if schema == first else next_schemas(change.generation.schemas, schema)
        state = read_state(first, change.arrays)
        state = state if schema == first else widened(state, first, schema)
        known = bool(ledger.find("task_id", name))
        outcome = enter(change, schemas, name, partial.chunks.content(schema.sources), reason)
        tree = None
        if outcome.already:
            change.confirm()
            return outcome
        if schema.keep is None:
            state = replace(state, information=state.information.merge(partial.parts[None][0]))
        else:
            tree, kept = change.tree(schemas), NewTasks(handle.path, schema)
            kept.take({PartName(name, cluster): part for cluster, part in partial.parts.items()})
            kept.grow(tree, schema, [(outcome.record, known)])
            state = tree.total(state)
        arrays = checked_arrays(schema, state, ledger.n_tasks, ledger.n_samples)
        change.commit(arrays, schemas=schemas, parts=None if tree is None else tree.change(keep_previous=True))
    if added is not None:
        added += new_names(first, schema)
    return outcome
