"""Cluster-robust errors from parts: against statsmodels on all rows, and the definitions with n × n matrices."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from ridgeway import GeneralizedRidge, retrospect, weights
from ridgeway.errors import FewClustersWarning, InferenceError, InvalidParameterError
from ridgeway.information import ByTask, Moments

KINDS = ["by_task", ByTask(Moments)]
pytestmark = pytest.mark.filterwarnings("ignore::ridgeway.errors.FewClustersWarning")


def data(rng, n=120, p=3, n_clusters=9, n_targets=None):
    """Unbalanced clusters whose rows resemble each other."""
    labels = np.sort(rng.choice(n_clusters, size=n, p=np.arange(1, n_clusters + 1) / sum(range(n_clusters + 1))))
    labels[:n_clusters] = np.arange(n_clusters)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n_clusters, p))[labels] + 3.0
    shape = (n,) if n_targets is None else (n, n_targets)
    y = (
        rng.normal(size=shape)
        + rng.normal(size=(n_clusters, *shape[1:]))[labels]
        + X[:, :1].reshape(n, *[1] * len(shape[1:]))
    )
    return X, y, rng.uniform(0.3, 3.0, size=n), labels


def by_rows(X, y, weight, labels, kind):
    """Return covariance and degrees of freedom from the definitions, with the whole hat matrix; X has all terms."""
    root = np.sqrt(weight)[:, None]
    X, y = X * root, y * root[:, 0]
    M = np.linalg.pinv(X.T @ X)
    H = X @ M @ X.T
    residuals, rest = y - H @ y, np.eye(len(y)) - H
    meat, columns = np.zeros_like(M), []
    for label in np.unique(labels):
        rows = labels == label
        values, vectors = np.linalg.eigh(rest[np.ix_(rows, rows)])
        kept = values > 1e-9
        power = {"CR0": 0.0, "CR1": 0.0, "CR2": -0.5, "CR3": -1.0}[kind]
        A = (vectors[:, kept] * values[kept] ** power) @ vectors[:, kept].T if power else np.eye(rows.sum())
        score = X[rows].T @ A @ residuals[rows]
        meat += np.outer(score, score)
        columns.append(rest[:, rows] @ A @ X[rows] @ M)  # q_g for each term
    G, n, K = len(columns), len(y), np.linalg.matrix_rank(X)
    factor = G / (G - 1) * (n - 1) / (n - K) if kind == "CR1" else 1.0
    q = np.stack(columns)
    products = np.einsum("gnj,hnj->jgh", q, q)
    freedom = np.einsum("jgg->j", products) ** 2 / np.square(products).sum(axis=(1, 2))
    return M @ meat @ M * factor, freedom if kind in ("CR2", "CR3") else np.full(X.shape[1], G - 1.0)


def learned(X, y, weight=None, labels=None, *, kind="by_task", **settings):
    return GeneralizedRidge(information=kind, **settings).fit(X, y, weight, labels)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_statsmodels(rng, kind, fit_intercept, weighted):
    X, y, weight, labels = data(rng)
    weight = weight if weighted else np.ones(len(y))
    found = retrospect.clustered(learned(X, y, weight, labels, kind=kind, fit_intercept=fit_intercept), "CR1")
    design = sm.add_constant(X) if fit_intercept else X
    fit = sm.WLS(y, design, weights=weight).fit(cov_type="cluster", cov_kwds={"groups": labels}, use_t=True)
    np.testing.assert_allclose(found.coef, fit.params, rtol=1e-8)
    np.testing.assert_allclose(found.covariance, fit.cov_params(), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.standard_errors, fit.bse, rtol=1e-8)
    np.testing.assert_allclose(found.t, fit.tvalues, rtol=1e-8)
    np.testing.assert_allclose(found.p_values, fit.pvalues, rtol=1e-7, atol=1e-14)
    np.testing.assert_allclose(found.intervals, fit.conf_int(), rtol=1e-8)
    options = {"groups": labels, "use_correction": False}
    plain = sm.WLS(y, design, weights=weight).fit(cov_type="cluster", cov_kwds=options)
    zero = retrospect.clustered(learned(X, y, weight, labels, kind=kind, fit_intercept=fit_intercept), "CR0")
    np.testing.assert_allclose(zero.standard_errors, plain.bse, rtol=1e-8)
    assert not np.allclose(zero.standard_errors, fit.bse, rtol=1e-3)  # the control


def test_several_targets(rng):
    X, Y, weight, labels = data(rng, n_targets=2)
    found = retrospect.clustered(learned(X, Y, weight, labels), "CR1")
    for target, y in enumerate(Y.T):
        fit = sm.WLS(y, sm.add_constant(X), weights=weight).fit(cov_type="cluster", cov_kwds={"groups": labels})
        np.testing.assert_allclose(found.standard_errors[target], fit.bse, rtol=1e-8)
    two = retrospect.clustered(learned(X, Y, weight, labels), "CR2")
    one = retrospect.clustered(learned(X, Y[:, 1], weight, labels), "CR2")
    assert two.degrees_of_freedom.shape == (4,)
    np.testing.assert_allclose(two.covariance[1], one.covariance, rtol=1e-9)
    assert list(two.to_frame().columns)[3] == "degrees_of_freedom"
    assert len(two.to_frame()) == 8
    assert "target 1" in str(two)


@pytest.mark.parametrize("kind", ["CR0", "CR1", "CR2", "CR3"])
@given(seed=st.integers(0, 10_000), p=st.integers(1, 4), n_clusters=st.integers(3, 8), fit_intercept=st.booleans())
def test_the_definitions(kind, seed, p, n_clusters, fit_intercept):
    rng = np.random.default_rng(seed)
    X, y, weight, labels = data(rng, n=20 + 5 * n_clusters, p=p, n_clusters=n_clusters)
    found = retrospect.clustered(learned(X, y, weight, labels, fit_intercept=fit_intercept), kind)
    design = sm.add_constant(X) if fit_intercept else X
    covariance, freedom = by_rows(design, y, weight, labels, kind)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-7, atol=1e-9 * np.abs(covariance).max())
    np.testing.assert_allclose(found.degrees_of_freedom, freedom, rtol=1e-7)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("errors", ["CR0", "CR1", "CR2", "CR3"])
def test_a_term_that_one_cluster_alone_decides_has_no_error(rng, kind, errors):
    """I − H_gg is singular: column 0 varies in the last cluster alone. The other terms keep their errors."""
    X, y, weight, labels = data(rng)
    X[labels != 8, 0] = 0.0
    X[:, 2] += X[:, 0]
    with pytest.warns(FewClustersWarning, match="One of the 9 clusters alone decides these terms: x0. The others "):
        found = retrospect.clustered(learned(X, y, weight, labels, kind=kind), errors)
    design = sm.add_constant(X)
    root = np.sqrt(weight)[:, None]
    H = (design * root) @ np.linalg.pinv(design * root)
    assert np.linalg.eigvalsh((np.eye(len(y)) - H)[np.ix_(labels == 8, labels == 8)])[0] < 1e-12

    assert found.not_estimable == ("x0",)
    assert np.isposinf([found.standard_errors[1], found.covariance[1, 1], found.intervals[1, 1]]).all()
    assert np.isneginf(found.intervals[1, 0])
    assert (found.t[1], found.p_values[1]) == (0.0, 1.0)
    np.testing.assert_allclose(found.coef, np.linalg.lstsq(design * root, y * root[:, 0])[0], rtol=1e-8)

    others = [0, 2, 3]
    covariance, freedom = by_rows(design, y, weight, labels, errors)
    expected = covariance[np.ix_(others, others)]
    np.testing.assert_allclose(
        found.covariance[np.ix_(others, others)], expected, rtol=1e-5, atol=1e-6 * expected.max()
    )
    np.testing.assert_allclose(found.degrees_of_freedom[others], freedom[others], rtol=1e-5)


def estimable(design):
    """Return which coefficients the rows determine: those whose unit vectors lie in the space of the rows."""
    return np.abs(np.linalg.pinv(design) @ design - np.eye(design.shape[1])).max(axis=1) < 1e-8


@pytest.mark.parametrize("errors", ["CR0", "CR1", "CR2", "CR3"])
@given(seed=st.integers(0, 10_000))
def test_terms_without_an_error_are_those_that_need_one_of_the_clusters(errors, seed):
    """By brute force: leave out each cluster in turn, and see which coefficients the other rows determine."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(6), 12))
    policies = rng.integers(0, 2, size=(6, 3)) * (rng.random(3) < 0.8)  # some are in force in one cluster alone
    X = policies[labels] * rng.integers(0, 2, size=(72, 3)).astype(float)
    X = np.column_stack([X, rng.normal(size=72)])
    design = sm.add_constant(X, has_constant="add")
    needed = np.zeros(5, dtype=bool)
    for cluster in range(6):
        needed |= ~estimable(design[labels != cluster])

    with warnings.catch_warnings(action="ignore"):
        found = retrospect.clustered(learned(X, rng.normal(size=72), labels=labels), errors)
    assert found.not_estimable == tuple(np.array(found.terms)[needed])
    np.testing.assert_array_equal(np.isinf(found.standard_errors), needed)
    np.testing.assert_array_equal(np.isinf(found.intervals).all(axis=1), needed)


