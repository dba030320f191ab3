"""Probabilities of classes: those of the discriminants, and of scikit-learn's calibration for either decision."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import log_loss

from ridgeway import GeneralizedRidgeClassifier, weights


@pytest.mark.parametrize("settings", [{}, {"decision": "lda"}, {"fit_intercept": False}])
def test_one_class_alone(rng, settings):
    X = rng.normal(size=(10, 3))
    model = GeneralizedRidgeClassifier(**settings).fit(X, [True] * 10)
    assert model.predict(X).tolist() == [True] * 10
    assert model.decision_function(X).shape == (10, 1)
    np.testing.assert_array_equal(model.set_params(decision="lda").predict_proba(X), 1.0)


@pytest.mark.parametrize(
    "settings", [{}, {"decision": "lda"}, {"fit_intercept": False}, {"information": "by_task", "balanced": True}]
)
def test_a_class_without_rows_is_never_predicted(rng, settings):
    """The others are as probable as if it had not been declared; one row of it is enough to change that."""
    X, y = rng.normal(size=(60, 3)), np.repeat(["a", "c"], 30)
    X[30:] += 1.0
    rows = np.vstack([X, -50.0 * np.ones((1, 3))])  # without an intercept, both other scores are below 0 there
    declared = GeneralizedRidgeClassifier(**settings).partial_fit(X, y, classes=["a", "b", "c"])
    plain = GeneralizedRidgeClassifier(**settings).fit(X, y)
    assert "b" not in declared.predict(rows)
    np.testing.assert_array_equal(declared.predict(rows), plain.predict(rows))
    found = declared.set_params(decision="lda").predict_proba(rows)
    assert not found[:, 1].any()
    np.testing.assert_allclose(found[:, ::2], plain.set_params(decision="lda").predict_proba(rows), rtol=1e-9)
    assert (declared.partial_fit(X[:1], ["b"]).predict_proba(rows[:1])[:, 1] > 0.0).all()


@pytest.mark.parametrize("name", ["predict_proba", "predict_log_proba"])
def test_least_squares_has_no_probabilities(rng, name):
    """As scikit-learn's RidgeClassifier has none; the reason says what has."""
    X, y = rng.normal(size=(60, 2)), np.tile([0, 1], 30)
    for model in (GeneralizedRidgeClassifier(), GeneralizedRidgeClassifier().fit(X, y), RidgeClassifier().fit(X, y)):
        assert not hasattr(model, name)
    with pytest.raises(AttributeError) as raised:
        getattr(model := GeneralizedRidgeClassifier().fit(X, y), name)
    assert "Use decision='lda', or scikit-learn's CalibratedClassifierCV" in str(raised.value.__cause__)
    assert getattr(model.set_params(decision="lda"), name)(X).shape == (60, 2)


def test_log_probabilities_are_those_of_scikit_learn(rng):
    X, y = rng.normal(size=(60, 2)), np.tile([0, 1, 2], 20)
    model = GeneralizedRidgeClassifier(decision="lda").fit(X, y)
    peer = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(model.predict_log_proba(X), peer.predict_log_proba(X), atol=1e-9)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def digits_one_by_one(**settings):
    """Return a model that learned half of the digits, class by class; the rows, and which of them it learned."""
    X, y = load_digits(return_X_y=True)
    learned = np.arange(len(y)) % 2 == 0
    model = GeneralizedRidgeClassifier(weights.Accumulated(prior=10.0), shrinkage=0.01, **settings)
    for label in np.random.default_rng(0).permutation(10):
        rows = learned & (y == label)
        model.partial_fit(X[rows], y[rows])
    return model, X, y, learned


def test_probabilities_on_digits():
    """Class by class, the discriminants are the pooled ones."""
    model, X, y, learned = digits_one_by_one(decision="lda")
    pooled = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.01).fit(X[learned], y[learned])
    np.testing.assert_allclose(model.predict_proba(X[~learned]), pooled.predict_proba(X[~learned]), atol=1e-8)


@pytest.mark.parametrize("decision", ["least_squares", "lda"])
def test_scikit_learn_calibrates_either_decision(decision):
    """Rows that were not learned decide how sure the model is, and the model stays as it is."""
    model, X, y, learned = digits_one_by_one(decision=decision)
    held = np.arange(len(y)) % 4 == 1
    test = ~learned & ~held
    before = model.decision_function(X)
    calibrated = CalibratedClassifierCV(FrozenEstimator(model)).fit(X[held], y[held])
    np.testing.assert_array_equal(model.decision_function(X), before)
    np.testing.assert_array_equal(calibrated.classes_, model.classes_)
    probabilities = calibrated.predict_proba(X[test])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert log_loss(y[test], probabilities) < log_loss(y[test], np.full((test.sum(), 10), 0.1)) / 2
