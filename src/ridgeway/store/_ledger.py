"""The ledger: one record for each task that was absorbed, found by id or by content without reading the others."""

import sqlite3
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ridgeway.errors import DamagedStoreError
from ridgeway.store._digests import DIGEST_BYTES, RESTORE, canonical, digest_of, parsed

BUCKETS = 256
KEY_BYTES, SEQUENCE_BYTES = 16, 8
ITEM_BYTES = KEY_BYTES + SEQUENCE_BYTES + DIGEST_BYTES
KEYS = ("task_id", "digest")
"""The fields by which records are found. A record that was removed has no digest."""
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

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return asdict(self)

    def to_bytes(self) -> bytes:
        """Return the record as JSON; equal records give equal bytes."""
        return canonical(asdict(self))

    @classmethod
    def from_bytes(cls, stored: bytes) -> "Record":
        """Return the record that `to_bytes` wrote, or raise `DamagedStoreError`."""
        fields = parsed(stored)
        known = fields.keys() == _KINDS.keys()
        if not known or not all(isinstance(fields[name], kind) for name, kind in _KINDS.items()):
            raise DamagedStoreError(f"a record of the ledger is invalid. {RESTORE}")
        return cls(**fields)


_KINDS: dict[str, type | tuple[type, ...]] = {
    "sequence": int,
    "task_id": str,
    "digest": str,
    "n_samples": int,
    "total_weight": float,
    "absorbed_at": str,
    "schema": int,
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
        return [_key(name, getattr(record, name)) + tail for name in KEYS if getattr(record, name)]


def _key(name: str, value: str) -> bytes:
    return digest_of(name.encode(), value.encode())[:KEY_BYTES]


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
    _buckets: dict[int, set[bytes]] = field(default_factory=dict)
    _changed: set[int] = field(default_factory=set)

    def find(self, name: str, value: str) -> list[Entry]:
        """Return the entries with a task id or a digest, in order, except those of tasks that were removed."""
        found, key = [], _key(name, value)
        for item in sorted(item for item in self._bucket(key[0]) if item.startswith(key)):
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
        for item in before.items() if before is not None else ():
            self._bucket(item[0]).remove(item)
            self._changed.add(item[0])
        for item in entry.items():
            self._bucket(item[0]).add(item)
            self._changed.add(item[0])
        for one, sign in ((before, -1), (entry, 1)):
            if one is not None and one.record.removed is None:
                self.n_tasks += sign
                self.n_samples += sign * one.record.n_samples
        self.next_sequence = max(self.next_sequence, 1 + max(entry.record.sequence, entry.record.removed or 0))
        self.changes.append(entry)

    def packed(self) -> tuple[list[tuple[int, bytes]], bytes]:
        """Return the buckets that were changed, as rows of the file, and the digests of all buckets."""
        rows = [(number, b"".join(sorted(self._buckets[number]))) for number in sorted(self._changed)]
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

    def _bucket(self, number: int) -> set[bytes]:
        if number not in self._buckets:
            query = "SELECT entries FROM buckets WHERE number = ?"
            row = None if self.connection is None else self.connection.execute(query, (number,)).fetchone()
            stored, place = b"" if row is None else row[0], number * DIGEST_BYTES
            if type(stored) is not bytes or digest_of(stored) != self.digests[place : place + DIGEST_BYTES]:
                raise self._damaged("the index of the ledger has been changed")
            self._buckets[number] = {stored[at : at + ITEM_BYTES] for at in range(0, len(stored), ITEM_BYTES)}
        return self._buckets[number]

    def _damaged(self, what: str) -> DamagedStoreError:
        return DamagedStoreError(f"{self.path} is damaged: {what}. {RESTORE}")
