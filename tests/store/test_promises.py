"""The promises of docs/store.md, a test for each. (The fault campaign breaks processes, disks and files by force.)"""

import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from ridgeway import GeneralizedRidge, store
from ridgeway.errors import (
    DamagedStoreError,
    DuplicateTaskError,
    FeatureMismatchError,
    InvalidDataError,
    InvalidParameterError,
    InvalidStateError,
    MergeError,
    RemovalError,
    StoreBusyError,
    StoreError,
    UncertainStoreError,
)
from ridgeway.store import _arrays, _changes, _connection, _rows
from ridgeway.weights import Accumulated

FEATURES = ["a", "b", "c"]
KINDS = ("square_root", "moments")


def task(rng, rows=20, p=3):
    X = rng.normal(size=(rows, p))
    return X, X @ np.arange(1.0, p + 1) + rng.normal(size=rows)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def made(tmp_path, kind):
    return store.create(tmp_path / "made.rw", features=FEATURES, target="y", information=kind)


def same(one, two):
    return one.coef_.tobytes() == two.coef_.tobytes() and one.intercept_ == two.intercept_


# 1. Acknowledged means that it survives.


def test_what_makes_a_commit_last(made):
    with _connection.transaction(made.path, write=True, timeout=1.0) as connection:
        found = {name: _connection.pragma(connection, name) for name in ("synchronous", "journal_mode", "page_size")}
        assert found == {"synchronous": 3, "journal_mode": "delete", "page_size": 65536}


def test_a_commit_that_failed_after_the_point_of_no_return_is_found_out(made, rng, monkeypatch):
    """An error after the journal is gone is no failure; one before it is."""
    real = _connection._connect
    broken = []

    class Failing:
        def __init__(self, connection):
            self._connection = connection

        def __getattr__(self, name):
            return getattr(self._connection, name)

        def execute(self, sql, *values):
            if sql == "COMMIT" and broken:
                if broken.pop() == "after":
                    self._connection.execute(sql)
                error = sqlite3.OperationalError("disk I/O error")
                error.sqlite_errorcode = sqlite3.SQLITE_IOERR
                raise error
            return self._connection.execute(sql, *values)

    monkeypatch.setattr(_connection, "_connect", lambda *args, **options: Failing(real(*args, **options)))
    X, y = task(rng)
    broken.append("after")
    assert not made.absorb("one", X, y).already
    before = made.path.read_bytes()
    broken.append("before")
    with pytest.raises(StoreError, match="Nothing was changed"):
        made.absorb("two", X + 1.0, y)
    assert made.path.read_bytes() == before
    assert [record.task_id for record in made.history()] == ["one"]

    def unsure(path):
        raise OSError("no folder")

    with monkeypatch.context() as patch:
        patch.setattr(_changes, "sync_folder", unsure)
        broken.append("after")
        with pytest.raises(UncertainStoreError, match=r"is not known.*repeating the call is safe"):
            made.absorb("two", X + 1.0, y)
    assert made.absorb("two", X + 1.0, y).already


# 2. The information is the sum over the tasks in the ledger.


def test_the_state_is_bitwise_that_of_the_estimator_fed_the_same_blocks(made, kind, rng, monkeypatch):
    monkeypatch.setattr(_arrays, "BLOCK_ENTRIES", 1)
    monkeypatch.setattr(_arrays, "FEWEST_ROWS", 7)
    model = GeneralizedRidge(information=kind)
    for number in range(4):
        X, y = task(rng, rows=17)
        made.absorb(str(number), X, y)
        for start in (0, 7, 14):
            model.partial_fit(X[start : start + 7], y[start : start + 7])
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
    with pytest.raises(StoreError, match="has learned nothing yet"):
        made.model()


# 3. A (task id, content digest) counts at most once.


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
        monkeypatch.setattr(_arrays, "BLOCK_ENTRIES", 1)
        monkeypatch.setattr(_arrays, "FEWEST_ROWS", rows)
        for name in ("rows.csv", "order.parquet", "zero.parquet", "plain.pq", "file.arrow", "stream.ipc"):
            learn(f"{name}{rows}", lambda made, name=name: made.absorb_file(tmp_path / name, task_id="t"))
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
    (outcome,) = weighted.absorb_file(tmp_path / "rows.csv", task_id="u")
    assert outcome.record.n_samples == 15
    assert outcome.record.total_weight == 30.0
    assert weighted.absorb("u", X, y, w).already
    assert same(weighted.model(), GeneralizedRidge().fit(X, y, w))


