"""Clusters: a column divides the rows of a task into smaller parts."""

import numpy as np
import pandas as pd
import pytest
from store.kept import FEATURES, content, rows_of
from store.tables import written

from ridgeway import GeneralizedRidge, store
from ridgeway.errors import FeatureMismatchError, InvalidDataError, InvalidParameterError

SCHOOLS = ["north", "south", "east"]


def table(number, n=60):
    X, y = rows_of(number, n=n)
    return pd.DataFrame(X, columns=FEATURES).assign(y=y, school=[SCHOOLS[i % 3] for i in range(n)])


def made_of(path, numbers, tables=table, **settings):
    settings = {"features": FEATURES, "keep": "tasks", "cluster_column": "school"} | settings
    made = store.create(path, target="y", **settings)
    for number in numbers:
        made.absorb_table(tables(number), task_id=f"t{number}")
    return made


def test_parts_are_those_of_a_model_in_memory(tmp_path):
    made = made_of(tmp_path / "a.rw", range(3))
    model = GeneralizedRidge(information="by_task")
    frames = pd.concat([table(number) for number in range(3)])
    labels = np.repeat([f"t{number}" for number in range(3)], 60)
    model.fit(np.asfortranarray(frames[FEATURES]), frames["y"], tasks=labels, clusters=frames["school"])
    mine, theirs = made.model_by_task().information_, model.information_
    assert made.check().n_nodes == 17
    assert mine.is_clustered
    assert list(mine.clusters()) == list(theirs.clusters()) == sorted(SCHOOLS)
    for one, two in ((mine.clusters(), theirs.clusters()), (mine.parts(), theirs.parts())):
        for name, part in one.items():
            np.testing.assert_allclose(part.moments(), two[name].moments(), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(made.model().coef_, model.coef_, rtol=1e-12)


def test_a_task_goes_with_all_its_clusters(tmp_path):
    made = made_of(tmp_path / "a.rw", range(4))
    made.absorb_table(table(9), task_id="t1", force="late")
    made.check()
    assert made.remove("t1").record.reason == "late"
    assert content(made) == content(made_of(tmp_path / "b.rw", range(4)))
    made.remove("t1")
    assert content(made) == content(made_of(tmp_path / "c.rw", (3, 0, 2)))
    made.check()
    made.remove_table(table(2).drop(columns="school"), task_id="t2")  # the digest does not depend on clusters
    assert content(made) == content(made_of(tmp_path / "d.rw", (3, 0)))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_every_source_gives_the_same_parts(tmp_path, suffix):
    frame = table(1)
    whole = made_of(tmp_path / "a.rw", [1])
    of_file = made_of(tmp_path / "b.rw", ())
    of_file.absorb_table(written(frame, tmp_path / f"t{suffix}"), task_id="t1")
    of_arrays = made_of(tmp_path / "c.rw", ())
    of_arrays.absorb("t1", frame[FEATURES], frame["y"], clusters=frame["school"])
    by_column = made_of(tmp_path / "d.rw", ())
    by_column.absorb_table(frame.assign(task="t1"), task_column="task")
    assert content(whole) == content(of_file) == content(of_arrays) == content(by_column)


@pytest.mark.parametrize("features", [["a", "group"], ["a", "school"]], ids=["other", "also a feature"])
def test_encoded_tables(tmp_path, features):
    def tables(number):
        frame = table(number).assign(group=["u", "v", "v", "u"] * 15)
        return frame[[*dict.fromkeys([*features, "school", "y"])]]

    encoding = store.encoding_of(tables(0), features=features, leave_out=["y"])
    made = made_of(tmp_path / "a.rw", range(3), tables, features=encoding)
    made.check()
    frame = tables(7)
    made.absorb("arrays", frame.drop(columns="y"), frame["y"])
    other = made_of(tmp_path / "b.rw", range(3), tables, features=encoding)
    other.absorb_table(frame, task_id="arrays")
    assert content(made) == content(other)
    assert {name.cluster for name in (leaf.name for leaf in made.snapshot().leaves)} == {*SCHOOLS}
    again = made_of(tmp_path / "c.rw", range(3), tables, features=encoding)
    if "school" not in features:
        again.absorb("arrays", frame[features], frame["y"], clusters=frame["school"].to_numpy())
        assert content(again) == content(made)


def test_rows_that_are_left_out_have_no_cluster(tmp_path):
    def tables(number):
        frame = table(number).assign(group=["u", "v", "v", "u"] * 15)
        frame.loc[frame.index[:6], "a"] = np.nan
        frame.loc[frame.index[:2], "school"] = None
        return frame[["a", "group", "school", "y"]]

    encoding = store.encoding_of(tables(0), features=["a", "group"], leave_out=["y"], missing="drop")
    made = made_of(tmp_path / "a.rw", range(2), tables, features=encoding)
    sizes = {leaf.name.cluster: leaf.information.n_samples for leaf in made.snapshot().leaves}
    assert sizes == {"north": 18, "south": 18, "east": 18}


def test_what_is_refused(tmp_path):
    made = made_of(tmp_path / "a.rw", range(2))
    before = made.path.read_bytes()
    frame = table(5)
    gaps = frame.assign(school=frame["school"].where(frame.index != 3))
    long = frame.assign(school="s" * 201)
    small = frame.assign(school=["lone" if place < 9 else "big" for place in range(60)])
    for error, match, call in [
        (
            FeatureMismatchError,
            "no column 'school'",
            lambda: made.absorb_table(frame.drop(columns="school"), task_id="x"),
        ),
        (InvalidDataError, "cluster column 'school' is empty in 1", lambda: made.absorb_table(gaps, task_id="x")),
        (InvalidDataError, "cluster 'lone' of task 'x' has 9 rows", lambda: made.absorb_table(small, task_id="x")),
        (InvalidDataError, "is 201 characters long; the limit is 200", lambda: made.absorb_table(long, task_id="x")),
        (InvalidDataError, "Pass its values as clusters", lambda: made.absorb("x", frame[FEATURES], frame["y"])),
    ]:
        with pytest.raises(error, match=match):
            call()
        assert made.path.read_bytes() == before
    plain = store.create(tmp_path / "b.rw", features=FEATURES, target="y")
    with pytest.raises(InvalidDataError, match="no cluster column"):
        plain.absorb("x", frame[FEATURES], frame["y"], clusters=frame["school"])
    with pytest.raises(InvalidParameterError, match="look alike"):
        made_of(tmp_path / "c.rw", (), cluster_column="а")  # a Cyrillic one


def test_clusters_over_several_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("ridgeway.data._schema.FEWEST_ROWS", 16)
    monkeypatch.setattr("ridgeway.data._schema.BLOCK_ENTRIES", 16)
    made = made_of(tmp_path / "a.rw", range(2))
    made.check()
    parts = made.model_by_task().information_.clusters()
    frames = pd.concat([table(number) for number in range(2)])
    for name, part in parts.items():
        rows = frames[frames["school"] == name][[*FEATURES, "y"]].to_numpy()
        centered = rows - rows.mean(axis=0)
        np.testing.assert_allclose(part.moments(), centered.T @ centered, rtol=1e-9, atol=1e-9)
        assert part.n_samples == 40


def test_merge_and_export_keep_clusters(tmp_path):
    one, two = made_of(tmp_path / "a.rw", range(2)), made_of(tmp_path / "b.rw", range(2, 4))
    both = one.merge(two, tmp_path / "both.rw")
    both.check()
    assert content(both) == content(made_of(tmp_path / "c.rw", range(4)))
    both.export(tmp_path / "both.safetensors")
    back = store.import_arrays(tmp_path / "both.safetensors", tmp_path / "back.rw")
    assert content(back) == content(both)


def test_clusters_of_bytes_are_not_called_tasks(tmp_path):
    frame = table(1)
    frame["school"] = [name.encode() for name in frame["school"]]
    made = made_of(tmp_path / "a.rw", ())
    with pytest.raises(InvalidDataError, match=r"the cluster column contains .* cannot name a cluster"):
        made.absorb_table(frame, task_id="t1")
    with pytest.raises(InvalidDataError, match=r"the cluster column contains .* cannot name a cluster"):
        made.absorb("t1", frame[FEATURES], frame["y"], clusters=frame["school"])
