"""Generations: the state and the ledger at one moment, read with every digest checked."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ridgeway.data import Schema
from ridgeway.errors import DamagedStoreError, StoreError
from ridgeway.store._connection import check_file, pragma
from ridgeway.store._digests import (
    BLOCK_BYTES,
    DIGEST_BYTES,
    RESTORE,
    Array,
    blocks_of,
    digest_of,
    digesting,
    parsed,
    schema_from,
    task_digest,
)
from ridgeway.store._ledger import BUCKETS, KEY_BYTES, Entry, Ledger, Record
from ridgeway.store._nodes import NodeRef

MEMORY_BUDGET = 4 * 2**30
"""Limit on the bytes of a state's arrays, and of the ledger. Larger ones are refused before memory is allocated."""
RECORD_BYTES = 2048
"""Bytes of memory for a record that was read, apart from twice its bytes in the file."""
BLOCKS_PER_GENERATION = 2**20
LARGEST_GENERATION = 2**31 - 1
"""SQLite keeps the number of the generation in 32 bits, one for the sign."""
DTYPES = {"<f8": 8, "|u1": 1}
"""Types of arrays, and the bytes of an element."""

LEDGER = "SELECT sequence, generation, record, x'' FROM ledger ORDER BY sequence"
ALL_OF_LEDGER = "SELECT sequence, generation, record, columns FROM ledger ORDER BY sequence"


