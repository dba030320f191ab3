"""Encode a table: its columns as rows of numbers, and what had to be left out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway import data
from ridgeway._checks import LARGEST, Array
from ridgeway.data import Categories, Encoding, FamilyName, MissingRule, Schema, Table, Term
from ridgeway.errors import InvalidDataError, InvalidParameterError
from ridgeway.report._targets import TargetColumn, target_column

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Encoded rows, not yet standardised.

    Attributes
    ----------
    rows : ndarray of shape (n_kept, n_features + 1)
        The features, then the target.
    target : TargetColumn
        The target of the rows that were kept.
    encoding : Encoding
    constant : tuple of str
        Terms that were left out because they had only one value.
    labels : list of Categories
        The task columns, with all rows of the table.
    kept : ndarray of bool
        Which rows of the table were kept.
    dropped : dict of str to int
        How many values each column lacks in the rows that were left out for it: a row may lack several.
    """

    rows: Array
    target: TargetColumn
    encoding: Encoding
    constant: tuple[str, ...]
    labels: list[Categories]
    kept: Mask
    dropped: dict[str, int]


def encode(
    table: Table,
    target: str,
    task_columns: Sequence[str],
    features: Sequence[str] | None,
    *,
    missing: MissingRule = "drop",
    family: FamilyName | None = None,
) -> EncodedRows:
    """Encode a table, or raise an error that says what is wrong with it.

    Parameters
    ----------
    table : Table
    target : str
    task_columns : sequence of str
        Columns that name the task; rows without a label are left out.
    features : sequence of str or None
        Columns and terms; all other columns if None.
    missing : {"refuse", "drop", "indicator"}
    family : {"gaussian", "binomial", "poisson", "multiclass"}, optional
        What the target is; inferred if None.
    """
    data.check_columns(table.columns, [target, *task_columns], table.source, extra=None)
    terms = _terms(table, target, task_columns, features)
    arrow, column = _read(table, target, terms, names_tasks=target in task_columns, family=family)
    labels = {name: data.as_labels(table.read([name], text=[name]).column(0)) for name in task_columns}
    encoding = _inferred(arrow, table, terms, missing)  # raises if any row has a value that cannot be used
    kept, dropped = _kept(_gaps(arrow, table, {target: np.isnan(column.values)}, labels, encoding), missing)
    if not kept.all():
        arrow = arrow.filter(kept)
        encoding = _inferred(arrow, table, terms, missing)  # only with the categories that are left
    schema = Schema(encoding.features, (target,), True, None, True, "moments", raw=encoding)
    batch = data.Encoder(schema, table.source, grows=False).rows(arrow)
    column = column.kept(kept, target)
    rows = np.column_stack([batch.X, column.values])
    _check_values(rows, (*encoding.features, target))
    encoding = _varying(encoding, rows, table, target)
    rows = rows[:, [*map(schema.features.index, encoding.features), -1]]
    constant = tuple(str(term) for term in terms if term not in encoding.terms)
    return EncodedRows(rows, column, encoding, constant, [*labels.values()], kept, dropped)


def standardised(encoding: Encoding, family: FamilyName) -> Mask:
    """Return which columns are standardised, the target last: numbers, but not zeros and ones, classes or counts."""
    numbers = [term for term in encoding.terms if not all(map(encoding.is_category, term.factors))]
    names = {name for term in numbers for name in encoding.names_of(term)}
    return np.array([*(name in names for name in encoding.features), family == "gaussian"])


def _terms(table: Table, target: str, labels: Sequence[str], features: Sequence[str] | None) -> tuple[Term, ...]:
    """Return the terms: those named, or all columns except the target and the task columns."""
    if features is None:
        features = [name for name in table.columns if name != target and name not in labels]
        index = [name for name in table.index if name in features]
        if index:
            what = f"column {index[0]!r}" if index[0] else "an unnamed first column"
            raise InvalidDataError(
                f"{table.source} has {what}: the index of a pandas DataFrame, which is not a feature. Write the table "
                "with index=False, or name the features (--features)."
            )
    if not features:
        raise InvalidDataError(f"{table.source} has no columns besides the target and the task. Add a feature.")
    named = (data.column_term(text) if text in table.columns else data.parse_terms([text])[0] for text in features)
    return tuple(dict.fromkeys(named))


