"""Rollback journals: whether the one beside a file is its own.

SQLite rolls a journal back before it runs any statement, and does not ask which file it was written for. So the two are
compared first: the first page of the file, and the copy of that page with which each of our journals begins.
"""

import os
import re
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from ridgeway.errors import StoreError

PAGE_BYTES = 65536
MARK = re.compile(r"/\* ridgeway format (\d{1,9}) file ([0-9a-f]{32}) \*/")
"""The comment in the first table's SQL. SQLite keeps that text in the first page of the file."""
RAW_MARK = re.compile(MARK.pattern.encode())

MAGIC = bytes.fromhex("d9d505f920a163d7")
DATABASE = b"SQLite format 3\0"
"""How a database begins. Under the name of a journal, SQLite would delete it."""
HEADER = struct.Struct(">8s5I")
"""Of a journal: magic, pages that were synced, checksum seed, pages of the file before, sector size, page size."""
SHORTEST = 512
"""The fewest bytes of a journal that SQLite rolls back."""
SUPER_BYTES = 16
"""At the end of a journal, after the name of a super-journal: length, checksum and magic. SQLite reads them first."""
LONGEST_SECTOR = 65536
FIRST_RECORD = (1).to_bytes(4)
"""How the record of the first page begins: with the number of the page."""


class FirstPage(NamedTuple):
    """What the first page of a file says: which file, and which generation of it.

    Attributes
    ----------
    file_id : str
    generation : int
    link : int
        Two numbers of 16 bits that tell generations of the same number apart, if copies of a file went separate ways:
        the lower one is drawn from the root digest, the upper one is the lower one of the generation before.
    """

    file_id: str
    generation: int
    link: int

    def follows(self, before: "FirstPage") -> bool:
        """Return whether this page may be what a transaction makes of another one."""
        if (self.file_id, self.generation) != (before.file_id, before.generation + 1):
            return False
        # SQLite's backup adds 1 to the link. Builds of SQLite that refuse to set links leave it.
        return self.link >> 16 == before.link & 0xFFFF or (self.link - before.link) & 0xFFFFFFFF in (0, 1)


class Journal(NamedTuple):
    """A journal that SQLite would roll back.

    Attributes
    ----------
    n_records : how many of its pages were synced
    n_bytes : size of the file before
    page_bytes : size of a page
    first : the page that it begins with; None if that is not the first page of a state file
    """

    n_records: int
    n_bytes: int
    page_bytes: int
    first: FirstPage | None


FOREIGN = Journal(0, 0, 0, None)
"""A journal that no version of this library writes."""


def first_page(path: Path) -> FirstPage | None:
    """Return what the first page of a file says; None if it is not the first page of a state file.

    No lock is taken and nothing is rolled back. (A plain read would drop the locks that other threads hold.)
    """
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        connection.execute("PRAGMA writable_schema = ON")  # reads the page even if those at the end are missing
        row = connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid LIMIT 1").fetchone()
        (generation,) = connection.execute("PRAGMA user_version").fetchone()
        (link,) = connection.execute("PRAGMA schema_version").fetchone()
    found = MARK.search(str(row))
    return found and FirstPage(found[2], generation, link & 0xFFFFFFFF)


def check_journal(path: Path) -> None:
    """Raise if the journal beside a file would be rolled back and belongs to another file, or to another copy."""
    while (found := _read(path)) is not None and not _belongs(found, path):
        if _read(path) == found:  # else a writer has finished in between, or begun
            raise StoreError(
                f"{path}-journal does not belong to {path}: an interrupted change to another file, or to another copy "
                "of this one, left it. Move it back beside its own file, which needs it, or move it away if that file "
                "is gone."
            )


def _belongs(journal: Journal, path: Path) -> bool:
    if journal.page_bytes != PAGE_BYTES:
        return False
    if journal.n_records == 0:  # SQLite only cuts the file to its size before
        return path.stat().st_size == journal.n_bytes
    here, before = first_page(path), journal.first
    return here is not None and before is not None and (here == before or here.follows(before))


def _read(path: Path) -> Journal | None:
    """Return the journal beside a file; None if there is none, or SQLite would delete it unread."""
    try:
        with path.with_name(f"{path.name}-journal").open("rb") as file:
            head = file.read(LONGEST_SECTOR + 4 + PAGE_BYTES)
            file.seek(max(file.seek(0, os.SEEK_END) - len(MAGIC), 0))
            end = file.read()
    except FileNotFoundError:
        return None
    if head[:1] in (b"", b"\0"):
        return None
    if head.startswith(DATABASE) or (end == MAGIC and len(head) > SUPER_BYTES):
        return FOREIGN
    if len(head) < SHORTEST or not head.startswith(MAGIC):
        return None
    _, n_records, _, n_pages, sector, page_bytes = HEADER.unpack_from(head)
    record = head[sector : sector + 4 + PAGE_BYTES]
    found = RAW_MARK.search(record) if len(record) == 4 + PAGE_BYTES and record[:4] == FIRST_RECORD else None
    first = found and FirstPage(found[2].decode(), *(int.from_bytes(record[at : at + 4]) for at in (64, 44)))
    return Journal(n_records, n_pages * page_bytes, page_bytes, first)
