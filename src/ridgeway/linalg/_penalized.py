"""Least squares under a quadratic penalty, however weak or strong it is compared with the data."""

from dataclasses import replace

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.linalg._rank import (
    EPS,
    Solution,
    column_norms,
    equilibrate,
    growth_under_prior,
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

SHRINKS = 10.0
"""Rows outweigh a prior if every correction for it is this many times smaller than the one before."""

SETTLED = EPS / 16.0
"""A correction of R·w this small is not seen beside the rounding of a solution with R, which is about EPS of R·w."""

SMALLEST = 1e-130
"""The squares of corrections that start from a smaller norm could underflow."""


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
        factor, right = _with_root_on_top(root, root @ start, np.hstack([rows, right]), triangular=False)
        solution = solve_triangle(factor, right, size=stacked, offset=offset)
    return replace(solution, growth=np.inf) if is_cut(len(rows), size, norms) else solution


def solve_by_corrections(
    R: Array, rhs: Array, prior: Array, start: Array, squares: Array, offset: Array
) -> Solution | None:
    """Solve min ‖R w − rhs‖² + ‖w − start‖²_P, P = diag(prior), by corrections; None if they shrink slowly.

    R⁻¹·rhs ignores the prior. The minimiser satisfies w = R⁻¹·rhs − R⁻¹R⁻ᵀP(w − start), which is a contraction if no
    eigenvalue of M = R⁻ᵀPR⁻¹ reaches 1, that is, if RᵀR outweighs P in every direction. So no factor of RᵀR + P is
    needed: at most 17 steps of O(p²) for each target.

    R·w is corrected by powers of −M times a vector, whose norms shrink more and more slowly. So the next correction
    cannot be predicted from the last two, and a direction in which P is too strong shows in the end, even if only
    rounding errors point there.

    Parameters
    ----------
    R : ndarray of shape (n_features, n_features), upper triangular
    rhs, start : ndarray of shape (n_features, n_targets)
    prior : ndarray of shape (n_features,)
    squares : the columns' sums of squares, the prior included, or more
    offset : norms of what centring took off the columns that R stands for

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import solve_by_corrections
    >>> R, rhs, start = (np.array([[value]]) for value in (10.0, 20.0, 0.0))
    >>> prior, squares, offset = (np.array([value]) for value in (1.0, 101.0, 0.0))
    >>> found = solve_by_corrections(R, rhs, prior, start, squares, offset)
    >>> np.allclose(found.coef, 200 / 101)  # (10·10 + 1)·w = 10·20
    True
    """
    growth = growth_under_prior(prior, squares, offset)
    if growth is None or not R.diagonal().all():
        return None
    R = np.asfortranarray(R)  # in one piece: SciPy would copy a small part of a matrix at each step
    plain = coef = kernels.solve_triangular(R, rhs)
    pull, away = np.zeros_like(rhs), rhs
    if start.any():
        with kernels.single_threaded():  # several threads of BLAS would still be awake when the next task comes
            away = rhs - R @ start
    last = column_norms(away)
    if ((last < SMALLEST) & away.any(axis=0)).any():
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # if R is nearly singular, the corrections grow
        while True:
            before, pull = pull, kernels.solve_triangular(R, prior[:, None] * (coef - start), transposed=True)
            coef = plain - kernels.solve_triangular(R, pull)
            correction = column_norms(pull - before)
            settled = correction <= SETTLED * column_norms(rhs - pull) + 2.0 * EPS * column_norms(pull)
            if not (np.isfinite(correction) & (settled | (SHRINKS * correction <= last))).all():
                return None
            if settled.all():
                return Solution(coef, len(R), growth)
            last = correction


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
