"""What a model is about: its columns and its settings, fixed before the first row."""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from ridgeway._text import did_you_mean
from ridgeway.data._classes import Label
from ridgeway.data._columns import index_columns
from ridgeway.data._encoding import Encoding
from ridgeway.data._keep import Keep
from ridgeway.data._offset_column import OffsetColumn
from ridgeway.data._target_family import TargetFamily
from ridgeway.errors import FeatureMismatchError, InvalidParameterError, InvalidStateError

InformationKind = Literal["square_root", "moments"]
"""How a state file keeps its information: as a factor, or as co-moments, which are faster but lose more digits."""
WeightKind = Literal["precision", "frequency"]
"""Whether a weight is the inverse of a row's noise variance, or the number of times that the row was observed."""

LONGEST_NAME = 200
BLOCK_ENTRIES = 2**21
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
        The columns of the model. The features are those of `encoding`.
    single_target : bool
        Whether the target was given as one name, so that `y` has one axis.
    weight_column : str or None
    fit_intercept : bool
    information : {"square_root", "moments"}
    version : int
        1 for the schema that a file was made with, 2 for the next, ….
    weight_kind : {"precision", "frequency"}
        Whether a weight is the inverse of a row's noise variance, up to a factor, or the number of times that the row
        was observed.
    raw : Encoding or None
        How the columns of a table become the features; None if they are columns of numbers, used as they are.
    past : dict of str to float or str
        Columns that were added later, with the value that each of them had in all rows before.
    keep : Keep or None
        What is kept of each task; None for the total alone.
    family : TargetFamily or None
        What the target is, if it is a class or a count; None for numbers with Gaussian noise.
    offset : OffsetColumn or None
        The column whose values, or their logarithms, are added to the linear predictor of a likelihood.

    Examples
    --------
    >>> from ridgeway.data import Schema
    >>> schema = Schema(("x",), ("y",), True, None, True, "moments")
    >>> Schema.from_bytes(schema.to_bytes()) == schema
    True
    >>> schema.columns
    ('x', 'y')
    """

    features: tuple[str, ...]
    targets: tuple[str, ...]
    single_target: bool
    weight_column: str | None
    fit_intercept: bool
    information: InformationKind
    version: int = 1
    weight_kind: WeightKind = "precision"
    raw: Encoding | None = None
    past: Mapping[str, float | str] = field(default_factory=dict)
    keep: Keep | None = None
    family: TargetFamily | None = None
    offset: OffsetColumn | None = None

    @property
    def encoding(self) -> Encoding:
        """How the columns of a table become the features."""
        return Encoding.plain(self.features) if self.raw is None else self.raw

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that a task's digest is made of: those that the features come from, the targets, the offset."""
        columns = (*(self.features if self.raw is None else self.raw.columns), *self.targets)
        return columns if self.offset is None else (*columns, self.offset.name)

    @property
    def offset_columns(self) -> tuple[str, ...]:
        """The column of the offsets, if there is one."""
        return () if self.offset is None else (self.offset.name,)

    @property
    def takes_arrays(self) -> bool:
        """Whether rows in memory are used as they are; otherwise they become a table first."""
        return self.raw is None and self.offset is None

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that a data file must have: those of the features, targets, offset, weight."""
        return (*self.sources, *([] if self.weight_column is None else [self.weight_column]))

    @property
    def labels(self) -> tuple[str, ...]:
        """The column that divides tasks into clusters, if there is one; it may also be one of `columns`."""
        return () if self.keep is None or self.keep.cluster_column is None else (self.keep.cluster_column,)

    @property
    def keeps_fourth_moments(self) -> bool:
        """Whether the parts of tasks have fourth moments."""
        return self.keep is not None and self.keep.fourth_moments

    @property
    def width(self) -> int:
        """Number of features and targets."""
        return len(self.features) + len(self.target_columns)

    @property
    def target_columns(self) -> tuple[Label, ...]:
        """The targets of the state: those of the schema, or its classes, if it has any and each is a target."""
        several = self.family is not None and self.family.name == "multiclass" and self.family.classes
        return several or self.targets

    @property
    def block_rows(self) -> int:
        """Rows of a block. The number depends on the width only, and so do the bits of a sum over blocks."""
        return max(FEWEST_ROWS, BLOCK_ENTRIES // (len(self.features) + len(self.targets)))

    def to_bytes(self) -> bytes:
        """Return the schema as JSON; equal schemas give equal bytes."""
        fields: dict[str, Any] = {"features": self.features, "targets": self.targets}
        fields |= {name: getattr(self, name) for name in ("single_target", *SETTINGS)}
        fields |= ({} if self.raw is None else {"encoding": self.raw.as_dict()}) | (
            {"past": dict(self.past)} if self.past else {}
        )
        fields |= {} if self.keep is None else {"keep": self.keep.as_dict()}
        fields |= {} if self.family is None else {"family": self.family.as_dict()}
        fields |= {} if self.offset is None else {"offset": self.offset.as_dict()}
        return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()

    def as_dict(self) -> dict[str, Any]:
        """Return the schema as plain data; the encoding is left out if it uses columns of numbers as they are."""
        return dict(json.loads(self.to_bytes()))

    def with_encoding(self, encoding: Encoding) -> "Schema":
        """Return the schema with another encoding, its names checked."""
        raw = None if self.raw is None and encoding == Encoding.plain(encoding.features) else encoding
        return checked(replace(self, features=encoding.features, raw=raw))

    def with_classes(self, found: Iterable[Label], name: str) -> "Schema":
        """Return the schema with the classes of some rows, or raise if they cannot be added; `name` is the column."""
        family = None if self.family is None else self.family.joined(found, name)
        return self if family == self.family else checked(replace(self, family=family))

    @classmethod
    def from_bytes(cls, stored: bytes) -> "Schema":
        """Return the schema that `to_bytes` wrote, or raise `InvalidStateError`."""
        try:
            fields = json.loads(stored)
            features, targets = tuple(fields["features"]), tuple(fields["targets"])
            raw = Encoding.from_dict(fields["encoding"]) if "encoding" in fields else None
            settings = {name: fields[name] for name in ("single_target", *SETTINGS)}
            keep = Keep.from_dict(fields["keep"]) if "keep" in fields else None
            family = TargetFamily.from_dict(fields["family"]) if "family" in fields else None
            offset = OffsetColumn.from_dict(fields["offset"]) if "offset" in fields else None
            parts: dict[str, Any] = {"raw": raw, "past": fields.get("past", {}), "keep": keep}
            parts |= {"family": family, "offset": offset}
            schema = checked(cls(features, targets, **settings, **parts))
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise InvalidStateError(f"the stored schema is invalid: {error}.") from error
        if schema.to_bytes() != stored:
            raise InvalidStateError("the stored schema has been changed: it is not written as Ridgeway writes it.")
        return schema


SETTINGS = ("weight_column", "fit_intercept", "information", "version", "weight_kind")


def checked_schema(
    features: Iterable[str] | Encoding,
    target: str | Iterable[str],
    *,
    weight_column: str | None,
    fit_intercept: bool,
    information: InformationKind,
    weight_kind: WeightKind = "precision",
    keep: Keep | None = None,
    family: TargetFamily | None = None,
    offset: OffsetColumn | None = None,
) -> Schema:
    """Return the first schema of a model whose names cannot be confused, or raise `InvalidParameterError`.

    Features are the names of columns of numbers, or an encoding.

    Examples
    --------
    >>> from ridgeway.data import checked_schema
    >>> settings = dict(weight_column=None, fit_intercept=True, information="moments")
    >>> checked_schema(["x"], "y", **settings).columns
    ('x', 'y')
    >>> checked_schema(["x", "y"], "y", **settings)
    Traceback (most recent call last):
    ...
    ridgeway.errors.InvalidParameterError: duplicate column names: 'y'. ...
    """
    if isinstance(features, str):
        raise InvalidParameterError(
            f"features must be a list of names; got the string {features!r}. Pass [{features!r}]."
        )
    single = isinstance(target, str)
    try:
        targets = (target,) if isinstance(target, str) else tuple(target)
        names = features.features if isinstance(features, Encoding) else tuple(features)
    except TypeError:
        raise InvalidParameterError(
            f"features and target must be names; got {features!r} and {target!r}. Pass lists of strings."
        ) from None
    raw = None
    if isinstance(features, Encoding):
        of_rows = (
            weight_column,
            None if keep is None else keep.cluster_column,
            None if offset is None else offset.name,
        )
        used = (*targets, *of_rows)
        ignored = tuple(name for name in features.ignored if name not in used)
        raw = replace(features, ignored=ignored)
    settings = (fit_intercept, information, 1, weight_kind, raw)
    return checked(Schema(names, targets, single, weight_column, *settings, keep=keep, family=family, offset=offset))


def checked(schema: Schema) -> Schema:
    """Return the schema itself, or raise `InvalidParameterError` if its parts do not fit together."""
    _check_settings(schema)
    if schema.raw is not None:
        if schema.features != schema.raw.features:
            raise InvalidParameterError("the features are not those of the encoding. List exactly those, in order.")
        refuse_twice(schema.features, InvalidParameterError)
    references = () if schema.raw is None else schema.raw.references
    names = dict.fromkeys((*schema.features, *schema.columns, *schema.labels, *references))
    for name in names:
        _check_name(name)
    refuse_twice(schema.columns, InvalidParameterError)
    seen: dict[str, str] = {}
    for name in names:
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
    version: Any = schema.version
    if type(version) is not int or version < 1:
        raise InvalidParameterError(f"the schema has version {schema.version!r}; it must be 1 or more.")
    if schema.single_target not in (True, False) or (schema.single_target and len(schema.targets) > 1):
        raise InvalidParameterError(f"a single target has one name; got {listed(schema.targets)}. Name one.")
    if schema.keep is not None:
        schema.keep.check()
    if schema.family is not None:
        _check_family(schema, schema.family)
    if schema.offset is not None:
        schema.offset.check_family("gaussian" if schema.family is None else schema.family.name)
    known, past = {*schema.sources}, dict(schema.past)
    if not all(name in known and type(value) in (float, str) for name, value in past.items()):
        raise InvalidParameterError("the schema has past values of columns that it does not have. Use an intact copy.")


def _check_family(schema: Schema, family: TargetFamily) -> None:
    """Raise if what the target is does not fit the rest."""
    family.check()
    if not schema.single_target:
        raise InvalidParameterError(f"family {family.name} has one target; got a list. Name one, as a string.")
    if schema.keep is not None:
        raise InvalidParameterError(f"a file of family {family.name} keeps the total alone. Leave out keep.")
    if family.memory is not None and schema.information != "square_root":
        raise InvalidParameterError(f"information is for least squares, not for family {family.name}. Leave it out.")
    names = [label for label in family.classes if isinstance(label, str)]
    for name in names:
        _check_name(name)
    if len({*map(skeleton, names)}) < len(names):
        raise InvalidParameterError(f"two of the classes look alike: {listed(names)}. Rename one.")


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.strip():
        raise InvalidParameterError(f"a column needs a name; got {name!r}. Name every feature, target and class.")
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

    Examples
    --------
    >>> from ridgeway.data import check_columns
    >>> check_columns(["b", "a"], ["a", "b"], "the table")  # any order will do
    >>> check_columns(["a"], ["a", "b"], "the table")
    Traceback (most recent call last):
    ...
    ridgeway.errors.FeatureMismatchError: the table has no column 'b'. ...
    """
    refuse_twice(found, FeatureMismatchError, f"{where} has ")
    present = {*found}
    expected = {*needed}
    allowed = present if extra is None else {*needed, *extra}
    missing = [name for name in needed if name not in present]
    unknown = [name for name in found if name not in allowed]
    if not missing and not unknown:
        return
    known = {skeleton(name).casefold(): name for name in missing}
    pairs = [(name, known.get(skeleton(name).casefold())) for name in found if name not in expected]
    alike = [f"{name!a} is not {other!a}" for name, other in pairs if other is not None]
    parts = [
        f"no column {listed(missing)}" if missing else "",
        f"unknown columns: {listed(unknown)}" if unknown else "",
    ]
    hint = f" ({'; '.join(alike)}, though they look alike)" if alike else ""
    refuse_index([name for name in index_columns(found) if name not in allowed], where)
    exactly = "Rename, add or drop columns: the table must have exactly those of the model, in any order."
    remedy = f"It has: {listed(found)}. Rename or add columns." if extra is None else exactly
    near = did_you_mean(missing[0], found) if extra is None and not alike else ""
    raise FeatureMismatchError(f"{where} has {' and '.join(part for part in parts if part)}{hint}.{near} {remedy}")


def refuse_index(index: Sequence[str], where: str) -> None:
    """Raise if there is a column that pandas adds to a file unless told not to."""
    if index:
        raise FeatureMismatchError(
            f"{where} has a column {index[0]!r}, which looks like the index of a pandas DataFrame. "
            "Write the file with index=False."
        )


def listed(names: Any) -> str:
    """Return the first few names of a list or an array, quoted, for a message.

    Examples
    --------
    >>> from ridgeway.data import listed
    >>> listed("ab"), listed("abcdefgh")
    ("'a', 'b'", "'a', 'b', 'c', 'd', 'e', 'f', … (8 in all)")
    """
    shown = ", ".join(repr(str(name)) for name in names[:6])
    return shown if len(names) <= 6 else f"{shown}, … ({len(names)} in all)"
