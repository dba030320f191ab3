"""SQLite, used with care: settings are read back, one transaction at a time, every failure is a typed error."""

import glob
import os
import re
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from math import inf
from os import PathLike, fsdecode, fsencode
from pathlib import Path
from typing import Any

from ridgeway._files import PRIVATE
from ridgeway.errors import (
    DamagedStoreError,
    InvalidParameterError,
    StoreBusyError,
    StoreError,
    StoreVersionError,
)
from ridgeway.store._digests import RESTORE
from ridgeway.store._journal import DATABASE, MARK, PAGE_BYTES, check_journal, first_page

APPLICATION = 0x52647779  # "Rdwy"
FORMAT = 1
LONGEST_WAIT = 1e6
"""Limit on timeouts in seconds: SQLite counts milliseconds in 32 bits."""
LONGEST_VALUE = 64 * 2**20
"""Limit on the bytes of one value in the file: SQLite refuses a longer one before it allocates memory."""

TABLES = (
    f"CREATE TABLE generations /* ridgeway format {FORMAT} file FILE_ID */ (number INTEGER PRIMARY KEY, "
    "manifest BLOB NOT NULL, buckets BLOB NOT NULL, root BLOB NOT NULL)",
    "CREATE TABLE schemas (version INTEGER PRIMARY KEY, schema BLOB NOT NULL)",
    "CREATE TABLE ledger (sequence INTEGER PRIMARY KEY, generation INTEGER NOT NULL, record BLOB NOT NULL, "
    "columns BLOB NOT NULL)",
    "CREATE TABLE buckets (number INTEGER PRIMARY KEY, entries BLOB NOT NULL)",
    "CREATE TABLE blocks (id INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE TABLE parts (id INTEGER PRIMARY KEY, task INTEGER, data BLOB NOT NULL)",
)
"""The tables of a file; docs/reference/file-format.md says what they contain. FILE_ID stands for the id of the file."""
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
"""Pragmas of a file, read back: `auto_vacuum` 2 is incremental, so that a removal can return the pages it frees."""
JOURNAL = "-journal"
BESIDE = (JOURNAL, "-wal", "-shm")
"""What SQLite takes for a part of a file: its name with one of these at the end."""
Inode = tuple[int, int]
"""Which file, whatever its name: the device and the number of the inode."""
MOUNTS = Path("/proc", "self", "mountinfo")
LOCAL_LOCKS = re.compile("nolock|nobrl|local_lock=(?!none).*")
"""Options of NFS and CIFS with which locks are not sent to the server."""


def file_id(path: str | PathLike[str]) -> str:
    """Return the id of a state file: 32 hexadecimal digits, chosen at random when the file was made.

    The id is in the raw first page of the file, and in the copy of that page that every rollback journal begins with.
    No lock is taken and nothing is recovered.

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = store.create(f"{folder}/state.rw", features=["x"], target="y")
    ...     _ = state.backup(f"{folder}/copy.rw")
    ...     print(store.file_id(f"{folder}/copy.rw") == state.file_id)
    True
    """
    where = as_path(path)
    inode_of(where)
    with typed_errors(where, 0.0):
        found = first_page(where)
    if found is None:
        raise StoreError(f"{where} has no file id. Pass a file that `ridgeway init` made.")
    return found.file_id


@contextmanager
def transaction(
    path: Path, *, write: bool, timeout: float, wipe: bool = False, alone: bool = False
) -> Iterator[sqlite3.Connection]:
    """Yield a connection inside a transaction on an existing file, rolled back at the end unless committed.

    Parameters
    ----------
    write : whether to take the writers' lock, and so to wait for other writers
    timeout : the longest wait for others, in seconds
    wipe : whether pages that are freed are overwritten
    alone : whether to lock out all others, including readers, until the connection is closed
    """
    inode = inode_of(path)
    with typed_errors(path, timeout):
        try:
            with closing(_connect(path, timeout, write=write)) as connection:
                connection.execute(f"PRAGMA secure_delete = {'ON' if wipe else 'OFF'}")
                if alone:
                    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
                connection.execute(("BEGIN EXCLUSIVE" if alone else "BEGIN IMMEDIATE") if write else "BEGIN")
                try:
                    if inode_of(path) != inode:
                        raise replaced(path)
                    yield connection
                finally:
                    with suppress(sqlite3.Error):  # if this fails, the next process to open the file rolls back
                        if connection.in_transaction:
                            connection.execute("ROLLBACK")
        except BaseException:
            if write:
                _undo(path, timeout)
            raise


