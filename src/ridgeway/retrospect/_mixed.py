"""Common coefficients and effects that vary over tasks: the linear mixed model of one grouping."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.errors import InferenceError
from ridgeway.kernels import solve_triangular, triangular_factor
from ridgeway.linalg import RowSpace
from ridgeway.retrospect._compressed import CompressedTasks
from ridgeway.retrospect._reml import MixedFit, MixedRows
from ridgeway.retrospect._stacked import Separated, StackedFit, offsets, pooled
from ridgeway.retrospect._units import check_range, lengths, units_of

FEWEST_TASKS = 3
ROUNDING = 1e-12
"""The share of a target's squares below which what is left within tasks is rounding."""


@dataclass(frozen=True, eq=False)
class MixedModel:
    """The fit by restricted maximum likelihood, in the user's units.

    Attributes
    ----------
    tasks : CompressedTasks
    effects : ndarray of int of shape (q,)
        The positions of the terms that vary over tasks.
    whole : StackedFit
        Pooled least squares, from which all is measured.
    to_effects : ndarray of shape (q, q)
        What a unit of each scaled effect is in the effects.
    units : ndarray of shape (n_targets,)
        Powers of two, by which the targets were divided for the search.
    fits : tuple of MixedFit
        One per target, in these units.
    """

    tasks: CompressedTasks
    effects: NDArray[np.intp]
    whole: StackedFit
    to_effects: Array
    units: Array
    fits: tuple[MixedFit, ...]

    @classmethod
    def of(cls, tasks: CompressedTasks, effects: NDArray[np.intp]) -> "MixedModel":
        """Maximise the restricted likelihood of each target, or raise `InferenceError`.

        The columns of the effects are rotated so that they are orthonormal over all tasks, and so are those of the
        common terms: the search does not depend on units.
        """
        whole, n_tasks = pooled(tasks), len(tasks.names)
        _check(tasks, effects, whole)
        Z, back = _columns(tasks, effects)
        R = triangular_factor(Z.reshape(-1, len(effects)))
        scaled = np.sqrt(n_tasks) * solve_triangular(R, np.eye(len(effects)))
        left = tasks.y - tasks.X @ whole.coef
        left, n = np.moveaxis(left, 2, 0), int(tasks.n_samples.sum())
        units = units_of(left.reshape(len(left), -1), axis=1)
        left = left / units[:, :, None]
        rows = (MixedRows(Z @ scaled, tasks.X @ whole.whitening, y, n) for y in left)
        return cls(tasks, effects, whole, back @ scaled, units[:, 0], tuple(each.fitted() for each in rows))

    @property
    def noise_variance(self) -> Array:
        """σ̂², (n_targets,)."""
        return np.square(self.noise_deviations)

    @property
    def noise_deviations(self) -> Array:
        """σ̂, (n_targets,)."""
        return self.units * np.sqrt([fit.noise_variance for fit in self.fits])

    @property
    def covariance(self) -> Array:
        """The covariance of the effects, (n_targets, q, q); raises `InferenceError` if it is out of range."""
        factors = np.stack([fit.factor for fit in self.fits])
        roots = self.noise_deviations[:, None, None] * (self.to_effects @ factors)
        check_range(lengths(roots, 2), "the variance of an effect")
        return np.asarray(roots @ roots.transpose(0, 2, 1))

    @property
    def log_likelihood(self) -> Array:
        """The restricted log likelihood of each target, the sum of the logarithms of the weights aside."""
        space = self.whole.space
        unscaled = np.log(space.values).sum() + np.log(space.scale[space.scale > 0.0]).sum()
        pairs = zip(self.fits, np.log(self.units), strict=True)
        return np.array([-0.5 * fit.deviance - fit.freedom * unit - unscaled for fit, unit in pairs])

    @property
    def coef(self) -> Array:
        """The common coefficients, (n_targets, n_terms)."""
        found = self.whole.whitening @ np.stack([fit.coef for fit in self.fits], axis=1) * self.units
        return self.tasks.uncentered(self.whole.coef + found).T

    @property
    def deviations(self) -> Array:
        """Their standard errors, (n_targets, n_terms), infinite for those that the rows do not determine."""
        functionals = self.tasks.back().T
        found = []
        for fit in self.fits:
            roots = solve_triangular(fit.common[:-1, :-1], self.whole.whitening.T @ functionals, transposed=True)
            found.append(lengths(roots, 0))
        return np.where(self.is_estimable, self.noise_deviations[:, None] * np.stack(found), np.inf)

    @property
    def is_estimable(self) -> NDArray[np.bool_]:
        """Whether the rows determine each term, (n_terms,)."""
        return self.whole.space.whiten(self.tasks.back().T)[1]

    def predicted(self) -> tuple[Array, Array]:
        """Return the effects of each task, (n_targets, n_tasks, q), and N, (n_targets, n_tasks, q, q).

        Given the variances and the common coefficients, the covariance of effects is N·Nᵀ.
        """
        found = [fit.effects() for fit in self.fits]
        effects = np.stack(
            [unit * (each @ self.to_effects.T) for unit, (each, _) in zip(self.units, found, strict=True)]
        )
        spreads = np.stack([self.to_effects @ spread for _, spread in found])
        return effects, self.noise_deviations[:, None, None, None] * spreads

    def task_coefficients(self) -> tuple[Array, Array]:
        """Return the coefficients of each task, ŵ_g = β̂ + b̂_g, and their standard errors, given the variances.

        Both are (n_targets, n_tasks, n_terms). The errors count that of b_g given β̂, and that of β̂: as β̂ rises by δ,
        b̂_g changes by −N_g·own_g·δ.
        """
        effects, spread = self.predicted()
        coef = np.repeat(self.coef[:, None], len(self.tasks.names), axis=1)
        coef[:, :, self.effects] += effects

        given_common = np.zeros((*coef.shape, len(self.effects)))
        given_common[:, :, self.effects] = spread
        through_common = []
        for fit, noise, root in zip(self.fits, self.noise_deviations, given_common, strict=True):
            inverse = solve_triangular(fit.common[:-1, :-1], np.eye(len(fit.coef)))
            common = noise * (self.tasks.back() @ self.whole.whitening)
            through_common.append((common - root @ fit.own[:, :, :-1]) @ inverse)
        errors = lengths(np.concatenate([given_common, np.stack(through_common)], axis=3), 3)
        return coef, np.where(self.is_estimable, errors, np.inf)


