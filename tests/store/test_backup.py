"""docs/how-to/back-up.md: a copy is complete, checked and private, or not there; and what to do after a crash."""

import shutil
import sqlite3
from contextlib import closing

import pytest
from runner import CliRunner
from store.tables import same, task

from ridgeway import store
from ridgeway.cli._commands import commands
from ridgeway.errors import DamagedStoreError, StoreError
from ridgeway.store import _connection, _recovery


@pytest.fixture
def wages(tmp_path, kind, rng):
    made = store.create(tmp_path / "wages.rw", features=["a", "b", "c"], target="y", information=kind)
    for name in ("one", "two"):
        made.absorb(name, *task(rng))
    return made


def altered(path, sql):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(sql)


def test_a_copy_is_the_same_file_at_another_place(wages, tmp_path, rng):
    before = wages.path.read_bytes()
    health = wages.backup(tmp_path / "copy.rw")
    assert health == wages.check()
    copy = store.open(tmp_path / "copy.rw")
    assert copy.check() == health
    assert (copy.file_id, copy.schema) == (wages.file_id, wages.schema)
    assert copy.ledger() == wages.ledger()
    assert same(copy.model(), wages.model())
    assert wages.path.read_bytes() == before
    assert not copy.absorb("three", *task(rng)).already
    assert wages.path.read_bytes() == before


def test_a_copy_can_be_made_while_a_writer_is_busy(wages, tmp_path):
    with _connection.transaction(wages.path, write=True, timeout=1.0) as connection:
        connection.execute("DELETE FROM ledger")
        assert wages.backup(tmp_path / "copy.rw").n_tasks == 2


def test_no_file_is_replaced(wages, tmp_path):
    (tmp_path / "copy.rw").write_bytes(b"precious")
    for path in (tmp_path / "copy.rw", wages.path):
        with pytest.raises(StoreError, match="exists already"):
            wages.backup(path)
    with pytest.raises(StoreError, match="does not exist"):
        wages.backup(tmp_path / "none" / "copy.rw")
    assert (tmp_path / "copy.rw").read_bytes() == b"precious"


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE blocks SET data = x'' WHERE id = (SELECT max(id) FROM blocks)",  # the current generation
        "UPDATE blocks SET data = x'' WHERE id = (SELECT min(id) FROM blocks)",  # the one before
    ],
)
def test_a_damaged_file_is_not_copied(wages, tmp_path, sql):
    altered(wages.path, sql)
    with pytest.raises(DamagedStoreError):
        wages.backup(tmp_path / "copy.rw")
    assert [path.name for path in tmp_path.iterdir()] == ["wages.rw"]


def test_a_copy_that_is_not_what_was_copied_is_not_kept(wages, tmp_path, monkeypatch):
    """The copy is checked, not the file."""
    monkeypatch.setattr(_recovery, "set_link", lambda copy, _: copy.execute("DELETE FROM blocks"))
    with pytest.raises(DamagedStoreError):
        wages.backup(tmp_path / "copy.rw")
    assert [path.name for path in tmp_path.iterdir()] == ["wages.rw"]
    wages.check()


def test_a_full_disk_is_that_of_the_copy(wages, tmp_path, monkeypatch):
    def full(*_):
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr(_recovery, "set_link", full)
    with pytest.raises(StoreError, match=r"the disk is full: .*copy\.rw could not be written"):
        wages.backup(tmp_path / "copy.rw")
    assert [path.name for path in tmp_path.iterdir()] == ["wages.rw"]


def test_the_command(wages, tmp_path):
    arguments = ["backup", str(wages.path), str(tmp_path / "copy.rw")]
    done = CliRunner().invoke(commands, arguments)
    assert done.exit_code == 0
    assert done.stdout.endswith(f"copy.rw: an intact copy of {wages.path}. 2 tasks, 40 rows\n")
    done = CliRunner().invoke(commands, arguments)
    assert done.exit_code == 2
    assert "exists already" in done.stderr


def test_restoring_after_a_crash(wages, tmp_path, rng):
    """The steps of docs/how-to/back-up.md: move the damaged file away with its journal, and copy the backup."""
    wages.backup(tmp_path / "copy.rw")
    wages.absorb("three", *task(rng))
    altered(wages.path, "UPDATE blocks SET data = x''")
    journal = wages.path.with_name("wages.rw-journal")
    journal.write_bytes(b"what a crash left")
    (tmp_path / "damaged").mkdir()
    for path in (wages.path, journal):
        shutil.move(path, tmp_path / "damaged")
    store.open(tmp_path / "copy.rw").backup(wages.path)
    back = store.open(wages.path)
    assert [record.task_id for record in back.history()] == ["one", "two"]
    back.check()
