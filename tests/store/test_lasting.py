"""Promises 1, 4 and 5 of docs/store.md: what is done lasts, what fails changes nothing, writers take turns."""

import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from store.tables import task

from ridgeway import store
from ridgeway.data import _row_blocks
from ridgeway.errors import (
    FeatureMismatchError,
    InvalidDataError,
    RemovalError,
    StoreBusyError,
    StoreError,
    UncertainStoreError,
)
from ridgeway.store import _changes, _connection
from ridgeway.weights import from_arrays

FEATURES = ["a", "b", "c"]


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
    with pytest.raises(InvalidDataError, match="column 'y' has NaN or infinity"):
        made.absorb_table(tmp_path / "all.parquet", task_column="year")
    assert made.path.read_bytes() == before
    frame.loc[299, "y"] = 0.0
    frame.to_parquet(tmp_path / "all.parquet", row_group_size=50)
    outcomes = made.absorb_table(tmp_path / "all.parquet", task_column="year")
    assert [(o.record.task_id, o.record.n_samples, o.already) for o in outcomes] == [
        ("2018", 100, False),
        ("2019", 100, False),
        ("2020", 100, False),
    ]
    assert made.check().generation == 2
    assert made.absorb("2019", X[100:200], y[100:200]).already


def test_a_file_that_changes_while_it_is_read(made, tmp_path, rng, monkeypatch):
    X, y = task(rng)
    made.absorb("one", X, y)
    made.absorb("two", X + 2.0, y)
    before = made.path.read_bytes()
    shifts = [1.0, 3.0, 2.0, 2.001]
    monkeypatch.setattr(
        "ridgeway.data._file_rows.cut",
        lambda schema, _: iter([_row_blocks.Block(X + shifts.pop(0), y[:, None], None, None, schema)]),
    )
    with pytest.raises(InvalidDataError, match="changed while they were read"):
        made.absorb("one", X, y, force="late rows")
    with pytest.raises(RemovalError, match="changed while they were read"):
        made.remove("two", X, y)
    assert not shifts
    assert made.path.read_bytes() == before


def test_writers_take_turns_and_readers_see_whole_generations(made, rng):
    tasks = {f"t{number}": task(rng) for number in range(24)}
    seen, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            snapshot = made.snapshot()
            rows = sum(record.n_samples for record in snapshot.tasks)
            seen.append(rows == from_arrays(snapshot.arrays).n_samples)

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
        connection.execute("SELECT * FROM generations").fetchall()
        with pytest.raises(StoreBusyError):
            impatient.absorb("one", X, y)
    assert made.history() == ()


def test_a_file_that_was_linked_and_not_yet_unlinked(made, rng):
    other = made.path.with_name(f".{made.path.name}.abc.new")
    os.link(made.path, other)
    made.absorb("one", *task(rng))
    assert not other.exists()
    made.check()