def _columns(tasks: CompressedTasks, effects: NDArray[np.intp]) -> tuple[Array, Array]:
    """Return Z, and the matrix that brings the effects of its columns to the user's units.

    With an intercept among the effects, columns about their means do: the effects at 0 are functions of those at the
    means. A slope without an intercept is about 0 itself.
    """
    Z, back = tasks.X[:, :, effects], np.eye(len(effects))
    if tasks.is_centered:
        centers = np.r_[0.0, tasks.center][effects]
        if 0 in effects:
            back[np.flatnonzero(effects == 0)[0]] -= centers
        else:
            Z = Z + tasks.X[:, :, :1] * centers
    return Z, back


def _check(tasks: CompressedTasks, effects: NDArray[np.intp], whole: StackedFit) -> None:
    """Raise if the variances of effects and noise cannot be told apart."""
    if len(tasks.names) < FEWEST_TASKS:
        raise InferenceError(
            f"the variance over tasks cannot be estimated from {counted(len(tasks.names), 'task')}; at least "
            f"{FEWEST_TASKS} are needed. Use retrospect.fixed_effects."
        )
    Z, _ = _columns(tasks, effects)
    R = triangular_factor(Z.reshape(-1, len(effects)))
    space = RowSpace.of(R, size=len(effects), offset=offsets(tasks)[effects])
    if space.rank < len(effects):
        names = ", ".join(tasks.terms[j] for j in effects)
        raise InferenceError(f"the effects {names} are collinear over all rows. Name fewer of them.")
    apart = Separated.of(tasks, effects)
    if apart.degrees_of_freedom < 1:
        raise InferenceError(
            f"the tasks have {counted(int(tasks.n_samples.sum()), 'row')}, too few to tell the noise from effects of "
            "their own. Learn more rows per task, or name fewer effects."
        )
    n_own = sum(each.space.rank for each in apart.own) + apart.fit.space.rank - whole.space.rank
    if n_own < len(effects):
        raise InferenceError(
            "the features explain all differences between the tasks, so nothing is left that could vary at random. "
            "Drop features that are constant within tasks, or use retrospect.fixed_effects."
        )
    total = np.square(tasks.y).sum(axis=(0, 1))
    if (apart.fit.residual_squares <= ROUNDING * total).any():
        raise InferenceError(
            "every row is fitted exactly once each task has effects of its own, so the noise variance is 0. Name fewer "
            "effects, or check the target."
        )
