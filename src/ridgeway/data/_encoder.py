"""Rows of a table as numbers: each batch is encoded as the schema says, and the schema may grow on the way."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import compress, product
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.data._columns import EXACT, Categories, Kind, Numbers, Times, as_numbers, as_text, as_times, text_id
from ridgeway.data._encoding import MISSING, OTHER, Encoding
from ridgeway.data._functions import FUNCTIONS
from ridgeway.data._label_columns import classes_in
from ridgeway.data._row_blocks import RowBatch
from ridgeway.data._schema import Schema
from ridgeway.data._terms import Term, TermFactor
from ridgeway.errors import InvalidDataError, InvalidParameterError, UnknownCategoryError

Mask = NDArray[np.bool_]
Raw = Numbers | Categories | Times
Columns = tuple[str, ...]


def _as_number_column(column: Any, name: str, source: str) -> Numbers:
    return Numbers(as_numbers(column, name, source))


READERS: dict[Kind, Callable[[Any, str, str], Raw]] = {
    "number": _as_number_column,
    "boolean": _as_number_column,
    "date": as_times,
    "text": as_text,
}
"""How an Arrow column becomes numbers, categories or times, by what it holds."""


def arrow_kinds(kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """Return the Arrow types in which columns of a CSV file are read; dates as text, with the clock of their zone."""
    import pyarrow as pa

    types = {"number": pa.float64(), "boolean": pa.bool_(), "text": pa.string(), "date": pa.string()}
    return {name: types[kind] for name, kind in kinds.items()}


@dataclass(frozen=True, eq=False)
class _Hot:
    """A category: the column of each row, from 0; −1 for the reference level."""

    codes: NDArray[np.int64]
    width: int

    def columns(self) -> Iterator[Array]:
        yield from ((self.codes == j).astype(np.float64) for j in range(self.width))


class Encoder:
    """Encodes batches of a table.

    Attributes
    ----------
    schema : Schema
        As it is now: it has grown if a batch had categories or gaps that it allows for and did not know.
    dropped : Counter of tuple of str
        Rows left out because columns had no value, by all columns of the row that had none.
    ignored : Counter of (str, str)
        Rows left out because a column had an unknown category, by column and category.

    Examples
    --------
    >>> from ridgeway import data
    >>> table = data.open_table({"site": ["b", "a"], "y": [1.0, 2.0]})
    >>> encoding = data.inferred(table, None, leave_out=["y"])
    >>> schema = data.checked_schema(
    ...     encoding, "y", weight_column=None, fit_intercept=True, information="moments"
    ... )
    >>> batch = next(table.batches(["site", "y"], rows=2))
    >>> schema.features, data.Encoder(schema, "the table").rows(batch).X
    (('site=b',), array([[1.], [0.]]))
    """

    def __init__(
        self,
        schema: Schema,
        source: str,
        *,
        has_targets: bool = True,
        grows: bool = True,
        absent: Sequence[str] = (),
        label_kind: Kind | None = None,
    ) -> None:
        self.schema = schema
        self.dropped = Counter[Columns]()
        self._source, self._grows = source, grows
        targets = schema.targets if has_targets else ()
        self._label_kind = label_kind
        self._kinds: dict[str, Kind] = dict(schema.encoding.kinds) | dict.fromkeys(targets, label_kind or "number")
        self._weight = schema.weight_column if has_targets else None
        if self._weight is not None:
            self._kinds[self._weight] = "number"
        self._kinds |= dict.fromkeys(schema.offset_columns, "number")
        self._targets = targets
        self._absent = {
            name: raw_value(self._kinds[name], name, schema.past[name]) for name in absent if name in schema.past
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that are read."""
        return tuple(name for name in self._kinds if name not in self._absent)

    def arrow_kinds(self) -> dict[str, Any]:
        """Return how a CSV file is read: the Arrow types of the columns."""
        return arrow_kinds(self._kinds)

    def rows(self, batch: Any) -> RowBatch:
        """Return the rows of an Arrow batch, or raise an error that says what is wrong with them."""
        raw: dict[str, Raw] = {
            name: READERS[kind](batch.column(name), name, self._source)
            if name not in self._absent
            else self._absent[name].take(np.zeros(len(batch), dtype=np.intp))
            for name, kind in self._kinds.items()
        }
        kept = self._kept(raw, len(batch))
        if self.schema.encoding.levels:
            self._check_known(raw, kept)
        places = None if kept.all() else np.flatnonzero(kept)
        if places is not None:
            raw = {name: column.take(places) for name, column in raw.items()}
        if self._label_kind is not None:
            (name,) = self._targets
            found = classes_in(raw[name], self._label_kind, name, self._source)
            self.schema = self.schema.with_classes(found, f"{self._source}: column {name!r}")
        encoding = self.schema.encoding
        X = _matrix(encoding, raw, len(batch) if places is None else len(places))
        y = np.array([_source(raw[name]) for name in self._targets])  # each column in one piece
        weight = None if self._weight is None else _values(raw[self._weight])
        sources = None if encoding.is_plain else np.array([_source(raw[name]) for name in encoding.columns]).T
        return RowBatch(
            X=X,
            y=y.reshape(len(self._targets), len(X)).T,
            sample_weight=weight,
            sources=sources,
            clusters=None,
            kept=places,
            offset_values=None if self.schema.offset is None else _values(raw[self.schema.offset.name]),
        )

    def _kept(self, raw: Mapping[str, Raw], n_rows: int) -> Mask:
        """Return the rows that are kept although values may be missing; count the others."""
        kept: Mask = np.ones(n_rows, dtype=bool)
        encoding = self.schema.encoding
        marked: list[str] = []
        lacking: dict[str, Mask] = {}
        for name, column in raw.items():
            gaps = column.missing
            if not gaps.any():
                continue
            if encoding.missing == "refuse":
                raise InvalidDataError(
                    f"{self._source}: column {name!r} has at least {counted(int(gaps.sum()), 'missing value')}. Fill "
                    "them, or create the state file with --missing drop or --missing indicator."
                )
            if encoding.missing == "indicator" and name in encoding.kinds:
                marked.append(name)
            else:
                lacking[name] = gaps
                kept &= ~gaps

        if lacking:
            gaps_of_rows = np.column_stack([gaps[~kept] for gaps in lacking.values()])
            patterns, counts = np.unique(gaps_of_rows, axis=0, return_counts=True)
            for pattern, count in zip(patterns, counts.tolist(), strict=True):
                self.dropped[tuple(compress(lacking, pattern))] += count
        if marked:
            self._mark(marked)
        return kept

    def _mark(self, columns: Sequence[str]) -> None:
        """Make sure that missing values of these columns are marked."""
        encoding = self.schema.encoding
        numbers = {*encoding.marked(columns)} - {*encoding.indicators}
        lacking = {
            key: (MISSING,)
            for key, factor in encoding.categories.items()
            if factor.column in columns and MISSING not in encoding.levels[key]
        }
        if numbers or lacking:
            grown = replace(encoding.with_levels(lacking), indicators=tuple(sorted({*encoding.indicators, *numbers})))
            new = dict.fromkeys([*numbers, *(encoding.categories[key].column for key in lacking)])
            self._grow(grown, f"missing values in {', '.join(map(repr, new))}")

    def _check_known(self, raw: Mapping[str, Raw], kept: Mask) -> None:
        """Make sure that the categories are known: the schema grows if it may."""
        encoding, new = self.schema.encoding, dict[str, list[str]]()
        for key, factor in encoding.categories.items():
            values = labels_of(factor, raw[factor.column])
            refuse_reserved(self._source, key, values.names)
            known = {*encoding.levels[key]}
            strange = np.array([name not in known for name in values.names], dtype=bool)
            if not strange.any() or OTHER in known:
                continue
            rows = kept & (values.codes >= 0) & strange[values.codes]
            if not rows.any():
                continue
            names = sorted(values.names[code] for code in np.unique(values.codes[rows]))
            if encoding.unknown == "widen" and self._grows:
                new[key] = names
            else:
                raise unknown_category(self._source, key, names, int(rows.sum()))
        if new:
            self._grow(encoding.with_levels(new), "unknown categories")

    def _grow(self, encoding: Encoding, what: str) -> None:
        if not self._grows:
            raise InvalidDataError(f"{self._source} has {what}, which the model has not learned yet. Drop those rows.")
        self.schema = self.schema.with_encoding(encoding)


