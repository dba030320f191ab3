"""Predictions for tables: with intervals, beside columns that identify the rows."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._text import quoted
from ridgeway.data import (
    Encoder,
    Progress,
    RowBatch,
    Schema,
    Table,
    TargetFamily,
    check_columns,
    listed,
    refuse_not_finite,
)
from ridgeway.errors import InvalidDataError, InvalidParameterError, PrecisionWarning
from ridgeway.information import varying_columns
from ridgeway.store._digests import Array

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
                f"column={self.column!r} names one column, but there are {len(targets)} targets. Leave it out."
            )
        ends = [""]
        ends += ["_lower", "_upper"] if self.interval is not None else []
        ends += ["_mean_lower", "_mean_upper"] if self.confidence is not None else []
        found = [self.column or quoted(f"predicted_{target}") for target in targets]
        return self._checked([f"{name}{end}" for name in found for end in ends])

    def class_names(self, target: str, family: TargetFamily, *, probabilities: bool) -> list[str]:
        """Return the names of the columns with the predicted class and, if there are any, its probabilities."""
        self.refuse_intervals(family)
        shares = [quoted(f"probability_{label}") for label in family.classes if probabilities]
        return self._checked([self.column or quoted(f"predicted_{target}"), *shares])

    def refuse_intervals(self, family: TargetFamily) -> None:
        """Raise if intervals are wanted, which classes and counts do not have."""
        if self.interval is not None or self.confidence is not None:
            raise InvalidParameterError(
                f"intervals are for family gaussian; this file is {family.name}. Leave out interval and confidence."
            )

    def _checked(self, names: list[str]) -> list[str]:
        twice = [name for name, count in Counter((*{*self.ids}, *names)).items() if count > 1]
        if twice:
            raise InvalidParameterError(
                f"the predictions would have two columns {twice[0]!r}. Choose another name for the predictions."
            )
        return names

    def values(self, model: Any, X: Array, offset: Array | None) -> Array:
        """Return the columns of predictions, (n_columns, n_rows)."""
        from ridgeway.retrospect import intervals

        predicted = model.predict(X) if offset is None else model.predict(X, offset)
        parts = [np.reshape(predicted, (len(X), -1))]
        if self.interval is not None:
            found = intervals(model, X, self.interval)
            parts += [np.reshape(part, (len(X), -1)) for part in (found.lower, found.upper)]
        if self.confidence is not None:
            found = intervals(model, X, self.confidence)
            parts += [np.reshape(part, (len(X), -1)) for part in (found.mean_lower, found.mean_upper)]
        return np.stack(parts, axis=2).reshape(len(X), -1).T


class UnlearnedFeatures:
    """Counts the rows that use a feature which had one value in every row learned, so that its effect is unknown.

    Parameters
    ----------
    schema : Schema
    state : that of the model
    """

    def __init__(self, schema: Schema, state: Any) -> None:
        p = len(schema.features)
        if schema.family is not None and schema.family.memory is not None:
            varies = state.past.curvature.diagonal()[:p] > 0.0
            values = np.zeros(p) if state.about is None else state.about
        else:
            varies, values = varying_columns(state.information)[:p], state.information.mean[:p]
        self._places = np.flatnonzero(~varies)
        self._values, self._used = values[self._places], np.zeros(len(self._places), dtype=bool)
        self._features, self._n_rows, self._n_using = schema.features, 0, 0

    def count(self, X: Array) -> None:
        """Count some rows."""
        used = X[:, self._places] != self._values
        self._used |= used.any(axis=0)
        self._n_rows += len(X)
        self._n_using += int(used.any(axis=1).sum())

    def warn(self) -> None:
        """Warn if there were such rows."""
        if self._n_using:
            names = listed([self._features[place] for place in self._places[self._used]])
            warnings.warn(
                f"{self._n_using:,} of {self._n_rows:,} predictions depend on features that did not vary in the rows "
                f"learned: {names}. Their effect is unknown. Absorb rows in which they vary.",
                PrecisionWarning,
                stacklevel=3,
            )


def predictions(model: Any, schema: Schema, table: Table, wanted: Wanted, progress: Progress | None) -> Iterator[Any]:
    """Yield Arrow tables: the ids of the rows, and predictions, null for rows that have missing values.

    The table may have other columns too. The first one that is yielded may be empty; all have the same columns.
    """
    import pyarrow as pa

    needed = [*wanted.ids, *schema.encoding.columns, *schema.offset_columns]
    check_columns(table.columns, needed, table.source, extra=None)
    encoder = Encoder(schema, table.source, has_targets=False, grows=False)
    family, done, unlearned = schema.family, 0, UnlearnedFeatures(schema, model.state_)
    columns_of = _class_columns if family is not None and family.has_classes else _number_columns
    fields, predict = columns_of(model, schema, wanted)
    kept, kinds = list(dict.fromkeys(wanted.ids)), encoder.arrow_kinds()
    types = table.types_as_written(kept)
    types |= table.types([name for name in kept if kinds.get(name, pa.string()) != pa.string()])
    columns, kinds = list(dict.fromkeys((*kept, *encoder.columns))), types | kinds
    shape = pa.schema([*types.items(), *fields])
    yield shape.empty_table()
    for batch in table.batches(columns, rows=PREDICTED_ROWS, kinds=kinds):
        rows = encoder.rows(batch)
        refuse_not_finite(schema.features, rows.X, table.source)
        unlearned.count(rows.X)
        offset = _offsets(schema, rows, table.source)
        known = slice(None) if rows.kept is None else rows.kept
        ids = [batch.column(name) for name in types]
        predicted = []
        found = predict(rows.X, offset) if len(rows.X) else [np.empty(0, dtype=object)] * len(fields)
        for (_, kind), values in zip(fields, found, strict=True):
            column = np.full(len(batch), np.nan, dtype=values.dtype)
            column[known] = values
            predicted.append(pa.array(column, type=kind, mask=column != column))
        try:
            yield pa.table([*ids, *predicted], schema=shape)
        except pa.ArrowInvalid as error:  # integers in the first rows of a CSV file, and something else later
            raise InvalidDataError(f"{table.source}: {error}. Leave that column out of the ids.") from error
        done += len(batch)
        if progress is not None:
            progress(done, table.n_rows)
    unlearned.warn()


Columns = tuple[list[tuple[str, Any]], Callable[[Array, Array | None], Sequence[NDArray[Any]]]]
"""Names and Arrow types of the columns, and what computes them for some rows and their offsets."""


def _offsets(schema: Schema, rows: RowBatch, source: str) -> Array | None:
    """Return the offsets of some rows, or raise if they are not exposures, though they should be."""
    if schema.offset is None or rows.offset_values is None:
        return None
    schema.offset.check(rows.offset_values, source)
    return schema.offset.offsets(rows.offset_values)


def _number_columns(model: Any, schema: Schema, wanted: Wanted) -> Columns:
    """Return the columns of numbers: predictions, or expected counts, and intervals."""
    import pyarrow as pa

    if schema.family is not None:
        wanted.refuse_intervals(schema.family)
    names = wanted.names(schema.targets)
    return [(name, pa.float64()) for name in names], lambda X, offset: list(wanted.values(model, X, offset))


def _class_columns(model: Any, schema: Schema, wanted: Wanted) -> Columns:
    """Return the columns of the predicted class and, if the model has them, of the probabilities."""
    import pyarrow as pa

    family: Any = schema.family
    probabilities = hasattr(model, "predict_proba")
    names = wanted.class_names(schema.targets[0], family, probabilities=probabilities)
    kind = {"text": pa.string(), "number": pa.int64(), "boolean": pa.bool_()}[family.label_kind]
    labels = np.array(family.classes, dtype=object)

    def predict(X: Array, offset: Array | None) -> Sequence[NDArray[Any]]:
        arguments = (X,) if offset is None else (X, offset)
        shares = model.predict_proba(*arguments).T if probabilities else ()
        return [labels[np.searchsorted(model.classes_, model.predict(*arguments))], *shares]

    return [(names[0], kind), *((name, pa.float64()) for name in names[1:])], predict
