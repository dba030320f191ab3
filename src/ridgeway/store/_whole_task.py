"""The rows of one task, all of them in memory: for questions that need them at once."""

from contextlib import closing
from typing import Any, NamedTuple

import numpy as np

from ridgeway.data import Block, Schema, Table, tasks_in, widening
from ridgeway.errors import InvalidDataError
from ridgeway.store._digests import Array, Content, ContentDigest


class WholeTask(NamedTuple):
    """A task as rows of numbers: X (n, p), y (n, k), weights or None; offsets, if the schema has a column for them.

    `schema` is that of the columns of X, which has grown if the task has new categories; `content` has the digests.
    """

    X: Array
    y: Array
    sample_weight: Array | None
    schema: Schema
    content: Content
    offset: Array | None = None

    @classmethod
    def of(cls, table: Table, schema: Schema) -> "WholeTask":
        """Read a table, or raise an error that says what is wrong with it."""
        digest, last = ContentDigest(), schema
        blocks: list[Block] = []
        with closing(tasks_in(table, schema, "")) as tasks:
            for _, block in tasks:
                columns = block.X if block.sources is None else block.sources
                digest.add(columns, block.y, block.sample_weight, block.offset_values)
                if block.schema is not last:
                    wider, last = widening(last, block.schema), block.schema
                    blocks = [earlier._replace(X=wider.rows(earlier.X)) for earlier in blocks]
                blocks.append(block)
        if not blocks:
            raise InvalidDataError(f"{table.source} has no rows. Pass a table with rows.")
        weights: Any = [block.sample_weight for block in blocks]
        offset_values: Any = [block.offset_values for block in blocks]
        return cls(
            X=np.vstack([block.X for block in blocks]),
            y=np.vstack([block.y for block in blocks]),
            sample_weight=None if weights[0] is None else np.concatenate(weights),
            schema=last,
            content=digest.finish(schema.sources),
            offset=None if schema.offset is None else schema.offset.offsets(np.concatenate(offset_values)),
        )

    def arguments(self) -> tuple[Any, ...]:
        """Return X, a pyarrow table with named features, y and sample_weight; and offset, if there is one."""
        import pyarrow as pa

        named, family = pa.table(dict(zip(self.schema.features, self.X.T, strict=True))), self.schema.family
        y = self.y[:, 0] if self.schema.single_target else self.y
        if family is not None and family.has_classes:
            y = family.labels(self.y[:, 0])
        return (named, y, self.sample_weight, *([] if self.offset is None else [self.offset]))
