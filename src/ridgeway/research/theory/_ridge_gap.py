"""How far continual ridge can fall behind the optimum in two tasks."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from ridgeway._checks import Array, finite, nonnegative_array, positive, shaped
from ridgeway.errors import InvalidParameterError
from ridgeway.research.theory._directions import GRID_STEP, best_isotropic_penalty, updated_errors

TAIL = 20.0
"""How far, in log(penalty), the search goes beyond all scales of a problem if ∞ may be best."""


def ridge_gap(
    information_1: ArrayLike, information_2: ArrayLike, initial_errors: ArrayLike, *, noise_variance: float = 1.0
) -> float:
    """Return the error of continual ridge after two tasks, with the best penalties, relative to the optimum.

    inf over λ_1, λ_2 of 𝓛(CRR)/𝓛(GR), the quantity of Thm (ridge), for covariances that share eigenvectors.
    As printed, with n_1Σ_1 = n_1·diag(1, ε), n_2Σ_2 = n_2·diag(ε, 1) and equal initial errors, it stays
    below 2; with n_1Σ_1 = diag(m, 1) and n_2Σ_2 = diag(√m, m) it grows like m^¼/√2. Corrections rows 8 and 9.

    Parameters
    ----------
    information_1, information_2 : array_like of shape (p,)
        n_t·γ_j⁽ᵗ⁾ ≥ 0, what each task says about each direction.
    initial_errors : array_like of shape (p,)
        e_j⁽⁰⁾ ≥ 0, not all 0.
    noise_variance : float, default 1.0
        σ² > 0.

    Returns
    -------
    float
        At least 1.

    Notes
    -----
    For a given λ_1 the best λ_2 is found among all local minima of a sum of p rational functions; λ_1 is
    searched in the same way, unless equal initial errors fix it at σ²/(n_1·e⁽⁰⁾). O(p) per pair of penalties: a
    few hundred pairs with equal initial errors, about 10⁵ otherwise.

    Examples
    --------
    >>> from ridgeway.research import theory
    >>> round(theory.ridge_gap([1e4, 1.0], [1e2, 1e4], [1.0, 1.0]), 4)
    6.0215
    >>> round(theory.ridge_gap([1e8, 1e4], [1e4, 1e8], [1.0, 1.0]), 4)  # n = 10⁸, ε = 10⁻⁴
    1.9607
    """
    first = finite(nonnegative_array(information_1, "information_1"), "information_1")
    if first.ndim != 1 or first.size == 0:
        raise InvalidParameterError(f"information_1 has shape {first.shape}; it must be (p,), one value per direction.")
    second, initial = (
        shaped(finite(nonnegative_array(value, name), name), first.shape, name, "one per direction")
        for value, name in ((information_2, "information_2"), (initial_errors, "initial_errors"))
    )
    noise = positive(noise_variance, "noise_variance")
    if not initial.any():
        raise InvalidParameterError(
            "initial_errors are all 0: there is nothing to learn, and the ratio is 0/0. Make one of them positive."
        )
    with np.errstate(divide="ignore", over="ignore"):
        prior = noise / initial
    # Thm (adaptive ridge), eq. (main-result), at t = 2.
    optimum = (noise / (prior + first + second)).sum()

    def ridge_error(penalty: float) -> float:
        after_first = updated_errors(first, penalty, initial, noise)
        best = best_isotropic_penalty(second, after_first, noise)
        return float(updated_errors(second, best, after_first, noise).sum())

    points = _first_penalties(first, initial, prior)
    errors = np.array([ridge_error(np.exp(point)) for point in points])
    least = min(errors.min(), ridge_error(np.inf))
    fenced = np.array([np.inf, *errors, np.inf])
    for i in np.flatnonzero((errors <= fenced[:-2]) & (errors <= fenced[2:])).tolist():
        around = (points[max(i - 1, 0)], points[min(i + 1, points.size - 1)])
        found = minimize_scalar(
            lambda point: ridge_error(np.exp(point)), bounds=around, method="bounded", options={"xatol": 1e-9}
        )
        least = min(least, found.fun)
    return float(least / optimum)


def _first_penalties(information: Array, initial: Array, prior: Array) -> Array:
    """Return a grid of log(n_1λ_1) that contains every candidate for the best one, up to its spacing.

    Whatever the second task does, the error falls until the smallest σ²/e_j⁽⁰⁾ and rises after the largest
    (corrections row 8). If one of them is infinite, the error levels off beyond every scale of the problem.
    """
    low = np.log(prior.min())
    if initial.all():
        high = np.log(prior.max())
    else:
        scales = np.concatenate([information, prior[np.isfinite(prior)]])
        high = np.log(scales.max()) + TAIL
    return np.linspace(low, high, 2 + int((high - low) / GRID_STEP)) if high > low else np.array([low])
