"""From columns to a design: one-hot by a recorded list of categories, standardised by recorded constants."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import LARGEST, is_number
from ridgeway.errors import InvalidDataError, InvalidDataTypeError, InvalidParameterError
from ridgeway.report._table import Numbers, Table, Text

__all__ = ["MOST_CATEGORIES", "Design", "Encoding"]

Array = NDArray[np.float64]

MOST_CATEGORIES = 200
"""A text column with more values than this is a name or a key, not a category."""
NEARLY_ALL = 0.9
"""A text column of which this share are numbers is a column of numbers with stray text in it."""


@dataclass(frozen=True)
class Encoding:
    """How columns become features: all that must be known to encode another file the same way. It holds no row.

    Attributes
    ----------
    target : str
    features : dict of str to tuple of str, or None
        Per column the categories of text, or None for numbers. The first category is the one the others are measured
        against; each other one is a column of zeros and ones.
    constant : tuple of str
        Columns that had one value only, and were left out.
    center, scale : dict of str to float
        What is subtracted from each encoded column and from the target, and what it is then divided by.
    """

    target: str
    features: dict[str, tuple[str, ...] | None]
    constant: tuple[str, ...] = ()
    center: dict[str, float] | None = None
    scale: dict[str, float] | None = None

    @classmethod
    def of(cls, table: Table, target: str, features: Sequence[str], kept: NDArray[np.bool_]) -> "Encoding":
        """Return the encoding whose categories are those of the rows kept."""
        recorded: dict[str, tuple[str, ...] | None] = {}
        constant = []
        for name in features:
            column = table.column(name)
            if isinstance(column, Text):
                _refuse_stray_text(name, column)
                used = np.unique(column.codes[kept])
                recorded[name] = tuple(column.categories[code] for code in used)
                if len(used) > MOST_CATEGORIES:
                    raise InvalidDataError(
                        f"column {name!r} is text with {len(used):,} different values, a name or a key rather than a "
                        f"category (the most is {MOST_CATEGORIES}). Leave it out: name the columns to use as features."
                    )
            else:
                recorded[name] = None
                used = np.unique(column.values[kept][:1]) if np.ptp(column.values[kept]) == 0.0 else np.arange(2)
            if len(used) == 1:
                constant.append(name)
                del recorded[name]
        if not recorded:
            raise InvalidDataError("no feature is left: every column has one value only. Name other features.")
        return cls(target, recorded, tuple(constant))

    @property
    def columns(self) -> list[str]:
        """Names of the encoded columns, such as `species=Gentoo`."""
        return [
            name if categories is None else f"{name}={category}"
            for name, categories in self.features.items()
            for category in (categories[1:] if categories is not None else ("",))
        ]

    @property
    def constants(self) -> tuple[Array, Array]:
        """What is subtracted from the encoded columns and, last, the target, and what they are then divided by."""
        names = [*self.columns, self.target]
        center, scale = (part or {} for part in (self.center, self.scale))
        return np.array([center[name] for name in names]), np.array([scale[name] for name in names])

    def with_constants(self, center: Array, scale: Array) -> "Encoding":
        """Return the encoding with constants for numbers and the target; zeros and ones stay what they are."""
        names = [*self.columns, self.target]
        zero_one = np.array([*(c is not None for c in self.features.values() for _ in (c or ("", ""))[1:]), False])
        center, scale = np.where(zero_one, 0.0, center), np.where(zero_one, 1.0, scale)
        return replace(
            self,
            center=dict(zip(names, map(float, center), strict=True)),
            scale=dict(zip(names, map(float, scale), strict=True)),
        )

    def as_json(self) -> str:
        """Return the encoding as JSON."""
        return json.dumps(vars(self), indent=2, ensure_ascii=False, allow_nan=False)

    @classmethod
    def read(cls, path: Path | str) -> "Encoding":
        """Return the encoding of an earlier report: its `encoding.json`."""
        try:
            found = json.loads(Path(path).read_text(encoding="utf-8"))
            features = {str(name): None if c is None else tuple(map(str, c)) for name, c in found["features"].items()}
            encoding = cls(
                str(found["target"]),
                features,
                tuple(map(str, found["constant"])),
                *({str(name): float(value) for name, value in found[part].items()} for part in ("center", "scale")),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidParameterError(
                f"'{path}' is not an encoding: {_reason(error)}. Pass the encoding.json of an earlier report."
            ) from error
        names = {*encoding.columns, encoding.target}
        constants = [part or {} for part in (encoding.center, encoding.scale)]
        values = np.array([value for part in constants for value in part.values()])
        if (
            any(set(part) != names for part in constants)
            or not np.isfinite(values).all()
            or min(constants[1].values()) <= 0
        ):
            raise InvalidParameterError(
                f"'{path}' is not an encoding: its constants do not fit its columns. Pass it as it was written."
            )
        return encoding


def _reason(error: Exception) -> str:
    """Say why a file is not an encoding."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}"
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "it is not JSON"
    return "its parts are of other kinds"


