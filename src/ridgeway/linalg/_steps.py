"""One task's update, u = ŵ_t − ŵ_{t−1}, for each kind of H_t.

All solve min_u ‖r − A u‖² + n_t·‖u‖²_{H_t} with A the centred, weighted rows and r = y − A·ŵ_{t−1} what they leave
unexplained. If there are fewer rows than columns and H_t is isotropic, the n×n dual is solved instead of the p×p
primal, and no p×p matrix is formed.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.linalg._penalized import TINY, least_root, solve_penalized
from ridgeway.linalg._rank import (
    Scales,
    Solution,
    column_norms,
    equilibrate,
    is_cut,
    minimum_norm,
    numerical_rank,
    solve_triangle,
    tolerance,
    without_rounding,
)
from ridgeway.linalg._rows import Rows
from ridgeway.linalg._triangle import add_rows, empty_triangle, psd_root


def minimum_norm_step(rows: Rows, coef: Array) -> Solution:
    """H_t → 0: u = A⁺r, the least change that fits the task. O(n·p·min(n, p)).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.linalg import Rows, minimum_norm_step
    >>> rows = Rows(Task.of(np.array([[1.0, 1.0]]), np.array([[4.0]])))
    >>> minimum_norm_step(rows, np.array([[2.0], [0.0]])).coef  # to a sum of 4
    array([[1.], [1.]])
    """
    size = min(rows.n_samples - rows.centered, rows.n_features)
    if rows.n_samples >= rows.n_features:
        R, rhs, constant = _primal(rows, coef)
        return replace(solve_triangle(R, rhs, size=size, offset=rows.offset), constant=constant)
    scales = equilibrate(_column_norms(rows), rows.offset, size)
    if rows.fits_in_a_block:
        return minimum_norm(rows.whole(), rows.residual(coef), scales, size)
    return _streamed_minimum_norm(rows, coef, scales, size)


def _streamed_minimum_norm(rows: Rows, coef: Array, scales: Scales, size: int) -> Solution:
    """As `minimum_norm`, a block of columns at a time: fewer digits if columns differ much in scale."""
    live = scales.norms > 0.0
    _, s, Ut = kernels.svd(_dual_triangle(rows, lambda part, block: block / scales.full[part]))
    rank = numerical_rank(s, size, 1.0)
    cut = is_cut(rank, size, scales.norms)
    if rank == 0:
        return Solution(np.zeros_like(coef), 0, np.inf if cut else 1.0, scales.constant)
    # A u = r on the left singular directions U that count; T from a QR of (UᵀA)ᵀ. The semi-normal equations
    # u = (UᵀA)ᵀ(TᵀT)⁻¹Uᵀr do not square the condition for minimum norm problems (Demmel and Higham, 1993).
    U = Ut[:rank].T
    T = _dual_triangle(rows, lambda part, block: U.T @ (block * live[part]), size=rank)
    u = np.zeros_like(coef)
    for _ in range(2):  # the second time refines
        inner = kernels.definite_solve(T, U.T @ rows.residual(coef + u))
        u += rows.transposed_times(U @ inner) * live[:, None]
    return Solution(u, rank, np.inf if cut else s[0] / s[rank - 1], scales.constant)


def ridge_step(rows: Rows, coef: Array, penalty: float) -> Solution:
    """H_t = penalty·I. O(n·p·min(n, p)); zero is the limit penalty → 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.linalg import Rows, ridge_step
    >>> rows = Rows(Task.of(np.ones((1, 1)), np.array([[4.0]])))
    >>> [ridge_step(rows, np.zeros((1, 1)), penalty).coef[0] for penalty in (0.0, 1.0)]
    [array([4.]), array([2.])]
    """
    n, p = rows.n_samples, rows.n_features
    weight = rows.total_weight * penalty
    if weight == 0.0:
        return minimum_norm_step(rows, coef)
    if n >= p:
        return replace(_penalized(rows, coef, psd_root(np.full(p, weight))), rank=p)
    if rows.fits_in_a_block:
        return _dual_ridge(rows, coef, weight)
    return _streamed_dual_ridge(rows, coef, weight)


def _dual_ridge(rows: Rows, coef: Array, weight: float) -> Solution:
    """Solve [A, √weight·I]·[u; v] = r with least norm: definite, whatever A is."""
    p = rows.n_features
    A, r = rows.whole(), rows.residual(coef)
    norms = _column_norms(rows)
    if (weight <= TINY * np.square(norms)).any():
        A, r = without_rounding(A, r, offset=rows.offset)
    root = max(np.sqrt(weight), least_root(norms))
    wide = np.hstack([A, root * np.eye(len(A))])
    solved = minimum_norm(wide, r, equilibrate(column_norms(wide), 0.0, len(A)), len(A))
    return Solution(solved.coef[:p], p, solved.growth)


def _streamed_dual_ridge(rows: Rows, coef: Array, weight: float) -> Solution:
    """As `_dual_ridge`, a block of columns at a time: fewer digits if columns differ much in scale."""
    n, p = rows.n_samples, rows.n_features
    size = float(np.square(_column_norms(rows)).sum())
    if weight <= tolerance(n) ** 2 * size:
        return minimum_norm_step(rows, coef)
    T = _dual_triangle(rows, lambda _, block: block, start=np.asfortranarray(np.eye(n) * np.sqrt(weight)))
    r = left = rows.residual(coef)
    dual = np.zeros_like(r)
    for _ in range(2):  # the second time refines
        dual = dual + kernels.definite_solve(T, left)
        u = rows.transposed_times(dual)
        left = r - rows.times(u) - weight * dual
    return Solution(u, p, np.sqrt(1.0 + size / weight))


def weighted_step(rows: Rows, coef: Array, weight_matrix: Array) -> Solution:
    """Any positive semidefinite H_t (p, p); the limit of H_t + δI if the system is singular. O((n + p)·p²).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.linalg import Rows, weighted_step
    >>> rows = Rows(Task.of(np.array([[1.0, 1.0]]), np.array([[4.0]])))
    >>> found = weighted_step(rows, np.zeros((2, 1)), np.diag([1.0, 0.0]))
    >>> np.allclose(found.coef, [[0.0], [4.0]])  # what is held does not move
    True
    """
    return _penalized(rows, coef, psd_root(rows.total_weight * weight_matrix))


def _penalized(rows: Rows, coef: Array, root: Array) -> Solution:
    R, rhs, constant = _primal(rows, coef)
    size = min(rows.n_samples - rows.centered, rows.n_features)
    solved = solve_penalized(R, rhs, root, np.zeros_like(coef), size=size, offset=rows.offset)
    return replace(solved, constant=constant)


def filtered_step(rows: Rows, coef: Array, gain: Callable[[Array], Array], root: Array | None = None) -> Array:
    """Return u = F·V·diag(gain(γ))·Vᵀ·Fᵀ·Aᵀr/n_t, where FᵀΣ_tF = V·diag(γ)·Vᵀ. O(n·p·min(n, p)), O(p³) with F.

    Parameters
    ----------
    rows, coef : the task, and ŵ_{t−1} of shape (n_features, n_targets)
    gain : the filter, a function of the eigenvalues γ
    root : F, of shape (n_features, n_features); None for the identity

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.linalg import Rows, filtered_step, ridge_step
    >>> rows = Rows(Task.of(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[3.0], [1.0]])))
    >>> start = np.zeros((2, 1))
    >>> found = filtered_step(rows, start, lambda values: 1.0 / (values + 0.5))
    >>> np.allclose(found, ridge_step(rows, start, 0.5).coef)
    True
    """
    n, p, weight = rows.n_samples, rows.n_features, rows.total_weight
    if n >= p or root is not None:
        R, rhs, _ = _primal(rows, coef)
        U, s, Vt = kernels.svd(R if root is None else R @ root)
        u = Vt.T @ ((s * gain(s**2 / weight) / weight)[:, None] * (U.T @ rhs))
        return u * (column_norms(R) > 0.0)[:, None] if root is None else root @ u
    _, s, Ut = kernels.svd(_dual_triangle(rows, lambda _, block: block))
    filtered = (gain(s**2 / weight) / weight)[:, None] * (Ut @ rows.residual(coef))
    return rows.transposed_times(Ut.T @ filtered)


def gradient_steps(rows: Rows, coef: Array, learning_rate: float | Array, n_steps: int) -> Array:
    """Return ŵ_t − ŵ_{t−1} of plain steps w ← w − (A_t/n_t)·Aᵀ(A w − y), A_t a number or a matrix. O(n·p) a step.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.linalg import Rows, gradient_steps
    >>> rows = Rows(Task.of(np.ones((1, 1)), np.array([[8.0]])))
    >>> [gradient_steps(rows, np.zeros((1, 1)), 0.5, n)[0, 0].item() for n in (1, 2, 3)]
    [4.0, 6.0, 7.0]
    """
    w = coef
    for _ in range(n_steps):
        slope = rows.transposed_times(rows.residual(w)) / rows.total_weight
        w = w + (learning_rate @ slope if isinstance(learning_rate, np.ndarray) else learning_rate * slope)
    return w - coef


def largest_eigenvalue(rows: Rows, root: Array | None = None) -> float:
    """Return the largest eigenvalue of Σ_t, or of FᵀΣ_tF, by Lanczos steps from a fixed start. O(n·p) a step.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import Rows, largest_eigenvalue
    >>> X = np.diag([3.0, 2.0, 1.0])
    >>> round(largest_eigenvalue(Rows.of(X)), 8)  # of XᵀX/n
    3.0
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    p = rows.n_features
    if not _column_norms(rows).any():
        return 0.0

    def product(v: Array) -> Array:
        v = v.reshape(p, 1)
        image = rows.transposed_times(rows.times(v if root is None else root @ v))
        return (image if root is None else root.T @ image).ravel()

    operator = LinearOperator((p, p), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(p)
    return float(eigsh(operator, k=1, v0=start, return_eigenvectors=False)[0]) / rows.total_weight


def _primal(rows: Rows, coef: Array) -> tuple[Array, Array, tuple[int, ...]]:
    """Return R and Qᵀr of a QR decomposition of the rows, and which columns were dropped though they vary."""
    p, width, task = rows.n_features, len(rows.mean), rows.task
    nothing = kernels.Mean.of_nothing(width)
    update = kernels.factor_update(
        empty_triangle(width), nothing, task.X, task.y, task.sample_weight, centered=rows.centered
    )
    R = update.matrix
    scales = equilibrate(column_norms(R[:, :p]), rows.offset, min(rows.n_samples - rows.centered, p))
    R[:, :p][:, scales.norms == 0.0] = 0.0  # columns that are rounding
    return R[:p, :p], R[:p, p:] - kernels.product(R[:p, :p], coef), scales.constant


def _dual_triangle(
    rows: Rows,
    transform: Callable[[slice, Array], Array],
    *,
    size: int | None = None,
    start: Array | None = None,
) -> Array:
    """Return the factor T with TᵀT = BBᵀ (+ startᵀstart), for B = transform of the columns of A, block by block."""
    if start is None:
        start = empty_triangle(rows.n_samples if size is None else size)
    return add_rows(start, (np.asfortranarray(transform(part, block).T) for part, block in rows.columns()))


def _column_norms(rows: Rows) -> Array:
    norms = np.empty(rows.n_features)
    for part, block in rows.columns():
        norms[part] = np.sqrt(np.einsum("ij,ij->j", block, block))
    return norms
