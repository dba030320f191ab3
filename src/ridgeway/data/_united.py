"""Two schemas into one: columns are matched by name, and categories are united."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ridgeway.data._encoding import Encoding
from ridgeway.data._keep import Keep
from ridgeway.data._rebased import Rebased, new_references, rebased
from ridgeway.data._schema import Schema, listed
from ridgeway.data._target_family import TargetFamily
from ridgeway.errors import InvalidDataError, InvalidParameterError, MergeError

WORDS = {
    "weight_column": "weight column",
    "weight_kind": "kind of weights",
    "fit_intercept": "intercept",
    "information": "kind of information",
}
RULES = {"missing": "rule for missing values", "unknown": "rule for unknown categories"}


def differences(one: Schema, two: Schema, names: tuple[str, str]) -> list[str]:
    """Return what keeps two schemas from being united; `names` are those of the files.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from ridgeway.data import checked_schema, differences
    >>> one = checked_schema(
    ...     ["x"], "y", weight_column=None, fit_intercept=True, information="moments"
    ... )
    >>> differences(one, one, ("a.rw", "b.rw"))
    []
    >>> differences(one, replace(one, features=("x", "z")), ("a.rw", "b.rw"))
    ["features only in b.rw: 'z'"]
    """
    found = [
        f"the {word} differs ({getattr(one, name)!r} and {getattr(two, name)!r})"
        for name, word in WORDS.items()
        if getattr(one, name) != getattr(two, name)
    ]
    if one.single_target != two.single_target:
        found.append("one names its target alone and the other in a list")
    mine, theirs = one.encoding, two.encoding
    found += [
        f"the {word} differs ({getattr(mine, name)!r} and {getattr(theirs, name)!r})"
        for name, word in RULES.items()
        if _stricter(mine, theirs, name) is None
    ]
    found += _only("features", map(str, mine.terms), map(str, theirs.terms), names)
    found += _only("targets", one.targets, two.targets, names)
    found += _families(one.family, two.family)
    if one.offset != two.offset:
        words = ["none" if schema.offset is None else schema.offset.meaning for schema in (one, two)]
        found.append(f"the offset differs ({words[0]}; {words[1]})")
    found += [
        f"column {name!r} is a {kind} in {names[0]} and a {theirs.kinds[name]} in {names[1]}"
        for name, kind in mine.kinds.items()
        if theirs.kinds.get(name, kind) != kind
    ]
    found += [
        f"column {name!r} was added with the past value {value} in {names[0]} and {two.past[name]} in {names[1]}"
        for name, value in one.past.items()
        if two.past.get(name, value) != value
    ]
    if (one.keep is None) != (two.keep is None):
        found.append(
            f"only {names[one.keep is None]} keeps its tasks, and a total cannot be taken apart (use --total-only to "
            "merge the totals alone)"
        )
    elif one.keeps_fourth_moments != two.keeps_fourth_moments:
        found.append(
            f"only {names[two.keeps_fourth_moments]} keeps fourth moments, and they cannot be had from parts (use "
            "--total-only to merge the totals alone)"
        )
    elif one.labels != two.labels:
        found.append(f"the cluster column differs ({listed(one.labels) or 'none'} and {listed(two.labels) or 'none'})")
    return found


def _families(one: TargetFamily | None, two: TargetFamily | None) -> list[str]:
    """Return how two families differ."""
    if one is None or two is None or one.name != two.name:
        words = ["gaussian" if family is None else family.name for family in (one, two)]
        return [] if one is two else [f"the family differs ({words[0]} and {words[1]})"]
    if one.memory != two.memory:
        return [f"the memory differs ({one.memory} and {two.memory})"]
    try:
        one.joined(two.classes, "the other file")
    except InvalidDataError as error:
        return [str(error).rstrip(".")]
    return []


def _stricter(mine: Encoding, theirs: Encoding, name: str) -> Any:
    """Return the rule for both, "refuse" if they differ in what they let in; None if they differ in the columns."""
    rules = {getattr(mine, name), getattr(theirs, name)}
    if len(rules) == 1:
        return rules.pop()
    return None if rules & {"other", "indicator"} else "refuse"


def _only(what: str, mine: Iterable[str], theirs: Iterable[str], names: tuple[str, str]) -> list[str]:
    """Return which names are in one file only, all of them."""
    one, two = list(mine), list(theirs)
    sides = ((names[0], one, set(two)), (names[1], two, set(one)))
    missing = [(file, [name for name in listed if name not in other]) for file, listed, other in sides]
    return [f"{what} only in {file}: {', '.join(map(repr, found))}" for file, found in missing if found]


def united(one: Schema, two: Schema) -> tuple[Schema, Rebased | None]:
    """Return the schema of both, in the order of the first, and how the second changes its reference levels.

    They must not have `differences`. Raises `MergeError` if a reference level cannot be changed.

    Examples
    --------
    >>> from ridgeway.data import Encoding, checked_schema, parse_terms, united
    >>> settings = dict(weight_column=None, fit_intercept=True, information="moments")
    >>> terms = parse_terms("site")
    >>> one, two = (
    ...     checked_schema(Encoding(terms, {"site": "text"}, levels), "y", **settings)
    ...     for levels in ({"site": ("a", "b")}, {"site": ("a", "c")})
    ... )
    >>> united(one, two)[0].features
    ('site=b', 'site=c')
    """
    mine, theirs = one.encoding, two.encoding
    encoding = replace(
        mine.with_levels({key: set(levels) for key, levels in theirs.levels.items()}),
        indicators=tuple(sorted({*mine.indicators, *theirs.indicators})),
        ignored=tuple(dict.fromkeys((*mine.ignored, *theirs.ignored))),
        ignore_extra=mine.ignore_extra or theirs.ignore_extra,
        missing=_stricter(mine, theirs, "missing"),
        unknown=_stricter(mine, theirs, "unknown"),
    )
    schema = replace(one.with_encoding(encoding), past={**two.past, **one.past}, keep=_kept(one, two))
    if two.family is not None:
        schema = schema.with_classes(two.family.classes, "the other file")
    before = two.with_encoding(theirs.with_levels({key: set(levels) for key, levels in mine.levels.items()}))
    references = new_references(before, schema)
    if not references:
        return schema, None
    changed = next(iter(references))
    if schema.keeps_fourth_moments:
        raise MergeError(
            f"cannot merge: {changed!r} has different reference levels, and fourth moments cannot be changed from "
            "one to the other. Start both files with the same reference, or merge the totals alone with --total-only."
        )
    try:
        return schema, rebased(before, references)
    except InvalidParameterError as error:
        raise MergeError(f"cannot merge: {error} Start both files with the same reference.") from error


def _kept(one: Schema, two: Schema) -> Keep | None:
    """Return what both keep: the smallest parts that either may have are allowed."""
    if one.keep is None or two.keep is None or one.keep == two.keep:
        return one.keep
    fewest = min(schema.keep.fewest(len(schema.features)) for schema in (one, two) if schema.keep is not None)
    return replace(one.keep, min_rows=fewest)
