"""Errors that allow the rows of a task, or of a cluster, to resemble each other."""

import warnings
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.errors import FewClustersWarning, InferenceError, InvalidParameterError
from ridgeway.kernels import right_svds
from ridgeway.retrospect._compressed import by_task, compressed
from ridgeway.retrospect._model import checked_level
from ridgeway.retrospect._robust import Fit, RobustSummary, upper_case
from ridgeway.retrospect._units import units_of

ClusteredKind = Literal["CR0", "CR1", "CR2", "CR3"]
By = Literal["task", "cluster"]

ALONE = 1.5e-8
"""A direction is known from one cluster alone if the others add less than this share."""
FEW = {"CR0": 40, "CR1": 40, "CR2": 10, "CR3": 10}
"""The number of clusters below which there is a warning."""
FEWEST_FREEDOM = 4.0
"""The degrees of freedom below which Satterthwaite's approximation is poor."""

POWERS = {"CR0": 0.0, "CR1": 0.0, "CR2": -0.5, "CR3": -1.0}
"""The adjustment of a cluster's score is this power of I − H_gg."""


def clustered(model: Any, kind: ClusteredKind = "CR2", *, by: By | None = None, level: float = 0.95) -> RobustSummary:
    """Return the coefficients with cluster-robust errors, as if all rows were available.

    Noise may differ in variance between rows, and rows of one cluster may depend on each other in any way; rows of
    different clusters are independent. The coefficients are those of least squares. With S_g = X_gᵀW_gX_g,
    s_g = X_gᵀW_g(y_g − X_g·ŵ) and M = (Σ S_g)⁻¹, the covariance is M·(Σ a_g·a_gᵀ)·M with

    - CR0: a_g = s_g. Too small with few clusters.
    - CR1: as CR0, times G/(G − 1) · (N − 1)/(N − K). What Stata and statsmodels report.
    - CR2: a_g = (I − S_gM)^(−½)·s_g (Bell and McCaffrey). Unbiased if rows are in fact independent and, weights aside,
      of equal variance. Satterthwaite's degrees of freedom for each term.
    - CR3: a_g = (I − S_gM)⁻¹·s_g: from the estimates without each cluster (jackknife); conservative. There is
      no factor (G − 1)/G, as in clubSandwich. Satterthwaite's degrees of freedom.

    If I − S_gM is singular, some terms cannot be estimated without cluster g, such as the coefficient of a column that
    is 0 everywhere else. A variance between clusters cannot be estimated from one of them: the errors of these terms
    are infinite, and `not_estimable` lists them. For the others the pseudo-inverse is used. O(G·p³).

    Parameters
    ----------
    model : GeneralizedRidge
        Fitted, with information="by_task", and without a prior.
    kind : {"CR0", "CR1", "CR2", "CR3"}, default "CR2"
    by : {"task", "cluster"}, optional
        What the clusters are: the tasks, or the clusters that were passed when the tasks were learned. By default, the
        latter if there are any.
    level : float, default 0.95
        Level of the intervals.

    Raises
    ------
    InferenceError
        If there is only one cluster, no degrees of freedom are left, or the model has a prior.

    Warns
    -----
    FewClustersWarning
        If there are few clusters (fewer than 10; for CR0 and CR1, 40), a term has fewer than four degrees of
        freedom, or one cluster alone decides it.

    References
    ----------
    Bell and McCaffrey (2002); Pustejovsky and Tipton (2018).

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> tasks = np.repeat(np.arange(12), 20)
    >>> X = rng.normal(size=(240, 1)) + rng.normal(size=12)[tasks, None]
    >>> # the rows of a task are alike
    >>> y = X[:, 0] + rng.normal(size=12)[tasks] + rng.normal(size=240)
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=tasks)
    >>> retrospect.summary(model).standard_errors.round(2)
    array([0.09, 0.06])
    >>> found = retrospect.clustered(model)
    >>> found.standard_errors.round(2), found.degrees_of_freedom.round(1)
    (array([0.24, 0.16]), array([9.8, 8.3]))
    """
    kind = upper_case(kind)
    if kind not in get_args(ClusteredKind):
        raise InvalidParameterError(f"kind must be one of {', '.join(map(repr, POWERS))}; got {kind!r}.")
    level = checked_level(level)
    chosen = _clusters(model, by)
    fit = Fit.of(model, "clustered")
    found = Adjusted.of(fit, model, chosen, kind)
    held, G = fit.known.information, len(found.values)
    scores = found.covariances()
    if kind == "CR1":
        scores = scores * (G / (G - 1) * (held.n_samples - 1) / fit.known.degrees_of_freedom)
    freedom = found.degrees_of_freedom(kind)
    cautions = _cautions(fit, found, freedom, kind)
    for caution in cautions:
        warnings.warn(caution, FewClustersWarning, stacklevel=2)
    one = "task" if chosen is None else "cluster"
    return fit.summary(
        scores,
        freedom,
        level,
        kind=kind,
        n_clusters=G,
        cautions=tuple(cautions),
        assumption=f"Confidence intervals. Rows of different {one}s are assumed independent; rows of the same {one} "
        "may depend on each other.",
    )


def _clusters(model: Any, by: Any) -> Any:
    """Return the parts that are the clusters, or None for the tasks, or raise."""
    held = by_task(model)
    if by not in (None, *get_args(By)):
        raise InvalidParameterError(f"by must be 'task' or 'cluster'; got {by!r}.")
    if by == "cluster" and not held.is_clustered:
        raise InvalidParameterError(
            "the clusters of the rows were not recorded for all tasks. Pass clusters= when tasks are learned, or use "
            "by='task'."
        )
    chosen = held.clusters() if held.is_clustered and by != "task" else None
    count = len(held.ids if chosen is None else chosen)
    if count < 2:
        raise InferenceError(f"there is only {count} cluster; errors by cluster need at least 2. Learn more tasks.")
    return chosen


