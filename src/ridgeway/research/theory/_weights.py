"""Weight matrices in whatever form they come, turned into the gains of the updates that they define."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ridgeway.errors import InvalidParameterError
from ridgeway.linalg import Rows, minimum_norm_gain, semidefinite_root
from ridgeway.research.theory._checks import Array, nonnegative, real_array, semidefinite
from ridgeway.weights import Designed, DesignPolicy

WeightMatrices = Sequence[ArrayLike] | Array | Designed


@dataclass(frozen=True, eq=False)
class WeightRoot:
    """H_t as a root: `rows`ᵀ`rows` = H_t on the features that are `free` to move, ∞ on the others."""

    rows: Array
    free: np.ndarray[tuple[int], np.dtype[np.bool_]]

    def gain(self, design: Array) -> Array:
        """Return K_t of shape (p, n_t), with ŵ_t = ŵ_{t−1} + K_t(y_t − X_tŵ_{t−1}).

        K_t = (X_tᵀX_t + n_tH_t)⁻¹X_tᵀ, and where that inverse does not exist its limit for H_t + δI, δ → 0⁺.
        """
        gain = np.zeros(design.shape[::-1])
        if self.free.any():
            root_n = np.sqrt(design.shape[0])
            gain[self.free] = minimum_norm_gain(design[:, self.free] / root_n, self.rows) / root_n
        return gain


def gains_from_weights(weight_matrices: WeightMatrices, designs: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return the gain K_t of each task."""
    if isinstance(weight_matrices, Designed):
        return tuple(_policy_gains(weight_matrices.design(), designs))
    roots = _roots(weight_matrices, len(designs), designs[0].shape[1])
    return tuple(root.gain(design) for root, design in zip(roots, designs, strict=True))


def _policy_gains(policy: DesignPolicy, designs: tuple[Array, ...]) -> Iterator[Array]:
    memory = None
    for design in designs:
        rows = Rows.of(design)
        yield policy.gain(memory, rows)
        memory = policy.remember(memory, rows)


def _roots(entries: WeightMatrices, n_tasks: int, n_features: int) -> Iterator[WeightRoot]:
    if not isinstance(entries, Sequence | np.ndarray) or (isinstance(entries, np.ndarray) and entries.ndim == 0):
        raise InvalidParameterError(
            "weight_matrices must be a policy of ridgeway.weights or hold one entry per task; "
            f"got {entries!r}. For one penalty in all tasks, pass Isotropic(penalty)."
        )
    if len(entries) != n_tasks:
        raise InvalidParameterError(f"weight_matrices has {len(entries)} entries; {n_tasks} are needed, one per task.")
    for t, entry in enumerate(entries):
        yield _root(entry, n_features, f"weight_matrices[{t}]")


def _root(entry: ArrayLike, n_features: int, name: str) -> WeightRoot:
    array = real_array(entry, name)
    if array.ndim == 2:
        matrix = semidefinite(array, (n_features, n_features), name)
        return WeightRoot(semidefinite_root(matrix), np.ones(n_features, dtype=np.bool_))
    if array.shape not in {(), (n_features,)}:
        raise InvalidParameterError(
            f"{name} has shape {array.shape}; a number, a diagonal of shape ({n_features},) or a matrix of shape "
            f"({n_features}, {n_features}) is needed."
        )
    diagonal = np.broadcast_to(nonnegative(array, name), (n_features,))
    free = np.isfinite(diagonal)
    rows = np.diag(np.sqrt(diagonal[free]))
    return WeightRoot(rows[diagonal[free] > 0], free)
