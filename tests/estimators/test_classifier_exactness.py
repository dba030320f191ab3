"""After every task, in any order of classes, a classifier is one fit on all rows; merged, or without some, too."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import RidgeClassifier

from ridgeway import (
    ContinualRidge,
    EarlyStopping,
    GeneralizedRidge,
    GeneralizedRidgeClassifier,
    MinimumNorm,
    Oracle,
    weights,
)
from ridgeway.errors import RemovalError
from ridgeway.information import ByTask, Information, Moments

pytestmark = pytest.mark.filterwarnings("ignore::ridgeway.errors.MaskedClassWarning")  # of classes drawn in a line

KINDS = ["square_root", "moments", "by_task", ByTask(Moments)]
LABELS = [["cat", "ant", "dog", "bee", "eel"], [30, -1, 7, 12, 0], [2.0, 1.0, 5.0, 4.0, 3.0]]


@dataclass(frozen=True)
class Stream:
    """Tasks (X, y, sample_weight) of classes in some order."""

    tasks: list
    fit_intercept: bool
    prior: float

    def rows(self, kept=slice(None)):
        X, y, w = zip(*self.tasks[kept], strict=True)
        return np.vstack(X), np.concatenate(y), np.concatenate(w)

    def model(self, kind, **settings):
        policy = weights.Accumulated(prior=self.prior)
        return GeneralizedRidgeClassifier(policy, information=kind, fit_intercept=self.fit_intercept, **settings)

    def learned(self, kind, kept=slice(None), **settings):
        model = self.model(kind, **settings)
        for number, (X, y, w) in list(enumerate(self.tasks))[kept]:
            task = {} if kind in ("square_root", "moments") else {"task": f"t{number}"}
            model.partial_fit(X, y, sample_weight=w, **task)
        return model


@st.composite
def streams(draw):
    """Draw tasks: the first has rows enough for all features, the others any number; some have a single class."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p, labels = draw(st.integers(1, 4)), draw(st.sampled_from(LABELS))[: draw(st.integers(2, 5))]
    centres = 2.0 * rng.normal(size=(len(labels), p)) + draw(st.sampled_from([0.0, 30.0]))
    weighted = draw(st.booleans())
    tasks = []
    for number in range(draw(st.integers(2, 6))):
        n = 6 * p + 4 if number == 0 else draw(st.integers(1, 8))
        few = draw(st.sampled_from([1, len(labels)]))
        places = rng.choice(rng.permutation(len(labels))[:few], size=n)
        w = rng.integers(1, 4, size=n) if weighted else np.ones(n)
        tasks.append((centres[places] + rng.normal(size=(n, p)), np.array(labels)[places], w.astype(float)))
    return Stream(tasks, draw(st.booleans()), draw(st.sampled_from([0.0, 0.7])))


def one_fit(stream, X, y, w):
    """Return classes, coefficients (k, p) and intercepts of ridge regression on all rows, solved as rows."""
    classes = np.unique(y)
    Y = (y[:, None] == classes).astype(float)
    at = (w @ X / w.sum(), w @ Y / w.sum()) if stream.fit_intercept else (0.0, 0.0)
    root = np.sqrt(w)[:, None]
    A = np.vstack([root * (X - at[0]), np.sqrt(stream.prior) * np.eye(X.shape[1])])
    B = np.vstack([root * (Y - at[1]), np.zeros((X.shape[1], len(classes)))])
    coef = np.linalg.lstsq(A, B, rcond=1e-12)[0]
    return classes, coef.T, at[1] - at[0] @ coef if stream.fit_intercept else np.zeros(len(classes))


def contrasted(classes, values):
    return values[1:] - values[:1] if len(classes) == 2 else values


def assert_one_fit(model, stream, X, y, w):
    classes, coef, intercept = one_fit(stream, X, y, w)
    np.testing.assert_array_equal(model.classes_, classes)
    np.testing.assert_allclose(model.coef_, contrasted(classes, coef), rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, contrasted(classes, intercept), rtol=0, atol=3e-8)
    scores = X @ coef.T + intercept
    clear = np.ptp(np.sort(scores, axis=1)[:, -2:], axis=1) > 1e-7 if len(classes) > 1 else np.ones(len(X), bool)
    np.testing.assert_array_equal(model.predict(X)[clear], classes[scores.argmax(axis=1)][clear])


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=40)
@given(stream=streams())
def test_after_every_task_it_is_one_fit_on_all_rows(kind, stream):
    model = stream.model(kind)
    for number, (X, y, w) in enumerate(stream.tasks, start=1):
        model.partial_fit(X, y, sample_weight=w)
        assert_one_fit(model, stream, *stream.rows(slice(number)))
    assert model.n_tasks_ == len(stream.tasks)
    assert model.n_samples_seen_ == len(stream.rows()[1])


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=40)
@given(stream=streams(), order=st.randoms(use_true_random=False))
def test_order_does_not_matter_nor_does_declaring_classes(kind, stream, order):
    shuffled = Stream(order.sample(stream.tasks, len(stream.tasks)), stream.fit_intercept, stream.prior)
    assert_one_fit(shuffled.learned(kind), stream, *stream.rows())
    X, y, w = stream.rows()
    declared = stream.model(kind).partial_fit(*stream.tasks[0][:2], np.unique(y), stream.tasks[0][2])
    assert list(declared.classes_) == sorted(set(y))
    for rows in stream.tasks[1:]:
        declared.partial_fit(rows[0], rows[1], sample_weight=rows[2])
    assert_one_fit(declared, stream, X, y, w)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=40)
