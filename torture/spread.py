"""How writers absorb a task: from memory, or from several files through a Dask cluster of their own."""

import time
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
from ridgeway.store import Absorbed
from torture.broken import Variant
from torture.tasks import FEATURES, TARGET, Array, name, rows

FILE_ROWS = (7000, 7000, 7000)
"""Rows of the files of a task: it has three parts, and the first two end in the next file."""
STALE = 0.2

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


def _looking_early() -> AbstractContextManager[object]:
    """Look for a task in the ledger before waiting for other writers, and not again."""
    sound = store.Store.absorb_partial

    def absorb(self: store.Store, task_id: str, partial: Any, **options: Any) -> Absorbed:
        known = task_id in [record.task_id for record in self.history()]
        time.sleep(STALE)
        return sound(self, task_id, partial, **options | ({} if known else {"force": "not known"}))

    return mock.patch.object(store.Store, "absorb_partial", absorb)


LOOKS_EARLY = Variant(
    "looks into the ledger before it waits for other writers", _looking_early, "were acknowledged as new"
)