@pytest.mark.parametrize("errors", ["CR0", "CR1", "CR2", "CR3"])
def test_intervals_of_a_term_that_one_cluster_alone_decides_cover_it(errors):
    """The truth is in 95 % of the intervals at least, although noise within a cluster is shared."""
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(12), 10)
    policy = np.where(labels == 0, np.arange(120) % 2, 0)
    covered = []
    for _ in range(40):
        shared = rng.normal(size=(12, 2))[labels, np.arange(120) % 2]  # of one half of a cluster
        x = rng.normal(size=120)
        y = 0.5 * policy + x + shared + rng.normal(size=120)
        with warnings.catch_warnings(action="ignore"):
            found = retrospect.clustered(learned(np.column_stack([policy, x]), y, labels=labels), errors)
        lower, upper = found.intervals[1]
        covered.append(lower <= 0.5 <= upper)
    assert np.mean(covered) >= 0.95


def test_a_term_that_one_cluster_decides_is_named_beside_others_that_are_hardly_determined(rng):
    X, y, weight, labels = data(rng)
    X[labels != 8, 0] = 0.0
    X[:, 2] = X[:, 1] + 1e-6 * X[:, 2]
    with pytest.warns(FewClustersWarning, match="alone decides these terms: x0. "):
        found = retrospect.clustered(learned(X, y, weight, labels), "CR2")
    assert found.not_estimable == ("x0",)


