"""The parts of tasks in other files: merged, exported, copied and restored."""

import shutil

import numpy as np
import pandas as pd
import pytest
from store.kept import content, made_of, n_nodes, rows_of, sql

from ridgeway import GeneralizedRidge, store
from ridgeway.errors import MergeError, PrecisionWarning, StoreError


def test_merge(tmp_path, kind):
    north = made_of(tmp_path / "north.rw", range(3), information=kind)
    south = made_of(tmp_path / "south.rw", range(3, 8), information=kind)
    south.remove("t5")
    both = north.merge(south, tmp_path / "both.rw")
    both.check()
    expected = content(made_of(tmp_path / "all.rw", (7, 0, 3, 1, 2, 6, 4), information=kind))
    assert content(both) == expected
    both.remove("t6")
    assert content(both) == content(made_of(tmp_path / "some.rw", (7, 0, 3, 1, 2, 4), information=kind))
    prefixed = north.merge(north_of(tmp_path, kind), tmp_path / "prefixed.rw", prefixes=("n-", "m-"))
    prefixed.check()
    assert [record.task_id for record in prefixed.history()] == ["n-t0", "n-t1", "n-t2", "m-t0", "m-t1"]
    prefixed.remove("m-t1")
    assert prefixed.model().n_samples_seen_ == 80


def north_of(tmp_path, kind):
    other = made_of(tmp_path / "other.rw", (), information=kind)
    for number in range(2):
        other.absorb(f"t{number}", *rows_of(number + 20))
    return other


def test_a_file_that_keeps_tasks_and_one_that_does_not(tmp_path):
    kept, plain = made_of(tmp_path / "kept.rw", range(2)), made_of(tmp_path / "plain.rw", range(2, 4), keep=None)
    for one, two in ((kept, plain), (plain, kept)):
        with pytest.raises(MergeError, match=r"only kept.rw keeps its tasks, .* --total-only"):
            one.merge(two, tmp_path / "out.rw")
        assert not (tmp_path / "out.rw").exists()
    total = kept.merge(plain, tmp_path / "total.rw", total_only=True)
    total.check()
    assert total.schema.keep is None
    assert n_nodes(total) == 0
    expected = made_of(tmp_path / "all.rw", range(4), keep=None)
    np.testing.assert_allclose(total.model().coef_, expected.model().coef_, rtol=1e-10)
    with pytest.raises(StoreError, match="does not keep its tasks"):
        total.model_by_task()
    clustered = made_of(tmp_path / "clustered.rw", (), cluster_column="g")
    with pytest.raises(MergeError, match="the cluster column differs"):
        kept.merge(clustered, tmp_path / "out.rw")


def test_merge_with_other_reference_levels(tmp_path):
    tables = []
    for number, letters in enumerate(["xy", "yz"]):
        X, y = rows_of(number, n=30)
        tables.append(pd.DataFrame({"x": X[:, 0], "g": [letters[i % 2] for i in range(30)], "y": y}))
    files = []
    for number, table in enumerate(tables):
        encoding = store.encoding_of(table, leave_out=["y"])
        files.append(store.create(tmp_path / f"{number}.rw", features=encoding, target="y", keep="tasks"))
        files[-1].absorb_table(table, task_id=str(number))
    assert [file.schema.encoding.levels["g"][0] for file in files] == ["x", "y"]
    both = files[0].merge(files[1], tmp_path / "both.rw")
    both.check()
    everything = pd.concat(tables)
    X = pd.get_dummies(everything[["x", "g"]], dtype=float)[["x", "g_y", "g_z"]].to_numpy()
    expected = GeneralizedRidge().fit(X, everything["y"].to_numpy())
    np.testing.assert_allclose(both.model().coef_, expected.coef_, rtol=1e-8)
    np.testing.assert_allclose(both.model().intercept_, expected.intercept_, rtol=1e-8)
    both.remove("0")
    both.check()
    alone = GeneralizedRidge().fit(X[30:], everything["y"].to_numpy()[30:])
    merged = both.model()
    assert both.schema.encoding.levels["g"][0] == "y"  # no row has x any more
    assert merged.rank_ == 2
    with pytest.warns(PrecisionWarning, match="collinear"):
        assert alone.rank_ == 2
    np.testing.assert_allclose(merged.predict(tables[1]), alone.predict(X[30:]), rtol=1e-8)


def test_export_and_import_bit_for_bit(tmp_path, kind):
    made = made_of(tmp_path / "a.rw", range(7), information=kind)
    made.absorb("t1", *rows_of(11), force="late")
    made.widen(features={"d": 2.0})  # what is exported was merged before it was widened
    made.export(tmp_path / "a.safetensors")
    back = store.import_arrays(tmp_path / "a.safetensors", tmp_path / "b.rw")
    back.check()
    assert content(back)[0] == content(made)[0]
    for one in (made, back):
        one.remove("t1")
        one.remove("t4")
    assert content(back)[0] == content(made)[0]
    assert made.history() == back.history()


def test_backup_and_the_previous_generation(tmp_path):
    made = made_of(tmp_path / "a.rw", range(5))
    before = content(made)
    made.absorb("t5", *rows_of(5))
    assert made.backup(tmp_path / "copy.rw").n_nodes == 11
    assert content(store.open(tmp_path / "copy.rw")) == content(made)
    with pytest.raises(StoreError, match="nothing to restore"):
        store.restore_previous(made.path)
    shutil.copy(made.path, tmp_path / "damaged.rw")
    damaged = store.open(tmp_path / "damaged.rw")
    root = damaged.snapshot().generation.parts.root.id
    sql(damaged, ("UPDATE parts SET data = zeroblob(length(data)) WHERE id = ?", (root,)))
    restored = store.restore_previous(damaged.path)
    assert content(restored) == before
    assert n_nodes(restored) == 9
    restored.check()
    restored.absorb("t5", *rows_of(5))
    assert content(restored) == content(made)
