"""From policies and weight matrices to the gains K_t of the updates ŵ_t = ŵ_{t−1} + K_t(y_t − X_tŵ_{t−1})."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ridgeway._checks import Array, nonnegative_array, real_array
from ridgeway.errors import InvalidParameterError
from ridgeway.linalg import Rows, checked_semidefinite, penalty_gain
from ridgeway.weights import Designed, DesignPolicy

WeightMatrices = Sequence[ArrayLike] | Array | Designed


def gains_from_weights(weights: WeightMatrices, designs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the gain K_t of each task, of shape (p, n_t)."""
    if isinstance(weights, Designed):
        return tuple(_of_policy(weights.design(), designs))
    entries = _checked_entries(weights, len(designs), designs[0].shape[1])
    return tuple(penalty_gain(Rows.of(design), entry) for entry, design in zip(entries, designs, strict=True))


def _of_policy(policy: DesignPolicy, designs: Sequence[Array]) -> Iterator[Array]:
    memory = None
    for design in designs:
        rows = Rows.of(design)
        yield policy.checked_gain(memory, rows)
        memory = policy.remember(memory, rows)


def _checked_entries(entries: Any, n_tasks: int, n_features: int) -> Iterator[Array]:
    listed = isinstance(entries, Sequence) and not isinstance(entries, str)
    if not listed and not (isinstance(entries, np.ndarray) and entries.ndim > 0):
        raise InvalidParameterError(
            "weights must be a policy with a gain, such as weights.Accumulated(), or have one entry per task; got "
            f"{entries!r}. For the same penalty in all tasks, pass weights.Isotropic(penalty)."
        )
    if len(entries) != n_tasks:
        raise InvalidParameterError(f"weights has {len(entries)} entries; pass {n_tasks}, one per task.")
    for t, entry in enumerate(entries):
        name = f"weights[{t}]"
        array = real_array(entry, name)
        if array.ndim == 2:
            yield checked_semidefinite(array, n_features, name)
        elif array.shape in ((), (n_features,)):
            yield nonnegative_array(array, name)  # a feature with an infinite penalty never moves
        else:
            raise InvalidParameterError(
                f"{name} has shape {array.shape}; pass a number, a diagonal of shape ({n_features},) or a matrix of "
                f"shape ({n_features}, {n_features})."
            )
