"""What a model is about: its columns and its settings, fixed before the first row."""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from ridgeway.data._columns import index_columns
from ridgeway.errors import FeatureMismatchError, InvalidParameterError, InvalidStateError

InformationKind = Literal["square_root", "moments"]
WeightKind = Literal["precision", "frequency"]

SCHEMA_VERSION = 1
LONGEST_NAME = 200
BLOCK_ENTRIES = 2**22
FEWEST_ROWS = 1024
LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһгԛԝАВЕЗКМНОРСТУХІЈЅαοιρνυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdhrqwABE3KMHOPCTYXIJSaoipvuABEZHIKMNOPTYX",
)
"""Cyrillic and Greek letters that look like a Latin one."""


@dataclass(frozen=True)
class Schema:
    """The columns of a model and its settings.

    Attributes
    ----------
    features, targets : tuple of str
    single_target : bool
        Whether the target was given as one name, so that `y` has one axis.
    weight_column : str or None
    fit_intercept : bool
    information : {"square_root", "moments"}
    version : int
        Version of the schema; always 1 so far.
    weight_kind : {"precision", "frequency"}
        Whether a weight is the inverse of a row's noise variance, up to a factor, or the number of times that the row
        was observed.
    """

    features: tuple[str, ...]
    targets: tuple[str, ...]
    single_target: bool
    weight_column: str | None
    fit_intercept: bool
    information: InformationKind
    version: int = SCHEMA_VERSION
    weight_kind: WeightKind = "precision"

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that a data file must have: features, targets, weight."""
        return (*self.features, *self.targets, *([] if self.weight_column is None else [self.weight_column]))

    @property
    def width(self) -> int:
        """Number of features and targets."""
        return len(self.features) + len(self.targets)

    @property
    def block_rows(self) -> int:
        """Rows of a block. The number depends on the width only, and so do the bits of a sum over blocks."""
        return max(FEWEST_ROWS, BLOCK_ENTRIES // self.width)

    def to_bytes(self) -> bytes:
        """Return the schema as JSON; equal schemas give equal bytes."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, stored: bytes) -> "Schema":
        """Return the schema that `to_bytes` wrote, or raise `InvalidStateError`."""
        try:
            fields = json.loads(stored)
            schema = checked_schema(
                fields["features"],
                fields["targets"][0] if fields["single_target"] else fields["targets"],
                **{name: fields[name] for name in SETTINGS},
            )
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            raise InvalidStateError(f"the stored schema is invalid: {error}.") from error
        if schema.to_bytes() != stored:
            raise InvalidStateError("the stored schema has been changed: it is not written as Ridgeway writes it.")
        return schema


SETTINGS = ("weight_column", "fit_intercept", "information", "version", "weight_kind")


def checked_schema(
    features: Iterable[str],
    target: str | Iterable[str],
    *,
    weight_column: str | None,
    fit_intercept: bool,
    information: InformationKind,
    version: int = SCHEMA_VERSION,
    weight_kind: WeightKind = "precision",
) -> Schema:
    """Return a schema whose names cannot be confused, or raise `InvalidParameterError`."""
    if isinstance(features, str):
        raise InvalidParameterError(
            f"features must be a list of names; got the string {features!r}. Pass [{features!r}]."
        )
    single = isinstance(target, str)
    try:
        names = tuple(features), (target,) if isinstance(target, str) else tuple(target)
    except TypeError:
        raise InvalidParameterError(
            f"features and target must be names; got {features!r} and {target!r}. Pass lists of strings."
        ) from None
    schema = Schema(*names, single, weight_column, fit_intercept, information, version, weight_kind)
    _check_settings(schema)
    for name in schema.columns:
        _check_name(name)
    refuse_twice(schema.columns, InvalidParameterError)
    seen: dict[str, str] = {}
    for name in schema.columns:
        other = seen.setdefault(skeleton(name), name)
        if other != name:
            raise InvalidParameterError(
                f"the columns {other!a} and {name!a} look alike. Rename one, so that people can tell them apart."
            )
    return schema


