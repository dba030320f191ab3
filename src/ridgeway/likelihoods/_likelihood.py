"""What a likelihood is: the log-likelihood of one row, and its derivatives in the linear predictor."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from ridgeway._checks import Array


class Slopes(NamedTuple):
    """The derivatives of each row's log-likelihood ℓ in its linear predictors η, of which there are q.

    Attributes
    ----------
    gradient : ndarray of shape (n_samples, q)
        ℓ'.
    curvature : ndarray of shape (n_samples, q, q)
        −ℓ'', which must be positive semidefinite.
    third : ndarray of shape (n_samples, q, q, q)
        ℓ''', with its sign.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.likelihoods import Poisson
    >>> slopes = Poisson().slopes(np.log([[2.0]]), np.array([[5.0]]))
    >>> slopes.gradient, slopes.curvature[0], slopes.third[0, 0]  # y − μ, μ and −μ
    (array([[3.]]), array([[2.]]), array([[-2.]]))
    """

    gradient: Array
    curvature: Array
    third: Array


class Likelihood(ABC):
    """What one row says about w, through its linear predictors η = x·w + b + offset.

    A likelihood must be concave in η; with canonical links the observed and the expected information are the same. The
    dispersion is 1, and standard errors assume it. `y` has one column per linear predictor. |ℓ'''| must not
    exceed |ℓ''|: Newton's steps rely on it. A subclass is stored by its name, so it has no parameters.

    Attributes
    ----------
    name : str

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.likelihoods import Binomial, Gaussian, Poisson
    >>> for family in (Gaussian(), Binomial(), Poisson()):
    ...     print(family.name, family.mean(family.link(np.array([0.25]))))
    gaussian [0.25]
    binomial [0.25]
    poisson [0.25]
    """

    name: ClassVar[str]

    @property
    def n_predictors(self) -> int:
        """The number q of linear predictors of a row."""
        return 1

    @property
    def scores(self) -> Array:
        """What turns the q linear predictors into what a user sees, of shape (n_scores, q)."""
        return np.eye(1)

    def with_targets(self, n_targets: int) -> "Likelihood":
        """Return the likelihood for y with this many columns."""
        return self

    @abstractmethod
    def check(self, y: Array) -> None:
        """Raise `InvalidDataError` if a value of y cannot be observed."""

    def has_rates(self, y: Array) -> bool:
        """Return whether a value of y is a rate where counts are observed: ℓ is then not a log-probability."""
        return False

    @abstractmethod
    def value(self, predictor: Array, y: Array) -> Array:
        """Return ℓ of each row, of shape (n_samples,)."""

    @abstractmethod
    def slopes(self, predictor: Array, y: Array) -> Slopes:
        """Return the first three derivatives of ℓ of each row."""

    @abstractmethod
    def mean(self, predictor: Array) -> Array:
        """Return E[y], of shape (n_samples, q)."""

    @abstractmethod
    def link(self, mean: Array) -> Array:
        """Return the η at which E[y] is `mean`, of shape (…, q)."""
