"""The rows of one task, all of them in memory: for questions that need them at once."""

from contextlib import closing
from typing import Any, NamedTuple

import numpy as np

from ridgeway.data import Schema, Table, explained, tasks_in, widening
from ridgeway.errors import InvalidDataError
from ridgeway.store._digests import Array, Content, ContentDigest


class WholeTask(NamedTuple):
    """A task as rows of numbers: X (n, p), y (n, k), weights or None.

    `schema` is that of the columns of X, which has grown if the task has new categories; `content` has the digests.
    """

    X: Array
    y: Array
    sample_weight: Array | None
    schema: Schema
    content: Content

    @classmethod
    def of(cls, table: Table, schema: Schema) -> "WholeTask":
        """Read a table, or raise an error that says what is wrong with it."""
        digest, last = ContentDigest(), schema
        parts: list[tuple[Array, Array, Any]] = []
        with explained(table, lambda: schema), closing(tasks_in(table, schema, "")) as tasks:
            for _, (X, y, weight, sources, found, _clusters) in tasks:
                digest.add(X if sources is None else sources, y, weight)
                if found is not last:
                    wider, last = widening(last, found), found
                    parts = [(wider.rows(rows), targets, weights) for rows, targets, weights in parts]
                parts.append((X, y, weight))
        if not parts:
            raise InvalidDataError(f"{table.source} has no rows. Pass a table with rows.")
        X, y = np.vstack([part[0] for part in parts]), np.vstack([part[1] for part in parts])
        weight = None if parts[0][2] is None else np.concatenate([part[2] for part in parts])
        return cls(X, y, weight, last, digest.finish(schema.sources))

    def arguments(self) -> tuple[Any, Array, Array | None]:
        """Return X, as a pyarrow table with the names of the features, y and sample_weight, as estimators take them."""
        import pyarrow as pa

        named, family = pa.table(dict(zip(self.schema.features, self.X.T, strict=True))), self.schema.family
        if family is not None and family.has_classes:
            return named, family.labels(self.y[:, 0]), self.sample_weight
        return named, self.y[:, 0] if self.schema.single_target else self.y, self.sample_weight
