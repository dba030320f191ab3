"""The tree has one shape, whoever arrives first; what is waiting stays little."""

import os
import shutil
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeway.distributed._finished import FinishedParts
from ridgeway.distributed._fixed_tree import FixedTree, Place


def shape(order, n_leaves):
    tree = FixedTree(n_leaves, lambda left, right: (left, right))
    for leaf in order:
        tree.put(Place(0, leaf), leaf)
    return tree.root


def balanced(start, stop):
    """The same tree from the top: the left side has the largest power of two that leaves something."""
    if stop - start == 1:
        return start
    half = 1 << (stop - start - 1).bit_length() - 1
    return balanced(start, start + half), balanced(start + half, stop)


@pytest.mark.parametrize("n_leaves", range(1, 7))
def test_every_order_gives_the_balanced_tree(n_leaves):
    for order in permutations(range(n_leaves)):
        assert shape(order, n_leaves) == balanced(0, n_leaves)


@given(st.integers(1, 200), st.randoms())
def test_repeated_leaves_count_once(n_leaves, random):
    order = [*range(n_leaves)] * 2
    random.shuffle(order)
    assert shape(order, n_leaves) == balanced(0, n_leaves)


def test_few_values_wait_if_they_come_in_order():
    tree = FixedTree(1000, lambda left, right: left + right)
    most = 0
    for leaf in range(1000):
        tree.put(Place(0, leaf), leaf)
        most = max(most, tree.n_waiting)
    assert tree.root == 499500
    assert most <= 10


@given(st.integers(1, 40), st.data())
def test_what_was_saved_is_not_missing(n_leaves, data):
    """A tree that is put together from saved nodes and the missing leaves is the same tree."""
    done = data.draw(st.sets(st.integers(0, n_leaves - 1)))
    first = FixedTree(n_leaves, lambda left, right: (left, right))
    saved = {}
    for leaf in done:
        saved[Place(0, leaf)] = leaf
        for place, value in first.put(Place(0, leaf), leaf):
            saved[place] = value
    second = FixedTree(n_leaves, lambda left, right: (left, right))
    for place in sorted(saved, reverse=True):
        second.put(place, saved[place])
    assert {*second.missing()} == {*range(n_leaves)} - done
    for leaf in list(second.missing()):
        second.put(Place(0, leaf), leaf)
    assert second.root == balanced(0, n_leaves)


def test_saved_parts_are_found_again_unless_something_changed(tmp_path):
    state = tmp_path / "wages.rw"
    kept = FinishedParts(state, "2019", ["a", "b", "c"])
    for leaf in range(3):
        kept.save(Place(0, leaf), {"x": np.array([leaf])})
    assert {place: arrays["x"].tolist() for place, arrays in kept.load() if place.level == 0} == {
        Place(0, leaf): [leaf] for leaf in range(3)
    }
    assert {place for place, _ in FinishedParts(state, "2019", ["a", "B", "c"]).load() if place.level == 0} == {
        Place(0, 0),
        Place(0, 2),
    }
    assert not list(FinishedParts(state, "2020", ["a", "b", "c"]).load())
    kept.save(Place(1, 0), {"x": np.array([7])})
    assert len(list(kept.folder.iterdir())) == 2
    for path in kept.folder.iterdir():
        path.write_bytes(path.read_bytes()[:-30])
    assert not list(kept.load())
    kept.clear()
    assert not list(tmp_path.iterdir())
    (tmp_path / "wages.rw.parts").write_text("not a folder")
    kept.save(Place(0, 0), {"x": np.array([1])})
    assert not list(kept.load())


def test_a_saved_part_is_not_taken_for_another_one(tmp_path):
    kept = FinishedParts(tmp_path / "wages.rw", "2019", ["a", "b"])
    for leaf in range(2):
        kept.save(Place(0, leaf), {"x": np.array([leaf])})
    first, second = kept.folder.iterdir()
    shutil.copy(first, second)
    assert len(list(kept.load())) == 1
    second.unlink()
    second.symlink_to(first)
    assert len(list(kept.load())) == 1


def test_only_the_owner_can_read_saved_parts(tmp_path):
    kept = FinishedParts(tmp_path / "wages.rw", "2019", ["a"])
    kept.save(Place(0, 0), {"x": np.array([1])})
    assert {path.stat().st_mode & 0o077 for path in tmp_path.rglob("*")} == {0}


def test_a_folder_that_another_run_clears_meanwhile_holds_nothing(tmp_path, monkeypatch):
    def cleared(folder):
        raise FileNotFoundError(2, "No such file or directory", str(folder))

    kept = FinishedParts(tmp_path / "wages.rw", "2019", ["a", "b"])
    kept.save(Place(0, 0), {"x": np.ones(2)})
    assert [place for place, _ in kept.load()] == [Place(0, 0)]
    monkeypatch.setattr(os, "listdir", cleared)
    monkeypatch.setattr(os, "scandir", cleared)
    assert list(kept.load()) == []
