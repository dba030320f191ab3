"""Discriminant analysis of Fisher's irises: scikit-learn's, and the figures that R has printed.

`lda(Species ~ ., iris)` of R's MASS prints the means, the coefficients of two linear discriminants with 7 decimals, and
the proportion of trace (Venables and Ripley, Modern Applied Statistics with S, 2002; the same numbers are in many
tutorials). scikit-learn ships the rows: `load_iris`, which agrees with R's copy since scikit-learn 0.20.
"""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from ridgeway import GeneralizedRidgeClassifier

DISCRIMINANTS = [  # sepal length and width, petal length and width
    [0.8293776, 0.02410215],
    [1.5344731, 2.16452123],
    [-2.2012117, -0.93192121],
    [-2.8104603, 2.83918785],
]
PROPORTION_OF_TRACE = [0.9912, 0.0088]
MISCLASSIFIED = [71, 84, 134]
"""Of the 150 rows, counted from 1: `which(predict(fit)$class != iris$Species)`."""


def learned(X, y, order):
    """Return discriminant analysis after five tasks, in a given order of the rows."""
    model = GeneralizedRidgeClassifier(decision="lda")
    for rows in np.array_split(order, 5):
        model.partial_fit(X[rows], y[rows])
    return model


def discriminants(model, X, y):
    """Return the directions that separate the means best, from the scores, as MASS scales them, and their shares.

    The scores are C = W⁻¹M, with the within-class covariance W (divided by n) and the means M. Directions Ca with
    CᵀMa = λa solve Bv = λWv; MASS divides W by n less the number of classes.
    """
    means = np.stack([X[y == label].mean(axis=0) for label in model.classes_], axis=1)
    centred = means - means.mean(axis=1, keepdims=True)
    scores = model.coef_.T - model.coef_.T.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(scores.T @ centred)
    largest = np.argsort(values)[::-1][:2]
    directions = scores @ vectors[:, largest]
    lengths = np.sqrt(values[largest])
    n = len(y)
    return directions / lengths * np.sqrt((n - len(model.classes_)) / n), values[largest] / values[largest].sum()


@pytest.mark.parametrize("seed", range(3))
def test_irises_are_those_of_mass(seed):
    X, y = load_iris(return_X_y=True)
    model = learned(X, y, np.random.default_rng(seed).permutation(150))
    directions, shares = discriminants(model, X, y)
    signs = np.sign(directions[1] * np.array(DISCRIMINANTS)[1])  # a direction and its opposite are the same
    np.testing.assert_allclose(directions * signs, DISCRIMINANTS, atol=6e-8)
    np.testing.assert_allclose(shares, PROPORTION_OF_TRACE, atol=5e-5)
    np.testing.assert_array_equal(np.flatnonzero(model.predict(X) != y) + 1, MISCLASSIFIED)


def test_irises_one_species_after_another_are_those_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    model = GeneralizedRidgeClassifier(decision="lda")
    for species in (2, 0, 1):
        model.partial_fit(X[y == species], y[y == species])
    pooled = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(model.coef_, pooled.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, pooled.intercept_, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), pooled.predict_proba(X), atol=1e-9)


def test_a_row_less_is_seen():
    """The negative control."""
    X, y = load_iris(return_X_y=True)
    directions, _ = discriminants(learned(X, y, np.arange(1, 150)), X, y)
    assert np.abs(np.abs(directions) - np.abs(DISCRIMINANTS)).max() > 1e-4
