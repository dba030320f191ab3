"""Files that keep their tasks: the total is the root of a tree that depends on the tasks alone."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from store.kept import FEATURES, content, made_of, n_nodes, rows_of, sql

from ridgeway import GeneralizedRidge, store
from ridgeway.errors import (
    DuplicateTaskError,
    InvalidDataError,
    InvalidParameterError,
    RemovalError,
)
from ridgeway.information import ByTask, Moments
from ridgeway.store import _part_tree


def test_the_order_of_the_tasks_does_not_matter(tmp_path, kind):
    orders = list(permutations(range(4)))[::5]
    found = [content(made_of(tmp_path / f"{n}.rw", order, information=kind)) for n, order in enumerate(orders)]
    assert len(orders) == 5
    assert all(one == found[0] for one in found)


def test_the_total_is_that_of_a_model_in_memory(tmp_path, kind):
    made = made_of(tmp_path / "a.rw", range(9), information=kind)
    model = GeneralizedRidge(information="by_task" if kind == "square_root" else ByTask(Moments))
    for number in range(9):
        model.partial_fit(*rows_of(number), task=f"t{number}")
    assert made.model().coef_.tobytes() == model.coef_.tobytes()
    by_task = made.model_by_task()
    assert by_task.information_.total.matrix.tobytes() == model.information_.total.matrix.tobytes()
    assert by_task.information_.ids == model.information_.ids
    for name, part in model.information_.parts().items():
        assert by_task.information_.part(name).matrix.tobytes() == part.matrix.tobytes()
    made.path.unlink()  # it is not needed any more
    again = GeneralizedRidge.from_arrays(by_task.to_arrays())
    assert again.remove(task="t3").coef_.tobytes() == model.remove(task="t3").coef_.tobytes()


@pytest.mark.parametrize("gone", range(6))
def test_a_removed_task_was_never_there(tmp_path, kind, gone):
    made = made_of(tmp_path / "a.rw", range(6), information=kind)
    part = made.model_by_task().information_.part(f"t{gone}")
    record, digits = made.remove(f"t{gone}")
    assert (record.task_id, record.digest, digits) == (f"t{gone}", "", 0.0)
    rest = made_of(tmp_path / "b.rw", [number for number in range(6) if number != gone], information=kind)
    assert content(made) == content(rest)
    assert n_nodes(made) == 9
    assert made.check().previous is None
    left = made.path.read_bytes()
    assert part.mean[:2].tobytes() not in left
    assert part.matrix[:2, 1].tobytes() not in left
    assert not made.absorb(f"t{gone}", *rows_of(gone)).already
    assert content(made) == content(made_of(tmp_path / "c.rw", range(6), information=kind))


def test_all_tasks_can_be_removed(tmp_path, kind):
    made = made_of(tmp_path / "a.rw", range(3), information=kind, prior=0.5)
    for number in (1, 0, 2):
        made.remove(f"t{number}")
        made.check()
    assert content(made) == content(made_of(tmp_path / "b.rw", (), information=kind, prior=0.5))
    assert n_nodes(made) == 0
    made.absorb("t1", *rows_of(1))
    assert content(made) == content(made_of(tmp_path / "c.rw", [1], information=kind, prior=0.5))


def test_what_a_total_cannot_remove(tmp_path):
    """The rows of one task alone determine a direction: today's removal refuses, this one does not."""
    X, y = rows_of(1)
    flat = X.copy()
    flat[:, 2] = 0.0
    results = {}
    for keep in (None, "tasks"):
        made = store.create(tmp_path / f"{keep}.rw", features=FEATURES, target="y", keep=keep)
        made.absorb("flat", flat, y)
        made.absorb("full", X, y + 1.0)
        results[keep] = made
    with pytest.raises(RemovalError, match="full rank"):
        results[None].remove("full", X, y + 1.0)
    with pytest.raises(RemovalError, match="does not keep its tasks"):
        results[None].remove("full")
    results["tasks"].remove("full")
    assert results["tasks"].model().coef_[2] == 0.0


def test_with_rows_the_digest_is_compared(tmp_path):
    made = made_of(tmp_path / "a.rw", range(3))
    before = made.path.read_bytes()
    for arguments, match in [
        (("t1", *rows_of(2)), "not the rows"),
        (("none", *rows_of(1)), "no task 'none'"),
        (("none",), "no task 'none'"),
    ]:
        with pytest.raises(RemovalError, match=match):
            made.remove(*arguments)
        assert made.path.read_bytes() == before
    assert made.remove("t1", *rows_of(1)).digits_lost == 0.0
    assert content(made) == content(made_of(tmp_path / "b.rw", (0, 2)))


