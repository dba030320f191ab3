"""What the metrics accept."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway.errors import InvalidDataError, InvalidDataTypeError

Array = NDArray[np.float64]


def numbers(value: Any, name: str) -> Array:
    """Return a float64 array, or raise."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise InvalidDataError(f"{name} is ragged. Pass an array of numbers of one shape.") from None
    if array.dtype.kind not in "bifu":
        raise InvalidDataTypeError(f"{name} must hold real numbers; got {array.dtype}. Pass an array of floats.")
    return array.astype(np.float64)
