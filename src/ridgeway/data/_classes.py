"""Classes: what may be one, and which column of zeros and ones each has."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.data._columns import label_of
from ridgeway.errors import InvalidDataError

Label = bool | int | float | str
"""What a class may be called."""
Classes = tuple[Label, ...]
"""Labels of one type, in ascending order."""

KINDS: dict[type, str] = {bool: "bools", int: "whole numbers", float: "whole numbers", str: "text"}
"""What labels may be, by type. Whole numbers may come as floats."""


@dataclass(frozen=True, eq=False)
class CodedLabels:
    """The labels of some rows as targets.

    Attributes
    ----------
    classes : tuple of labels, all of one type, in ascending order
    positions : ndarray of shape (n_samples,)
        The place of each row's label among the classes.
    """

    classes: Classes
    positions: NDArray[np.intp]

    @property
    def columns(self) -> Array:
        """One column per class, of shape (n_samples, n_classes): 1 for its rows, 0 for all others."""
        columns = np.zeros((len(self.positions), len(self.classes)))
        columns[np.arange(len(columns)), self.positions] = 1.0
        return columns

    @property
    def found(self) -> Classes:
        """The classes that these rows have."""
        return tuple(self.classes[place] for place in np.unique(self.positions))

    @property
    def names(self) -> NDArray[np.object_]:
        """The name of each row's class, as `class_name` spells it."""
        return np.array([class_name(label) for label in self.classes], dtype=object)[self.positions]


def joined_classes(one: Classes, two: Classes, name: str = "y") -> Classes:
    """Return the classes of both in ascending order, with the type of the first, or raise if their types differ.

    Examples
    --------
    >>> from ridgeway.data import joined_classes
    >>> joined_classes((1, 3), (2.0, 3.0))
    (1, 2, 3)
    """
    if not one or not two:
        return one or two
    mine: Any = type(one[0])
    theirs = type(two[0])
    if KINDS[mine] != KINDS[theirs]:
        raise InvalidDataError(
            f"{name} has labels that are {KINDS[theirs]}, such as {two[0]!r}; the classes so far are {KINDS[mine]}, "
            f"such as {one[0]!r}. Convert the labels to the same type, or start a new model."
        )
    if mine is not str:
        refuse_rounded([*one, *two], name)
    return tuple(sorted({*one, *map(mine, two)}))


def refuse_rounded(labels: Sequence[Any], name: str) -> None:
    """Raise if two numbers could be rounded to the same label, as floats or as integers that do not fit in 64 bits."""
    limit = 53 if any(isinstance(label, float) for label in labels) else 63
    wrong = [label for label in labels if 2**limit <= abs(label) < inf]
    if wrong:
        why = "are rounded as floats" if limit == 53 else "may be rounded"
        raise InvalidDataError(
            f"{name} has whole-number labels of 2^{limit} or more, which {why}. Pass the labels as text."
        )


def class_name(label: Label) -> str:
    """Return how a class is called where its memory is kept apart: '1' and 1 differ, 1.0 and 1 do not.

    Examples
    --------
    >>> from ridgeway.data import class_name
    >>> class_name(1) == class_name(1.0), class_name(1) == class_name("1")
    (True, False)
    """
    return label_of(repr(label))


def listed_classes(classes: Iterable[Label]) -> str:
    """Return classes as text, the first few if there are many.

    Examples
    --------
    >>> listed_classes(range(8))
    '0, 1, 2, 3, 4, 5, …'
    """
    shown = [repr(label) for label in classes]
    return ", ".join([*shown[:6], *["…"] * (len(shown) > 6)])
