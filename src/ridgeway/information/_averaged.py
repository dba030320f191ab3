"""What is known if the penalty itself is learned: averaged over the penalties that the rows allow."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.data import dense
from ridgeway.errors import PriorWarning
from ridgeway.information._evidence import Spectrum
from ridgeway.information._inference import Inference
from ridgeway.information._marginals import Marginals

STEP, POINTS = 0.25, 96
"""Step of the search in log λ, and number of quadrature points in the range that it finds."""
REACH, DEPTH = 30.0, 28.0
"""How far beyond the information log λ is searched, and how far below its peak the log density still counts."""
BOUND = 1e6
"""A penalty this many times larger or smaller than all that is known leaves no signal, or no noise."""


@dataclass(frozen=True, eq=False)
class AveragedInference:
    """What is known about w under P = λI if λ is unknown: a mixture of the posteriors under each λ.

    The prior of λ is the uniform shrinkage prior: λ/(λ + g) is uniform on (0, 1), where g = tr(J)/(n·p) is what one row
    says about one coefficient on average. So the prior is worth one row at the median, and any number between none and
    infinitely many is possible. With p(σ²) ∝ 1/σ² the posterior of λ is proportional to this prior times

        Π_j (λ/(s_j² + λ))^½ · (rss + λ‖ŵ_λ − start‖²)^(−n/2)   for each target.

    In log λ it is analytic in the strip |Im| < π and falls off exponentially, so that the trapezoidal rule converges
    geometrically.

    Attributes
    ----------
    learned : Inference
        Under the λ of largest evidence.
    spectrum : Spectrum
    penalties, shares : ndarray of shape (m,)
        λ, and its posterior probabilities.

    References
    ----------
    Strawderman (1971); Daniels (1999).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, weights
    >>> x = np.linspace(-1.0, 1.0, 30)[:, None]
    >>> model = GeneralizedRidge(weights.Accumulated(prior="evidence"))
    >>> known = model.fit(x, x[:, 0] + 0.3 * np.cos(9.0 * np.arange(30))).state_.inference()
    >>> low, high = known.marginals(np.eye(1), 0.0).bounds(0.95)
    >>> bool(low[0, 0] < known.learned.coef[0, 0] < high[0, 0])
    True
    """

    learned: Inference
    spectrum: Spectrum
    penalties: Array
    shares: Array

    @classmethod
    def of(cls, learned: Inference) -> "AveragedInference":
        """Average over λ, and warn if the λ of largest evidence is at the bound of what can be learned. O(p³)."""
        spectrum = Spectrum.of(learned.information, learned.start)
        _warn_at_the_bound(float(learned.prior[0]), spectrum)
        typical = _typical(spectrum)
        known = [typical, *spectrum.values[: spectrum.rank]]
        logs = np.arange(np.log(min(known)) - REACH, np.log(max(known)) + REACH, STEP)
        densities = _log_density(spectrum, np.exp(logs), typical)
        where = logs[densities > densities.max() - DEPTH]
        penalties = np.exp(np.linspace(where[0] - STEP, where[-1] + STEP, POINTS))
        densities = _log_density(spectrum, penalties, typical)
        shares = np.exp(densities - densities.max())
        return cls(learned, spectrum, penalties, shares / shares.sum())

    @property
    def information(self) -> Any:
        """What the past left behind."""
        return self.learned.information

    @property
    def prior(self) -> Array:
        """The prior of largest evidence."""
        return self.learned.prior

    @property
    def degrees_of_freedom(self) -> int:
        """Rows, one less for an intercept."""
        return self.spectrum.n_samples

    @property
    def noise_variance(self) -> Array:
        """The mean of σ̂² over the penalties, of shape (n_targets,)."""
        return np.asarray(self.shares @ self._variances)

    @property
    def residual_squares(self) -> Array:
        """Σ w·(y − ŷ)² at the estimate of largest evidence, of shape (n_targets,)."""
        return self.learned.residual_squares

    @property
    def total_squares(self) -> Array:
        """Σ w·(y − ȳ)², or Σ w·y² without an intercept; of shape (n_targets,)."""
        return self.learned.total_squares

    @property
    def effective_parameters(self) -> float:
        """The effective number of parameters at the estimate of largest evidence."""
        return self.learned.effective_parameters

    def marginals(self, functionals: Array, on_intercept: Array | float, extra: float = 0.0) -> Marginals:
        """As `Inference.marginals`: a mixture of Student's t."""
        spectrum, held = self.spectrum, self.information
        along = spectrum.directions.T @ self.learned.about(functionals, on_intercept)
        leverages = (1.0 / self._known) @ np.square(along) + np.square(on_intercept) / held.total_weight + extra
        scales = np.sqrt(self._variances[:, :, None] * leverages[:, None, :])
        shrunk = np.sqrt(spectrum.values) / self._known
        middle = self.shares @ shrunk
        coef = self.learned.start + spectrum.directions @ (middle[:, None] * spectrum.scores)
        base = coef.T @ functionals + held.intercept(coef)[:, None] * on_intercept
        away = np.stack([(shrunk - middle) @ (scores[:, None] * along) for scores in spectrum.scores.T], axis=1)
        return Marginals(self.shares, base + away, scales, self.degrees_of_freedom)

    def roots(self, functionals: Array, on_intercept: Array | float) -> tuple[Array, NDArray[np.bool_]]:
        """As `Inference.roots`: of the covariance of the mixture."""
        along = self.spectrum.directions.T @ self.learned.about(functionals, on_intercept)
        first = np.broadcast_to(on_intercept / np.sqrt(self.information.total_weight), (1, along.shape[1]))
        found = self.marginals(functionals, on_intercept)
        weights = np.sqrt(self.shares)
        spread = weights[:, None, None] * (found.means - found.mean)
        parts = [np.vstack([first, along / np.sqrt(known)[:, None]]) for known in self._known]
        factors = weights[:, None] * np.sqrt(self._variances)
        stacked = [
            np.vstack([spread[:, k], *(f * part for f, part in zip(factors[:, k], parts, strict=True))])
            for k in range(factors.shape[1])
        ]
        return np.stack(stacked), np.ones(along.shape[1], dtype=np.bool_)

    def predictive_deviations(self, X: Any) -> Array:
        """As `Inference.predictive_deviations`."""
        return self.marginals(dense(X).T, float(self.information.centered), extra=1.0).deviations.T

    @property
    def _known(self) -> Array:
        """s_j² + λ, of shape (m, p)."""
        return np.asarray(self.spectrum.values + self.penalties[:, None])

    @property
    def _variances(self) -> Array:
        """σ̂² under each λ, of shape (m, n_targets)."""
        shrunk = self.penalties[:, None] / self._known
        squares = self.spectrum.left + shrunk @ np.square(self.spectrum.scores)
        return np.asarray(squares / self.spectrum.n_samples)


def _typical(spectrum: Spectrum) -> float:
    """Return g, what one row says about one coefficient on average."""
    return float(spectrum.values.mean()) / spectrum.n_samples or 1.0


def _log_density(spectrum: Spectrum, penalties: Array, typical: float) -> Array:
    """Return the log of the posterior density of log λ, up to a constant."""
    deviance, _ = spectrum.deviance(penalties)
    prior = np.log(penalties / typical) - 2.0 * np.log1p(penalties / typical)
    return np.asarray(prior - 0.5 * deviance)


def _warn_at_the_bound(penalty: float, spectrum: Spectrum) -> None:
    if not spectrum.rank or BOUND * penalty > spectrum.values[spectrum.rank - 1] > 0.0:
        if penalty < BOUND * spectrum.values[0]:
            return
        what = "no signal, and coef_ is initial_coef"
    else:
        what = "no noise, and coef_ fits every row"
    warnings.warn(
        f"the penalty of largest evidence is at its bound: it finds {what}. Intervals are averaged over the penalty "
        "and allow for this; coef_ does not. Learn more rows, or give the prior as a number.",
        PriorWarning,
        stacklevel=5,
    )
