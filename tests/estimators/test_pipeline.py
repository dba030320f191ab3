"""`ContinualPipeline`: what each kind of step does with a task, what that does to the answer, and what fails whole."""

import copy
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import IncrementalPCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    Normalizer,
    OneHotEncoder,
    SplineTransformer,
    StandardScaler,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

from ridgeway import ContinualPipeline, ContinualRidge, GeneralizedRidge, MinimumNorm, retrospect, weights
from ridgeway.errors import InvalidDataError, InvalidParameterError, InvalidStateError, MergeError, RemovalError
from ridgeway.estimators._pipeline_steps import same

PIPELINES = [
    ContinualPipeline([GeneralizedRidge()]),
    ContinualPipeline([StandardScaler(), GeneralizedRidge()]),
    ContinualPipeline([("scale", StandardScaler()), ("model", ContinualRidge())]),
    ContinualPipeline([Normalizer(), MinimumNorm()]),
]


def never_asked(pipeline):
    """Name the check that scikit-learn 1.6 also runs on steps that say they take no sparse rows."""
    centred = "StandardScaler" in str(pipeline)
    return {"check_sample_weight_equivalence_on_sparse_data": "centring needs dense rows"} if centred else {}


@parametrize_with_checks(PIPELINES, expected_failed_checks=never_asked)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def tasks():
    """Three tasks whose columns have different means and scales."""
    rng = np.random.default_rng(0)
    found = []
    for scale in (1.0, 5.0, 0.2):
        X = scale * rng.normal(size=(30, 3)) + scale
        found.append((X, X @ [1.0, -2.0, 0.5] + rng.normal(size=30)))
    return found


def taught(pipeline, tasks):
    for X, y in tasks:
        pipeline = pipeline.partial_fit(X, y)
    return pipeline


def pooled(tasks):
    return np.vstack([X for X, _ in tasks]), np.concatenate([y for _, y in tasks])


def test_with_a_fixed_step_the_answer_is_the_pooled_one(tasks):
    X, y = pooled(tasks)
    expected = LinearRegression().fit(X, y).predict(X)
    reference = FrozenEstimator(StandardScaler().fit(tasks[1][0]))
    for step in (StandardScaler(), reference, FunctionTransformer(lambda X: X / 7.0)):
        pipeline = taught(ContinualPipeline([step, GeneralizedRidge()]), tasks)
        assert_allclose(pipeline.predict(X), expected, rtol=1e-9, atol=1e-9)


class Drifting(TransformerMixin, BaseEstimator):
    """A step that changes with each call: the control of the test above."""

    def fit(self, X, y=None):
        self.mean_ = np.zeros(X.shape[1])
        return self

    def transform(self, X):
        self.mean_ = self.mean_ + X.mean(axis=0)
        return (X - self.mean_) / 3.0


def test_with_a_step_that_drifts_it_would_not_be(tasks):
    X, y = pooled(tasks)
    pipeline = taught(ContinualPipeline([Drifting(), GeneralizedRidge()]), tasks)
    assert np.abs(pipeline.predict(X) - LinearRegression().fit(X, y).predict(X)).max() > 0.5


def test_the_first_task_fits_the_steps_and_no_task_changes_them(tasks):
    first = tasks[0][0]
    known = FrozenEstimator(StandardScaler().fit(first + 1.0))
    steps = [("known", known), ("scale", StandardScaler())]
    steps += [
        ("splines", SplineTransformer(extrapolation="linear")),
        ("model", GeneralizedRidge(weights.Accumulated(1.0))),
    ]
    pipeline = taught(ContinualPipeline(steps), tasks)
    fitted = pipeline.named_steps
    assert fitted["known"] is known
    assert_allclose(fitted["scale"].mean_, known.transform(first).mean(axis=0))
    assert fitted["scale"].n_samples_seen_ == 30
    expected = SplineTransformer(extrapolation="linear").fit(pipeline_before(pipeline, tasks[0], "splines"))
    assert_array_equal(fitted["splines"].bsplines_[0].t, expected.bsplines_[0].t)
    assert fitted["model"].n_tasks_ == 3
    assert [hasattr(step, "n_features_in_") for _, step in steps[1:]] == [False, False, False]  # never changed