@given(stream=streams(), cut=st.integers(1, 5))
def test_merging_is_one_fit_on_the_rows_of_both(kind, stream, cut):
    cut = min(cut, len(stream.tasks) - 1)
    one, two = stream.learned(kind, slice(cut)), stream.learned(kind, slice(cut, None))
    for merged in (one.merge(two), two.merge(one)):
        assert_one_fit(merged, stream, *stream.rows())
    assert one.n_tasks_ == cut


@pytest.mark.parametrize("kind", KINDS[:2])
@settings(max_examples=40)
@given(stream=streams(), seed=st.integers(0, 1000))
def test_removing_rows_is_one_fit_on_the_others(kind, stream, seed):
    X, y, w = stream.rows()
    gone = np.random.default_rng(seed).random(len(y)) < 0.2
    gone[: len(y) // 2] = False
    if not gone.any():
        return
    model = stream.learned(kind)
    if stream.fit_intercept and len(np.unique(y[~gone])) == 1 < len(np.unique(y)):  # the only target would be constant
        with pytest.raises(RemovalError, match="full rank"):
            model.remove(X[gone], y[gone], w[gone])
        return
    left = model.remove(X[gone], y[gone], w[gone])
    assert_one_fit(left, stream, X[~gone], y[~gone], w[~gone])


@pytest.mark.parametrize("kind", KINDS[:2])
def test_removing_all_rows_of_a_class_removes_the_class(rng, kind):
    X, y = rng.normal(size=(80, 3)), np.repeat([1, 2, 3, 4], 20)
    stream = Stream([(X, y, np.ones(80))], True, 0.0)
    model = stream.learned(kind)
    left = model.remove(X[y == 3], y[y == 3])
    assert_one_fit(left, stream, X[y != 3], y[y != 3], np.ones(60))
    left = left.remove(X[(y == 4) | (np.arange(80) < 5)], y[(y == 4) | (np.arange(80) < 5)])
    kept = (y < 3) & (np.arange(80) >= 5)
    assert_one_fit(left, stream, X[kept], y[kept], np.ones(35))
    assert list(model.classes_) == [1, 2, 3, 4]
    with pytest.raises(RemovalError, match="all rows of all classes"):
        model.remove(X, y)
    with pytest.raises(RemovalError, match="no rows were learned of class 9"):
        model.remove(X[:2], [9, 1])


def assert_same_memory(model, other):
    """The same tasks, classes and sums, to the last digits: how sums are rounded depends on the number of columns."""
    assert list(model.classes_) == list(other.classes_)
    assert model.information_.ids == other.information_.ids
    assert model.n_tasks_ == other.n_tasks_
    for one, two in zip(
        (model.information_, *model.information_.parts().values()),
        (other.information_, *other.information_.parts().values()),
        strict=True,
    ):
        assert (one.n_samples, one.digits_lost) == (two.n_samples, two.digits_lost)
        np.testing.assert_allclose(one.mean, two.mean, rtol=1e-13, atol=1e-13)
        largest = max(two.total_weight, np.abs(two.moments()).max())
        np.testing.assert_allclose(one.moments(), two.moments(), rtol=0, atol=1e-13 * largest)


@pytest.mark.parametrize("kind", KINDS[2:], ids=str)
@settings(max_examples=40)
@given(stream=streams(), seed=st.integers(0, 1000))
def test_a_class_that_is_removed_was_never_learned(kind, stream, seed):
    """Wherever the class was: no rows are needed."""
    _, y, _ = stream.rows()
    gone = np.random.default_rng(seed).choice(np.unique(y))
    others = [(X[y != gone], y[y != gone], w[y != gone]) for X, y, w in stream.tasks]
    never = stream.model(kind)
    for number, (X, y, w) in enumerate(others):
        if len(y):
            never.partial_fit(X, y, sample_weight=w, task=f"t{number}")
    model = stream.learned(kind)
    if not hasattr(never, "classes_"):
        with pytest.raises(RemovalError, match="is the only class"):
            model.remove(label=gone)
        return
    left = model.remove(label=gone)
    assert_same_memory(left, never)
    with pytest.raises(AssertionError):
        assert_same_memory(model, never)


@pytest.mark.parametrize("kind", KINDS[2:], ids=str)
@settings(max_examples=40)
@given(stream=streams(), seed=st.integers(0, 1000))
def test_a_task_that_is_removed_was_never_learned(kind, stream, seed):
    gone = np.random.default_rng(seed).integers(len(stream.tasks))
    left = stream.learned(kind).remove(task=f"t{gone}")
    never = stream.model(kind)
    for number, (X, y, w) in enumerate(stream.tasks):
        if number != gone:
            never.partial_fit(X, y, sample_weight=w, task=f"t{number}")
    assert_same_memory(left, never)


def test_the_comparison_can_fail(rng):
    X, y = rng.normal(size=(40, 3)), np.repeat(["a", "b", "c"], [20, 12, 8])
    stream = Stream([(X[y == label], y[y == label], np.ones((y == label).sum())) for label in "acb"], True, 0.0)
    model, rows = stream.learned("square_root"), stream.rows()
    assert_one_fit(model, stream, *rows)
    wrong = rows[1].copy()
    wrong[0] = "b"
    for other in ((rows[0], wrong, rows[2]), (rows[0], rows[1], rows[2] + 0.01 * np.arange(40)), (X, y[::-1], rows[2])):
        with pytest.raises(AssertionError):
            assert_one_fit(model, stream, *other)


def test_a_past_other_than_zero_is_found(rng, monkeypatch):
    X, y = rng.normal(size=(40, 3)), np.repeat(["a", "b", "c"], [20, 12, 8])
    stream = Stream([(X[y == label], y[y == label], np.ones((y == label).sum())) for label in "acb"], True, 0.0)

    def shifted(held, targets):
        past = np.where(targets < 0, 0.2, 0.0)
        return held.widened(np.arange(3), targets, np.r_[np.zeros(3), past])

    monkeypatch.setattr(Information, "with_targets", shifted)
    with pytest.raises(AssertionError):
        assert_one_fit(stream.learned("square_root"), stream, *stream.rows())


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_signs_are_least_squares_on_signs(rng, fit_intercept, n_classes):
    """Against scikit-learn with an intercept, and rows of −1 and 1 without."""
    X, y = rng.normal(size=(60, 3)), rng.integers(n_classes, size=60)
    model = GeneralizedRidgeClassifier(weights.Accumulated(prior=0.3), coding="signed", fit_intercept=fit_intercept)
    for label in (1, 0, 3, 2)[: 4 if n_classes == 4 else 2]:
        model.partial_fit(X[y == label], y[y == label])
    peer = RidgeClassifier(alpha=0.3, fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.atleast_2d(peer.coef_), atol=1e-9)
    np.testing.assert_allclose(model.intercept_, peer.intercept_ + np.zeros(len(model.coef_)), atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    plain = model.set_params(coding="one_hot")
    np.testing.assert_array_equal(plain.predict(X), peer.predict(X))
    if n_classes > 2:
        assert np.abs(plain.coef_ - peer.coef_).max() > 1e-3


TWINS = [
    (GeneralizedRidgeClassifier(weights.Isotropic(0.3)), ContinualRidge(0.3)),
    (GeneralizedRidgeClassifier(weights.GradientSteps(n_steps=7)), EarlyStopping(n_steps=7)),
    (GeneralizedRidgeClassifier(weights.Zero()), MinimumNorm()),
    (GeneralizedRidgeClassifier(), Oracle()),
    (GeneralizedRidgeClassifier(weights.Isotropic(0.3)), GeneralizedRidge(weights.Isotropic(0.3))),
    (GeneralizedRidgeClassifier(weights.Accumulated(0.3, decay=0.5)), GeneralizedRidge(weights.Accumulated(0.3, 0.5))),
]


@pytest.mark.parametrize(("classifier", "regressor"), TWINS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_twins_are_regressors_that_knew_all_classes_from_the_start(rng, classifier, regressor, fit_intercept):
    X, y = rng.normal(size=(60, 4)), np.repeat([3, 1, 2], 20)
    classifier, regressor = (
        type(model)(**model.get_params(deep=False) | {"fit_intercept": fit_intercept})
        for model in (classifier, regressor)
    )
    for label in (3, 1, 2):
        rows = y == label
        classifier.partial_fit(X[rows], y[rows])
        regressor.partial_fit(X[rows], (y[rows][:, None] == [1, 2, 3]).astype(float))
    np.testing.assert_allclose(classifier.coef_, regressor.coef_, atol=1e-12)
    np.testing.assert_allclose(classifier.intercept_, regressor.intercept_, atol=1e-12)
    np.testing.assert_allclose(classifier.decision_function(X), regressor.predict(X), atol=1e-12)


def test_a_prior_that_is_learned_is_that_of_one_fit(rng):
    X, y = rng.normal(size=(90, 5)), np.repeat(["a", "b", "c"], 30)
    X[:, 0] += y == "b"
    learned, whole = (GeneralizedRidgeClassifier(weights.Accumulated(prior="evidence")) for _ in range(2))
    for label in "cba":
        learned.partial_fit(X[y == label], y[y == label])
    whole.fit(X, y)
    peer = GeneralizedRidge(weights.Accumulated(prior="evidence")).fit(X, (y[:, None] == list("abc")).astype(float))
    np.testing.assert_allclose(learned.coef_, whole.coef_, atol=1e-9)
    np.testing.assert_allclose(learned.coef_, peer.coef_, atol=1e-9)