@pytest.mark.parametrize("errors", ["CR2", "CR3"])
def test_a_cluster_that_nearly_decides(rng, errors):
    X, y, weight, labels = data(rng)
    X[labels != 8, 0] *= 1e-2
    found = retrospect.clustered(learned(X, y, weight, labels), errors)
    covariance, freedom = by_rows(sm.add_constant(X), y, weight, labels, errors)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-6, atol=1e-9 * covariance.max())
    np.testing.assert_allclose(found.degrees_of_freedom, freedom, rtol=1e-6)
    assert not any("alone" in caution for caution in found.cautions)
    assert found.not_estimable == ()


def test_a_term_of_whose_variance_nothing_is_seen(rng):
    """The mean of one cluster, by a column that is 1 there: its residuals sum to 0 whatever its noise."""
    labels = np.repeat(np.arange(6), 10)
    X, y = np.eye(2)[(labels == 0).astype(int)], rng.normal(size=60)
    for kind in ("CR0", "CR1", "CR2", "CR3"):
        with pytest.warns(FewClustersWarning, match="alone decides"):
            found = retrospect.clustered(learned(X, y, labels=labels, fit_intercept=False), kind)
        assert found.not_estimable == ("x1",)
        assert (found.standard_errors[1], found.p_values[1]) == (np.inf, 1.0)
        assert np.isfinite(found.standard_errors[0])
        assert str(found).endswith("Not determined: x1.")
        assert "–" in next(line for line in str(found).splitlines() if line.startswith("x1"))


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("errors", ["CR1", "CR2"])
def test_deficient_rank(rng, kind, errors):
    X, y, weight, labels = data(rng, p=3)
    wide = np.column_stack([X[:, 0], X[:, 1], X[:, 1] * 2.0, np.full(len(y), 2.0), X[:, 2]])
    found = retrospect.clustered(learned(wide, y, weight, labels, kind=kind), errors)
    narrow = retrospect.clustered(learned(X, y, weight, labels, kind=kind), errors)
    assert found.not_estimable == ("intercept", "x1", "x2", "x3")
    np.testing.assert_allclose(found.standard_errors[[1, 5]], narrow.standard_errors[[1, 3]], rtol=1e-6)
    np.testing.assert_allclose(found.degrees_of_freedom[[1, 5]], narrow.degrees_of_freedom[[1, 3]], rtol=1e-6)
    assert np.isinf(found.standard_errors[[0, 2, 3, 4]]).all()
    assert np.isinf(found.intervals[2]).all()


