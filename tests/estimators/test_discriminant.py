"""Discriminant analysis from the memory of a classifier is scikit-learn's on pooled rows; probabilities follow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import OAS
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier

from ridgeway import GeneralizedRidgeClassifier, datasets, weights
from ridgeway.errors import InvalidParameterError, MaskedClassWarning
from ridgeway.information import ByTask, Moments, discriminants, score_moments, shrunk_covariance

pytestmark = pytest.mark.filterwarnings("ignore:Only one sample available")  # scikit-learn's, of a class of one row
DRAWN = pytest.mark.filterwarnings("ignore::ridgeway.errors.MaskedClassWarning")  # classes that may lie in a line

KINDS = ["square_root", "moments", "by_task", ByTask(Moments)]


def peer(shrinkage, **settings):
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage, **settings)


def assert_same_analysis(model, other, X):
    np.testing.assert_array_equal(model.classes_, other.classes_)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-8, atol=1e-8 * np.abs(other.coef_).max())
    np.testing.assert_allclose(
        model.intercept_, other.intercept_, rtol=1e-8, atol=1e-8 * np.abs(other.intercept_).max()
    )
    scores = other.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-8, atol=1e-8 * np.abs(scores).max())
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-8)


@st.composite
def streams(draw):
    """Draw tasks (X, y): the first has rows enough for a covariance, the others any number, some of one class."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p, n_classes = draw(st.integers(1, 4)), draw(st.integers(2, 5))
    labels = rng.permutation(["ant", "bee", "cat", "dog", "eel"])[:n_classes]
    centres = rng.normal(size=(n_classes, p)) + draw(st.sampled_from([0.0, 10.0]))
    scales = 10.0 ** rng.uniform(-1, 1, p)
    tasks = []
    for number in range(draw(st.integers(2, 5))):
        n = 12 * p + 10 if number == 0 else draw(st.integers(1, 9))
        places = rng.choice(rng.permutation(n_classes)[: 2 if number == 0 else draw(st.integers(1, n_classes))], size=n)
        tasks.append((scales * (centres[places] + rng.normal(size=(n, p))), labels[places]))
    return tasks


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=40)
@DRAWN
@given(tasks=streams(), shrinkage=st.sampled_from([0.0, 0.1, 0.6, 1.0]), fit_intercept=st.booleans())
def test_after_every_task_it_is_scikit_learns_on_all_rows(kind, tasks, shrinkage, fit_intercept):
    """Whether or not the least squares have an intercept, and under any prior."""
    policy = weights.Accumulated(prior=5.0)
    chosen = {"decision": "lda", "shrinkage": shrinkage, "information": kind, "fit_intercept": fit_intercept}
    model = GeneralizedRidgeClassifier(policy, **chosen)
    for number, (X, y) in enumerate(tasks, start=1):
        model.partial_fit(X, y)
        X, y = (np.concatenate(part) for part in zip(*tasks[:number], strict=True))
        if len(set(y)) > 1:
            assert_same_analysis(model, peer(shrinkage or None).fit(X, y), X)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=40)
@DRAWN
@given(tasks=streams(), cut=st.integers(1, 4))
def test_merged_and_without_rows(kind, tasks, cut):
    parts = [GeneralizedRidgeClassifier(decision="lda", shrinkage=0.2, information=kind) for _ in range(2)]
    cut = min(cut, len(tasks) - 1)
    for number, task in enumerate(tasks):
        name = {} if kind in ("square_root", "moments") else {"task": number}
        parts[number >= cut].partial_fit(*task, **name)
    X, y = (np.concatenate(part) for part in zip(*tasks, strict=True))
    merged = parts[0].merge(parts[1])
    if len(set(y)) > 1:
        assert_same_analysis(merged, peer(0.2).fit(X, y), X)
    kept = np.arange(len(y)) >= 3
    if kind in ("square_root", "moments") and len(set(y[kept])) == len(set(y)) > 1:
        assert_same_analysis(merged.remove(X[~kept], y[~kept]), peer(0.2).fit(X[kept], y[kept]), X)


@pytest.mark.parametrize("kind", KINDS[:2])
@settings(max_examples=40)
@DRAWN
@given(tasks=streams(), seed=st.integers(0, 1000))
def test_weights_are_repeated_rows(kind, tasks, seed):
    X, y = (np.concatenate(part) for part in zip(*tasks, strict=True))
    counts = np.random.default_rng(seed).integers(1, 4, size=len(y))
    model = GeneralizedRidgeClassifier(decision="lda", shrinkage=0.3, information=kind).fit(X, y, counts)
    assert_same_analysis(model, peer(0.3).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)), X)


