"""Discriminant analysis from information whose targets are classes: one column of zeros and ones for each.

If y_k is 1 in the rows of class k and 0 in all others, the co-moments of x and y_k are n_k(x̄_k − x̄): the class means
are in the information, and so is what varies within the classes, S − Σ_k n_k(x̄_k − x̄)(x̄_k − x̄)ᵀ.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ridgeway._checks import Array
from ridgeway.information._base import Information
from ridgeway.linalg import solve_moments, tolerance


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """How much the rows of each class weigh, and where they are.

    Attributes
    ----------
    weights : ndarray of shape (n_classes,)
        n_k, the sum of the weights of the rows; 0 for a class without rows.
    means : ndarray of shape (n_features, n_classes)
        x̄_k; 0 for a class without rows.
    between : ndarray of shape (n_features, n_classes)
        √n_k·(x̄_k − x̄), or √n_k·x̄_k if the information is not centred.
    """

    weights: Array
    means: Array
    between: Array

    @classmethod
    def of(cls, held: Information) -> "ClassMeans":
        """Take the means from information. O(p²) per class."""
        p, weights = held.n_features, class_weights(held)
        cross = held.times(_targets(held))[:p]
        divisor = np.where(weights > 0.0, weights, np.inf)
        centre = (held.mean + held.mean_low)[:p, None] * (weights > 0.0)
        return cls(weights, cross / divisor + centre, cross / np.sqrt(divisor))

    @property
    def shares(self) -> Array:
        """The shares of the classes in the rows, of shape (n_classes,)."""
        return np.asarray(self.weights / self.weights.sum())


def class_weights(held: Information) -> Array:
    """Return the sum of the weights of each class's rows, (n_classes,); 0 without rows.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidgeClassifier
    >>> from ridgeway.information import class_weights
    >>> model = GeneralizedRidgeClassifier().fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> class_weights(model.state_.information)
    array([2., 1.])
    """
    p = held.n_features
    if held.centered:
        return np.asarray(held.total_weight * (held.mean + held.mean_low)[p:].clip(0.0))
    return np.asarray(held.times(_targets(held))[p:].diagonal().clip(0.0))


def within_squares(held: Information) -> Array:
    """Return Σ w·(x − x̄_k)(x − x̄_k)ᵀ, each row about the mean of its class, (n_features, n_features). O(p³) at most.

    A feature that is constant in each class but for rounding has zeros.
    """
    p = held.n_features
    offset = np.sqrt(held.total_weight) * np.abs(held.mean[:p])
    return _less(held.moments()[:p, :p], ClassMeans.of(held).between.T, offset)


def shrunk_covariance(held: Information, shrinkage: float) -> Array:
    """Return (1 − s)·C + s·(trace C/p)·I, where C is the covariance within the classes, divided by the weight.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidgeClassifier
    >>> from ridgeway.information import shrunk_covariance
    >>> X = [[-1.0, 0.0], [1.0, 0.0], [5.0, -3.0], [5.0, 3.0]]
    >>> held = GeneralizedRidgeClassifier().fit(X, ["a", "a", "b", "b"]).state_.information
    >>> shrunk_covariance(held, 0.0).diagonal(), shrunk_covariance(held, 1.0).diagonal()
    (array([0.5, 4.5]), array([2.5, 2.5]))
    """
    return _shrunk(within_squares(held) / held.total_weight, shrinkage)


def oas_covariance(classes: Iterable[Information], *, balanced: bool) -> Array:
    """Return the mean of the classes' covariances, each shrunk as far as it is best for a normal distribution.

    The shrinkage is the oracle approximating one (OAS) of Chen et al. (2010), in the form that scikit-learn uses. It
    depends on the covariance and the number of rows alone, for which their weight is taken.

    Parameters
    ----------
    classes : the information of each class
    balanced : whether all classes count the same, or according to their weight

    Examples
    --------
    >>> from ridgeway import GeneralizedRidgeClassifier
    >>> from ridgeway.information import oas_covariance
    >>> X = [[-1.0, 0.0], [1.0, 0.0], [5.0, -3.0], [5.0, 3.0]]
    >>> held = GeneralizedRidgeClassifier().fit(X, ["a", "a", "b", "b"]).state_.information
    >>> covariance = oas_covariance([held], balanced=True)
    >>> float(covariance.trace().round(8))  # shrinking keeps the trace, 0.5 + 4.5
    5.0
    """
    shrunk, shares = [], []
    for part in classes:
        covariance = within_squares(part) / part.total_weight
        shrunk.append(_shrunk(covariance, _oas(covariance, part.total_weight)))
        shares.append(part.total_weight)
    return np.asarray(np.average(shrunk, axis=0, weights=None if balanced else shares))


def discriminants(held: Information, covariance: Array) -> tuple[Array, Array]:
    """Return the linear discriminants of the classes: C⁻¹x̄_k and log π_k − ½·x̄_kᵀC⁻¹x̄_k.

    If the covariance is singular, its pseudoinverse is taken. A class without rows has the intercept −∞.

    Parameters
    ----------
    held : Information
    covariance : ndarray of shape (n_features, n_features)

    Returns
    -------
    coef : ndarray of shape (n_features, n_classes)
    intercept : ndarray of shape (n_classes,)

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidgeClassifier
    >>> from ridgeway.information import discriminants
    >>> X = [[-1.0], [1.0], [5.0], [7.0]]
    >>> held = GeneralizedRidgeClassifier().fit(X, ["a", "a", "b", "b"]).state_.information
    >>> coef, intercept = discriminants(held, np.eye(1))
    >>> coef, 3.0 * coef + intercept  # scores are equal half-way between the class means
    (array([[0., 6.]]), array([[-0.69, -0.69]]))
    """
    classes = ClassMeans.of(held)
    coef = solve_moments(np.triu(covariance), classes.means, size=held.n_features).coef
    with np.errstate(divide="ignore"):
        priors = np.log(classes.shares)
    return coef, np.asarray(priors - 0.5 * (classes.means * coef).sum(axis=0))


def score_moments(held: Information, coef: Array, intercept: Array) -> tuple[Array, Array]:
    """Return how scores x·coef + intercept are distributed in each class. O(p²) per class.

    Returns
    -------
    means : ndarray of shape (n_classes, n_scores)
    covariance : ndarray of shape (n_scores, n_scores), within the classes

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidgeClassifier
    >>> from ridgeway.information import score_moments
    >>> X = [[-1.0], [1.0], [5.0], [7.0]]
    >>> held = GeneralizedRidgeClassifier().fit(X, ["a", "a", "b", "b"]).state_.information
    >>> score_moments(held, np.array([[2.0]]), np.zeros(1))  # of scores 2x
    (array([[ 0.], [12.]]), array([[4.]]))
    """
    classes, p = ClassMeans.of(held), held.n_features
    squares = coef.T @ held.times(np.pad(coef, ((0, len(held.mean) - p), (0, 0))))[:p]
    within = _less((squares + squares.T) / 2.0, classes.between.T @ coef)
    return np.asarray(classes.means.T @ coef + intercept), within / held.total_weight


def _targets(held: Information) -> Array:
    """Return the columns of the identity that select the targets."""
    return np.eye(len(held.mean), held.n_targets, -held.n_features)


def _less(squares: Array, rows: Array, offset: Array | float = 0.0) -> Array:
    """Subtract rowsᵀ·rows from squares, in place, and return them; zeros for columns of which only rounding is left.

    A column carries the rounding of its squares, and that of what centring took off it, a norm of `offset`.
    """
    limit = tolerance(len(squares))
    least = limit * squares.diagonal() + np.square(limit * np.asarray(offset))
    squares -= rows.T @ rows
    rounding = squares.diagonal() <= least
    squares[rounding] = squares[:, rounding] = 0.0
    return squares


def _shrunk(covariance: Array, shrinkage: float) -> Array:
    shrunk = (1.0 - shrinkage) * covariance
    shrunk.flat[:: len(shrunk) + 1] += shrinkage * np.trace(covariance) / len(shrunk)
    return np.asarray(shrunk)


def _oas(covariance: Array, n_samples: float) -> float:
    p = len(covariance)
    squares, mean = float(np.square(covariance).mean()), float(np.trace(covariance)) / p
    spread = (n_samples + 1) * (squares - mean**2 / p)
    return min((squares + mean**2) / spread, 1.0) if spread > 0.0 else 1.0
