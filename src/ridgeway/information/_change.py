"""Does a task have the parameter of the past? The odds, if each has noise of its own."""

from dataclasses import dataclass

import numpy as np

from ridgeway._checks import Array
from ridgeway.information._base import Information
from ridgeway.information._inference import Inference
from ridgeway.linalg import EPS, column_complement, svd_economic

SIZES, MANY_SIZES = np.geomspace(3.0, 300.0, 3), np.geomspace(0.1, 1e10, 45)
"""Sizes of a change relative to what the task can tell from its noise: for the odds, and to find the best."""
RATIOS = np.geomspace(1e-10, 1e10, 47)
"""Ratios of the noise variances, past over task, among which the best is looked for."""
STEPS, WIDTHS = np.linspace(-1.0, 1.0, 21), (0.5, 0.05, 5e-3)
"""How the logarithm of the best ratio is refined: steps about the best so far, and their widths."""
ROUNDING = 1e-13
"""Squares of a target that are taken for rounding, relative to all of its squares."""


def change_odds(past: Information, task: Information) -> float:
    """Return the log odds that the parameter of a task differs from that of the past, each with noise of its own.

    The noise of the past has the variance σ_0², that of the task σ_t², both unknown. As seen from the estimate ŵ of the
    past, the task's targets are r = y − Xŵ ~ N(0, σ_t²I + (σ_0² + τ²)·XJ⁻¹Xᵀ), where J is the information of the past
    and τ² = 0 unless the parameter has changed. With ρ = σ_0²/σ_t², g = τ²/σ_t², the eigenvalues s_j² of XJ⁻¹Xᵀ and the
    parts z_j of r along its eigenvectors, the likelihood of the ratios is

        L(ρ, g) = ρ^(−ν/2) · Π_j (1 + (ρ + g)s_j²)^(−1/2) · {S_t + S_0/ρ + Σ_j z_j²/(1 + (ρ + g)s_j²)}^(−(n + ν)/2).

    S_0 are the residual squares of the past, with ν degrees of freedom, S_t the squares of r along no eigenvector, and
    n is the number of rows of the task. The odds are the mean of max_ρ L(ρ, g) over a few g, divided by max_ρ L(ρ, 0);
    with several targets, the mean over the targets, whose noise may be correlated. For a given ρ this is a ratio of two
    probability densities: if nothing has changed, it exceeds 1/α with a probability of at most α, however noisy the
    task. The prior has no influence. O(p³).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge
    >>> from ridgeway.information import change_odds
    >>> x, noise = np.linspace(-1.0, 1.0, 40)[:, None], 0.1 * np.cos(9.0 * np.arange(40))
    >>> past, same, other = (
    ...     GeneralizedRidge().fit(x, slope * x[:, 0] + sign * noise).information_
    ...     for slope, sign in ((2.0, 1.0), (2.0, -1.0), (1.0, -1.0))
    ... )
    >>> change_odds(past, same) < 0.0 < change_odds(past, other)
    True
    """
    view = _View.of(past, task)
    likelihoods = view.best(np.r_[0.0, SIZES])[0]
    odds = np.logaddexp.reduce(likelihoods[1:]) - likelihoods[0]
    return float(np.logaddexp.reduce(odds, initial=-np.inf) - np.log(len(SIZES) * max(len(odds), 1)))


def useful_share(past: Information, task: Information, start: Array) -> float:
    """Return the share of the past that is worth keeping beside a task whose parameter has changed.

    Under the most probable change (`change_odds`), w ~ N(ŵ, (σ_0² + τ²)·J⁻¹): the past counts σ_0²/(σ_0² + τ²) as much
    as before. If the task is more probable under the same distribution about `start`, the share is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge
    >>> from ridgeway.information import useful_share
    >>> x, noise = np.linspace(-1.0, 1.0, 40)[:, None], 0.1 * np.cos(9.0 * np.arange(40))
    >>> past, near, far = (
    ...     GeneralizedRidge().fit(x, slope * x[:, 0] + sign * noise).information_
    ...     for slope, sign in ((2.0, 1.0), (2.2, -1.0), (-2.0, -1.0))
    ... )
    >>> start = np.zeros((1, 1))
    >>> 1.0 > useful_share(past, near, start) > useful_share(past, far, start)
    True
    """
    view = _View.of(past, task)
    likelihoods, shares = view.best(MANY_SIZES)
    if likelihoods.size == 0:
        return 1.0
    size, target = np.unravel_index(likelihoods.argmax(), likelihoods.shape)
    from_start = _View.of(past, task, start).best(MANY_SIZES)[0][:, target].max()
    return float(shares[size, target]) if likelihoods[size, target] >= from_start else 0.0


