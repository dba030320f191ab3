"""The column of a table whose values, or their logarithms, are added to the linear predictor."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.data._target_family import WITH_MEMORY, FamilyName
from ridgeway.errors import InvalidDataError, InvalidParameterError


@dataclass(frozen=True)
class OffsetColumn:
    """The column that a schema takes its offsets from.

    Attributes
    ----------
    name : str
    is_exposure : bool
        Whether the column holds exposures, such as years at risk: the offset is then their logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import OffsetColumn
    >>> OffsetColumn("years", is_exposure=True).offsets(np.array([1.0, 100.0]))
    array([0.        , 4.60517019])
    """

    name: str
    is_exposure: bool

    @property
    def word(self) -> Literal["offset", "exposure"]:
        """What the column is called in options and messages."""
        return "exposure" if self.is_exposure else "offset"

    @property
    def meaning(self) -> str:
        """What the column does, in words."""
        return f"the logarithm of {self.name!r}, an exposure" if self.is_exposure else f"column {self.name!r}"

    def check_family(self, name: FamilyName) -> None:
        """Raise if targets of a family have no linear predictor that an offset is added to, or are not counts."""
        families = ("poisson",) if self.is_exposure else WITH_MEMORY
        if name not in families:
            subtracted = name == "gaussian" and not self.is_exposure
            remedy = "Subtract the column from the target instead." if subtracted else "Leave it out."
            raise InvalidParameterError(
                f"an {self.word} column is for family {' and '.join(families)}; this one is {name}. {remedy}"
            )
        is_exposure: Any = self.is_exposure
        if type(is_exposure) is not bool:
            raise InvalidParameterError(f"an offset column is an exposure or not; got {is_exposure!r}.")

    def check(self, values: Array, source: str) -> None:
        """Raise if some values are not exposures, though they should be; `source` is what the table is called."""
        wrong = values[values <= 0.0] if self.is_exposure else values[:0]
        if len(wrong):
            raise InvalidDataError(
                f"{source}: column {self.name!r} is the exposure, and has at least "
                f"{counted(len(wrong), 'value')} that {'is' if len(wrong) == 1 else 'are'} not above 0, such as "
                f"{wrong[0]:g}. Correct them, or drop those rows."
            )

    def offsets(self, values: Array) -> Array:
        """Return what is added to the linear predictor of each row."""
        return np.log(values) if self.is_exposure else values

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"column": self.name, "is_exposure": self.is_exposure}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "OffsetColumn":
        """Return what `as_dict` wrote; raise `LookupError` or `TypeError` if it is something else."""
        return cls(fields["column"], fields["is_exposure"])


def checked_offset_column(offset: str | None, exposure: str | None) -> OffsetColumn | None:
    """Return the column of the offsets, given by its name under one of two options, or None if there is none.

    Examples
    --------
    >>> from ridgeway.data import checked_offset_column
    >>> checked_offset_column(None, "years")
    OffsetColumn(name='years', is_exposure=True)
    """
    if offset is not None and exposure is not None:
        raise InvalidParameterError(
            f"the logarithm of an exposure is an offset; got offset={offset!r} and exposure={exposure!r}. Name one of "
            "them."
        )
    if exposure is not None:
        return OffsetColumn(exposure, is_exposure=True)
    return None if offset is None else OffsetColumn(offset, is_exposure=False)
