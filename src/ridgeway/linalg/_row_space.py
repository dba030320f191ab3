"""What a triangular factor knows: which linear functions of the coefficients, and how well."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.linalg._rank import column_norms, equilibrate, independent_rows

ESTIMABLE = 1e-7
"""The share of a functional that may lie outside of the row space, because of rounding, if it is estimable."""


@dataclass(frozen=True, eq=False)
class RowSpace:
    """The row space of an upper triangular R, its columns scaled to unit norm.

    Attributes
    ----------
    scaled : ndarray of shape (p, p)
        R with its columns scaled.
    scale : ndarray of shape (p,)
        The norms, 0 for columns that are rounding.
    values : ndarray of shape (rank,)
        The singular values of `scaled` that count.
    basis : ndarray of shape (p, rank)
        Its right singular vectors, an orthonormal basis of the row space.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import RowSpace
    >>> space = RowSpace.of(np.array([[1.0, 1.0], [0.0, 0.0]]), size=2)
    >>> whitened, known = space.whiten(np.array([[1.0, 1.0], [1.0, 0.0]]))
    >>> space.rank, known  # the sum of the two coefficients is known, the first is not
    (1, array([ True, False]))
    """

    scaled: Array
    scale: Array
    values: Array
    basis: Array

    @classmethod
    def of(cls, R: Array, *, size: int, offset: Array | float = 0.0) -> "RowSpace":
        """Decide the rank of R as `solve_triangle` does. O(p³)."""
        scales = equilibrate(column_norms(R), offset, size)
        divisor = np.where(scales.norms > 0.0, scales.norms, np.inf)
        rows, _ = independent_rows(R, np.zeros((len(R), 0)), scales, size)
        _, s, Vt = kernels.svd(rows / divisor)
        return cls(np.asfortranarray(R / divisor), scales.norms, s, Vt.T)

    @property
    def rank(self) -> int:
        """The rank of R."""
        return len(self.values)

    def whiten(self, functionals: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return A with AᵀA = Cᵀ(RᵀR)⁻C for functionals C, and which of them R knows.

        Parameters
        ----------
        functionals : ndarray of shape (p, q)

        Returns
        -------
        whitened : ndarray of shape (p, q), R⁻ᵀC, at full rank; otherwise of shape (rank, q)
        estimable : ndarray of bool of shape (q,)
            Whether a functional lies in the row space.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            C = np.where(functionals != 0.0, functionals / self.scale[:, None], 0.0)
        known = np.asarray(np.isfinite(C).all(axis=0))
        C = np.where(known, C, 0.0)
        if self.rank == len(self.scaled):
            return kernels.solve_triangular(self.scaled, C, transposed=True), known
        inside = self.basis.T @ C
        outside = column_norms(C - self.basis @ inside)
        return inside / self.values[:, None], np.asarray(known & (outside <= ESTIMABLE * column_norms(C)))