def _check_settings(schema: Schema) -> None:
    if not schema.features or not schema.targets:
        raise InvalidParameterError("a schema needs at least one feature and one target. Name them.")
    if not isinstance(schema.fit_intercept, bool):
        raise InvalidParameterError(f"fit_intercept must be True or False; got {schema.fit_intercept!r}.")
    for name, choices in (("information", get_args(InformationKind)), ("weight_kind", get_args(WeightKind))):
        value = getattr(schema, name)
        if not isinstance(value, str) or value not in choices:
            raise InvalidParameterError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")
    if type(schema.version) is not int or schema.version != SCHEMA_VERSION:
        raise InvalidParameterError(
            f"the schema has version {schema.version!r}; this version of Ridgeway reads {SCHEMA_VERSION}. Upgrade."
        )


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.strip():
        raise InvalidParameterError(f"a column needs a name; got {name!r}. Name every feature and target.")
    if len(name) > LONGEST_NAME:
        raise InvalidParameterError(
            f"the column name {ascii(name)[:80]}… is {len(name)} characters long; the limit is {LONGEST_NAME}. "
            "Rename it."
        )
    if any(unicodedata.category(character)[0] == "C" for character in name):
        raise InvalidParameterError(f"the column name {name!a} contains control characters. Rename it.")


def skeleton(name: str) -> str:
    """Return what a name looks like: two names with the same skeleton are easily confused."""
    return unicodedata.normalize("NFKC", name).translate(LOOK_ALIKES).strip()


def refuse_twice(names: Sequence[str], error: type[ValueError], where: str = "") -> None:
    """Raise if a name occurs twice."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise error(f"{where}duplicate column names: {listed(twice)}. Rename or drop them.")


def check_columns(found: Sequence[str], needed: Sequence[str], where: str, *, extra: Sequence[str] | None = ()) -> None:
    """Raise `FeatureMismatchError` if columns are missing, duplicated or unknown.

    Parameters
    ----------
    found : the columns of a table
    needed : the columns that it must have
    where : what the table is called at the start of a message
    extra : further columns that it may have; None for any
    """
    refuse_twice(found, FeatureMismatchError, f"{where} has ")
    missing = [name for name in needed if name not in set(found)]
    unknown = [] if extra is None else [name for name in found if name not in {*needed, *extra}]
    if not missing and not unknown:
        return
    known = {skeleton(name).casefold(): name for name in missing}
    pairs = [(name, known.get(skeleton(name).casefold())) for name in found if name not in needed]
    alike = [f"{name!a} is not {other!a}" for name, other in pairs if other is not None]
    parts = [
        f"no column {listed(missing)}" if missing else "",
        f"unknown columns: {listed(unknown)}" if unknown else "",
    ]
    hint = f" ({'; '.join(alike)}, though they look alike)" if alike else ""
    refuse_index([name for name in index_columns(found) if name in unknown], where)
    exactly = "Rename, add or drop columns: the table must have exactly those of the model, in any order."
    remedy = "Rename or add columns." if extra is None else exactly
    raise FeatureMismatchError(f"{where} has {' and '.join(part for part in parts if part)}{hint}. {remedy}")


def refuse_index(index: Sequence[str], where: str) -> None:
    """Raise if there is a column that pandas adds to a file unless told not to."""
    if index:
        raise FeatureMismatchError(
            f"{where} has a column {index[0]!r}, which looks like the index of a pandas DataFrame. "
            "Write the file with index=False."
        )


def listed(names: Any) -> str:
    """Return the first few names of a list or an array, quoted, for a message."""
    shown = ", ".join(repr(str(name)) for name in names[:6])
    return shown if len(names) <= 6 else f"{shown}, … ({len(names)} in all)"