def _read(
    table: Table, target: str, terms: Sequence[Term], *, names_tasks: bool, family: FamilyName | None
) -> tuple[Any, TargetColumn]:
    """Return the columns of the terms and the target, as numbers, as an Arrow table with at least one row."""
    import pyarrow as pa

    columns = list(dict.fromkeys(factor.column for term in terms for factor in term.factors))
    if target in columns:
        raise InvalidParameterError(f"{target!r} is the target and cannot be a feature too. Name other features.")
    data.check_columns(table.columns, columns, table.source, extra=None)
    arrow = table.read([*columns, target])
    if not arrow.num_rows:
        raise InvalidDataError(f"{table.source} has no rows. Pass a table with at least two tasks.")
    names = table.read([target], text=[target]).column(0)
    found = target_column(arrow.column(target), names, target, table.source, family, names_tasks=names_tasks)
    return arrow.set_column(arrow.column_names.index(target), target, pa.array(found.values)), found


def _gaps(
    arrow: Any, table: Table, gaps: dict[str, Mask], labels: Mapping[str, Categories], encoding: Encoding
) -> dict[str, Mask]:
    """Return which rows must be left out because a column has no value; those of the target are known."""
    gaps = gaps | {name: column.missing for name, column in labels.items() if name not in gaps}
    for name, kind in encoding.kinds.items() if encoding.missing != "indicator" else ():
        gaps[name] = gaps.get(name, False) | data.READERS[kind](arrow.column(name), name, table.source).missing
    return gaps


def _inferred(arrow: Any, table: Table, terms: Sequence[Term], missing: MissingRule) -> Encoding:
    return data.inferred(data.open_table(arrow, source=table.source), terms, missing=missing)


def _kept(gaps: Mapping[str, Mask], missing: str) -> tuple[Mask, dict[str, int]]:
    """Return the rows without missing values, and how many values each column lacks."""
    kept: Mask = ~np.any([*gaps.values()], axis=0)
    dropped = {name: int(gap.sum()) for name, gap in gaps.items() if gap.any()}
    if dropped and missing == "refuse":
        listed = ", ".join(f"{name!r} ({count:,})" for name, count in dropped.items())
        raise InvalidDataError(f"rows have missing values in: {listed}. Fill them, or drop those rows (missing: drop).")
    if not kept.any():
        worst = max(dropped, key=dropped.__getitem__)
        raise InvalidDataError(
            f"every row has a missing value, most of them in {worst!r}. Leave out that column by naming the features."
        )
    return kept, dropped


def _check_values(rows: Array, names: Sequence[str]) -> None:
    """Raise if there is nothing to learn from these columns, the last of which is the target."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InvalidDataError(f"two columns would be called {twice[0]!r} once they are encoded. Rename one.")
    for name, column in zip(names, rows.T, strict=True):
        if not (np.abs(column) <= LARGEST).all():
            raise InvalidDataError(
                f"column {name!r} has values that are infinite or whose squares overflow (the limit is {LARGEST:g}). "
                "Drop them, or change the unit."
            )
    if np.ptp(rows[:, -1]) == 0.0:
        raise InvalidDataError(
            f"the target {names[-1]!r} is {rows[0, -1]:g} in every row: there is nothing to learn. Choose another "
            "target."
        )


def _varying(encoding: Encoding, rows: Array, table: Table, target: str) -> Encoding:
    """Return the encoding without the terms that are constant; it ignores the other columns of the table."""
    varies = dict(zip(encoding.features, np.ptp(rows, axis=0) > 0.0, strict=False))
    terms = tuple(term for term in encoding.terms if any(varies[name] for name in encoding.names_of(term)))
    if not terms:
        raise InvalidDataError("no features are left: every column has only one value. Choose other features.")
    factors = [factor for term in terms for factor in term.factors]
    columns, used = {factor.column for factor in factors}, set(map(str, factors))
    return replace(
        encoding,
        terms=terms,
        kinds={name: kind for name, kind in encoding.kinds.items() if name in columns},
        levels={key: levels for key, levels in encoding.levels.items() if key in used},
        indicators=tuple(name for name in encoding.indicators if name in columns),
        ignored=tuple(name for name in table.columns if name not in columns and name != target),
    ).checked()