# 4. A call that fails leaves the file byte for byte as it was; a file counts whole or not at all.


def test_bad_arrays_change_nothing(made, rng):
    X, y = task(rng)
    made.absorb("one", X, y)
    before = made.path.read_bytes()
    bad = np.where(np.arange(60).reshape(20, 3) == 7, np.nan, X)
    frame = pd.DataFrame(X, columns=FEATURES)
    for arguments, error in [
        ((bad, y), InvalidDataError),
        ((X[:, :2], y), FeatureMismatchError),
        ((X, y[:3]), InvalidDataError),
        ((X, np.column_stack([y, y])), FeatureMismatchError),
        ((X, y, -np.ones(20)), InvalidDataError),
        ((frame.rename(columns={"a": "A"}), y), FeatureMismatchError),
        ((frame.assign(d=1.0), y), FeatureMismatchError),
        ((X[:0], y[:0]), InvalidDataError),
        ((X * 1e160, y), InvalidDataError),
    ]:
        with pytest.raises(error):
            made.absorb("bad", *arguments)
    assert made.path.read_bytes() == before


def test_one_bad_row_in_the_last_task_of_a_file_undoes_them_all(made, tmp_path, rng):
    X, y = task(rng, rows=300)
    frame = pd.DataFrame(X, columns=FEATURES).assign(y=y, year=np.repeat([2018, 2019, 2020], 100))
    frame.loc[299, "y"] = np.inf
    frame.to_parquet(tmp_path / "all.parquet", row_group_size=50)
    before = made.path.read_bytes()
    with pytest.raises(InvalidDataError, match="column 'y' has NaN or infinity in 1 of 300 rows"):
        made.absorb_file(tmp_path / "all.parquet", task_column="year")
    assert made.path.read_bytes() == before
    frame.loc[299, "y"] = 0.0
    frame.to_parquet(tmp_path / "all.parquet", row_group_size=50)
    outcomes = made.absorb_file(tmp_path / "all.parquet", task_column="year")
    assert [(o.record.task_id, o.record.n_samples, o.already) for o in outcomes] == [
        ("2018", 100, False),
        ("2019", 100, False),
        ("2020", 100, False),
    ]
    assert made.check().generation == 2
    assert made.absorb("2019", X[100:200], y[100:200]).already


def test_tasks_that_take_turns(made, kind, tmp_path, rng, monkeypatch):
    """Rows of many tasks, interleaved: the digests are those of the tasks alone, and so is the sum, up to rounding."""
    monkeypatch.setattr(_arrays, "BLOCK_ENTRIES", 1)
    monkeypatch.setattr(_arrays, "FEWEST_ROWS", 8)
    monkeypatch.setattr(_rows, "MOST_BLOCKS", 3)
    X, y = task(rng, rows=400)
    label = rng.integers(0, 12, size=400)
    frame = pd.DataFrame(X, columns=FEATURES).assign(y=y, site=[f"site {number}" for number in label])
    frame.to_csv(tmp_path / "all.csv", index=False)
    seen = []
    made.absorb_file(tmp_path / "all.csv", task_column="site", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (400, None)
    assert np.allclose(made.model().coef_, GeneralizedRidge(information=kind).fit(X, y).coef_, rtol=1e-10)
    for number in range(12):
        assert made.absorb(f"site {number}", X[label == number], y[label == number]).already
    X[label == 3] += 1.0
    frame[FEATURES] = X
    frame.to_csv(tmp_path / "all.csv", index=False)
    with pytest.raises(DuplicateTaskError, match="'site 3'"):
        made.absorb_file(tmp_path / "all.csv", task_column="site")
    outcomes = made.absorb_file(tmp_path / "all.csv", task_column="site", force="corrected ages")
    assert [o.record.task_id for o in outcomes if not o.already] == ["site 3"]
    assert made.check().n_samples == 400 + (label == 3).sum()


def test_a_file_that_changes_while_it_is_read(made, tmp_path, rng, monkeypatch):
    X, y = task(rng)
    made.absorb("one", X, y)
    made.absorb("two", X + 2.0, y)
    before = made.path.read_bytes()
    shifts = [1.0, 3.0, 2.0, 2.001]
    monkeypatch.setattr(
        "ridgeway.store._store.cut", lambda *_: iter([_arrays.Block(X + shifts.pop(0), y[:, None], None)])
    )
    with pytest.raises(InvalidDataError, match="changed while they were read"):
        made.absorb("one", X, y, force="late rows")
    with pytest.raises(RemovalError, match="changed while they were read"):
        made.remove("two", X, y)
    assert not shifts
    assert made.path.read_bytes() == before


# 5. Writers serialise, with a bounded wait; readers see one generation.


def test_writers_take_turns_and_readers_see_whole_generations(made, rng):
    tasks = {f"t{number}": task(rng) for number in range(24)}
    seen, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            generation, arrays = made.snapshot()
            rows = sum(record.n_samples for record in generation.ledger)
            seen.append(rows == (arrays["counts"][3] if "counts" in arrays else 0))

    reader = threading.Thread(target=read)
    reader.start()
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda name: made.absorb(name, *tasks[name]), [*tasks, *tasks]))
    stop.set()
    reader.join()
    assert sum(not outcome.already for outcome in outcomes) == 24
    assert sorted(record.task_id for record in made.history()) == sorted(tasks)
    assert [record.sequence for record in made.history()] == list(range(1, 25))
    assert seen
    assert all(seen)
    made.check()


