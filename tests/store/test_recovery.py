"""Older and newer formats, and the way back to the previous generation."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from format0 import write_format0

from ridgeway import store
from ridgeway.errors import DamagedStoreError, StoreError, StoreVersionError

FEATURES = ["a", "b", "c"]


@pytest.fixture
def filled(tmp_path, rng):
    """A state file of three tasks."""
    made = store.create(tmp_path / "filled.rw", features=FEATURES, target="y", prior=0.5)
    for number in range(3):
        made.absorb(f"task {number}", rng.normal(size=(9, 3)), rng.normal(size=9))
    return made


def altered(path, sql, *values):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(sql, values).fetchall()


def test_a_file_of_format_0_is_migrated_and_answers_as_before(filled, tmp_path):
    old = tmp_path / "old.rw"
    write_format0(filled, old)
    opened = store.open(old)
    assert altered(old, "PRAGMA user_version") == [(1,)]
    assert opened.history() == filled.history()
    assert opened.model().coef_.tobytes() == filled.model().coef_.tobytes()
    opened.check()
    before = old.read_bytes()
    assert store.open(old).history() == filled.history()
    assert old.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["filled.rw", "old.rw"]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE ledger SET record = replace(record, 'task 1', 'task 9')",
        "UPDATE state SET data = zeroblob(length(data)) WHERE name = 'matrix'",
        "UPDATE state SET shape = CAST('[2,3]' AS BLOB) WHERE name = 'matrix'",
        "UPDATE state SET data = 7 WHERE name = 'mean'",
        "UPDATE head SET root = zeroblob(32)",
        "DELETE FROM head",
        "CREATE TABLE more (x)",
    ],
)
def test_a_damaged_file_of_format_0_is_refused_and_left_alone(filled, tmp_path, sql):
    old = tmp_path / "old.rw"
    write_format0(filled, old)
    altered(old, sql)
    before = old.read_bytes()
    with pytest.raises(DamagedStoreError):
        store.open(old)
    assert old.read_bytes() == before


def test_a_newer_format_is_refused(filled):
    altered(filled.path, "PRAGMA user_version = 2")
    before = filled.path.read_bytes()
    with pytest.raises(StoreVersionError, match=r"has format 2.*Upgrade"):
        store.open(filled.path)
    assert filled.path.read_bytes() == before


def test_an_older_format_is_not_changed_by_a_call_that_did_not_open_it(filled, tmp_path):
    write_format0(filled, tmp_path / "old.rw")
    (tmp_path / "old.rw").replace(filled.path)
    with pytest.raises(StoreVersionError, match=r"format 0.*Open it anew"):
        filled.history()


def test_the_previous_generation_comes_back_only_when_asked_for(filled, rng):
    before = filled.model().coef_
    filled.absorb("last", rng.normal(size=(9, 3)), rng.normal(size=9))
    with pytest.raises(StoreError, match="in order: there is nothing to restore"):
        store.restore_previous(filled.path)
    altered(filled.path, "UPDATE block SET data = zeroblob(length(data)) WHERE id = (SELECT max(id) FROM block)")
    for call in (filled.model, filled.check, lambda: store.open(filled.path), lambda: filled.merge(filled, "x.rw")):
        with pytest.raises(DamagedStoreError, match="--restore-previous"):
            call()
    back = store.restore_previous(filled.path)
    assert [record.task_id for record in back.history()] == ["task 0", "task 1", "task 2"]
    assert back.model().coef_.tobytes() == before.tobytes()
    back.check()
    X, y = rng.normal(size=(9, 3)), rng.normal(size=9)
    assert not back.absorb("last", X, y).already
    assert len(back.history()) == 4


def test_without_a_previous_generation_nothing_is_restored(tmp_path):
    made = store.create(tmp_path / "new.rw", features=FEATURES, target="y")
    altered(made.path, "UPDATE block SET data = zeroblob(length(data) + 8)")
    before = made.path.read_bytes()
    with pytest.raises(StoreError, match="keeps no previous generation"):
        store.restore_previous(made.path)
    assert made.path.read_bytes() == before


def test_a_damaged_previous_generation_is_found_by_check_alone(filled):
    altered(filled.path, "UPDATE block SET data = zeroblob(length(data)) WHERE id = (SELECT min(id) FROM block)")
    assert np.isfinite(store.open(filled.path).model().coef_).all()
    with pytest.raises(DamagedStoreError, match="the current generation is in order, the one before is not"):
        filled.check()