def _undo(path: Path, timeout: float) -> None:
    """Roll a failed write back now rather than when the file is next opened."""
    if os.path.lexists(f"{path}{JOURNAL}"):
        with suppress(sqlite3.Error, StoreError), closing(_connect(path, timeout, write=False)) as connection:
            pragma(connection, "schema_version")


def check_file(connection: sqlite3.Connection, path: Path) -> str:
    """Return the id of the file, or raise if it is not a state file of this format with exactly our tables."""
    if pragma(connection, "application_id") != APPLICATION:
        raise StoreError(f"{path} is a database, but not a Ridgeway state file. Pass a file that `ridgeway init` made.")
    found = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid").fetchall()
    mark = MARK.search(str(found[:1]))
    if mark is None:
        raise DamagedStoreError(f"{path} has no format number. {RESTORE}")
    if int(mark[1]) != FORMAT:
        raise StoreVersionError(
            f"{path} has format {mark[1]}; this version of Ridgeway reads format {FORMAT}. Upgrade Ridgeway."
        )
    for name, expected in PROPERTIES.items():
        value = pragma(connection, name)
        if value != expected:
            raise DamagedStoreError(f"{path} has {name} {value!r}; state files have {expected!r}. {RESTORE}")
    if found != [("table", *[sql.split()[2]] * 2, sql.replace("FILE_ID", mark[2])) for sql in TABLES]:
        raise DamagedStoreError(f"{path} does not have the tables of a state file. {RESTORE}")
    return mark[2]


def check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """Raise if the pages of the file do not fit together."""
    found = [str(line) for (line,) in connection.execute("PRAGMA integrity_check(1)")]
    if found != ["ok"]:
        raise DamagedStoreError(f"{path} is damaged ({'; '.join(found)}). {RESTORE}")


def pragma(connection: sqlite3.Connection, name: str) -> object:
    """Return the value of a pragma."""
    row = connection.execute(f"PRAGMA {name}").fetchone()
    return None if row is None else row[0]


def link_of(connection: sqlite3.Connection) -> int:
    """Return the link of the current generation, which is kept as SQLite's `schema_version`; see `FirstPage`."""
    (link,) = connection.execute("PRAGMA schema_version").fetchone()
    return int(link) & 0xFFFFFFFF


def set_link(connection: sqlite3.Connection, link: int) -> None:
    """Set the link of the current generation. SQLite takes a signed number."""
    connection.execute(f"PRAGMA schema_version = {link - (link >> 31 << 32)}")


def as_path(path: str | PathLike[str]) -> Path:
    """Return a path that a file can have."""
    try:
        encoded = fsencode(path)
    except (TypeError, ValueError):
        encoded = b""
    if not encoded or b"\0" in encoded:
        raise StoreError(f"{path!r} is not a file path. Pass one like 'wages.rw'.")
    return Path(fsdecode(encoded))


def checked_timeout(timeout: Any) -> float:
    """Return the longest wait for other processes, in seconds, or raise."""
    if isinstance(timeout, int | float) and not isinstance(timeout, bool) and 0.0 <= timeout < inf:
        return min(float(timeout), LONGEST_WAIT)
    raise InvalidParameterError(f"timeout must be a finite number ≥ 0, in seconds; got {timeout!r}.")


def inode_of(path: Path) -> Inode:
    """Return which file has a name, or raise if it cannot be a state file with one name of its own. Opens nothing.

    (Opening and closing the file here would drop the locks that SQLite holds on it for other threads of this process.)
    """
    try:
        found = path.lstat()
        if found.st_nlink > 1:
            found = _finish_linking(path, found)
    except FileNotFoundError:
        raise StoreError(f"there is no state file {path}. Make one with `ridgeway init`.") from None
    except (OSError, ValueError) as error:
        raise StoreError(f"{str(path)!a} cannot be reached: {error}.") from None
    if stat.S_ISLNK(found.st_mode):
        raise StoreError(f"{path} is a symbolic link, which is not followed. Pass the file itself.")
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{path} is not a regular file. Pass a file that `ridgeway init` made.")
    if found.st_nlink > 1:
        raise StoreError(
            f"{path} has {found.st_nlink} names (hard links). After a crash under one name, the journal would be "
            "missing under the others. Remove the other names, or use a copy."
        )
    if found.st_size == 0:
        raise StoreError(f"{path} is empty, so it is not a state file. Restore a copy, or make a new one.")
    _check_beside(path)
    return found.st_dev, found.st_ino


