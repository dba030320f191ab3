"""New state files, whole or not at all."""

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path

from ridgeway._files import give_name, sync_folder
from ridgeway.errors import StoreError
from ridgeway.store._changes import Contents, Handle, check_after, uncertain, write_generation
from ridgeway.store._connection import (
    APPLICATION,
    BESIDE,
    TABLES,
    Inode,
    check_mount,
    connect_new,
    inode_of,
    set_link,
    typed_errors,
)
from ridgeway.store._digests import schema_from
from ridgeway.store._generations import KeptParts
from ridgeway.store._ledger import Entry, Ledger
from ridgeway.store._nodes import NodeRows, Shelf
from ridgeway.store._part_tree import NewParts

FIRST = 1


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
        write_generation(
            connection, file_id, number, contents.schemas, ledger, contents.arrays, keep=number, parts=parts
        )
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
    if path.name.endswith(BESIDE):
        raise StoreError(f"{path} would be taken for part of another file, and deleted. Choose a name like 'wages.rw'.")
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
