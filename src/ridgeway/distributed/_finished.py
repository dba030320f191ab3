"""Finished parts of a task that is not committed yet, in a folder beside the state file."""

import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from ridgeway._files import PRIVATE
from ridgeway.distributed._fixed_tree import Place

NAME = "name"
"""The array of a file that holds the name of the file."""


class FinishedParts:
    """What parts have left, one file for each node of the tree: a second run does only what is missing.

    A file is named after all that its node depends on, and has that name inside, so that it is used only if nothing has
    changed. It is not made durable, but it has checksums: a damaged one is not used. Only its owner can read it.

    Parameters
    ----------
    path : Path
        The state file.
    task : str
        The id of the task.
    keys : sequence of str
        What each part depends on.
    """

    def __init__(self, path: Path, task: str, keys: Sequence[str]) -> None:
        self._all = path.with_name(f"{path.name}.parts")
        self._keys = keys
        self.folder = self._all / hashlib.sha256(task.encode()).hexdigest()[:32]

    def save(self, place: Place, arrays: Mapping[str, Any]) -> None:
        """Keep the arrays of a node, if the disk has room; those below are not needed any more.

        Another run of the same task may clear the folder at any time.
        """
        temporary = self.folder / f"{token_hex(6)}.part"
        try:
            for folder in (self._all, self.folder):
                folder.mkdir(mode=0o700, exist_ok=True)
            path = self._path(place)
            kept: dict[str, Any] = {**arrays, NAME: np.array(path.name)}
            with open(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE), "wb") as file:
                np.savez(file, **kept)
            os.replace(temporary, path)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            return
        if place.level:
            for child in place.children:
                self._path(child).unlink(missing_ok=True)

    def load(self) -> Iterator[tuple[Place, dict[str, Any]]]:
        """Yield the nodes that are kept, the upper ones first."""
        n_parts, known = len(self._keys), set[str]()
        with suppress(OSError):  # another run of the same task may clear the folder at any time
            known.update(os.listdir(self.folder))
        for level in range(n_parts.bit_length(), -1, -1):
            for number in range(-(-n_parts >> level) if known else 0):
                path = self._path(place := Place(level, number))
                if path.name in known:
                    with suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
                        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
                            arrays = dict(found)
                        if str(arrays.pop(NAME)) == path.name:
                            yield place, arrays

    def clear(self) -> None:
        """Delete the parts, and the folder of all tasks if it is empty."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):
            self._all.rmdir()

    def _path(self, place: Place) -> Path:
        digest = hashlib.sha256()
        for leaf in place.leaves(len(self._keys)):
            digest.update(hashlib.sha256(self._keys[leaf].encode()).digest())
        return self.folder / f"{digest.hexdigest()[:32]}.npz"
