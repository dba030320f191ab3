"""How sure scores are: the factor that turns them into probabilities, softmax(factor·score).

The inverse of the factor is known as the temperature (Guo et al., 2017). It leaves the most probable class as it is.
"""

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import log_softmax, ndtri, softmax

from ridgeway._checks import Array
from ridgeway.linalg import psd_root

MOST_LOG, LEAST_LOG, DRAWS = 9, 4, 20_000
"""Draws for each class, as the logarithm to base 2, at most and at least, and about how many for all."""
WIDEST = 1e15
"""How far a factor is looked for, relative to the differences of the scores."""


def best_factor(scores: Array, positions: NDArray[np.intp], weights: Array, doubt: float) -> float | None:
    """Return the factor of least log-loss, or None if the scores are no better than chance.

    The loss is convex in the factor. The class of a row does not count as certain: otherwise a few rows that are all
    classified correctly would call for an infinite factor.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
    positions : ndarray of shape (n_samples,), the class of each row
    weights : ndarray of shape (n_samples,)
    doubt : the share of each row that counts for the other classes
    """
    wanted = np.full(scores.shape, doubt / max(scores.shape[1] - 1, 1))
    wanted[np.arange(len(scores)), positions] = 1.0 - doubt
    away = scores - scores.mean(axis=1, keepdims=True)
    target = float(weights @ (wanted * away).sum(axis=1))

    def slope(log_factor: float) -> float:
        return float(weights @ (softmax(np.exp(log_factor) * away, axis=1) * away).sum(axis=1)) - target

    size = float(np.abs(away).max(initial=0.0))
    if size == 0.0 or target <= np.finfo(float).eps * size * float(weights.sum()):
        return None
    middle, reach = -np.log(size), np.log(WIDEST)
    if slope(middle - reach) >= 0.0 or slope(middle + reach) <= 0.0:
        return None
    return float(np.exp(scipy.optimize.brentq(slope, middle - reach, middle + reach, xtol=1e-10)))


def normal_factor(shares: Array, means: Array, covariance: Array, n_rows: float) -> float | None:
    """Return the factor of least expected log-loss, if the scores of each class are normal with a common covariance.

    Each class counts as if one of n + K rows were of it, whatever its scores. The draws are fixed: points that fill the
    unit cube evenly (a Sobol' sequence), as normal quantiles.

    Parameters
    ----------
    shares : ndarray of shape (n_classes,), all positive
    means : ndarray of shape (n_classes, n_classes), those of one class in each row
    covariance : ndarray of shape (n_classes, n_classes)
    n_rows : n, the rows that this is known from
    """
    doubt = (len(shares) - 1.0) / (n_rows + len(shares))
    normal = normal_draws(covariance)
    n_draws = len(normal)
    scores = (means[:, None] + normal).reshape(-1, len(covariance))
    return best_factor(scores, np.repeat(np.arange(len(shares)), n_draws), np.repeat(shares / n_draws, n_draws), doubt)


def normal_draws(covariance: Array) -> Array:
    """Return draws of scores about their means, one per row: the same each time, fewer the more classes there are."""
    log_draws = int(np.clip(np.log2(DRAWS / len(covariance)), LEAST_LOG, MOST_LOG))
    return np.asarray(even_normals(log_draws, len(covariance)) @ psd_root(covariance))


def even_normals(log_draws: int, n_columns: int) -> Array:
    """Return standard normal quantiles of 2^log_draws points that fill the unit cube evenly, each in one row."""
    from scipy.stats import qmc

    points = qmc.Sobol(n_columns, scramble=False).random_base2(log_draws)
    return np.asarray(ndtri(points + 0.5 ** (log_draws + 1)))  # the first point is 0


def log_probabilities(scores: Array, factor: float) -> Array:
    """Return log softmax(factor·score), (n_samples, n_classes)."""
    return np.asarray(log_softmax(factor * scores, axis=1))
