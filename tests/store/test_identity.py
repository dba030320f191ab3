"""A state file is one file with one name: one that was replaced, linked or mounted by itself is refused."""

import os
import shutil
import sqlite3

import numpy as np
import pytest
from store.tables import task

from ridgeway import store
from ridgeway.errors import StoreError, UncertainStoreError
from ridgeway.store import _connection


@pytest.fixture
def wages(tmp_path, rng):
    made = store.create(tmp_path / "wages.rw", features=["a", "b", "c"], target="y")
    made.absorb("one", *task(rng))
    return made


def swapped(path, rng):
    """Make a file that has the same features in another order."""
    made = store.create(path, features=["c", "b", "a"], target="y")
    made.absorb("one", *task(rng))
    return path


def copied(wages, rng):
    path = wages.path.with_name("other.rw")
    shutil.copy2(wages.path, path)
    return path


def unrelated(wages, rng):
    return swapped(wages.path.with_name("other.rw"), rng)


CALLS = {
    "absorb": lambda opened, X, y: opened.absorb("two", X, y),
    "repeat": lambda opened, X, y: opened.absorb("one", X, y),
    "remove": lambda opened, X, y: opened.remove("one", X, y),
    "merge": lambda opened, X, y: opened.merge(opened, opened.path.with_name("both.rw")),
    "history": lambda opened, X, y: opened.history(),
    "model": lambda opened, X, y: opened.model(),
    "check": lambda opened, X, y: opened.check(),
    "backup": lambda opened, X, y: opened.backup(opened.path.with_name("both.rw")),
}


@pytest.mark.parametrize("replacement", [copied, unrelated])
@pytest.mark.parametrize("call", CALLS)
def test_a_file_that_was_replaced_before_the_call(wages, rng, call, replacement):
    X, y = task(rng)
    other = replacement(wages, rng)
    os.replace(other, wages.path)
    before = wages.path.read_bytes()
    with pytest.raises(StoreError, match=r"it was replaced\. Open it again"):
        CALLS[call](wages, X, y)
    assert wages.path.read_bytes() == before
    assert sorted(path.name for path in wages.path.parent.iterdir()) == ["wages.rw"]
    assert not store.open(wages.path).absorb("three", X, y).already


@pytest.mark.parametrize("replacement", [copied, unrelated])
@pytest.mark.parametrize("call", ["absorb", "repeat", "remove"])
def test_a_file_that_is_replaced_while_a_writer_waits(wages, rng, monkeypatch, call, replacement):
    """The writer would commit to the file that it has opened, which no longer has a name."""
    X, y = task(rng)
    other, real = replacement(wages, rng), _connection._connect
    before = other.read_bytes()

    def waiting(*args, **options):
        connection = real(*args, **options)
        if other.exists():
            os.replace(other, wages.path)
        return connection

    monkeypatch.setattr(_connection, "_connect", waiting)
    with pytest.raises(StoreError, match=r"it was replaced\. Open it again"):
        CALLS[call](wages, X, y)
    assert wages.path.read_bytes() == before
    assert sorted(path.name for path in wages.path.parent.iterdir()) == ["wages.rw"]


@pytest.mark.parametrize("gone", [False, True])
def test_a_file_that_is_replaced_during_the_commit(wages, rng, monkeypatch, gone):
    other = copied(wages, rng)
    connect = sqlite3.connect

    class Replaced(sqlite3.Connection):
        def execute(self, sql, *values):
            done = super().execute(sql, *values)
            if sql == "COMMIT":
                wages.path.unlink() if gone else os.replace(other, wages.path)
            return done

    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, factory=Replaced, **options))
    with pytest.raises(UncertainStoreError, match=r"is not known whether the change was saved to"):
        wages.absorb("two", *task(rng))


def test_a_commit_that_fails_after_the_file_was_replaced(wages, rng, monkeypatch):
    other = copied(wages, rng)
    connect = sqlite3.connect

    class Failing(sqlite3.Connection):
        def execute(self, sql, *values):
            if sql == "COMMIT":
                os.replace(other, wages.path)
                super().execute(sql, *values)
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(sql, *values)

    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, factory=Failing, **options))
    with pytest.raises(UncertainStoreError, match="it was replaced"):
        wages.absorb("two", *task(rng))


def test_a_file_that_was_renamed_is_opened_under_its_new_name(wages, rng):
    moved = wages.path.rename(wages.path.with_name("moved.rw"))
    with pytest.raises(StoreError, match="there is no state file"):
        wages.absorb("two", *task(rng))
    assert not store.open(moved).absorb("two", *task(rng)).already


# Names ----------------------------------------------------------------------------------------------------------------


def test_a_file_with_two_names_is_refused(wages, rng, tmp_path):
    other = tmp_path / "other.rw"
    os.link(wages.path, other)
    before = wages.path.read_bytes()
    for call in (
        lambda: store.open(wages.path),
        lambda: store.open(other),
        lambda: store.restore_previous(other),
        lambda: wages.absorb("two", *task(rng)),
        wages.history,
    ):
        with pytest.raises(StoreError, match=r"has 2 names \(hard links\).*Remove the other"):
            call()
    assert wages.path.read_bytes() == before
    other.unlink()
    assert not wages.absorb("two", *task(rng)).already


