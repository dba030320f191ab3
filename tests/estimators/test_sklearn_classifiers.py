"""scikit-learn's own contract, for all classifiers and what they keep: no exception, no skip of ours."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ridgeway import (
    ContinualPipeline,
    GeneralizedRidgeClassifier,
    weights,
)

CLASSIFIERS = [
    GeneralizedRidgeClassifier(),
    GeneralizedRidgeClassifier(information="moments"),
    GeneralizedRidgeClassifier(weights.Accumulated(prior="evidence"), coding="signed", weight_kind="frequency"),
    GeneralizedRidgeClassifier(decision="lda", shrinkage=0.1),
    GeneralizedRidgeClassifier(decision="lda", shrinkage="auto", information="by_task"),
    GeneralizedRidgeClassifier(balanced=True, information="by_task"),
    GeneralizedRidgeClassifier(weights.Isotropic(0.1)),
    GeneralizedRidgeClassifier(weights.GradientSteps()),
    GeneralizedRidgeClassifier(weights.Zero()),
]


@parametrize_with_checks(CLASSIFIERS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def blobs():
    rng = np.random.default_rng(3)
    y = np.repeat(["a", "b", "c"], 20)
    return rng.normal(size=(60, 2)) + np.take([[0, 0], [3, 0], [0, 3]], np.unique(y, return_inverse=True)[1], axis=0), y


@pytest.mark.filterwarnings("ignore::ridgeway.errors.MaskedClassWarning")  # under the largest prior
def test_grid_search_over_prior_and_decision(blobs):
    settings = {"weights__prior": [0.0, 1.0, 1e6], "decision": ["least_squares", "lda"]}
    search = GridSearchCV(GeneralizedRidgeClassifier(), settings, cv=3).fit(*blobs)
    assert search.best_params_["weights__prior"] < 1e6
    assert search.best_score_ > 0.8


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
def test_pipelines(blobs, classifier):
    X, y = blobs
    assert cross_val_score(make_pipeline(StandardScaler(), classifier), X, y, cv=3).min() > 0.7
    stream = ContinualPipeline([FrozenEstimator(StandardScaler().fit(X)), classifier])
    for label in "bca":
        stream.partial_fit(X[y == label], y[y == label])
    assert list(stream.classes_) == ["a", "b", "c"]
    whole = ContinualPipeline(stream.steps).fit(X, y, tasks=y)
    np.testing.assert_array_equal(stream.named_steps[type(classifier).__name__.lower()].n_tasks_, 3)
    if isinstance(classifier, GeneralizedRidgeClassifier) and classifier.weights is None:
        np.testing.assert_allclose(stream.decision_function(X), whole.decision_function(X), atol=1e-10)
        assert stream.score(X, y) > 0.8


def test_a_pipeline_merges_classifiers(blobs):
    X, y = blobs
    steps = [FrozenEstimator(StandardScaler().fit(X)), GeneralizedRidgeClassifier()]
    parts = [ContinualPipeline(steps).partial_fit(X[y == label], y[y == label]) for label in "cab"]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    whole = ContinualPipeline(steps).fit(X, y)
    np.testing.assert_allclose(merged.decision_function(X), whole.decision_function(X), atol=1e-10)
    left = merged.remove(X[:30], y[:30])
    np.testing.assert_allclose(
        left.decision_function(X), ContinualPipeline(steps).fit(X[30:], y[30:]).decision_function(X), atol=1e-10
    )
