"""Early stopping and generalized ridge are the same estimator: how to convert between them.

Gradient descent on task t with learning-rate matrix A_t, stopped after m_t steps, leaves the fraction
(1 − s_jγ_j)^m of the old error in direction j; generalized ridge leaves λ_j/(λ_j + γ_j). Equating the two gives the
functions of this file. If the equation has no solution, its limits are used:

=========================== =============================================================================
γ = 0                       the direction never moves under either; λ = 1/(m·s) is the limit γ → 0⁺
s = 0                       no step is taken: λ = ∞, and λ = ∞ gives s = 0
sγ = 1                      one step lands on the new task's own answer: λ = 0
1 < sγ ≤ 2, m even          the overshoot cancels: the same λ as for 2 − sγ
any other sγ > 1            the old error changes sign or grows; no λ ≥ 0 does that: an error is raised
λ = 0 and γ = 0             neither the task nor the penalty moves the direction: s = 0
=========================== =============================================================================
"""

import numpy as np
from numpy.typing import ArrayLike

from ridgeway._checks import Array, finite, nonnegative_array, real_array
from ridgeway.errors import InvalidParameterError
from ridgeway.kernels import solve_triangular
from ridgeway.linalg import checked_definite, checked_semidefinite, cholesky_root, semidefinite_eigen, tolerance


def penalties_from_early_stopping(eigenvalues: ArrayLike, learning_rates: ArrayLike, n_steps: ArrayLike) -> Array:
    """Return the penalties λ for which generalized ridge equals early stopping.

    λ_j = γ_j(1 − s_jγ_j)^m / (1 − (1 − s_jγ_j)^m), Thm (early stopping), eq. (equivalence); corrections row
    10. For γ = 0, sγ = 1 and sγ > 1 the limits are used.

    Parameters
    ----------
    eigenvalues : array_like of shape (p,) or (T, p)
        γ ≥ 0, the eigenvalues of each task's covariance.
    learning_rates : array_like, broadcastable with `eigenvalues`
        s ≥ 0 in the same directions. One number is ordinary gradient descent.
    n_steps : int or array_like of shape (T,)
        m, the steps taken in each task.

    Returns
    -------
    ndarray of shape (p,) or (T, p)
        The penalties, 0 and ∞ included.

    Raises
    ------
    InvalidParameterError
        If there is no penalty for some sγ > 1.

    Notes
    -----
    O(T·p) time and memory.

    Examples
    --------
    >>> from ridgeway.research import theory
    >>> theory.penalties_from_early_stopping([2.0, 1.0, 0.0], 0.5, n_steps=2)
    array([0.        , 0.33333333, 1.        ])
    """
    gamma, rates, steps = _aligned(
        eigenvalues, finite(nonnegative_array(learning_rates, "learning_rates"), "learning_rates"), n_steps
    )
    product = rates * gamma
    valid = (product <= 1) | ((steps % 2 == 0) & (product <= 2))
    if not valid.all():
        raise InvalidParameterError(
            f"learning rate × eigenvalue reaches {product[~valid].max():.6g}; above 1, no penalty ≥ 0 gives the same "
            "estimate (unless n_steps is even and the product is at most 2). Use rates up to 1/eigenvalue."
        )
    # Thm (early stopping), eq. (equivalence), with (1 − x)^m = exp(m·log1p(−x)); corrections row 10.
    distance = np.where(product > 1, 2 - product, product)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(
            distance == 0,
            np.where(product > 1, np.inf, 1 / (steps * rates)),
            gamma / np.expm1(-steps * np.log1p(-distance)),
        )


def learning_rates_from_penalties(eigenvalues: ArrayLike, penalties: ArrayLike, n_steps: ArrayLike) -> Array:
    """Return the learning rates s for which early stopping equals generalized ridge.

    s_j = (1 − (λ_j/(γ_j + λ_j))^{1/m})/γ_j, the inverse of `penalties_from_early_stopping` with sγ in [0,
    1]. Thm (early stopping), proof; corrections row 10.

    Parameters
    ----------
    eigenvalues : array_like of shape (p,) or (T, p)
        γ ≥ 0.
    penalties : array_like, broadcastable with `eigenvalues`
        λ in [0, ∞].
    n_steps : int or array_like of shape (T,)
        m, the steps to take in each task.

    Returns
    -------
    ndarray of shape (p,) or (T, p)
        The learning rates. If γ = 0, they are 1/(m·λ), or 0 if λ = 0 as well.

    Notes
    -----
    O(T·p) time and memory.

    Examples
    --------
    >>> from ridgeway.research import theory
    >>> theory.learning_rates_from_penalties([2.0, 1.0, 0.0], [0.0, 1 / 3, 1.0], n_steps=2)
    array([0.5, 0.5, 0.5])
    """
    return equivalent_rates(*_aligned(eigenvalues, nonnegative_array(penalties, "penalties"), n_steps))


