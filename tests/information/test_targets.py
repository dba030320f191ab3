"""Information with other targets is that of the rows with other targets, whatever it is kept as."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeway.data import Task
from ridgeway.information import ByTask, Moments, SquareRoot, class_weights

KINDS = [SquareRoot, Moments, ByTask(), ByTask(Moments)]


def learned(kind, X, Y, *, centered, n_tasks=3):
    held = kind.empty(X.shape[1], Y.shape[1], centered=centered)
    for rows in np.array_split(np.arange(len(X)), n_tasks):
        held = held.add(Task.of(X[rows], Y[rows], 1.0 + rows % 3))
    return held


def assert_same(held, expected):
    for name in ("n_features", "n_targets", "n_samples", "total_weight"):
        assert getattr(held, name) == getattr(expected, name)
    np.testing.assert_allclose(held.mean + held.mean_low, expected.mean + expected.mean_low, atol=1e-13)
    np.testing.assert_allclose(held.moments(), expected.moments(), atol=1e-10)
    np.testing.assert_allclose(np.tril(held.matrix, -1), 0.0)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(seed=st.integers(0, 2**32 - 1), centered=st.booleans(), places=st.permutations([-1, -1, 0, 1, 2, 3]))
def test_other_targets(kind, seed, centered, places):
    """New ones that were 0, in any order, and some left out, whether or not they ever varied."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(20, 3)) + 2.0, rng.normal(size=(20, 4))
    Y[:, 2] = 0.0
    targets = np.array(places[: rng.integers(1, 7)])
    wide = np.column_stack([Y, np.zeros(20)])[:, targets]
    held = learned(kind, X, Y, centered=centered)
    before = held.moments().copy()
    found, expected = held.with_targets(targets), learned(kind, X, wide, centered=centered)
    assert_same(found, expected)
    np.testing.assert_array_equal(held.moments(), before)
    if not isinstance(kind, type):
        parts = [
            one.parts().values() for one in (held.with_targets(targets), learned(kind, X, wide, centered=centered))
        ]
        for one, two in zip(*parts, strict=True):
            assert_same(one, two)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("centered", [True, False])
def test_products_with_the_moments(rng, kind, centered):
    X, Y = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    held, columns = learned(kind, X, Y, centered=centered), rng.normal(size=(5, 4))
    np.testing.assert_allclose(held.times(columns), held.moments() @ columns, atol=1e-12)


def classes(rng):
    X, y = rng.normal(size=(40, 3)), rng.integers(3, size=40)
    weight = rng.uniform(0.5, 2.0, size=40)
    return X, y, np.eye(3)[y], weight


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("kind", [SquareRoot, Moments])
def test_memories_by_class(rng, centered, kind):
    """Balanced, and without a class: as if learned so."""
    X, y, Y, weight = classes(rng)
    names, tasks = np.array([f"c{k}" for k in y], dtype=object), np.arange(40) % 4

    def by_class(kept, weight):
        held = ByTask(kind).empty(3, 3, centered=centered)
        for number in range(4):
            rows = kept & (tasks == number)
            if rows.any():
                task = Task.of(X[rows], Y[rows], weight[rows])
                held = held.add(type(task)(**vars(task) | {"clusters": names[rows], "task_id": f"t{number}"}))
        return held

    held = by_class(y >= 0, weight)
    sums = np.bincount(y, weight)
    np.testing.assert_allclose(class_weights(held), sums, rtol=1e-12)
    assert_close(held.balanced(), by_class(y >= 0, weight * (sums.mean() / sums)[y]))
    np.testing.assert_allclose(class_weights(held.balanced()), sums.mean(), rtol=1e-12)
    assert_close(held.without_cluster("c1"), by_class(y != 1, weight))
    assert held.without_cluster("c0").without_cluster("c1").without_cluster("c2").tree is None
    assert held.without_cluster("c7").ids == held.ids
    with pytest.raises(AssertionError):
        assert_close(held, by_class(y != 1, weight))


def assert_close(held, expected):
    assert held.ids == expected.ids
    assert held.n_samples == expected.n_samples
    np.testing.assert_allclose(held.total_weight, expected.total_weight, rtol=1e-12)
    np.testing.assert_allclose(held.log_weight, expected.log_weight, atol=1e-10)
    np.testing.assert_allclose(held.moments(), expected.moments(), atol=1e-10)
    np.testing.assert_allclose(held.mean, expected.mean, atol=1e-12)
