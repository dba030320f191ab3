"""The design matrices of a problem, checked."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ridgeway._checks import Array, real_array
from ridgeway.errors import InvalidDataError, InvalidDataTypeError


def design_matrices(designs: Iterable[ArrayLike]) -> tuple[Array, ...]:
    """Return the designs as read-only matrices with the same number of columns, or raise."""
    try:
        listed = list(designs)
    except TypeError:
        raise InvalidDataTypeError(f"designs must be a list of matrices, one per task; got {designs!r}.") from None
    matrices = tuple(real_array(design, f"designs[{t}]") for t, design in enumerate(listed))
    if not matrices:
        raise InvalidDataError("designs is empty. Pass at least one task.")
    for t, matrix in enumerate(matrices):
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise InvalidDataError(
                f"designs[{t}] has shape {matrix.shape}; it must be (n_samples, n_features), with at least one of "
                "each. Leave out empty tasks."
            )
        if matrix.shape[1] != matrices[0].shape[1]:
            raise InvalidDataError(
                f"designs[{t}] has {matrix.shape[1]} features and designs[0] has {matrices[0].shape[1]}. "
                "Give every task the same columns."
            )
        if not np.isfinite(matrix).all():
            raise InvalidDataError(f"designs[{t}] contains NaN or infinity. Impute or drop those rows.")
    return matrices
