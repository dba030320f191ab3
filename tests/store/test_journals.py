"""A journal is rolled back into the file that it was written for, and into no other."""

import os
import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from runner import CliRunner
from store.tables import task

from ridgeway import store
from ridgeway.cli._commands import commands
from ridgeway.errors import StoreError
from ridgeway.store import _changes, _connection, _journal

MAGIC = bytes.fromhex("d9d505f920a163d7")


@pytest.fixture
def wages(tmp_path, rng):
    made = store.create(tmp_path / "wages.rw", features=["a", "b", "c"], target="y")
    made.absorb("one", *task(rng))
    made.absorb("two", *task(rng))
    return made


def journal(path):
    return path.with_name(f"{path.name}-journal")


@pytest.fixture
def kill(rng, monkeypatch):
    """Leave a file and its journal as a writer does that is killed in the middle of its transaction."""

    def killed(opened):
        left = {}

        def read_back(*_):
            left.update({path: path.read_bytes() for path in (opened.path, journal(opened.path))})
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(_changes, "_read_back", read_back)
            patch.setitem(_connection.SETTINGS, "cache_size", 1)
            with pytest.raises(KeyboardInterrupt):
                opened.absorb("killed", *task(rng))
        for path, content in left.items():
            path.write_bytes(content)
        assert journal(opened.path).read_bytes()[:8] == MAGIC

    return killed


@pytest.fixture
def killed(wages, kill):
    kill(wages)
    return wages


def ids(path):
    return [record.task_id for record in store.open(path).history()]


def answers_nothing(path, tmp_path):
    """Every call and command is refused, and changes neither the file nor the journal."""
    before = path.read_bytes(), journal(path).read_bytes()
    for call in (store.open, store.restore_previous):
        with pytest.raises(StoreError, match=r"wages\.rw-journal does not belong to .*wages\.rw.*[Mm]ove it"):
            call(path)
    for command in ("check", "show", "history", "backup", "export", "merge"):
        arguments = {
            "backup": [tmp_path / "new.rw"],
            "export": [tmp_path / "new.csv"],
            "merge": [path, "--out", tmp_path / "new.rw"],
        }
        done = CliRunner().invoke(commands, [command, str(path), *map(str, arguments.get(command, ()))])
        assert done.exit_code == 2
        assert "does not belong" in done.stderr
    assert (path.read_bytes(), journal(path).read_bytes()) == before
    assert not list(tmp_path.glob("new.*"))


def test_a_journal_is_rolled_back_into_its_own_file(killed):
    assert ids(killed.path) == ["one", "two"]
    assert not journal(killed.path).exists()
    killed.check()


def test_no_file_is_made_beside_a_journal(killed, tmp_path, rng):
    """The file was moved away without its journal; the name is free, but what is made there would be spoilt."""
    moved = killed.path.rename(tmp_path / "moved.rw")
    other = store.create(tmp_path / "other.rw", features=["a", "b", "c"], target="y")
    other.absorb("other", *task(rng))
    other.export(tmp_path / "other.safetensors")
    empty = store.create(tmp_path / "empty.rw", features=["a", "b", "c"], target="y")
    for call in (
        lambda: store.create(killed.path, features=["a"], target="y"),
        lambda: store.import_arrays(tmp_path / "other.safetensors", killed.path),
        lambda: other.merge(empty, killed.path),
        lambda: other.backup(killed.path),
    ):
        with pytest.raises(StoreError, match=r"wages\.rw-journal exists.*without its file"):
            call()
    assert not killed.path.exists()
    journal(killed.path).rename(journal(moved))
    assert ids(moved) == ["one", "two"]


def test_another_file_beside_a_journal(killed, tmp_path, rng):
    other = store.create(tmp_path / "other.rw", features=["a", "b", "c"], target="y")
    for name in ("x", "y", "z"):
        other.absorb(name, *task(rng))
    killed.path.rename(tmp_path / "moved.rw")
    other.path.rename(killed.path)
    answers_nothing(killed.path, tmp_path)
    journal(killed.path).rename(tmp_path / "moved.rw-journal")
    assert ids(killed.path) == ["x", "y", "z"]
    assert ids(tmp_path / "moved.rw") == ["one", "two"]


@pytest.mark.parametrize("generations", [-1, 0, 1, 2])
def test_a_copy_beside_a_journal(wages, kill, tmp_path, rng, generations):
    """A copy of the same file with other tasks: one before, as many as, one more and two more than the file had."""
    copy = tmp_path / "copy.rw"
    shutil.copy2(wages.path, copy)
    opened = store.open(copy)
    for number in range(generations + 1):
        opened.absorb(f"here {number}", *task(rng))
    wages.absorb("three", *task(rng))
    kill(wages)
    shutil.copyfile(copy, wages.path)
    answers_nothing(wages.path, tmp_path)
    journal(wages.path).unlink()
    assert ids(wages.path) == ["one", "two", *(f"here {number}" for number in range(generations + 1))]


@pytest.mark.parametrize("links", [(6, 6), (6, 7), (2**32 - 1, 0), (0x00010002, 0x00020009)])
def test_links_that_fit(links):
    """The last pair is ours; a restored file has one more, and a file whose links SQLite refuses has the same."""
    one, two = links
    before, after = _journal.FirstPage("id", 3, one), _journal.FirstPage("id", 4, two)
    assert after.follows(before)
    assert not before.follows(after)
    assert not after._replace(file_id="other").follows(before)
    assert not after._replace(generation=5).follows(before)
    assert not after._replace(link=0x00030009).follows(before)