def test_what_is_forced_in_has_a_part_of_its_own(tmp_path):
    made = made_of(tmp_path / "a.rw", range(3))
    once = content(made)
    with pytest.raises(DuplicateTaskError):
        made.absorb("t1", *rows_of(7))
    made.absorb("t1", *rows_of(7), force="late")
    made.absorb("t1", *rows_of(8), force="later")
    made.absorb("other", *rows_of(0), force="the same again")
    made.check()
    pooled = made.model_by_task().information_
    assert pooled.ids == ("t0", "t1", "t2", "other")
    assert pooled.part("t1").n_samples == 60
    assert made.model_by_task().n_samples_seen_ == made.model().n_samples_seen_ == 120
    made.remove("other")
    assert made.remove("t1").record.reason == "later"
    assert made.remove("t1", *rows_of(1)).record.reason is None
    assert made.remove("t1").record.reason == "late"
    made.check()
    with pytest.raises(RemovalError, match="no task 't1'"):
        made.remove("t1")
    made.absorb("t1", *rows_of(1))
    assert content(made) == once


def test_several_tasks_in_one_call(tmp_path):
    frame = pd.concat(
        [pd.DataFrame(rows_of(n)[0], columns=FEATURES).assign(y=rows_of(n)[1], task=f"t{n}") for n in range(5)]
    )
    made = made_of(tmp_path / "a.rw", ())
    made.absorb_table(frame, task_column="task")
    assert content(made) == content(made_of(tmp_path / "b.rw", range(5)))
    assert [outcome.already for outcome in made.absorb_table(frame, task_column="task")] == [True] * 5
    made.remove_table(frame, task_id="t3", task_column="task")
    assert content(made) == content(made_of(tmp_path / "c.rw", (0, 1, 2, 4)))


def test_only_the_path_to_a_part_is_read_and_written(tmp_path):
    made = made_of(tmp_path / "a.rw", range(60))
    before = {number: data for number, _, data in sql(made, ("SELECT * FROM parts",))[0]}
    made.absorb("t60", *rows_of(60))
    after = {number: data for number, _, data in sql(made, ("SELECT * FROM parts",))[0]}
    assert sum(before.get(number) != data for number, data in after.items()) < 16
    kept = made.snapshot().generation.parts
    assert len(after) == 2 * 61 - 1 + len(kept.replaced) + len(kept.free)
    made.check()


def test_parts_are_widened_when_they_are_read(tmp_path, kind):
    made = made_of(tmp_path / "a.rw", range(4), information=kind)
    nodes = sql(made, ("SELECT * FROM parts",))
    made.widen(features={"d": 2.0})
    assert {*sql(made, ("SELECT * FROM parts",))[0]} <= {*nodes[0]}
    made.check()
    X, y = rows_of(9, p=4)
    made.absorb("new", X, y)
    made.check()
    whole = store.create(tmp_path / "b.rw", features=[*FEATURES, "d"], target="y", keep="tasks", information=kind)
    for number in range(4):
        rows, target = rows_of(number)
        whole.absorb(f"t{number}", np.column_stack([rows, np.full(len(rows), 2.0)]), target)
    whole.absorb("new", X, y)
    np.testing.assert_allclose(made.model().coef_, whole.model().coef_, rtol=1e-9)
    for number in (2, 0):
        made.remove(f"t{number}")
        whole.remove(f"t{number}")
        made.check()
        np.testing.assert_allclose(made.model().coef_, whole.model().coef_, rtol=1e-9)
    parts = [one.model_by_task().information_.parts() for one in (made, whole)]
    for name, part in parts[0].items():
        np.testing.assert_allclose(part.moments(), parts[1][name].moments(), atol=1e-9)


def test_new_categories_come_with_the_rows(tmp_path):
    tables = []
    for number, letters in enumerate(["xy", "xyz", "wxz"]):
        X, y = rows_of(number, n=30)
        tables.append(pd.DataFrame({"x": X[:, 0], "g": [letters[i % len(letters)] for i in range(30)], "y": y}))
    encoding = store.encoding_of(tables[0], leave_out=["y"], unknown="widen")
    made = store.create(tmp_path / "a.rw", features=encoding, target="y", keep="tasks")
    for number, table in enumerate(tables):
        made.absorb_table(table, task_id=str(number))
        made.check()
    everything = pd.concat(tables)
    X = pd.get_dummies(everything[["x", "g"]], dtype=float)[["x", "g_w", "g_y", "g_z"]]
    expected = GeneralizedRidge().fit(X.to_numpy(), everything["y"].to_numpy())
    np.testing.assert_allclose(made.model().coef_, expected.coef_, rtol=1e-8)
    assert made.schema.features == ("x", "g=w", "g=y", "g=z")
    made.remove("2")
    rest = GeneralizedRidge().fit(X.to_numpy()[:60, [0, 2, 3]], everything["y"].to_numpy()[:60])
    np.testing.assert_allclose(made.model().coef_[[0, 2, 3]], rest.coef_, rtol=1e-8)
    assert made.model().coef_[1] == 0.0
    made.check()


