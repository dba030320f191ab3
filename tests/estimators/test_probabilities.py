"""Probabilities of classes: from the memory alone, or calibrated on rows that were not learned."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, ndtr
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import log_loss

from ridgeway import GeneralizedRidgeClassifier, MinimumNormClassifier, weights
from ridgeway.errors import InferenceError, InvalidDataError
from ridgeway.estimators._temperature import best_factor, even_normals, normal_factor


def test_one_class_alone(rng):
    X = rng.normal(size=(10, 3))
    for settings in ({}, {"decision": "lda"}, {"fit_intercept": False}):
        model = GeneralizedRidgeClassifier(**settings).fit(X, [True] * 10)
        assert model.predict(X).tolist() == [True] * 10
        np.testing.assert_array_equal(model.predict_proba(X), 1.0)
        assert model.decision_function(X).shape == (10, 1)
        with pytest.raises(InferenceError, match="no better than chance"):
            model.calibrate(X, [True] * 10)


@pytest.mark.parametrize(
    "settings", [{}, {"decision": "lda"}, {"fit_intercept": False}, {"information": "by_task", "balanced": True}]
)
def test_a_class_without_rows_is_never_predicted(rng, settings):
    """The others are as probable as if it had not been declared; one row of it is enough to change that."""
    X, y = rng.normal(size=(60, 3)), np.repeat(["a", "c"], 30)
    X[30:] += 1.0
    rows = np.vstack([X, -50.0 * np.ones((1, 3))])  # without an intercept, both other scores are below 0 there
    declared = GeneralizedRidgeClassifier(**settings).partial_fit(X, y, classes=["a", "b", "c"])
    found, plain = declared.predict_proba(rows), GeneralizedRidgeClassifier(**settings).fit(X, y)
    assert not found[:, 1].any()
    assert "b" not in declared.predict(rows)
    np.testing.assert_allclose(found[:, ::2], plain.predict_proba(rows), rtol=1e-9)
    with pytest.raises(InvalidDataError, match="not learned: 'b'"):
        declared.calibrate(X[:2], ["a", "b"])
    np.testing.assert_allclose(
        declared.calibrate(X, y).predict_proba(X)[:, ::2], plain.calibrate(X, y).predict_proba(X)
    )
    assert (declared.partial_fit(X[:1], ["b"]).predict_proba(rows[:1])[:, 1] > 0.0).all()


def error_of_calibration(y, probabilities, n_bins=10):
    """Return the expected calibration error: how far accuracy and confidence are apart, on average over bins."""
    confidence, correct = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    return sum(abs((correct - confidence)[bins == b].sum()) for b in range(n_bins)) / len(y)


def test_probabilities_on_digits():
    """Class by class: the discriminants are the pooled ones, and least squares is within 5 % of their log-loss."""
    X, y = load_digits(return_X_y=True)
    learned, held = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 4 == 1
    test = ~learned & ~held
    model = GeneralizedRidgeClassifier(weights.Accumulated(prior="evidence"), shrinkage=0.01)
    for label in np.random.default_rng(0).permutation(10):
        rows = learned & (y == label)
        model.partial_fit(X[rows], y[rows])
    pooled = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.01).fit(X[learned], y[learned])
    bar = log_loss(y[test], pooled.predict_proba(X[test]))
    found = {"from the memory": model.predict_proba(X[test])}
    found["calibrated"] = model.calibrate(X[held], y[held]).predict_proba(X[test])
    model.set_params(decision="lda")
    found["discriminants"] = model.predict_proba(X[test])
    found["calibrated discriminants"] = model.calibrate(X[held], y[held]).predict_proba(X[test])
    for what, probabilities in found.items():
        assert log_loss(y[test], probabilities) <= 1.05 * bar, what
        assert error_of_calibration(y[test], probabilities) < 0.05, what
    np.testing.assert_allclose(found["discriminants"], pooled.predict_proba(X[test]), atol=1e-8)
    assert error_of_calibration(y[test], np.eye(10)[model.predict(X[test])]) > 0.05


@pytest.mark.parametrize("settings", [{}, {"decision": "lda"}, {"weights": weights.Zero()}])
def test_calibration(rng, settings):
    """The temperature of least log-loss, found another way; it belongs to the model that it was found for."""
    y = np.repeat([0, 1, 2], 200)
    X = rng.normal(size=(600, 3)) + np.eye(3)[y]
    model = GeneralizedRidgeClassifier(**settings).fit(X[::2], y[::2])
    before = model.predict(X[1::2])
    model.calibrate(X[1::2], y[1::2])
    np.testing.assert_array_equal(model.predict_proba(X[1::2]).argmax(axis=1), before)
    scores = model.decision_function(X[1::2])

    def loss(log_factor):
        return -log_softmax(np.exp(log_factor) * scores, axis=1)[np.arange(300), y[1::2]].mean()

    best = minimize_scalar(loss, bounds=(-5, 10), method="bounded", options={"xatol": 1e-9})
    assert log_loss(y[1::2], model.predict_proba(X[1::2])) == pytest.approx(best.fun, rel=1e-3)
    assert loss(np.log(1.3) + best.x) > 1.003 * best.fun
    calibrated = model.predict_proba(X)
    model.partial_fit(X[:3], y[:3])
    if "weights" in settings:
        assert not hasattr(model, "predict_proba")
    else:
        assert np.abs(model.predict_proba(X) - calibrated).max() > 1e-4


def test_twins_need_rows_for_probabilities(rng):
    X, y = rng.normal(size=(60, 2)), np.tile([0, 1], 30)
    X[:, 0] += y
    model = MinimumNormClassifier().fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert model.calibrate(X, y).predict_proba(X).shape == (60, 2)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    for bad, labels, match in (
        (X, y[:-1], "60 rows and y has 59"),
        (X, y + 1, "has not learned: 2"),
        (X, None, "y to"),
    ):
        with pytest.raises(InvalidDataError, match=match):
            model.calibrate(bad, labels)
    with pytest.raises(InferenceError, match="no better than chance"):
        model.calibrate(X, 1 - y)
    with pytest.raises(InferenceError, match="Call calibrate"):
        MinimumNormClassifier().fit(X, y)._factor()


def test_the_factor_of_normal_scores(rng):
    """Against draws at random; points that fill the cube have the moments of a normal distribution."""
    points = even_normals(9, 3)
    np.testing.assert_allclose(ndtr(points).mean(axis=0), 0.5, atol=0.001)  # random points have 0.013
    np.testing.assert_allclose(np.cov(points.T), np.eye(3), atol=0.05)
    means, root = rng.normal(size=(3, 3)), rng.normal(size=(3, 3)) / 2
    shares = np.array([0.5, 0.3, 0.2])
    found = normal_factor(shares, means, root.T @ root, 1e9)
    y = rng.choice(3, p=shares, size=200_000)
    scores = means[y] + rng.normal(size=(200_000, 3)) @ root
    assert found == pytest.approx(best_factor(scores, y, np.ones(len(y)), 0.0), rel=0.03)
    assert best_factor(-scores, y, np.ones(len(y)), 0.0) is None
