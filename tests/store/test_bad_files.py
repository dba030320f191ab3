"""Folders, disks and files that a state file cannot live with, and settings that none can have."""

import os
import pickle
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ridgeway import store
from ridgeway.errors import (
    DamagedStoreError,
    InvalidParameterError,
    StoreError,
)
from ridgeway.store import _generations

AS_ANOTHER_USER = """
import os, sys, tempfile, numpy as np
from ridgeway import store
from ridgeway.errors import StoreError

def absorb(path):
    store.open(path).absorb("new", np.eye(3)[:, :2], np.ones(3))

with tempfile.TemporaryDirectory() as folder:  # all that is imported late is imported before the rights are gone
    store.create(f"{folder}/x.rw", features=["a", "b"], target="c")
    absorb(f"{folder}/x.rw")
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    print(store.open(sys.argv[1]).history())
    absorb(sys.argv[1])
except StoreError as error:
    print("refused:", error)
"""


def test_read_only_folder(wages):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "wages.rw"
        path.write_bytes(wages.path.read_bytes())
        before = path.read_bytes()
        for mode, words in ((0o666, "folder cannot be read or written"), (0o444, "is not writable")):
            path.chmod(mode)
            folder.chmod(0o555)
            command = [sys.executable, "-c", AS_ANOTHER_USER, str(path)]
            done = subprocess.run(command, capture_output=True, text=True)
            assert "task_id='first'" in done.stdout, done.stderr
            assert "refused:" in done.stdout, done.stderr
            assert words in done.stdout
            assert path.read_bytes() == before
            folder.chmod(0o755)


FILL = """
import sys, numpy as np
from ridgeway import store
from ridgeway.errors import StoreError

opened = store.open(sys.argv[1])
try:
    for i in range(500):
        opened.absorb("x" * 190 + str(i), i + np.eye(3)[:, :2], np.ones(3))
        print("absorbed")
except StoreError as error:
    print("refused:", error)
"""


def test_full_disk(wages):
    """A limit on the size of files stands in for the disk: a write fails midway all the same."""
    before = wages.path.read_bytes()

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before), len(before)))

    command = [sys.executable, "-c", FILL, str(wages.path)]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    assert "refused:" in done.stdout, done.stdout + done.stderr
    assert "Nothing was changed" in done.stdout
    assert len(store.open(wages.path).history()) == 1 + done.stdout.count("absorbed\n")
    wages.check()


def test_symlink(wages, tmp_path):
    link = tmp_path / "link.rw"
    link.symlink_to(wages.path)
    before = wages.path.read_bytes()
    for call in (
        lambda: store.open(link),
        lambda: store.restore_previous(link),
        lambda: store.create(link, features=["a"], target="b"),
    ):
        with pytest.raises(StoreError, match=r"symbolic link|exists already"):
            call()
    (tmp_path / "wages.rw-journal").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match=r"wages\.rw-journal is a symbolic link"):
        wages.history()
    assert wages.path.read_bytes() == before
    assert not (tmp_path / "elsewhere").exists()


def test_a_pickle_a_zip_and_another_database_named_rw(tmp_path):
    marker = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return (os.mkdir, (str(marker),))

    (tmp_path / "pickle.rw").write_bytes(pickle.dumps(Evil()) + bytes(4096))
    with zipfile.ZipFile(tmp_path / "zip.rw", "w") as archive:
        archive.writestr("state", "x" * 4096)
    for name in ("pickle.rw", "zip.rw"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(StoreError, match="is not a state file") as caught:
            store.open(tmp_path / name)
        assert not isinstance(caught.value, DamagedStoreError)
        assert (tmp_path / name).read_bytes() == before
    assert not marker.exists()
    with closing(sqlite3.connect(tmp_path / "other.rw")) as connection:
        connection.execute("CREATE TABLE head (x)")
    with pytest.raises(StoreError, match="not a Ridgeway state file"):
        store.open(tmp_path / "other.rw")


def test_not_a_file(tmp_path):
    with pytest.raises(StoreError, match="not a regular file"):
        store.open(tmp_path)
    with pytest.raises(StoreError, match="there is no state file"):
        store.open(tmp_path / "none.rw")
    (tmp_path / "empty.rw").touch()
    with pytest.raises(StoreError, match="is empty"):
        store.open(tmp_path / "empty.rw")
    for path in ("", "a\0b", 7, None):
        with pytest.raises(StoreError, match="is not a file path"):
            store.open(path)
    with pytest.raises(StoreError, match="does not exist"):
        store.create(tmp_path / "none" / "x.rw", features=["a"], target="b")
    with pytest.raises(StoreError, match="cannot be reached"):
        store.open(tmp_path / ("x" * 300))


def test_a_state_beyond_the_memory_budget(wages, monkeypatch, tmp_path):
    before = wages.path.read_bytes()
    monkeypatch.setattr(_generations, "MEMORY_BUDGET", 50)
    with pytest.raises(StoreError, match="beyond the budget of 50"):
        store.open(wages.path)
    with pytest.raises(StoreError, match="beyond the budget of 50"):
        wages.absorb("new", np.eye(2), np.ones(2))
    monkeypatch.undo()
    assert wages.path.read_bytes() == before
    with pytest.raises(InvalidParameterError, match="beyond the budget"):
        store.create(tmp_path / "wide.rw", features=map(str, range(30_000)), target="y")
    assert not (tmp_path / "wide.rw").exists()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"features": "age", "target": "y"}, "list of names"),
        ({"features": [], "target": "y"}, "at least one feature"),
        ({"features": ["a"], "target": []}, "at least one feature and one target"),
        ({"features": ["a", "a"], "target": "y"}, "duplicate column names: 'a'"),
        ({"features": ["a"], "target": "a"}, "duplicate column names: 'a'"),
        ({"features": ["a"], "target": "y", "weight_column": "y"}, "duplicate column names: 'y'"),
        ({"features": ["a\n"], "target": "y"}, "control characters"),
        ({"features": [""], "target": "y"}, "needs a name"),
        ({"features": [3], "target": "y"}, "needs a name"),
        ({"features": ["a"], "target": "y", "information": "both"}, "information must be one of"),
        ({"features": ["a"], "target": "y", "fit_intercept": 1}, "must be True or False"),
        ({"features": ["a"], "target": "y", "prior": -1.0}, "prior"),
        ({"features": ["a"], "target": "y", "prior": "evidence"}, "needs a fixed prior"),
    ],
)
def test_settings(tmp_path, options, match):
    with pytest.raises(InvalidParameterError, match=match):
        store.create(tmp_path / "x.rw", **options)
    assert not list(tmp_path.iterdir())
