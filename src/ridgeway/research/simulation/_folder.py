"""A run on disk: its description, the finished batches, and finally the tables.

::

    run.json              setting, methods, repetitions, seed, averaging, version: written first
    parts/000007.npz      batch 7, written atomically when it is finished; removed once the tables exist
    results.parquet, directions.parquet
"""

import json
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ridgeway._files import TEMPORARY, atomic_file
from ridgeway.errors import RunFolderError
from ridgeway.research.simulation._results import TABLE, Description, RepetitionErrors, Results

DESCRIPTION, PARTS = "run.json", "parts"


def entries_of(folder: Path) -> list[str]:
    """Return the names in a folder, sorted and without temporary files; none if there is no such folder."""
    try:
        return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith(TEMPORARY))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunFolderError(f"{folder} cannot be used as a folder: {error.strerror}. Choose another.") from None


class RunFolder:
    """The folder of one run; `open` creates it or continues it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def open(cls, path: str | Path, description: Description, *, resume: bool) -> "RunFolder":
        """Return the folder for a new or continued run, or raise and leave the disk unchanged."""
        folder = Path(path)
        if not str(path):
            raise RunFolderError("the name of the folder is empty. Pass a name.")
        entries = entries_of(folder)
        if not entries:
            return cls._made(folder, description)
        if DESCRIPTION not in entries:
            raise RunFolderError(f"{folder} contains something else ({entries[0]}). Choose a new or empty folder.")
        if not resume:
            raise RunFolderError(
                f"{folder} already contains a run. Continue it with --resume, or choose another folder."
            )
        _check_same(_described(folder), description, folder)
        return cls(folder)

    @classmethod
    def _made(cls, folder: Path, description: Description) -> "RunFolder":
        made = folder / PARTS  # removed again if the first write fails
        while not made.parent.exists():
            made = made.parent
        try:
            (folder / PARTS).mkdir(parents=True)
            with atomic_file(folder / DESCRIPTION) as file:
                file.write(json.dumps(description.as_dict(), indent=1, sort_keys=True).encode())
        except OSError as error:
            shutil.rmtree(made, ignore_errors=True)
            raise RunFolderError(f"cannot write to {folder}: {error.strerror}. Choose another folder.") from None
        return cls(folder)

    @property
    def is_finished(self) -> bool:
        """Whether the tables exist."""
        return (self.path / TABLE).exists()

    def part(self, index: int) -> RepetitionErrors | None:
        """Return a finished batch, or None; a batch that cannot be read counts as missing."""
        try:
            with np.load(self._part_path(index), allow_pickle=False) as arrays:
                return RepetitionErrors(**{name: arrays[name] for name in RepetitionErrors._fields})
        except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
            return None

    def write_part(self, index: int, part: RepetitionErrors) -> None:
        """Write a batch atomically."""
        with self._explained(), atomic_file(self._part_path(index)) as file:
            np.savez(file, **part._asdict())

    def finish(self, results: Results) -> None:
        """Write the tables, then remove the batches."""
        with self._explained():
            results.save(self.path)
        self.tidy()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RunFolderError(
                f"cannot write to {self.path}: {error.strerror or error}. Finished batches are kept: continue with "
                "--resume."
            ) from None

    def tidy(self) -> None:
        """Remove the batches of a finished run, and what an interruption left."""
        shutil.rmtree(self.path / PARTS, ignore_errors=True)
        for left in self.path.glob(f"{TEMPORARY}*"):
            left.unlink(missing_ok=True)

    def _part_path(self, index: int) -> Path:
        return self.path / PARTS / f"{index:06d}.npz"


def _described(folder: Path) -> Description:
    try:
        return Description.from_dict(json.loads((folder / DESCRIPTION).read_bytes()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunFolderError(f"{folder / DESCRIPTION} cannot be read ({error}). Choose another folder.") from None


def _check_same(old: Description, new: Description, folder: Path) -> None:
    """Raise if two descriptions differ."""
    one, two = old.as_dict(), new.as_dict()
    one, two = one | one.pop("setting"), two | two.pop("setting")
    differing = sorted(name for name in one if one[name] != two[name])
    if differing:
        said = ", ".join(
            name if name == "covariance" else f"{name} was {one[name]!r} and is now {two[name]!r}" for name in differing
        )
        raise RunFolderError(
            f"{folder} contains a different run: {said}. Use the old settings, or choose another folder."
        )