@dataclass(frozen=True, eq=False)
class Adjusted:
    """The clusters in whitened coordinates, in which H_gg = U_gU_gᵀ with ΣU_gᵀU_g = I.

    With U_g = P·diag(s)·Vᵀ, a function f of I − H_gg is one of I − U_gᵀU_g: U_gᵀf(I − H_gg) = V·f(1 − s²)·Vᵀ·U_gᵀ.

    Attributes
    ----------
    fit : Fit
    values : ndarray of shape (G, r), s²
    vectors : ndarray of shape (G, r, r), Vᵀ
    scores : ndarray of shape (G, r, n_targets), Vᵀ·U_gᵀe_g
    factors : ndarray of shape (G, r), f(1 − s²)
    alone : ndarray of bool of shape (G, r), whether 1 − s² is 0
    """

    fit: Fit
    values: Array
    vectors: Array
    scores: Array
    factors: Array
    alone: NDArray[np.bool_]

    @classmethod
    def of(cls, fit: Fit, model: Any, parts: Any, kind: str) -> "Adjusted":
        few = compressed(model, parts)
        G, m, n_terms = few.X.shape
        U = fit.whitened(few.X.reshape(-1, n_terms)).reshape(G, m, len(fit.contrasts))
        residuals = few.y - few.X[:, :, few.is_centered :] @ fit.known.coef  # about the means there is no intercept
        s, vectors = right_svds(U)
        left = 1.0 - np.square(s)
        alone = left <= ALONE
        factors = np.where(alone, 1.0, left) ** POWERS[kind]  # the score has no part that is known from g alone
        return cls(fit, np.square(s), vectors, vectors @ (U.transpose(0, 2, 1) @ residuals), factors, alone)

    def covariances(self) -> Array:
        """Return Σ_g a_g·a_gᵀ for the adjusted scores a_g, (n_targets, r, r)."""
        adjusted = self.vectors.transpose(0, 2, 1) @ (self.factors[:, :, None] * self.scores)
        by_target = adjusted.transpose(2, 1, 0)
        return np.asarray(by_target @ by_target.transpose(0, 2, 1))

    def degrees_of_freedom(self, kind: str) -> Array:
        """Return them for each term; NaN if it is not determined, or not without one of the clusters.

        The variance of dᵀŵ is estimated by Σ_g (q_gᵀε)² with q_gᵀq_h = Q_gh = δ_gh·‖a_g‖² − b_gᵀb_h, where
        a_g = f(I − H_gg)·U_gd and b_g = U_gᵀa_g. For independent noise of equal variance its mean is ΣQ_gg and its
        variance 2ΣQ_gh², so that Satterthwaite's degrees of freedom are (ΣQ_gg)²/ΣQ_gh².
        """
        found = np.full(len(self.fit.terms), np.nan)
        for term in np.flatnonzero(self.fit.estimable & ~self.decided_alone()):
            d = self.fit.contrasts[:, term]
            d = d / units_of(d)
            turned = self.vectors @ d
            squares = np.square(self.factors * turned) * self.values
            diagonal = (squares * (1.0 - self.values)).sum(axis=1)  # ‖a_g‖² − ‖b_g‖²
            if kind in ("CR0", "CR1"):
                found[term] = len(self.values) - 1.0
                continue
            b = np.einsum("gji,gj->gi", self.vectors, self.values * self.factors * turned)
            across = np.square(b.T @ b).sum() - np.square(np.square(b).sum(axis=1)).sum()  # of h ≠ g
            found[term] = diagonal.sum() ** 2 / (np.square(diagonal).sum() + max(across, 0.0))
        return found

    def decided_alone(self) -> NDArray[np.bool_]:
        """Say which terms are determined by all clusters together, but not without one of them."""
        d = self.fit.contrasts / units_of(self.fit.contrasts, axis=0)
        if not self.alone.any():
            return np.zeros(d.shape[1], dtype=np.bool_)
        share = np.square(np.where(self.alone[:, :, None], self.vectors @ d, 0.0)).sum(axis=(0, 1))
        return np.asarray(self.fit.estimable & (share > ALONE * np.square(d).sum(axis=0)))


def _cautions(fit: Fit, found: Adjusted, freedom: Array, kind: str) -> list[str]:
    """Return what a reader must know about the number of clusters."""
    G, cautions = len(found.values), []
    if FEW[kind] > G:
        plain = kind in ("CR0", "CR1")
        tend = "tend to be too small" if plain else "are uncertain"
        cautions.append(
            f"There are {G} clusters. With fewer than {FEW[kind]}, {kind} errors {tend}{'; use CR2' if plain else ''}."
        )
    scarce = freedom < min(FEWEST_FREEDOM, G - 1.0)
    if scarce.any():
        named = ", ".join(f"{fit.terms[j]} ({freedom[j]:.2g})" for j in np.flatnonzero(scarce))
        cautions.append(
            f"Few of the {G} clusters decide these terms, judging by their degrees of freedom: {named}. Their p-values "
            "and intervals are rough."
        )
    single = found.decided_alone()
    if single.any():
        named = ", ".join(fit.terms[j] for j in np.flatnonzero(single))
        cautions.append(
            f"One of the {G} clusters alone decides these terms: {named}. The others do not show how its noise affects "
            "them, so that their errors are infinite."
        )
    return cautions
