"""Paths and subsets from the state, beside scikit-learn and brute force on the pooled rows."""

import copy
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import ElasticNet, enet_path
from states import learned

from ridgeway import GeneralizedRidge, retrospect, weights
from ridgeway.errors import InvalidStateError
from ridgeway.information import ByTask


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(70, 6)) @ rng.normal(size=(6, 6)) + 5.0
    y = X[:, :3] @ [2.0, -1.0, 0.5] + rng.normal(size=70) + 4.0
    return X, y, rng.uniform(0.2, 3.0, size=70)


@pytest.mark.parametrize("kind", ["square_root", "moments"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_elastic_net(rows, kind, weighted, l1_ratio):
    X, y, weight = rows
    weight = weight if weighted else None
    ours = retrospect.elastic_net(
        learned(X, y, weight, information=kind), l1_ratio=l1_ratio, penalties=[0.01, 2.0, 0.3]
    )
    np.testing.assert_array_equal(ours.penalties, [2.0, 0.3, 0.01])
    for penalty, coef, intercept in zip(ours.penalties, ours.coefs, ours.intercepts, strict=True):
        theirs = ElasticNet(alpha=penalty, l1_ratio=l1_ratio, tol=1e-13, max_iter=10**6).fit(X, y, weight)
        np.testing.assert_allclose(coef, theirs.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(intercept, theirs.intercept_, rtol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_path_of_the_lasso_with_penalties_of_its_own(rows, intercept):
    X, y, _ = rows
    ours = retrospect.elastic_net(learned(X, y, fit_intercept=intercept), l1_ratio=1.0)
    A, b = (X - X.mean(axis=0), y - y.mean()) if intercept else (X, y)
    alphas, coefs, _ = enet_path(A, b, l1_ratio=1.0, tol=1e-13, max_iter=10**6)
    np.testing.assert_allclose(ours.penalties, alphas, rtol=1e-9)
    np.testing.assert_allclose(ours.coefs, coefs.T, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.coefs[0], 0.0, atol=1e-12)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(ours.coefs[1:], coefs.T[:-1], rtol=1e-6, atol=1e-8)


def test_several_targets_one_by_one(rows):
    X, y, _ = rows
    Y = np.column_stack([y, -2.0 * y + X[:, 5]])
    both = retrospect.elastic_net(learned(X, Y), l1_ratio=1.0, penalties=[0.1])
    for k in range(2):
        alone = retrospect.elastic_net(learned(X, Y[:, k]), l1_ratio=1.0, penalties=0.1)
        np.testing.assert_allclose(both.coefs[k], alone.coefs, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(both.intercepts[k], alone.intercepts, rtol=1e-7)


def test_a_target_that_does_not_vary():
    found = retrospect.elastic_net(learned(np.eye(4), np.ones(4)), l1_ratio=1.0)
    assert not found.coefs.any()


def brute_force(X, y, k):
    def squares(columns):
        design = np.column_stack([np.ones(len(X)), X[:, columns]])
        return np.square(y - design @ np.linalg.lstsq(design, y)[0]).sum()

    return min(combinations(range(X.shape[1]), k), key=squares)


@pytest.mark.parametrize("p", [5, 12])
@pytest.mark.parametrize("kind", ["square_root", "moments"])
def test_best_subset(rng, p, kind):
    X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, p)) + 0.5 * rng.normal(size=(60, p))
    y = X @ rng.normal(size=p) + 3.0 * rng.normal(size=60)
    model = learned(X, y, information=kind)
    for k in range(1, p + 1):
        found = retrospect.best_subset(model, k)
        assert tuple(found.columns) == brute_force(X, y, k)
        assert found.features == tuple(f"x{j}" for j in found.columns)
        design = X[:, found.columns]
        np.testing.assert_allclose(found.model.predict(design), GeneralizedRidge().fit(design, y).predict(design))
        np.testing.assert_allclose(found.r_squared, found.model.score(design, y))
        np.testing.assert_allclose(found.residual_squares, np.square(y - found.model.predict(design)).sum())


def test_best_subset_with_a_column_twice(rng):
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    X["d"] = X["b"]
    model = GeneralizedRidge().fit(X, X["b"] - X["c"] + 0.1 * rng.normal(size=40))
    assert set(retrospect.best_subset(model, 2).features) in ({"b", "c"}, {"d", "c"})


def test_best_subset_of_several_targets(rng):
    X = rng.normal(size=(50, 5))
    Y = np.column_stack([X[:, 1] + 0.01 * rng.normal(size=50), 1e6 * X[:, 4] + 1e4 * rng.normal(size=50)])
    found = retrospect.best_subset(learned(X, Y), 2)
    assert list(found.columns) == [1, 4]
    assert found.r_squared.shape == (2,)


SETTINGS = {
    "square_root": {},
    "moments": {"information": "moments"},
    "by_task": {"information": "by_task"},
    "evidence": {"weights": weights.Accumulated(prior="evidence")},
}


def noisy(rng, n=60, p=5, **settings):
    X = rng.normal(size=(n, p))
    y = X[:, 0] + rng.normal(size=n)
    return GeneralizedRidge(**settings).fit(X, y, tasks=np.repeat(["a", "b"], n // 2))


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_a_best_subset_says_that_its_features_were_chosen(rng, settings):
    model = noisy(rng, **settings)
    best = retrospect.best_subset(model, 2).model
    found = retrospect.summary(best)
    assert found.post_selection
    assert "These features were chosen because they fit these rows best." in " ".join(str(found).split())
    assert "These features were chosen" in found._repr_html_()
    assert retrospect.intervals(best, np.zeros((1, 2))).post_selection
    assert retrospect.contrast(best, [1.0, 0.0]).post_selection

    same = retrospect.submodel(model, list(retrospect.best_subset(model, 2).columns))
    for free in (model, same, retrospect.best_subset(model, 5).model):  # nobody chose, or all features were taken
        assert not retrospect.summary(free).post_selection
        assert "chosen" not in str(retrospect.summary(free))
        assert not retrospect.intervals(free, np.zeros((1, free.n_features_in_))).post_selection
        assert b"selected" not in free.to_arrays()["header"].tobytes()
    np.testing.assert_array_equal(best.coef_, same.coef_)
    np.testing.assert_array_equal(found.intervals, retrospect.summary(same).intervals)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_it_stays_chosen_whatever_is_done_with_the_model(rng, settings):
    model = noisy(rng, **settings)
    best = retrospect.best_subset(model, 3).model
    more = {"task": "c"} if "information" in settings and settings["information"] == "by_task" else {}
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    derived = {
        "read again": GeneralizedRidge.from_arrays(best.to_arrays()),
        "copied, in the form of a pickle": copy.deepcopy(best),
        "smaller": retrospect.submodel(best, [0, 2]),
        "as good as all": retrospect.best_subset(best, 3).model,
        "with more rows": copy.deepcopy(best).partial_fit(X, y, **more),
    }
    if "weights" not in settings:
        other = GeneralizedRidge(**settings).fit(X, y, tasks=np.repeat("d", 20))
        derived["merged"] = best.merge(other)
        derived["merged into"] = other.merge(best)
        derived["under a prior"] = retrospect.learn_prior(best).model
        assert not retrospect.summary(other).post_selection
    if more:
        derived["without a task"] = best.remove(task="a")
        derived["reweighted"] = retrospect.reweighted(best, last=1)
    assert [name for name, one in derived.items() if not retrospect.summary(one).post_selection] == []


@pytest.mark.filterwarnings("ignore::ridgeway.errors.FewClustersWarning")
def test_other_tables_of_coefficients_say_it_too(rng):
    tasks = np.repeat(np.arange(12), 10)
    X, y = rng.normal(size=(120, 4)), rng.normal(size=120) + rng.normal(size=12)[tasks]
    settings = {"information": ByTask(fourth_moments=True)}
    model = GeneralizedRidge(**settings).fit(X, y, tasks=tasks)
    best = retrospect.best_subset(model, 2).model
    questions = (
        retrospect.clustered,
        retrospect.heteroscedastic,
        retrospect.fixed_effects,
        retrospect.random_effects,
    )
    for question in questions:
        found, free = question(best), question(model)
        assert (found.post_selection, free.post_selection) == (True, False)
        assert "These features were chosen" in str(found)
        assert "These features were chosen" not in str(free)


def test_a_damaged_mark_is_refused(rng):
    arrays = retrospect.best_subset(noisy(rng), 2).model.to_arrays()
    text = arrays["header"].tobytes().replace(b'"features_selected":true', b'"features_selected":1')
    with pytest.raises(InvalidStateError, match="names something unknown"):
        GeneralizedRidge.from_arrays({**arrays, "header": np.frombuffer(text, dtype=np.uint8)})