def pipeline_before(pipeline, task, name):
    """Return what a step was fitted on: the first task, through the steps before it."""
    again = clone(pipeline).partial_fit(*task).pipeline_
    return again[: list(again.named_steps).index(name)].transform(task[0])


def test_incremental_pca_stays_that_of_the_first_task(tasks):
    pipeline = taught(ContinualPipeline([IncrementalPCA(2), GeneralizedRidge()]), tasks)
    assert_array_equal(
        pipeline.named_steps["incrementalpca"].components_, IncrementalPCA(2).fit(tasks[0][0]).components_
    )


def test_fit_learns_task_by_task(tasks):
    X, y = pooled(tasks)
    labels = np.repeat(["a", "b", "c"], 30)
    for steps in ([StandardScaler(), ContinualRidge()], [IncrementalPCA(2), MinimumNorm()]):
        one_by_one = taught(ContinualPipeline(steps), tasks)
        at_once = ContinualPipeline(steps).partial_fit(X + 9.0, y).fit(X, y, tasks=labels)  # forgets what it knew
        assert_array_equal(at_once.predict(X), one_by_one.predict(X))
        frame = ContinualPipeline(steps).fit(pd.DataFrame(X), pd.Series(y), tasks=pd.Series(labels))
        assert_allclose(frame.predict(pd.DataFrame(X)), one_by_one.predict(X), rtol=1e-9, atol=1e-9)
        rows = ContinualPipeline(steps).fit(X.tolist(), y.tolist(), sample_weight=1.0, tasks=list(labels))
        assert_allclose(rows.predict(X), one_by_one.predict(X), rtol=1e-9, atol=1e-9)


def test_weights_reach_the_model_and_the_steps_that_take_them(tasks):
    X, y = tasks[0]
    weight = np.arange(30) % 4
    for step in (StandardScaler(), FunctionTransformer()):
        pipeline = ContinualPipeline([step, GeneralizedRidge(weights.Accumulated(1.0))])
        pipeline.partial_fit(X, y, sample_weight=weight).partial_fit(X, y, weight)
        repeated = clone(pipeline)
        for _ in range(2):
            repeated.partial_fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        assert_allclose(pipeline.predict(X), repeated.predict(X), rtol=1e-10)
        assert pipeline.score(X, y, weight) == pytest.approx(repeated.score(X, y, weight))


def test_sparse_and_text_columns():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"age": rng.normal(size=80), "kind": rng.choice(list("abc"), 80)})
    y = frame["age"] + (frame["kind"] == "a") + rng.normal(size=80)
    encoder = ColumnTransformer([("kind", OneHotEncoder(drop="first"), ["kind"])], remainder="passthrough")
    pipeline = ContinualPipeline([encoder, GeneralizedRidge()])
    pipeline.partial_fit(frame[:40], y[:40]).partial_fit(frame[40:], y[40:])
    expected = make_pipeline(clone(encoder), LinearRegression()).fit(frame, y)
    assert_allclose(pipeline.predict(frame), expected.predict(frame), rtol=1e-9)
    assert list(pipeline.feature_names_in_) == ["age", "kind"]
    X = sparse.random_array((40, 3), density=0.5, rng=1, format="csr")
    steps = [StandardScaler(with_mean=False), GeneralizedRidge()]
    sparse_rows, dense_rows = ContinualPipeline(steps).fit(X, y[:40]), ContinualPipeline(steps).fit(X.toarray(), y[:40])
    assert_allclose(sparse_rows.predict(X), dense_rows.predict(X.toarray()), rtol=1e-9)


