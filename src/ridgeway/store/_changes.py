"""Changes of a state file: the next generation, written in one transaction; and new files, whole or not at all."""

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import count, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from ridgeway._files import give_name, sync_folder
from ridgeway.data import Schema
from ridgeway.errors import DamagedStoreError, StoreError, UncertainStoreError
from ridgeway.information import Node
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
    KeptParts,
    read_arrays,
    read_generation,
    root_of,
)
from ridgeway.store._ledger import Entry, Ledger
from ridgeway.store._nodes import NodeRow, NodeRows, Shelf
from ridgeway.store._part_tree import NewParts, PartTree, unchanged

FIRST = 1
QUERIES = {
    "ledger": "SELECT * FROM ledger WHERE sequence = ?",
    "buckets": "SELECT * FROM buckets WHERE number = ?",
    "generations": "SELECT * FROM generations WHERE number = ?",
    "schemas": "SELECT * FROM schemas WHERE version = ?",
    "parts": "SELECT * FROM parts WHERE id = ?",
}
"""How what was written to a table is read back, by its key."""


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
        root = _write(self.connection, now.file_id, now.number + 1, known, self.ledger, arrays, keep=keep, parts=parts)
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


def _write(
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
            f"generation {LARGEST_GENERATION} is the last one. Export the state file, and import it again."
        )
    connection.execute(f"PRAGMA user_version = {number}")
    link = link_of(connection)
    first = number * BLOCKS_PER_GENERATION
    views = {name: blocks_of(array) for name, array in arrays.items()}
    blocks = [view for name in arrays for view in views[name]]
    with digesting(blocks) as digests:  # by other threads, while SQLite takes the blocks
        connection.executemany("INSERT INTO blocks VALUES (?, ?)", enumerate(blocks, first))
        pieces = [
            [name, array.dtype.str, array.shape, [next(digests) for _ in views[name]]] for name, array in arrays.items()
        ]
    counts: dict[str, Any] = {"next": ledger.next_sequence, "rows": ledger.n_samples, "tasks": ledger.n_tasks}
    counts["parts"] = None if parts is None else parts.kept.as_dict()
    manifest = canonical({"arrays": pieces, "schema": len(schemas), **counts})
    changed, buckets = ledger.packed()
    line = (number, manifest, buckets, root_of(file_id, number, schemas, manifest, buckets))
    rows = [
        (entry.record.sequence, entry.generation, entry.record.to_bytes(), entry.columns) for entry in ledger.changes
    ]
    versions = list(enumerate(schemas, 1))
    connection.execute("DELETE FROM schemas WHERE version > ?", (len(schemas),))
    connection.executemany("INSERT OR IGNORE INTO schemas VALUES (?, ?)", versions)
    connection.executemany("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?, ?)", rows)
    connection.executemany("INSERT OR REPLACE INTO buckets VALUES (?, ?)", changed)
    nodes = () if parts is None else _written_parts(connection, parts)
    connection.execute("INSERT INTO generations VALUES (?, ?, ?, ?)", line)
    connection.execute("DELETE FROM blocks WHERE id < ?", (keep * BLOCKS_PER_GENERATION,))
    connection.execute("DELETE FROM generations WHERE number < ?", (keep,))
    set_link(connection, (link & 0xFFFF) << 16 | int.from_bytes(line[-1][:2]))
    if keep == number:
        connection.execute("PRAGMA incremental_vacuum").fetchall()
    tables = {"ledger": rows, "buckets": changed, "generations": [line], "schemas": versions, "parts": nodes}
    _read_back(connection, first, blocks, tables)
    return line[-1]


def _written_parts(connection: sqlite3.Connection, parts: NewParts) -> Sequence[NodeRow]:
    """Delete parts that no generation has any more, write new ones and return their rows."""
    connection.executemany("DELETE FROM parts WHERE id = ?", ((number,) for number in parts.dropped))
    connection.executemany("INSERT OR REPLACE INTO parts VALUES (?, ?, ?)", parts.rows)
    return parts.rows


def _read_back(
    connection: sqlite3.Connection,
    first: int,
    blocks: Sequence[memoryview],
    tables: Mapping[str, Any],
) -> None:
    """Raise if the file does not hold what was just written to it; the first column of a table is its key."""
    written = connection.execute("SELECT data FROM blocks WHERE id >= ? ORDER BY id", (first,))
    same = all(row is not None and row[0] == bytes(view or b"") for view, row in zip_longest(blocks, written))
    for name, expected in tables.items():
        same = same and all(connection.execute(QUERIES[name], row[:1]).fetchall() == [row] for row in expected)
    if not same:
        raise DamagedStoreError(f"the state file did not keep what was written to it; nothing was committed. {RESTORE}")


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
        parts = None if contents.schema.keep is None else _fill_parts(connection, path, contents)
        _write(connection, file_id, number, contents.schemas, ledger, contents.arrays, keep=number, parts=parts)
        connection.execute("COMMIT")


def _fill_parts(connection: sqlite3.Connection, path: Path, contents: Contents) -> NewParts:
    """Write all parts to a new file, and read them back; no more than a few are in memory at once."""
    ids = count(1)
    rows = NodeRows(contents.tree, ids, len(contents.schemas), whole=True)
    connection.executemany("INSERT INTO parts VALUES (?, ?, ?)", rows)
    if rows.root is not None:
        shelf = Shelf(connection, path, tuple(map(schema_from, contents.schemas)))
        for _ in shelf.node(rows.root).leaves():
            pass
    return NewParts(KeptParts(rows.root, next_id=next(ids)))


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
