"""What the target of a state file is, if it is not a number with noise: a class or a count."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.data._classes import Classes, CodedLabels, Label, joined_classes, listed_classes
from ridgeway.data._columns import EXACT, Kind, text_id
from ridgeway.errors import InvalidDataError, InvalidParameterError

FamilyName = Literal["gaussian", "binomial", "poisson", "multiclass"]
"""What a target is: a number, one of two classes, a count, or one of several classes."""
MemoryKind = Literal["quadratic", "cubic"]
"""What is kept of the log-likelihood of gone rows: its Taylor polynomial of order two or three."""

LABEL_KINDS: dict[type, Kind] = {str: "text", int: "number", bool: "boolean"}
MOST_CLASSES = 1000
"""Limit on the classes of a file; each is a column of the state."""
WITH_CLASSES = {"binomial": 2, "multiclass": MOST_CLASSES}
"""The families whose target is a class, and the most classes of a file."""
WITH_MEMORY = ("binomial", "poisson")
"""The families with a likelihood, whose past is kept as a polynomial."""


@dataclass(frozen=True)
class TargetFamily:
    """What the target is, and how the past of a likelihood is kept.

    Parameters
    ----------
    name : {"binomial", "poisson", "multiclass"}
    memory : {"quadratic", "cubic"}, or None for "multiclass", which is least squares
    classes : tuple of str, of int or of bool
        In ascending order. Those of "binomial" are two, once there are rows.

    Examples
    --------
    >>> from ridgeway.data import TargetFamily
    >>> family = TargetFamily("multiclass", classes=("a", "c"))
    >>> family.joined(["b"]).classes, family.joined(["b"]).n_targets
    (('a', 'b', 'c'), 3)
    """

    name: Literal["binomial", "poisson", "multiclass"]
    memory: MemoryKind | None = None
    classes: Classes = ()

    @property
    def has_classes(self) -> bool:
        """Whether the target is a class."""
        return self.name in WITH_CLASSES

    @property
    def n_targets(self) -> int:
        """The number of targets of the state: one per class of "multiclass", and one before there are any."""
        return max(len(self.classes), 1) if self.name == "multiclass" else 1

    @property
    def known_classes(self) -> Classes | None:
        """The classes that a state can have; None before there are enough to tell them apart."""
        return self.classes if len(self.classes) > (self.name == "binomial") else None

    @property
    def label_kind(self) -> Kind | None:
        """What the labels are; None before there are any."""
        return LABEL_KINDS[type(self.classes[0])] if self.classes else None

    def joined(self, found: Iterable[Label], name: str = "y") -> "TargetFamily":
        """Return it with the classes of some rows, or raise if they cannot be added."""
        whole = tuple(int(label) if isinstance(label, float) else label for label in found)
        classes = joined_classes(self.classes, tuple(sorted({*whole})), name)
        if self.name == "binomial" and len(classes) > 2:
            raise InvalidDataError(
                f"{name} has a third class: {listed_classes(classes)}. A file of family binomial has two. Correct the "
                "labels, or start a file of family multiclass."
            )
        if len(classes) > MOST_CLASSES:
            raise InvalidDataError(
                f"{name} has {len(classes)} classes; the limit is {MOST_CLASSES}. If it is a number, start a file of "
                "family gaussian."
            )
        return self if classes == self.classes else replace(self, classes=classes)

    def ids(self, positions: NDArray[np.intp]) -> Array:
        """Return the numbers that stand for classes in digests, given their places."""
        return np.array([label_id(label) for label in self.classes])[positions]

    def labels(self, ids: Array) -> NDArray[Any]:
        """Return the classes that numbers stand for."""
        return np.asarray(np.array(self.classes)[self._positions(ids)])

    def targets(self, y: Array) -> tuple[Array, Classes | None]:
        """Return the targets of the state for y as the ledger knows it, of shape (n, 1), and the classes.

        Raises `InvalidDataError` if a file of family binomial knows one class only.
        """
        if not self.has_classes:
            return y, None
        if self.name == "binomial" and len(self.classes) < 2:
            raise InvalidDataError(
                f"the target has only one class so far, {self.classes[0]!r}; two are needed. Absorb these rows in one "
                "task with rows of the other class."
            )
        columns = CodedLabels(self.classes, self._positions(y[:, 0])).columns
        return (columns[:, 1:] if self.name == "binomial" else columns), self.classes

    def _positions(self, ids: Array) -> NDArray[np.intp]:
        known = np.array([label_id(label) for label in self.classes])
        order = np.argsort(known)
        return np.asarray(order[np.searchsorted(known[order], ids)])

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"name": self.name, "memory": self.memory, "classes": list(self.classes)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "TargetFamily":
        """Return what `as_dict` wrote; raise `LookupError` or `TypeError` if it is something else."""
        return cls(fields["name"], fields["memory"], tuple(fields["classes"]))

    def check(self) -> None:
        """Raise `InvalidParameterError` if its parts do not fit together."""
        memories = get_args(MemoryKind) if self.name in WITH_MEMORY else (None,)
        if self.name not in (*WITH_MEMORY, *WITH_CLASSES) or self.memory not in memories:
            raise InvalidParameterError(f"there is no family {self.name!r} with memory {self.memory!r}.")
        kinds = {type(label) for label in self.classes}
        most = WITH_CLASSES.get(self.name, 0)
        if len(kinds) > 1 or not kinds <= LABEL_KINDS.keys() or len(self.classes) > most:
            raise InvalidParameterError(
                f"family {self.name} takes at most {most} classes, all of one type: text, whole numbers or bools; got "
                f"{listed_classes(self.classes)}."
            )
        listed: Any = self.classes
        if any(not one < two for one, two in pairwise(listed)):
            raise InvalidParameterError(f"the classes are not in order: {listed_classes(self.classes)}.")
        if not all(isinstance(label, str) or abs(label) < EXACT for label in self.classes):
            raise InvalidParameterError("whole numbers that are classes must be below 2⁵³. Use text.")
        if len({label_id(label) for label in self.classes}) < len(self.classes):
            raise InvalidParameterError("two of the classes cannot be told apart by their digests. Rename one.")


def label_id(label: Label) -> float:
    """Return the number that stands for a class in digests."""
    return text_id(label) if isinstance(label, str) else float(label)


def checked_family(name: FamilyName, memory: MemoryKind | None, classes: Iterable[Label] | None) -> TargetFamily | None:
    """Return what the target is, None for numbers, or raise `InvalidParameterError`.

    Parameters
    ----------
    name : {"gaussian", "binomial", "poisson", "multiclass"}
    memory : {"quadratic", "cubic"}, optional
    classes : classes that are known beforehand, or None

    Examples
    --------
    >>> from ridgeway.data import checked_family
    >>> checked_family("poisson", None, None)
    TargetFamily(name='poisson', memory='quadratic', classes=())
    >>> checked_family("gaussian", None, None) is None  # numbers need no family
    True
    """
    if name not in get_args(FamilyName):
        words = ", ".join(map(repr, get_args(FamilyName)))
        raise InvalidParameterError(f"family must be one of {words}; got {name!r}.")
    if memory is not None and name not in WITH_MEMORY:
        raise InvalidParameterError(f"memory={memory!r} is for the families binomial and poisson. Leave it out.")
    if memory not in (None, *get_args(MemoryKind)):
        raise InvalidParameterError(f"memory must be 'quadratic' or 'cubic'; got {memory!r}.")
    if classes is not None and name not in WITH_CLASSES:
        raise InvalidParameterError(f"classes are for the families binomial and multiclass; this one is {name}.")
    if name == "gaussian":
        return None
    family = TargetFamily(name, (memory or "quadratic") if name in WITH_MEMORY else None)
    try:
        family = family if classes is None else family.joined(classes, "classes")
    except (InvalidDataError, KeyError, TypeError, ValueError):
        raise InvalidParameterError(
            f"classes must be labels of one type, two for family binomial; got {classes!r}."
        ) from None
    family.check()
    return family
