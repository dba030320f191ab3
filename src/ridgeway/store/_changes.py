"""Changes of a state file: the next generation, written in one transaction."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from ridgeway._files import sync_folder
from ridgeway.data import Schema
from ridgeway.errors import DamagedStoreError, StoreError, UncertainStoreError
from ridgeway.information import Node
from ridgeway.store._connection import (
    Inode,
    inode_of,
    link_of,
    replaced,
    set_link,
    transaction,
)
from ridgeway.store._digests import RESTORE, Array, blocks_of, canonical, digesting, schema_from
from ridgeway.store._generations import (
    BLOCKS_PER_GENERATION,
    LARGEST_GENERATION,
    Generation,
    read_arrays,
    read_generation,
    root_of,
)
from ridgeway.store._journal import PAGE_BYTES
from ridgeway.store._ledger import Entry, Ledger
from ridgeway.store._nodes import Shelf
from ridgeway.store._part_tree import NewParts, PartTree, unchanged

QUERIES = {
    "ledger": "SELECT * FROM ledger WHERE sequence = ?",
    "buckets": "SELECT * FROM buckets WHERE number = ?",
    "generations": "SELECT * FROM generations WHERE number = ?",
    "schemas": "SELECT * FROM schemas WHERE version = ?",
    "blocks": "SELECT * FROM blocks WHERE id = ?",
    "parts": "SELECT * FROM parts WHERE id = ?",
}
"""How a row of a table is read back, by its key, which is the first column."""
BESIDE_KEY = {
    "ledger": (
        "SELECT *, length(record) + length(columns) FROM ledger WHERE sequence < ? ORDER BY sequence DESC",
        "SELECT *, length(record) + length(columns) FROM ledger WHERE sequence > ? ORDER BY sequence",
    ),
    "buckets": (
        "SELECT *, length(entries) FROM buckets WHERE number < ? ORDER BY number DESC",
        "SELECT *, length(entries) FROM buckets WHERE number > ? ORDER BY number",
    ),
    "parts": (
        "SELECT *, length(data) FROM parts WHERE id < ? ORDER BY id DESC",
        "SELECT *, length(data) FROM parts WHERE id > ? ORDER BY id",
    ),
    "blocks": (
        "SELECT *, length(data) FROM blocks WHERE id < ? ORDER BY id DESC",
        "SELECT *, length(data) FROM blocks WHERE id > ? ORDER BY id",
    ),
}
"""How the rows below and above a key are read, the nearest first, each with the bytes that it takes."""
SOUND = ("PRAGMA quick_check(generations)", "PRAGMA quick_check(schemas)")
"""How all pages of the tables of few rows are checked: a damaged page may read well, and be lost when it is written."""
COUNTED_IN_FULL, LEAST_ON_PAGE = 16384, 8192
"""Rows up to the first are on one page. A longer one has at least the second on the page that it begins on, and counts
as no more: a length that is damaged must not end the search for its other rows."""


@dataclass(frozen=True)
class Handle:
    """A state file that was opened: its path, what tells it from all others, and how long to wait for others."""

    path: Path
    inode: Inode
    file_id: str
    timeout: float

    def check(self, generation: Generation) -> Generation:
        """Return a generation of this file, or raise if another file has taken its place."""
        if (inode_of(self.path), generation.file_id) != (self.inode, self.file_id):
            raise replaced(self.path)
        return generation


class Contents(NamedTuple):
    """What a new state file is made of: its schemas as stored, the ledger, the arrays of the state, and the parts."""

    schemas: Sequence[bytes]
    ledger: Sequence[Entry]
    arrays: Mapping[str, Array]
    tree: Node | None = None

    @property
    def schema(self) -> Schema:
        """The schema in force."""
        return schema_from(self.schemas[-1])


@dataclass(frozen=True)
class Change:
    """A change in progress: the writers' lock is held until the end of `changing`, and only `commit` writes.

    Attributes
    ----------
    generation : Generation
        The current one.
    ledger : Ledger
        Its ledger; entries that are put into it are committed.
    arrays : dict of ndarray
        Its state.
    """

    connection: sqlite3.Connection
    handle: Handle
    generation: Generation
    ledger: Ledger
    arrays: dict[str, Array]

    def commit(
        self,
        arrays: Mapping[str, Array],
        *,
        schemas: Sequence[bytes] | None = None,
        keep_previous: bool = True,
        parts: NewParts | None = None,
    ) -> None:
        """Write the next generation, with other schemas and parts if given; return once it survives a power loss."""
        now = self.generation
        keep = now.number if keep_previous else now.number + 1
        known = now.schemas if schemas is None else schemas
        if parts is None and now.parts is not None:
            parts = unchanged(now.parts)
        root = write_generation(
            self.connection, now.file_id, now.number + 1, known, self.ledger, arrays, keep=keep, parts=parts
        )
        try:
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                raise
            with suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")
            self.connection.close()
            check_after(self.handle.path, self.handle.inode)
            if not was_committed(self.handle.path, self.handle.timeout, root):
                raise

    def tree(self, schemas: Sequence[bytes]) -> PartTree:
        """Return the tree of parts, with the columns of the last of some schemas."""
        known = tuple(map(schema_from, schemas))
        return PartTree(Shelf(self.connection, self.handle.path, known), self.generation)

    def confirm(self) -> None:
        """Return once what is there would survive a power loss: whoever committed it may have died before that."""
        sync_folder(self.handle.path)


def was_committed(path: Path, timeout: float, root: bytes) -> bool:
    """Return whether a commit that reported an error was made: it may have failed after the point of no return."""
    try:
        with transaction(path, write=False, timeout=timeout) as connection:
            committed = read_generation(connection, path).root == root
        if committed:
            sync_folder(path)
    except (OSError, StoreError) as error:
        raise uncertain(path, error) from error
    return committed


def check_after(path: Path, inode: Inode) -> None:
    """Raise if another file took the place of the one that was just changed: the change may be lost with it."""
    try:
        found = path.lstat()
    except OSError as error:
        raise uncertain(path, error) from error
    if (found.st_dev, found.st_ino) != inode:
        raise uncertain(path, replaced(path))


@contextmanager
def changing(handle: Handle, *, wipe: bool = False) -> Iterator[Change]:
    """Yield a change of a state file, undone at the end unless committed."""
    with transaction(handle.path, write=True, timeout=handle.timeout, wipe=wipe) as connection:
        now = handle.check(read_generation(connection, handle.path))
        ledger = Ledger(connection, handle.path, now.buckets, now.n_tasks, now.n_samples, now.next_sequence)
        yield Change(connection, handle, now, ledger, read_arrays(connection, now, handle.path))
    check_after(handle.path, handle.inode)


def write_generation(
    connection: sqlite3.Connection,
    file_id: str,
    number: int,
    schemas: Sequence[bytes],
    ledger: Ledger,
    arrays: Mapping[str, Array],
    *,
    keep: int,
    parts: NewParts | None,
) -> bytes:
    """Write a generation, make it the current one, and drop those before `keep`. Returns the root digest.

    The first statement writes the first page, so that every journal begins with a copy of it. All that was written is
    read back before the caller commits: a damaged list of free pages must not spoil a good state.
    """
    if number > LARGEST_GENERATION:
        raise StoreError(
            f"generation {LARGEST_GENERATION} is the highest possible. Export the state file, and import it again."
        )
    connection.execute(f"PRAGMA user_version = {number}")
    link = link_of(connection)
    first, oldest = number * BLOCKS_PER_GENERATION, keep * BLOCKS_PER_GENERATION
    changed, buckets = ledger.packed()
    rows = [(one.record.sequence, one.generation, one.record.to_bytes(), one.columns) for one in ledger.changes]
    versions = list(enumerate(schemas, 1))
    nodes, gone = ((), ()) if parts is None else (parts.rows, parts.dropped)
    tables: dict[str, Any] = {"ledger": rows, "buckets": changed, "parts": nodes, "schemas": versions}
    touched = Touched({name: {row[0] for row in found} for name, found in tables.items()}, {*gone}, oldest, first)
    beside = _beside(connection, touched)
    views = {name: blocks_of(array) for name, array in arrays.items()}
    blocks = [view for name in arrays for view in views[name]]
    with digesting(blocks) as digests:  # by other threads, while SQLite takes the blocks
        connection.executemany("INSERT INTO blocks VALUES (?, ?)", enumerate(blocks, first))
        pieces = [[name, a.dtype.str, a.shape, [next(digests) for _ in views[name]]] for name, a in arrays.items()]
    counts: dict[str, Any] = {"next": ledger.next_sequence, "rows": ledger.n_samples, "tasks": ledger.n_tasks}
    counts["parts"] = None if parts is None else parts.kept.as_dict()
    manifest = canonical({"arrays": pieces, "schema": len(schemas), **counts})
    line = (number, manifest, buckets, root_of(file_id, number, schemas, manifest, buckets))
    connection.executemany("INSERT OR IGNORE INTO schemas VALUES (?, ?)", versions)
    connection.executemany("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?, ?)", rows)
    connection.executemany("INSERT OR REPLACE INTO buckets VALUES (?, ?)", changed)
    if parts is not None:
        _write_parts(connection, parts)
    connection.execute("INSERT INTO generations VALUES (?, ?, ?, ?)", line)
    connection.execute("DELETE FROM blocks WHERE id < ?", (oldest,))
    connection.execute("DELETE FROM generations WHERE number < ?", (keep,))
    set_link(connection, (link & 0xFFFF) << 16 | int.from_bytes(line[-1][:2]))
    if keep == number:
        connection.execute("PRAGMA incremental_vacuum").fetchall()
    _read_back(connection, touched, blocks, {**tables, "generations": [line]}, beside)
    return line[-1]


def _write_parts(connection: sqlite3.Connection, parts: NewParts) -> None:
    """Delete parts that no generation has any more, and write new ones."""
    connection.executemany("DELETE FROM parts WHERE id = ?", ((number,) for number in parts.dropped))
    connection.executemany("INSERT OR REPLACE INTO parts VALUES (?, ?, ?)", parts.rows)


class Touched(NamedTuple):
    """What a change writes and drops.

    Attributes
    ----------
    keys : dict of set of int
        Those of the rows that are written, by table.
    gone : set of int
        The parts that are dropped.
    oldest, first : int
        Blocks below `oldest` are dropped, and `first` is the first new one.
    """

    keys: Mapping[str, set[int]]
    gone: set[int]
    oldest: int
    first: int


def _read_back(
    connection: sqlite3.Connection,
    touched: Touched,
    blocks: Sequence[memoryview],
    tables: Mapping[str, Any],
    beside: list[list[int]],
) -> None:
    """Raise if the file does not hold what was written to it, and beside it what was there before.

    The first column of a table is its key.
    """
    written = connection.execute("SELECT data FROM blocks WHERE id >= ? ORDER BY id", (touched.first,))
    same = all(row is not None and row[0] == bytes(view or b"") for view, row in zip_longest(blocks, written))
    for name, expected in tables.items():
        same = same and all(connection.execute(QUERIES[name], row[:1]).fetchall() == [row] for row in expected)
    for check in SOUND:
        same = same and connection.execute(check).fetchall() == [("ok",)]
    kept, *others = beside
    ids = [number for number in kept if touched.oldest <= number < touched.first]
    ids += range(touched.first, touched.first + len(blocks))
    if not same or _beside(connection, touched) != [ids, *others]:
        raise DamagedStoreError(f"the state file did not keep what was written to it; nothing was committed. {RESTORE}")


def _beside(connection: sqlite3.Connection, touched: Touched) -> list[list[int]]:
    """Return the ids of all blocks, and hashes of rows that stay and may share a page with some that do not.

    If a page is damaged, SQLite may write into its other rows, or leave one that should go, without an error.
    """
    found = [[number for (number,) in connection.execute("SELECT id FROM blocks")]]
    changed = {**touched.keys, "parts": touched.keys["parts"] | touched.gone}
    stay = range(touched.oldest, touched.first)
    places = [("blocks", side, key) for key in (touched.oldest - 1, touched.first) for side in (0, 1)]
    for name in ("ledger", "buckets", "parts"):  # beside rows that follow each other: below the first, above the last
        places += [(name, 0, key) for key in changed[name] if key - 1 not in changed[name]]
        places += [(name, 1, key) for key in changed[name] if key + 1 not in changed[name]]
    for name, side, key in places:
        rows, n_bytes = [], 0
        for row in connection.execute(BESIDE_KEY[name][side], (key,)):
            if row[0] in changed.get(name, ()) or (name == "blocks" and row[0] not in stay):
                continue
            rows.append(hash(row))
            size = row[-1] or 0  # None if the row is damaged
            n_bytes += size if size <= COUNTED_IN_FULL else LEAST_ON_PAGE
            if n_bytes > PAGE_BYTES:
                break
        found.append(rows)
    return found


def uncertain(path: Path, error: Exception) -> UncertainStoreError:
    """Return the error for a disk that failed permanently at the very end of a change."""
    return UncertainStoreError(
        f"it is not known whether the change was saved to {path} ({error}). See `ridgeway history`; repeating the call "
        "is safe."
    )
