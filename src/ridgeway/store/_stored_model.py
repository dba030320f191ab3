"""The models of state files."""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from ridgeway._checks import Array
from ridgeway.data import Encoder, Schema, as_numbers, check_columns, check_tasks, dense, open_table
from ridgeway.errors import InvalidDataError
from ridgeway.estimators import GeneralizedLogistic, GeneralizedPoisson, GeneralizedRidge, GeneralizedRidgeClassifier
from ridgeway.store._forget import Forgetting


class RawTablesMixin:
    """A fitted model of a state file, which predicts for tables with the columns that were learned.

    Arrays, and tables with the encoded features, are taken as every other model takes them.

    Attributes
    ----------
    schema_ : Schema
    """

    schema_: Schema

    def encoded(self, X: Any) -> Any:
        """Return a table of raw columns as a table of features; anything else, or without a schema, as it is."""
        names = [str(name) for name in getattr(X, "column_names", getattr(X, "columns", ()))]
        schema = getattr(self, "schema_", None)
        if schema is None or not names or set(schema.features) <= set(names):
            return X
        import pyarrow as pa

        schema = replace(schema, offset=None)
        table = open_table(X, source="X")
        check_columns(table.columns, schema.encoding.columns, table.source, extra=None)
        encoder = Encoder(schema, table.source, has_targets=False, grows=False)
        parts = [encoder.rows(batch).X for batch in table.batches(encoder.columns, rows=len(X) or 1)]
        if encoder.dropped:
            n_rows = encoder.dropped.total()
            columns = dict.fromkeys(name for names in encoder.dropped for name in names)
            missing = " or ".join(map(repr, columns))
            what = "1 row of X has" if n_rows == 1 else f"{n_rows:,} rows of X have"
            raise InvalidDataError(
                f"{what} no value in {missing}, and such rows were left out of learning. Drop them, or use the store's "
                "`predict`."
            )
        rows = np.vstack(parts) if parts else np.empty((0, len(schema.features)))
        return pa.table(dict(zip(schema.features, rows.T, strict=True)))


class StoredModel(RawTablesMixin, GeneralizedRidge):
    """The fitted model of a state file of numbers."""

    def predict(self, X: Any, return_std: Any = False) -> Any:
        """Predict for a table of raw columns, or for encoded features; `return_std` as for `GeneralizedRidge`."""
        return super().predict(self.encoded(X), return_std)

    def remove(self, X: Any = None, y: Any = None, sample_weight: Any = None, *, task: Any = None) -> Self:
        """Return a new model, as `GeneralizedRidge.remove` does; the task may be the only one to have a category."""
        if task is not None:
            return super().remove(X, y, sample_weight, task=task)
        (rows,) = check_tasks(self, self.encoded(X), y, sample_weight, first=False)
        weight = np.ones(rows.n_samples) if rows.sample_weight is None else rows.sample_weight
        left = Forgetting(self._informed(), self.schema_, weight @ dense(rows.X))
        left.remove(rows)
        return self._with(left.state())


class StoredClassifier(RawTablesMixin, GeneralizedRidgeClassifier):
    """The fitted model of a state file of family multiclass."""

    def _scores(self, X: Any) -> Array:
        return super()._scores(self.encoded(X))


class OffsetColumnMixin(RawTablesMixin):
    """A fitted model with a likelihood, whose tables may have a column of offsets or exposures."""

    def with_offset(self, X: Any, offset: Any) -> tuple[Any, Any]:
        """Return X without the offset column, and the offset of each row, or raise if there is none but should be."""
        column = None if getattr(self, "schema_", None) is None else self.schema_.offset
        if column is None:
            return X, offset
        names = [str(name) for name in getattr(X, "column_names", getattr(X, "columns", ()))]
        if column.name not in names:
            if offset is None:
                raise InvalidDataError(
                    f"the model has an {column.word} column, {column.name!r}. Pass a table with that column, or the "
                    "offsets as offset, such as log exposures; zeros give the answer for an exposure of 1."
                )
            return X, offset
        table = open_table(X, source="X")
        read = table.read(table.columns)
        if offset is None:
            values = as_numbers(read.column(column.name), column.name, table.source)
            column.check(values, table.source)
            offset = column.offsets(values)
        return read.drop_columns([column.name]), offset


class StoredLogistic(OffsetColumnMixin, GeneralizedLogistic):
    """The fitted model of a state file of family binomial."""

    def _predictor(self, X: Any, offset: Any) -> Array:
        X, offset = self.with_offset(X, offset)
        return super()._predictor(self.encoded(X), offset)


class StoredPoisson(OffsetColumnMixin, GeneralizedPoisson):
    """The fitted model of a state file of family poisson."""

    def _predictor(self, X: Any, offset: Any) -> Array:
        X, offset = self.with_offset(X, offset)
        return super()._predictor(self.encoded(X), offset)


MODELS = {
    "gaussian": StoredModel,
    "multiclass": StoredClassifier,
    "binomial": StoredLogistic,
    "poisson": StoredPoisson,
}
"""The models of state files, by the family of the target."""