def test_small_parts_are_refused(tmp_path):
    made = made_of(tmp_path / "a.rw", range(2))
    before = made.path.read_bytes()
    with pytest.raises(InvalidDataError, match=r"task 'small' has 9 rows; this file keeps parts of 10 .*--min-rows 9"):
        made.absorb("small", *rows_of(5, n=9))
    assert made.path.read_bytes() == before
    made.absorb("enough", *rows_of(5, n=10))
    small = made_of(tmp_path / "b.rw", (), min_rows=2)
    small.absorb("two", *rows_of(5, n=2))
    wide = store.create(tmp_path / "c.rw", features=[f"x{j}" for j in range(30)], target="y", keep="tasks")
    with pytest.raises(InvalidDataError, match="30 rows; this file keeps parts of 31"):
        wide.absorb("small", *rows_of(5, n=30, p=30))


def test_the_smallest_of_several_clusters_is_named(tmp_path):
    made = store.create(tmp_path / "a.rw", features=list("abc"), target="y", keep="tasks", cluster_column="school")
    schools = np.repeat(["one", "two", "three"], [7, 3, 4])
    advice = r"cluster 'two' of task 't' has 3 rows; .* Put small clusters together, .* --min-rows 3"
    with pytest.raises(InvalidDataError, match=advice):
        made.absorb("t", *rows_of(5, n=14, p=3), clusters=schools)


def test_settings_that_are_refused(tmp_path):
    for settings, match in [
        ({"keep": "everything"}, "can keep 'tasks', or 'tasks' and 'fourth-moments', .* got 'everything'"),
        ({"keep": "fourth-moments"}, "can keep 'tasks', or 'tasks' and 'fourth-moments'"),
        ({"keep": ["tasks", "tasks"]}, "can keep 'tasks'"),
        ({"keep": ["tasks", 3]}, "can keep 'tasks'"),
        ({"keep": None, "min_rows": 3}, "about the parts of tasks"),
        ({"keep": None, "cluster_column": "g"}, "about the parts of tasks"),
        ({"min_rows": 0}, "min_rows must be a whole number ≥ 1; got 0"),
        ({"features": [f"x{j}" for j in range(4100)]}, "would have 67[0-9]* bytes, beyond the limit of 67108864"),
    ]:
        with pytest.raises(InvalidParameterError, match=match):
            made_of(tmp_path / "a.rw", (), **settings)
        assert not (tmp_path / "a.rw").exists()


def test_weights(tmp_path):
    for weight_kind in ("precision", "frequency"):
        made = made_of(tmp_path / f"{weight_kind}.rw", (), weight_column="w", weight_kind=weight_kind, prior=0.1)
        tasks = [(*rows_of(number), 1.0 + np.arange(20) % 3) for number in range(4)]
        for number, (X, y, w) in enumerate(tasks):
            made.absorb(str(number), X, y, np.where(np.arange(20) == 3, 0.0, w))
        made.check()
        made.remove("2")
        made.check()
        kept = [0, 1, 3]
        rows = np.arange(20) != 3
        X, y, w = (np.concatenate([tasks[number][part][rows] for number in kept]) for part in range(3))
        sums = np.insert(X, 0, 1.0, axis=1) * np.sqrt(w)[:, None]
        ridge = np.vstack([sums, np.sqrt(0.1) * np.eye(4)[1:]])
        expected = np.linalg.lstsq(ridge, np.append(y * np.sqrt(w), np.zeros(3)), rcond=None)[0]
        np.testing.assert_allclose(made.model().coef_, expected[1:], rtol=1e-9)
        n_rows = w.sum() if weight_kind == "frequency" else len(w)
        assert made.model_by_task().n_samples_seen_ == n_rows


def test_a_plain_file_has_no_parts(tmp_path):
    made = made_of(tmp_path / "a.rw", range(2), keep=None)
    assert made.snapshot().generation.parts is None
    assert b"keep" not in made.snapshot().generation.schemas[0]
    assert n_nodes(made) == 0


def test_few_places_are_free(tmp_path, monkeypatch):
    """What no generation has any more is overwritten by what comes next, and a removal leaves none of it."""
    monkeypatch.setattr(_part_tree, "MOST_FREE", 12)
    made = made_of(tmp_path / "a.rw", range(40))
    parts = made.snapshot().generation.parts
    assert 0 < len(parts.free) <= 12
    assert n_nodes(made) == 2 * 40 - 1 + len(parts.replaced) + len(parts.free)
    made.check()
    made.widen(features={"d": 0.0})
    made.check()
    made.remove("t7")
    parts = made.snapshot().generation.parts
    assert (parts.replaced, parts.free, n_nodes(made)) == ((), (), 2 * 39 - 1)


@pytest.mark.parametrize("per_page", [1, 5, 200])
def test_places_close_to_each_other_are_taken_first(per_page):
    free = [41, 3, 44, 17, 43, 40, 42, 80]
    taken, left = _part_tree._close(free, 5, per_page, 100)
    assert sorted(taken + left) == sorted(free)
    assert taken == {1: [3, 17, 40, 41, 42], 5: [40, 41, 42, 43, 44], 200: []}[per_page]
    assert len(_part_tree._close(free, 3, per_page, 4)[0]) == 3
    assert _part_tree._close([], 3, per_page, 4) == ([], [])