def _finish_linking(path: Path, found: os.stat_result) -> os.stat_result:
    """Unlink the temporary name of a new file if the process that made it ended before it could."""
    for other in path.parent.glob(f".{glob.escape(path.name)}.*.new"):
        with suppress(OSError):
            if os.path.samestat(other.lstat(), found):
                other.unlink()
    return path.lstat()


def _check_beside(path: Path) -> None:
    """Raise if SQLite would read something beside a file that a state file never has."""
    for suffix in BESIDE:
        beside = f"{path}{suffix}"
        try:
            mode = os.lstat(beside).st_mode
        except FileNotFoundError:
            continue
        if stat.S_ISLNK(mode):
            raise StoreError(f"{beside} is a symbolic link, which is not followed. Remove it.")
        if suffix != JOURNAL:
            raise StoreError(f"{beside} is part of a write-ahead log, which state files do not have. Move it away.")
        if not stat.S_ISREG(mode):
            raise StoreError(f"{beside} is not a regular file. Remove it.")


def replaced(path: Path) -> StoreError:
    """Return the error for a name that another file has taken."""
    return StoreError(f"{path} is not the state file that was opened: it was replaced. Open it again.")


def check_mount(path: Path) -> None:
    """Raise if the file system is known not to let processes take turns: its locks or journals are not shared.

    Only Linux says so. Elsewhere, and about other network file systems, nothing is known and nothing is refused.
    """
    try:
        lines = MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
        device = os.stat(path if path.exists() else path.parent).st_dev
    except OSError:
        return
    number, where = f"{os.major(device)}:{os.minor(device)}", os.path.realpath(path).replace(" ", r"\040")
    for fields in (line.split() for line in lines if " - " in line):
        kind, options = fields[fields.index("-") + 1], fields[-1].split(",")
        local = [option for option in options if LOCAL_LOCKS.fullmatch(option)]
        if fields[4] == where:
            raise StoreError(f"{path} is a mount point: its journal would be elsewhere. Mount its folder instead.")
        if fields[2] == number and (local or kind == "fuse.sshfs"):
            raise StoreError(
                f"{path} is on a file system of type {kind}, whose locks hold on this machine only "
                f"({', '.join(local) or kind}): writers on two machines would not take turns. Use another folder, or "
                "mount it with locks."
            )


def connect_new(path: Path) -> sqlite3.Connection:
    """Return a connection to a new, empty database, which only its owner can read; so is its journal."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    return _configured(connection)


def _connect(path: Path, timeout: float, *, write: bool) -> sqlite3.Connection:
    if os.path.lexists(f"{path}{JOURNAL}"):
        check_journal(path)
    writable = os.access(path, os.W_OK)
    if write and not writable:
        raise StoreError(f"{path} is not writable. Ask for permission, or copy the file.")
    uri = f"{path.absolute().as_uri()}?mode={'rw' if writable else 'ro'}"
    return _configured(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=timeout))


def _configured(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Return the connection with our settings, each read back; closed if that fails."""
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        for name, value in SETTINGS.items():
            connection.execute(f"PRAGMA {name} = {value}")
            if pragma(connection, name) not in (value, None):
                raise StoreError(f"SQLite {sqlite3.sqlite_version} refuses {name} = {value}. Use another build of it.")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def typed_errors(path: Path, timeout: float) -> Iterator[None]:
    """Turn the errors of SQLite and of the system into errors that say what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _typed(error, path, timeout) from error
    except UnicodeDecodeError as error:  # SQLite's own message quotes what is damaged
        raise DamagedStoreError(f"{path} is damaged (the names of its tables are unreadable). {RESTORE}") from error
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
        return StoreError(
            f"the disk is full: {path} could not be written. Nothing was changed; free some space and try again."
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return StoreError(
            f"{path} or its folder cannot be read or written ({error}). Nothing was changed; check the permissions."
        )
    if code == sqlite3.SQLITE_IOERR:
        return StoreError(f"reading or writing {path} failed ({error}). Nothing was changed; check the disk.")
    if code == sqlite3.SQLITE_NOTADB and not _begins_as_a_database(path):
        return StoreError(
            f"{path} is not a state file, or its first bytes are damaged ({error}). Pass a file that `ridgeway init` "
            "made."
        )
    return DamagedStoreError(f"{path} is damaged ({error}). {RESTORE}")


def _begins_as_a_database(path: Path) -> bool:
    """Return whether a file that SQLite rejects begins like a database: then it is a damaged one."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(DATABASE)) == DATABASE
    return False
