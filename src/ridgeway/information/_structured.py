"""Priors of more than one penalty, by maximising the evidence: one per direction, or one per group of columns."""

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.errors import InferenceError
from ridgeway.information._base import Information
from ridgeway.information._evidence import WIDE, LearnedPrior, Spectrum, learn_from
from ridgeway.kernels import qr_update, solve_triangular
from ridgeway.linalg import empty_triangle

MOST_STEPS = 10_000


def learn_directions(information: Information, start: Array) -> LearnedPrior:
    """Return the P of largest evidence that shares the eigenvectors of the information, with a penalty for each.

    A direction that shows no more than noise is held at its start by a penalty that is large, not infinite. Needs
    residual degrees of freedom: otherwise noise and signal cannot be told apart.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge
    >>> from ridgeway.information import learn_directions
    >>> X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> held = GeneralizedRidge().fit(X, [4.0, -4.0, 0.1, 0.1]).information_
    >>> prior = learn_directions(held, np.zeros((2, 1))).prior
    >>> bool(prior[0, 0] < 0.01 < 1e6 < prior[1, 1])  # only the first shows a signal
    True
    """
    spectrum = Spectrum.of(information, start)
    n, rank, values = spectrum.n_samples, spectrum.rank, spectrum.values
    if n <= rank:
        raise InferenceError(
            f"one penalty per direction cannot be learned from {counted(information.n_samples, 'row')} of {rank} "
            "independent "
            "columns: noise and signal look the same. Learn more rows, or learn one penalty for all (groups=None)."
        )
    squares, variance = np.square(spectrum.scores), spectrum.left / n
    used = variance > 0.0

    def gains(variance: Array) -> Array:
        """Return 1 + s²/λ at its best: the mean of score²/σ² over the targets, or 1."""
        best = np.ones(len(values))
        if used.any():
            best[:rank] = np.maximum((squares[:rank, used] / variance[used]).mean(axis=1), 1.0)
        return best

    for _ in range(MOST_STEPS):  # each step maximises over one block of parameters, so that the evidence only rises
        previous = variance
        variance = (spectrum.left + (squares / gains(variance)[:, None]).sum(axis=0)) / n
        if np.allclose(variance, previous, rtol=1e-13, atol=0.0):
            break
    most = float(values[0] or 1.0) * WIDE
    with np.errstate(divide="ignore", invalid="ignore"):
        prior = np.where(gains(variance) > 1.0, np.minimum(values / (gains(variance) - 1.0), most), most)
    return spectrum.learned(prior, (spectrum.directions * prior) @ spectrum.directions.T)


def learn_groups(information: Information, start: Array, groups: Sequence[NDArray[np.intp]]) -> LearnedPrior:
    """Return the diagonal P of largest evidence with one penalty per group of columns. O(p³) a step.

    Parameters
    ----------
    groups : the positions of each group's columns; together all columns, each once

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge
    >>> from ridgeway.information import learn_groups
    >>> X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> held = GeneralizedRidge().fit(X, [4.0, -4.0, 0.1, 0.1]).information_
    >>> groups = [np.array([0]), np.array([1])]
    >>> first, second = learn_groups(held, np.zeros((2, 1)), groups).prior
    >>> bool(first < 0.01 < 1e6 < second)  # only the first column shows a signal
    True
    """
    climb = _Climb(information, start, groups)
    low, high = np.log(climb.spectrum.penalties[[0, -1]])
    # The evidence may have several peaks: climb from one penalty for all, from what the rows know, and from far less.
    one = np.full(len(groups), np.log(learn_from(climb.spectrum).prior[0]))
    known = np.log(climb.per_group(np.square(climb.R).sum(axis=0)) / climb.sizes + np.exp(low))
    results = [
        scipy.optimize.minimize(
            climb.deviance,
            np.clip(logs, low, high),
            jac=True,
            method="L-BFGS-B",
            bounds=[(low, high)] * len(groups),
            options={"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-9},
        )
        for logs in (one, *(known - power * np.log(climb.spectrum.n_samples) for power in (0, 2, 4)))
    ]
    return climb.learned(np.asarray(min(results, key=lambda result: float(result.fun)).x))


class _Climb:
    """The evidence as a function of the logarithms of the groups' penalties, and its slopes."""

    def __init__(self, information: Information, start: Array, groups: Sequence[NDArray[np.intp]]) -> None:
        p, factor = information.n_features, information.factor()
        self.spectrum = Spectrum.of(information, start)
        self.R, self.rhs = factor[:p, :p], factor[:p, p:] - factor[:p, :p] @ start
        self.member = np.empty(p, dtype=np.intp)
        for number, columns in enumerate(groups):
            self.member[columns] = number
        self.sizes = np.bincount(self.member, minlength=len(groups))

    def per_group(self, values: Array) -> Array:
        """Return the sum of values over the columns of each group."""
        return np.asarray(np.bincount(self.member, values, minlength=len(self.sizes)), dtype=np.float64)

    def fitted(self, logs: Array) -> tuple[Array, Array, Array]:
        """Return rss + ‖ŵ − start‖²_P, ŵ − start, and the factor of J + P."""
        penalties = np.exp(logs)[self.member]
        p, k = self.rhs.shape
        top = empty_triangle(p + k)
        np.fill_diagonal(top[:p, :p], np.sqrt(penalties))
        stacked = qr_update(top, np.hstack([self.R, self.rhs]), triangular=True)
        away = solve_triangular(stacked[:p, :p], stacked[:p, p:])
        left = self.spectrum.left + np.square(self.rhs - self.R @ away).sum(axis=0)
        return left + penalties @ np.square(away), away, stacked[:p, :p]

    def deviance(self, logs: Array) -> tuple[float, Array]:
        """Return −2·log evidence at the best σ², up to a constant, and its slopes."""
        squares, away, factor = self.fitted(logs)
        used, n = self.spectrum.varies, self.spectrum.n_samples
        inverse = solve_triangular(factor, np.eye(len(factor)))
        known = np.exp(logs) * self.per_group(np.square(inverse).sum(axis=1)) - self.sizes
        pull = self.per_group(np.square(away[:, used]) @ (n / squares[used]))
        value = n * np.log(squares[used]).sum() + used.sum() * self._log_determinant(factor, logs)
        return float(value), np.exp(logs) * pull + used.sum() * known

    def learned(self, logs: Array) -> LearnedPrior:
        """Return the prior of these penalties."""
        squares, _, factor = self.fitted(logs)
        variance = squares / self.spectrum.n_samples
        evidence = self.spectrum.log_evidence(variance, self._log_determinant(factor, logs))
        return LearnedPrior(np.exp(logs)[self.member], variance, evidence)

    def _log_determinant(self, factor: Array, logs: Array) -> float:
        """Return log det(I + P⁻¹J)."""
        return 2.0 * float(np.log(np.abs(np.diag(factor))).sum()) - float(self.sizes @ logs)
