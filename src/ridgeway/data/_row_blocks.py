"""Rows as numbers: those of tables as they are, and those in memory, cut into blocks."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.data._class_labels import coded_labels
from ridgeway.data._columns import label_of
from ridgeway.data._open import open_table
from ridgeway.data._refusals import column_names, refuse_shuffled_index
from ridgeway.data._schema import Schema, check_columns, listed, refuse_twice
from ridgeway.data._tables import Table
from ridgeway.data._task import Task, dense
from ridgeway.data._validation import check_rows, check_tasks, checked_numbers, columns_of_a_model
from ridgeway.errors import FeatureMismatchError, InvalidDataError, InvalidDataTypeError


class Block(NamedTuple):
    """Some rows, checked: X (n, p) and y (n, k) in Fortran order, positive weights (n,), or None if all are 1.

    `sources` (n, s) are the columns of the table that X was made from, for digests; None if they are those of X.
    `schema` is that of the columns of X: it may have grown since the first row. `clusters` (n,) are the clusters of the
    rows, as text; None if the schema has no column for them. `offset_values` (n,) are those of the offset column, as
    the table has them; None if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import checked_schema, rows_in_memory
    >>> schema = checked_schema(
    ...     ["x"], "y", weight_column=None, fit_intercept=True, information="moments"
    ... )
    >>> (block,) = rows_in_memory(schema, [[1.0], [2.0], [3.0]], [4.0, 5.0, 6.0])
    >>> block.cut(slice(1)).y
    array([[4.]])
    """

    X: Array
    y: Array
    sample_weight: Array | None
    sources: Array | None
    schema: Schema
    clusters: NDArray[np.object_] | None = None
    offset_values: Array | None = None

    def cut(self, rows: slice) -> "Block":
        """Return some of the rows."""
        return Block(
            X=self.X[rows],
            y=self.y[rows],
            sample_weight=_some(self.sample_weight, rows),
            sources=_some(self.sources, rows),
            schema=self.schema,
            clusters=_some(self.clusters, rows),
            offset_values=_some(self.offset_values, rows),
        )


class RowBatch(NamedTuple):
    """Some rows as numbers.

    Attributes
    ----------
    X : ndarray of shape (n, n_features)
    y : ndarray of shape (n, n_targets)
    sample_weight : ndarray of shape (n,) or None
    sources : ndarray of shape (n, n_columns), or None if X has the columns of the table as they are
        The columns of the table, each as one number per row, for digests.
    clusters : ndarray of str of shape (n,), or None
    kept : ndarray of int, or None for all
        Which rows of the batch these are.
    offset_values : ndarray of shape (n,), or None
        The offset column, as the table has it.

    Examples
    --------
    >>> from ridgeway import data
    >>> table = data.open_table({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    >>> schema = data.checked_schema(
    ...     ["x"], "y", weight_column=None, fit_intercept=True, information="moments"
    ... )
    >>> batch = next(table.batches(["x", "y"], rows=2))
    >>> rows = data.Encoder(schema, "the table").rows(batch)
    >>> rows.cut(slice(1)).y
    array([[3.]])
    """

    X: Array
    y: Array
    sample_weight: Array | None
    sources: Array | None
    clusters: NDArray[np.object_] | None
    kept: NDArray[np.intp] | None
    offset_values: Array | None = None

    def cut(self, places: Any) -> "RowBatch":
        """Return some of the rows."""
        return RowBatch(
            X=self.X[places],
            y=self.y[places],
            sample_weight=_some(self.sample_weight, places),
            sources=_some(self.sources, places),
            clusters=_some(self.clusters, places),
            kept=None,
            offset_values=_some(self.offset_values, places),
        )


def _some(values: NDArray[Any] | None, places: Any) -> Any:
    """Return some of the values, if there are any."""
    return None if values is None else values[places]


def checked_rows(schema: Schema, X: Any, y: Any, sample_weight: Any = None, clusters: Any = None) -> Task:
    """Return the rows of a task in memory, checked: a table by column name, an array in the order of the schema.

    Examples
    --------
    >>> import pandas as pd
    >>> from ridgeway.data import checked_rows, checked_schema
    >>> schema = checked_schema(
    ...     ["a", "b"], "y", weight_column=None, fit_intercept=True, information="moments"
    ... )
    >>> checked_rows(schema, pd.DataFrame({"b": [2.0], "a": [1.0]}), [3.0]).X  # by name
    array([[1., 2.]])
    """
    X = _in_order(X, schema.features, "X")
    y = _in_order(y, schema.targets, "y") if len(getattr(y, "shape", ())) == 2 else y
    _refuse_missing_weight(schema, sample_weight)
    names = schema.features if column_names(X) else None
    model = columns_of_a_model(len(schema.features), names)
    (task,) = check_tasks(model, X, y, sample_weight, first=False, clusters=clusters)
    if task.n_targets != len(schema.targets):
        raise FeatureMismatchError(
            f"y has {counted(task.n_targets, 'column')}; the model has {counted(len(schema.targets), 'target')}: "
            f"{', '.join(map(repr, schema.targets))}. Pass those."
        )
    return task


def with_labels(schema: Schema, X: Any, y: Any, sample_weight: Any) -> tuple[Schema, NDArray[Any]]:
    """Return the schema with the classes of some rows, and their labels as the schema takes them: as ids, or as text.

    A table has the labels themselves; rows that are used as they are have the numbers that stand for them.
    """
    family = schema.family
    if family is None:
        return schema, y
    given = _in_order(y, schema.targets, "y") if len(getattr(y, "shape", ())) == 2 else y
    coded = coded_labels(given, family.classes, beside={"X": X, "sample_weight": sample_weight})
    schema = schema.with_classes(coded.classes, "y")
    known = family.joined(coded.classes)
    return schema, known.ids(coded.positions) if schema.takes_arrays else np.array(known.classes)[coded.positions]


def with_targets(
    schema: Schema, X: Any, y: Any, sample_weight: Any, clusters: Any = None, offset_values: Any = None
) -> Table:
    """Return a table of the columns of X, the targets, the weights and, unless they are in X, the clusters and offsets.

    Targets are taken by name, if they have names.
    """
    import pyarrow as pa

    if schema.weight_column is None and sample_weight is not None:
        raise InvalidDataError("the model has no weight column. Leave out sample_weight.")
    _refuse_missing_weight(schema, sample_weight)
    if schema.raw is None and not column_names(X):
        X = _named(schema, X)
    if not column_names(X):
        raise InvalidDataTypeError(
            f"X has no column names, and features are made from the columns {listed(schema.encoding.columns)}. Pass a "
            "DataFrame with those columns."
        )
    given = {"X": X, "y": y, "sample_weight": sample_weight, "clusters": clusters, "offset": offset_values}
    for one, other in combinations(given, 2):
        refuse_shuffled_index(given[one], given[other], (one, other))
    table = open_table(X, source="X")
    columns = dict(zip(table.columns, table.read(table.columns).columns, strict=True))
    names = [*schema.targets, *([] if schema.weight_column is None else [schema.weight_column])]
    _refuse_missing_offset(schema, table.columns, offset_values)
    offsets = [] if offset_values is None else [checked_numbers(offset_values, "offset")]
    names += schema.offset_columns if offsets else ()
    refuse_twice([*table.columns, *names], FeatureMismatchError, "X, y and sample_weight have ")
    has_classes = schema.family is not None and schema.family.has_classes
    targets = y if has_classes else checked_numbers(_in_order(y, schema.targets, "y"), "y")
    weights = [] if sample_weight is None else [checked_numbers(sample_weight, "sample_weight")]
    values = [*np.atleast_2d(targets.T), *weights, *offsets]
    n_rows = len(next(iter(columns.values())))
    if len(values) != len(names) or any(part.shape != (n_rows,) for part in values):
        given_names = ["y", *(["sample_weight"] if weights else []), *(["offset"] if offsets else [])]
        verb = "have" if len(given_names) > 1 else "has"
        shapes = " and ".join(str(part.shape) for part in (targets, *weights, *offsets))
        raise InvalidDataError(
            f"X has {counted(n_rows, 'row')}; {' and '.join(given_names)} {verb} shape {shapes}. "
            f"Pass one value per row for each of {listed(names)}."
        )
    labels = {} if clusters is None else dict.fromkeys(schema.labels, pa.array(list(clusters)))
    added = dict(zip(names, map(pa.array, values), strict=True))
    return open_table(columns | added | labels, source="the table")


def cut(schema: Schema, rows: Task) -> Iterator[Block]:
    """Yield the rows in blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task, checked_schema, cut
    >>> schema = checked_schema(
    ...     ["x"], "y", weight_column=None, fit_intercept=True, information="moments"
    ... )
    >>> rows = np.zeros((schema.block_rows + 1, 1))
    >>> first, rest = cut(schema, Task.of(rows, rows))
    >>> len(first.X) == schema.block_rows, len(rest.X)
    (True, 1)
    """
    step, clusters = schema.block_rows, None
    if rows.clusters is not None:
        spelled = {label: label_of(label, "cluster") for label in dict.fromkeys(rows.clusters.tolist())}
        clusters = np.array([spelled[label] for label in rows.clusters.tolist()], dtype=object)
    for start in range(0, rows.n_samples, step):
        part = slice(start, start + step)
        weight = None if rows.sample_weight is None else rows.sample_weight[part]
        # Adding zero turns -0.0 into 0.0: equal values must have equal digests.
        X, y = np.add(dense(rows.X[part]), 0.0, order="F"), np.add(rows.y[part], 0.0, order="F")
        yield Block(X, y, weight, None, schema, None if clusters is None else clusters[part])


def _refuse_missing_weight(schema: Schema, sample_weight: Any) -> None:
    if schema.weight_column is not None and sample_weight is None:
        raise InvalidDataError(
            f"the model has a weight column, {schema.weight_column!r}. Pass its values as sample_weight."
        )


def _refuse_missing_offset(schema: Schema, columns: Sequence[str], offset_values: Any) -> None:
    if schema.offset is None:
        return
    name, word = schema.offset.name, schema.offset.word
    if offset_values is None and name not in columns:
        raise InvalidDataError(
            f"the model has an {word} column, {name!r}. Pass its values as {word}, or as a column of X."
        )
    if offset_values is not None and name in columns:
        raise InvalidDataError(f"X has the column {name!r}, and its values were also passed as {word}. Pass them once.")


def _named(schema: Schema, X: Any) -> Any:
    """Return an array in the order of the schema as a table with the names of the features."""
    import pyarrow as pa

    rows = dense(check_rows(columns_of_a_model(len(schema.features), None), X))
    return pa.table(dict(zip(schema.features, rows.T, strict=True)))


def _in_order(table: Any, columns: tuple[str, ...], what: str) -> Any:
    """Return a table with its columns in the order of the schema; an array without names as it is."""
    names = column_names(table)
    if not names or not all(isinstance(name, str) for name in names):
        return table
    check_columns(names, columns, what)
    return table.select(list(columns)) if hasattr(table, "select") else table[list(columns)]
