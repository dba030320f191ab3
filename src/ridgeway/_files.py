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


@contextmanager
def atomic_path(path: Path, *, replace: bool = True) -> Iterator[Path]:
    """Yield a temporary path to write to, which becomes `path` once it is complete and on disk.

    If anything fails, nothing is left and an older file stays. The file gets the permissions that new files of the
    user get.

    Parameters
    ----------
    path : Path
    replace : bool, default True
        Whether an existing file is replaced; if not, `FileExistsError` is raised.
    """
    if not replace and os.path.lexists(path):
        raise FileExistsError(17, "File exists", str(path))
    temporary = _temporary(path)
    try:
        temporary.touch(exist_ok=False)
        mode = temporary.stat().st_mode
        yield temporary
        temporary.chmod(mode)
        _sync(temporary)
        if replace or not _linked(temporary, path):
            temporary.replace(path)
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


def _temporary(path: Path) -> Path:
    return path.with_name(f"{TEMPORARY}{path.name}.{secrets.token_hex(6)}")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _linked(temporary: Path, path: Path) -> bool:
    """Give a file its name, if that is still free; return False if the file system has no links."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True
