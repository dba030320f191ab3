"""One change of a state file: the writers' lock, the generation that is there, and the commit of the next."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ridgeway._files import sync_folder
from ridgeway.errors import StoreError
from ridgeway.store._connection import transaction, uncertain
from ridgeway.store._generations import open_generation, read_arrays, write_generation
from ridgeway.store._records import Record

Array = NDArray[np.float64]


class Change:
    """A change under way: the writers' lock is held until the end of `changing`, and only `commit` writes.

    Attributes
    ----------
    generation : Generation
        The one that is there.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, timeout: float) -> None:
        self._connection, self._path, self._timeout = connection, path, timeout
        self.generation = open_generation(connection, path)

    def arrays(self) -> dict[str, Array]:
        """Return the state that is there."""
        return read_arrays(self._connection, self.generation, self._path)

    def commit(
        self, entries: Sequence[tuple[int, Record]], arrays: Mapping[str, Array], *, keep_previous: bool = True
    ) -> None:
        """Write the next generation, and return once it would survive a power loss."""
        now = self.generation.number
        keep = now if keep_previous else None
        root = write_generation(self._connection, self.generation.schema, now + 1, entries, arrays, keep=keep)
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                raise
            if not self._took(root):
                raise

    def confirm(self) -> None:
        """Return once what is there would survive a power loss: who committed it may have died before it would."""
        sync_folder(self._path)

    def _took(self, root: bytes) -> bool:
        """Find out what came of a commit that reported an error: it may have failed after the point of no return."""
        with suppress(sqlite3.Error):
            self._connection.execute("ROLLBACK")
        self._connection.close()
        try:
            with transaction(self._path, write=False, timeout=self._timeout) as connection:
                committed = open_generation(connection, self._path).root == root
            if committed:
                sync_folder(self._path)
        except (OSError, StoreError) as error:
            raise uncertain(self._path, error) from error
        return committed


@contextmanager
def changing(path: Path, timeout: float, *, wipe: bool = False) -> Iterator[Change]:
    """Yield a change of a state file, undone at the end unless committed."""
    with transaction(path, write=True, timeout=timeout, wipe=wipe) as connection:
        yield Change(connection, path, timeout)
