"""A task's rows under a likelihood: the sum of what they say, and its derivatives."""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from ridgeway import kernels
from ridgeway._checks import Array
from ridgeway.data import Task, dense
from ridgeway.likelihoods._likelihood import Likelihood, Slopes
from ridgeway.likelihoods._polynomial import Polynomial, even, packed_third, pairs, unpacked_third
from ridgeway.linalg import Rows

ROWS = 4096
ENTRIES = 2**21
"""The most rows, and about the most numbers, that are worked on at a time."""


class Part(NamedTuple):
    """Some rows: the design (n, width), the predictors (n, q), the targets (n, q) and the weights (n,)."""

    design: Array
    predictor: Array
    y: Array
    weight: Array


class Observed:
    """Σ w·ℓ(η, y) over the rows of a task, as a function of θ, with η = x·w + b + offset.

    θ holds w and, below it, b, of shape (width, q), as one vector. X is taken about `about`, so that a column far from
    0 costs no digits: the b in θ is the predictor there.

    Parameters
    ----------
    likelihood : Likelihood
    task : Task, known to be finite
    about : ndarray of shape (n_features,), or None if there is no intercept

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.likelihoods import Gaussian, Observed
    >>> X, y = np.array([[1.0], [2.0]]), np.array([[3.0], [1.0]])
    >>> there = Observed(Gaussian(), Task.of(X, y), None).expand(np.zeros(1))
    >>> there.gradient, there.curvature  # Xᵀy and XᵀX
    (array([5.]), array([[5.]]))
    """

    def __init__(self, likelihood: Likelihood, task: Task, about: Array | None) -> None:
        self.likelihood = likelihood
        self.task = task
        self.about = about
        self.width = task.n_features + (about is not None)

    @property
    def mean_weight(self) -> float:
        """The mean weight of a row."""
        return self.task.total_weight / self.task.n_samples

    def value(self, theta: Array) -> float:
        """Return the log-likelihood; −inf if it overflows."""
        return float(sum(part.weight @ self.likelihood.value(part.predictor, part.y) for part in self._parts(theta)))

    def expand(self, theta: Array, *, cubic: bool = False) -> Polynomial:
        """Return the Taylor polynomial at θ, a quadratic or a cubic. O(n·width²) or O(n·width³/2) for one predictor."""
        q, width = self.likelihood.n_predictors, self.width
        value, gradient = 0.0, np.zeros((width, q))
        curvature = np.zeros((width, q, width, q))
        triples = list(combinations_with_replacement(range(q), 3))
        sums = np.zeros((len(triples), width * (width + 1) // 2, width)) if cubic else None
        for part in self._parts(theta, width * (width + 1) // 2 if cubic else width):
            slopes = self.likelihood.slopes(part.predictor, part.y)
            value += float(part.weight @ self.likelihood.value(part.predictor, part.y))
            gradient += kernels.product(part.design.T, part.weight[:, None] * slopes.gradient)
            _add_curvature(curvature, part, slopes)
            if sums is not None:
                _add_third(sums, triples, part, slopes)
        third = None if sums is None else _assembled(sums, triples, width, q)
        size = width * q
        matrix = curvature.reshape(size, size)
        return Polynomial(theta, value, gradient.ravel(), even(matrix), third)

    def weights(self, theta: Array) -> Array:
        """Return w·|ℓ''| of each row, of shape (n_samples,): what its square counts for. The trace if q > 1."""
        found = [
            part.weight * np.trace(self.likelihood.slopes(part.predictor, part.y).curvature, axis1=1, axis2=2)
            for part in self._parts(theta)
        ]
        return np.concatenate(found)

    def farthest(self, step: Array) -> float:
        """Return the largest change of a linear predictor if θ changes by `step`."""
        change = step.reshape(self.width, -1)
        return max(float(np.abs(kernels.product(part.design, change)).max()) for part in self._parts(None))

    def start(self, theta: Array) -> Array:
        """Return θ with the intercept that predicts the mean of y at `about`: where to look from."""
        if self.about is None:
            return theta
        task, q = self.task, self.likelihood.n_predictors
        weight = np.ones(len(task.y)) if task.sample_weight is None else task.sample_weight
        total, n = float(weight.sum()), 1.0 / (1.0 + q)
        mean = (weight @ task.y + n) / (total + 1.0)  # away from the boundary, where the link is infinite
        offset = 0.0 if task.offset is None else float(weight @ task.offset) / total
        moved = theta.copy()
        moved[-q:] = self.likelihood.link(mean) - offset
        return moved

    def _parts(self, theta: Array | None, columns: int = 1) -> Iterator[Part]:
        """Yield the rows, some at a time, with their predictors at θ (zero if it is None)."""
        task, q = self.task, self.likelihood.n_predictors
        step = max(1, min(ROWS, ENTRIES // max(columns, self.width)))
        for start in range(0, len(task.y), step):
            rows = slice(start, start + step)
            design = dense(task.X[rows])
            if self.about is not None:
                design = np.hstack([design - self.about, np.ones((len(design), 1))])
            y = task.y[rows]
            weight = np.ones(len(y)) if task.sample_weight is None else task.sample_weight[rows]
            predictor = np.zeros((len(y), q))
            if theta is not None:
                predictor = kernels.product(design, theta.reshape(self.width, q))
                if task.offset is not None:
                    predictor += task.offset[rows, None]
            yield Part(design, predictor, y, weight)


def column_centres(task: Task) -> Array:
    """Return what a task's columns are taken about: their means, and exactly its value for a constant column.

    A mean is rounded. About a rounded mean a constant column would be a constant of 1e-17 or so, and not zero.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Task
    >>> from ridgeway.likelihoods import column_centres
    >>> task = Task.of(np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 6.0]]), np.ones((3, 1)))
    >>> column_centres(task).tolist()
    [0.1, 3.0]
    """
    means = Rows(task, center=True).mean[: task.n_features]
    least = dense(task.X.min(axis=0)).ravel()
    greatest = dense(task.X.max(axis=0)).ravel()
    return np.where(least == greatest, least, means)


def _add_curvature(curvature: Array, part: Part, slopes: Slopes) -> None:
    q = slopes.gradient.shape[1]
    for a in range(q):
        for b in range(a, q):
            weight = part.weight * slopes.curvature[:, a, b]
            block = kernels.product(part.design.T, weight[:, None] * part.design)
            curvature[:, a, :, b] += block
            if a != b:
                curvature[:, b, :, a] += block


@np.errstate(over="ignore", invalid="ignore")  # what overflows is refused with the sums
def _add_third(sums: Array, triples: Sequence[tuple[int, ...]], part: Part, slopes: Slopes) -> None:
    """Add Σ w·ℓ'''·x_i·x_j·x_k for the pairs i ≤ j and all k, for each triple of predictors."""
    rows, columns = pairs(part.design.shape[1])
    products = part.design[:, rows] * part.design[:, columns]
    for number, (a, b, c) in enumerate(triples):
        weight = part.weight * slopes.third[:, a, b, c]
        sums[number] += kernels.product(products.T, weight[:, None] * part.design)


def _assembled(sums: Array, triples: Sequence[tuple[int, ...]], width: int, q: int) -> Array:
    """Return T of all coefficients, (i, a) for column i and predictor a, from the sums of each triple of predictors."""
    sums = np.stack([unpacked_third(packed_third(each), width) for each in sums])  # symmetric to the last bit
    if q == 1:
        return np.asarray(sums[0])
    rows, columns = pairs(width * q)
    place = np.zeros((width, width), dtype=np.intp)
    place[pairs(width)] = np.arange(sums.shape[1])
    place = np.maximum(place, place.T)
    number = np.array(
        [[[triples.index(tuple(sorted((a, b, c)))) for c in range(q)] for b in range(q)] for a in range(q)]
    )
    third = np.empty((len(rows), width, q))
    at = place[rows // q, columns // q]
    for c in range(q):
        third[:, :, c] = sums[number[rows % q, columns % q, c], at]
    return third.reshape(len(rows), width * q)