@pytest.mark.parametrize("errors", ["CR1", "CR2", "CR3"])
def test_frequency_weights_are_repeated_rows(rng, errors):
    X, y, _, labels = data(rng)
    often = rng.integers(0, 4, size=len(y))
    found = retrospect.clustered(learned(X, y, often, labels, weight_kind="frequency"), errors)
    again = [np.repeat(part, often, axis=0) for part in (X, y, labels)]
    want = retrospect.clustered(learned(again[0], again[1], labels=again[2]), errors)
    assert found.n_samples == often.sum()
    np.testing.assert_allclose(found.covariance, want.covariance, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.degrees_of_freedom, want.degrees_of_freedom, rtol=1e-8)


def test_the_unit_of_the_weights_does_not_matter(rng):
    X, y, weight, labels = data(rng)
    one, two = (retrospect.clustered(learned(X + 1e4, y, weight * unit, labels), "CR2") for unit in (1.0, 1e6))
    np.testing.assert_allclose(one.standard_errors, two.standard_errors, rtol=1e-7)
    np.testing.assert_allclose(one.degrees_of_freedom, two.degrees_of_freedom, rtol=1e-7)


def test_clusters_that_cut_across_tasks(rng):
    X, y, weight, labels = data(rng)
    months = rng.integers(0, 4, size=len(y))
    model = GeneralizedRidge(information="by_task").fit(X, y, weight, months, clusters=labels)
    options = {"cov_type": "cluster", "use_t": True}
    for by, groups in ((None, labels), ("cluster", labels), ("task", months)):
        found = retrospect.clustered(model, "CR1", by=by)
        fit = sm.WLS(y, sm.add_constant(X), weights=weight).fit(cov_kwds={"groups": groups}, **options)
        np.testing.assert_allclose(found.standard_errors, fit.bse, rtol=1e-8)
        assert found.n_clusters == len(np.unique(groups))
        assert ("different tasks" in found.assumption) == (by == "task")
    partly = model.partial_fit(X[:20], y[:20], task="more")
    assert retrospect.clustered(partly).n_clusters == 5  # tasks: the clusters of some were not recorded
    with pytest.raises(InvalidParameterError, match="not recorded for all tasks"):
        retrospect.clustered(partly, by="cluster")


def test_removing_a_task_is_never_having_learned_it(rng):
    X, y, weight, labels = data(rng)
    rest = labels != 4
    left = retrospect.clustered(learned(X, y, weight, labels).remove(task=4))
    never = retrospect.clustered(learned(X[rest], y[rest], weight[rest], labels[rest]))
    np.testing.assert_array_equal(left.covariance, never.covariance)


def test_errors_grow_with_the_likeness_of_rows(rng):
    """The same rows under labels that mean nothing have the classical errors, roughly."""
    labels = np.repeat(np.arange(60), 20)
    X = np.repeat(rng.normal(size=(60, 1)), 20, axis=0)
    y = rng.normal(size=60)[labels] + rng.normal(size=1200)
    classical = retrospect.summary(learned(X, y, labels=labels)).standard_errors
    real = retrospect.clustered(learned(X, y, labels=labels)).standard_errors
    shuffled = rng.permutation(1200)
    mixed = retrospect.clustered(learned(X[shuffled], y[shuffled], labels=labels)).standard_errors
    assert (real > 2.5 * classical).all()
    np.testing.assert_allclose(mixed, classical, rtol=0.25)


