"""Checks on symmetric matrices."""

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.linalg._rank import tolerance


def asymmetry(matrix: Array) -> float:
    """Return the largest difference between a matrix and its transpose, relative to its largest entry.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import asymmetry
    >>> asymmetry(np.array([[4.0, 2.0], [1.0, 3.0]]))  # (2 − 1) / 4
    0.25
    """
    largest = np.abs(matrix).max(initial=0.0)
    return float(np.abs(matrix - matrix.T).max(initial=0.0) / largest) if largest else 0.0


def smallest_eigenvalue(matrix: Array) -> float:
    """Return the smallest eigenvalue of a symmetric matrix scaled to a unit diagonal (zero diagonals as they are).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import smallest_eigenvalue
    >>> H = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> units = np.diag([1.0, 1000.0])  # they do not matter
    >>> round(smallest_eigenvalue(H), 8), round(smallest_eigenvalue(units @ H @ units), 8)
    (0.5, 0.5)
    """
    scale = np.sqrt(np.abs(np.diag(matrix)))
    divisor = np.where(scale > 0.0, scale, 1.0)
    return kernels.smallest_eigenvalue(matrix / divisor / divisor[:, None])


def is_semidefinite(matrix: Array) -> bool:
    """Return whether no eigenvalue of a symmetric matrix is below zero, apart from rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import is_semidefinite
    >>> is_semidefinite(np.ones((2, 2))), is_semidefinite(np.diag([1.0, -1.0]))
    (True, False)
    """
    return smallest_eigenvalue(matrix) >= -tolerance(len(matrix))


def is_definite(matrix: Array) -> bool:
    """Return whether all eigenvalues of a symmetric matrix are above zero by more than rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import is_definite
    >>> is_definite(np.diag([1.0, 1e-12])), is_definite(np.ones((2, 2)))
    (True, False)
    """
    return bool((np.diag(matrix) > 0.0).all()) and smallest_eigenvalue(matrix) > tolerance(len(matrix))


def cholesky_root(matrix: Array) -> Array:
    """Return the lower triangular F with F·Fᵀ = matrix, for a positive definite matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import cholesky_root
    >>> H = np.array([[4.0, 2.0], [2.0, 5.0]])
    >>> np.allclose(cholesky_root(H) @ cholesky_root(H).T, H)
    True
    """
    upper = kernels.cholesky(matrix)
    if upper is None:
        raise ArithmeticError("the matrix is not positive definite")
    return upper.T


def is_nearly_semidefinite(matrix: Array, *, offset: Array, digits_lost: float = 0.0) -> bool:
    """Return whether centred co-moments, scaled to a unit diagonal, are semidefinite up to rounding.

    They are if they have a Cholesky factor once the rounding is added to the diagonal.

    A third of the work of `is_semidefinite` or less. O(p³/3).

    Parameters
    ----------
    matrix : ndarray of shape (p, p), of which the upper triangle is read
    offset : ndarray of shape (p,), the norms of what centring took off the columns, √W·|mean|
    digits_lost : decimal digits by which the rounding exceeds that of a matrix just summed up

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.linalg import is_nearly_semidefinite
    >>> S = np.array([[1.0, 1.0 + 1e-9], [0.0, 1.0]])
    >>> is_nearly_semidefinite(S, offset=np.zeros(2))
    False
    >>> is_nearly_semidefinite(S, offset=np.full(2, 1e8))  # centring has left fewer digits
    True
    """
    norms = np.sqrt(np.abs(np.diag(matrix)))
    divisor = np.where(norms > 0.0, norms, 1.0)
    scaled = matrix / divisor
    scaled /= divisor[:, None]
    noise = tolerance(len(matrix)) * 10.0**digits_lost * np.hypot(1.0, offset / divisor)
    scaled[np.diag_indices_from(scaled)] += noise
    return kernels.cholesky(scaled, overwrite=True) is not None
