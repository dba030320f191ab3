"""One memory per task: the parts are the tasks, the total is their merge, and a task can be taken out without rows."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from ridgeway import GeneralizedRidge, retrospect, weights
from ridgeway.errors import (
    InvalidDataError,
    InvalidDataTypeError,
    InvalidParameterError,
    InvalidStateError,
    MergeError,
    RemovalError,
)
from ridgeway.information import ByTask, Moments, SquareRoot
from ridgeway.information._tree import Join, Leaf, PartName, found, with_leaf, without

KINDS = ["by_task", ByTask(Moments)]
BASES = {"by_task": "square_root", KINDS[1]: "moments"}


def tasks(rng, n_tasks=9, p=4, n=12):
    return {f"t{j}": (rng.normal(size=(n + j, p)) + j, rng.normal(size=n + j)) for j in range(n_tasks)}


def learned(kind, found, order=None, **settings):
    model = GeneralizedRidge(information=kind, **settings)
    for name in found if order is None else order:
        model.partial_fit(*found[name], task=name)
    return model


def bits(model):
    return [array.tobytes() for array in model.information_.total.to_parts()[1].values()]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_total_is_pooled_least_squares(rng, kind, fit_intercept):
    data = tasks(rng)
    model = learned(kind, data, fit_intercept=fit_intercept)
    pooled = GeneralizedRidge(information=BASES[kind], fit_intercept=fit_intercept)
    pooled.fit(np.vstack([X for X, _ in data.values()]), np.concatenate([y for _, y in data.values()]))
    np.testing.assert_allclose(model.coef_, pooled.coef_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(model.intercept_, pooled.intercept_, rtol=0, atol=1e-11)
    assert (model.n_tasks_, model.n_samples_seen_) == (9, pooled.n_samples_seen_)
    np.testing.assert_allclose(
        retrospect.summary(model).standard_errors, retrospect.summary(pooled).standard_errors, rtol=1e-9
    )


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(seed=st.integers(0, 10_000), n_tasks=st.integers(2, 20))
def test_bits_do_not_depend_on_the_order_of_tasks(kind, seed, n_tasks):
    rng = np.random.default_rng(seed)
    data = tasks(rng, n_tasks, p=2, n=3)
    order = rng.permutation(list(data))
    assert bits(learned(kind, data)) == bits(learned(kind, data, order))
    assert learned(kind, data, order).information_.ids == tuple(order)


def test_without_the_tree_bits_do_depend_on_the_order(rng):
    data = tasks(rng, 20)
    totals = []
    for order in (list(data), [*data][::-1]):
        total = SquareRoot.empty(4, 1, centered=True)
        for part in learned("by_task", data, order).information_.parts().values():
            total = total.merge(part)
        totals.append(total.matrix.tobytes())
    assert totals[0] != totals[1]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(seed=st.integers(0, 10_000), n_tasks=st.integers(2, 12))
def test_removal_is_never_having_learned_the_task(kind, seed, n_tasks):
    rng = np.random.default_rng(seed)
    data = tasks(rng, n_tasks, p=2, n=3)
    gone = rng.choice(list(data))
    left = learned(kind, data).remove(task=gone)
    never = learned(kind, {name: rows for name, rows in data.items() if name != gone})
    assert bits(left) == bits(never)
    assert left.information_.ids == never.information_.ids
    assert left.digits_lost_ == 0.0
    np.testing.assert_array_equal(left.coef_, never.coef_)


def test_a_task_that_alone_knows_a_direction_can_be_removed(rng):
    data = tasks(rng, 3)
    for X, _ in list(data.values())[1:]:
        X[:, 0] = 7.0
    model = learned("by_task", data)
    pooled = GeneralizedRidge().fit(np.vstack([X for X, _ in data.values()]), np.hstack([y for _, y in data.values()]))
    with pytest.raises(RemovalError):
        pooled.remove(*data["t0"])
    rest = model.remove(task="t0")
    others = [data["t1"], data["t2"]]
    X, y = np.vstack([X for X, _ in others]), np.concatenate([y for _, y in others])
    expected = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(rest.coef_, expected, atol=1e-10)
    assert model.n_tasks_ == 3
    assert rest.n_tasks_ == 2


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_merge_joins_the_tasks_of_both(rng, kind):
    data = tasks(rng)
    names = list(data)
    one = learned(kind, data, names[:4])
    two = learned(kind, data, names[4:])
    assert bits(one.merge(two)) == bits(learned(kind, data))
    assert one.merge(two).information_.ids == tuple(names)
    with pytest.raises(MergeError, match="both have the tasks 't0'"):
        one.merge(learned(kind, data, names[:1]))
    with pytest.raises(MergeError, match="kind of information"):
        one.merge(learned(KINDS[kind == "by_task"], data, names[4:]))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_what_is_written_is_read_again(rng, kind):
    data = tasks(rng)
    model = learned(kind, data, weights=weights.Accumulated(prior=0.5))
    clusters = rng.choice(["a", "b"], size=len(data["t3"][1]))
    model.partial_fit(*data["t3"], task="more", clusters=clusters)
    for again in (GeneralizedRidge.from_arrays(model.to_arrays()), copy.deepcopy(model)):
        assert bits(again) == bits(model)
        assert again.information_.ids == model.information_.ids
        assert again.get_params()["information"] == model.information
        np.testing.assert_array_equal(again.coef_, model.coef_)
        assert bits(again.remove(task="t1")) == bits(model.remove(task="t1"))
        again.partial_fit(*data["t4"], task="new")
    assert clone(model).information == kind


@pytest.mark.parametrize("change", ["ids", "parts", "kind", "task", "twice", "columns", "array", "state"])
def test_damaged_parts_are_refused(rng, change):
    model = learned("by_task", tasks(rng, 3))
    arrays = model.to_arrays()
    header = json.loads(arrays["header"].tobytes())
    if change == "ids":
        header["ids"] = ["t0", "t1", "t9"]
    elif change == "parts":
        header["parts"] = {"t0": 1}
    elif change == "kind":
        header["kind"] = "cube"
    elif change == "task":
        header["parts"][0]["task"] = 3
    elif change == "twice":
        header["parts"][1]["task"] = header["parts"][0]["task"]
    elif change == "columns":
        header["n_features"] = True
    elif change == "array":
        del arrays["part1.matrix"]
    else:
        header["state"] = "pooled"
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with pytest.raises(InvalidStateError):
        GeneralizedRidge.from_arrays(arrays)


def test_clusters_are_parts_of_tasks(rng):
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    months, schools = np.repeat([1, 2, 3], 20), np.tile(["north", "south", "west", "east"], 15)
    model = GeneralizedRidge(information="by_task").fit(X, y, tasks=months, clusters=schools)
    held = model.information_
    assert (held.ids, held.is_clustered) == (("1", "2", "3"), True)
    assert list(held.clusters()) == ["east", "north", "south", "west"]
    for label, part in held.clusters().items():
        rows = np.column_stack([X, y])[schools == label]
        np.testing.assert_allclose(part.moments(), np.cov(rows.T) * (len(rows) - 1), atol=1e-12)
    rows = np.column_stack([X, y])[months == 2]
    np.testing.assert_allclose(held.part("2").moments(), np.cov(rows.T) * 19, atol=1e-12)
    rest = model.remove(task="2").information_
    assert rest.ids == ("1", "3")
    assert rest.n_samples == 40


def test_rows_of_a_known_task_are_added_to_it(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    model = GeneralizedRidge(information="by_task")
    model.partial_fit(X[:10], y[:10], task="a").partial_fit(X[10:], y[10:], task="b").partial_fit(X, y, task="a")
    assert (model.n_tasks_, model.n_samples_seen_) == (2, 60)
    assert model.information_.part("a").n_samples == 40


def test_tasks_without_a_name_are_numbered(rng):
    X, y = rng.normal(size=(10, 2)), rng.normal(size=10)
    model = GeneralizedRidge(information="by_task").partial_fit(X, y).partial_fit(X, y, task=3).partial_fit(X, y)
    assert model.information_.ids == ("1", "3", "4")
    assert model.remove(task=3).partial_fit(X, y).information_.ids == ("1", "4", "3")


def test_weights_count(rng):
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    weight, labels = rng.integers(0, 4, size=40), rng.integers(0, 3, size=40)
    for kind in ("precision", "frequency"):
        model = GeneralizedRidge(information="by_task", weight_kind=kind).fit(X, y, weight, labels, labels % 2)
        plain = GeneralizedRidge(weight_kind=kind).fit(X, y, weight)
        np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-12)
        assert model.n_samples_seen_ == plain.n_samples_seen_


def test_fewer_and_more_columns(rng):
    data = tasks(rng)
    model = learned("by_task", data)
    small = retrospect.submodel(model, [2, 0])
    expected = learned("by_task", {name: (X[:, [2, 0]], y) for name, (X, y) in data.items()})
    np.testing.assert_allclose(small.coef_, expected.coef_, atol=1e-12)
    np.testing.assert_allclose(
        small.information_.part("t3").moments(), expected.information_.part("t3").moments(), atol=1e-11
    )
    wide = model.information_.widened(np.array([0, -1, 1, 2, 3]), np.array([0]), np.array([0.0, 5.0, 0, 0, 0, 0]))
    whole = learned("by_task", {name: (np.insert(X, 1, 5.0, axis=1), y) for name, (X, y) in data.items()})
    np.testing.assert_allclose(wide.moments(), whole.information_.moments(), atol=1e-10)
    np.testing.assert_allclose(wide.part("t2").moments(), whole.information_.part("t2").moments(), atol=1e-11)


def test_what_cannot_be_done_is_refused(rng):
    X, y = rng.normal(size=(10, 2)), rng.normal(size=10)
    model = GeneralizedRidge(information="by_task").partial_fit(X, y, task="a")
    before = pickle.dumps(model)
    with pytest.raises(RemovalError, match="the only task"):
        model.remove(task="a")
    with pytest.raises(RemovalError, match=r"there is no task 'b'. The tasks are 'a'"):
        model.remove(task="b")
    with pytest.raises(RemovalError, match="Pass the id as task="):
        model.remove(X, y)
    with pytest.raises(RemovalError, match="pass its id alone"):
        model.remove(X, y, task="a")
    with pytest.raises(InvalidDataError, match="cannot name a task"):
        model.partial_fit(X, y, task=0.5)
    with pytest.raises(InvalidDataError, match="clusters has 3 labels"):
        model.partial_fit(X, y, clusters=[1, 2, 3])
    with pytest.raises(InvalidDataError):
        model.partial_fit(X * np.nan, y)
    assert pickle.dumps(model) == before
    with pytest.raises(InvalidParameterError, match=r"needs decay=1.0"):
        GeneralizedRidge(weights.Accumulated(decay=0.5), information="by_task").fit(X, y)
    for name in ("task", "clusters"):
        with pytest.raises(InvalidParameterError, match="with information='by_task'"):
            GeneralizedRidge().partial_fit(X, y, **{name: ["a"] * 10})
    with pytest.raises(InvalidParameterError, match="got 3"):
        GeneralizedRidge(information=3).fit(X, y)
    with pytest.raises(InvalidParameterError, match="SquareRoot or Moments"):
        ByTask(int)


@given(st.lists(st.text(min_size=1), min_size=1, unique=True), st.data())
def test_the_tree_is_a_set(names, data):
    """Whatever is put in and taken out, the tree is that of the names in it; each name is found."""
    leaves = [Leaf.of(PartName(name), None) for name in names]
    tree = None
    for leaf in leaves:
        tree = with_leaf(tree, leaf)
    gone = data.draw(st.sets(st.sampled_from(names), max_size=len(names) - 1))
    for name in gone:
        tree = without(tree, PartName(name).key)
    fresh = None
    for name in sorted(set(names) - gone, reverse=True):
        fresh = with_leaf(fresh, Leaf.of(PartName(name), None))
    assert shape(tree) == shape(fresh)
    for name in names:
        assert (found(tree, PartName(name).key) is not None) == (name not in gone)
        assert without(tree, PartName(name + "!").key) is tree or name + "!" in names


def shape(node):
    return (shape(node.left), shape(node.right), node.shared) if isinstance(node, Join) else node.name


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_clustering_in_two_ways_is_refused_in_words(container):
    X = np.arange(12.0).reshape(6, 2)
    two_ways = container([["a", "x"]] * 6)
    message = r"clusters has shape \(6, 2\); .* Clustering in two or more ways is not supported\. Pass the column"
    with pytest.raises(InvalidDataTypeError, match=message):
        GeneralizedRidge(information="by_task").fit(X, X[:, 0], clusters=two_ways)
    with pytest.raises(InvalidDataTypeError, match=r"tasks has shape \(6, 2\); .* Pass the column"):
        GeneralizedRidge(information="by_task").fit(X, X[:, 0], tasks=two_ways)


def test_labels_of_bytes_are_refused_by_what_they_name():
    X = np.arange(12.0).reshape(6, 2)
    labels = [b"a", b"b"] * 3
    with pytest.raises(InvalidDataError, match="cluster column contains \"b'a'\", which cannot name a cluster"):
        GeneralizedRidge(information="by_task").fit(X, X[:, 0], clusters=labels)
    with pytest.raises(InvalidDataError, match="task column contains \"b'a'\", which cannot name a task"):
        GeneralizedRidge(information="by_task").fit(X, X[:, 0], tasks=labels)
