"""SQLite, opened with care: pragmas read back, one transaction at a time, every failure a typed error."""

import os
import secrets
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from os import PathLike, fsdecode, fsencode
from pathlib import Path
from urllib.parse import quote

from ridgeway._files import sync_folder
from ridgeway.errors import (
    DamagedStoreError,
    StoreBusyError,
    StoreError,
    StoreVersionError,
    UncertainStoreError,
)
from ridgeway.store._notes import RESTORE

APPLICATION = 0x52647779  # "Rdwy"
MAGIC = b"SQLite format 3\0"
FORMAT = 1
PAGE_BYTES = 65536
LONGEST_VALUE = 64 * 2**20
"""The most bytes of one value of the file: SQLite gives up on a longer one before it asks for memory."""

TABLES = (
    "CREATE TABLE head (id INTEGER PRIMARY KEY, schema BLOB NOT NULL, current INTEGER NOT NULL)",
    "CREATE TABLE generation (number INTEGER PRIMARY KEY, manifest BLOB NOT NULL, root BLOB NOT NULL)",
    "CREATE TABLE ledger (sequence INTEGER PRIMARY KEY, generation INTEGER NOT NULL, record BLOB NOT NULL)",
    "CREATE TABLE block (id INTEGER PRIMARY KEY, data BLOB NOT NULL)",
)
SETTINGS = {
    "trusted_schema": 0,
    "cell_size_check": 1,
    "mmap_size": 0,
    "temp_store": 2,
    "synchronous": 3,
    "cache_size": -16384,
}
"""Pragmas of a connection, set and read back: `synchronous` 3 is EXTRA, `temp_store` 2 is memory."""
PROPERTIES = {"journal_mode": "delete", "page_size": PAGE_BYTES, "auto_vacuum": 2, "encoding": "UTF-8"}
"""Pragmas of a file, read back: `auto_vacuum` 2 is incremental, so that a removal can hand back what it frees."""


@contextmanager
def transaction(
    path: Path, *, write: bool, timeout: float, wipe: bool = False, alone: bool = False
) -> Iterator[sqlite3.Connection]:
    """Yield a connection inside a transaction on an existing file; rolled back at the end unless committed.

    Parameters
    ----------
    write : whether to take the writers' lock, and so to wait for other writers
    timeout : the longest wait for others, in seconds
    wipe : whether pages that are freed are overwritten
    alone : whether to keep all others out, readers too, until the connection is closed
    """
    check_regular(path)
    with (
        typed_errors(path, timeout),
        _undone_at_once(path, timeout) if write else nullcontext(),
        closing(_connect(path, timeout, write=write)) as connection,
    ):
        connection.execute(f"PRAGMA secure_delete = {'ON' if wipe else 'OFF'}")
        if alone:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute(("BEGIN EXCLUSIVE" if alone else "BEGIN IMMEDIATE") if write else "BEGIN")
        try:
            check_regular(path)  # what was opened is what was checked
            yield connection
        finally:
            with suppress(sqlite3.Error):  # a failed rollback leaves a journal, which the next to open plays back
                if connection.in_transaction:
                    connection.execute("ROLLBACK")


@contextmanager
def _undone_at_once(path: Path, timeout: float) -> Iterator[None]:
    """Let what a failed write left half done be undone now, and not by the next to open the file."""
    try:
        yield
    except BaseException:
        if os.path.lexists(f"{path}-journal"):
            with suppress(sqlite3.Error, StoreError), closing(_connect(path, timeout, write=False)) as connection:
                pragma(connection, "schema_version")
        raise


