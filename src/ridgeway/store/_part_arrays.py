"""The arrays of a node: those of its information and, if they are kept, the fourth moments of a part."""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import numpy as np

from ridgeway.data import Schema
from ridgeway.errors import InvalidParameterError
from ridgeway.information import KINDS, ByTask, FourthMoments, Information
from ridgeway.store._connection import LONGEST_VALUE

ARRAYS = ("mean", "mean_low", "matrix", "peak")
FOURTH = "fourth"
"""The last array of a part, and the field of its header that says how many numbers it has."""
NAME_BYTES = 8192
"""Room for the names and counts of a node."""


def kept_by(schema: Schema) -> ByTask:
    """Return how the tasks of a file are kept, without any."""
    return ByTask(KINDS[schema.information], fourth_moments=schema.keeps_fourth_moments)


def array_sizes(schema: Schema, *, is_leaf: bool) -> dict[str, int]:
    """Return the numbers in each array of a node; only parts have fourth moments."""
    width = schema.width
    sizes = {name: width * (width + 1) // 2 if name == "matrix" else width for name in ARRAYS}
    if is_leaf and schema.keeps_fourth_moments:
        sizes[FOURTH] = FourthMoments.count(len(schema.features), len(schema.targets), centered=schema.fit_intercept)
    return sizes


def part_bytes(schema: Schema) -> int:
    """Return the bytes of a part's arrays."""
    return 8 * sum(array_sizes(schema, is_leaf=True).values())


def check_part_size(schema: Schema) -> None:
    """Raise `InvalidParameterError` if a part would be longer than a value of the file may be."""
    if schema.keeps_fourth_moments:
        FourthMoments.check_size(len(schema.features), len(schema.targets), centered=schema.fit_intercept)
    n_bytes = part_bytes(schema) + NAME_BYTES
    if schema.keep is not None and n_bytes > LONGEST_VALUE:
        raise InvalidParameterError(
            f"the part of a task with {schema.width} columns would have {n_bytes} bytes, beyond the limit of "
            f"{LONGEST_VALUE}. Name fewer features, or keep the total alone."
        )


def stored_information(schema: Schema, fields: Mapping[str, Any], numbers: memoryview) -> Information:
    """Return the information of a node from its header and its numbers.

    Raises `ValueError` if there are not as many as there should be, or `InvalidStateError`.
    """
    is_leaf = "task" in fields
    sizes, found = array_sizes(schema, is_leaf=is_leaf), np.frombuffer(numbers, "<f8")
    if len(found) != sum(sizes.values()) or fields.get(FOURTH, 0) != sizes.get(FOURTH, 0):
        raise ValueError(f"{len(found)} numbers instead of {sum(sizes.values())}")
    kind = kept_by(schema).part_kind if is_leaf else KINDS[schema.information]
    ends = [*accumulate(sizes.values())]
    arrays = {name: found[start:end] for name, start, end in zip(sizes, [0, *ends[:-1]], ends, strict=True)}
    made: Information = kind.from_parts(fields["counts"], arrays)
    return made