def refuse_reserved(source: str, key: str, names: Iterable[str]) -> None:
    """Raise if a category of a table has the name of a level that stands for something else."""
    reserved = [name for name in names if name in (OTHER, MISSING)]
    if reserved:
        raise InvalidDataError(f"{source}: column {key!r} has the value {reserved[0]!r}, which is reserved. Rename it.")


def unknown_category(source: str, key: str, names: Sequence[str], n_rows: int) -> UnknownCategoryError:
    """Return the error for categories that the schema does not have, in these rows and perhaps in others."""
    shown = ", ".join(map(repr, names[:3])) + (f", … ({len(names)} in all)" if len(names) > 3 else "")
    return UnknownCategoryError(
        f"{source}: column {key!r} has unknown categories: {shown}, in at least {counted(n_rows, 'row')}. Correct "
        f"them, or add them first: ridgeway widen FILE.rw --category {quote(f'{key}={names[0]}')}"
    )


def one_row(encoding: Encoding, factor: TermFactor, value: float | str) -> list[float]:
    """Return the columns of a factor in a row with this value."""
    column = factor.column
    raw = raw_value(encoding.kinds[column], column, value)
    if encoding.is_category(factor) and labels_of(factor, raw).names[0] not in encoding.levels[str(factor)]:
        raise InvalidParameterError(f"the past value of {column!r}, {value!r}, is not one of its categories.")
    alone = replace(encoding, terms=(Term((factor,)),), indicators=())
    return [float(value) for value in _matrix(alone, {column: raw}, 1)[0]]


