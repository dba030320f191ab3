"""Every kernel in plain NumPy and SciPy: what is computed, without what makes it fast.

R is an upper triangular factor and S the upper triangle of a symmetric matrix, zeros below, of rows [x, y]. Nothing is
checked here, and no argument is changed.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ridgeway._checks import Array
from ridgeway.data import dense
from ridgeway.kernels._means import Mean
from ridgeway.kernels._returned import Reduced, Updated


@np.errstate(over="ignore", invalid="ignore")  # what is not finite shows in the squares
def factor_update(R: Array, past: Mean, X: Any, y: Array, weight: Array | None, *, centered: bool) -> Updated:
    """Return the factor of the rows that R stands for and of a task's, each row about the mean of all. O(n·p²).

    Parameters
    ----------
    R : ndarray of shape (p + k, p + k)
    past : the mean of the rows that R stands for
    X : array or sparse matrix of shape (n, p)
    y : ndarray of shape (n, k)
    weight : ndarray of shape (n,), positive; None if every row has weight 1
    centered : whether the rows are taken about their mean, or as they are

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import Mean, factor_update
    >>> past, X, y = Mean.of_nothing(2), np.array([[1.0], [3.0]]), np.array([[2.0], [5.0]])
    >>> nothing, rows = np.zeros((2, 2), order="F"), np.hstack([X, y])
    >>> R = factor_update(nothing, past, X, y, None, centered=False).matrix
    >>> np.allclose(R.T @ R, rows.T @ rows)
    True
    """
    rows, mean = _about_the_mean(past, X, y, weight, centered)
    return Updated(qr_update(R, rows), mean, np.square(rows).sum(axis=0))


@np.errstate(over="ignore", invalid="ignore")  # what is not finite shows in the squares
def comoment_update(S: Array, past: Mean, X: Any, y: Array, weight: Array | None, *, centered: bool) -> Updated:
    """Return the co-moments of the rows that S stands for and of a task's. As `factor_update`, with S = RᵀR.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import Mean, comoment_update
    >>> past, X, y = Mean.of_nothing(2), np.array([[1.0], [3.0]]), np.array([[2.0], [5.0]])
    >>> nothing, rows = np.zeros((2, 2), order="F"), np.hstack([X, y])
    >>> S = comoment_update(nothing, past, X, y, None, centered=True).matrix
    >>> np.allclose(S, np.triu(2 * np.cov(rows.T, bias=True)))
    True
    """
    rows, mean = _about_the_mean(past, X, y, weight, centered)
    return Updated(comoments_of(rows, S), mean, np.square(rows).sum(axis=0))


def _about_the_mean(past: Mean, X: Any, y: Array, weight: Array | None, centered: bool) -> tuple[Array, Mean]:
    """Return the task's rows times the roots of the weights, about their own mean, and the mean of all rows.

    One more row stands for the distance between the two means.
    """
    rows = np.hstack([dense(X), y])
    weight = np.ones(len(rows)) if weight is None else weight
    root, total = np.sqrt(weight)[:, None], float(weight.sum())
    if not centered:
        return root * rows, past._replace(weight=past.weight + total)
    high = weight @ rows / total
    low = weight @ (rows - high) / total  # what rounding left
    mean, gap = past.joined(Mean(total, high, low))
    return np.vstack([gap, root * (rows - high - low)]), mean


def product(A: Array, B: Array) -> Array:
    """Return A·B.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import product
    >>> product(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    return np.asarray(A @ B)


def comoments_of(rows: Array, S: Array, factor: float = 1.0) -> Array:
    """Return S + factor·rowsᵀrows, of which the upper triangle. O(n·p²).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import comoments_of
    >>> rows, nothing = np.array([[1.0, 2.0], [3.0, 4.0]]), np.zeros((2, 2), order="F")
    >>> comoments_of(rows, nothing)
    array([[10., 14.], [ 0., 20.]])
    """
    return np.asfortranarray(S + factor * np.triu(rows.T @ rows))


def qr_update(R: Array, rows: Array, *, triangular: bool = False) -> Array:
    """Return the factor of R's rows and of others, which may be upper trapezoidal themselves. O(n·p²).

    Large rows come first: below small ones they would drown them in rounding errors (Cox and Higham, 1998).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import qr_update
    >>> R, rows = np.asfortranarray([[2.0, 1.0], [0.0, 3.0]]), np.array([[1.0, 4.0]])
    >>> both = qr_update(R, rows)
    >>> np.allclose(both.T @ both, R.T @ R + rows.T @ rows)
    True
    """
    stacked = np.vstack([R, rows])
    order = np.argsort(-np.abs(stacked).max(axis=1), kind="stable")
    return np.asfortranarray(np.linalg.qr(stacked[order], mode="r"))


def qr(A: Array) -> tuple[Array, Array]:
    """Return Q with orthonormal columns and upper triangular R, A = Q·R; no more of each than needed. O(n·p²).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import qr
    >>> A = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> Q, R = qr(A)
    >>> np.allclose(Q @ R, A), np.allclose(Q.T @ Q, np.eye(2))
    (True, True)
    """
    Q, R = np.linalg.qr(A)
    return np.asarray(Q), np.asarray(R)


def triangular_factor(rows: Array) -> Array:
    """Return R with RᵀR = rowsᵀrows, with no more rows than columns. O(n·p²).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import triangular_factor
    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> R = triangular_factor(rows)
    >>> R.shape, np.allclose(R.T @ R, rows.T @ rows)
    ((2, 2), True)
    """
    return np.asarray(np.linalg.qr(rows, mode="r"))


def pivoted_qr(A: Array) -> tuple[Array, Array, NDArray[np.intp]]:
    """Return Q, R and the order of columns such that A[:, order] = Q·R, the diagonal of R falling. O(n·p²).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import pivoted_qr
    >>> A = np.array([[1.0, 20.0], [3.0, 40.0]])
    >>> Q, R, order = pivoted_qr(A)
    >>> order, np.allclose(Q @ R, A[:, order])  # the largest column first
    (array([1, 0]), True)
    """
    Q, R, order = linalg.qr(A, mode="economic", pivoting=True, check_finite=False)
    return np.asarray(Q), np.asarray(R), np.asarray(order, dtype=np.intp)


def solve_triangular(R: Array, right: Array, *, transposed: bool = False) -> Array:
    """Return R⁻¹·right, or R⁻ᵀ·right, for a regular upper triangular R. O(p²) a column.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import solve_triangular
    >>> R, right = np.asfortranarray([[2.0, 1.0], [0.0, 3.0]]), np.array([[4.0], [6.0]])
    >>> np.allclose(R @ solve_triangular(R, right), right)
    True
    >>> np.allclose(R.T @ solve_triangular(R, right, transposed=True), right)
    True
    """
    return np.asarray(linalg.solve_triangular(R, right, trans="T" if transposed else "N", check_finite=False))


def triangle_condition(R: Array) -> float:
    """Return 1/(‖R‖·‖R⁻¹‖) in the 1-norm for an upper triangular R; 0 if it is singular.

    The fast kernel estimates it in O(p²): never below it, rarely more than three times as large.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import triangle_condition
    >>> triangle_condition(np.asfortranarray([[4.0, 0.0], [0.0, 1.0]]))
    0.25
    """
    if not np.diagonal(R).all():
        return 0.0
    inverse = solve_triangular(R, np.eye(len(R)))
    return float(1.0 / (np.linalg.norm(R, 1) * np.linalg.norm(inverse, 1)))


def cholesky(S: Array, *, overwrite: bool = False) -> Array | None:
    """Return the upper triangular U with UᵀU = S, from S's upper triangle; None if S is not definite. O(p³).

    S may be used as memory if `overwrite` is True.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import cholesky
    >>> S = np.asfortranarray([[4.0, 2.0], [2.0, 5.0]])
    >>> cholesky(S)
    array([[2., 1.], [0., 2.]])
    >>> cholesky(np.asfortranarray([[1.0, 2.0], [2.0, 1.0]])) is None
    True
    """
    try:
        return np.asarray(linalg.cholesky(S, overwrite_a=overwrite, check_finite=False))
    except linalg.LinAlgError:
        return None


def definite_condition(U: Array, norm: float) -> float:
    """Return 1/(‖S‖·‖S⁻¹‖) in the 1-norm for S = UᵀU, given ‖S‖.

    The fast kernel estimates it, as `triangle_condition` does.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import cholesky, definite_condition
    >>> definite_condition(cholesky(np.asfortranarray([[4.0, 0.0], [0.0, 1.0]])), norm=4.0)
    0.25
    """
    inverse = definite_solve(U, np.eye(len(U)))
    return float(1.0 / (norm * np.linalg.norm(inverse, 1)))


def definite_solve(U: Array, right: Array) -> Array:
    """Return (UᵀU)⁻¹·right. O(p²) a column.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import cholesky, definite_solve
    >>> S, right = np.asfortranarray([[4.0, 2.0], [2.0, 5.0]]), np.array([[2.0], [9.0]])
    >>> np.allclose(S @ definite_solve(cholesky(S), right), right)
    True
    """
    return solve_triangular(U, solve_triangular(U, right, transposed=True))


def svd(A: Array, *, full: bool = False) -> tuple[Array, Array, Array]:
    """Return U, the singular values, falling, and Vᵀ, A = U·diag(s)·Vᵀ; square U and Vᵀ if `full`. O(n·p·min(n, p)).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import svd
    >>> A = np.array([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
    >>> U, s, Vt = svd(A)
    >>> s, np.allclose((U * s) @ Vt, A)
    (array([4., 3.]), True)
    """
    U, s, Vt = linalg.svd(A, full_matrices=full, check_finite=False)
    return np.asarray(U), np.asarray(s), np.asarray(Vt)


def right_svds(A: Array) -> tuple[Array, Array]:
    """Return singular values (…, r), falling, and Vᵀ (…, r, p) of each matrix of a stack (…, n, p). O(n·p²) each.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import right_svds
    >>> stack = np.array([[[3.0, 0.0], [0.0, 4.0]], [[1.0, 0.0], [0.0, 2.0]]])
    >>> s, Vt = right_svds(stack)
    >>> s
    array([[4., 3.], [2., 1.]])
    >>> squares = np.swapaxes(Vt, 1, 2) * np.square(s)[:, None] @ Vt
    >>> np.allclose(squares, np.swapaxes(stack, 1, 2) @ stack)
    True
    """
    _, s, Vt = np.linalg.svd(A, full_matrices=False)
    return np.asarray(s), np.asarray(Vt)


def eigen(S: Array) -> tuple[Array, Array]:
    """Return the eigenvalues, rising, and the eigenvectors of a symmetric matrix, from its upper triangle. O(p³).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import eigen
    >>> S = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> values, vectors = eigen(S)
    >>> np.allclose(values, [1.0, 3.0]), np.allclose((vectors * values) @ vectors.T, S)
    (True, True)
    """
    values, vectors = linalg.eigh(S, lower=False, check_finite=False, driver="evd")
    return np.asarray(values, dtype=np.float64), np.asarray(vectors, dtype=np.float64)


def smallest_eigenvalue(S: Array) -> float:
    """Return the smallest eigenvalue of a symmetric matrix, from its upper triangle. O(p³).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import smallest_eigenvalue
    >>> round(smallest_eigenvalue(np.array([[2.0, 1.0], [1.0, 2.0]])), 8)
    1.0
    """
    return float(linalg.eigh(S, lower=False, eigvals_only=True, subset_by_index=[0, 0], check_finite=False)[0])


def reduce_symmetric(A: Array) -> Reduced:
    """Return a semidefinite matrix in a form in which functions of it are cheap, from its upper triangle. O(m³).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import reduce_symmetric
    >>> round(reduce_symmetric(np.array([[2.0, 1.0], [1.0, 2.0]])).top, 8)
    3.0
    """
    return EigenForm(*eigen(A))


class EigenForm(NamedTuple):
    """The plainest form: T is the diagonal matrix of the eigenvalues."""

    values: Array
    vectors: Array

    @property
    def top(self) -> float:
        """The largest eigenvalue."""
        return float(self.values[-1])

    def turn(self, right: Array) -> Array:
        """Return Qᵀ·right."""
        return np.asarray(self.vectors.T @ right)

    def turn_back(self, inner: Array) -> Array:
        """Return Q·inner."""
        return np.asarray(self.vectors @ inner)

    def solve(self, shift: float, inner: Array, tolerance: float) -> Array:
        """Return (T + shift·I)⁺·inner."""
        values = self.values + shift
        kept = values > tolerance * max(values[-1], 0.0)
        return np.asarray(np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)[:, None] * inner)

    def descend(self, rate: float, n_steps: int, inner: Array) -> Array:
        """Return rate·Σ_{i<n_steps} (I − rate·T)^i·inner."""
        left = (1.0 - rate * self.values)[:, None]
        return np.asarray(rate * sum((left**i for i in range(n_steps)), np.zeros_like(left)) * inner)