@pytest.mark.parametrize("kind", KINDS[2:], ids=str)
@settings(max_examples=40)
@DRAWN
@given(tasks=streams())
def test_automatic_shrinkage_is_that_of_each_class(kind, tasks):
    model = GeneralizedRidgeClassifier(decision="lda", shrinkage="auto", information=kind)
    for task in tasks:
        model.partial_fit(*task)
    X, y = (np.concatenate(part) for part in zip(*tasks, strict=True))
    assert_same_analysis(model, peer(None, covariance_estimator=OAS()).fit(X, y), X)
    model.set_params(balanced=True)
    share = [1 / len(set(y))] * len(set(y))
    assert_same_analysis(model, peer(None, covariance_estimator=OAS(), priors=share).fit(X, y), X)


@pytest.mark.parametrize("kind", KINDS[2:], ids=str)
@settings(max_examples=40)
@DRAWN
@given(tasks=streams())
def test_balanced_classes(kind, tasks):
    """Against scikit-learn's weights for least squares, and its priors for the discriminants."""
    policy = weights.Accumulated(prior=0.4)
    model = GeneralizedRidgeClassifier(policy, balanced=True, coding="signed", information=kind)
    for task in tasks:
        model.partial_fit(*task)
    X, y = (np.concatenate(part) for part in zip(*tasks, strict=True))
    other = RidgeClassifier(alpha=0.4, class_weight="balanced", solver="cholesky").fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-8)
    model.set_params(decision="lda", shrinkage=0.2)
    share = [1 / len(set(y))] * len(set(y))
    assert_same_analysis(model, peer(0.2, priors=share).fit(X, y), X)


def test_the_comparison_can_fail(rng):
    X, y = rng.normal(size=(50, 3)) * [1, 5, 1], np.repeat(["a", "b"], [35, 15])
    model = GeneralizedRidgeClassifier(decision="lda", shrinkage=0.2).fit(X, y)
    assert_same_analysis(model, peer(0.2).fit(X, y), X)
    for other in (peer(0.21).fit(X, y), peer(0.2, priors=[0.5, 0.5]).fit(X, y), peer(0.2).fit(X[1:], y[1:])):
        with pytest.raises(AssertionError):
            assert_same_analysis(model, other, X)


def test_a_feature_that_is_constant_in_each_class_counts_for_nothing(rng):
    """Its variance within the classes is rounding, which must not be inverted; scikit-learn's lstsq agrees."""
    y = np.repeat([0, 1, 2], 30)
    X = np.column_stack([rng.normal(size=(90, 2)) + y[:, None], 0.1 + y / 3, np.full(90, 7.0)])
    for kind in KINDS:
        model = GeneralizedRidgeClassifier(decision="lda", information=kind)
        for label in (2, 0, 1):
            model.partial_fit(X[y == label], y[y == label])
        np.testing.assert_array_equal(model.coef_[:, 2:], 0.0)
        np.testing.assert_allclose(
            model.predict_proba(X), peer(None).fit(X[:, :2], y).predict_proba(X[:, :2]), atol=1e-8
        )


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_rare_classes(rng, kind, fit_intercept):
    """A class of one row has no scatter, one without rows no probability, and a single class is certain."""
    X, y = rng.normal(size=(41, 2)), np.array([1] * 20 + [2] * 20 + [5])
    model = GeneralizedRidgeClassifier(decision="lda", information=kind, fit_intercept=fit_intercept)
    model.partial_fit(X[:20], y[:20], classes=[1, 2, 3, 5])
    np.testing.assert_array_equal(model.predict_proba(X), np.tile([1.0, 0.0, 0.0, 0.0], (41, 1)))
    model.partial_fit(X[40:], y[40:]).partial_fit(X[20:40], y[20:40])
    other = peer(None).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, [0, 1, 3]], other.predict_proba(X), atol=1e-8)
    assert set(model.predict(X)) <= {1, 2, 5}
    np.testing.assert_array_equal(model.predict_proba(X)[:, 2], 0.0)
    model.set_params(decision="least_squares")
    assert set(model.predict(X)) <= {1, 2, 5} or not fit_intercept