def test_the_copy_that_a_backup_made_is_not_the_file_either(wages, kill, tmp_path, rng):
    """Two backups of diverging files, at the same generation."""
    shutil.copy2(wages.path, tmp_path / "branch.rw")
    branch = store.open(tmp_path / "branch.rw")
    branch.absorb("there", *task(rng))
    wages.absorb("here", *task(rng))
    branch.backup(tmp_path / "there.rw")
    wages.backup(tmp_path / "here.rw")
    os.replace(tmp_path / "here.rw", wages.path)
    kill(store.open(wages.path))
    os.replace(tmp_path / "there.rw", wages.path)
    answers_nothing(wages.path, tmp_path)


def header(records, pages, page_bytes=65536):
    return MAGIC + struct.pack(">IIIII", records, 7, pages, 512, page_bytes) + bytes(512 - 28)


def test_a_journal_of_which_nothing_was_synced(wages, tmp_path):
    """SQLite plays none of its pages back, but cuts the file to the size that the journal names."""
    before = wages.path.read_bytes()
    pages = len(before) // 65536
    for content in (header(0, pages - 1), header(0, pages + 1), header(0, pages, 32768), header(1, pages)):
        journal(wages.path).write_bytes(content)
        answers_nothing(wages.path, tmp_path)
    for content in (header(0, pages), b"", bytes(4096), b"not a journal" * 99, header(1, pages)[:100]):
        journal(wages.path).write_bytes(content)
        assert ids(wages.path) == ["one", "two"]
        assert wages.path.read_bytes() == before


def test_a_journal_that_names_a_super_journal(killed, tmp_path):
    """SQLite may delete the file that it names, even if the rest of the journal is unreadable."""
    victim = tmp_path / "victim"
    name = os.fsencode(victim)
    end = struct.pack(">I", 2**30 // 65536 + 1) + name + struct.pack(">II", len(name), sum(name)) + MAGIC
    for content in (journal(killed.path).read_bytes(), b"not a journal" * 99, b"short"):
        victim.write_bytes(b"/no/such/journal\0")
        journal(killed.path).write_bytes(content + end)
        answers_nothing(killed.path, tmp_path)
        assert victim.exists()
    with closing(sqlite3.connect(killed.path)) as connection:
        connection.execute("PRAGMA schema_version")
    assert not victim.exists()


def test_a_journal_that_is_not_a_file(wages):
    os.mkfifo(journal(wages.path))
    with pytest.raises(StoreError, match=r"wages\.rw-journal is not a regular file"):
        wages.history()


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_a_write_ahead_log_is_refused(wages, tmp_path, suffix):
    """SQLite reads pages from a log that it finds, whatever the file says."""
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE x (y)")
        shutil.copyfile(tmp_path / f"other.db{suffix}", f"{wages.path}{suffix}")
    before = wages.path.read_bytes()
    with pytest.raises(StoreError, match=rf"wages\.rw{suffix} .*write-ahead log"):
        wages.history()
    Path(f"{wages.path}{suffix}").rename(tmp_path / f"new.rw{suffix}")
    with pytest.raises(StoreError, match=rf"new\.rw{suffix} exists"):
        store.create(tmp_path / "new.rw", features=["a"], target="y")
    assert wages.path.read_bytes() == before
    assert ids(wages.path) == ["one", "two"]


def test_a_file_that_a_writer_changes_meanwhile_has_a_journal_of_its_own(wages, rng, monkeypatch):
    """Between the look at the journal and the look at the file, the writer may have gone on."""
    looks, real = [], _journal.first_page

    def slow(path):
        looks.append(path)
        if len(looks) == 1:
            journal(path).write_bytes(b"")
            wages.absorb("meanwhile", *task(rng))
        return real(path)

    other = store.create(wages.path.with_name("other.rw"), features=["a"], target="y")
    journal(wages.path).write_bytes(header(1, 1) + struct.pack(">I", 1) + other.path.read_bytes()[:65536] + bytes(4))
    monkeypatch.setattr(_journal, "first_page", slow)
    assert ids(wages.path) == ["one", "two", "meanwhile"]
    assert np.isfinite(wages.model().coef_).all()


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
def test_no_file_is_made_under_the_name_of_a_journal(wages, suffix):
    path = wages.path.with_name(f"{wages.path.name}{suffix}")
    for make in (lambda: store.create(path, features=["a"], target="y"), lambda: wages.backup(path)):
        with pytest.raises(StoreError, match="Choose a name like"):
            make()
    assert os.listdir(path.parent) == ["wages.rw"]


def test_a_state_file_under_the_name_of_a_journal_is_not_deleted(wages, rng):
    other = store.create(wages.path.with_name("other.rw"), features=["a"], target="y").path
    content = other.read_bytes()
    other.rename(journal(wages.path))
    with pytest.raises(StoreError, match="does not belong to"):
        wages.absorb("three", *task(rng))
    with pytest.raises(StoreError, match="does not belong to"):
        wages.model()
    assert journal(wages.path).read_bytes() == content
