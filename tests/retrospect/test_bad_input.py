"""Questions that cannot be answered: a typed error each, with the remedy."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from states import learned

from ridgeway import ContinualRidge, GeneralizedRidge, MinimumNorm, Oracle, errors, retrospect
from ridgeway.research.theory import FixedDesignProblem
from ridgeway.weights import Accumulated, Isotropic

RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(20, 3)), RNG.normal(size=20)
MODEL = learned(X, y)
NAMED = GeneralizedRidge().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
QUESTIONS = {
    "summary": retrospect.summary,
    "intervals": lambda model: retrospect.intervals(model, X),
    "contrast": lambda model: retrospect.contrast(model, np.eye(3)),
    "submodel": lambda model: retrospect.submodel(model, [0]),
    "elastic_net": retrospect.elastic_net,
    "best_subset": lambda model: retrospect.best_subset(model, 1),
    "learn_prior": retrospect.learn_prior,
    "compare": lambda model: retrospect.compare(model, X, y),
}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_a_model_that_does_not_accumulate(ask):
    with pytest.raises(errors.InvalidParameterError, match=r"weights.Accumulated"):
        ask(GeneralizedRidge(Isotropic(1.0)).fit(X, y))
    for other in (ContinualRidge(), MinimumNorm(), Oracle()):
        with pytest.raises(errors.InvalidParameterError, match="GeneralizedRidge"):
            ask(other.fit(X, y))
    with pytest.raises(NotFittedError):
        ask(GeneralizedRidge())
    ask(MODEL)


@pytest.mark.parametrize(
    "ask", [QUESTIONS[name] for name in ("summary", "intervals", "contrast", "learn_prior", "compare")]
)
def test_rows_that_fade(ask):
    with pytest.raises(errors.InferenceError, match=r"decay=0\.5"):
        ask(learned(X, y, weights=Accumulated(decay=0.5)))


def test_standard_deviations_of_a_model_that_keeps_no_information():
    for model in (ContinualRidge(), MinimumNorm(), GeneralizedRidge(Isotropic(1.0))):
        with pytest.raises(errors.InferenceError, match="return_std"):
            model.fit(X, y).predict(X, return_std=True)


def test_standard_deviations_of_the_oracle_are_those_of_the_state():
    one, two = (model.fit(X, y).predict(X, return_std=True)[1] for model in (Oracle(), GeneralizedRidge()))
    np.testing.assert_allclose(one, two, rtol=1e-9)


@pytest.mark.parametrize("n", [3, 4])
def test_no_degrees_of_freedom(n):
    model = learned(X[:n], y[:n], n_tasks=1)
    for ask in (QUESTIONS["summary"], QUESTIONS["intervals"]):
        with pytest.raises(errors.InferenceError, match=r"no degrees of freedom.*learn_prior"):
            ask(model)
    with pytest.raises(errors.InferenceError, match="degrees of freedom"):
        model.predict(X, return_std=True)
    retrospect.summary(learned(X[:n], y[:n], n_tasks=1, weights=Accumulated(prior=1.0)))


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([0, 3], "not learned: 3"),
        ([-1], "not learned: -1"),
        (["a"], "'a'.*positions"),
        ([0, 1, 0], "more than once: 0"),
        ([True], "not learned: True"),
        ([], "empty"),
        (7, "list of names"),
        ([1.5], "not learned"),
    ],
)
def test_features(features, message):
    with pytest.raises((errors.FeatureMismatchError, errors.InvalidParameterError), match=message):
        retrospect.submodel(MODEL, features)


def test_names():
    with pytest.raises(errors.FeatureMismatchError, match=r"'d'.*a, b, c"):
        retrospect.submodel(NAMED, ["a", "d"])
    with pytest.raises(errors.FeatureMismatchError, match="more than once"):
        retrospect.submodel(NAMED, ["a", 0])
    assert list(retrospect.submodel(NAMED, "b").feature_names_in_) == ["b"]


@pytest.mark.parametrize(
    ("C", "d", "message"),
    [
        (np.eye(2), 0.0, "shape"),
        (np.ones((1, 5)), 0.0, "4 with the intercept"),
        (np.ones((2, 2, 3)), 0.0, "shape"),
        (np.zeros((1, 3)), 0.0, "zeros"),
        ([[np.nan, 0.0, 0.0]], 0.0, "NaN"),
        ([["a", "b", "c"]], 0.0, "numbers"),
        (np.eye(3), [1.0, 2.0], "one per hypothesis"),
        (np.eye(3), np.inf, "NaN or infinity"),
    ],
)
def test_contrasts(C, d, message):
    with pytest.raises(errors.InvalidParameterError, match=message):
        retrospect.contrast(MODEL, C, d)


def test_contrasts_that_follow_from_each_other():
    with pytest.raises(errors.InferenceError, match="only 2 of the"):
        retrospect.contrast(MODEL, [[1.0, 0, 0], [0, 1.0, 0], [1.0, 1.0, 0]])
    with pytest.raises(errors.InferenceError, match="are independent"):
        retrospect.contrast(MODEL, RNG.normal(size=(6, 3)))


@pytest.mark.parametrize("level", [0.0, 1.0, 95, "95", True, np.nan])
def test_levels(level):
    with pytest.raises(errors.InvalidParameterError, match=r"0\.95"):
        retrospect.summary(MODEL, level=level)
    with pytest.raises(errors.InvalidParameterError, match=r"0\.95"):
        retrospect.intervals(MODEL, X, level)


@pytest.mark.parametrize("k", [0, 4, 1.5, True, "2"])
def test_sizes(k):
    with pytest.raises(errors.InvalidParameterError, match="from 1 to 3"):
        retrospect.best_subset(MODEL, k)


@pytest.mark.parametrize(
    "settings",
    [{"penalties": 0.0}, {"penalties": [1.0, -1.0]}, {"penalties": []}, {"penalties": "a"}, {"penalties": np.nan}],
)
def test_penalties(settings):
    with pytest.raises(errors.InvalidParameterError, match="penalties"):
        retrospect.elastic_net(MODEL, **settings)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.5, "a", None, True])
def test_ratios(l1_ratio):
    with pytest.raises(errors.InvalidParameterError, match="l1_ratio"):
        retrospect.elastic_net(MODEL, l1_ratio=l1_ratio)


def test_a_task_that_is_not_the_models():
    before = MODEL.coef_
    with pytest.raises(errors.FeatureMismatchError):
        retrospect.compare(MODEL, X[:, :2], y)
    with pytest.raises(errors.InvalidDataError, match="y has shape"):
        retrospect.compare(MODEL, X, np.column_stack([y, y]))
    with pytest.raises(errors.InvalidDataError, match="NaN"):
        retrospect.compare(MODEL, np.full((4, 3), np.nan), y[:4])
    np.testing.assert_array_equal(MODEL.coef_, before)


def test_policies_that_learn_from_rows_have_no_numbers_without_them():
    problem = FixedDesignProblem([X], signal=1.0)
    with pytest.raises(errors.InvalidParameterError, match="learned from rows"):
        problem.expected_error(Accumulated(prior="evidence"))
    for policy in (Accumulated(prior="evident"), Accumulated(decay="half")):
        with pytest.raises(errors.InvalidParameterError):
            GeneralizedRidge(policy).fit(X, y)
    with pytest.raises(errors.InferenceError, match="fade"):
        _ = GeneralizedRidge(Accumulated("evidence", decay=0.5)).fit(X, y).coef_
