"""Information as centred co-moments: the fastest to add to, at half the digits."""

import numpy as np
from numpy.typing import NDArray

from ridgeway.information._base import Information, refuse_removal
from ridgeway.linalg import Rows, Solution, smallest_eigenvalue, solve_moments, tolerance

Array = NDArray[np.float64]


class Moments(Information):
    """The information as the matrix of centred co-moments, Σ w·(a − ā)(a − ā)ᵀ over rows a = [x, y].

    Adding a task is one matrix product. The condition number is squared: columns that are collinear to 1e-8 cannot
    be told apart, where `SquareRoot` still has half of its digits.
    """

    def _squares(self, matrix: Array) -> Array:
        return np.diag(matrix).copy()

    def _with_rows(self, rows: Rows, gap: Array) -> Array:
        return self._with_matrix(_product(rows), gap)

    def _with_matrix(self, matrix: Array, gap: Array) -> Array:
        return np.asarray(self.matrix + matrix + np.outer(gap, gap))

    def _without_rows(self, rows: Rows, gap: Array, offset: Array) -> tuple[Array, float]:
        p = self.n_features
        matrix = self.matrix - _product(rows) - np.outer(gap, gap)
        squares = self._squares(matrix)
        if not (squares[:p] > 0.0).all():
            raise refuse_removal()
        # The rounding of each entry is that of the largest it has been; what remains must stand out from it.
        loss = float((self.peak[:p] / squares[:p]).max())
        smallest = smallest_eigenvalue(matrix[:p, :p])
        if not smallest > max(tolerance(p) * loss, float((tolerance(p) ** 2 * offset**2 / squares[:p]).max())):
            raise refuse_removal()
        residual = matrix[p:, p:] - matrix[p:, :p] @ solve_moments(matrix[:p, :p], matrix[:p, p:], size=p).coef
        if (np.diag(residual) < -tolerance(p) * loss / smallest * self.peak[p:]).any():
            raise refuse_removal()
        return matrix, float(np.log10(loss))

    def _scaled(self, factor: float) -> Array:
        return np.asarray(self.matrix * factor)

    def _solve(self, prior: Array, start: Array, size: int, offset: Array) -> Solution:
        p = self.n_features
        S = self.matrix[:p, :p]
        total = S + (np.diag(prior) if prior.ndim == 1 else prior)
        return solve_moments(total, self.matrix[:p, p:] - S @ start, size=size, offset=offset)


def _product(rows: Rows) -> Array:
    width = len(rows.mean)
    total = np.zeros((width, width))
    for block in rows.blocks("C"):
        total += block.T @ block
    return total
