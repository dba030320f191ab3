"""One task's update as a gain: ŵ_t = ŵ_{t−1} + K_t(y_t − X_tŵ_{t−1}), for each kind of H_t."""

from collections.abc import Callable

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.linalg._dense import minimum_norm_gain, semidefinite_root
from ridgeway.linalg._rank import Solution
from ridgeway.linalg._rows import Rows
from ridgeway.linalg._steps import ridge_step, weighted_step


def penalized_change(rows: Rows, coef: Array, weight: float | Array) -> Solution:
    """Return ŵ_t − ŵ_{t−1} for H_t as a number, a diagonal (p,) or a matrix (p, p), without forming K_t.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.linalg import Rows, penalized_change
    >>> rows = Rows(Task.of(np.ones((1, 1)), np.array([[3.0]])))
    >>> penalized_change(rows, np.array([[1.0]]), 1.0).coef  # half-way from 1 to 3
    array([[1.]])
    """
    if isinstance(weight, np.ndarray):
        return weighted_step(rows, coef, weight)
    return ridge_step(rows, coef, weight)


def penalty_gain(rows: Rows, weight: float | Array) -> Array:
    """Return K_t = (X_tᵀX_t + n_tH_t)⁻¹X_tᵀ, or its limit for H_t + δI, δ → 0⁺; of shape (p, n). O((n + p)·p²).

    Parameters
    ----------
    rows : the task
    weight : H_t, a number λ in [0, ∞] for λI, a diagonal (p,) of such numbers, or a matrix (p, p)

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import Rows, penalty_gain
    >>> X = np.array([[1.0, 2.0], [0.0, 1.0]])
    >>> expected = np.linalg.solve(X.T @ X + 2 * 0.5 * np.eye(2), X.T)  # n_t = 2
    >>> np.allclose(penalty_gain(Rows.of(X), 0.5), expected)
    True
    """
    X, p = rows.X, rows.n_features
    root_n = np.sqrt(rows.total_weight)
    if np.ndim(weight) == 2:
        return root_gain(X, root_n * semidefinite_root(np.asarray(weight)))
    diagonal = np.broadcast_to(np.asarray(weight, dtype=np.float64), (p,))
    free = np.isfinite(diagonal)  # an infinite penalty lets a feature not move at all
    gain = np.zeros(X.shape[::-1])
    if free.any():
        root = np.diag(np.sqrt(diagonal[free]))[diagonal[free] > 0.0]
        gain[free] = root_gain(X[:, free], root_n * root)
    return gain


def root_gain(X: Array, root: Array) -> Array:
    """Return K = (XᵀX + rootᵀroot)⁻¹Xᵀ, or its limit, from a root that is never squared.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import root_gain
    >>> X, root = np.array([[1.0, 2.0], [0.0, 1.0]]), np.eye(2)
    >>> np.allclose(root_gain(X, root), np.linalg.solve(X.T @ X + root.T @ root, X.T))
    True
    """
    largest = np.sqrt(max(len(X), 1.0))
    return np.asarray(minimum_norm_gain(X / largest, root / largest) / largest)


def joined_root(root: Array, X: Array) -> Array:
    """Return R with RᵀR = rootᵀroot + XᵀX and no more rows than columns.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import joined_root
    >>> X, root = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 1.0]]), np.eye(2)
    >>> R = joined_root(root, X)
    >>> R.shape, np.allclose(R.T @ R, root.T @ root + X.T @ X)
    ((2, 2), True)
    """
    return kernels.triangular_factor(np.vstack([root, X]))


def filtered_gain(X: Array, total_weight: float, gain: Callable[[Array], Array], root: Array | None = None) -> Array:
    """Return K = F·V·diag(gain(γ))·Vᵀ·Fᵀ·Xᵀ/n_t, where FᵀΣ_tF = V·diag(γ)·Vᵀ; F is the identity if not given.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import filtered_gain
    >>> X = np.array([[1.0, 2.0], [0.0, 1.0]])
    >>> ridge = filtered_gain(X, 2.0, lambda values: 1.0 / (values + 0.5))
    >>> np.allclose(ridge, np.linalg.solve(X.T @ X + 2 * 0.5 * np.eye(2), X.T))
    True
    """
    turned = X if root is None else X @ root
    U, s, Vt = kernels.svd(turned)
    K = (Vt.T * (s * gain(s**2 / total_weight) / total_weight)) @ U.T
    return np.asarray(K if root is None else root @ K)
