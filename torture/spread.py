"""How writers absorb a task: from memory, or from several files through a Dask cluster of their own."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol
from unittest import mock

import numpy as np

from ridgeway import distributed, store
from ridgeway.distributed._local import QUIET
from ridgeway.store import Absorbed, _absorb, _partial_task
from ridgeway.store._ledger import Ledger
from torture.broken import Variant
from torture.tasks import FEATURES, TARGET, Array, name, rows

FILE_ROWS = (7000, 7000, 7000)
"""Rows of the files of a task: it has three parts, and the first two end in the next file."""

Absorb = Callable[[Path, int, int], Absorbed]
"""Absorbs a task, by its number and that of its rows, into a state file."""


class Means(Protocol):
    """How tasks are absorbed."""

    def prepare(self, contents: Iterable[int]) -> None:
        """Provide these rows, before the writers start."""

    def writer(self) -> AbstractContextManager[Absorb]:
        """Return what one writer absorbs with, in its own process."""

    def rows(self, content: int) -> tuple[Array, Array]:
        """Return the rows and targets with a number."""


class FromMemory:
    """The rows are in memory."""

    def prepare(self, contents: Iterable[int]) -> None:
        """Do nothing: the rows are made when they are needed."""

    def writer(self) -> AbstractContextManager[Absorb]:
        """Return a context of plain calls."""
        return nullcontext(lambda path, number, content: store.open(path).absorb(name(number), *rows(content)))

    def rows(self, content: int) -> tuple[Array, Array]:
        """Return the rows and targets with a number."""
        return rows(content)


@dataclass(frozen=True)
class FromFiles:
    """The rows are in several Parquet files. Each writer is the client of a cluster with two workers."""

    folder: Path

    def prepare(self, contents: Iterable[int]) -> None:
        """Write the files."""
        import pyarrow as pa
        from pyarrow import parquet

        for content in contents:
            X, y = self.rows(content)
            table, start = pa.table(dict(zip(FEATURES, X.T, strict=True)) | {TARGET: y}), 0
            for number, size in enumerate(FILE_ROWS):
                parquet.write_table(table.slice(start, size), self.folder / f"{content}-{number}.parquet")
                start += size

    @contextmanager
    def writer(self) -> Iterator[Absorb]:
        """Start the cluster; yield a call that absorbs the files of a task through it."""
        from distributed import Client, LocalCluster

        workers: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "processes": False, **QUIET}
        with LocalCluster(**workers) as cluster, Client(cluster) as client:

            def absorb(path: Path, number: int, content: int) -> Absorbed:
                files = str(self.folder / f"{content}-*.parquet")
                return distributed.absorb(store.open(path), files, name(number), client=client)

            yield absorb

    def rows(self, content: int) -> tuple[Array, Array]:
        """Return the rows and targets with a number."""
        return _many_rows(content)


@lru_cache(maxsize=8)
def _many_rows(content: int) -> tuple[Array, Array]:
    rng = np.random.default_rng([9, content])
    X = rng.standard_normal((sum(FILE_ROWS), len(FEATURES))) + content % 3
    return X, X @ np.arange(1.0, len(FEATURES) + 1.0) + rng.standard_normal(len(X))


def _blind() -> AbstractContextManager[object]:
    """Enter a task that was learned in parts without looking whether another writer has done so."""
    sound = _absorb.enter

    def enter(*args: Any) -> Absorbed:
        with mock.patch.object(Ledger, "find", return_value=[]):
            return sound(*args)

    return mock.patch.object(_partial_task, "enter", enter)


PARTS_TWICE = Variant("counts a task in parts again if another writer has it", _blind, "were acknowledged as new")