class Piece(NamedTuple):
    """One array of a state: its name, type and shape, and the digest of each of its blocks."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    digests: tuple[str, ...]


class KeptParts(NamedTuple):
    """The tree of parts of a generation.

    Attributes
    ----------
    root : where it begins; None if there are no parts
    replaced : the ids of nodes that only the previous generation has
    free : the ids of nodes that no generation has any more, which new ones may take
    next_id : the first id that was never used
    """

    root: NodeRef | None = None
    replaced: tuple[int, ...] = ()
    free: tuple[int, ...] = ()
    next_id: int = 1

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"free": self.free, "next": self.next_id, "replaced": self.replaced, "root": self.root}


@dataclass(frozen=True)
class Generation:
    """A state and its ledger at one moment.

    Attributes
    ----------
    file_id : str
    number : int
    schemas : the schemas so far, as stored
    schema : the last of them, which is in force
    pieces : the arrays, in order
    buckets : the digests of the ledger's buckets
    n_tasks, n_samples : tasks and rows of the ledger, not counting what was removed
    next_sequence : the sequence number of what happens next
    root : the digest over all of it
    is_current : whether it is the last one
    parts : the tree of parts; None if only the total is kept
    """

    file_id: str
    number: int
    schemas: tuple[bytes, ...]
    schema: Schema
    pieces: tuple[Piece, ...]
    buckets: bytes
    n_tasks: int
    n_samples: int
    next_sequence: int
    root: bytes
    is_current: bool
    parts: KeptParts | None = None


def root_of(file_id: str, number: int, schemas: Sequence[bytes], manifest: bytes, buckets: bytes) -> bytes:
    """Return the digest over everything that a generation is."""
    return digest_of(b"ridgeway state", file_id.encode(), str(number).encode(), manifest, buckets, *schemas)


def read_generation(connection: sqlite3.Connection, path: Path, *, previous: bool = False) -> Generation:
    """Return the current generation, or the one before it, its root digest checked; ledger and arrays are not read."""
    file_id, current = check_file(connection, path), pragma(connection, "user_version")
    query = "SELECT number, manifest, buckets, root FROM generations ORDER BY number DESC"
    found = list(_rows(connection, query, (int, bytes, bytes, bytes)))
    numbers = [row[0] for row in found]
    if current not in numbers or (not previous and (current != numbers[0] or len(numbers) > 2)):
        raise _damaged(path, "its generations are not those that were committed")
    if previous:
        found = [row for row in found if row[0] < current]
        if not found:
            raise StoreError(
                f"{path} keeps no previous generation to go back to. If the file is damaged, restore it from a copy."
            )
    number, manifest, buckets, root = found[0]
    schemas = list(_rows(connection, "SELECT version, schema FROM schemas ORDER BY version", (int, bytes)))
    fields, pieces = _parsed_manifest(manifest, path)
    known = tuple(schema for version, schema in schemas if version <= fields["schema"] or not previous)
    expected = root_of(file_id, number, known, manifest, buckets)
    if expected != root or len(buckets) != BUCKETS * DIGEST_BYTES:
        raise _damaged(path, "schema, ledger or state are not what was committed")
    if [version for version, _ in schemas[: len(known)]] != list(range(1, fields["schema"] + 1)):
        raise _damaged(path, "its schemas are not those that were committed")
    schema, parts = schema_from(known[-1]), fields["parts"]
    if (schema.keep is None) != (parts is None):
        raise _damaged(path, "its manifest is not that of its schema")
    if parts is None and connection.execute("SELECT count(*) FROM parts").fetchone() != (0,):
        raise _damaged(path, "it has parts that its tasks do not have")
    if not previous and (connection.execute("SELECT max(sequence) FROM ledger").fetchone()[0] or 0) >= fields["next"]:
        raise _damaged(path, "the next sequence number is taken")
    counts = fields["tasks"], fields["rows"], fields["next"]
    return Generation(file_id, number, known, schema, pieces, buckets, *counts, root, not previous, parts)


def read_ledger(connection: sqlite3.Connection, generation: Generation, path: Path) -> tuple[Entry, ...]:
    """Return the whole ledger of a generation, every digest checked."""
    return tuple(stream_ledger(connection, generation, path))


def check_ledger(connection: sqlite3.Connection, generation: Generation, path: Path) -> None:
    """Check every digest of the ledger of a generation; its records are not kept in memory."""
    for _ in stream_ledger(connection, generation, path):
        pass


def stream_ledger(
    connection: sqlite3.Connection, generation: Generation, path: Path, *, full: bool = True
) -> Iterator[Entry]:
    """Yield the ledger of a generation; the digests are known to be right once the last entry has been taken.

    If not `full`, the digests of columns and the index are not read.
    """
    sizes = "SELECT count(*), sum(length(record) + length(columns)) FROM ledger"
    n_records, n_bytes = connection.execute(sizes).fetchone()
    check_budget(path, RECORD_BYTES * n_records + 2 * (n_bytes or 0), "ledger")
    found = Ledger(None, path)
    rows = _rows(connection, ALL_OF_LEDGER if full else LEDGER, (int, int, bytes, bytes))
    known = (row for row in rows if row[1] <= generation.number or generation.is_current)
    schemas = [schema_from(stored) for stored in generation.schemas]
    yield from validated((_entry(row, generation, path) for row in known), found, schemas, path, full=full)
    buckets, digests = found.packed()
    counts = found.n_tasks, found.n_samples, found.next_sequence
    if digests != generation.buckets or counts != (generation.n_tasks, generation.n_samples, generation.next_sequence):
        raise _damaged(path, "the ledger is not what was committed")
    if full and generation.is_current:
        stored = _rows(connection, "SELECT number, entries FROM buckets ORDER BY number", (int, bytes))
        if any(row != bucket for row, bucket in zip_longest((row for row in stored if row[1]), buckets)):
            raise _damaged(path, "the index of the ledger has been changed")


def validated(
    entries: Iterable[Entry], found: Ledger, schemas: Sequence[Schema], path: Path, *, full: bool = True
) -> Iterator[Entry]:
    """Yield the entries of a ledger, each checked and counted in `found`; after the last one, check them together.

    Every event has a number of its own, from 1 without a gap. Two tasks with the same id or content need a reason.
    """
    last, n_events, removals, first = 0, 0, set[int](), defaultdict[int, bytearray](bytearray)
    for entry in entries:
        record = entry.record
        if record.sequence <= last or record.sequence in removals or record.removed in removals:
            raise _damaged(path, f"the sequence numbers of task {record.task_id!a} are taken")
        if record.schema > len(schemas):
            raise _damaged(path, f"task {record.task_id!a} has a schema that is not there")
        if full:
            _check_columns(entry, schemas[record.schema - 1], path)
        items = found.count(entry)
        if record.removed is not None:
            removals.add(record.removed)
        elif record.reason is None:
            for item in items:
                first[item[0]] += item[:KEY_BYTES]
        last, n_events = record.sequence, n_events + 1
        yield entry
    if n_events + len(removals) != found.next_sequence - 1:
        raise _damaged(path, "the ledger has events that are not there")
    for keys in first.values():
        if len({bytes(keys[at : at + KEY_BYTES]) for at in range(0, len(keys), KEY_BYTES)}) * KEY_BYTES < len(keys):
            raise _damaged(path, "two tasks have the same id or the same content, without a reason")


def _entry(row: tuple[int, int, bytes, bytes], generation: Generation, path: Path) -> Entry:
    sequence, number, stored, columns = row
    record = Record.from_bytes(stored)
    if record.to_bytes() != stored or record.sequence != sequence or not 0 < number <= generation.number:
        raise _damaged(path, "the ledger is not what was committed")
    return Entry(number, record, columns)


def _check_columns(entry: Entry, schema: Schema, path: Path) -> None:
    """Raise if the digests of columns do not make up the digest of the task."""
    _, record, columns = entry
    expected = task_digest(schema.sources, record.n_samples, columns)
    if (record.digest, columns) != ((expected, columns) if record.removed is None else ("", b"")):
        raise _damaged(path, f"the columns of task {record.task_id!a} are not those of its digest")


def check_budget(path: Path, n_bytes: int, what: str, remedy: str = "") -> None:
    """Raise if something would take more memory than the budget."""
    if n_bytes > MEMORY_BUDGET:
        said = f"the {what} of {path} takes {n_bytes} bytes of memory, beyond the budget of {MEMORY_BUDGET}. {remedy}"
        raise StoreError(said.strip())


def _rows(connection: sqlite3.Connection, query: str, kinds: tuple[type, ...]) -> Iterator[Any]:
    for row in connection.execute(query):
        if any(type(value) is not kind for value, kind in zip(row, kinds, strict=True)):
            raise DamagedStoreError(f"the state file has a value of the wrong type. {RESTORE}")
        yield row


def _parsed_manifest(stored: bytes, path: Path) -> tuple[dict[str, Any], tuple[Piece, ...]]:
    """Return the manifest of a generation: its counts, and its arrays."""
    fields = parsed(stored)
    arrays = fields.pop("arrays", None)
    try:
        pieces = tuple(
            Piece(str(name), str(dtype), tuple(map(int, shape)), tuple(map(str, digests)))
            for name, dtype, shape, digests in arrays or ()
        )
        sizes = [DTYPES[piece.dtype] * prod(piece.shape) for piece in pieces]
        fits = all(
            min(piece.shape) > 0 and len(piece.digests) == -(-size // BLOCK_BYTES)
            for piece, size in zip(pieces, sizes, strict=True)
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, "its manifest is invalid") from error
    check_budget(path, sum(sizes), "state")
    counts = [fields.get(name) for name in ("next", "rows", "schema", "tasks")]
    whole = all(type(count) is int and count >= 0 for count in counts) and "parts" in fields
    if fields.get("parts") is not None:
        fields["parts"] = _parsed_parts(fields["parts"], path)
    if not pieces or not fits or not whole or len(fields) != 5 or len({p.name for p in pieces}) != len(pieces):
        raise _damaged(path, "its manifest is invalid")
    return fields, pieces


def _parsed_parts(found: Any, path: Path) -> KeptParts:
    """Return what a manifest says about parts."""
    try:
        root, replaced, free, following = found["root"], tuple(found["replaced"]), tuple(found["free"]), found["next"]
        place = None if root is None else NodeRef(*root)
        ids = [*replaced, *free, following, *([] if place is None else [place.id])]
        if len(found) == 4 and all(type(one) is int and one > 0 for one in ids):
            return KeptParts(place, replaced, free, following)
    except (KeyError, TypeError, ValueError):
        pass
    raise _damaged(path, "its manifest is invalid")


def read_arrays(connection: sqlite3.Connection, generation: Generation, path: Path) -> dict[str, Array]:
    """Return the arrays of a generation, the digest of each block checked."""
    arrays = {}
    place = generation.number * BLOCKS_PER_GENERATION
    for name, dtype, shape, digests in generation.pieces:
        array = np.empty(shape, dtype)
        views = blocks_of(array)
        for view in views:
            row = connection.execute("SELECT data FROM blocks WHERE id = ?", (place,)).fetchone()
            if row is None or type(row[0]) is not bytes or len(row[0]) != len(view):
                raise _damaged(path, f"a block of {name!r} is missing or has another size")
            view[:] = row[0]
            place += 1
        with digesting(views) as found:
            if tuple(found) != digests:
                raise _damaged(path, f"a block of {name!r} is not what was committed")
        arrays[name] = array
    return arrays


def _damaged(path: Path, what: str) -> DamagedStoreError:
    return DamagedStoreError(f"{path} is damaged: {what}. {RESTORE}")
