"""Files that the store makes can be read by their owner alone."""

import os
import stat

import numpy as np
import pytest
from runner import CliRunner
from store.tables import task

from ridgeway import store
from ridgeway.cli._commands import commands
from ridgeway.store import _changes


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def open_umask():
    before = os.umask(0o000)
    yield
    os.umask(before)


@pytest.fixture
def wages(tmp_path, rng):
    made = store.create(tmp_path / "wages.rw", features=["a", "b", "c"], target="y")
    made.absorb("one", *task(rng))
    return made


@pytest.mark.parametrize("source_mode", [0o600, 0o644, 0o640])
def test_every_file_that_a_command_makes(wages, tmp_path, source_mode):
    wages.path.chmod(source_mode)
    new = tmp_path / "new"
    new.mkdir()
    X = np.arange(12.0).reshape(4, 3)
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", header="a,b,c", comments="")
    other = store.create(tmp_path / "other.rw", features=["a", "b", "c"], target="y")
    for command in (
        ["init", new / "init.rw", "--features", "a", "--target", "b"],
        ["merge", wages.path, other.path, "--out", new / "merge.rw"],
        ["backup", wages.path, new / "backup.rw"],
        ["export", wages.path, new / "export.safetensors"],
        ["export", wages.path, new / "export.csv"],
        ["import", new / "export.safetensors", new / "import.rw"],
        ["predict", wages.path, tmp_path / "rows.csv", "--out", new / "predict.csv"],
        ["predict", wages.path, tmp_path / "rows.csv", "--out", new / "predict.parquet"],
    ):
        done = CliRunner().invoke(commands, [str(word) for word in command])
        assert done.exit_code == 0, done.stderr
        assert {path.name: oct(mode(path)) for path in new.iterdir()} == dict.fromkeys(os.listdir(new), "0o600")
    assert len(list(new.iterdir())) == 8
    assert mode(wages.path) == source_mode


def test_a_file_keeps_its_mode_and_its_journal_has_the_same(wages, rng, monkeypatch):
    seen, real = [], _changes._read_back

    def watching(*args):
        seen.append(mode(wages.path.with_name("wages.rw-journal")))
        return real(*args)

    monkeypatch.setattr(_changes, "_read_back", watching)
    for chosen in (0o600, 0o640):
        wages.path.chmod(chosen)
        wages.absorb(str(chosen), *task(rng))
        assert seen.pop() == mode(wages.path) == chosen


def test_a_file_is_private_while_it_is_written(tmp_path, monkeypatch):
    seen, real = [], _changes._read_back

    def watching(*args):
        seen.extend(mode(path) for path in tmp_path.iterdir())
        return real(*args)

    monkeypatch.setattr(_changes, "_read_back", watching)
    store.create(tmp_path / "new.rw", features=["a"], target="y")
    assert seen == [0o600, 0o600]  # the file and its journal