def equivalent_rates(eigenvalues: Array, penalties: Array, n_steps: Array | float) -> Array:
    """Return `learning_rates_from_penalties` for arrays that have been checked."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = eigenvalues / penalties
        # Thm (early stopping), proof: 1 − sγ = (1 + γ/λ)^(−1/m).
        rates = -np.expm1(-np.log1p(ratio) / n_steps) / eigenvalues
        unseen = np.where(penalties == 0, 0.0, 1 / (n_steps * penalties))
    return np.where((eigenvalues == 0) | (ratio == 0), unseen, rates)


def weight_matrix_from_early_stopping(covariance: ArrayLike, learning_rate_matrix: ArrayLike, n_steps: int) -> Array:
    """Return the weight matrix for which generalized ridge equals early stopping, for any learning rates.

    With A = LLᵀ and LᵀΣL = V diag(d) Vᵀ, early stopping equals generalized ridge with H = L⁻ᵀ V diag(λ(d))
    Vᵀ L⁻¹ and λ(d) the penalty for eigenvalue d, learning rate 1 and m steps. Σ and A need not share
    eigenvectors; Thm (early stopping), corrections row 10c.

    Parameters
    ----------
    covariance : array_like of shape (p, p)
        Σ, positive semidefinite.
    learning_rate_matrix : array_like of shape (p, p)
        A, positive definite.
    n_steps : int
        m, the steps taken.

    Returns
    -------
    ndarray of shape (p, p)
        H, symmetric positive semidefinite.

    Raises
    ------
    InvalidParameterError
        If A is not positive definite, or if no penalty matches an eigenvalue of AΣ above 1.

    Notes
    -----
    O(p³) time, O(p²) memory.

    Examples
    --------
    >>> from ridgeway.research import theory
    >>> covariance = [[2.0, 1.0], [1.0, 2.0]]
    >>> theory.weight_matrix_from_early_stopping(
    ...     covariance, [[0.3, 0.0], [0.0, 0.1]], n_steps=1
    ... )
    array([[ 1.33333333, -1.        ],
           [-1.        ,  8.        ]])
    """
    size = len(np.atleast_1d(real_array(covariance, "covariance")))
    sigma = checked_semidefinite(covariance, size, "covariance")
    rates = checked_definite(learning_rate_matrix, size, "learning_rate_matrix")
    if step_counts(n_steps).ndim != 0:
        raise InvalidParameterError(f"n_steps must be one integer; got {n_steps!r}.")
    lower = cholesky_root(rates)
    values, vectors = semidefinite_eigen(lower.T @ sigma @ lower)
    # An eigenvalue that is 1 up to rounding is 1: AΣ = I must give H = 0 for odd m as for even.
    values = np.where(np.abs(values - 1) <= tolerance(values.size), 1.0, values)
    penalties = penalties_from_early_stopping(values, 1.0, n_steps)
    if not np.isfinite(penalties).all():
        raise InvalidParameterError(
            "learning rate × eigenvalue is 2 and n_steps is even: the estimate never moves, and no finite weight "
            "matrix does that. Use smaller learning rates."
        )
    root = solve_triangular(lower.T, vectors * np.sqrt(penalties))
    return np.asarray(root @ root.T)


def step_counts(value: ArrayLike) -> Array:
    """Return numbers of steps, integers ≥ 1, or raise."""
    array = real_array(value, "n_steps")
    if not np.all((array >= 1) & (array == np.floor(array)) & np.isfinite(array)):
        raise InvalidParameterError(f"n_steps must be integers ≥ 1; got {value!r}.")
    return array


def _aligned(eigenvalues: ArrayLike, other: Array, n_steps: ArrayLike) -> tuple[Array, Array, Array]:
    gamma = finite(nonnegative_array(eigenvalues, "eigenvalues"), "eigenvalues")
    steps = step_counts(n_steps)
    try:
        shape = np.broadcast_shapes(gamma.shape, other.shape, (*steps.shape, 1) if steps.ndim else ())
    except ValueError as error:
        raise InvalidParameterError(
            f"eigenvalues {gamma.shape}, rates or penalties {other.shape} and n_steps {steps.shape} do not "
            "match. Pass (T, p) arrays and one number of steps per task."
        ) from error
    steps = steps[..., np.newaxis] if steps.ndim else steps
    return (np.broadcast_to(gamma, shape), np.broadcast_to(other, shape), np.broadcast_to(steps, shape))
