"""What a state file says: its state, its history, and answers from them. Nothing here changes it."""

import os
import sqlite3
from abc import ABC
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ridgeway.data import CsvFormat, Progress, Schema, Table, open_table
from ridgeway.errors import InferenceError, InvalidParameterError, RidgewayError
from ridgeway.store._changes import Handle
from ridgeway.store._connection import as_path, transaction
from ridgeway.store._digests import Array
from ridgeway.store._exchange import PredictedRows, export, predict_file
from ridgeway.store._generations import Generation, read_arrays, read_generation, read_ledger, stream_ledger
from ridgeway.store._ledger import Record
from ridgeway.store._ledger_table import LedgerTable
from ridgeway.store._merge import Snapshot
from ridgeway.store._predict import Wanted, predictions
from ridgeway.store._recovery import Health, back_up, full_check
from ridgeway.store._references import empty_references, remedy
from ridgeway.store._state import described, model_from, model_of, read_state
from ridgeway.store._whole_task import WholeTask
from ridgeway.store._whole_tree import loaded, parted
from ridgeway.store._widen import known_digests, widened

if TYPE_CHECKING:
    from ridgeway.estimators import GeneralizedRidge
    from ridgeway.retrospect import Comparison, Summary


class StoreReader(ABC):
    """A state file that is read. `Store` adds every way to change it."""

    path: Path
    _handle: Handle

    @property
    def schema(self) -> Schema:
        """The columns and settings of the model, as they are now."""
        with self._reading() as (_, now):
            return now.schema

    def rows(self, table: Any, *, csv: CsvFormat | None = None) -> tuple[Any, ...]:
        """Return the rows of a table, checked, as X (a pyarrow Table), y and sample_weight; nothing is learned.

        They are what `retrospect.compare` takes. If the file has an offset or exposure column, the offsets come last,
        as `GeneralizedPoisson.partial_fit` takes them. All rows are in memory at once.
        """
        return WholeTask.of(open_table(table, csv=csv), self.schema).arguments()

    def backup(self, path: str | PathLike[str]) -> Health:
        """Copy the file, even while it is in use, to a path that must not exist yet; return the result of `check`.

        The copy appears once it is complete, on disk and checked in full. It has the same id as the file.
        """
        return back_up(self._handle, as_path(path))

    def export(self, path: str | PathLike[str]) -> None:
        """Write the state as plain arrays with a manifest (.safetensors), or the coefficients as a table (.csv).

        The file must not exist yet. `import_arrays` turns a .safetensors export into a state file again.
        """
        where = as_path(path)
        export(self.snapshot(parts=where.suffix.lower() == ".safetensors"), where)

    def predict(
        self,
        table: Any,
        *,
        ids: Sequence[str] = (),
        interval: float | None = None,
        confidence: float | None = None,
        column: str | None = None,
        csv: CsvFormat | None = None,
    ) -> Any:
        """Return predictions for the rows of a table, in their order, as a pyarrow table.

        Parameters
        ----------
        table : path, DataFrame, or any object with `__arrow_c_stream__`, with the columns of the features
        ids : columns to keep beside the predictions; those of a CSV file as text, except numeric features
        interval : level of prediction intervals, for new observations; `…_lower` and `…_upper`
        confidence : level of confidence intervals, for the mean; `…_mean_lower` and `…_mean_upper`
        column : name of the predictions, if there is one target; `predicted_TARGET` if not given
        csv : how a CSV file is written, if not with commas, points and UTF-8
        """
        import pyarrow as pa

        found = self._predictions(open_table(table, csv=csv), Wanted(ids, interval, confidence, column), None)
        return pa.concat_tables(list(found))

    def predict_file(
        self,
        table: Any,
        out: str | PathLike[str],
        *,
        ids: Sequence[str] = (),
        interval: float | None = None,
        confidence: float | None = None,
        column: str | None = None,
        csv: CsvFormat | None = None,
        progress: Progress | None = None,
    ) -> PredictedRows:
        """Write what `predict` returns to a new file, block by block; return the numbers of rows.

        The file must not exist yet, and appears once it is complete.
        """
        where = as_path(out)
        taken = [self.path, *([table] if isinstance(table, str | PathLike) else [])]
        if os.path.realpath(where) in map(os.path.realpath, taken):
            raise InvalidParameterError(f"{where} is an input of this call. Write the predictions to another file.")
        wanted = Wanted(ids, interval, confidence, column)
        return predict_file(self._predictions(open_table(table, csv=csv), wanted, progress), where, len({*ids}))

    def _predictions(self, table: Table, wanted: Wanted, progress: Progress | None) -> Iterator[Any]:
        schema, arrays = self._state()
        return predictions(model_of(schema, arrays, named=False), schema, table, wanted, progress)

    def summary(self, *, features: Sequence[str] | None = None, level: float = 0.95) -> "Summary":
        """Return coefficients, standard errors, tests and intervals, based on all rows absorbed so far.

        Those of family binomial or poisson come from the curvature of the log-likelihood. Family multiclass has none.

        Parameters
        ----------
        features : fit only these features, as if on all rows; optional
        level : level of the intervals
        """
        from ridgeway.retrospect import submodel, summary

        schema, arrays = self._state()
        model, family = model_of(schema, arrays), schema.family
        if family is not None and family.memory is None:
            raise InferenceError(
                "the targets of family multiclass are 0 or 1, so their noise is not that of least squares, and there "
                "are no standard errors. `ridgeway show` has the coefficients. Two classes can be of family binomial."
            )
        if family is not None and features is not None:
            raise InferenceError(
                f"a file of family {family.name} knows its likelihood near the estimate of all features, not of "
                "some. Leave out features."
            )
        return summary(model if features is None else submodel(model, features), level=level)

    def compare_task(self, table: Any, *, equal_noise: bool = False, csv: CsvFormat | None = None) -> "Comparison":
        """Return whether a table follows the same relation as the rows absorbed so far. Nothing is learned.

        A table that was absorbed already is compared with what remains without it.
        """
        from ridgeway.retrospect import compare

        with self._reading() as (connection, now):
            arrays = read_arrays(connection, now, self.path)
            if now.schema.family is not None:
                raise InferenceError(
                    f"tables are compared with files of family gaussian; this one is {now.schema.family.name}. Make a "
                    "file of the table alone, and compare the summaries."
                )
            digests = {entry.record.digest for entry in stream_ledger(connection, now, self.path, full=False)}
        task = WholeTask.of(open_table(table, csv=csv), now.schema)
        state = read_state(now.schema, arrays)
        if task.schema is not now.schema:
            state = widened(state, now.schema, task.schema)
        absorbed = not digests.isdisjoint(known_digests(task.content, now.schemas))
        return compare(model_from(task.schema, state), *task.arguments(), equal_noise=equal_noise, absorbed=absorbed)

    def model(self) -> Any:
        """Return the fitted model. It predicts for tables with the columns that were learned, encoded or not.

        It is a `GeneralizedRidge`; or, for another family, a `GeneralizedLogistic`, `GeneralizedPoisson` or
        `GeneralizedRidgeClassifier`.
        """
        return model_of(*self._state())

    def model_by_task(self) -> "GeneralizedRidge":
        """Return the fitted model with the information of each task, if the file keeps its tasks; or raise.

        All parts are read into memory, and the file is not needed any more. Rows that were forced in under the id of
        another task belong to that task.
        """
        with self._reading() as (connection, now):
            arrays = read_arrays(connection, now, self.path)
            records = [entry.record for entry in stream_ledger(connection, now, self.path, full=False)]
            tree = loaded(connection, now, self.path)
        ids = dict.fromkeys(record.task_id for record in records if record.removed is None)
        model: GeneralizedRidge = model_from(now.schema, parted(now.schema, read_state(now.schema, arrays), tree, ids))
        return model

    def describe(self) -> dict[str, Any]:
        """Return coefficients, rank, condition and sizes, as plain data."""
        return described(*self._state())

    def empty_references(self) -> dict[str, str]:
        """Return the reference levels that no row has, such as carrier=AA, each with what can be done about it.

        If a file has an intercept and no prior, the coefficients of such a category cannot be estimated until another
        reference level is chosen or a row is absorbed that has this one.
        """
        schema, arrays = self._state()
        state = read_state(schema, arrays)
        references = dict(zip(schema.encoding.categories, schema.encoding.references, strict=True))
        return {references[key]: remedy(state, schema, key) for key in empty_references(state, schema)}

    def history(self) -> tuple[Record, ...]:
        """Return a record of each task that the state holds, in the order in which they were absorbed."""
        return tuple(record for record in self.ledger() if record.removed is None)

    def ledger(self) -> tuple[Record, ...]:
        """Return every record, including those of tasks that were removed."""
        with self._reading() as (connection, now):
            return tuple(entry.record for entry in stream_ledger(connection, now, self.path, full=False))

    def _repr_html_(self) -> str:
        """Return the ledger as HTML, for a notebook; what is wrong if the file cannot be read."""
        try:
            shown = LedgerTable(str(self.path), self.schema, self.ledger())
        except (RidgewayError, OSError) as error:
            shown = LedgerTable(str(self.path), problem=str(error))
        return shown._repr_html_()

    def check(self) -> Health:
        """Check every digest and every invariant of the file; raise `DamagedStoreError` if one does not hold."""
        return full_check(self._handle)

    def snapshot(self, *, parts: bool = True) -> Snapshot:
        """Return the current generation with its ledger, arrays and parts (if wanted), all digests checked."""
        with self._reading() as (connection, now):
            ledger, arrays = read_ledger(connection, now, self.path), read_arrays(connection, now, self.path)
            return Snapshot(now, ledger, arrays, loaded(connection, now, self.path) if parts else None)

    def _state(self) -> tuple[Schema, dict[str, Array]]:
        with self._reading() as (connection, now):
            return now.schema, read_arrays(connection, now, self.path)

    @contextmanager
    def _reading(self) -> Iterator[tuple[sqlite3.Connection, Generation]]:
        with transaction(self.path, write=False, timeout=self._handle.timeout) as connection:
            yield connection, self._handle.check(read_generation(connection, self.path))