@pytest.mark.filterwarnings("error::ridgeway.errors.FewClustersWarning")
def test_few_clusters_are_warned_of_with_their_number(rng):
    X, y = rng.normal(size=(800, 2)), rng.normal(size=800)
    many, twelve, eight = (learned(X, y, labels=np.arange(800) % count) for count in (40, 12, 8))
    for kind in ("CR0", "CR1", "CR2", "CR3"):
        assert retrospect.clustered(many, kind).cautions == ()
    retrospect.clustered(twelve, "CR2")
    with pytest.warns(FewClustersWarning, match=r"There are 12 clusters. With fewer than 40, CR1 .*; use CR2"):
        retrospect.clustered(twelve, "CR1")
    with pytest.warns(FewClustersWarning, match=r"There are 8 clusters. With fewer than 10, CR3"):
        found = retrospect.clustered(eight, "CR3")
    assert found.cautions[0] in str(found)
    X[:, 0] *= np.where(np.arange(800) % 12 < 2, 30.0, 1.0)
    with pytest.warns(FewClustersWarning, match=r"Few of the 12 clusters decide these terms, .*: x0 \([12]"):
        retrospect.clustered(learned(X, y, labels=np.arange(800) % 12))


@pytest.mark.parametrize("kind", ["CR0", "CR1", "CR2", "CR3"])
def test_a_kind_is_named_in_either_case(rng, kind):
    X, y, _, labels = data(rng, n_clusters=60, n=600)
    model = learned(X, y, labels=labels)
    named, expected = retrospect.clustered(model, kind.lower()), retrospect.clustered(model, kind)
    assert named.kind == expected.kind == kind
    np.testing.assert_array_equal(named.standard_errors, expected.standard_errors)


def test_what_cannot_be_answered_is_refused(rng):
    X, y, _, labels = data(rng)
    model = learned(X, y, labels=labels)
    with pytest.raises(InvalidParameterError, match="kind must be one of 'CR0'"):
        retrospect.clustered(model, "HC3")
    with pytest.raises(InvalidParameterError, match="by must be 'task' or 'cluster'; got 'school'"):
        retrospect.clustered(model, by="school")
    with pytest.raises(InvalidParameterError, match="level"):
        retrospect.clustered(model, level=95)
    with pytest.raises(InvalidParameterError, match="keeps only their total"):
        retrospect.clustered(GeneralizedRidge().fit(X, y))
    with pytest.raises(InferenceError, match="there is only 1 cluster"):
        retrospect.clustered(learned(X, y))
    with pytest.raises(InferenceError, match="has a prior"):
        retrospect.clustered(learned(X, y, labels=labels, weights=weights.Accumulated(prior=1.0)))
    with pytest.raises(InferenceError, match="no degrees of freedom"):
        retrospect.clustered(learned(X[:4], y[:4], labels=[0, 0, 1, 1]))


def test_it_prints_like_a_summary(rng):
    X, y, weight, labels = data(rng)
    model = learned(pd.DataFrame(X, columns=["<b>", "age", "size"]), y, weight, labels)
    found = retrospect.clustered(model, level=0.9)
    assert str(found).startswith("Least squares with CR2 errors: 120 rows in 9 clusters\n----")
    assert re.search(r" df +P>\|t\| +\[90 % +90 %\]\n", str(found))
    cells = [".4g", ".4g", ".4g", ".4g", ".3f", ".4g", ".4g"]
    row = zip(cells, found.to_frame().loc["age"], strict=True)
    assert next(line for line in str(found).splitlines() if line.startswith("age")).split()[1:] == [
        format(value, cell) for cell, value in row
    ]
    assert "" not in str(found).split("\n")
    assert "<th>df</th>" in found._repr_html_()
    assert "<caption" not in found._repr_html_()
    assert "<b>" not in found._repr_html_()
    frame = found.to_frame()
    np.testing.assert_array_equal(frame["standard_error"], found.standard_errors)
    np.testing.assert_array_equal(frame["upper"], found.intervals[:, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(found.coef[1:], model.coef_)
