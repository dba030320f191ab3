"""Encode a table: its columns as rows of numbers, and what had to be left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import LARGEST, Array
from ridgeway.data._columns import Categories, Numbers
from ridgeway.data._report_encoding import ReportEncoding, refuse_stray_text
from ridgeway.data._typed import TypedTable
from ridgeway.errors import InvalidDataError, InvalidDataTypeError, InvalidParameterError

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Encoded rows, not yet standardised.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_features + 1)
        The features, then the target.
    encoding : ReportEncoding
    kept : ndarray of bool
        Which rows of the table were kept.
    dropped : dict of str to int
        How many rows each column's missing values cost; a row counts for the first such column.
    unknown : dict of str to int
        How many rows of each column had a category that the encoding does not know.
    """

    rows: Array
    encoding: ReportEncoding
    kept: Mask
    dropped: dict[str, int]
    unknown: dict[str, int]


def encode(
    table: TypedTable,
    target: str,
    task_columns: Sequence[str],
    features: Sequence[str] | None,
    *,
    missing: Literal["drop", "refuse"] = "drop",
    unknown: Literal["refuse", "ignore"] = "refuse",
    encoding: ReportEncoding | None = None,
) -> EncodedRows:
    """Encode a table, or raise an error that says what is wrong with it.

    Parameters
    ----------
    table : TypedTable
    target : str
    task_columns : sequence of str
        Columns that name the task; rows without a label are left out.
    features : sequence of str or None
        All other columns if None.
    missing : {"drop", "refuse"}
    unknown : {"refuse", "ignore"}
        What to do with categories that `encoding` does not know.
    encoding : ReportEncoding, optional
        A new one is made if None.
    """
    y = _target(table, target)
    chosen = _features(table, target, task_columns, features, encoding)
    columns: dict[str, Numbers | Categories] = {target: y, **{name: table.labels(name) for name in task_columns}}
    kept, dropped = _kept(columns | {name: table.column(name) for name in chosen}, missing)
    strange: dict[str, int] = {}
    if encoding is None:
        encoding = ReportEncoding.of(table, target, chosen, kept)
    else:
        kept, strange = _known(table, encoding, kept, unknown)
    rows = _encoded(table, encoding, kept, y)
    if np.ptp(rows[:, -1]) == 0.0:
        raise InvalidDataError(
            f"the target {target!r} is {rows[0, -1]:g} in every row: there is nothing to learn. Choose another target."
        )
    return EncodedRows(rows, encoding, kept, dropped, strange)


def _target(table: TypedTable, target: str) -> Numbers:
    column = table.column(target)
    if isinstance(column, Categories):
        refuse_stray_text(target, column)
        raise InvalidDataTypeError(
            f"the target {target!r} is text ({column.names[0]!r}, …); regression needs numbers. Choose another target, "
            "or convert it."
        )
    return column


def _features(
    table: TypedTable,
    target: str,
    labels: Sequence[str],
    features: Sequence[str] | None,
    encoding: ReportEncoding | None,
) -> list[str]:
    """Return the feature columns: those named, or all except the target and the task columns."""
    if encoding is not None:
        if features is not None and list(features) != list(encoding.features):
            raise InvalidParameterError("the encoding has its own features. Pass either features or an encoding.")
        if encoding.target != target:
            raise InvalidParameterError(
                f"the encoding is for the target {encoding.target!r}; got {target!r}. Use that target, or no encoding."
            )
        features = list(encoding.features)
    if features is None:
        features = [name for name in table.names if name != target and name not in labels]
        index = [name for name in table.index if name in features]
        if index:
            what = f"column {index[0]!r}" if index[0] else "an unnamed first column"
            raise InvalidDataError(
                f"{table.source} has {what}: the index of a pandas DataFrame, which is not a feature. Write the table "
                "with index=False, or name the features (--features)."
            )
    chosen = list(dict.fromkeys(features))
    if target in chosen:
        raise InvalidParameterError(f"{target!r} is the target and cannot be a feature too. Name other features.")
    if not chosen:
        raise InvalidDataError(f"{table.source} has no columns besides the target and the task. Add a feature.")
    return chosen


def _kept(columns: Mapping[str, Numbers | Categories], missing: str) -> tuple[Mask, dict[str, int]]:
    """Return the rows without missing values, and how many rows each column cost."""
    kept: Mask = np.ones(len(next(iter(columns.values())).missing), dtype=bool)
    dropped: dict[str, int] = {}
    for name, column in columns.items():
        if isinstance(column, Numbers) and (np.abs(column.values) > LARGEST).any():
            raise InvalidDataError(
                f"column {name!r} has values that are infinite or whose squares overflow (the limit is {LARGEST:g}). "
                "Drop them, or change the unit."
            )
        if (kept & column.missing).any():
            dropped[name] = int((kept & column.missing).sum())
            kept &= ~column.missing
    if dropped and missing == "refuse":
        listed = ", ".join(f"{name!r} ({count:,})" for name, count in dropped.items())
        raise InvalidDataError(f"rows have missing values in: {listed}. Fill them, or drop those rows (missing: drop).")
    if not kept.any():
        worst = max(dropped, key=dropped.__getitem__)
        raise InvalidDataError(
            f"every row has a missing value, most of them in {worst!r}. Leave out that column by naming the features."
        )
    return kept, dropped


def _known(table: TypedTable, encoding: ReportEncoding, kept: Mask, unknown: str) -> tuple[Mask, dict[str, int]]:
    """Return the rows whose categories the encoding knows, and how many rows each column cost; or raise."""
    known, counts = kept.copy(), {}
    for name, categories in encoding.features.items():
        column = table.column(name)
        if isinstance(column, Categories) != (categories is not None):
            raise InvalidDataTypeError(
                f"column {name!r} is {'text' if categories is None else 'numeric'}, but the encoding has it as "
                f"{'numeric' if categories is None else 'text'}. Convert it, or make a new encoding."
            )
        if isinstance(column, Categories):
            new = [code for code, value in enumerate(column.names) if value not in set(categories or ())]
            strange = known & np.isin(column.codes, new)
            if not strange.any():
                continue
            if unknown == "refuse":
                value = column.names[column.codes[strange][0]]
                raise InvalidDataError(
                    f"column {name!r} has a category that the encoding does not know: {value!r} "
                    f"({int(strange.sum()):,} such rows in all). Make a new encoding, or leave out those rows "
                    "(unknown: ignore)."
                )
            counts[name] = int(strange.sum())
            known &= ~strange
    if not known.any():
        raise InvalidDataError("every row has a category that the encoding does not know. Make a new encoding.")
    return known, counts


def _encoded(table: TypedTable, encoding: ReportEncoding, kept: Mask, y: Numbers) -> Array:
    columns: list[NDArray[Any]] = []
    for name, categories in encoding.features.items():
        column = table.column(name)
        if isinstance(column, Numbers):
            columns.append(column.values[kept])
        else:
            codes = {category: code for code, category in enumerate(column.names)}
            columns += [column.codes[kept] == codes.get(category, -1) for category in (categories or ())[1:]]
    return np.column_stack([*columns, y.values[kept]])