def test_a_name_that_comes_while_a_writer_waits(wages, rng, monkeypatch, tmp_path):
    real, before = _connection._connect, wages.path.read_bytes()

    def waiting(*args, **options):
        connection = real(*args, **options)
        os.link(wages.path, tmp_path / "other.rw")
        return connection

    monkeypatch.setattr(_connection, "_connect", waiting)
    with pytest.raises(StoreError, match="has 2 names"):
        wages.absorb("two", *task(rng))
    assert wages.path.read_bytes() == before


def test_an_unfinished_name_is_found_whatever_the_file_is_called(tmp_path, rng):
    """Brackets and asterisks in a name are not patterns."""
    made = store.create(tmp_path / "a[1]*.rw", features=["a", "b", "c"], target="y")
    os.link(made.path, tmp_path / f".{made.path.name}.0123456789ab.new")
    made.absorb("one", *task(rng))
    assert [path.name for path in tmp_path.iterdir()] == [made.path.name]


# Mounts ---------------------------------------------------------------------------------------------------------------


def mounted(monkeypatch, tmp_path, line, device):
    table = tmp_path / "mounts"
    table.write_text(f"22 27 0:21 / /proc rw,relatime - proc proc rw\nnonsense\n90 1 {device} / {line}\n")
    monkeypatch.setattr(_connection, "MOUNTS", table)


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("/data rw - nfs server:/x rw,vers=3,nolock,local_lock=all", r"nfs, .*\(nolock, local_lock=all\)"),
        ("/data rw - nfs server:/x rw,vers=3,local_lock=posix", r"\(local_lock=posix\)"),
        ("/data rw - cifs //server/x rw,nobrl", r"\(nobrl\)"),
        ("/data rw - fuse.sshfs server:/x rw", r"fuse\.sshfs, whose locks"),
    ],
)
def test_a_file_system_whose_locks_end_at_this_machine(wages, rng, monkeypatch, tmp_path, line, match):
    number = wages.path.stat().st_dev
    mounted(monkeypatch, tmp_path, line, f"{os.major(number)}:{os.minor(number)}")
    before = wages.path.read_bytes()
    for call in (
        lambda: store.open(wages.path),
        lambda: store.create(tmp_path / "new.rw", features=["a"], target="y"),
    ):
        with pytest.raises(StoreError, match=match):
            call()
    assert wages.path.read_bytes() == before
    assert not (tmp_path / "new.rw").exists()


@pytest.mark.parametrize("line", ["/data rw - nfs4 server:/x rw,vers=4.2,local_lock=none", "/data rw - ext4 /dev/x rw"])
def test_a_file_system_whose_locks_are_shared(wages, monkeypatch, tmp_path, line):
    number = wages.path.stat().st_dev
    mounted(monkeypatch, tmp_path, line, f"{os.major(number)}:{os.minor(number)}")
    assert len(store.open(wages.path).history()) == 1


def test_a_file_that_is_mounted_by_itself(wages, monkeypatch, tmp_path):
    """Its journal would be in a folder that others do not see."""
    mounted(monkeypatch, tmp_path, f"{wages.path} rw - ext4 /dev/x rw", "8:1")
    with pytest.raises(StoreError, match=r"is a mount point.*Mount its folder"):
        store.open(wages.path)
    monkeypatch.setattr(_connection, "MOUNTS", tmp_path / "none")
    assert len(store.open(wages.path).history()) == 1


# File systems without links -------------------------------------------------------------------------------------------


def no_links(*_, **__):
    raise PermissionError(1, "Operation not permitted")


def test_a_file_system_without_links(wages, rng, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "link", no_links)
    made = store.create(tmp_path / "made.rw", features=["a", "b", "c"], target="y")
    assert not made.absorb("two", *task(rng)).already
    assert made.merge(wages, tmp_path / "both.rw").check().n_tasks == 2
    wages.export(tmp_path / "coefficients.csv")
    for call in (
        lambda: store.create(made.path, features=["z"], target="y"),
        lambda: wages.export(tmp_path / "coefficients.csv"),
    ):
        with pytest.raises(StoreError, match="exists already"):
            call()
    names = ["both.rw", "coefficients.csv", "made.rw", "wages.rw"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert np.isfinite(made.model().coef_).all()


def test_two_that_make_the_same_file_without_links(monkeypatch, tmp_path):
    """The second one finds the name taken, although nothing is there when it begins."""
    path, lexists = tmp_path / "made.rw", os.path.lexists
    monkeypatch.setattr(os, "link", no_links)
    first = store.create(path, features=["a"], target="y")
    monkeypatch.setattr(os.path, "lexists", lambda name: name != path and lexists(name))
    with pytest.raises(StoreError, match="exists already"):
        store.create(path, features=["b"], target="y")
    assert store.open(path).file_id == first.file_id
