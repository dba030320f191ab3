"""The encoding of a comparison: how columns become features, and the constants that standardise them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from ridgeway._checks import Array, one_of
from ridgeway.data import Encoding, FamilyName
from ridgeway.errors import InvalidParameterError


@dataclass(frozen=True)
class StandardizedEncoding:
    """How a table is encoded and standardised: everything needed to treat another table the same way. It has no rows.

    Attributes
    ----------
    encoding : Encoding
        How columns become features. A state file can use it: `store.create(path, features=found.encoding, …)`.
    target : str
    center, scale : dict of str to float
        The value subtracted from each feature and from the target, and the value it is then divided by. Columns of
        zeros and ones stay as they are, and so do classes and counts.
    constant : tuple of str
        Terms that were left out because they had only one value.
    family : {"gaussian", "binomial", "poisson", "multiclass"}, default "gaussian"
        What the target is.

    Examples
    --------
    >>> from ridgeway import report
    >>> table = {"site": list("aaaabbbb"), "x": range(8), "y": [1, 2, 3, 4, 4, 3, 2, 1]}
    >>> found = report.compare(table, target="y", task_column="site", methods=["gr"])
    >>> found.encoding.encoding.features, found.encoding.target
    (('x',), 'y')
    >>> again = report.compare(
    ...     table, target="y", task_column="site", methods=["gr"], encoding=found.encoding
    ... )
    >>> again.encoding.center == found.encoding.center
    True
    """

    encoding: Encoding
    target: str
    center: dict[str, float]
    scale: dict[str, float]
    constant: tuple[str, ...] = ()
    family: FamilyName = "gaussian"

    @classmethod
    def of(
        cls,
        encoding: Encoding,
        target: str,
        constant: tuple[str, ...],
        center: Array,
        scale: Array,
        family: FamilyName = "gaussian",
    ) -> "StandardizedEncoding":
        """Return the encoding with these constants for numbers and, last, the target."""
        numbers = [term for term in encoding.terms if not all(map(encoding.is_category, term.factors))]
        scaled = {
            *([target] if family == "gaussian" else []),
            *(name for term in numbers for name in encoding.names_of(term)),
        }
        pairs = list(zip((*encoding.features, target), center.tolist(), scale.tolist(), strict=True))
        return cls(
            encoding,
            target,
            {name: mean if name in scaled else 0.0 for name, mean, _ in pairs},
            {name: deviation if name in scaled else 1.0 for name, _, deviation in pairs},
            constant,
            family,
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The features and, last, the target."""
        return (*self.encoding.features, self.target)

    @property
    def constants(self) -> tuple[Array, Array]:
        """The center and the scale of the columns."""
        return np.array([self.center[n] for n in self.columns]), np.array([self.scale[n] for n in self.columns])

    def as_json(self) -> str:
        """Return the encoding as JSON."""
        fields = {**vars(self), "encoding": self.encoding.as_dict()}
        return json.dumps(fields, indent=2, ensure_ascii=False, allow_nan=False)

    @classmethod
    def read(cls, path: Path | str) -> "StandardizedEncoding":
        """Return an encoding from the `encoding.json` of a report."""
        try:
            found = json.loads(Path(path).read_text(encoding="utf-8"))
            standardized = cls(
                Encoding.from_dict(found["encoding"]),
                str(found["target"]),
                {name: float(value) for name, value in found["center"].items()},
                {name: float(value) for name, value in found["scale"].items()},
                tuple(map(str, found["constant"])),
                one_of(found["family"], get_args(FamilyName), "family"),
            )
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidParameterError(
                f"'{path}' is not an encoding: {_reason(error)}. Pass the encoding.json of a report."
            ) from error
        constants = (standardized.center, standardized.scale)
        fits = all({*part} == {*standardized.columns} and np.isfinite([*part.values()]).all() for part in constants)
        if not fits or min(standardized.scale.values()) <= 0:
            raise InvalidParameterError(
                f"'{path}' is not an encoding: its constants do not match its columns. Pass the file unchanged."
            )
        return standardized


def _reason(error: Exception) -> str:
    """Return why a file is not an encoding."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}"
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "it is not JSON"
    return "its values have the wrong types"
