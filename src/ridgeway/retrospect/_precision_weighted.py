"""Least squares with tasks weighted by their precision, which is estimated from the same rows."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.errors import InferenceError
from ridgeway.retrospect._compressed import CompressedTasks
from ridgeway.retrospect._stacked import StackedFit, offsets
from ridgeway.retrospect._units import units_of

MOST_STEPS, ENOUGH = 500, 1e-12
"""Steps at most, and the relative change of a variance at which the iteration has converged."""


@dataclass(frozen=True, eq=False)
class PrecisionWeighted:
    """Least squares of one target, each task weighted by its precision.

    Attributes
    ----------
    coef : ndarray of shape (n_terms, 1)
        About `CompressedTasks.center`.
    variances, task_freedom : ndarray of shape (n_tasks,)
    deviations, freedom : ndarray of shape (n_terms,)
        Standard errors in the user's units, and Satterthwaite's degrees of freedom.
    is_converged : bool
    """

    coef: Array
    variances: Array
    task_freedom: Array
    deviations: Array
    freedom: Array
    is_converged: bool

    @classmethod
    def of(cls, tasks: CompressedTasks, target: int, groups: NDArray[np.intp]) -> "PrecisionWeighted":
        """Compute weights and variances in turn until they no longer change. Tasks of a group share a variance."""
        unit = units_of(tasks.y[:, :, target])[0, 0]
        tasks = replace(tasks, rows=np.concatenate([tasks.X, tasks.y[:, :, [target]] / unit], axis=2))
        X, y = tasks.X, tasks.y[:, :, 0]
        variances, moved = np.ones(len(X)), np.inf
        typical = np.square(y).sum() / tasks.n_samples.sum()
        for _ in range(MOST_STEPS):
            fit = _fitted(tasks, variances)
            freedom = tasks.n_samples - np.square(X @ fit.whitening).sum(axis=(1, 2)) / variances  # Σ leverages
            squares = np.square(y - X @ fit.coef[:, 0]).sum(axis=1)
            following = np.bincount(groups, squares)[groups] / np.bincount(groups, freedom)[groups]
            _check_positive(tasks, following, typical)
            moved, variances = np.abs(following / variances - 1.0).max(), following
            if moved <= ENOUGH:
                break
        fit = _fitted(tasks, variances)
        deviations, satterthwaite = _errors(tasks, fit, variances, freedom, groups)
        converged = bool(moved <= np.sqrt(ENOUGH))
        return cls(fit.coef * unit, variances * unit * unit, freedom, deviations * unit, satterthwaite, converged)


def _errors(
    tasks: CompressedTasks, fit: StackedFit, variances: Array, freedom: Array, groups: NDArray[np.intp]
) -> tuple[Array, Array]:
    """Return standard errors and Satterthwaite's degrees of freedom of each term, in the user's units.

    In coordinates in which the information of all groups is Σ B_G = I, an estimated variance of ν_G degrees of freedom
    adds 4(B_G − B_G²)/ν_G to the covariance I: half of it because the weights are not the best ones, and half because
    I is estimated too low. For a mean that is Meier's formula, and Kenward and Roger's for a covariance that is linear
    in its parameters. Group G has the share c·B_G·c of the variance of c, which gives the degrees of freedom.
    """
    functionals = tasks.back().T
    _, known = fit.space.whiten(functionals)
    inner = fit.whitening.T @ functionals
    units = units_of(inner, axis=0)
    inner = inner / units
    rows = tasks.X @ fit.whitening / np.sqrt(variances)[:, None, None]
    squares, shares = np.square(inner).sum(axis=0), np.zeros(inner.shape[1])
    added = np.zeros(inner.shape[1])
    for group in np.unique(groups):
        mine = groups == group
        flat = rows[mine].reshape(-1, rows.shape[2])
        seen = flat.T @ (flat @ inner)  # B_G·c
        of_group, nu = (inner * seen).sum(axis=0), freedom[mine].sum()
        shares += np.square(of_group) / nu
        added += 4.0 * (of_group - np.square(seen).sum(axis=0)) / nu
    with np.errstate(invalid="ignore"):
        satterthwaite = np.where(known, np.square(squares) / shares, 1.0)
    return np.where(known, np.sqrt(squares + added) * units[0], np.inf), satterthwaite


def _fitted(tasks: CompressedTasks, variances: Array) -> StackedFit:
    n_terms = len(tasks.terms)
    rows = tasks.rows / np.sqrt(variances)[:, None, None]
    offset = offsets(tasks) * np.sqrt((tasks.total_weight / variances).sum() / tasks.total_weight.sum())
    n = int(tasks.n_samples.sum())
    return StackedFit.of(rows.reshape(-1, n_terms + 1), n_terms, n_samples=n, offset=offset)


def _check_positive(tasks: CompressedTasks, variances: Array, typical: float) -> None:
    exact = np.flatnonzero(variances <= np.finfo(np.float64).eps ** 1.5 * typical)
    if len(exact):
        raise InferenceError(
            f"the rows of task {tasks.names[exact[0]]!r} are fitted exactly, so its noise variance is 0 and it would "
            "outweigh all others. Check its target, or remove the task."
        )