def test_names_reach_the_model_and_retrospect(tasks):
    frames = [(pd.DataFrame(X, columns=["age", "size", "rate"]), y) for X, y in tasks]
    pipeline = ContinualPipeline([StandardScaler(), GeneralizedRidge()])
    pipeline = taught(pipeline.set_output(transform="pandas"), frames)
    X, y = pooled(tasks)
    summary = retrospect.summary(pipeline.pipeline_[-1])
    assert summary.terms == ("intercept", "age", "size", "rate")
    scale = np.sqrt(tasks[0][0].var(axis=0))
    assert_allclose(summary.coef[1:], LinearRegression().fit(X, y).coef_ * scale, rtol=1e-9)
    assert_allclose(pipeline.predict(frames[0][0], return_std=True)[1].shape, (30,))
    assert list(pipeline.pipeline_[:-1].get_feature_names_out()) == ["age", "size", "rate"]


def test_merge_and_remove(tasks):
    X, y = pooled(tasks)
    scaler = FrozenEstimator(StandardScaler().fit(X[:10]))
    elsewhere = FrozenEstimator(copy.deepcopy(scaler.estimator))
    north = ContinualPipeline([scaler, GeneralizedRidge()]).fit(*tasks[0])
    south = taught(ContinualPipeline([elsewhere, GeneralizedRidge()]), tasks[1:])
    alone = south.predict(X)
    both = north.merge(south)
    assert_allclose(both.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-8, atol=1e-9)
    assert_allclose(both.remove(*tasks[0]).predict(X), alone, rtol=1e-8, atol=1e-9)
    assert [each.pipeline_[-1].n_tasks_ for each in (north, south, both)] == [1, 2, 3]  # neither changes anything
    plain = [ContinualPipeline([GeneralizedRidge()]).fit(*task) for task in tasks]
    rest = plain[0].merge(plain[1]).remove(*tasks[0])
    assert_allclose(rest.predict(X), plain[1].predict(X), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    ("mine", "theirs", "message"),
    [
        ([StandardScaler()], [StandardScaler()], "differ in: standardscaler"),
        ([FunctionTransformer()], [], "differ in: the number of steps"),
        ([FunctionTransformer(np.sqrt)], [FunctionTransformer(np.cbrt)], "differ in: functiontransformer"),
    ],
)
def test_what_cannot_be_merged(tasks, mine, theirs, message):
    tasks = [(np.abs(X), y) for X, y in tasks]
    one = ContinualPipeline([*mine, GeneralizedRidge()]).fit(*tasks[0])
    with pytest.raises(MergeError, match=message):
        one.merge(ContinualPipeline([*theirs, GeneralizedRidge()]).fit(*tasks[1]))


def test_other_refusals_to_merge_and_remove(tasks):
    pipeline = ContinualPipeline([StandardScaler(), GeneralizedRidge()]).fit(*tasks[0])
    with pytest.raises(RemovalError, match="nothing would remain"):
        pipeline.remove(*tasks[0])
    with pytest.raises(MergeError, match="another ContinualPipeline"):
        pipeline.merge(GeneralizedRidge())
    assert not hasattr(ContinualPipeline([MinimumNorm()]), "merge")
    assert not hasattr(ContinualPipeline([MinimumNorm()]), "remove")


def test_steps_are_the_same_only_if_every_attribute_is():
    X = np.arange(12.0).reshape(4, 3)
    words = [["a"], ["b"], ["b"]]
    pairs = [
        (StandardScaler().fit(X), StandardScaler().fit(X + np.eye(3)[0])),
        (OneHotEncoder().fit(words), OneHotEncoder().fit(words[1:])),
        (SplineTransformer().fit(X), SplineTransformer().fit(2.0 * X)),
        (FunctionTransformer(np.sqrt), FunctionTransformer(lambda X: X)),
        (make_pipeline(StandardScaler()).fit(X), make_pipeline(StandardScaler()).fit(2.0 * X)),
        (StandardScaler(), StandardScaler(with_mean=False)),
        (StandardScaler(), OneHotEncoder()),
        (sparse.eye_array(2).tocsr(), 2.0 * sparse.eye_array(2).tocsr()),
    ]
    for one, other in pairs:
        assert same(one, copy.deepcopy(one)), one
        assert not same(one, other), one
    assert not same(pd.Series([1]), pd.Series([1]))  # cannot be told


