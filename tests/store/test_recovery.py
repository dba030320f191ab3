"""Other formats, and the way back to the previous generation."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from ridgeway import store
from ridgeway.errors import DamagedStoreError, StoreError, StoreVersionError
from ridgeway.store import _recovery

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


@pytest.mark.parametrize(
    ("mark", "error", "match"),
    [
        (b"/* ridgeway format 2 file", StoreVersionError, r"has format 2; .* reads format 1\. Upgrade"),
        (b"/* ridgeway format 0 file", StoreVersionError, "has format 0"),
        (b"/* a file without a mark ", DamagedStoreError, "has no format number"),
    ],
)
def test_other_formats_are_refused(filled, mark, error, match):
    content = filled.path.read_bytes()
    assert content.count(b"/* ridgeway format 1 file") == 1
    filled.path.write_bytes(content.replace(b"/* ridgeway format 1 file", mark))
    before = filled.path.read_bytes()
    with pytest.raises(error, match=match):
        store.open(filled.path)
    with pytest.raises(error, match=match):
        filled.absorb("new", np.eye(3), np.ones(3))
    assert filled.path.read_bytes() == before


def test_the_previous_generation_comes_back_only_when_asked_for(filled, rng):
    before = filled.model().coef_
    filled.absorb("last", rng.normal(size=(9, 3)), rng.normal(size=9))
    with pytest.raises(StoreError, match="intact: there is nothing to restore"):
        store.restore_previous(filled.path)
    altered(filled.path, "UPDATE blocks SET data = x'' WHERE id >= (SELECT max(number) FROM generations) << 20")
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
    altered(made.path, "UPDATE blocks SET data = zeroblob(length(data) + 8)")
    before = made.path.read_bytes()
    with pytest.raises(StoreError, match="keeps no previous generation"):
        store.restore_previous(made.path)
    assert made.path.read_bytes() == before


def test_a_damaged_previous_generation_is_found_by_check_alone(filled):
    altered(filled.path, "UPDATE blocks SET data = zeroblob(length(data)) WHERE id = (SELECT min(id) FROM blocks)")
    assert np.isfinite(store.open(filled.path).model().coef_).all()
    with pytest.raises(DamagedStoreError, match="the current generation is intact, but the previous one is not"):
        filled.check()


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY])
def test_an_error_that_may_pass_is_no_reason_to_go_back(filled, monkeypatch, code):
    before = filled.path.read_bytes()

    def fail(*arguments):
        error = sqlite3.OperationalError("it may pass")
        error.sqlite_errorcode = code
        monkeypatch.undo()
        raise error

    monkeypatch.setattr(_recovery, "check_ledger", fail)
    with pytest.raises(StoreError, match=r"it may pass|in use by other processes"):
        store.restore_previous(filled.path)
    assert filled.path.read_bytes() == before
    assert len(filled.history()) == 3
