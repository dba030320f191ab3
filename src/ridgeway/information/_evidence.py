"""The evidence: how probable the rows are under a prior, and the prior under which they are most probable.

y = Xw + b + ε with ε ~ N(0, σ²/weight), w ~ N(start, σ²P⁻¹) and b flat. Only the information is needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

from ridgeway.errors import InferenceError
from ridgeway.information._base import Information
from ridgeway.linalg import add_triangle, psd_root, solve_upper, svd_square, tolerance

Array = NDArray[np.float64]

GRID = 80
"""Points at which a function of one penalty is tried before its best is refined."""
FLAT = 1e-9
"""Differences of a criterion that mean nothing."""
WIDE = 1e10
"""How far beyond the information about any direction a penalty is looked for."""


@dataclass(frozen=True, eq=False)
class LearnedPrior:
    """A prior P = σ²·E_0⁻¹ and the noise, learned from the information.

    Attributes
    ----------
    prior : ndarray of shape (n_features,), a diagonal, or (n_features, n_features)
        P, the same for all targets.
    noise_variance : ndarray of shape (n_targets,)
        σ².
    log_evidence : float
        Log marginal likelihood of all rows at these values, summed over the targets.
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
            raise InferenceError(
                f"the evidence of {information.n_samples} row(s){' and an intercept' * information.centered} cannot "
                "tell noise from signal. Learn more rows, or give the prior as a number."
            )
        p, factor = information.n_features, information.factor()
        U, s, Vt = svd_square(factor[:p, :p])
        scores = U.T @ (factor[:p, p:] - factor[:p, :p] @ start)
        left = np.square(factor[p:, p:]).sum(axis=0)
        constant = n * np.log(2.0 * np.pi) - information.log_weight
        if information.centered:
            constant += np.log(information.total_weight)
        return cls(np.square(s), Vt.T, scores, left, n, float(constant))

    def squares(self, prior: Array) -> Array:
        """Return rss + ‖ŵ − start‖²_P, (n_targets,), for a prior of one penalty per direction."""
        return np.asarray(self.left + (prior / (self.values + prior)) @ np.square(self.scores))

    def learned(self, prior: Array, matrix: Array) -> LearnedPrior:
        """Return a prior of one penalty per direction, with the noise and the evidence that belong to it."""
        variance = self.squares(prior) / self.n_samples
        spread = float(np.log1p(self.values / prior).sum())
        return LearnedPrior(matrix, variance, self.log_evidence(variance, spread))

    def learned_penalty(self, penalty: float) -> LearnedPrior:
        """Return the prior of one penalty for all directions."""
        prior = np.full(len(self.values), penalty)
        return self.learned(prior, prior)

    def log_evidence(self, variance: Array, log_determinant: float) -> float:
        """Return the log evidence at σ² = rss/n, with log det(I + P⁻¹J)."""
        with np.errstate(divide="ignore"):
            noise = self.n_samples * (np.log(variance) + 1.0)
        return float(-0.5 * (noise + log_determinant + self.constant).sum())

    @property
    def penalties(self) -> Array:
        """The penalties to try: from far below the information about any direction to far above."""
        live = self.values[self.values > self.values[0] * tolerance(len(self.values)) ** 2]
        largest, smallest = (float(live[0]), float(live[-1])) if live.size else (1.0, 1.0)
        return np.geomspace(smallest / WIDE, largest * WIDE, GRID)

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Which targets vary at all: the others have no noise and no signal to tell apart."""
        return np.asarray(self.left + np.square(self.scores).sum(axis=0) > 0.0)


def learn_penalty(information: Information, start: Array) -> LearnedPrior:
    """Return the P = λI of largest evidence, each target with a noise of its own. One SVD, O(p³)."""
    return learn_from(Spectrum.of(information, start))


def evidence_estimate(information: Information, start: Array) -> Array:
    """Return ŵ under the P = λI of largest evidence, (n_features, n_targets), from one SVD for both. O(p³)."""
    spectrum = Spectrum.of(information, start)
    known = np.sqrt(spectrum.values) / (spectrum.values + learn_from(spectrum).prior)
    return np.asarray(start + spectrum.directions @ (known[:, None] * spectrum.scores))


def learn_from(spectrum: Spectrum) -> LearnedPrior:
    """Return the P = λI of largest evidence. O(p)."""
    used = spectrum.varies
    squares, n = np.square(spectrum.scores[:, used]), spectrum.n_samples

    def deviance(penalties: Array) -> tuple[Array, Array]:
        """Return −2·log evidence at the best σ², constants aside, and its slope in log λ."""
        shrunk = penalties[:, None] / (spectrum.values + penalties[:, None])
        rss = spectrum.left[used] + shrunk @ squares
        spread = np.log1p(spectrum.values / penalties[:, None]).sum(axis=1)
        slopes = (shrunk * (1.0 - shrunk)) @ squares / rss
        kept = (1.0 - shrunk).sum(axis=1)
        return n * np.log(rss).sum(axis=1) + used.sum() * spread, n * slopes.sum(axis=1) - used.sum() * kept

    return spectrum.learned_penalty(_best_penalty(spectrum, deviance))


def learn_by_gcv(information: Information, start: Array) -> LearnedPrior:
    """Return the P = λI of least generalized cross-validation error n·rss/(n − df)². One SVD, O(p³)."""
    spectrum = Spectrum.of(information, start)
    squares = np.square(spectrum.scores[:, spectrum.varies])
    count = np.count_nonzero(spectrum.values > spectrum.penalties[0] / WIDE)

    def criterion(penalties: Array) -> tuple[Array, Array]:
        """Return the sum of log GCV over the targets, constants aside, and its slope in log λ."""
        shrunk = penalties[:, None] / (spectrum.values + penalties[:, None])
        rss = spectrum.left[spectrum.varies] + np.square(shrunk) @ squares
        freedom = max(spectrum.n_samples - count, 0) + shrunk[:, :count].sum(axis=1)
        slopes = (np.square(shrunk) * (1.0 - shrunk)) @ squares / rss
        gained = (shrunk * (1.0 - shrunk))[:, :count].sum(axis=1) / freedom
        values = np.log(rss / np.square(freedom)[:, None]).sum(axis=1)
        return values, 2.0 * (slopes - gained[:, None]).sum(axis=1)

    return spectrum.learned_penalty(_best_penalty(spectrum, criterion))


def learn_directions(information: Information, start: Array) -> LearnedPrior:
    """Return the P of largest evidence that shares the eigenvectors of the information, with a penalty for each.

    A direction that shows no more than noise is held at its start by a penalty that is large, not infinite. Needs
    residual degrees of freedom: otherwise noise and signal cannot be told apart.
    """
    spectrum = Spectrum.of(information, start)
    live = spectrum.values > spectrum.penalties[0]
    if spectrum.n_samples <= np.count_nonzero(live):
        raise InferenceError(
            f"one penalty per direction cannot be learned from {information.n_samples} rows of "
            f"{np.count_nonzero(live)} independent columns: noise and signal look the same. Learn more rows, or one "
            "penalty for all (groups=None)."
        )
    squares, values = np.square(spectrum.scores), spectrum.values
    variance = spectrum.left / spectrum.n_samples
    used = spectrum.varies & (variance > 0.0)
    floor = values[live].max(initial=1.0) * WIDE

    def gains(variance: Array) -> Array:
        """Return 1 + s²/λ at its best: the mean of score²/σ² over the targets, or 1."""
        return np.maximum((squares[:, used] / variance[used]).mean(axis=1), 1.0) if used.any() else np.ones(len(values))

    for _ in range(10_000):  # each step maximises over one block of parameters, so that the evidence only rises
        previous = variance
        variance = (spectrum.left + (squares / np.where(live, gains(variance), 1.0)[:, None]).sum(axis=0)) / (
            spectrum.n_samples
        )
        if np.allclose(variance, previous, rtol=1e-13, atol=0.0):
            break
    with np.errstate(divide="ignore", invalid="ignore"):
        prior = np.where(live & (gains(variance) > 1.0), values / (gains(variance) - 1.0), floor)
    prior = np.minimum(prior, floor)
    return spectrum.learned(prior, (spectrum.directions * prior) @ spectrum.directions.T)


def learn_groups(information: Information, start: Array, groups: Sequence[NDArray[np.intp]]) -> LearnedPrior:
    """Return the diagonal P of largest evidence with one penalty per group of columns. O(p³) a step.

    Parameters
    ----------
    groups : the positions of each group's columns; together all columns, each once
    """
    spectrum = Spectrum.of(information, start)
    p = information.n_features
    member = np.empty(p, dtype=np.intp)
    for number, columns in enumerate(groups):
        member[columns] = number
    sizes = np.bincount(member, minlength=len(groups))
    used = spectrum.varies
    R, rhs = information.factor()[:p, :p], information.factor()[:p, p:]
    grid = np.log(spectrum.penalties)

    def parts(penalties: Array) -> tuple[Array, Array, float]:
        """Return rss + ‖ŵ − start‖²_P, ŵ − start and log det(J + P)."""
        factor, right = _stacked(R, rhs - R @ start, penalties[member])
        away = solve_upper(factor, right)
        left = np.square(rhs - R @ (start + away)).sum(axis=0) + spectrum.left
        return left + penalties[member] @ np.square(away), away, 2.0 * float(np.log(np.abs(np.diag(factor))).sum())

    def deviance(logs: Array) -> tuple[float, Array]:
        penalties = np.exp(logs)
        squares, away, determinant = parts(penalties)
        inverse = solve_upper(_stacked(R, rhs, penalties[member])[0], np.eye(p))
        trace = np.bincount(member, np.square(inverse).sum(axis=1), minlength=len(groups))
        value = spectrum.n_samples * np.log(squares[used]).sum() + used.sum() * (determinant - sizes @ logs)
        pull = np.square(away[:, used]) @ (spectrum.n_samples / squares[used])
        slope = penalties * np.bincount(member, pull, minlength=len(groups))
        return float(value), slope + used.sum() * (penalties * trace - sizes)

    # The evidence may have several peaks: climb from one penalty for all, from what the rows know, and from one row's.
    scalar = np.log(learn_from(spectrum).prior[0])
    known = np.log(np.bincount(member, np.square(R).sum(axis=0), minlength=len(groups)) / sizes + np.exp(grid[0]))
    tries = [np.full(len(groups), scalar), known, known - np.log(spectrum.n_samples)]
    bounds = [(grid[0], grid[-1])] * len(groups)
    results = [
        minimize(
            deviance,
            np.clip(logs, grid[0], grid[-1]),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-9},
        )
        for logs in tries
    ]
    penalties = np.exp(min(results, key=lambda result: float(result.fun)).x)
    squares, _, determinant = parts(penalties)
    prior = penalties[member]
    variance = squares / spectrum.n_samples
    return LearnedPrior(prior, variance, spectrum.log_evidence(variance, determinant - float(np.log(prior).sum())))


def log_evidence(information: Information, prior: Array, start: Array) -> float:
    """Return the log evidence under a positive definite prior, at the σ² of each target that maximises it. O(p³)."""
    spectrum = Spectrum.of(information, start)
    p, factor = information.n_features, information.factor()
    R = factor[:p, :p]
    held = add_triangle(psd_root(prior), R)
    away = information.solve(prior, start).coef - start
    squares = spectrum.left + np.square(factor[:p, p:] - R @ (start + away)).sum(axis=0)
    squares += (away * (prior[:, None] * away if prior.ndim == 1 else prior @ away)).sum(axis=0)
    ratio = np.abs(np.diag(held) / np.diag(psd_root(prior)))
    return spectrum.log_evidence(squares / spectrum.n_samples, 2.0 * float(np.log(ratio).sum()))


def _stacked(R: Array, rhs: Array, prior: Array) -> tuple[Array, Array]:
    """Return factor and right-hand side of R·w = rhs and diag(√prior)·w = 0 together."""
    p, k = rhs.shape
    top = np.zeros((p, p + k))
    top[:, :p] = np.diag(np.sqrt(prior))
    width = np.zeros((p + k, p + k), order="F")
    width[:p] = top
    merged = add_triangle(width, np.hstack([R, rhs]))
    return merged[:p, :p], merged[:p, p:]


def _best_penalty(spectrum: Spectrum, criterion: Callable[[Array], tuple[Array, Array]]) -> float:
    """Return the penalty of least criterion: the best of a grid, and from there to where the slope is zero."""
    grid = np.log(spectrum.penalties)
    values, slopes = criterion(np.exp(grid))
    # Where the criterion is flat, as it may be for fewer rows than features, the least penalty that is as good as any.
    best = int(np.argmax(values <= values.min() + FLAT))
    other = best - 1 if slopes[best] > 0.0 else best + 1
    if not 0 <= other < GRID or slopes[best] * slopes[other] >= 0.0:
        return float(np.exp(grid[best]))
    return float(
        np.exp(brentq(lambda log: criterion(np.exp(np.array([log])))[1][0], grid[best], grid[other], xtol=1e-13))
    )
