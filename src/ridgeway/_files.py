"""Files and folders that are either complete or not there at all."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

TEMPORARY = ".ridgeway-"
"""Prefix of the names of files that are being written."""
PRIVATE = 0o600
"""The mode of a file that only its owner can read."""


@contextmanager
def atomic_path(path: Path, *, replace: bool = True, mode: int = 0o666) -> Iterator[Path]:
    """Yield a temporary path to write to, which becomes `path` once it is complete and on disk.

    If anything fails, nothing is left and an older file stays.

    Parameters
    ----------
    path : Path
    replace : bool, default True
        Whether an existing file is replaced; if not, `FileExistsError` is raised.
    mode : int, default 0o666
        The permissions of the file, less those that the umask of the process takes away.
    """
    if not replace and os.path.lexists(path):
        raise FileExistsError(17, "File exists", str(path))
    temporary = _temporary(path)
    try:
        temporary.touch(mode, exist_ok=False)
        mode = temporary.stat().st_mode
        yield temporary
        temporary.chmod(mode)
        _sync(temporary)
        if replace:
            temporary.replace(path)
        else:
            give_name(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink()
    with suppress(OSError):
        sync_folder(path)


@contextmanager
def atomic_file(path: Path, *, replace: bool = True) -> Iterator[BinaryIO]:
    """Yield a file to write to, which becomes `path` as in `atomic_path`."""
    with atomic_path(path, replace=replace) as temporary, temporary.open("wb") as file:
        yield file


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill, which takes the place of `folder` once it is complete and on disk."""
    temporary, old = _temporary(folder), _temporary(folder)
    try:
        temporary.mkdir()
        yield temporary
        for path in temporary.rglob("*"):
            if path.is_file():
                _sync(path)
        if folder.exists():
            folder.rename(old)
        try:
            temporary.rename(folder)
        except OSError:
            if old.exists():
                old.rename(folder)
            raise
    finally:
        for left in (temporary, old):
            shutil.rmtree(left, ignore_errors=True)
    with suppress(OSError):
        sync_folder(folder)


def sync_folder(path: Path) -> None:
    """Make the names in the folder of a file durable."""
    _sync(path.parent)


def give_name(temporary: Path, path: Path) -> None:
    """Give a file another name; raise `FileExistsError` if that is taken.

    If the file system has no links, an empty file takes the name first. A crash may leave it there.
    """
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
        try:
            temporary.replace(path)
        except OSError:
            path.unlink()
            raise


def _temporary(path: Path) -> Path:
    return path.with_name(f"{TEMPORARY}{path.name}.{secrets.token_hex(6)}")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
