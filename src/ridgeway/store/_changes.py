"""Changes of a state file: the next generation, written in one transaction; and new files, whole or not at all."""

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from ridgeway._files import give_name, sync_folder
from ridgeway.data import Schema
from ridgeway.errors import DamagedStoreError, StoreError, UncertainStoreError
from ridgeway.store._connection import (
    APPLICATION,
    BESIDE,
    TABLES,
    Inode,
    check_mount,
    connect_new,
    inode_of,
    link_of,
    replaced,
    set_link,
    transaction,
    typed_errors,
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

FIRST = 1
QUERIES = {
    "ledger": "SELECT * FROM ledger WHERE sequence = ?",
    "buckets": "SELECT * FROM buckets WHERE number = ?",
    "generations": "SELECT * FROM generations WHERE number = ?",
    "schemas": "SELECT * FROM schemas WHERE version = ?",
    "blocks": "SELECT * FROM blocks WHERE id = ?",
}
"""How a row of a table is read back, by its key, which is the first column."""
BESIDE_KEY = {
    "ledger": (
        "SELECT * FROM ledger WHERE sequence < ? ORDER BY sequence DESC",
        "SELECT * FROM ledger WHERE sequence > ? ORDER BY sequence",
    ),
    "buckets": (
        "SELECT * FROM buckets WHERE number < ? ORDER BY number DESC",
        "SELECT * FROM buckets WHERE number > ? ORDER BY number",
    ),
    "blocks": (
        "SELECT * FROM blocks WHERE id < ? ORDER BY id DESC",
        "SELECT * FROM blocks WHERE id > ? ORDER BY id",
    ),
}
"""How the rows below and above a key are read, the nearest first."""
LEAST_ON_PAGE = 8192
"""A row that is longer than this has at least as many bytes on the page that it begins on."""


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
    """What a new state file is made of: its schemas as stored, the ledger, and the arrays of the state."""

    schemas: Sequence[bytes]
    ledger: Sequence[Entry]
    arrays: Mapping[str, Array]

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
        self, arrays: Mapping[str, Array], *, schemas: Sequence[bytes] | None = None, keep_previous: bool = True
    ) -> None:
        """Write the next generation, with other schemas if given, and return once it would survive a power loss."""
        now = self.generation
        keep = now.number if keep_previous else now.number + 1
        known = now.schemas if schemas is None else schemas
        root = _write(self.connection, now.file_id, now.number + 1, known, self.ledger, arrays, keep=keep)
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


def _write(
    connection: sqlite3.Connection,
    file_id: str,
    number: int,
    schemas: Sequence[bytes],
    ledger: Ledger,
    arrays: Mapping[str, Array],
    *,
    keep: int,
) -> bytes:
    """Write a generation, make it the current one, and drop those before `keep`. Returns the root digest.

    The first statement writes the first page, so that every journal begins with a copy of it. All that was written is
    read back before the caller commits: a damaged list of free pages must not spoil a good state.
    """
    if number > LARGEST_GENERATION:
        raise StoreError(
            f"generation {LARGEST_GENERATION} is the last one. Export the state file, and import it again."
        )
    connection.execute(f"PRAGMA user_version = {number}")
    link = link_of(connection)
    first, oldest = number * BLOCKS_PER_GENERATION, keep * BLOCKS_PER_GENERATION
    changed, buckets = ledger.packed()
    rows = [
        (entry.record.sequence, entry.generation, entry.record.to_bytes(), entry.columns) for entry in ledger.changes
    ]
    versions = list(enumerate(schemas, 1))
    tables: dict[str, list[tuple[Any, ...]]] = {"ledger": rows, "buckets": [*changed], "schemas": versions}
    beside = _beside(connection, tables, oldest, first)
    views = {name: blocks_of(array) for name, array in arrays.items()}
    blocks = [view for name in arrays for view in views[name]]
    with digesting(blocks) as digests:  # by other threads, while SQLite takes the blocks
        connection.executemany("INSERT INTO blocks VALUES (?, ?)", enumerate(blocks, first))
        pieces = [
            [name, array.dtype.str, array.shape, [next(digests) for _ in views[name]]] for name, array in arrays.items()
        ]
    counts = {"next": ledger.next_sequence, "rows": ledger.n_samples, "tasks": ledger.n_tasks}
    manifest = canonical({"arrays": pieces, "parts": None, "schema": len(schemas), **counts})
    line = (number, manifest, buckets, root_of(file_id, number, schemas, manifest, buckets))
    connection.execute("DELETE FROM schemas WHERE version > ?", (len(schemas),))
    connection.executemany("INSERT OR IGNORE INTO schemas VALUES (?, ?)", versions)
    connection.executemany("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?, ?)", rows)
    connection.executemany("INSERT OR REPLACE INTO buckets VALUES (?, ?)", changed)
    connection.execute("INSERT INTO generations VALUES (?, ?, ?, ?)", line)
    connection.execute("DELETE FROM blocks WHERE id < ?", (oldest,))
    connection.execute("DELETE FROM generations WHERE number < ?", (keep,))
    set_link(connection, (link & 0xFFFF) << 16 | int.from_bytes(line[-1][:2]))
    if keep == number:
        connection.execute("PRAGMA incremental_vacuum").fetchall()
    _read_back(connection, first, blocks, {**tables, "generations": [line]})
    _check_beside(beside, _beside(connection, tables, oldest, first), range(oldest, first), len(blocks))
    return line[-1]


