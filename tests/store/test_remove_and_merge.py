"""Promises 9 and 10 of docs/store.md: a task goes as if it had never come, and two files become one."""

import numpy as np
import pandas as pd
import pytest
from store.tables import same, task

from ridgeway import GeneralizedRidge, store
from ridgeway.errors import (
    MergeError,
    RemovalError,
    StoreError,
)

FEATURES = ["a", "b", "c"]


def test_remove_is_exact_reports_digits_and_leaves_nothing_behind(made, kind, rng):
    tasks = [task(rng) for _ in range(4)]
    for number, (X, y) in enumerate(tasks):
        made.absorb(f"t{number}", X, y)
    with_task = made.snapshot().arrays
    record, digits = made.remove("t1", *tasks[1])
    assert 0.0 < digits < 3.0
    assert (record.removed, record.digest, record.digits_lost) == (5, "", digits)
    rest = GeneralizedRidge(information=kind)
    for number in (0, 2, 3):
        rest.partial_fit(*tasks[number])
    assert np.allclose(made.model().coef_, rest.coef_, rtol=1e-9)
    assert [record.task_id for record in made.history()] == ["t0", "t2", "t3"]
    assert made.check().previous is None
    content = made.path.read_bytes()
    for name in ("matrix", "mean"):
        rows = with_task[name].reshape(-1)[:8]
        assert not [value for value in rows if value and value.tobytes() in content]
    assert made.ledger()[1].digest == ""
    assert not made.absorb("t1", *tasks[1]).already
    assert [record.sequence for record in made.history()] == [1, 3, 4, 6]


def test_what_cannot_be_removed(made, rng):
    X, y = task(rng, rows=5)
    made.absorb("one", X, y)
    made.absorb("two", X[:2] + 1.0, y[:2])
    before = made.path.read_bytes()
    for arguments, match in [
        (("none", X, y), "no task 'none'"),
        (("one", X + 1, y), "not the rows that were absorbed as task 'one'"),
        (("two", X, y), "not the rows"),
        (("one", X, y), "not clearly have full rank"),
    ]:
        with pytest.raises(RemovalError, match=match):
            made.remove(*arguments)
        assert made.path.read_bytes() == before


def test_the_only_task_can_be_removed(made, rng):
    X, y = task(rng)
    made.absorb("one", X, y)
    assert made.remove("one", X, y).digits_lost == 0.0
    assert made.history() == ()
    made.check()
    assert not made.absorb("one", X, y).already
    assert np.isfinite(made.model().coef_).all()


def test_remove_by_file_and_column(made, tmp_path, rng):
    X, y = task(rng, rows=90)
    frame = pd.DataFrame(X, columns=FEATURES).assign(y=y, year=np.tile([2018, 2019, 2020], 30))
    frame.to_csv(tmp_path / "all.csv", index=False)
    made.absorb_table(tmp_path / "all.csv", task_column="year")
    made.remove_table(tmp_path / "all.csv", task_id="2019", task_column="year")
    part = frame[frame["year"] == 2018].drop(columns="year")
    part.to_parquet(tmp_path / "2018.parquet", index=False)
    made.remove_table(tmp_path / "2018.parquet", task_id="2018")
    assert [record.task_id for record in made.history()] == ["2020"]
    with pytest.raises(RemovalError, match="no task '2017'"):
        made.remove_table(tmp_path / "all.csv", task_id="2017", task_column="year")


def test_merge(tmp_path, kind, rng):
    tasks = {name: task(rng) for name in "abcd"}
    north, south = (
        store.create(tmp_path / f"{name}.rw", features=FEATURES, target="y", prior=2.0, information=kind)
        for name in ("north", "south")
    )
    for name in "ab":
        north.absorb(name, *tasks[name])
    for name in "cd":
        south.absorb(name, *tasks[name])
    south.absorb("gone", *task(rng))
    both = north.merge(south.path, tmp_path / "both.rw")
    assert both.model().n_tasks_ == 5
    expected = north.model().merge(south.model())
    assert same(both.model(), expected)
    assert [record.task_id for record in both.history()] == ["a", "b", "c", "d", "gone"]
    assert [record.sequence for record in both.history()] == [1, 2, 3, 4, 5]
    both.remove("a", *tasks["a"])
    both.check()
    empty = store.create(tmp_path / "empty.rw", features=FEATURES, target="y", prior=2.0, information=kind)
    assert same(empty.merge(north, tmp_path / "n.rw").model(), north.model())
    assert same(north.merge(empty, tmp_path / "m.rw").model(), north.model())
    assert empty.merge(empty, tmp_path / "e.rw").history() == ()


def test_merge_keeps_the_order_of_what_happened(tmp_path, kind, rng):
    north, south = (
        store.create(tmp_path / f"{name}.rw", features=FEATURES, target="y", information=kind)
        for name in ("north", "south")
    )
    tasks = {name: task(rng) for name in ("n1", "n2", "n3", "s1", "s2")}
    for name, rows in tasks.items():
        (north if name.startswith("n") else south).absorb(name, *rows)
    north.remove("n2", *tasks["n2"])
    south.remove("s1", *tasks["s1"])
    both = north.merge(south, tmp_path / "both.rw")
    found = [(record.task_id, record.sequence, record.removed) for record in both.ledger()]
    assert found == [("n1", 1, None), ("n2", 2, 4), ("n3", 3, None), ("s1", 5, 7), ("s2", 6, None)]
    both.check()
    assert both.absorb("n4", *task(rng)).record.sequence == 8


def test_merge_lists_what_differs(tmp_path, rng):
    X, y = task(rng)
    one = store.create(tmp_path / "one.rw", features=FEATURES, target="y")
    one.absorb("a", X, y)
    one.absorb("b", X + 1, y)
    other = {"features": FEATURES[:2], "target": ["y"], "weight_column": "w", "fit_intercept": False}
    two = store.create(tmp_path / "two.rw", **other, information="moments", prior=1.0)
    with pytest.raises(MergeError) as caught:
        one.merge(two, tmp_path / "out.rw")
    for word in (
        "features",
        "one names its target alone and the other in a list",
        "weight column",
        "intercept",
        "kind of information",
        "prior",
    ):
        assert word in str(caught.value)
    fewer = store.create(tmp_path / "fewer.rw", features=FEATURES[:2], target="y")
    with pytest.raises(MergeError) as caught:
        one.merge(fewer, tmp_path / "out.rw")
    assert "prior" not in str(caught.value)
    three = store.create(tmp_path / "three.rw", features=FEATURES, target="y")
    three.absorb("a", X + 5, y)
    three.absorb("c", X + 1, y)
    with pytest.raises(MergeError, match=r"both have the task 'a' \(.*\); the same rows are in both, as 'b' and 'c'"):
        one.merge(three, tmp_path / "out.rw")
    assert not (tmp_path / "out.rw").exists()
    with pytest.raises(StoreError, match="exists already"):
        one.merge(store.create(tmp_path / "four.rw", features=FEATURES, target="y"), tmp_path / "one.rw")
