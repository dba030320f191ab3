"""The evidence: how probable the rows are under a prior, and the prior under which they are most probable.

y = Xw + b + ε with ε ~ N(0, σ²/weight), w ~ N(start, σ²P⁻¹) and b flat. Only the information is needed.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.errors import InferenceError
from ridgeway.information._base import Information
from ridgeway.kernels import svd
from ridgeway.linalg import tolerance

GRID = 80
"""Penalties at which the evidence is computed before the best is refined."""
FLAT = 1e-9
"""Differences of −2·log evidence that mean nothing."""
WIDE = 1e10
"""How far beyond the information about any direction a penalty is looked for."""
SMALLEST_ROOT, LARGEST_ROOT = 1e-120, 1e140
"""Limits on the largest singular value: beyond them, penalties to compare with its square overflow or vanish."""


@dataclass(frozen=True, eq=False)
class LearnedPrior:
    """A prior P = λI = σ²·E_0⁻¹ and the noise, learned from the information.

    Attributes
    ----------
    prior : ndarray of shape (n_features,)
        The diagonal of P: λ, the same for all targets.
    noise_variance : ndarray of shape (n_targets,)
        σ².
    log_evidence : float
        Log marginal likelihood of all rows at these values, summed over the targets.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge
    >>> from ridgeway.information import learn_penalty
    >>> model = GeneralizedRidge().fit([[0], [1], [2], [3]], [0.1, 0.9, 2.2, 2.8])
    >>> found = learn_penalty(model.information_, np.zeros((1, 1)))
    >>> np.allclose(found.prior, found.noise_variance / model.coef_**2, rtol=0.1)  # σ²/w²
    True
    """

    prior: Array
    noise_variance: Array
    log_evidence: float


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The information in its own directions, X = U diag(s) Vᵀ: each score is N(s_j·v_jᵀ(w − start), σ²).

    Attributes
    ----------
    values : ndarray of shape (p,)
        s_j².
    directions : ndarray of shape (p, p)
        The v_j, as columns.
    scores : ndarray of shape (p, n_targets)
        u_jᵀ(y − X·start).
    left : ndarray of shape (n_targets,)
        What no direction explains, in squares.
    n_samples : int
        Rows, one less for an intercept.
    constant : float
        Part of −2·log evidence, per target, that depends on nothing to be learned.
    """

    values: Array
    directions: Array
    scores: Array
    left: Array
    n_samples: int
    constant: float

    @classmethod
    def of(cls, information: Information, start: Array) -> "Spectrum":
        """Decompose the information, or raise `InferenceError` if it has too few rows to learn a prior from. O(p³)."""
        n = information.n_samples - information.centered
        if n < 2:
            rows = counted(information.n_samples, "row") + " and an intercept" * information.centered
            raise InferenceError(
                f"the evidence of {rows} cannot tell noise from signal. Learn more rows, or give the prior as a number."
            )
        p, factor = information.n_features, information.factor()
        U, s, Vt = svd(factor[:p, :p])
        if s[0] > LARGEST_ROOT or 0.0 < s[0] < SMALLEST_ROOT:
            raise InferenceError(
                f"the features are of size {s[0]:.1g}; a prior can be learned from {SMALLEST_ROOT:g} to "
                f"{LARGEST_ROOT:g}. Change their units, or give the prior as a number."
            )
        scores = U.T @ (factor[:p, p:] - factor[:p, :p] @ start)
        left = np.square(factor[p:, p:]).sum(axis=0)

        # A target that is constant but for rounding has neither signal nor noise.
        offset = np.sqrt(information.total_weight) * np.abs(information.mean[p:])
        is_constant = np.sqrt(left + np.square(scores).sum(axis=0)) <= tolerance(p) * offset
        scores[:, is_constant] = 0.0
        left[is_constant] = 0.0

        constant = n * np.log(2.0 * np.pi) - information.log_weight
        if information.centered:
            constant += np.log(information.total_weight)
        return cls(np.square(s), Vt.T, scores, left, n, float(constant))

    def learned(self, penalty: float) -> LearnedPrior:
        """Return the prior of a penalty, with the noise and the evidence that belong to it."""
        # σ² = (rss + λ‖ŵ − start‖²)/n
        shrunk = penalty / (self.values + penalty)
        variance = (self.left + shrunk @ np.square(self.scores)) / self.n_samples

        # −2·log evidence, of which log det(I + J/λ) is a part
        log_determinant = float(np.log1p(self.values / penalty).sum())
        with np.errstate(divide="ignore"):
            noise = self.n_samples * (np.log(variance) + 1.0)
        log_evidence = float(-0.5 * (noise + log_determinant + self.constant).sum())

        return LearnedPrior(np.full(len(self.values), penalty), variance, log_evidence)

    def deviance(self, penalties: Array) -> tuple[Array, Array]:
        """Return −2·log evidence of λI at the best σ², up to a constant, and its slope in log λ.

        If σ² is integrated out under p(σ²) ∝ 1/σ² instead, only the constant is another one.
        """
        used, n = self.varies, self.n_samples
        squares = np.square(self.scores[:, used])
        shrunk = penalties[:, None] / (self.values + penalties[:, None])
        rss = self.left[used] + shrunk @ squares
        spread = np.log1p(self.values / penalties[:, None]).sum(axis=1)
        slopes = (shrunk * (1.0 - shrunk)) @ squares / rss
        kept = (1.0 - shrunk).sum(axis=1)
        return n * np.log(rss).sum(axis=1) + used.sum() * spread, n * slopes.sum(axis=1) - used.sum() * kept

    @property
    def rank(self) -> int:
        """How many directions are known at all; the values descend."""
        return int(np.count_nonzero(self.values > self.values[0] * tolerance(len(self.values)) ** 2))

    @property
    def penalties(self) -> Array:
        """The penalties to try: from far below the information about any direction to far above."""
        largest, smallest = (float(self.values[j]) if self.rank else 1.0 for j in (0, self.rank - 1))
        return np.geomspace(smallest / WIDE, largest * WIDE, GRID)

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Which targets vary at all: the others have no noise and no signal to tell apart."""
        return np.asarray(self.left + np.square(self.scores).sum(axis=0) > 0.0)


def learn_penalty(information: Information, start: Array) -> LearnedPrior:
    """Return the P = λI of largest evidence, each target with a noise of its own. One SVD, O(p³).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge
    >>> from ridgeway.information import learn_penalty
    >>> model = GeneralizedRidge().fit([[0], [1], [2], [3]], [0.1, 0.9, 2.2, 2.8])
    >>> learn_penalty(model.information_, np.zeros((1, 1))).prior.round(4)
    array([0.0468])
    """
    return learn_from(Spectrum.of(information, start))


def evidence_estimate(information: Information, start: Array) -> Array:
    """Return ŵ under the P = λI of largest evidence, (n_features, n_targets), from one SVD for both. O(p³).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge
    >>> from ridgeway.information import evidence_estimate, learn_penalty
    >>> model = GeneralizedRidge().fit([[0], [1], [2], [3]], [0.1, 0.9, 2.2, 2.8])
    >>> held, start = model.information_, np.zeros((1, 1))
    >>> prior = learn_penalty(held, start).prior
    >>> np.allclose(evidence_estimate(held, start), held.solve(prior, start).coef)
    True
    """
    spectrum = Spectrum.of(information, start)
    known = np.sqrt(spectrum.values) / (spectrum.values + learn_from(spectrum).prior)
    return np.asarray(start + spectrum.directions @ (known[:, None] * spectrum.scores))


def learn_from(spectrum: Spectrum) -> LearnedPrior:
    """Return the P = λI of largest evidence. O(p)."""
    return spectrum.learned(_best_penalty(spectrum))


def _best_penalty(spectrum: Spectrum) -> float:
    """Return the penalty of largest evidence: the best of a grid, refined until the slope is zero."""
    grid = np.log(spectrum.penalties)
    values, slopes = spectrum.deviance(np.exp(grid))
    # If the evidence is flat, as it may be with fewer rows than features, take the smallest of the best penalties.
    best = int(np.argmax(values <= values.min() + FLAT))
    other = best - 1 if slopes[best] > 0.0 else best + 1
    if not 0 <= other < GRID or slopes[best] * slopes[other] >= 0.0:
        return float(np.exp(grid[best]))

    def slope(log: float) -> float:
        return float(spectrum.deviance(np.exp(np.array([log])))[1][0])

    return float(np.exp(scipy.optimize.brentq(slope, grid[best], grid[other], xtol=1e-13)))