def _read_back(
    connection: sqlite3.Connection,
    first: int,
    blocks: Sequence[memoryview],
    tables: Mapping[str, Sequence[tuple[Any, ...]]],
) -> None:
    """Raise if the file does not hold what was just written to it; the first column of a table is its key."""
    written = connection.execute("SELECT data FROM blocks WHERE id >= ? ORDER BY id", (first,))
    same = all(row is not None and row[0] == bytes(view or b"") for view, row in zip_longest(blocks, written))
    for name, expected in tables.items():
        same = same and all(connection.execute(QUERIES[name], row[:1]).fetchall() == [row] for row in expected)
    if not same:
        raise spoilt()


def _check_beside(before: list[list[int]], after: list[list[int]], stay: range, n_new: int) -> None:
    """Raise if other rows than those that should be there are beside those that were written."""
    ids = [number for number in before[0] if number in stay]
    if after != [[*ids, *range(stay.stop, stay.stop + n_new)], *before[1:]]:
        raise spoilt()


def _beside(
    connection: sqlite3.Connection, tables: Mapping[str, Sequence[tuple[Any, ...]]], oldest: int, first: int
) -> list[list[int]]:
    """Return the ids of all blocks, and hashes of the rows that may share a page with some that are written or dropped.

    If a page is damaged, SQLite may write into its other rows, or leave one that should go, without an error.

    Parameters
    ----------
    tables : the rows that are written, by table
    oldest, first : the blocks that stay are those from `oldest` up to `first`
    """
    found = [[number for (number,) in connection.execute("SELECT id FROM blocks")]]
    keys = {name: {row[0] for row in rows} for name, rows in tables.items()}
    places = [("blocks", oldest - 1), ("blocks", first)]
    places += [
        (name, key) for name in ("ledger", "buckets") for key in keys[name] if not {key - 1, key + 1} <= keys[name]
    ]
    for name, key in places:
        for query in BESIDE_KEY[name]:
            rows, n_bytes = [], 0
            for row in connection.execute(query, (key,)):
                if row[0] in keys.get(name, ()) or (name == "blocks" and not oldest <= row[0] < first):
                    continue
                rows.append(hash(row))
                n_bytes += min(sum(len(value) for value in row if isinstance(value, bytes)), LEAST_ON_PAGE)
                if n_bytes > PAGE_BYTES:
                    break
            found.append(rows)
    return found


def spoilt() -> DamagedStoreError:
    """Return the error for a file whose damaged pages do not take a change."""
    return DamagedStoreError(f"the state file did not keep what was written to it; nothing was committed. {RESTORE}")


def write_state(path: Path, contents: Contents, timeout: float) -> Handle:
    """Make a state file, which must not exist yet."""
    file_id = secrets.token_hex(16)
    inode = write_new(path, lambda temporary: fill_file(temporary, file_id, FIRST, contents))
    return Handle(path, inode, file_id, timeout)


def fill_file(path: Path, file_id: str, number: int, contents: Contents, link: int = 0) -> None:
    """Make a database with our tables and one generation, which comes after that with a `link`, in one transaction."""
    ledger = Ledger(None, path)
    for _, record, columns in contents.ledger:
        ledger.put(Entry(number, record, columns))
    with closing(connect_new(path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        for sql in TABLES:
            connection.execute(sql.replace("FILE_ID", file_id))
        set_link(connection, link)
        _write(connection, file_id, number, contents.schemas, ledger, contents.arrays, keep=number)
        connection.execute("COMMIT")


def write_new(path: Path, fill: Callable[[Path], None]) -> Inode:
    """Make a file, whole or not at all: under a temporary name first, then under its own if that is free."""
    if os.path.lexists(path):
        raise StoreError(f"{path} exists already. Choose another name, or use the existing file.")
    for suffix in BESIDE:
        if os.path.lexists(f"{path}{suffix}"):
            raise StoreError(
                f"{path}{suffix} exists without its file: a change to a file of that name was interrupted. Move it "
                "back beside its file, which needs it, or move it away if that file is gone."
            )
    if not path.parent.is_dir():
        raise StoreError(f"the folder {path.parent} does not exist. Make it first.")
    check_mount(path)
    with typed_errors(path, 0.0), temporary_file(path) as temporary:
        fill(temporary)
        inode = inode_of(temporary)
        try:
            give_name(temporary, path)
        except FileExistsError:
            raise StoreError(f"{path} exists already. Another process has just made it.") from None
        try:
            sync_folder(path)
        except OSError as error:
            _take_back(path, error)
            raise
    check_after(path, inode)
    return inode


def _take_back(path: Path, error: OSError) -> None:
    """Unlink a new file that may not survive a power loss, and so was not made."""
    try:
        path.unlink()
    except OSError:
        raise uncertain(path, error) from error


@contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    """Yield a name beside `path`; what has that name at the end is unlinked, and so is its journal."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.new")
    try:
        yield temporary
    finally:
        for name in (temporary.name, f"{temporary.name}-journal"):
            with suppress(OSError):
                temporary.with_name(name).unlink()


def uncertain(path: Path, error: Exception) -> UncertainStoreError:
    """Return the error for a disk that failed permanently at the very end of a change."""
    return UncertainStoreError(
        f"it is not known whether {path} took the change ({error}). See `ridgeway history`; repeating the call is safe."
    )
