"""Files that are there whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["TEMPORARY", "atomic_file"]

TEMPORARY = ".ridgeway-"
"""How the names of files begin that are being written."""


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that takes its name once it is written and on the disk; if anything fails, nothing is left."""
    temporary = path.with_name(f"{TEMPORARY}{path.name}")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Put the new name on the disk as well, where the system lets a folder be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
