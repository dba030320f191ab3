"""An encoding made from a first table: what its columns contain, the levels of its categories, and its gaps."""

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeway._text import did_you_mean
from ridgeway.data._columns import Categories, Kind, is_number, kind_of
from ridgeway.data._encoder import READERS, arrow_kinds, labels_of, refuse_reserved
from ridgeway.data._encoding import MISSING, OTHER, Encoding, MissingRule, UnknownRule, ordered
from ridgeway.data._functions import FUNCTIONS
from ridgeway.data._schema import check_columns, refuse_index
from ridgeway.data._tables import Table
from ridgeway.data._terms import Term, TermFactor, column_term
from ridgeway.errors import InvalidDataError, InvalidDataTypeError, InvalidParameterError, PrecisionWarning

ROWS = 65536
MOST_CATEGORIES = 200
"""A text column with more distinct values than this is treated as a name or a key, not a category."""
NEARLY_ALL = 0.9
"""If at least this share of a text column are numbers, the rest is taken for stray text in a column of numbers."""
NUMBER = r"(?:0?[1-9]|[12]\d|3[01])"
ISO_DATE = re.compile(rf"\d{{4}}-{NUMBER}-{NUMBER}(?:[T ].*)?")
OTHER_DATE = re.compile(rf"(?:{NUMBER}([./-]){NUMBER}\1(?:\d\d)?\d\d|\d{{4}}([./]){NUMBER}\2{NUMBER})(?:[T ].*)?")
"""Dates as 14.01.2024, 01/14/2024 or 2024/01/14, which are not read as dates."""


def inferred(
    table: Table,
    terms: Sequence[Term] | None,
    *,
    leave_out: Sequence[str] = (),
    missing: MissingRule = "refuse",
    unknown: UnknownRule = "refuse",
    references: Mapping[str, str] | None = None,
    ignore_extra: bool = False,
    targets: Sequence[str] = (),
    weight_column: str | None = None,
) -> Encoding:
    """Return the encoding of a table: what its columns contain, and the categories found in its rows. Reads it once.

    Parameters
    ----------
    table : Table
    terms : sequence of Term or None
        All columns except those in `leave_out`, as they are, if None.
    leave_out : columns that are not features: targets, weights, and those to ignore
        If there are terms, all columns that they do not use are ignored.
    missing, unknown, ignore_extra : as for `Encoding`
    references : the reference level of categories; if not given, the first in sorted order that a row which counts has
    targets, weight_column : columns in `leave_out` that say which rows count: a row without a target or weight does not

    Examples
    --------
    >>> from ridgeway.data import inferred, open_table
    >>> table = open_table({"site": ["b", "a", "c"], "size": [1, 2, 3], "y": [4, 5, 6]})
    >>> encoding = inferred(table, None, leave_out=["y"])
    >>> encoding.features, dict(encoding.kinds)
    (('site=b', 'site=c', 'size'), {'site': 'text', 'size': 'number'})
    """
    check_columns(table.columns, leave_out, table.source, extra=None)
    if terms is None:
        left_out = {*leave_out}
        names = [name for name in table.columns if name not in left_out]
        refuse_index([name for name in table.index if name not in left_out], table.source)
        terms = tuple(map(column_term, names))
    columns = dict.fromkeys(factor.column for term in terms for factor in term.factors)
    if not columns:
        raise InvalidDataError(f"{table.source} has no column that could be a feature. Leave out fewer columns.")
    check_columns(table.columns, [*columns], table.source, extra=None)
    kinds = _kinds(table, terms, [*columns])
    ignored = tuple(dict.fromkeys(name for name in (*leave_out, *table.columns) if name not in columns))
    draft = Encoding(tuple(terms), kinds, {}, missing, unknown, (), ignored, ignore_extra)
    levels, gaps = _scanned(table, draft, references or {}, _LearnedRows.of(table, draft, targets, weight_column))
    marked = [name for name in draft.marked(columns) if gaps[name]] if missing == "indicator" else []
    return Encoding(
        draft.terms, kinds, levels, missing, unknown, tuple(sorted(marked)), ignored, ignore_extra
    ).checked()