def test_a_writer_that_waits_too_long_says_so(made, rng):
    X, y = task(rng)
    impatient = store.open(made.path, timeout=0.1)
    before = made.path.read_bytes()
    with _connection.transaction(made.path, write=True, timeout=1.0):
        with pytest.raises(StoreBusyError, match=r"in use by other processes for 0\.1 s\. Nothing was changed"):
            impatient.absorb("one", X, y)
        assert impatient.history() == ()
    assert made.path.read_bytes() == before
    impatient.absorb("one", X, y)


def test_a_reader_holds_a_writer_up_no_longer_than_the_wait(made, rng):
    X, y = task(rng)
    impatient = store.open(made.path, timeout=0.1)
    with _connection.transaction(made.path, write=False, timeout=1.0) as connection:
        connection.execute("SELECT * FROM head").fetchall()
        with pytest.raises(StoreBusyError):
            impatient.absorb("one", X, y)
    assert made.history() == ()


# 6. After any alteration: the original's answer, bitwise, or a typed error.


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE head SET current = current - 1",
        "UPDATE head SET current = 'x'",
        "UPDATE head SET current = current + 1",
        "UPDATE head SET id = 1",
        "UPDATE head SET schema = CAST(replace(schema, '\"a\"', '\"d\"') AS BLOB)",
        "DELETE FROM head",
        "DELETE FROM generation WHERE number = (SELECT max(number) FROM generation)",
        "DELETE FROM ledger WHERE sequence = 2",
        "UPDATE ledger SET record = CAST(replace(record, 'two', 'too') AS BLOB)",
        "UPDATE ledger SET generation = generation + 1",
        "UPDATE ledger SET record = 5 WHERE sequence = 1",
        "INSERT INTO ledger VALUES (9, 9, x'00')",
        "INSERT INTO generation VALUES (99, x'00', x'00')",
        "UPDATE generation SET manifest = CAST(replace(manifest, '[3', '[4') AS BLOB)",
        "UPDATE block SET data = data || x'00'",
        "DELETE FROM block WHERE id = (SELECT max(id) FROM block)",
        "UPDATE block SET data = zeroblob(length(data)) WHERE id = (SELECT max(id) FROM block)",
        "CREATE TABLE more (x)",
        "CREATE VIEW more AS SELECT * FROM head",
        "CREATE TRIGGER more AFTER INSERT ON ledger BEGIN DELETE FROM block; END",
        "PRAGMA application_id = 1",
        "PRAGMA user_version = 7",
        "PRAGMA journal_mode = WAL",
    ],
)
def test_alterations_are_found_out(made, rng, sql):
    X, y = task(rng)
    made.absorb("one", X, y)
    made.absorb("two", X + 1, y)
    with closing(sqlite3.connect(made.path, isolation_level=None)) as connection:
        connection.execute(sql)
    with pytest.raises(StoreError):
        store.open(made.path)
    with pytest.raises(StoreError):
        made.absorb("three", X + 2, y)


def test_every_flipped_bit_of_the_first_pages_and_of_the_state(made, rng):
    X, y = task(rng)
    made.absorb("one", X, y)
    content = bytearray(made.path.read_bytes())
    expected, history = made.model(), made.history()
    used = [i for i in range(len(content)) if content[i]]
    found = 0
    for place in [*range(100), *rng.choice(used, size=300)]:
        content[place] ^= 1 << int(rng.integers(8))
        flipped = made.path.with_name("flipped.rw")
        flipped.write_bytes(content)
        content[:] = made.path.read_bytes()
        try:
            opened = store.open(flipped, timeout=0.1)
            assert same(opened.model(), expected)
            assert opened.history() == history
        except StoreError:
            found += 1
    assert found > 100


