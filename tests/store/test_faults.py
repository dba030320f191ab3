"""What the fault campaign found once, each in a test of its own."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ridgeway import store
from ridgeway.errors import DamagedStoreError, StoreError, UncertainStoreError
from ridgeway.store import _changes, _connection, _new_file, _recovery

X, Y = np.arange(12.0).reshape(6, 2) ** 2, np.arange(6.0)


@pytest.fixture
def made(tmp_path):
    return store.create(tmp_path / "a.rw", features=["a", "b"], target="y")


def broken(*_):
    raise OSError(5, "Input/output error")


def test_already_absorbed_is_said_once_the_folder_is_synced(made, monkeypatch):
    """Whoever absorbed it may have died before the folder was."""
    made.absorb("one", X, Y)
    synced = []
    monkeypatch.setattr(_changes, "sync_folder", synced.append)
    assert made.absorb("one", X, Y).already
    assert synced == [made.path]
    monkeypatch.setattr(_changes, "sync_folder", broken)
    with pytest.raises(StoreError, match="Input/output error"):
        made.absorb("one", X, Y)


def test_a_name_that_cannot_be_read_is_damage(made):
    content = made.path.read_bytes()
    made.path.write_bytes(content.replace(b"ledger (sequence", b"ledger \xffsequence"))
    with pytest.raises(DamagedStoreError, match="names of its tables are unreadable"):
        store.open(made.path)


def test_a_file_not_known_to_last_is_not_made(tmp_path, monkeypatch):
    monkeypatch.setattr(_new_file, "sync_folder", broken)
    with pytest.raises(StoreError, match="Nothing was changed"):
        store.create(tmp_path / "a.rw", features=["a"], target="y")
    assert not list(tmp_path.iterdir())


def test_a_disk_that_fails_for_good_leaves_it_open(tmp_path, monkeypatch):
    monkeypatch.setattr(_new_file, "sync_folder", broken)
    monkeypatch.setattr(Path, "unlink", broken)
    with pytest.raises(UncertainStoreError, match="is not known"):
        store.create(tmp_path / "a.rw", features=["a"], target="y")


def test_a_journal_of_a_temporary_file_is_not_left(tmp_path):
    with _new_file.temporary_file(tmp_path / "t.rw") as temporary:
        for name in (temporary.name, f"{temporary.name}-journal"):
            (tmp_path / name).touch()
    assert not list(tmp_path.iterdir())


def test_a_failed_write_is_undone_at_once(made):
    """A large state is written to the file before the commit; what is there then is undone by who failed."""
    before = made.path.read_bytes()
    kept = made.path.with_name("kept")
    journal = Path(f"{made.path}-journal")

    def fail_halfway():
        with _connection.transaction(made.path, write=True, timeout=1.0) as connection:
            connection.execute("PRAGMA cache_size = 1")
            connection.execute("INSERT INTO blocks VALUES (7, zeroblob(1000000))")
            assert made.path.read_bytes() != before
            kept.write_bytes(journal.read_bytes())
            spoilt = made.path.read_bytes()
            connection.execute("ROLLBACK")
            made.path.write_bytes(spoilt)
            os.replace(kept, journal)
            raise sqlite3.OperationalError("disk I/O error")

    with pytest.raises(StoreError):
        fail_halfway()
    assert made.path.read_bytes() == before
    assert not journal.exists()


@pytest.mark.parametrize("outcome", ["made", "not made", "not made, damaged as before", "unknown"])
def test_a_restoration_that_reports_an_error_is_examined(made, monkeypatch, outcome):
    """The error may come after the point of no return; what is in the file decides."""
    made.absorb("one", X, Y)
    made.absorb("two", X + 1.0, Y)
    damage = "UPDATE blocks SET data = x'' WHERE id >= (SELECT max(number) FROM generations) << 20"
    if outcome.endswith("as before"):
        damage = "UPDATE generations SET root = x'00' WHERE number = 3"
    with closing(sqlite3.connect(made.path, isolation_level=None)) as connection:
        connection.execute(damage)
    before, real = made.path.read_bytes(), _recovery._restore

    def failing(path, timeout, restored):
        if outcome in ("made", "unknown"):
            real(path, timeout, restored)
        else:
            restored.append(SimpleNamespace(root=b"of a copy"))
        raise StoreError("reading or writing failed")

    monkeypatch.setattr(_recovery, "_restore", failing)
    if outcome == "made":
        assert [record.task_id for record in store.restore_previous(made.path).history()] == ["one"]
        return
    if outcome == "unknown":
        monkeypatch.setattr(_changes, "sync_folder", broken)
    with pytest.raises(StoreError) as caught:
        store.restore_previous(made.path)
    assert isinstance(caught.value, UncertainStoreError) == (outcome == "unknown")
    assert (made.path.read_bytes() == before) == (outcome != "unknown")
