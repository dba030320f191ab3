"""Rows in groups, the models that learned them, and mixed models by dense matrices on the rows."""

import numpy as np
from states import without_rows

from ridgeway import GeneralizedRidge


def learned_by_task(X, y, labels, sample_weight=None, information="by_task", **settings):
    """Return a model that keeps its tasks apart, and nothing of the rows but its state."""
    model = GeneralizedRidge(information=information, **settings).fit(X, y, sample_weight, tasks=labels)
    return without_rows(model)


def drawn(rng, n_tasks=8, most=14, p=3, targets=None, deviations=(2.0, 0.5), least=3):
    """Return X, y, labels and weights: random intercepts, and random slopes of the first feature."""
    sizes = rng.integers(least, most, size=n_tasks)
    labels = rng.permutation(np.repeat(np.arange(n_tasks), sizes))
    n = len(labels)
    X = rng.normal(size=(n, p)) + rng.normal(size=p) * 3.0
    shape = (n,) if targets is None else (n, targets)
    own, slope = (size * rng.normal(size=(n_tasks, *shape[1:])) for size in deviations)
    weight = rng.uniform(0.5, 2.0, size=n)
    first = X[:, 0].reshape((n,) + (1,) * (len(shape) - 1))
    noise = rng.normal(size=shape) / np.sqrt(weight).reshape(first.shape)
    y = (X @ np.arange(1.0, p + 1.0)).reshape(first.shape) + own[labels] + slope[labels] * first + noise
    return X, y, labels, weight


def restricted_likelihood(X, y, Z, labels, weight, D, noise):
    """Return the restricted log likelihood, β̂ and its covariance, from the covariance matrix of all rows."""
    V = np.diag(noise / weight)
    for label in np.unique(labels):
        rows = np.ix_(labels == label, labels == label)
        V[rows] += Z[labels == label] @ D @ Z[labels == label].T
    inverse = np.linalg.inv(V)
    information = X.T @ inverse @ X
    coef = np.linalg.solve(information, X.T @ inverse @ y)
    left = y - X @ coef
    n, p = X.shape
    logs = np.linalg.slogdet(V)[1] + np.linalg.slogdet(information)[1] + (n - p) * np.log(2.0 * np.pi)
    return -0.5 * (logs + left @ inverse @ left), coef, np.linalg.inv(information)