REFUSED = {
    "by class": ({"balanced": True}, "balanced=True needs one memory for each class.*information='by_task'"),
    "automatic": ({"decision": "lda", "shrinkage": "auto"}, "shrinkage='auto' needs one memory for each class"),
    "no information": ({"weights": weights.Zero(), "decision": "lda"}, r"decision='lda' needs.*weights=Zero\(\)"),
    "balanced, no information": ({"weights": weights.Zero(), "balanced": True, "information": "by_task"}, "one memory"),
    "decision": ({"decision": "svm"}, "decision must be one of least_squares, lda; got 'svm'"),
    "coding": ({"coding": "three"}, "coding must be one of one_hot, signed; got 'three'"),
    "shrinkage above 1": ({"shrinkage": 1.5}, "shrinkage must lie between 0 and 1; got 1.5"),
    "negative shrinkage": ({"shrinkage": -0.5}, "shrinkage must be a finite number ≥ 0; got -0.5"),
    "text": ({"shrinkage": "some"}, "shrinkage must be a finite number"),
    "not a bool": ({"balanced": "yes"}, "balanced must be True or False"),
    "fourth moments": ({"information": ByTask(fourth_moments=True)}, "no use for fourth moments"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_settings_that_are_refused(rng, case):
    settings, match = REFUSED[case]
    X, y = rng.normal(size=(12, 2)), np.tile([0, 1], 6)
    model = GeneralizedRidgeClassifier(**settings)
    with pytest.raises(InvalidParameterError, match=match):
        model.fit(X, y)
    assert not hasattr(model, "classes_")
    if "information" not in settings and "weights" not in settings:
        late = GeneralizedRidgeClassifier().fit(X, y).set_params(**settings)
        with pytest.raises(InvalidParameterError, match=match):
            late.predict(X)


def test_what_was_learned_without_classes_apart_stays_so(rng):
    X, y = rng.normal(size=(12, 2)), np.tile([0, 1], 6)
    model = GeneralizedRidgeClassifier().fit(X, y).set_params(information="by_task", balanced=True)
    with pytest.raises(InvalidParameterError, match="balanced=True needs one memory"):
        model.predict(X)
    with pytest.raises(InvalidParameterError, match="balanced=True needs one memory"):
        model.partial_fit(X, y)
    assert model.fit(X, y).predict(X).shape == (12,)


def test_a_class_without_rows_has_no_discriminant(rng):
    X, y = rng.normal(size=(20, 2)), np.tile(["a", "b"], 10)
    held = GeneralizedRidgeClassifier().partial_fit(X, y, classes=["a", "b", "z"]).information_
    coef, intercept = discriminants(held, shrunk_covariance(held, 0.0))
    assert np.isneginf(intercept[2])
    assert not coef[:, 2].any()


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_how_scores_are_distributed_in_each_class(rng, kind, fit_intercept):
    """Means and covariance of the scores of the rows themselves; a score that is constant in each class has zeros."""
    X, y = rng.normal(size=(50, 3)) + 4.0, rng.integers(3, size=50)
    X[:, 2] = y
    held = GeneralizedRidgeClassifier(information=kind, fit_intercept=fit_intercept).fit(X, y).information_
    coef, intercept = np.column_stack([rng.normal(size=(3, 3)), [0.0, 0.0, 1.0]]), rng.normal(size=4)
    scores = X @ coef + intercept
    means, covariance = score_moments(held, coef, intercept)
    np.testing.assert_allclose(means, [scores[y == label].mean(axis=0) for label in range(3)], atol=1e-10)
    apart = scores - np.array([scores[y == label].mean(axis=0) for label in range(3)])[y]
    np.testing.assert_allclose(covariance, apart.T @ apart / 50, atol=1e-10)
    assert not covariance[3].any()
    assert not covariance[:, 3].any()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_constant_feature_decides_nothing(kind, fit_intercept):
    """Its value may be any, and its mean is rounded if rows are weighted."""
    rng = np.random.default_rng(0)
    labels = np.repeat(["ant", "bee", "cat"], 40)
    X = rng.normal(size=(120, 2)) + np.repeat(rng.normal(size=(3, 2)), 40, axis=0)
    weight = rng.uniform(0.2, 2.0, 120)
    settings = {"decision": "lda", "information": kind, "fit_intercept": fit_intercept}
    expected = GeneralizedRidgeClassifier(**settings).fit(X, labels, sample_weight=weight)
    rows = np.column_stack([X, np.full(120, 12.3)])
    model = GeneralizedRidgeClassifier(**settings).fit(rows, labels, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, np.column_stack([expected.coef_, np.zeros(3)]), atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(rows), expected.predict_proba(X), atol=1e-9)


def in_a_line(rng, n_classes=3, n=100, p=2):
    """Classes one behind the other, five standard deviations apart."""
    labels = np.repeat(np.arange(n_classes), n)
    return rng.normal(size=(len(labels), p)) + 5.0 * labels[:, None] / np.sqrt(p), labels


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_masked_class_is_warned_of(rng, kind):
    X, y = in_a_line(rng)
    model = GeneralizedRidgeClassifier(information=kind).fit(X, y)
    with pytest.warns(MaskedClassWarning, match=r"hides class 1 behind others: .*decision='lda'") as said:
        predicted = model.predict(X)
    assert [warning.filename for warning in said] == [__file__]  # where predict was called
    assert (predicted == y).mean() < 0.75
    assert model.set_params(decision="lda").score(X, y) > 0.95


def test_the_warning_comes_once_for_what_has_been_learned(rng):
    X, y = in_a_line(rng)
    model = GeneralizedRidgeClassifier().fit(X, y)
    with pytest.warns(MaskedClassWarning) as said:
        model.predict(X)
    assert len(said) == 1
    model.predict(X)  # a warning would be an error here
    model.partial_fit(X, y)
    with pytest.warns(MaskedClassWarning, match="class 1"):
        model.predict(X)
    model.set_params(coding="signed").predict(X)


def test_each_masked_class_is_named(rng):
    X, y = in_a_line(rng, n_classes=4)
    with pytest.warns(MaskedClassWarning) as said:
        GeneralizedRidgeClassifier().fit(X, np.array(["a", "b", "c", "d"])[y]).predict(X)
    assert [str(warning.message)[:31] for warning in said] == [
        f"least squares hides class {k!r} beh"[:31] for k in "bc"
    ]


def test_expected_recall_is_that_of_new_rows(rng):
    """The percentages in the warning, beside the recall of 30,000 new rows."""
    X, y = in_a_line(rng, n=2_000)
    new, labels = in_a_line(rng, n=10_000)
    model = GeneralizedRidgeClassifier().fit(X, y)
    with pytest.warns(MaskedClassWarning) as said:
        model.predict(new)
    recalls = [(model.set_params(decision=rule).predict(new)[labels == 1] == 1).mean() for rule in RULES]
    expected = [float(word.rstrip("%")) / 100.0 for word in str(said[0].message).split() if word.endswith("%")]
    np.testing.assert_allclose(expected, recalls, atol=0.03)


RULES = ("least_squares", "lda")


def penguins():
    table = datasets.load_penguins().columns
    names = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    X = np.column_stack([np.asarray(table[name], dtype=np.float64) for name in names])
    known = np.isfinite(X).all(axis=1)
    return X[known], np.asarray(table["species"])[known], np.asarray(table["island"])[known]


def test_sound_data_cause_no_warning(rng):
    """Warnings are errors here. Sepals alone, islands and noise are hard to tell apart, but not masked."""
    X, species, island = penguins()
    irises, kinds = load_iris(return_X_y=True)
    apart = rng.normal(size=(300, 2)) + 5.0 * np.array([[0, 0], [1, 0], [0, 1]])[np.arange(300) % 3]
    for rows, labels in (
        (X, species),
        (X, island),
        (irises, kinds),
        (irises[:, :2], kinds),
        load_digits(return_X_y=True),
        load_wine(return_X_y=True),
        (apart, np.arange(300) % 3),
        (rng.normal(size=(300, 3)), np.arange(300) % 3),
        (rng.normal(size=(200, 150)), np.arange(200) % 3),
    ):
        GeneralizedRidgeClassifier().fit(rows, labels).predict(rows)


def test_few_rows_and_two_classes_cause_no_warning(rng):
    X, y = in_a_line(rng, n=9, p=1)
    GeneralizedRidgeClassifier().fit(X, y).predict(X)
    X, y = in_a_line(rng, n=20, p=13)
    GeneralizedRidgeClassifier().fit(X, y).predict(X)
    X, y = in_a_line(rng, n_classes=2)
    GeneralizedRidgeClassifier().fit(X, y).predict(X)
    X, y = in_a_line(rng)
    GeneralizedRidgeClassifier(fit_intercept=False).fit(X, y).predict(X)  # this misses classes for another reason
    for n, p in ((12, 1), (200, 13)):  # with more rows, the first two are warned of
        X, y = in_a_line(rng, n=n, p=p)
        model = GeneralizedRidgeClassifier().fit(X, y)
        with pytest.warns(MaskedClassWarning):
            model.predict(X)


def test_many_orders_of_tasks_do_not_warn_without_a_reason(rng):
    """Classes that arrive one after the other, with a prediction after each: they lie at the corners of a simplex."""
    model = GeneralizedRidgeClassifier()
    for label in range(6):
        X = rng.normal(size=(60, 6)) + 8.0 * np.eye(6)[label]
        model.partial_fit(X, np.full(60, label)).predict(X)
