"""What a state file is about: its columns and the settings of its model, fixed when it is made."""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ridgeway.data._columns import index_columns
from ridgeway.errors import DamagedStoreError, FeatureMismatchError, InvalidParameterError

KINDS = ("square_root", "moments")
LONGEST_NAME = 200
LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһгԛԝАВЕЗКМНОРСТУХІЈЅαοιρνυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdhrqwABE3KMHOPCTYXIJSaoipvuABEZHIKMNOPTYX",
)
"""Cyrillic and Greek letters that are drawn as a Latin one."""


@dataclass(frozen=True)
class Schema:
    """The columns of a state file and the settings of its model.

    Attributes
    ----------
    features, targets : tuple of str
    single_target : whether the target was named alone, so that `y` has one axis
    weight_column : str or None
    fit_intercept : bool
    information : {"square_root", "moments"}
    """

    features: tuple[str, ...]
    targets: tuple[str, ...]
    single_target: bool
    weight_column: str | None
    fit_intercept: bool
    information: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that a data file must have: features, targets, weight."""
        return (*self.features, *self.targets, *([] if self.weight_column is None else [self.weight_column]))

    @property
    def width(self) -> int:
        """Features and targets."""
        return len(self.features) + len(self.targets)

    def to_bytes(self) -> bytes:
        """Return the one way to write this schema."""
        return canonical(asdict(self))

    @classmethod
    def from_bytes(cls, stored: bytes) -> "Schema":
        """Return the schema that `to_bytes` wrote, or raise `DamagedStoreError`."""
        fields = parsed(stored)
        try:
            schema = checked_schema(
                fields["features"],
                fields["targets"][0] if fields["single_target"] else fields["targets"],
                weight_column=fields["weight_column"],
                fit_intercept=fields["fit_intercept"],
                information=fields["information"],
            )
        except (KeyError, LookupError, TypeError, InvalidParameterError) as error:
            raise DamagedStoreError(f"the schema of the state file makes no sense: {error}. {RESTORE}") from error
        if schema.to_bytes() != stored:
            raise DamagedStoreError(f"the schema of the state file is not as it was written. {RESTORE}")
        return schema


RESTORE = "Bring back a copy, or try `ridgeway check --restore-previous`."


def canonical(value: Any) -> bytes:
    """Return JSON as bytes, always the same for the same value."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()


def parsed(stored: bytes) -> dict[str, Any]:
    """Return what `canonical` wrote of a dictionary, or raise `DamagedStoreError`."""
    try:
        value = json.loads(stored)
    except (ValueError, RecursionError) as error:
        raise DamagedStoreError(f"the state file holds a note that cannot be read. {RESTORE}") from error
    if not isinstance(value, dict):
        raise DamagedStoreError(f"the state file holds a note of the wrong kind. {RESTORE}")
    return value


def checked_schema(
    features: Iterable[str],
    target: str | Iterable[str],
    *,
    weight_column: str | None,
    fit_intercept: bool,
    information: str,
) -> Schema:
    """Return a schema whose names can be told apart, or raise `InvalidParameterError`."""
    if isinstance(features, str):
        raise InvalidParameterError(
            f"features must be a list of names; got the text {features!r}. Pass [{features!r}]."
        )
    single = isinstance(target, str)
    names = tuple(features), (target,) if isinstance(target, str) else tuple(target)
    schema = Schema(*names, single, weight_column, fit_intercept, information)
    if not names[0] or not names[1]:
        raise InvalidParameterError("a state file needs at least one feature and one target. Name them.")
    if not isinstance(fit_intercept, bool):
        raise InvalidParameterError(f"fit_intercept must be True or False; got {fit_intercept!r}.")
    if information not in KINDS:
        raise InvalidParameterError(f"information must be one of {', '.join(map(repr, KINDS))}; got {information!r}.")
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


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.strip():
        raise InvalidParameterError(f"a column needs a name; got {name!r}. Name every feature and target.")
    if len(name) > LONGEST_NAME or any(unicodedata.category(letter)[0] == "C" for letter in name):
        raise InvalidParameterError(
            f"the column name {ascii(name)[:80]} has control characters or more than {LONGEST_NAME} letters. Rename it."
        )


def skeleton(name: str) -> str:
    """Return what a name looks like: two names with the same skeleton are easily taken for each other."""
    return unicodedata.normalize("NFKC", name).translate(LOOK_ALIKES).strip()


def refuse_twice(names: Sequence[str], error: type[ValueError], where: str = "") -> None:
    """Raise where a name occurs twice."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise error(f"{where}duplicate column names: {listed(twice)}. Rename or drop them.")


def check_columns(found: Sequence[str], needed: Sequence[str], where: str, *, extra: Sequence[str] | None = ()) -> None:
    """Raise `FeatureMismatchError` where columns are missing, there twice, or not known.

    Parameters
    ----------
    found : the columns of a table
    needed : those that it must have
    where : what the table is, to begin the message with
    extra : those that it may have besides; None for any
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
        f"columns that the state file does not know: {listed(unknown)}" if unknown else "",
    ]
    hint = f" ({'; '.join(alike)}, though they look alike)" if alike else ""
    refuse_index([name for name in index_columns(found) if name in unknown], where)
    exactly = "Rename, add or drop columns so that the table has exactly those of the state file, in any order."
    remedy = "Rename or add columns." if extra is None else exactly
    raise FeatureMismatchError(f"{where} has {' and '.join(part for part in parts if part)}{hint}. {remedy}")


def refuse_index(index: Sequence[str], where: str) -> None:
    """Raise where there is a column that is the index that pandas writes unless it is told not to."""
    if index:
        raise FeatureMismatchError(
            f"{where} has a column {index[0]!r}, which looks like the index of a pandas DataFrame. "
            "Write the file with index=False."
        )


def listed(names: Sequence[str]) -> str:
    """Return names for a message: the first few, quoted."""
    shown = ", ".join(repr(name) for name in names[:6])
    return shown if len(names) <= 6 else f"{shown}, … ({len(names)} in all)"
