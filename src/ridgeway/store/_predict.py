"""Predictions for tables: with intervals, beside columns that identify the rows."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway._text import quoted
from ridgeway.data import Encoder, Progress, Schema, Table, check_columns, explained
from ridgeway.errors import InvalidDataError, InvalidParameterError
from ridgeway.retrospect import intervals
from ridgeway.store._digests import Array

if TYPE_CHECKING:
    from ridgeway.estimators import GeneralizedRidge

PREDICTED_ROWS = 65536


@dataclass(frozen=True)
class Wanted:
    """What is predicted.

    Attributes
    ----------
    ids : columns of the table that are kept
    interval : level of the intervals for new observations, optional
    confidence : level of the intervals for the mean, optional
    column : name of the predicted column, if there is one target; `predicted_TARGET` if not given
    """

    ids: Sequence[str] = ()
    interval: float | None = None
    confidence: float | None = None
    column: str | None = None

    def names(self, targets: Sequence[str]) -> list[str]:
        """Return the names of the columns with predictions and their intervals."""
        if self.column is not None and len(targets) > 1:
            raise InvalidParameterError(
                f"one name for the predictions of {len(targets)} targets: {self.column!r}. Leave it out."
            )
        ends = [""]
        ends += ["_lower", "_upper"] if self.interval is not None else []
        ends += ["_mean_lower", "_mean_upper"] if self.confidence is not None else []
        found = [self.column or quoted(f"predicted_{target}") for target in targets]
        names = [f"{name}{end}" for name in found for end in ends]
        twice = [name for name, count in Counter((*{*self.ids}, *names)).items() if count > 1]
        if twice:
            raise InvalidParameterError(
                f"the predictions would have two columns {twice[0]!r}. Name the predictions otherwise."
            )
        return names

    def values(self, model: "GeneralizedRidge", X: Array) -> Array:
        """Return the columns of predictions, (n_columns, n_rows)."""
        parts = [np.reshape(model.predict(X), (len(X), -1))]
        if self.interval is not None:
            found = intervals(model, X, self.interval)
            parts += [np.reshape(part, (len(X), -1)) for part in (found.lower, found.upper)]
        if self.confidence is not None:
            found = intervals(model, X, self.confidence)
            parts += [np.reshape(part, (len(X), -1)) for part in (found.mean_lower, found.mean_upper)]
        return np.stack(parts, axis=2).reshape(len(X), -1).T


def predictions(
    model: "GeneralizedRidge", schema: Schema, table: Table, wanted: Wanted, progress: Progress | None
) -> Iterator[Any]:
    """Yield Arrow tables: the ids of the rows, and predictions, null for rows that have missing values.

    The table may have other columns too. The first one that is yielded may be empty; all have the same columns.
    """
    import pyarrow as pa

    check_columns(table.columns, [*wanted.ids, *schema.encoding.columns], table.source, extra=None)
    encoder = Encoder(schema, table.source, has_targets=False, grows=False)
    names, done = wanted.names(schema.targets), 0
    kept, kinds = list(dict.fromkeys(wanted.ids)), encoder.arrow_kinds()
    types = table.types_as_written(kept)
    types |= table.types([name for name in kept if kinds.get(name, pa.string()) != pa.string()])
    columns, kinds = list(dict.fromkeys((*kept, *encoder.columns))), types | kinds
    shape = pa.schema([*types.items(), *((name, pa.float64()) for name in names)])
    yield shape.empty_table()
    with explained(table, lambda: schema):
        for batch in table.batches(columns, rows=PREDICTED_ROWS, kinds=kinds):
            rows = encoder.rows(batch)
            values = np.full((len(names), len(batch)), np.nan)
            known = slice(None) if rows.kept is None else rows.kept
            if len(rows.X):
                values[:, known] = wanted.values(model, rows.X)
            ids = [batch.column(name) for name in types]
            predicted = [pa.array(part, mask=np.isnan(part)) for part in values]
            try:
                yield pa.table([*ids, *predicted], schema=shape)
            except pa.ArrowInvalid as error:  # integers in the first rows of a CSV file, and something else later
                raise InvalidDataError(f"{table.source}: {error}. Leave that column out of the ids.") from error
            done += len(batch)
            if progress is not None:
                progress(done, table.n_rows)