def test_parameters_by_name(tasks):
    X, y = pooled(tasks)
    pipeline = ContinualPipeline([("scale", StandardScaler()), ("model", GeneralizedRidge())])
    pipeline.set_params(scale__with_mean=False, model__weights__prior=3.0)
    assert (pipeline.steps[0][1].with_mean, pipeline.get_params()["model__weights__prior"]) == (False, 3.0)
    pipeline.set_params(scale=FunctionTransformer(), model=GeneralizedRidge(), model__weights__prior=2.0)
    assert_allclose(pipeline.fit(X, y).predict(X), Ridge(2.0).fit(X, y).predict(X))
    assert list(pipeline.named_steps) == ["scale", "model"]
    twice = ContinualPipeline([StandardScaler(), StandardScaler(), MinimumNorm()])
    assert list(twice.named_steps) == ["standardscaler-1", "standardscaler-2", "minimumnorm"]
    with pytest.raises(ValueError, match="Invalid parameter 'scaler'"):
        pipeline.set_params(scaler__with_mean=True)


def test_grid_search_and_cross_validation(tasks):
    X, y = pooled(tasks)
    pipeline = ContinualPipeline([StandardScaler(), GeneralizedRidge()])
    search = GridSearchCV(pipeline, {"generalizedridge__weights__prior": [0.1, 10.0]}, cv=3).fit(X, y)
    peer = GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 10.0]}, cv=3).fit(X, y)
    assert_allclose(search.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"])
    assert is_regressor(pipeline)
    assert is_regressor(clone(pipeline))


def test_a_classifier_at_the_end(tasks):
    X, y = pooled(tasks)
    label = np.where(y > 0.0, "high", "low")
    pipeline = ContinualPipeline([StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)])
    assert is_classifier(pipeline)
    peer = make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", random_state=0, max_iter=1, tol=None))
    assert_array_equal(cross_val_score(pipeline, X, label, cv=3), cross_val_score(peer, X, label, cv=3))
    for start in (0, 30, 60):
        part = slice(start, start + 30)
        pipeline.partial_fit(X[part], label[part], classes=["high", "low"])
    assert list(pipeline.classes_) == ["high", "low"]
    assert pipeline.predict_proba(X).shape == (90, 2)
    assert pipeline.decision_function(X).shape == (90,)
    assert not hasattr(ContinualPipeline([MinimumNorm()]), "predict_proba")


class Fussy(BaseEstimator):
    """A model that changes first, and then refuses the task."""

    def partial_fit(self, X, y):
        self.n_calls_ = getattr(self, "n_calls_", 0) + 1
        if len(X) < 3:
            raise ValueError("too few rows")
        return self

    def predict(self, X):
        return X[:, 0]


@pytest.mark.parametrize("model", [GeneralizedRidge(), Fussy()], ids=["ours", "another"])
def test_a_call_that_fails_changes_no_step(tasks, model):
    X, y = tasks[0]
    refused = r"NaN|too few"
    pipeline = ContinualPipeline([StandardScaler(), model])
    with pytest.raises(ValueError, match=refused):
        pipeline.partial_fit(X[:2], [1.0, np.nan])
    with pytest.raises(NotFittedError):
        pipeline.predict(X)
    fitted = pipeline.partial_fit(X, y).pipeline_
    before = pickle.dumps(pipeline)
    for learn in (pipeline.fit, pipeline.partial_fit):
        with pytest.raises(ValueError, match=refused):
            learn(X[:2], [1.0, np.nan])
    with pytest.raises(ValueError, match=refused):
        pipeline.fit(X, [*y[:29], np.nan], tasks=[0] * 29 + [1])  # the second task is refused
    with pytest.raises(ValueError, match="expecting 3 features"):
        pipeline.partial_fit(X[:, :1], y)
    with pytest.raises(InvalidDataError, match="29 labels"):
        pipeline.fit(X, y, tasks=[0] * 29)
    with pytest.raises(InvalidDataError, match="one target per row"):
        pipeline.fit(X, y[:1], tasks=[0] * 30)
    assert pipeline.pipeline_ is fitted
    assert pickle.dumps(pipeline) == before


