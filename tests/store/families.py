"""Tasks of classes and counts, and the estimators that a state file of each family is compared with."""

import numpy as np

from ridgeway import GeneralizedLogistic, GeneralizedPoisson, GeneralizedRidgeClassifier, weights

FEATURES = ["a", "b", "c"]
SLOPES = np.array([0.8, -0.5, 0.3])
PRIOR = 0.25


def rows(number, n_samples=40):
    """Return the rows of a task, in the memory order in which a file learns them, and their linear predictors."""
    rng = np.random.default_rng([20, number])
    X = np.asfortranarray(rng.normal(size=(n_samples, 3)) + 0.3 * (number % 2))
    return rng, X, X @ SLOPES


def classes(number, n_samples=40):
    """One of two classes in the first task; others appear later, before and after them in the alphabet."""
    rng, X, eta = rows(number, n_samples)
    names = np.array([["dog", "eel"], ["ant", "dog"], ["bee", "fox"], ["dog", "fox"]][number % 4])
    return X, names[(eta + rng.normal(size=n_samples) > 0.0).astype(int)]


def answers(number, n_samples=40):
    """Yes or no."""
    rng, X, eta = rows(number, n_samples)
    return X, np.where(rng.random(n_samples) < 1.0 / (1.0 + np.exp(-eta)), "yes", "no")


def counts(number, n_samples=40):
    """Counts."""
    rng, X, eta = rows(number, n_samples)
    return X, rng.poisson(np.exp(0.5 * eta)).astype(float)


def classifier(information):
    return GeneralizedRidgeClassifier(weights.Accumulated(prior=PRIOR), information=information)


def logistic(memory):
    return GeneralizedLogistic(weights.Accumulated(prior=PRIOR), memory=memory)


def poisson(memory):
    return GeneralizedPoisson(weights.Accumulated(prior=PRIOR), memory=memory)


KINDS = {
    "multiclass": (classes, lambda: classifier("square_root"), {"family": "multiclass"}),
    "multiclass, moments": (classes, lambda: classifier("moments"), {"family": "multiclass", "information": "moments"}),
    "binomial": (answers, lambda: logistic("quadratic"), {"family": "binomial"}),
    "binomial, cubic": (answers, lambda: logistic("cubic"), {"family": "binomial", "memory": "cubic"}),
    "poisson": (counts, lambda: poisson("quadratic"), {"family": "poisson"}),
    "poisson, cubic": (counts, lambda: poisson("cubic"), {"family": "poisson", "memory": "cubic"}),
}


def same_bits(one, two):
    """Say whether two models have the same state, bit for bit."""
    mine, theirs = one.to_arrays(), two.to_arrays()
    return mine.keys() == theirs.keys() and all(mine[name].tobytes() == theirs[name].tobytes() for name in mine)