def _kinds(table: Table, terms: Sequence[Term], columns: Sequence[str]) -> dict[str, Kind]:
    """Return what each column contains; a column whose parts are used as a date's is a date."""
    found, kinds = table.types(columns), dict[str, Kind]()
    dates = {
        factor.column
        for term in terms
        for factor in term.factors
        if factor.calls and FUNCTIONS[factor.calls[0][0]].of == "date"
    }
    for name in columns:
        kind = kind_of(found[name])
        if kind is None:
            raise InvalidDataTypeError(
                f"{table.source}: column {name!r} has type {found[name]}: neither numbers, text nor dates. Convert it, "
                "or leave it out."
            )
        kinds[name] = "date" if kind == "text" and name in dates else kind
    return kinds


class _LearnedRows(NamedTuple):
    """Which rows of the table will be learned: those without gaps that leave a row out, and with a positive weight.

    Attributes
    ----------
    required : tuple of str
        The columns of the features in which a gap leaves the row out.
    outside : dict of str to Kind
        The targets and the weights, if they decide about rows, and what they contain.
    weight_column : str or None
    source : str
        What the table is called in messages.
    """

    required: tuple[str, ...]
    outside: Mapping[str, Kind]
    weight_column: str | None
    source: str

    @classmethod
    def of(cls, table: Table, draft: Encoding, targets: Sequence[str], weight_column: str | None) -> "_LearnedRows":
        """Return what decides about the rows of a table: nothing if there are no categories, which need no rows."""
        if not draft.categories:
            return cls((), {}, None, table.source)
        outside = dict[str, Kind]()
        if draft.missing != "refuse":  # otherwise a gap in a target will stop the whole table
            for name in targets:
                kind = kind_of(table.types([name])[name])
                if name not in draft.columns and kind is not None and kind != "date":
                    outside[name] = kind
        if weight_column is not None and weight_column not in draft.columns:
            outside[weight_column] = "number"
        required = draft.columns if draft.missing == "drop" else ()
        return cls(required, outside, weight_column, table.source)

    def mask(self, batch: Any, raw: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Return which rows of a batch will be learned; `raw` has the columns of the features."""
        learned = np.ones(len(batch), dtype=bool)
        for name in self.required:
            learned &= ~raw[name].missing
        for name, kind in self.outside.items():
            column: Any = READERS[kind](batch.column(name), name, self.source)
            learned &= ~column.missing
            if name == self.weight_column:
                learned &= column.values != 0.0
        return learned


def _scanned(
    table: Table, draft: Encoding, references: Mapping[str, str], rows: _LearnedRows
) -> tuple[dict[str, tuple[str, ...]], Counter[str]]:
    """Read the rows once; return the levels of the categories and the number of gaps in each column."""
    gaps = Counter[str]()
    counts = {key: Counter[str]() for key in draft.categories}
    learned_counts = {key: Counter[str]() for key in draft.categories}
    fixed = {key: levels for key, factor in draft.categories.items() if (levels := _complete(factor))}
    needed = {factor.column for factor in draft.categories.values()} | {*rows.required}
    needed |= {name for name, kind in draft.kinds.items() if kind == "date"}  # dates that cannot be read show now
    read = [name for name in draft.columns if name in needed or draft.missing == "indicator"]
    kinds = arrow_kinds({**{name: draft.kinds[name] for name in read}, **rows.outside})

    for batch in table.batches([*read, *rows.outside], rows=ROWS, kinds=kinds) if read else ():
        raw = {name: READERS[draft.kinds[name]](batch.column(name), name, table.source) for name in read}
        for name, column in raw.items():
            gaps[name] += int(column.missing.sum())
        learned = rows.mask(batch, raw)
        for key, factor in draft.categories.items():
            labels = labels_of(factor, raw[factor.column])
            counts[key].update(_counted(labels, ~labels.missing))
            learned_counts[key].update(_counted(labels, ~labels.missing & learned))

    for key in references:
        if key not in counts:
            near = did_you_mean(key, counts) or " Leave it out."
            raise InvalidParameterError(f"{key!r} is not a category, so it has no reference level.{near}")
    chosen: dict[str, tuple[str, ...]] = {}
    for key, factor in draft.categories.items():
        if key not in fixed:
            _check_category(table.source, key, factor, counts[key])
        found = fixed.get(key) or tuple(name for name, count in counts[key].items() if count)
        learned_levels = [name for name in found if learned_counts[key][name]]
        reference = references.get(key)
        chosen[key] = _levels(table.source, key, draft, found, learned_levels, reference, gaps[factor.column])
    return chosen, gaps


def _counted(labels: Categories, rows: NDArray[np.bool_]) -> dict[str, int]:
    """Return how many of some rows have each label."""
    numbers = np.bincount(labels.codes[rows], minlength=len(labels.names))
    return dict(zip(labels.names, numbers.tolist(), strict=True))


def _complete(factor: TermFactor) -> tuple[str, ...]:
    """Return all levels that a category can have, if they are known beforehand: months, weekdays, hours."""
    inner = [name for name, _ in factor.calls if name != "category"]
    return FUNCTIONS[inner[-1]].levels if inner else ()


def _levels(
    source: str,
    key: str,
    draft: Encoding,
    found: Sequence[str],
    learned: Sequence[str],
    reference: str | None,
    n_gaps: int,
) -> tuple[str, ...]:
    """Return the levels of a category, the reference first: a level without rows would leave the others collinear."""
    refuse_reserved(source, key, found)
    if not found:
        raise InvalidDataError(f"{source}: column {key!r} has no values. Leave it out.")
    if reference is not None and reference not in found:
        near = did_you_mean(reference, found) or " Choose another."
        raise InvalidParameterError(f"{key!r} has no category {reference!r} to be its reference.{near}")
    if reference is not None and learned and reference not in learned:
        warnings.warn(
            f"{source} has no row with {key}={reference} that would be learned: its rows have missing values or weight "
            f"0. Until there is one, the coefficients of {key!r} are differences from a level without rows. Choose "
            "another reference if there will be none.",
            PrecisionWarning,
            stacklevel=5,
        )
    extra = {OTHER} if draft.unknown == "other" and not _complete(draft.categories[key]) else set()
    extra |= {MISSING} if draft.missing == "indicator" and n_gaps else set()
    first = reference or ordered("", learned or found)[1]
    return ordered(first, {*found, *extra} - {first})


def _check_category(source: str, key: str, factor: TermFactor, counts: Counter[str]) -> None:
    """Raise if a column looks like numbers with stray text, like dates, or like a key."""
    if not factor.calls:
        refuse_stray_text(key, counts)
        _refuse_dates(source, key, counts)
    if len(counts) > MOST_CATEGORIES:
        raise InvalidDataError(
            f"column {key!r} has {len(counts):,} distinct values; the limit for a category is {MOST_CATEGORIES}, so it "
            "looks like a name or a key. Leave it out."
        )


def _refuse_dates(source: str, name: str, counts: Counter[str]) -> None:
    """Raise if most values of a text column are dates, unless it is declared as a category: category(name)."""
    iso, other = ([value for value in counts if form.fullmatch(value)] for form in (ISO_DATE, OTHER_DATE))
    n_dates = sum(counts[value] for value in (*iso, *other))
    if 2 * n_dates <= counts.total():
        return
    example, say = (other[0], "Write them as 2024-01-14, and say") if other else (iso[0], "Say")
    raise InvalidDataError(
        f"{source}: {n_dates:,} of {counts.total():,} values of column {name!r} look like dates ({example!r}). "
        f"{say} which features they become, for example month({name}), weekday({name}) or days({name}, 2024-01-01); or "
        f"leave the column out. If its {len(counts):,} values are categories, use category({name})."
    )


def refuse_stray_text(name: str, counts: Mapping[str, int]) -> None:
    """Raise if nearly all values of a text column are numbers, but not all.

    Examples
    --------
    >>> from ridgeway.data import refuse_stray_text
    >>> refuse_stray_text("site", {"a": 4, "b": 5})
    >>> refuse_stray_text("age", {"41": 40, "n/k": 1})
    Traceback (most recent call last):
    ...
    ridgeway.errors.InvalidDataError: 1 of 41 values of 'age' is text ('n/k') ...
    """
    stray = [value for value, count in counts.items() if count and not is_number(value)]
    n_stray, n_values = sum(counts[value] for value in stray), sum(counts.values())
    if n_stray and n_values - n_stray >= NEARLY_ALL * n_values:
        raise InvalidDataError(
            f"{n_stray:,} of {n_values:,} values of {name!r} {'is' if n_stray == 1 else 'are'} text ({stray[0]!r}"
            f"{', …' if len(stray) > 1 else ''}) and the others are numbers. Correct or clear those values, or leave "
            "out the column."
        )
