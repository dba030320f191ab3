"""Copies of large states: a copy is a copy, and memory is used again only when nothing looks at it any more."""

import copy
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits

from ridgeway import GeneralizedRidge
from ridgeway.linalg import _memory
from ridgeway.weights import Accumulated


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    monkeypatch.setattr(_memory, "MANY", 10)


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("size", [0, 9, 10, 31])
def test_a_copy_by_several_threads_is_a_copy(rng, monkeypatch, threads, size):
    monkeypatch.setattr("ridgeway.linalg._threads._cores", lambda: threads)
    array = rng.normal(size=size)
    with threadpool_limits(threads):
        made = _memory.copied(array)
        assert {library["num_threads"] for library in threadpool_info()} == {threads}
    assert_array_equal(made, array)
    assert not np.shares_memory(made, array)
    assert made.flags.writeable
    assert made.flags.aligned


def test_memory_is_used_again_when_its_last_view_is_gone(rng):
    first = _memory.copied(rng.normal(size=40))
    second = _memory.copied(first)
    place, view, values = address(first), first[3:9].reshape(2, 3), first[3:9].copy()
    del first
    third = _memory.copied(second)
    assert address(third) != place
    assert_array_equal(view.ravel(), values)
    del view
    assert address(_memory.copied(third)) == place


def test_copies_of_one_array_do_not_share_memory(rng):
    line = [_memory.copied(rng.normal(size=40))]
    for _ in range(30):
        line.append(_memory.copied(line[-1]))
        if len(line) > 3:
            del line[rng.integers(len(line))]
        places = {address(array) for array in line}
        assert len(places) == len(line)


def test_the_spare_goes_with_the_last_copy(rng):
    first = _memory.copied(rng.normal(size=40))
    second = _memory.copied(first)
    spare = second.base.base.spare
    assert spare is first.base.base.spare
    assert spare == []
    del first
    assert [memory.size for memory in spare] == [40]
    third = _memory.copied(second)
    assert spare == []
    del second, third
    assert len(spare) == 1  # held by this test alone


def test_room_for_a_part_is_enough_for_the_whole(rng):
    whole = _memory.copied(rng.normal(size=40))
    room = _memory.room_for(whole[:15])
    place = address(room)
    assert room.shape == (15,)
    assert not np.shares_memory(room, whole)
    room[:] = 0.0
    del room
    copy_of_it = _memory.copied(whole)
    assert address(copy_of_it) == place
    assert_array_equal(copy_of_it, whole)


def states(model: GeneralizedRidge) -> list[np.ndarray]:
    return [model.coef_, model.information_.matrix]


@pytest.mark.parametrize("kind", ["moments", "square_root"])
def test_an_earlier_state_stays_as_it_was(rng, kind):
    tasks = [(rng.normal(size=(8, 6)), rng.normal(size=8)) for _ in range(6)]
    model = GeneralizedRidge(Accumulated(prior=1.0), information=kind)
    kept, expected = [], []
    for X, y in tasks:
        model.partial_fit(X, y)
        kept.append((model.information_, copy.copy(model)))
        expected.append([array.copy() for array in states(model)])
    for (information, other), want in zip(kept, expected, strict=True):
        assert_array_equal(information.matrix, want[1])
        for found in (other, copy.deepcopy(other)):
            np.testing.assert_allclose(states(found)[0], want[0], rtol=1e-12)
            assert_array_equal(states(found)[1], want[1])


@pytest.mark.parametrize("kind", ["moments", "square_root"])
def test_models_that_learn_at_once_from_one_state_agree(rng, kind):
    X, y = rng.normal(size=(8, 6)), rng.normal(size=8)
    start = GeneralizedRidge(Accumulated(prior=1.0), information=kind).fit(X, y)

    def learn(number: int) -> np.ndarray:
        model = copy.copy(start)
        for task in range(20):
            model.partial_fit(X + number, y - task)
        return model.information_.matrix.copy()

    expected = [learn(number) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(learn, [*range(4)] * 4))
    assert_array_equal(found, expected * 4)


@pytest.mark.parametrize("kind", ["moments", "square_root"])
def test_a_tall_task_in_two_threads_copies_in_both(rng, monkeypatch, kind):
    X, y = rng.normal(size=(60_000, 20)), rng.normal(size=60_000)
    monkeypatch.setattr("ridgeway.linalg._threads._cores", lambda: 2)
    with threadpool_limits(2):
        model = GeneralizedRidge(information=kind).fit(X, y)
    expected = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(model.coef_, expected, atol=1e-12)
