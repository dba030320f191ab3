"""What is known about single numbers: Student's t, or a mixture of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from ridgeway._checks import Array

MOST_STEPS, ENOUGH = 100, 1e-11
"""Steps of Newton's method at most, and the share of a standard deviation to which a quantile is found."""
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Marginals:
    """Mixtures of Student's t, one for each of q numbers and each target.

    Attributes
    ----------
    shares : ndarray of shape (m,)
        Of the components; they sum to 1. One component is Student's t itself.
    means, scales : ndarray of shape (m, n_targets, q)
        Location and scale of each component; an infinite scale says that nothing is known.
    degrees_of_freedom : int

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.information import Marginals
    >>> normal = Marginals(np.ones(1), np.array([[[2.0]]]), np.array([[[0.5]]]), 10**6)
    >>> np.round(normal.bounds(0.95), 2).ravel()  # 2 ± 1.96 · 0.5
    array([1.02, 2.98])
    """

    shares: Array
    means: Array
    scales: Array
    degrees_of_freedom: int

    @cached_property
    def mean(self) -> Array:
        """The means, of shape (n_targets, q)."""
        return self._average(self.means)

    @cached_property
    def deviations(self) -> Array:
        """The standard deviations, those of a component being its scale; of shape (n_targets, q)."""
        if len(self.shares) == 1:
            return np.asarray(self.scales[0])
        return np.sqrt(self._average(np.square(self.scales) + np.square(self.means - self.mean)))

    def p_values(self, at: Array | float = 0.0) -> Array:
        """Return twice the smaller of the probabilities below and above `at`, of shape (n_targets, q)."""
        nu, places = self._places(at)
        below, above = (self._average(scipy.special.stdtr(nu, sides)) for sides in (places, -places))
        return np.asarray(2.0 * np.minimum(below, above))

    def bounds(self, level: float) -> tuple[Array, Array]:
        """Return the lower and the upper end of the intervals that hold `level`, half of the rest on either side."""
        return self._quantile(0.5 - level / 2.0), self._quantile(0.5 + level / 2.0)

    def _quantile(self, share: float) -> Array:
        """Return where the distribution functions reach `share`, by Newton's method kept between bounds."""
        place = scipy.special.stdtrit(self.degrees_of_freedom, share)
        ends = self.means + place * self.scales
        low, high = ends.min(axis=0), ends.max(axis=0)
        if len(ends) == 1:
            return np.asarray(low)
        at = np.clip(self.mean + place * self.deviations, low, high)
        for _ in range(MOST_STEPS):
            excess = self._below(at) - share
            low, high = np.where(excess < 0.0, at, low), np.where(excess < 0.0, high, at)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = at - excess / self._density(at)
            following = np.where((step > low) & (step < high), step, (low + high) / 2.0)
            moved, at = np.abs(following - at), following
            if (moved <= ENOUGH * self.deviations).all():
                break
        return np.asarray(at)

    def _average(self, values: Array) -> Array:
        return np.asarray(np.tensordot(self.shares, values, axes=1))

    def _places(self, at: Array | float) -> tuple[int, Array]:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scales = self.scales if len(self.shares) == 1 else np.maximum(self.scales, TINY)
            return self.degrees_of_freedom, (at - self.means) / scales

    def _below(self, at: Array | float) -> Array:
        return self._average(scipy.special.stdtr(*self._places(at)))

    @np.errstate(over="ignore")
    def _density(self, at: Array) -> Array:
        nu, places = self._places(at)
        peak = np.exp(scipy.special.gammaln((nu + 1) / 2) - scipy.special.gammaln(nu / 2)) / np.sqrt(nu * np.pi)
        heights = peak * np.exp(-(nu + 1) / 2 * np.log1p(np.square(places) / nu))
        return self._average(heights / np.maximum(self.scales, TINY))
