"""Least squares that decides no rank: in rational arithmetic if small, otherwise by QR in extended precision."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Long = NDArray[np.longdouble]
EPS = float(np.finfo(np.float64).eps)

FEW_COLUMNS, FEW_ROWS = 3, 12
"""Systems of at most this size are solved in rational arithmetic."""


SINGULAR = 1e-15
"""Columns that are collinear to this, at unit norm, may have no unique answer."""


@dataclass(frozen=True)
class Problem:
    """min Σ w·(y − x·c − b)² + ‖c − start‖²_prior over c, and over b if `fit_intercept`; the least ‖c − start‖ if tied.

    Attributes
    ----------
    X : ndarray of shape (n, p)
    y : ndarray of shape (n, k)
    weight : ndarray of shape (n,)
    prior : ndarray of shape (p,)
    start : ndarray of shape (p, k)
    """

    X: Array
    y: Array
    weight: Array
    fit_intercept: bool
    prior: Array
    start: Array

    def only(self, columns: NDArray[np.intp]) -> "Problem":
        """Return the problem with these columns alone."""
        X, prior, start = self.X[:, columns], self.prior[columns], self.start[columns]
        return Problem(X, self.y, self.weight, self.fit_intercept, prior, start)


@dataclass(frozen=True)
class Reference:
    """The answer, and how well it is determined.

    Attributes
    ----------
    coef : ndarray of shape (p, k)
    norms : ndarray of shape (p,), those of the centred columns
    size : float, the norm of the centred targets, or of what the coefficients explain if that is larger
    condition : float, the condition number of the centred columns, scaled to unit norm, the prior included; with fewer
        rows than columns, how much rounding errors of the columns grow if that is more
    """

    coef: Array
    norms: Array
    size: float
    condition: float


def solved(problem: Problem) -> Reference | None:
    """Return the answer to a problem, or None if it has none, or nearly so: no rank is decided here."""
    p = problem.X.shape[1]
    rows = _centred(np.hstack([problem.X, problem.y]), problem.weight, problem.fit_intercept)
    A, b = rows[:, :p], rows[:, p:] - rows[:, :p] @ problem.start.astype(np.longdouble)
    penalized = problem.prior > 0.0
    A = np.vstack([A, np.diag(np.sqrt(problem.prior.astype(np.longdouble)))[penalized]])
    b = np.vstack([b, np.zeros((int(penalized.sum()), b.shape[1]), dtype=np.longdouble)])
    norms = np.sqrt(np.square(A).sum(axis=0))
    if not (norms > 1e-150).all():
        return None
    values = np.linalg.svd((A / norms).astype(np.float64), compute_uv=False)
    if values[-1] < SINGULAR * values[0]:
        return None
    condition = float(values[0] / values[-1])
    if len(A) < p:
        away: Any = _least_norm(A, b)
    elif p <= FEW_COLUMNS and len(problem.X) <= FEW_ROWS:
        away = exact(problem) - problem.start.astype(np.longdouble)
    else:
        away = _least_squares(A, b)
    coef = problem.start + away
    size = float(max(np.linalg.norm(norms[:, None] * coef), np.linalg.norm(b)))
    if (
        len(A) < p
    ):  # the least norm depends on how the columns differ in scale: see what rounding of the data does to it
        moved = _least_norm(A * (1.0 + EPS * np.random.default_rng(0).choice([-1.0, 1.0], A.shape)), b) - away
        condition = max(condition, float(np.abs(norms[:, None] * moved).max()) / (EPS * size))
    return Reference(coef.astype(np.float64), norms.astype(np.float64), size, condition)


def exact(problem: Problem) -> Array:
    """Return the answer to a problem that has a unique one: in rational arithmetic, then rounded."""
    ones = np.ones((len(problem.X), int(problem.fit_intercept)))
    design, target = _rational(np.hstack([ones, problem.X])), _rational(problem.y)
    weighted = design * _rational(problem.weight)[:, None]
    prior = _rational(np.r_[np.zeros(ones.shape[1]), problem.prior])
    start = _rational(np.vstack([np.zeros((ones.shape[1], problem.y.shape[1])), problem.start]))
    system = np.hstack([weighted.T @ design + np.diag(prior), weighted.T @ target + prior[:, None] * start])
    size = len(system)
    for i in range(size):
        pivot = i + int(np.flatnonzero(system[i:, i])[0])
        system[[i, pivot]] = system[[pivot, i]]
        system[i] = system[i] / system[i, i]
        for j in range(size):
            if j != i:
                system[j] = system[j] - system[j, i] * system[i]
    return np.asarray(system[ones.shape[1] :, size:], dtype=np.float64)


def _rational(values: Array) -> Any:
    """Return the same numbers as fractions, which NumPy handles as objects."""
    return np.vectorize(Fraction, otypes=[object])(values)


def _centred(table: Array, weight: Array, fit_intercept: bool) -> Long:
    """Return rows times the roots of their weights; about their mean, one row fewer, if there is an intercept."""
    rows, w = table.astype(np.longdouble), weight.astype(np.longdouble)
    if not fit_intercept:
        return np.sqrt(w)[:, None] * rows
    for _ in range(3):  # each pass takes up what rounding left in the one before
        rows = rows - w @ rows / w.sum()
    rows = np.sqrt(w)[:, None] * rows
    v = np.sqrt(w / w.sum())  # the reflection that maps this direction, in which nothing is left, to the first row
    v[0] += 1.0
    return np.asarray(rows - np.outer(v, 2.0 * (v @ rows) / (v @ v)))[1:]


def _reduced(A: Long, b: Long) -> tuple[Long, Long, NDArray[np.intp], list[Long]]:
    """Return R, Qᵀb, the order of columns and the reflectors of a QR decomposition with pivoting, by Householder."""
    R, rhs, order = A.copy(), b.copy(), np.arange(A.shape[1])
    reflectors = []
    for i in range(A.shape[1]):
        best = i + int(np.square(R[i:, i:]).sum(axis=0).argmax())
        R[:, [i, best]], order[[i, best]] = R[:, [best, i]], order[[best, i]]
        v = R[i:, i].copy()
        v[0] += np.copysign(np.sqrt(v @ v), v[0])
        scale = 2.0 / (v @ v) if v.any() else np.longdouble(0.0)
        R[i:, i:] -= np.outer(v, scale * (v @ R[i:, i:]))
        rhs[i:] -= np.outer(v, scale * (v @ rhs[i:]))
        reflectors.append(np.sqrt(scale) * v)
    return R[: A.shape[1]], rhs, order, reflectors


def _least_squares(A: Long, b: Long) -> Long:
    """Return the least-squares solution of a system with as many rows as columns or more."""
    norms = np.sqrt(np.square(A).sum(axis=0))
    R, rhs, order, _ = _reduced(A / norms, b)
    coef = np.empty((A.shape[1], b.shape[1]), dtype=np.longdouble)
    for i in range(len(R))[::-1]:
        rhs[i] = (rhs[i] - R[i, i + 1 :] @ rhs[i + 1 : len(R)]) / R[i, i]
    coef[order] = rhs[: len(R)]
    return np.asarray(coef / norms[:, None])


def _least_norm(A: Long, b: Long) -> Long:
    """Return the solution of least norm of a system with fewer rows than columns, from a QR decomposition of Aᵀ."""
    sizes = np.argsort(-np.sqrt(np.square(A).sum(axis=0)), kind="stable")
    R, _, order, reflectors = _reduced(A.T[sizes], np.zeros((A.shape[1], 0), dtype=np.longdouble))
    inner = np.zeros((A.shape[1], b.shape[1]), dtype=np.longdouble)
    for i in range(len(R)):
        inner[i] = (b[order[i]] - R[:i, i] @ inner[:i]) / R[i, i]
    for i in range(len(reflectors))[::-1]:
        inner[i:] -= np.outer(reflectors[i], reflectors[i] @ inner[i:])
    coef = np.empty_like(inner)
    coef[sizes] = inner
    return coef
