"""Promises 2 and 3 of docs/store.md: the state is the sum of its tasks, and each counts at most once."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from store.tables import same, task

from ridgeway import GeneralizedRidge, store
from ridgeway.data import _file_rows, _schema
from ridgeway.errors import (
    DuplicateTaskError,
    InvalidParameterError,
    StoreError,
)
from ridgeway.weights import Accumulated

FEATURES = ["a", "b", "c"]


def test_the_state_is_bitwise_that_of_the_estimator_fed_the_same_blocks(made, kind, rng, monkeypatch):
    monkeypatch.setattr(_schema, "BLOCK_ENTRIES", 1)
    monkeypatch.setattr(_schema, "FEWEST_ROWS", 7)
    model = GeneralizedRidge(information=kind)
    for number in range(4):
        X, y = task(rng, rows=17)
        made.absorb(str(number), X, y)
        for start in (0, 7, 14):
            model.partial_fit(np.asfortranarray(X[start : start + 7]), y[start : start + 7])
    found = store.open(made.path).model()
    assert same(found, model)
    assert (found.n_tasks_, found.n_samples_seen_) == (4, 68)
    assert list(found.feature_names_in_) == FEATURES
    assert made.check().n_samples == sum(record.n_samples for record in made.history()) == 68


def test_settings_reach_the_model(tmp_path, rng):
    P = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    X, y = task(rng)
    Y = np.column_stack([y, -2 * y])
    made = store.create(tmp_path / "x.rw", features=FEATURES, target=["y", "z"], prior=P, fit_intercept=False)
    made.absorb("a", X, Y)
    expected = GeneralizedRidge(Accumulated(prior=P), fit_intercept=False).fit(X, Y)
    assert made.model().coef_.tobytes() == expected.coef_.tobytes()
    assert made.describe()["coefficients"]["z"]["b"] == expected.coef_[1, 1]


def test_an_empty_state_file_says_so(made):
    assert made.history() == ()
    assert (made.check().n_tasks, made.check().previous) == (0, None)
    with pytest.raises(StoreError, match="has not learned anything yet"):
        made.model()


def test_the_same_again_counts_once_and_anything_like_it_is_refused(made, rng):
    X, y = task(rng)
    first = made.absorb("one", X, y)
    before = made.path.read_bytes()
    again = made.absorb("one", X, y)
    assert again.already
    assert again.record == first.record
    with pytest.raises(DuplicateTaskError, match="'one' is in the state file with other content"):
        made.absorb("one", X + 1, y)
    with pytest.raises(DuplicateTaskError, match="rows of task 'two' are those of task 'one'"):
        made.absorb("two", X, y)
    assert made.absorb("one", X, y, force="I mean it").already
    assert made.path.read_bytes() == before
    for reason in ("", "  ", "x" * 1001, "a\nb", 7):
        with pytest.raises(InvalidParameterError, match="reason"):
            made.absorb("two", X, y, force=reason)
    forced = made.absorb("two", X, y, force="two sites sent the same")
    assert forced.record.reason == "two sites sent the same"
    assert made.absorb("one", X + 1, y, force="late rows").record.reason == "late rows"
    assert made.absorb("three", X + 2, y, force="not needed").record.reason is None
    assert [record.task_id for record in made.history()] == ["one", "two", "one", "three"]
    assert made.model().n_samples_seen_ == 80
    made.check()


def test_the_digest_is_of_the_values(tmp_path, rng, monkeypatch):
    X, y = task(rng, rows=50)
    X[3, 1] = 0.0
    frame = pd.DataFrame(X, columns=FEATURES).assign(y=y)
    negative = frame.copy()
    negative.loc[3, "b"] = -0.0
    table = pa.Table.from_pandas(frame, preserve_index=False)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame[["y", "c", "a", "b"]].to_parquet(tmp_path / "order.parquet", row_group_size=7, index=False)
    negative.to_parquet(tmp_path / "zero.parquet", index=False)
    parquet.write_table(table, tmp_path / "plain.pq", use_dictionary=False, compression="zstd")
    with pa.ipc.new_file(str(tmp_path / "file.arrow"), table.schema) as sink:
        sink.write_table(table, max_chunksize=3)
    with pa.ipc.new_stream(str(tmp_path / "stream.ipc"), table.schema) as sink:
        sink.write_table(table)
    digests, states = set(), set()

    def learn(name, call):
        made = store.create(tmp_path / f"{name}.rw", features=FEATURES, target="y")
        call(made)
        digests.add(made.history()[0].digest)
        states.add(made.model().coef_.tobytes())

    for rows in (1024, 8):
        monkeypatch.setattr(_schema, "BLOCK_ENTRIES", 1)
        monkeypatch.setattr(_schema, "FEWEST_ROWS", rows)
        for name in ("rows.csv", "order.parquet", "zero.parquet", "plain.pq", "file.arrow", "stream.ipc"):
            learn(f"{name}{rows}", lambda made, name=name: made.absorb_table(tmp_path / name, task_id="t"))
        shuffled = frame[["c", "a", "b"]]
        for number, table_like in enumerate(
            [X, np.asfortranarray(X), shuffled, pl.DataFrame(shuffled), table.drop("y")]
        ):
            learn(f"{number}{rows}", lambda made, table_like=table_like: made.absorb("t", table_like, y))
        assert len(states) == 1
        states.clear()
    assert len(digests) == 1
    learn("other", lambda made: made.absorb("t", X, y + 1e-12))
    learn("order", lambda made: made.absorb("t", X[::-1], y[::-1]))
    assert len(digests) == 3


def test_weights_that_are_one_are_no_weights_and_rows_of_weight_zero_are_absent(tmp_path, rng):
    X, y = task(rng)
    w = np.r_[np.zeros(5), np.full(15, 2.0)]
    plain = store.create(tmp_path / "plain.rw", features=FEATURES, target="y")
    assert plain.absorb("t", X, y).record.digest == plain.absorb("t", X, y, np.ones(20)).record.digest
    assert plain.absorb("u", X, y, w).record == plain.absorb("u", X[5:], y[5:], w[5:]).record
    weighted = store.create(tmp_path / "weighted.rw", features=FEATURES, target="y", weight_column="w")
    frame = pd.DataFrame(X, columns=FEATURES).assign(y=y, w=w)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    (outcome,) = weighted.absorb_table(tmp_path / "rows.csv", task_id="u")
    assert outcome.record.n_samples == 15
    assert outcome.record.total_weight == 30.0
    assert weighted.absorb("u", X, y, w).already
    assert same(weighted.model(), GeneralizedRidge().fit(X, y, w))


def test_tasks_that_take_turns(made, kind, tmp_path, rng, monkeypatch):
    """Rows of many tasks, interleaved: the digests are those of the tasks alone, and so is the sum, up to rounding."""
    monkeypatch.setattr(_schema, "BLOCK_ENTRIES", 1)
    monkeypatch.setattr(_schema, "FEWEST_ROWS", 8)
    monkeypatch.setattr(_file_rows, "MOST_BLOCKS", 3)
    X, y = task(rng, rows=400)
    label = rng.integers(0, 12, size=400)
    frame = pd.DataFrame(X, columns=FEATURES).assign(y=y, site=[f"site {number}" for number in label])
    frame.to_csv(tmp_path / "all.csv", index=False)
    seen = []
    made.absorb_table(tmp_path / "all.csv", task_column="site", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (400, None)
    assert np.allclose(made.model().coef_, GeneralizedRidge(information=kind).fit(X, y).coef_, rtol=1e-10)
    for number in range(12):
        assert made.absorb(f"site {number}", X[label == number], y[label == number]).already
    X[label == 3] += 1.0
    frame[FEATURES] = X
    frame.to_csv(tmp_path / "all.csv", index=False)
    with pytest.raises(DuplicateTaskError, match="'site 3'"):
        made.absorb_table(tmp_path / "all.csv", task_column="site")
    outcomes = made.absorb_table(tmp_path / "all.csv", task_column="site", force="corrected ages")
    assert [o.record.task_id for o in outcomes if not o.already] == ["site 3"]
    assert made.check().n_samples == 400 + (label == 3).sum()