def test_another_file_in_the_same_place(made, tmp_path):
    other = store.create(tmp_path / "other.rw", features=["d"], target="y")
    other.path.replace(made.path)
    with pytest.raises(StoreError, match="another state file than the one that was opened"):
        made.history()


# 8. Unsound state is never committed.


def test_unsound_state_is_never_committed(made, kind, rng, monkeypatch):
    X, y = task(rng)
    made.absorb("one", X, y)
    before = made.path.read_bytes()
    real = GeneralizedRidge.to_arrays

    def spoiled(change):
        def arrays(self):
            result = {name: array.copy() for name, array in real(self).items()}
            change(result)
            return result

        return arrays

    def negative(arrays):
        arrays["matrix"][np.diag_indices(4)] *= -1.0

    def indefinite(arrays):
        arrays["matrix"][0, 1] = 1e6 * arrays["matrix"].max()

    changes = [
        lambda arrays: arrays["matrix"].__setitem__((0, 0), np.nan),
        lambda arrays: arrays["mean"].__setitem__(0, np.inf),
        lambda arrays: arrays["matrix"].__setitem__((2, 0), 1.0),
        lambda arrays: arrays["counts"].__setitem__(3, 7.0),
        lambda arrays: arrays["model"].__setitem__(3, 0.5),
        lambda arrays: arrays["model"].__setitem__(2, 0.0),
    ]
    if kind == "moments":
        changes[2] = negative
        changes.append(indefinite)
    for change in changes:
        monkeypatch.setattr(GeneralizedRidge, "to_arrays", spoiled(change))
        with pytest.raises((InvalidDataError, InvalidStateError), match="unsound"):
            made.absorb("two", X + 1, y)
        assert made.path.read_bytes() == before
    monkeypatch.undo()
    made.absorb("two", X + 1, y)


# 9. Removal.


def test_remove_is_exact_reports_digits_and_leaves_nothing_behind(made, kind, rng):
    tasks = [task(rng) for _ in range(4)]
    for number, (X, y) in enumerate(tasks):
        made.absorb(f"t{number}", X, y)
    _, with_task = made.snapshot()
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
        (("one", X, y), "not safely of full rank"),
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
    made.absorb_file(tmp_path / "all.csv", task_column="year")
    made.remove_file(tmp_path / "all.csv", task_id="2019", task_column="year")
    part = frame[frame["year"] == 2018].drop(columns="year")
    part.to_parquet(tmp_path / "2018.parquet")
    made.remove_file(tmp_path / "2018.parquet", task_id="2018")
    assert [record.task_id for record in made.history()] == ["2020"]
    with pytest.raises(RemovalError, match="no task '2017'"):
        made.remove_file(tmp_path / "all.csv", task_id="2017", task_column="year")


# 10. Merge.


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
    three = store.create(tmp_path / "three.rw", features=FEATURES, target="y")
    three.absorb("a", X + 5, y)
    three.absorb("c", X + 1, y)
    with pytest.raises(MergeError, match="both have a task 'a'; the same rows are in both, as 'b' and 'c'"):
        one.merge(three, tmp_path / "out.rw")
    assert not (tmp_path / "out.rw").exists()
    with pytest.raises(StoreError, match="exists already"):
        one.merge(store.create(tmp_path / "four.rw", features=FEATURES, target="y"), tmp_path / "one.rw")


# Leftovers of a process that was ended.


def test_a_file_that_was_linked_and_not_yet_unlinked(made, rng):
    other = made.path.with_name(f".{made.path.name}.abc.new")
    os.link(made.path, other)
    made.absorb("one", *task(rng))
    assert not other.exists()
    made.check()


def test_damage_of_free_pages_does_not_spoil_what_is_written(made, rng, monkeypatch):
    made.absorb("one", *task(rng))
    before = made.path.read_bytes()
    monkeypatch.setattr("ridgeway.store._generations.enumerate", lambda blocks, first: [(first, b"")], raising=False)
    with pytest.raises(DamagedStoreError, match="did not keep what was written"):
        made.absorb("two", *task(rng))
    assert made.path.read_bytes() == before
