"""From a schema to a wider one: which column is which, and what the new ones were in every past row."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._text import did_you_mean
from ridgeway.data._columns import Kind
from ridgeway.data._encoder import labels_of, one_row, raw_value, source_value
from ridgeway.data._encoding import MISSING, OTHER, Encoding
from ridgeway.data._functions import FUNCTIONS
from ridgeway.data._schema import Schema
from ridgeway.data._terms import Term, TermFactor, parse_terms
from ridgeway.errors import InvalidParameterError


class Widening(NamedTuple):
    """How the columns of a state become those of a wider one.

    Attributes
    ----------
    features, targets : ndarray of int
        For each column its place among the old ones, or −1 if it is new.
    past : ndarray of float, one per feature and target
        What a new column was in every past row.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Widening
    >>> wider = Widening(np.array([0, -1]), np.array([0]), np.array([0.0, 7.0, 0.0]))
    >>> wider.rows(np.array([[1.0], [2.0]]))  # the new column was 7 in every past row
    array([[1., 7.], [2., 7.]])
    """

    features: NDArray[np.intp]
    targets: NDArray[np.intp]
    past: Array

    def rows(self, X: Array) -> Array:
        """Return rows of the old features with the new ones."""
        new = np.tile(self.past[: len(self.features)], (len(X), 1))
        new[:, self.features >= 0] = X[:, self.features[self.features >= 0]]
        return new


def widening(old: Schema, new: Schema) -> Widening:
    """Return how a schema becomes a wider one, or raise if a new feature was not constant in the past.

    Examples
    --------
    >>> from ridgeway.data import checked_schema, widened_schema, widening
    >>> old = checked_schema(
    ...     ["x"], "y", weight_column=None, fit_intercept=True, information="moments"
    ... )
    >>> found = widening(old, widened_schema(old, {}, {"z": 7.0}, {}))
    >>> found.features, found.past  # x, z and y
    (array([ 0, -1]), array([0., 7., 0.]))
    """
    features, targets = (
        np.array([{name: place for place, name in enumerate(before)}.get(name, -1) for name in after], dtype=np.intp)
        for before, after in ((old.features, new.features), (old.target_columns, new.target_columns))
    )
    known, past = set(old.encoding.columns), list[float]()
    names = iter(new.features)
    for term in new.encoding.terms:
        for constants in product(*(_constants(new, factor, known, old.encoding) for factor in term.factors)):
            past.append(_product(next(names), constants, old))
    past += [0.0] * len(new.encoding.indicators)
    past += [float(new.past.get(str(name), 0.0)) for name in new.target_columns]
    return Widening(features, targets, np.array(past))


def _constants(new: Schema, factor: TermFactor, known: set[str], old: Encoding) -> list[float | None]:
    """Return what each column of a factor was in every past row; None if it varied."""
    if factor.column not in known:
        return list(one_row(new.encoding, factor, new.past[factor.column]))
    names = list(new.encoding.names_of(Term((factor,))))
    before = old.levels.get(str(factor))
    if before is None:
        return [None] * len(names)
    return [None if level in before else 0.0 for level in new.encoding.levels[str(factor)][1:]]


def _product(name: str, constants: tuple[float | None, ...], old: Schema) -> float:
    """Return what a feature was in every past row; 0 for one that the old schema has."""
    if name in old.features or 0.0 in constants:
        return 0.0
    values = [value for value in constants if value is not None]
    if len(values) < len(constants):
        raise InvalidParameterError(
            f"the feature {name!r} was not constant in the past, so the rows that are gone cannot be completed. Give "
            "the new column the past value 0, or leave out the product."
        )
    return float(np.prod(values))


def widened_schema(
    schema: Schema,
    categories: Mapping[str, Iterable[str]],
    features: Mapping[str, float | str],
    targets: Mapping[str, float],
) -> Schema:
    """Return a schema with more categories, features or targets, or raise `InvalidParameterError`.

    Features are terms of new columns, and targets are new columns, with the value that they had in every past row.

    Examples
    --------
    >>> from ridgeway.data import checked_schema, widened_schema
    >>> old = checked_schema(
    ...     ["x"], "y", weight_column=None, fit_intercept=True, information="moments"
    ... )
    >>> new = widened_schema(old, {}, {"z": 7.0}, {})
    >>> new.features, new.past
    (('x', 'z'), {'z': 7.0})
    """
    encoding, past = schema.encoding, dict(schema.past)
    if targets and schema.family is not None:
        raise InvalidParameterError(
            f"a file of family {schema.family.name} has one target. Create another file for a second target."
        )
    for key, levels in categories.items():
        encoding = _with_categories(encoding, key, list(levels))
    for text, value in features.items():
        encoding = _with_term(encoding, text, value, past)
    for name, value in targets.items():
        if name in (*schema.columns, *encoding.columns):
            raise InvalidParameterError(f"there is a column {name!r} already. Give the new target another name.")
        past[name] = source_value("number", name, value)
    names = (*schema.targets, *targets)
    if encoding == schema.encoding and not targets:
        raise InvalidParameterError("nothing to add. Name a category, a feature or a target.")
    single = schema.single_target and not targets
    return replace(schema, targets=names, single_target=single, past=past).with_encoding(encoding)


def _with_categories(encoding: Encoding, key: str, levels: list[str]) -> Encoding:
    if key not in encoding.levels:
        known = ", ".join(map(repr, encoding.levels)) or "none"
        near = did_you_mean(key, encoding.levels)
        raise InvalidParameterError(f"{key!r} is not a category of the model.{near} Its categories are: {known}.")
    for level in levels:
        if level in encoding.levels[key]:
            raise InvalidParameterError(f"{key!r} has the category {level!r} already. Leave it out.")
        if level in (OTHER, MISSING) or not level.strip():
            raise InvalidParameterError(f"{level!r} cannot be a category of {key!r}. Choose another name.")
    return encoding.with_levels({key: levels})


def _with_term(encoding: Encoding, text: str, value: float | str, past: dict[str, float | str]) -> Encoding:
    (term,) = parse_terms([text])
    if term in encoding.terms:
        raise InvalidParameterError(f"the model has the feature {text!r} already. Leave it out.")
    new = dict.fromkeys(factor.column for factor in term.factors if factor.column not in encoding.kinds)
    if len(new) != 1:
        raise InvalidParameterError(
            f"the feature {text!r} must have one new column, whose past value is known; it has {len(new)}. The rows "
            "are gone, so functions of old columns cannot be added."
        )
    (column,) = new
    first = next(factor for factor in term.factors if factor.column == column)
    takes_date = bool(first.calls) and FUNCTIONS[first.calls[0][0]].of == "date"
    kind: Kind = "date" if takes_date else "text" if isinstance(value, str) else "number"
    past[column] = value if isinstance(value, str) else float(value)
    source_value(kind, column, past[column])  # raises if the value is not of that kind
    grown = replace(encoding, terms=(*encoding.terms, term), kinds={**encoding.kinds, column: kind})
    levels = {
        key: (labels_of(factor, raw_value(kind, column, value)).names[0],)
        for key, factor in grown.categories.items()
        if key not in encoding.levels
    }
    return replace(grown, levels={**encoding.levels, **levels}).checked()