@dataclass(frozen=True, eq=False)
class Design:
    """Encoded rows, not yet standardised.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_features + 1)
        The features, and the target last.
    kept : ndarray of bool
        Which rows of the table they are.
    dropped : dict of str to int
        Per column, how many rows it made to be left out; a row counts at the first column that did.
    unknown : dict of str to int
        Per column, how many rows had a category that the encoding does not know.
    """

    rows: Array
    encoding: Encoding
    kept: NDArray[np.bool_]
    dropped: dict[str, int]
    unknown: dict[str, int]

    @classmethod
    def of(
        cls,
        table: Table,
        target: str,
        task_columns: Sequence[str],
        features: Sequence[str] | None,
        *,
        missing: str = "drop",
        unknown: str = "refuse",
        encoding: Encoding | None = None,
    ) -> "Design":
        """Encode a table, or raise with what is wrong with it."""
        y = _target(table, target)
        chosen = _features(table, target, task_columns, features, encoding)
        kept, dropped = _kept(table, [target, *task_columns, *chosen], missing)
        strange: dict[str, int] = {}
        if encoding is None:
            encoding = Encoding.of(table, target, chosen, kept)
        else:
            kept, strange = _known(table, encoding, kept, unknown)
        rows = _encoded(table, encoding, kept, y)
        if np.ptp(rows[:, -1]) == 0.0:
            raise InvalidDataError(
                f"the target {target!r} is constant: {rows[0, -1]:g} in every row. There is nothing to learn; choose "
                "another target."
            )
        return cls(rows, encoding, kept, dropped, strange)


def _target(table: Table, target: str) -> Numbers:
    column = table.column(target)
    if isinstance(column, Text):
        _refuse_stray_text(target, column)
        raise InvalidDataTypeError(
            f"the target {target!r} is text ({column.categories[0]!r}, …); a regression needs numbers. Choose another "
            "target, or convert it."
        )
    return column


def _refuse_stray_text(name: str, column: Text) -> None:
    """Raise where nearly all values of a text column are numbers, and not all."""
    counts = np.bincount(column.codes[~column.missing], minlength=len(column.categories))
    stray = np.array([not is_number(category) for category in column.categories], dtype=bool)
    n_stray, n_values = int(counts[stray].sum()), int(counts.sum())
    if n_stray and n_values - n_stray >= NEARLY_ALL * n_values:
        first = column.categories[int(np.flatnonzero(stray)[0])]
        raise InvalidDataError(
            f"{n_stray:,} of {n_values:,} values of {name!r} {'is' if n_stray == 1 else 'are'} text ({first!r}"
            f"{', …' if stray.sum() > 1 else ''}) and the others are numbers. Mend it, leave it empty, or "
            "drop the column."
        )


