"""Least squares under a quadratic penalty, however weak or strong it is compared with the data."""

from dataclasses import replace

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.linalg._rank import (
    Solution,
    column_norms,
    equilibrate,
    is_cut,
    minimum_norm,
    plainly_regular,
    solve_triangle,
    without_rounding,
)
from ridgeway.linalg._triangle import empty_triangle

TINY = 1e-8
"""If a penalty is below this share of a column's squares, rounding may show in the answer."""

NEGLIGIBLE = 1e-18
"""The root of a penalty below this share of a column's norm no longer shows in the answer."""


def solve_penalized(
    R: Array, rhs: Array, root: Array, start: Array, *, size: int, offset: Array | float = 0.0
) -> Solution:
    """Solve min ‖R w − rhs‖² + ‖root·(w − start)‖² for upper triangular R and root. O(p³).

    If the penalty is weak and R singular, rounding errors in R would outweigh the penalty. Directions of R that consist
    of rounding are then taken out first, and the dual is solved. The growth is infinite if there were enough rows to
    determine them: had they been more than rounding, the answer might be another one.

    Parameters
    ----------
    R, root : ndarray of shape (n_features, n_features), upper triangular
    rhs, start : ndarray of shape (n_features, n_targets)
    size : the smaller side of the rows that R stands for
    offset : norms of what centring took off their columns

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import solve_penalized
    >>> one, start = np.eye(1), np.array([[1.0]])
    >>> solve_penalized(one, np.array([[3.0]]), one, start, size=1).coef  # half-way
    array([[2.]])
    """
    stacked = min(size + int(np.count_nonzero(root.any(axis=1))), len(R))
    norms = column_norms(R)
    strongest = column_norms(root).max()
    if 0.0 < strongest < least_root(norms):
        root = root * (least_root(norms) / strongest)
    weak = np.square(column_norms(root)) <= TINY * np.square(norms)
    if not weak.any() or plainly_regular(R, offset=offset):
        factor, right = _with_root_on_top(root, root @ start, np.hstack([R, rhs]), triangular=True)
        return solve_triangle(factor, right, size=stacked, offset=offset)
    rows, right = without_rounding(R, rhs, offset=offset)
    if plainly_regular(root):
        solution = _dual(rows, right, root, start)
    else:
        factor, top = _with_root_on_top(root, root @ start, np.hstack([rows, right]), triangular=False)
        solution = solve_triangle(factor, top, size=stacked, offset=offset)
    return replace(solution, growth=np.inf) if is_cut(len(rows), size, norms) else solution


def least_root(norms: Array) -> float:
    """Return the root of a penalty that stands for all weaker ones: beside data of these norms it is the limit 0⁺."""
    return NEGLIGIBLE * float(norms[norms > 0.0].min(initial=np.inf)) if norms.any() else 0.0


def _with_root_on_top(root: Array, root_rhs: Array, rows: Array, *, triangular: bool) -> tuple[Array, Array]:
    """Return factor and right-hand side of the two systems: the root on top, so that a strong one costs no digits."""
    p, k = root_rhs.shape
    top = empty_triangle(p + k)
    top[:p, :p] = root
    top[:p, p:] = root_rhs
    merged = kernels.qr_update(top, rows, triangular=triangular)
    return merged[:p, :p], merged[:p, p:]


def _dual(rows: Array, rhs: Array, root: Array, start: Array) -> Solution:
    """With t = root·(w − start): the t of least norm in [rows·root⁻¹, I]·[t; v] = rhs − rows·start."""
    p = len(root)
    wide = np.hstack([kernels.solve_triangular(root, rows.T, transposed=True).T, np.eye(len(rows))])
    size = len(wide)
    solved = minimum_norm(wide, rhs - rows @ start, equilibrate(column_norms(wide), 0.0, size), size)
    return Solution(start + kernels.solve_triangular(root, solved.coef[:p]), p, solved.growth)