def check_format(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the file's format, or raise where it is no state file or a newer one."""
    if pragma(connection, "application_id") != APPLICATION:
        raise StoreError(f"{path} is a database, but no Ridgeway state file. Pass a file that `ridgeway init` made.")
    version = pragma(connection, "user_version")
    if not isinstance(version, int) or not 0 <= version <= FORMAT:
        raise StoreVersionError(
            f"{path} has format {version}; this version of Ridgeway knows formats up to {FORMAT}. Upgrade Ridgeway."
        )
    for name, expected in PROPERTIES.items():
        found = pragma(connection, name)
        if found != expected:
            raise DamagedStoreError(f"{path} has {name} {found!r}; it was made with {expected!r}. {RESTORE}")
    return version


def check_tables(connection: sqlite3.Connection, path: Path, tables: tuple[str, ...] = TABLES) -> None:
    """Raise where the file has other tables, or triggers and views, than it was made with."""
    found = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid").fetchall()
    if found != [("table", *[sql.split()[2]] * 2, sql) for sql in tables]:
        raise DamagedStoreError(f"{path} does not have the tables that it was made with. {RESTORE}")


def check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """Raise where the pages of the file do not fit together."""
    found = [str(line) for (line,) in connection.execute("PRAGMA integrity_check(1)")]
    if found != ["ok"]:
        raise DamagedStoreError(f"{path} is damaged ({'; '.join(found)}). {RESTORE}")


def pragma(connection: sqlite3.Connection, name: str) -> object:
    """Return the value of a pragma."""
    row = connection.execute(f"PRAGMA {name}").fetchone()
    return None if row is None else row[0]


def write_new(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    """Make a state file, whole or not at all: under another name first, and then under its own, if that is free."""
    if os.path.lexists(path):
        raise StoreError(f"{path} exists already. Choose another name, or use the file that is there.")
    if not path.parent.is_dir():
        raise StoreError(f"the folder {path.parent} does not exist. Make it first.")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.new")
    try:
        with typed_errors(path, 0.0):
            fill_file(temporary, fill)
            try:
                os.link(temporary, path)
            except FileExistsError:
                raise StoreError(f"{path} exists already. Another process has just made it.") from None
            try:
                sync_folder(path)
            except OSError as error:
                _take_back(path, error)
                raise
    finally:
        drop(temporary)


def _take_back(path: Path, error: OSError) -> None:
    """Unlink a file that is not known to last, and so is not made."""
    try:
        path.unlink()
    except OSError:
        raise uncertain(path, error) from error


def drop(temporary: Path) -> None:
    """Unlink a file that was only passing, and a journal that it may have left."""
    for name in (temporary.name, f"{temporary.name}-journal"):
        with suppress(OSError):
            temporary.with_name(name).unlink()


def uncertain(path: Path, error: Exception) -> UncertainStoreError:
    """Return the error for a disk that failed for good at the very end of a change."""
    return UncertainStoreError(
        f"whether {path} took the change is not known ({error}). See `ridgeway history`; repeating the call is safe."
    )


def fill_file(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    """Make a database with our tables and let `fill` write into it, in one transaction."""
    with closing(sqlite3.connect(_uri(path, "rwc"), uri=True, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        _configure(connection)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        for sql in TABLES:
            connection.execute(sql)
        fill(connection)
        connection.execute("COMMIT")


def as_path(path: str | PathLike[str]) -> Path:
    """Return a path that a file can have."""
    try:
        encoded = fsencode(path)
    except (TypeError, ValueError):
        encoded = b""
    if not encoded or b"\0" in encoded:
        raise StoreError(f"{path!r} is no path of a file. Pass one like 'wages.rw'.")
    return Path(fsdecode(encoded))


def check_regular(path: Path) -> None:
    """Raise where a path or its journal is a symbolic link, or no plain file. Opens nothing.

    (A file opened and closed here would drop the locks that SQLite holds on it for other threads of this process.)
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        raise StoreError(f"there is no state file {path}. Make one with `ridgeway init`.") from None
    except (OSError, ValueError) as error:
        raise StoreError(f"{str(path)!a} cannot be reached: {error}.") from None
    if stat.S_ISLNK(found.st_mode):
        raise StoreError(f"{path} is a symbolic link, which is not followed. Pass the file itself.")
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{path} is no plain file. Pass a file that `ridgeway init` made.")
    if found.st_size == 0:
        raise StoreError(f"{path} is empty, so it is no state file. Bring back a copy, or make a new one.")
    for suffix in ("-journal", "-wal", "-shm"):
        if os.path.islink(f"{path}{suffix}"):
            raise StoreError(f"{path}{suffix} is a symbolic link, which is not followed. Remove it.")
    if found.st_nlink > 1:
        _finish_linking(path, found)


def _finish_linking(path: Path, found: os.stat_result) -> None:
    """Drop the other name that a file had while it was made, if the process was ended before it could."""
    for other in path.parent.glob(f".{path.name}.*.new"):
        with suppress(OSError):
            if os.path.samestat(other.lstat(), found):
                other.unlink()


def _connect(path: Path, timeout: float, *, write: bool) -> sqlite3.Connection:
    if write and not os.access(path, os.W_OK):
        raise StoreError(f"{path} may not be written to. Ask for the permission, or copy the file.")
    mode = "rw" if os.access(path, os.W_OK) else "ro"
    connection = sqlite3.connect(_uri(path, mode), uri=True, isolation_level=None, timeout=timeout)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        _configure(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _configure(connection: sqlite3.Connection) -> None:
    for name, value in SETTINGS.items():
        connection.execute(f"PRAGMA {name} = {value}")
        if pragma(connection, name) not in (value, None):
            raise StoreError(f"SQLite {sqlite3.sqlite_version} refuses {name} = {value}. Use another build of it.")


def _uri(path: Path, mode: str) -> str:
    return f"file:{quote(str(path.absolute()))}?mode={mode}"


@contextmanager
def typed_errors(path: Path, timeout: float) -> Iterator[None]:
    """Turn what SQLite and the system raise into errors that say what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _typed(error, path, timeout) from error
    except UnicodeDecodeError as error:  # SQLite's own message quotes what is damaged
        raise DamagedStoreError(f"{path} is damaged (its tables have no readable names). {RESTORE}") from error
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read or written: {error.strerror or error}. Nothing was changed."
        ) from error


def _typed(error: sqlite3.Error, path: Path, timeout: float) -> StoreError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusyError(
            f"{path} has been in use by other processes for {timeout:g} s. Nothing was changed; try again."
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreError(f"the disk is full: {path} could not be written. Nothing was changed; make room, try again.")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return StoreError(
            f"{path} or its folder may not be read or written to ({error}). Nothing was changed; check the permissions."
        )
    if code == sqlite3.SQLITE_IOERR:
        return StoreError(
            f"reading or writing {path} failed ({error}). Nothing was changed; check the disk, try again."
        )
    if code == sqlite3.SQLITE_NOTADB and not _begins_as_a_database(path):
        return StoreError(
            f"{path} is no state file, or its first bytes are damaged ({error}). Pass a file that `ridgeway init` made."
        )
    return DamagedStoreError(f"{path} is damaged ({error}). {RESTORE}")


def _begins_as_a_database(path: Path) -> bool:
    """Return whether a file that SQLite does not take for a database begins as one does: then it is a damaged one."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC
    return False
