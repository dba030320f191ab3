"""Atomic writes: complete or not there, whatever happens in between."""

import os
import stat
from pathlib import Path

import pytest

from ridgeway import _files
from ridgeway._files import atomic_file, atomic_folder, atomic_path


def everything(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_file_appears_complete_and_is_replaced(tmp_path):
    for content in (b"one", b"two"):
        with atomic_file(tmp_path / "a.npz") as file:
            file.write(content)
            file.flush()
            assert not list(tmp_path.glob("*.npz")) or content == b"two"
        assert everything(tmp_path) == {"a.npz": content}


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_after_a_failure_the_old_file_is_there_and_nothing_else(tmp_path, error):
    (tmp_path / "a").write_bytes(b"old")

    def fail(write):
        with write as target:
            (target / "b" if target.is_dir() else target).write_bytes(b"half")
            raise error

    with pytest.raises(type(error)):
        fail(atomic_path(tmp_path / "a"))
    with pytest.raises(type(error)):
        fail(atomic_path(tmp_path / "new", replace=False))
    with pytest.raises(type(error)):
        fail(atomic_folder(tmp_path / "folder"))
    assert everything(tmp_path) == {"a": b"old"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]


def test_a_name_that_is_taken_is_refused_also_at_the_last_moment(tmp_path):
    for _ in range(2):
        with pytest.raises(FileExistsError), atomic_path(tmp_path / "a", replace=False):
            (tmp_path / "a").write_bytes(b"theirs")
    assert everything(tmp_path) == {"a": b"theirs"}


def test_a_file_system_without_links(tmp_path, monkeypatch):
    """An empty file takes the name first, and gives it back if the file cannot have it."""
    monkeypatch.setattr(os, "link", refused)
    for _ in range(2):
        with pytest.raises(FileExistsError), atomic_path(tmp_path / "a", replace=False):
            (tmp_path / "a").write_bytes(b"theirs")
    with atomic_path(tmp_path / "b", replace=False) as temporary:
        temporary.write_bytes(b"ours")
    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(PermissionError), atomic_path(tmp_path / "c", replace=False):
        pass
    assert everything(tmp_path) == {"a": b"theirs", "b": b"ours"}


def refused(*_):
    raise PermissionError(1, "Operation not permitted")


def test_files_and_folders_have_the_permissions_of_the_user(tmp_path):
    before = os.umask(0o027)
    try:
        with atomic_path(tmp_path / "a") as temporary:
            temporary.unlink()
            temporary.touch(mode=0o600)
        with atomic_folder(tmp_path / "b") as folder:
            (folder / "c").touch()
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "b", "b/c")]
    assert modes == [0o640, 0o750, 0o640]


def test_file_and_folder_are_synced(tmp_path, monkeypatch):
    synced = []
    real = os.fsync
    monkeypatch.setattr(
        _files.os, "fsync", lambda number: synced.append(os.readlink(f"/proc/self/fd/{number}")) or real(number)
    )
    with atomic_path(tmp_path / "a") as temporary:
        pass
    assert synced == [str(temporary), str(tmp_path)]
    synced.clear()
    with atomic_folder(tmp_path / "b") as folder:
        (folder / "c").touch()
    assert synced == [str(folder / "c"), str(tmp_path)]


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    for name in ("one", "two"):
        with atomic_folder(tmp_path / "r") as folder:
            (folder / name).write_bytes(b"x")
        assert everything(tmp_path) == {f"r/{name}": b"x"}


def test_a_folder_that_cannot_be_replaced_stays(tmp_path, monkeypatch):
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "old").touch()
    real = Path.rename

    def rename(self, target):
        if (self / "new").exists():
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(OSError, match="No space left"), atomic_folder(tmp_path / "r") as folder:
        (folder / "new").touch()
    assert everything(tmp_path) == {"r/old": b""}
    assert list(tmp_path.iterdir()) == [tmp_path / "r"]
