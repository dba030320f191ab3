"""The ledger: one record for each task that was absorbed, found by id or by content without reading the others."""

import re
import sqlite3
import unicodedata
from bisect import bisect_left, insort
from dataclasses import dataclass, field
from itertools import takewhile
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from ridgeway.errors import DamagedStoreError
from ridgeway.store._digests import DIGEST_BYTES, RESTORE, canonical, digest_of, parsed

BUCKETS = 256
KEY_BYTES, SEQUENCE_BYTES = 16, 8
ITEM_BYTES = KEY_BYTES + SEQUENCE_BYTES + DIGEST_BYTES
KEYS = ("task_id", "digest")
"""The fields by which records are found. A record that was removed has no digest."""
DIGEST = re.compile(r"[0-9a-f]{64}")
CONTROLS = ("Cc", "Cf", "Cs")
"""Unicode categories of characters that a terminal may obey, or that are not text."""
MOST_EVENTS, MOST_ROWS = 2**63 - 1, 2**53
NO_BUCKETS = BUCKETS * digest_of(b"")
"""The digests of the buckets of an empty ledger."""


@dataclass(frozen=True)
class Record:
    """One task of the ledger.

    Attributes
    ----------
    sequence : int
        Position in the order of events, which does not depend on the clock.
    task_id : str
    digest : str
        Digest of the values. Empty once the task is removed.
    n_samples : int
        Number of rows, not counting those of weight zero.
    total_weight : float
    absorbed_at : str
        Time by the clock, for people to read.
    schema : int
        Version of the schema under which the task was learned.
    reason : str or None
        Why the task was forced in beside one with the same id or content.
    removed : int or None
        Sequence number of the removal, if the task was removed.
    digits_lost : float or None
        Decimal digits that the removal may have cost.

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = store.create(f"{folder}/state.rw", features=["x"], target="y")
    ...     _ = state.absorb("May", [[0.0], [1.0]], [1.0, 2.0])
    ...     _ = state.absorb("June", [[2.0]], [4.0])
    ...     records = state.history()
    >>> [(record.sequence, record.task_id, record.n_samples) for record in records]
    [(1, 'May', 2), (2, 'June', 1)]
    """

    sequence: int
    task_id: str
    digest: str
    n_samples: int
    total_weight: float
    absorbed_at: str
    schema: int
    reason: str | None = None
    removed: int | None = None
    digits_lost: float | None = None

    @property
    def note(self) -> str:
        """When the task was removed, or why it was forced in, in words."""
        return f"removed at #{self.removed}" if self.removed else self.reason or ""

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return dict(vars(self))

    def to_bytes(self) -> bytes:
        """Return the record as JSON; equal records give equal bytes."""
        return canonical(vars(self))

    @classmethod
    def from_bytes(cls, stored: bytes) -> "Record":
        """Return the record that `to_bytes` wrote, or raise `DamagedStoreError`."""
        fields = parsed(stored)
        known = fields.keys() == _KINDS.keys() and all(type(fields[name]) in kinds for name, kinds in _KINDS.items())
        record = cls(**fields) if known else None
        if record is None or not record.is_valid():
            raise DamagedStoreError(f"a record of the ledger is invalid. {RESTORE}")
        return record

    def is_valid(self) -> bool:
        """Return whether the values can be those of a task: safe to print, in range, and without contradiction."""
        if self.removed is None:
            removal = self.digits_lost is None and DIGEST.fullmatch(self.digest) is not None
        else:
            lost = -1.0 if self.digits_lost is None else self.digits_lost
            removal = self.sequence < self.removed < MOST_EVENTS and 0.0 <= lost < inf and not self.digest
        in_range = 0 < self.sequence < MOST_EVENTS and 0 <= self.n_samples <= MOST_ROWS and self.schema > 0
        texts = (self.task_id, self.absorbed_at, self.reason or "")
        return removal and in_range and 0.0 <= self.total_weight < inf and all(map(_is_plain, texts)) and texts[0] != ""


def _is_plain(text: str) -> bool:
    return text.isprintable() or not any(unicodedata.category(character) in CONTROLS for character in text)


_KINDS: dict[str, tuple[type, ...]] = {
    "sequence": (int,),
    "task_id": (str,),
    "digest": (str,),
    "n_samples": (int,),
    "total_weight": (float,),
    "absorbed_at": (str,),
    "schema": (int,),
    "reason": (str, type(None)),
    "removed": (int, type(None)),
    "digits_lost": (float, type(None)),
}


