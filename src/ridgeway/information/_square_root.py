"""Information as a triangular factor: every digit that a QR decomposition of all rows would give."""

import numpy as np
from numpy.typing import NDArray

from ridgeway.information._base import Information, refuse_removal
from ridgeway.linalg import (
    Rows,
    Solution,
    add_rows,
    add_triangle,
    psd_root,
    remove_rows,
    solve_triangle,
    tolerance,
    triangle_growth,
    with_root,
)

Array = NDArray[np.float64]


class SquareRoot(Information):
    """The information as an upper triangular R with RᵀR = Σ w·(a − ā)(a − ā)ᵀ over rows a = [x, y].

    R = [[R_x, z], [0, R_y]]: the factor of the features, the rotated targets, and the residual block. Tasks are added
    by LAPACK's triangular-pentagonal QR, so that the condition number is never squared.
    """

    def _squares(self, matrix: Array) -> Array:
        return np.asarray(np.einsum("ij,ij->j", matrix, matrix))

    def _with_rows(self, rows: Rows, gap: Array) -> Array:
        return self._with_gap(add_rows(self.matrix, rows.blocks("F")), gap)

    def _with_matrix(self, matrix: Array, gap: Array) -> Array:
        return self._with_gap(add_triangle(self.matrix, matrix), gap)

    def _with_gap(self, matrix: Array, gap: Array) -> Array:
        return add_rows(matrix, [np.asfortranarray(gap[None, :])]) if gap.any() else matrix

    def _without_rows(self, rows: Rows, gap: Array, offset: Array) -> tuple[Array, float]:
        p = self.n_features
        growth = triangle_growth(self.matrix[:p, :p], offset=offset)
        if np.isinf(growth):
            raise refuse_removal()
        left = remove_rows(self.matrix, [*rows.blocks("F"), gap[None, :]], p, least=tolerance(p) * growth)
        if left is None:
            raise refuse_removal()
        matrix, kept = left
        # Each column carries the rounding of the largest it has been; what remains must stand out from it.
        loss = float(np.sqrt((self.peak[:p] / self._squares(matrix)[:p]).max()))
        digits = max(float(np.log10(loss)), self.digits_lost - float(np.log10(kept)))
        noise = np.hypot(offset, np.sqrt(self.peak[:p]))
        if np.isinf(triangle_growth(matrix[:p, :p], offset=noise)) or digits > -np.log10(tolerance(p)):
            raise refuse_removal()
        return matrix, digits

    def _scaled(self, factor: float) -> Array:
        return np.asarray(self.matrix * np.sqrt(factor))

    def _solve(self, prior: Array, start: Array, size: int, offset: Array) -> Solution:
        p = self.n_features
        R = self.matrix[:p, :p]
        rhs = self.matrix[:p, p:] - R @ start
        if prior.any():
            R, rhs = with_root(R, rhs, psd_root(prior))
        return solve_triangle(R, rhs, size=size, offset=offset)