@dataclass(frozen=True, eq=False)
class _View:
    """A task as seen from the past, in the symbols of `change_odds`.

    Attributes
    ----------
    strengths : ndarray of shape (q,)
        s_j².
    errors : ndarray of shape (n_targets, q)
        z_j².
    left, left_of_past : ndarray of shape (n_targets,)
        S_t and S_0.
    n_samples, freedom : int
        n and ν.
    """

    strengths: Array
    errors: Array
    left: Array
    left_of_past: Array
    n_samples: int
    freedom: int

    @classmethod
    def of(cls, past: Information, task: Information, coef: Array | None = None) -> "_View":
        """See a task from the past's own estimate, or from other coefficients."""
        p, c, zeros = past.n_features, int(past.centered), np.zeros((past.n_features, past.n_targets))
        known = Inference(past, zeros[:, 0], zeros, past.solve(zeros[:, 0], zeros).coef)
        space, factor, root = known.row_space, task.factor(), np.sqrt(task.total_weight)
        apart = root * ((task.mean - past.mean) + (task.mean_low - past.mean_low))
        X, y = np.hsplit(np.vstack([*([apart] * c), factor[:p]]), [p])  # rows that stand for all, about the past's mean
        r, n = y - X @ (known.coef if coef is None else coef), task.n_samples
        with np.errstate(divide="ignore"):
            inverse = np.where(space.scale > 0.0, 1.0 / space.scale, 0.0)
        inside = X @ (inverse[:, None] * space.basis / space.values)
        ones = np.zeros((p + c, c))
        ones[:1] = root / np.sqrt(past.total_weight)
        whitened = np.hstack([ones, inside])
        if space.rank < p:  # what the past does not know is free: only rows orthogonal to it can be compared
            rest = column_complement(X - inside @ (space.values[:, None] * space.basis.T * space.scale), X)
            whitened, r, n = rest.T @ whitened, rest.T @ r, n - (p + c - rest.shape[1])
        U, s, _ = svd_economic(whitened)
        z = U.T @ r
        left = np.square(factor[p:, p:]).sum(axis=0) + np.square(r - U @ z).sum(axis=0)
        floor = _rounding(past) + _rounding(task)
        used = floor > 0.0
        return cls(
            strengths=np.square(s),
            errors=np.square(z.T)[used],
            left=(left + floor)[used],
            left_of_past=(known.residual_squares + floor)[used],
            n_samples=n,
            freedom=known.degrees_of_freedom,
        )

    def best(self, sizes: Array) -> tuple[Array, Array]:
        """Return max_ρ log L(ρ, g) for each size of the change, and ρ/(ρ + g) there; both (sizes, n_targets)."""
        changes = sizes / self.strengths.mean() if len(self.strengths) else sizes
        grid = np.broadcast_to(np.log(RATIOS)[:, None, None], (len(RATIOS), len(sizes), len(self.left)))
        for width in (*WIDTHS, 0.0):
            values = self._likelihood(grid, changes)
            best = values.argmax(axis=0)[None]
            centre = np.take_along_axis(grid, best, axis=0)
            grid = centre + width * STEPS[:, None, None]
        ratio = np.exp(centre[0])
        return np.take_along_axis(values, best, axis=0)[0], ratio / (ratio + changes[:, None])

    def _likelihood(self, log_ratio: Array, sizes: Array) -> Array:
        """Return log L(ρ, g), (ratios, sizes, n_targets)."""
        ratio = np.exp(log_ratio)
        spread = 1.0 + (ratio + sizes[:, None])[..., None] * self.strengths
        squares = self.left + self.left_of_past / ratio + (self.errors / spread).sum(axis=-1)
        fit = (self.n_samples + self.freedom) * np.log(squares)
        return np.asarray(-0.5 * (self.freedom * log_ratio + np.log(spread).sum(axis=-1) + fit))


def _rounding(held: Information) -> Array:
    """Return the squares of each target that are taken for rounding, (n_targets,): 0 if it is always 0."""
    p = held.n_features
    return np.asarray(ROUNDING * held.peak[p:] + held.total_weight * np.square(EPS * held.mean[p:]))
