"""The share of a part that one process runs, and where."""

import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SOON = 0.25


@dataclass
class Job:
    """One lane's share of a part.

    Attributes
    ----------
    folder : where to work
    times : how many times all lanes run together
    seed, lane, lanes : what the random numbers, and so the failing cases, depend on
    """

    folder: Path
    times: int
    seed: int = 1
    lane: int = 0
    lanes: int = 1
    _done: int = field(default=0, init=False)
    _told: float = field(default=0.0, init=False)

    @property
    def share(self) -> int:
        """How many times this lane runs."""
        return len(range(self.lane, self.times, self.lanes))

    @property
    def has_controls(self) -> bool:
        """Whether this lane also runs the broken stores: the first one does."""
        return self.lane == 0

    def rng(self, *more: int) -> np.random.Generator:
        """Return the random numbers of this lane."""
        return np.random.default_rng([self.seed, self.lane, *more])

    def place(self, name: str) -> Path:
        """Return a new folder to work in."""
        place = self.folder / name
        place.mkdir(parents=True)
        return place

    def advance(self, steps: int = 1) -> None:
        """Record progress, for whoever watches."""
        self._done += steps
        if time.monotonic() - self._told > SOON:
            self._told = time.monotonic()
            progress_file(self.folder).write_text(str(self._done))


def progress_file(folder: Path) -> Path:
    """Return the file in which a lane records its progress."""
    return folder / "progress"