def _features(
    table: Table,
    target: str,
    task_columns: Sequence[str],
    features: Sequence[str] | None,
    encoding: Encoding | None,
) -> list[str]:
    """Return the feature columns: those named, or all but target and task."""
    if encoding is not None:
        if features is not None and list(features) != list(encoding.features):
            raise InvalidParameterError("the encoding has its own features. Pass one of the two.")
        if encoding.target != target:
            raise InvalidParameterError(f"the encoding is for the target {encoding.target!r}; got {target!r}.")
        features = list(encoding.features)
    if features is None:
        features = [name for name in table.names if name != target and name not in task_columns]
        _refuse_index(table, features)
    chosen = list(dict.fromkeys(features))
    if target in chosen:
        raise InvalidParameterError(f"{target!r} is the target; it cannot be a feature too. Leave it out of one.")
    if not chosen:
        raise InvalidDataError(f"{table.source} has no column beside the target and the task. Add a feature.")
    return chosen


def _refuse_index(table: Table, features: Sequence[str]) -> None:
    """Raise where nobody named the features and one of them is the index that pandas writes along."""
    for name in table.index:
        if name in features:
            what = f"column {name!r}" if name else "an unnamed first column"
            raise InvalidDataError(
                f"{table.source} has {what}: pandas' index, which numbers the rows and is no feature. Write the table "
                "with index=False, or name the columns to use as features (--features)."
            )


def _kept(table: Table, names: Sequence[str], missing: str) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """Return the rows without missing values, and how many each column cost."""
    kept = np.ones(table.n_rows, dtype=bool)
    dropped = {}
    for name in names:
        column = table.column(name)
        if isinstance(column, Numbers) and (np.abs(column.values) > LARGEST).any():
            raise InvalidDataError(
                f"column {name!r} has values that are infinite or whose squares overflow (the most is {LARGEST:g}). "
                "Drop them, or change the unit."
            )
        gone = kept & column.missing
        if gone.any():
            dropped[name] = int(gone.sum())
            kept &= ~column.missing
    if dropped and missing == "refuse":
        listed = ", ".join(f"{name!r} ({count:,})" for name, count in dropped.items())
        raise InvalidDataError(f"rows with missing values in: {listed}. Fill them, or leave those rows out (drop).")
    if not kept.any():
        worst = max(dropped, key=dropped.__getitem__)
        raise InvalidDataError(
            f"every row has a missing value, most of them in {worst!r}. Leave that column out: name the columns to use "
            "as features."
        )
    return kept, dropped


def _known(
    table: Table, encoding: Encoding, kept: NDArray[np.bool_], unknown: str
) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """Return the rows whose categories the encoding knows, or raise."""
    known, counts = kept.copy(), {}
    for name, categories in encoding.features.items():
        column = table.column(name)
        if isinstance(column, Text) != (categories is not None):
            raise InvalidDataTypeError(
                f"column {name!r} is {'text' if categories is None else 'numbers'}, unlike in the encoding. "
                "Convert it, or make a new encoding."
            )
        if isinstance(column, Text):
            new = [code for code, value in enumerate(column.categories) if value not in set(categories or ())]
            strange = known & np.isin(column.codes, new)
            if not strange.any():
                continue
            if unknown == "refuse":
                value = column.categories[column.codes[strange][0]]
                raise InvalidDataError(
                    f"column {name!r} has a category that the encoding does not know: {value!r} "
                    f"({int(strange.sum()):,} such rows in all). Make a new encoding, or leave those rows out "
                    "(unknown: ignore)."
                )
            counts[name] = int(strange.sum())
            known &= ~strange
    if not known.any():
        raise InvalidDataError("every row has a category that the encoding does not know. Make a new encoding.")
    return known, counts


def _encoded(table: Table, encoding: Encoding, kept: NDArray[np.bool_], y: Numbers) -> Array:
    rows = np.empty((int(kept.sum()), len(encoding.columns) + 1))
    place = 0
    for name, categories in encoding.features.items():
        column: Any = table.column(name)
        if categories is None:
            rows[:, place] = column.values[kept]
            place += 1
            continue
        codes = column.codes[kept]
        for category in categories[1:]:
            code = column.categories.index(category) if category in column.categories else -1
            rows[:, place] = codes == code
            place += 1
    rows[:, -1] = y.values[kept]
    return rows
