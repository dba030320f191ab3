"""How the columns of a table become features: terms, categories with their levels, and what to do with gaps."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal, get_args

from ridgeway.data._columns import Kind
from ridgeway.data._functions import FUNCTIONS
from ridgeway.data._terms import Term, TermFactor, column_term, parse_terms
from ridgeway.errors import InvalidDataTypeError, InvalidParameterError

MissingRule = Literal["refuse", "drop", "indicator"]
"""What to do with rows that have missing values; see `Encoding`."""
UnknownRule = Literal["refuse", "other", "widen"]
"""What to do with a category that is not in the list; see `Encoding`."""

OTHER, MISSING = "(other)", "(missing)"
"""The levels that stand for unknown categories and for missing ones."""
MOST_LEVELS = 1000
"""Limit on the levels of a category; each is a column of the state."""
LONGEST_INTEGER = 99
"""Digits of a level that is sorted by its value; longer ones are sorted as text."""


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become features. It is fixed before the first row and holds no rows.

    Attributes
    ----------
    terms : tuple of Term
        The features, in order. A category gives one column of zeros and ones for each level but the first.
    kinds : dict of str to {"number", "boolean", "text", "date"}
        The columns that the terms use, and what they contain.
    levels : dict of str to tuple of str
        The levels of each category, by factor. The first is the reference; the others are sorted.
    missing : {"refuse", "drop", "indicator"}
        What to do with rows that have missing values. "indicator" counts them as 0 and marks them in a column of their
        own; a category has the level `(missing)`.
    unknown : {"refuse", "other", "widen"}
        What to do with a category that is not in the list. "other" is a level of its own; "widen" adds the category.
    indicators : tuple of str
        The columns whose missing values are marked.
    ignored : tuple of str
        Columns that a table may have and that are not used.
    ignore_extra : bool
        Whether a table may have other columns too.

    Examples
    --------
    >>> from ridgeway.data import Encoding, parse_terms
    >>> encoding = Encoding(
    ...     parse_terms("site, log(size)"),
    ...     kinds={"site": "text", "size": "number"},
    ...     levels={"site": ("a", "b", "c")},
    ... )
    >>> encoding.features  # `a` is the reference level
    ('site=b', 'site=c', 'log(size)')
    """

    terms: tuple[Term, ...]
    kinds: Mapping[str, Kind]
    levels: Mapping[str, tuple[str, ...]]
    missing: MissingRule = "refuse"
    unknown: UnknownRule = "refuse"
    indicators: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    ignore_extra: bool = False

    @classmethod
    def plain(cls, columns: Iterable[str]) -> "Encoding":
        """Return the encoding of columns of numbers, used as they are."""
        names = tuple(columns)
        return cls(tuple(map(column_term, names)), dict.fromkeys(names, "number"), {})

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a table must have."""
        return tuple(self.kinds)

    @cached_property
    def is_plain(self) -> bool:
        """Whether the features are the columns of the table, as they are, and will be."""
        return self.features == self.columns and self.missing != "indicator"

    @cached_property
    def features(self) -> tuple[str, ...]:
        """The names of the features, for example `carrier=UA`."""
        named = [name for term in self.terms for name in self.names_of(term)]
        return (*named, *(f"{column} is missing" for column in self.indicators))

    def names_of(self, term: Term) -> Iterator[str]:
        """Yield the names of a term's features."""
        yield from map(":".join, product(*(self._columns_of(factor) for factor in term.factors)))

    def _columns_of(self, factor: TermFactor) -> list[str]:
        if self.is_category(factor):
            return self._levels_of(factor)[1:]
        if factor.calls and FUNCTIONS[factor.calls[-1][0]].gives == "columns":
            return [f"{factor}.{number}" for number in range(1, len(factor.calls[-1][1]))]
        return [str(factor) if factor.calls else factor.column]

    def _levels_of(self, factor: TermFactor) -> list[str]:
        inner = replace(factor, calls=tuple(call for call in factor.calls if call[0] != "category"))
        text = str(inner) if inner.calls else inner.column
        return [f"{text}={level}" for level in self.levels[str(factor)]]

    @property
    def references(self) -> list[str]:
        """What features of the reference levels would be called, for example `carrier=AA`."""
        return [self._levels_of(factor)[0] for factor in self.categories.values()]

    def is_category(self, factor: TermFactor) -> bool:
        """Return whether a factor is a category."""
        return self.kinds[factor.column] == "text" or any(name == "category" for name, _ in factor.calls)

    @cached_property
    def categories(self) -> dict[str, TermFactor]:
        """The factors that are categories, by what `levels` calls them."""
        factors = (factor for term in self.terms for factor in term.factors)
        return {str(factor): factor for factor in factors if self.is_category(factor)}

    @property
    def multiplied(self) -> set[str]:
        """The categories that are part of a product, by what `levels` calls them."""
        return {str(factor) for term in self.terms if len(term.factors) > 1 for factor in term.factors} & {*self.levels}

    def marked(self, columns: Iterable[str]) -> list[str]:
        """Return which columns need another one that marks missing values: those without a level for them."""
        single = [term.factors[0] for term in self.terms if len(term.factors) == 1]
        categories = {factor.column for factor in single if self.is_category(factor)}
        return [name for name in columns if self.kinds[name] != "text" and name not in categories]

    def features_of(self, key: str) -> dict[str, str]:
        """Return the features of a category that is a term of its own, by level; the reference has none."""
        names = self._columns_of(self.categories[key])
        return dict(zip(self.levels[key][1:], names, strict=True))

    def feature_of(self, key: str, level: str) -> str:
        """Return the name of the feature that stands for a level of a category."""
        return self.features_of(key)[level]

    def always_zero(self, empty: Collection[str]) -> list[bool]:
        """Return which features are 0 in every row if the sums of those in `empty` are 0.

        Those are features of zeros and ones among `empty`, and products with them.
        """
        factors = (factor for term in self.terms for factor in term.factors)
        hot = {name for factor in factors if self.is_category(factor) for name in self._columns_of(factor)}
        zero = hot & {*empty}
        found = [
            not zero.isdisjoint(names)
            for term in self.terms
            for names in product(*(self._columns_of(factor) for factor in term.factors))
        ]
        return [*found, *(name in empty for name in self.features[len(found) :])]

    def with_levels(self, new: Mapping[str, Iterable[str]]) -> "Encoding":
        """Return the encoding with more levels."""
        levels = dict(self.levels)
        for key, added in new.items():
            first, *others = levels[key]
            levels[key] = ordered(first, {*others, *added} - {first})
            if len(levels[key]) > MOST_LEVELS:
                raise InvalidParameterError(
                    f"category {key!r} would have {len(levels[key])} levels; the limit is {MOST_LEVELS}. Leave the "
                    "column out, or group its values."
                )
        return replace(self, levels=levels)

    def as_dict(self) -> dict[str, Any]:
        """Return the encoding as plain data."""
        return {
            "terms": [str(term) for term in self.terms],
            "kinds": [list(pair) for pair in self.kinds.items()],
            "levels": {key: list(levels) for key, levels in self.levels.items()},
            "missing": self.missing,
            "unknown": self.unknown,
            "indicators": list(self.indicators),
            "ignored": list(self.ignored),
            "ignore_extra": self.ignore_extra,
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Encoding":
        """Return the encoding that `as_dict` described, checked; raise `LookupError`, `TypeError` or `ValueError`."""
        encoding = cls(
            parse_terms(list(found["terms"])),
            dict(found["kinds"]),
            {str(key): tuple(map(str, levels)) for key, levels in found["levels"].items()},
            found["missing"],
            found["unknown"],
            tuple(map(str, found["indicators"])),
            tuple(map(str, found["ignored"])),
            found["ignore_extra"],
        )
        return encoding.checked()

    def checked(self) -> "Encoding":
        """Return the encoding itself, or raise if its parts do not fit together."""
        for name, choices in (("missing", MissingRule), ("unknown", UnknownRule)):
            if getattr(self, name) not in get_args(choices):
                raise InvalidParameterError(
                    f"{name} must be one of {', '.join(map(repr, get_args(choices)))}; got {getattr(self, name)!r}."
                )
        if self.ignore_extra not in (True, False) or not set(self.kinds.values()) <= {*get_args(Kind)}:
            raise InvalidParameterError("an encoding names a kind of column that does not exist. Use an intact copy.")
        for term in self.terms:
            for factor in term.factors:
                _check_factor(factor, self.kinds.get(factor.column))
        used = dict.fromkeys(factor.column for term in self.terms for factor in term.factors)
        if set(used) != set(self.kinds) or not set(self.indicators) <= set(self.kinds):
            raise InvalidParameterError(
                "an encoding has columns that its terms do not use. List exactly the columns that its terms use."
            )
        if set(self.levels) != set(self.categories):
            raise InvalidParameterError(
                "an encoding has levels without a category. List the levels of exactly the categories that its terms "
                "use."
            )
        for key, levels in self.levels.items():
            if not levels or ordered(levels[0], levels[1:]) != levels:
                raise InvalidParameterError(
                    f"the levels of category {key!r} are not sorted. List the reference, then the others in order."
                )
        return self


def _check_factor(factor: TermFactor, kind: str | None) -> None:
    """Raise if a function cannot be applied to what it is applied to."""
    gives = {"boolean": "number", "text": "category"}.get(str(kind), str(kind))
    column = factor.column
    for name, _ in factor.calls:
        function = FUNCTIONS[name]
        if gives != function.of and not (name == "category" and gives == "category"):
            raise InvalidDataTypeError(
                f"the term {str(factor)!r} applies {'^' if name == 'power' else name} to "
                f"{'several columns' if gives == 'columns' else f'a {gives}'}; it needs a {function.of}. Change it."
            )
        gives = function.gives
    if gives == "date":
        raise InvalidDataTypeError(
            f"column {column!r} is a date. Say how to use it, for example month({column}), weekday({column}), "
            f"hour({column}) or days({column}, 2013-01-01), or leave it out."
        )


def ordered(first: str, others: Iterable[str]) -> tuple[str, ...]:
    """Return levels in their order: the reference, the others sorted, and those that stand for other things last.

    Numbers are sorted by value: "9" comes before "10".

    Examples
    --------
    >>> from ridgeway.data import OTHER
    >>> from ridgeway.data._encoding import ordered
    >>> ordered("b", {OTHER, "a", "10", "9"})  # the reference first
    ('b', '9', '10', 'a', '(other)')
    """
    levels = set(others)
    special = [level for level in (OTHER, MISSING) if level in levels]
    return (first, *sorted(levels - {*special}, key=_place), *special)


def _place(level: str) -> tuple[bool, int, str]:
    """Return the key by which levels are sorted: integers by value, then text."""
    whole = level.isdecimal() and len(level) <= LONGEST_INTEGER
    return not whole, int(level) if whole else 0, level
