"""How columns become features: one-hot by a recorded list of categories, standardised by recorded constants."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.data._columns import Categories, Kind, is_number
from ridgeway.data._encoding import Encoding, ordered
from ridgeway.data._terms import column_term
from ridgeway.data._typed import TypedTable
from ridgeway.errors import InvalidDataError, InvalidParameterError

MOST_CATEGORIES = 200
"""A text column with more distinct values than this is treated as a name or a key, not a category."""
NEARLY_ALL = 0.9
"""If at least this share of a text column are numbers, the rest is taken for stray text in a column of numbers."""


@dataclass(frozen=True)
class ReportEncoding:
    """How columns become features: everything needed to encode another table the same way. It holds no rows.

    Attributes
    ----------
    target : str
    features : dict of str to tuple of str, or None
        The categories of each text column; None for a numeric column. The first category is the reference level; each
        of the others becomes a column of zeros and ones.
    constant : tuple of str
        Columns that were left out because they had only one value.
    center, scale : dict of str to float
        The value subtracted from each encoded column and from the target, and the value it is then divided by.
    """

    target: str
    features: dict[str, tuple[str, ...] | None]
    constant: tuple[str, ...] = ()
    center: dict[str, float] | None = None
    scale: dict[str, float] | None = None

    @classmethod
    def of(cls, table: TypedTable, target: str, features: Sequence[str], kept: NDArray[np.bool_]) -> "ReportEncoding":
        """Return the encoding whose categories are those found in the rows kept."""
        recorded: dict[str, tuple[str, ...] | None] = {}
        constant = []
        for name in features:
            column = table.column(name)
            categories = None
            if isinstance(column, Categories):
                refuse_stray_text(name, column)
                categories = tuple(column.names[code] for code in np.unique(column.codes[kept]))
                if len(categories) > MOST_CATEGORIES:
                    raise InvalidDataError(
                        f"column {name!r} is text with {len(categories):,} distinct values; the limit for a category "
                        f"is {MOST_CATEGORIES}, so it looks like a name or a key. Leave it out by naming the features."
                    )
            if np.ptp((column.codes if isinstance(column, Categories) else column.values)[kept]) == 0:
                constant.append(name)
            else:
                recorded[name] = categories
        if not recorded:
            raise InvalidDataError("no features are left: every column has only one value. Choose other features.")
        return cls(target, recorded, tuple(constant))

    @property
    def columns(self) -> list[str]:
        """Names of the encoded columns, for example `species=Gentoo`."""
        return [
            name if categories is None else f"{name}={category}"
            for name, categories in self.features.items()
            for category in (categories[1:] if categories is not None else ("",))
        ]

    @property
    def encoding(self) -> Encoding:
        """The same for a state file, which keeps numbers in their units."""
        kinds: dict[str, Kind] = {name: "number" if c is None else "text" for name, c in self.features.items()}
        levels = {name: ordered(c[0], c[1:]) for name, c in self.features.items() if c is not None}
        ignored = self.constant
        return Encoding(tuple(map(column_term, self.features)), kinds, levels, "drop", ignored=ignored).checked()

    @property
    def constants(self) -> tuple[Array, Array]:
        """The center and scale of the encoded columns and, last, of the target."""
        names = [*self.columns, self.target]
        center, scale = (part or {} for part in (self.center, self.scale))
        return np.array([center[name] for name in names]), np.array([scale[name] for name in names])

    def with_constants(self, center: Array, scale: Array) -> "ReportEncoding":
        """Return the encoding with constants for numbers and the target; columns of zeros and ones stay as they are."""
        names = [*self.columns, self.target]
        zero_one = np.array([*(c is not None for c in self.features.values() for _ in (c or ("", ""))[1:]), False])
        subtracted = dict(zip(names, np.where(zero_one, 0.0, center).tolist(), strict=True))
        divided_by = dict(zip(names, np.where(zero_one, 1.0, scale).tolist(), strict=True))
        return replace(self, center=subtracted, scale=divided_by)

    def as_json(self) -> str:
        """Return the encoding as JSON."""
        return json.dumps(vars(self), indent=2, ensure_ascii=False, allow_nan=False)

    @classmethod
    def read(cls, path: Path | str) -> "ReportEncoding":
        """Return an encoding from the `encoding.json` of a report."""
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
                f"'{path}' is not an encoding: {_reason(error)}. Pass the encoding.json of a report."
            ) from error
        names = {*encoding.columns, encoding.target}
        constants = [part or {} for part in (encoding.center, encoding.scale)]
        fits = all(set(part) == names and np.isfinite([*part.values()]).all() for part in constants)
        if not fits or min(constants[1].values()) <= 0:
            raise InvalidParameterError(
                f"'{path}' is not an encoding: its constants do not match its columns. Pass the file unchanged."
            )
        return encoding


def _reason(error: Exception) -> str:
    """Return why a file is not an encoding."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}"
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "it is not JSON"
    return "its values have the wrong types"


def refuse_stray_text(name: str, column: Categories) -> None:
    """Raise if nearly all values of a text column are numbers, but not all."""
    counts = np.bincount(column.codes[~column.missing], minlength=len(column.names))
    stray = np.array([not is_number(category) for category in column.names], dtype=bool)
    n_stray, n_values = int(counts[stray].sum()), int(counts.sum())
    if n_stray and n_values - n_stray >= NEARLY_ALL * n_values:
        first = column.names[int(np.flatnonzero(stray)[0])]
        raise InvalidDataError(
            f"{n_stray:,} of {n_values:,} values of {name!r} {'is' if n_stray == 1 else 'are'} text ({first!r}"
            f"{', …' if stray.sum() > 1 else ''}) and the others are numbers. Correct or clear those values, or leave "
            "out the column."
        )
