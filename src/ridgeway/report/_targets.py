"""The target of a comparison: numbers, classes or counts, as it was asked for or as its column says."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ridgeway import data
from ridgeway._checks import Array
from ridgeway.data import Categories, FamilyName
from ridgeway.errors import InvalidDataError, InvalidDataTypeError, InvalidParameterError

ASKED = "it was asked for"
CLASSES = {"text": "it is text", "boolean": "it is true or false"}
"""Why a column has classes, by its kind."""
POOR = {"binomial": ("one class only", "multiclass"), "poisson": ("no count above 0", "gaussian")}
"""What a task lacks that a likelihood cannot learn first, and what to use instead."""
MOST_CLASSES = 200
"""A text column with more values looks like a name or a key."""


@dataclass(frozen=True, eq=False)
class TargetColumn:
    """A target as numbers.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        The numbers, or the position of each row's class; NaN if there is none.
    family : {"gaussian", "binomial", "poisson", "multiclass"}
    reason : str
        Why it was chosen.
    classes : tuple of str
        The names of the classes, in order; empty for numbers and counts.
    """

    values: Array
    family: FamilyName
    reason: str
    classes: tuple[str, ...] = ()

    def described(self) -> dict[str, Any]:
        """Return the family, why it was chosen, and the classes, as `MethodComparison` has them."""
        return {"family": self.family, "family_reason": self.reason, "classes": self.classes}

    def kept(self, rows: Any, name: str) -> "TargetColumn":
        """Return the target of some rows, with the classes that they have, or raise if there is only one."""
        values = self.values[rows]
        if not self.classes:
            return replace(self, values=values)
        present, places = np.unique(values, return_inverse=True)
        classes = tuple(self.classes[int(place)] for place in present)
        if len(classes) < 2:
            raise InvalidDataError(
                f"the target {name!r} is {classes[0]!r} in every row: there is nothing to learn. Choose another target."
            )
        if self.family == "binomial" and self.reason == ASKED and len(classes) > 2:
            raise InvalidDataError(
                f"the target {name!r} has {len(classes)} classes ({data.listed(classes)}); family 'binomial' is for "
                "two. Use 'multiclass'."
            )
        family: FamilyName = self.family if len(classes) == 2 else "multiclass"
        return replace(self, values=places.astype(np.float64), classes=classes, family=family)

    def poor(self, parts: list[Any]) -> int | None:
        """Return the first task that a likelihood cannot learn first, as in a random order; None if it can learn all.

        It needs both classes, or a count above 0.
        """
        if self.family not in ("binomial", "poisson"):
            return None
        says = np.ptp if self.family == "binomial" else np.max
        return next((i for i, part in enumerate(parts) if says(self.values[part]) == 0.0), None)

    def in_tasks(self, parts: list[Any], names: list[str]) -> "TargetColumn":
        """Return the target if every task can be learned first, or raise.

        Two classes that were not asked for as binomial are otherwise learned by least squares.
        """
        number = self.poor(parts)
        if number is None:
            return self
        if self.family == "binomial" and self.reason != ASKED:
            reason = f"{self.reason}, and task {names[number]!r} has one class only"
            return replace(self, family="multiclass", reason=reason)
        lacks, instead = POOR[self.family]
        raise InvalidDataError(
            f"task {names[number]!r} has {lacks} among its rows to learn from, so a likelihood cannot learn it first. "
            f"Choose another task column, or family {instead!r}."
        )


def target_column(
    column: Any, labels: Any, name: str, source: str, family: FamilyName | None, *, names_tasks: bool
) -> TargetColumn:
    """Return a target, or raise if it is not of its family.

    Parameters
    ----------
    column, labels : Arrow columns
        The target as the table has it, and as names.
    name, source : str
    family : {"gaussian", "binomial", "poisson", "multiclass"}, optional
        Inferred if None: text and bools are classes, and so is a target that names the tasks.
    names_tasks : bool
    """
    kind = data.kind_of(column.type)
    if family in ("gaussian", "poisson") and names_tasks:
        raise InvalidParameterError(
            f"{name!r} is the target and cannot name the task too, unless it is a class (family 'multiclass'). Choose "
            "another column."
        )
    if family is None and kind == "text":
        data.refuse_stray_text(name, Counter(column.drop_null().to_pylist()))
    reason = ("it names the tasks" if names_tasks else CLASSES.get(kind or "")) if family is None else ASKED
    if family in ("binomial", "multiclass") or (family is None and reason):
        return _classes(labels, name, family or "binomial", reason or ASKED)
    values = _numbers(column, name, source)
    if family == "poisson":
        _check_counts(values, name)
        return TargetColumn(values, "poisson", ASKED)
    return TargetColumn(values, "gaussian", "it is neither text nor boolean" if family is None else ASKED)


def _classes(column: Any, name: str, family: FamilyName, reason: str) -> TargetColumn:
    try:
        found: Categories = data.as_labels(column)
    except InvalidDataError as error:
        raise InvalidDataError(
            f"the target {name!r} has values that are not labels of classes. Classes are words, whole numbers, dates "
            "or bools; for other numbers use family 'gaussian'."
        ) from error
    if len(found.names) > MOST_CLASSES:
        raise InvalidDataError(
            f"the target {name!r} has {len(found.names):,} distinct values; the limit is {MOST_CLASSES} classes. "
            "Choose another target, or family 'gaussian' for numbers."
        )
    whole = all(label.removeprefix("-").isdecimal() for label in found.names)
    classes = sorted(found.names, key=int if whole else str)
    places = np.array([*(classes.index(label) for label in found.names), np.nan])
    return TargetColumn(places[found.codes], family, reason, tuple(classes))


def _numbers(column: Any, target: str, source: str) -> Array:
    """Return the target, or raise if it is not numeric."""
    if data.kind_of(column.type) == "text":
        counts = Counter(column.drop_null().to_pylist())
        data.refuse_stray_text(target, counts)
        raise InvalidDataTypeError(
            f"the target {target!r} is text ({data.listed(sorted(counts))}); this family needs numbers. Choose another "
            "target or family 'multiclass', or convert it."
        )
    return data.as_numbers(column, target, source)


def _check_counts(values: Array, name: str) -> None:
    seen = values[~np.isnan(values)]
    wrong = seen[(seen < 0.0) | (seen != np.round(seen))]
    if len(wrong):
        raise InvalidDataError(
            f"the target {name!r} has {wrong[0]:g}; counts are whole numbers ≥ 0. Use family 'gaussian' for other "
            "numbers."
        )
