"""Rows with classes and counts for the tests, and the pooled fit by brute force."""

import numpy as np
from scipy.optimize import minimize

from ridgeway import GeneralizedLogistic, GeneralizedPoisson
from ridgeway.likelihoods import Binomial, Poisson

MODELS = {"binomial": GeneralizedLogistic, "poisson": GeneralizedPoisson}
LIKELIHOODS = {"binomial": Binomial(), "poisson": Poisson()}


def draw(rng, family, n, p, size=0.6):
    """Return X with columns of different scales and means, and y."""
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-1, 1, p) + rng.normal(size=p)
    coef = size * rng.normal(size=p) / X.std(axis=0)
    eta = (X - X.mean(axis=0)) @ coef - 0.3
    if family == "binomial":
        return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-eta))).astype(int)
    return X, rng.poisson(np.exp(eta))


def learned(model, X, y, cuts, **options):
    """Learn the rows as tasks that end at the cuts."""
    for rows in np.split(np.arange(len(y)), cuts):
        model.partial_fit(X[rows], y[rows], **{name: values[rows] for name, values in options.items()})
    return model


def penalized(family, X, y, prior, weight=None, offset=None, intercept=True):
    """Return b and w that maximise Σ w·ℓ − ½‖w‖²_P, found by a general-purpose search."""
    likelihood, n = LIKELIHOODS[family], len(y)
    design = np.column_stack([np.ones(n), X]) if intercept else X
    offset = np.zeros(n) if offset is None else offset
    weight = np.ones(n) if weight is None else weight
    full = np.zeros((design.shape[1],) * 2)
    full[intercept:, intercept:] = prior
    seen = np.asarray(y, dtype=float)[:, None]

    def loss(theta):
        eta = (design @ theta + offset)[:, None]
        slope = likelihood.slopes(eta, seen).gradient[:, 0]
        value = -weight @ likelihood.value(eta, seen) + 0.5 * theta @ full @ theta
        return value, -design.T @ (weight * slope) + full @ theta

    found = minimize(loss, np.zeros(design.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-9})
    return found.x