def source_value(kind: Kind, column: str, value: float | str) -> float:
    """Return the number that stands for a value in digests.

    Examples
    --------
    >>> from ridgeway.data import source_value
    >>> source_value("number", "x", "2.0") == source_value("number", "x", 2)
    True
    >>> source_value("text", "site", "a") == source_value("text", "site", "b")
    False
    """
    return float(_source(raw_value(kind, column, value))[0])


def raw_value(kind: Kind, column: str, value: float | str) -> Raw:
    """Return a column of one row, or raise if the value is not of that kind."""
    try:
        if kind == "text":
            return Categories(np.zeros(1, dtype=np.int64), (str(value),))
        if kind == "date":
            return Times(np.array([datetime.fromisoformat(str(value)).replace(tzinfo=None)], dtype="M8[us]"))
        raw = Numbers(np.array([float(value)]))
    except ValueError:
        raise InvalidParameterError(f"the past value of {column!r} must be a {kind}; got {value!r}.") from None
    if not np.isfinite(raw.values).all():
        raise InvalidParameterError(f"the past value of {column!r} must be a finite number; got {value!r}.")
    return raw


def labels_of(factor: TermFactor, column: Raw) -> Categories:
    """Return a factor that is a category as labels; numbers must be integers."""
    if isinstance(column, Categories):
        return column
    values = _applied(factor, column)
    found, codes = np.unique(values, return_inverse=True)
    whole = found[~np.isnan(found)]
    wrong = whole[(whole != np.round(whole)) | (np.abs(whole) >= EXACT)]
    if len(wrong):
        raise InvalidDataError(
            f"category({factor.column}) needs integers below 2⁵³; got {wrong[0]:g}. Use the column as a number, or as "
            "text."
        )
    codes = np.where(codes < len(whole), codes, -1)
    return Categories(codes.astype(np.int64), tuple(str(int(value)) for value in whole))


def _values(column: Raw) -> NDArray[Any]:
    """Return the values of a column of numbers or dates."""
    if isinstance(column, Categories):
        raise TypeError("text has no values")  # checked encodings never ask for them
    return column.values


def _applied(factor: TermFactor, column: Raw) -> NDArray[Any]:
    """Return what the functions of a factor make of a column."""
    values = _values(column)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused when it is summed
        for name, arguments in factor.calls:
            try:
                values = FUNCTIONS[name].apply(values, *arguments)
            except InvalidDataError as error:
                raise InvalidDataError(f"column {factor.column!r}: {error}") from None
    return values


def _matrix(encoding: Encoding, raw: Mapping[str, Raw], n_rows: int) -> Array:
    """Return the features of the rows. Missing values count as 0: they are marked in columns of their own."""
    width = len(encoding.features)
    X = np.zeros((n_rows, width), order="F")
    place = 0

    @cache
    def coded(factor: TermFactor) -> list[Array] | _Hot:
        column = raw[factor.column]
        if encoding.is_category(factor):
            return _hot(labels_of(factor, column), encoding.levels[str(factor)])
        values = _applied(factor, column)
        if column.missing.any():
            values = np.where(np.isnan(values), 0.0, values)
        return [values] if values.ndim == 1 else list(values.T)

    for term in encoding.terms:
        parts = [coded(factor) for factor in term.factors]
        if len(parts) == 1 and isinstance(parts[0], _Hot):
            hot = np.flatnonzero(parts[0].codes >= 0)
            X[hot, place + parts[0].codes[hot]] = 1.0
            place += parts[0].width
            continue
        expanded = [list(part.columns()) if isinstance(part, _Hot) else part for part in parts]
        for factors in product(*expanded):
            X[:, place] = factors[0] if len(factors) == 1 else np.prod(factors, axis=0)
            place += 1
    for name in encoding.indicators:
        X[:, place] = raw[name].missing
        place += 1
    return X


def _hot(labels: Categories, levels: Sequence[str]) -> _Hot:
    """Return the column of each row: that of its level, of `(other)` if unknown, of `(missing)` if it has none."""
    places = {level: place - 1 for place, level in enumerate(levels)}
    other, missing = places.get(OTHER, -1), places.get(MISSING, -1)
    lookup = np.array([*(places.get(name, other) for name in labels.names), missing], dtype=np.int64)
    return _Hot(lookup[labels.codes], len(levels) - 1)


def _source(column: Raw) -> Array:
    """Return a column of a table as one number per row, the same for the same values from every kind of file."""
    if isinstance(column, Categories):
        return np.array([*map(text_id, column.names), 0.0])[column.codes]
    if isinstance(column, Times):
        return np.where(column.missing, np.nan, column.values.astype(np.int64).astype(np.float64))
    return np.where(column.missing, np.nan, column.values) if column.missing.any() else column.values