class Entry(NamedTuple):
    """A record as the file keeps it: with the generation that wrote it, and the digests of the task's columns."""

    generation: int
    record: Record
    columns: bytes

    def items(self) -> list[bytes]:
        """Return what the buckets keep of the record: under its id and, unless removed, under its content."""
        record = self.record
        digest = digest_of(str(self.generation).encode(), record.to_bytes())
        tail = record.sequence.to_bytes(SEQUENCE_BYTES, "big") + digest
        values = {name: getattr(record, name).encode() for name in KEYS}
        return [digest_of(name.encode(), value)[:KEY_BYTES] + tail for name, value in values.items() if value]


@dataclass
class Ledger:
    """The ledger of a generation, read and changed a bucket at a time.

    A bucket holds the items of all records whose key begins with its number. Its digest is among those of the
    generation, so what is found, and that nothing more is there, is certain.

    Attributes
    ----------
    connection, path : the file; without a connection the ledger starts empty
    digests : bytes
        The digests of the buckets as they are in the file.
    n_tasks, n_samples : int
        Tasks and rows, not counting what was removed.
    next_sequence : int
    changes : list of Entry
        What was added or replaced.
    """

    connection: sqlite3.Connection | None
    path: Path
    digests: bytes = NO_BUCKETS
    n_tasks: int = 0
    n_samples: int = 0
    next_sequence: int = 1
    changes: list[Entry] = field(default_factory=list)
    _buckets: dict[int, list[bytes]] = field(default_factory=dict)
    _changed: set[int] = field(default_factory=set)

    def find(self, name: str, value: str) -> list[Entry]:
        """Return the entries with a task id or a digest, in order, except those of tasks that were removed."""
        found, key = [], digest_of(name.encode(), value.encode())[:KEY_BYTES]
        bucket = self._bucket(key[0])
        for item in takewhile(lambda item: item.startswith(key), bucket[bisect_left(bucket, key) :]):
            sequence = int.from_bytes(item[KEY_BYTES : KEY_BYTES + SEQUENCE_BYTES], "big")
            entry = next((entry for entry in self.changes if entry.record.sequence == sequence), None)
            entry = self._stored(sequence) if entry is None else entry
            if item not in entry.items():
                raise self._damaged(f"record {sequence} of the ledger has been changed")
            if entry.record.removed is None and getattr(entry.record, name) == value:
                found.append(entry)
        return found

    def put(self, entry: Entry, before: Entry | None = None) -> None:
        """Add an entry, or replace another by it."""
        if before is not None:
            for item in before.items():
                self._bucket(item[0]).remove(item)
                self._changed.add(item[0])
            self.n_tasks -= 1
            self.n_samples -= before.record.n_samples
        self.count(entry)
        self.changes.append(entry)

    def count(self, entry: Entry) -> list[bytes]:
        """Take an entry into the index and the counts, but not into the changes; return its items."""
        items = entry.items()
        for item in items:
            insort(self._bucket(item[0]), item)
            self._changed.add(item[0])
        if entry.record.removed is None:
            self.n_tasks += 1
            self.n_samples += entry.record.n_samples
        self.next_sequence = max(self.next_sequence, 1 + max(entry.record.sequence, entry.record.removed or 0))
        return items

    def packed(self) -> tuple[list[tuple[int, bytes]], bytes]:
        """Return the buckets that were changed, as rows of the file, and the digests of all buckets."""
        rows = [(number, b"".join(self._buckets[number])) for number in sorted(self._changed)]
        digests = bytearray(self.digests)
        for number, joined in rows:
            digests[number * DIGEST_BYTES : (number + 1) * DIGEST_BYTES] = digest_of(joined)
        return rows, bytes(digests)

    def _stored(self, sequence: int) -> Entry:
        query = "SELECT generation, record, columns FROM ledger WHERE sequence = ?"
        row = None if self.connection is None else self.connection.execute(query, (sequence,)).fetchone()
        if row is None or [type(value) for value in row] != [int, bytes, bytes]:
            raise self._damaged(f"record {sequence} of the ledger is missing or of another type")
        return Entry(row[0], Record.from_bytes(row[1]), row[2])

    def _bucket(self, number: int) -> list[bytes]:
        if number not in self._buckets:
            query = "SELECT entries FROM buckets WHERE number = ?"
            row = None if self.connection is None else self.connection.execute(query, (number,)).fetchone()
            stored, place = b"" if row is None else row[0], number * DIGEST_BYTES
            if type(stored) is not bytes or digest_of(stored) != self.digests[place : place + DIGEST_BYTES]:
                raise self._damaged("the index of the ledger has been changed")
            self._buckets[number] = [stored[at : at + ITEM_BYTES] for at in range(0, len(stored), ITEM_BYTES)]
        return self._buckets[number]

    def _damaged(self, what: str) -> DamagedStoreError:
        return DamagedStoreError(f"{self.path} is damaged: {what}. {RESTORE}")
