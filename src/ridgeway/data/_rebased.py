"""Other reference levels for the categories of a schema: the features become linear functions of the old ones."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ridgeway._checks import Array
from ridgeway._text import did_you_mean
from ridgeway.data._encoding import MISSING, OTHER, ordered
from ridgeway.data._schema import Schema
from ridgeway.errors import InvalidParameterError


class Rebased(NamedTuple):
    """A schema, the same with other reference levels, and how its features become those of `after`: x·matrix + shift.

    Examples
    --------
    >>> from ridgeway.data import Encoding, checked_schema, parse_terms, rebased
    >>> encoding = Encoding(parse_terms("site"), {"site": "text"}, {"site": ("a", "b")})
    >>> schema = checked_schema(
    ...     encoding, "y", weight_column=None, fit_intercept=True, information="moments"
    ... )
    >>> found = rebased(schema, {"site": "b"})
    >>> found.before.features, found.after.features  # site=a is 1 − site=b
    (('site=b',), ('site=a',))
    >>> found.matrix, found.shift
    (array([[-1.]]), array([1.]))
    """

    before: Schema
    after: Schema
    matrix: Array
    shift: Array


def rebased(schema: Schema, references: Mapping[str, str]) -> Rebased:
    """Return a schema with other reference levels, or raise `InvalidParameterError`; its state needs an intercept.

    Parameters
    ----------
    schema : Schema
    references : dict of str to str
        The new reference level of each category that gets another one.

    Examples
    --------
    >>> from ridgeway.data import Encoding, checked_schema, parse_terms, rebased
    >>> levels = {"site": ("a", "b", "c")}
    >>> encoding = Encoding(parse_terms("site"), {"site": "text"}, levels)
    >>> schema = checked_schema(
    ...     encoding, "y", weight_column=None, fit_intercept=True, information="moments"
    ... )
    >>> rebased(schema, {"site": "b"}).after.encoding.levels
    {'site': ('b', 'a', 'c')}
    """
    encoding = schema.encoding
    levels = dict(encoding.levels)
    for key, level in references.items():
        _check_level(encoding.levels, key, level)
        if key in encoding.multiplied:
            raise InvalidParameterError(
                f"the reference level of {key!r} cannot be changed, because {key!r} is part of a product."
            )
        levels[key] = ordered(level, {*levels[key]} - {level})
    after = schema.with_encoding(replace(encoding, levels=levels))

    # A feature that both have is itself. The old reference level is 1 minus all others of its category.
    old_places = {name: place for place, name in enumerate(schema.features)}
    matrix = np.zeros((len(schema.features), len(after.features)))
    shift = np.zeros(len(after.features))
    for column, name in enumerate(after.features):
        if name in old_places:
            matrix[old_places[name], column] = 1.0
    for key in references:
        column = after.features.index(after.encoding.feature_of(key, encoding.levels[key][0]))
        others = [old_places[name] for name in encoding.features_of(key).values()]
        matrix[others, column] = -1.0
        shift[column] = 1.0
    return Rebased(schema, after, matrix, shift)


def _check_level(levels: Mapping[str, Collection[str]], key: str, level: str) -> None:
    """Raise unless a category can have a level as its reference."""
    if key not in levels:
        near = did_you_mean(key, levels)
        known = ", ".join(map(repr, levels)) or "none"
        raise InvalidParameterError(f"{key!r} is not a category of the model.{near} Its categories are: {known}.")
    first, *others = levels[key]
    if level == first:
        raise InvalidParameterError(f"{level!r} is the reference level of {key!r} already. There is nothing to change.")
    if level in (OTHER, MISSING):
        raise InvalidParameterError(
            f"{level!r} stands for several values of {key!r} and cannot be its reference level. Choose another."
        )
    if level not in others:
        near = did_you_mean(level, others) or " Choose another."
        raise InvalidParameterError(f"{key!r} has no category {level!r} to be its reference.{near}")


def new_references(before: Schema, after: Schema) -> dict[str, str]:
    """Return the reference level of each category of `before` that has another one in `after`.

    Examples
    --------
    >>> from ridgeway.data import Encoding, checked_schema, new_references, parse_terms
    >>> from ridgeway.data import rebased
    >>> encoding = Encoding(parse_terms("site"), {"site": "text"}, {"site": ("a", "b")})
    >>> schema = checked_schema(
    ...     encoding, "y", weight_column=None, fit_intercept=True, information="moments"
    ... )
    >>> new_references(schema, rebased(schema, {"site": "b"}).after)
    {'site': 'b'}
    """
    return {
        key: levels[0]
        for key, levels in after.encoding.levels.items()
        if before.encoding.levels.get(key, levels)[0] != levels[0]
    }