def test_without_a_copy_the_model_would_have_changed(tasks, monkeypatch):
    """The control of the test above."""
    monkeypatch.setattr(copy, "deepcopy", lambda step: step)
    pipeline = ContinualPipeline([StandardScaler(), Fussy()]).partial_fit(*tasks[0])
    with pytest.raises(ValueError, match="too few"):
        pipeline.partial_fit(tasks[1][0][:2], tasks[1][1][:2])
    assert pipeline.named_steps["fussy"].n_calls_ == 2


def test_rows_that_would_be_paired_wrongly_are_refused(tasks):
    X, y = pd.DataFrame(tasks[0][0]), pd.Series(tasks[0][1])
    pipeline = ContinualPipeline([StandardScaler(), GeneralizedRidge()])
    for learn in (pipeline.fit, pipeline.partial_fit):
        with pytest.raises(InvalidDataError, match="different order"):
            learn(X, y[::-1])


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([], "got no steps"),
        (None, "got no steps"),
        ([StandardScaler()], None),
        ([StandardScaler(), LinearRegression()], "with partial_fit, not frozen; got LinearRegression"),
        ([FrozenEstimator(MinimumNorm())], "with partial_fit, not frozen"),
        (["scale", MinimumNorm()], "'scale' must have fit and transform"),
        ([("a", StandardScaler()), ("a", MinimumNorm())], "its own name"),
        ([("a__b", StandardScaler()), ("c", MinimumNorm())], "without '__'"),
        ([StandardScaler().fit([[1.0]]), MinimumNorm()], "'standardscaler' is fitted already"),
        ([MinimumNorm().fit([[1.0]], [1.0])], "'minimumnorm' is fitted already"),
        ([FrozenEstimator(StandardScaler()), MinimumNorm()], "'frozenestimator' is frozen but not fitted"),
    ],
)
def test_steps_that_are_refused(tasks, steps, message):
    assert ContinualPipeline(steps).get_params()["steps"] is steps
    if message is None:  # a step with partial_fit at the end is allowed: it need not predict
        assert ContinualPipeline(steps).partial_fit(*tasks[0]).n_features_in_ == 3
        return
    with pytest.raises(InvalidParameterError, match=message):
        ContinualPipeline(steps).partial_fit(*tasks[0])


CALLS = []


class Teaching(TransformerMixin, BaseEstimator):
    """A step that lets its pipeline learn a task in the middle of another."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        if CALLS:
            CALLS.pop()()
        return X


def test_no_task_is_lost_if_a_step_teaches_the_pipeline(tasks):
    pipeline = ContinualPipeline([Teaching(), GeneralizedRidge()]).partial_fit(*tasks[0])
    CALLS.append(lambda: pipeline.partial_fit(*tasks[1]))
    with pytest.raises(InvalidStateError, match="not learned"):
        pipeline.partial_fit(*tasks[2])
    assert pipeline.pipeline_[-1].n_tasks_ == 2


def test_threads_that_learn_take_turns(tasks):
    pipeline = ContinualPipeline([StandardScaler(), GeneralizedRidge()])
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: pipeline.partial_fit(*tasks[0]), range(40)))
    assert pipeline.pipeline_[-1].n_tasks_ == 40


def test_importing_the_estimators_does_not_import_scikit_learns_pipeline():
    """It takes as long to import as all the rest."""
    code = "import sys, ridgeway; ridgeway.ContinualPipeline; print('sklearn.pipeline' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
