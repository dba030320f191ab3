"""The likelihoods with one linear predictor."""

import numpy as np
import scipy

from ridgeway._checks import Array
from ridgeway.errors import InvalidDataError
from ridgeway.likelihoods._likelihood import Likelihood, Slopes
from ridgeway.likelihoods._multinomial import Multinomial


class Gaussian(Likelihood):
    """Numbers with noise of variance 1: ℓ = −(y − η)²/2 − log(2π)/2. Nothing is lost by keeping it as a quadratic.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.likelihoods import Gaussian
    >>> Gaussian().slopes(np.array([[1.0]]), np.array([[3.0]])).gradient
    array([[2.]])
    """

    name = "gaussian"

    def check(self, y: Array) -> None:
        """Accept every number."""

    def value(self, predictor: Array, y: Array) -> Array:
        """Return ℓ of each row."""
        return np.asarray(-0.5 * np.square(y - predictor)[:, 0] - 0.5 * np.log(2.0 * np.pi))

    def slopes(self, predictor: Array, y: Array) -> Slopes:
        """Return y − η, 1 and 0."""
        one = np.ones(len(y))
        return _slopes((y - predictor)[:, 0], one, 0.0 * one)

    def mean(self, predictor: Array) -> Array:
        """Return η."""
        return predictor

    def link(self, mean: Array) -> Array:
        """Return the mean."""
        return mean


class Binomial(Likelihood):
    """Yes or no, with the logit link: ℓ = y·η − log(1 + e^η), for y in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.likelihoods import Binomial
    >>> slopes = Binomial().slopes(np.array([[0.0]]), np.array([[1.0]]))
    >>> slopes.gradient, slopes.curvature[0]
    (array([[0.5]]), array([[0.25]]))
    """

    name = "binomial"

    def with_targets(self, n_targets: int) -> Likelihood:
        """Return the likelihood of n_targets + 1 classes."""
        return self if n_targets == 1 else Multinomial(n_targets + 1)

    def check(self, y: Array) -> None:
        """Raise if a value is outside [0, 1]."""
        outside = y[(y < 0.0) | (y > 1.0)]
        if len(outside):
            raise InvalidDataError(f"y must be 0 or 1; got {outside[0]:g}. Pass 1 for yes and 0 for no.")

    def value(self, predictor: Array, y: Array) -> Array:
        """Return ℓ of each row; nothing cancels, however large |η| is."""
        eta, seen = predictor[:, 0], y[:, 0]
        return np.asarray(-seen * np.logaddexp(0.0, -eta) - (1.0 - seen) * np.logaddexp(0.0, eta))

    def slopes(self, predictor: Array, y: Array) -> Slopes:
        """Return y − μ, μ(1 − μ) and −μ(1 − μ)(1 − 2μ) with μ = 1/(1 + e^−η)."""
        eta, seen = predictor[:, 0], y[:, 0]
        up, down = scipy.special.expit(eta), scipy.special.expit(-eta)
        curvature = up * down
        return _slopes(seen * down - (1.0 - seen) * up, curvature, curvature * np.tanh(0.5 * eta))

    def mean(self, predictor: Array) -> Array:
        """Return 1/(1 + e^−η)."""
        return np.asarray(scipy.special.expit(predictor))

    def link(self, mean: Array) -> Array:
        """Return log(μ/(1 − μ))."""
        return np.asarray(np.log(mean) - np.log1p(-mean))


class Poisson(Likelihood):
    """Counts, with the log link: ℓ = y·η − e^η − log y!, for y ≥ 0.

    A y that is not whole is a rate: the count per unit of exposure, with the exposure as its weight.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.likelihoods import Poisson
    >>> Poisson().slopes(np.array([[0.0]]), np.array([[3.0]])).gradient
    array([[2.]])
    """

    name = "poisson"

    def check(self, y: Array) -> None:
        """Raise if a value is negative."""
        if (y < 0.0).any():
            raise InvalidDataError(
                f"y must hold counts ≥ 0; got {y.min():g}. For numbers of any sign use GeneralizedRidge."
            )

    def has_rates(self, y: Array) -> bool:
        """Return whether a value is not whole."""
        return bool((y != np.round(y)).any())

    @np.errstate(over="ignore")
    def value(self, predictor: Array, y: Array) -> Array:
        """Return ℓ of each row."""
        eta, seen = predictor[:, 0], y[:, 0]
        return np.asarray(seen * eta - np.exp(eta) - scipy.special.gammaln(seen + 1.0))

    @np.errstate(over="ignore")
    def slopes(self, predictor: Array, y: Array) -> Slopes:
        """Return y − μ, μ and −μ with μ = e^η."""
        mean = np.exp(predictor[:, 0])
        return _slopes(y[:, 0] - mean, mean, -mean)

    @np.errstate(over="ignore")
    def mean(self, predictor: Array) -> Array:
        """Return e^η."""
        return np.asarray(np.exp(predictor))

    def link(self, mean: Array) -> Array:
        """Return log μ."""
        return np.asarray(np.log(mean))


def _slopes(gradient: Array, curvature: Array, third: Array) -> Slopes:
    return Slopes(gradient[:, None], curvature[:, None, None], third[:, None, None, None])
