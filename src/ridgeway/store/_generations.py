"""Generations: the state and the ledger at one moment, read with every digest checked, written in one transaction."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import Schema
from ridgeway.errors import DamagedStoreError, StoreError, StoreVersionError
from ridgeway.store._connection import FORMAT, check_format, check_tables, write_new
from ridgeway.store._digests import BLOCK_BYTES, bytes_of, digest_of, digesting, pieces
from ridgeway.store._notes import RESTORE, canonical, parsed, schema_from
from ridgeway.store._records import Record

Array = NDArray[np.float64]

MEMORY_BUDGET = 4 * 2**30
"""The most bytes that the arrays of a state may have, or the ledger, or they are refused before memory is asked for."""
BLOCKS_PER_GENERATION = 2**20
LARGEST_GENERATION = 2**40
FIRST = 1


class Piece(NamedTuple):
    """One array of a state: its name, its shape, and the digest of each of its blocks."""

    name: str
    shape: tuple[int, ...]
    digests: tuple[str, ...]


@dataclass(frozen=True)
class Generation:
    """A state and its ledger at one moment.

    Attributes
    ----------
    number : int
    schema : Schema
    entries : the ledger as stored, (generation, record) in order of the sequence
    manifest : the arrays, in order
    root : the digest over all of it
    """

    number: int
    schema: Schema
    entries: tuple[tuple[int, Record], ...]
    manifest: tuple[Piece, ...]
    root: bytes

    @property
    def ledger(self) -> tuple[Record, ...]:
        """The records, in order of their sequence numbers."""
        return tuple(record for _, record in self.entries)


def root_of(schema: bytes, number: int, manifest: bytes, entries: Sequence[tuple[int, bytes]]) -> bytes:
    """Return the digest over everything that a generation is."""
    rows = [digest_of(str(generation).encode(), record) for generation, record in entries]
    return digest_of(b"ridgeway state 1", schema, str(number).encode(), manifest, *rows)


def read_generation(connection: sqlite3.Connection, path: Path, *, previous: bool = False) -> Generation:
    """Return the current generation (or the one before), its root digest checked; blocks are not read yet."""
    schema, current = _read_head(connection)
    found = _rows(connection, "SELECT number, manifest, root FROM generation ORDER BY number DESC", (int, bytes, bytes))
    numbers = [number for number, _, _ in found]
    if current not in numbers or (not previous and (current != numbers[0] or len(numbers) > 2)):
        raise _damaged(path, "its generations are not those that were committed")
    if previous:
        found = [row for row in found if row[0] < current]
        if not found:
            raise StoreError(f"{path} keeps no previous generation. Bring back a copy.")
        current = found[0][0]
    manifest, root = next((manifest, root) for number, manifest, root in found if number == current)
    entries = _read_ledger(connection, path)
    if previous:
        entries = [row for row in entries if row[1] <= current]
    stored = [(generation, record) for _, generation, record in entries]
    if root_of(schema, current, manifest, stored) != root:
        raise _damaged(path, "schema, ledger or state are not what was committed")
    records = tuple((generation, Record.from_bytes(record)) for generation, record in stored)
    if [record.sequence for _, record in records] != [sequence for sequence, _, _ in entries]:
        raise _damaged(path, "the ledger is out of order")
    return Generation(current, schema_from(schema), records, _parsed_manifest(manifest, path), root)


def _read_head(connection: sqlite3.Connection) -> tuple[bytes, int]:
    heads = _rows(connection, "SELECT id, schema, current FROM head", (int, bytes, int))
    if len(heads) != 1 or heads[0][0] != 0 or not 0 < heads[0][2] < LARGEST_GENERATION:
        raise DamagedStoreError(f"the state file has no valid head. {RESTORE}")
    return heads[0][1], heads[0][2]


def _read_ledger(connection: sqlite3.Connection, path: Path) -> list[tuple[int, int, bytes]]:
    size = connection.execute("SELECT sum(length(record)) FROM ledger").fetchone()[0] or 0
    if size > MEMORY_BUDGET:
        raise StoreError(f"the ledger of {path} has {size} bytes, beyond the budget of {MEMORY_BUDGET}.")
    return _rows(connection, "SELECT sequence, generation, record FROM ledger ORDER BY sequence", (int, int, bytes))


def _rows(connection: sqlite3.Connection, query: str, kinds: tuple[type, ...]) -> list[Any]:
    found = connection.execute(query).fetchall()
    if any(type(value) is not kind for row in found for value, kind in zip(row, kinds, strict=True)):
        raise DamagedStoreError(f"the state file holds a value of the wrong kind. {RESTORE}")
    return found


def _parsed_manifest(stored: bytes, path: Path) -> tuple[Piece, ...]:
    arrays = parsed(stored).get("arrays")
    try:
        manifest = tuple(
            Piece(str(name), tuple(map(int, shape)), tuple(map(str, d))) for name, shape, d in arrays or ()
        )
        total = sum(8 * prod(piece.shape) for piece in manifest)
        fits = all(min(p.shape) > 0 and len(p.digests) == -(-8 * prod(p.shape) // BLOCK_BYTES) for p in manifest)
    except (TypeError, ValueError) as error:
        raise _damaged(path, "its table of contents makes no sense") from error
    if total > MEMORY_BUDGET:
        raise StoreError(f"the state in {path} has {total} bytes, beyond the budget of {MEMORY_BUDGET}.")
    if not manifest or not fits or len({piece.name for piece in manifest}) != len(manifest):
        raise _damaged(path, "its table of contents makes no sense")
    return manifest


def read_arrays(connection: sqlite3.Connection, generation: Generation, path: Path) -> dict[str, Array]:
    """Return the arrays of a generation, the digest of each block checked."""
    arrays = {}
    place = generation.number * BLOCKS_PER_GENERATION
    for name, shape, digests in generation.manifest:
        flat = np.empty(prod(shape), dtype="<f8")
        target = bytes_of(flat)
        for start in range(0, len(target), BLOCK_BYTES):
            view = target[start : start + BLOCK_BYTES]
            row = connection.execute("SELECT data FROM block WHERE id = ?", (place,)).fetchone()
            if row is None or type(row[0]) is not bytes or len(row[0]) != len(view):
                raise _damaged(path, f"a block of {name!r} is missing or of another size")
            view[:] = row[0]
            place += 1
        with digesting(pieces(flat)) as found:
            if tuple(found) != digests:
                raise _damaged(path, f"a block of {name!r} is not what was committed")
        arrays[name] = np.asarray(flat.reshape(shape, order="F"), dtype=np.float64)
    return arrays


def write_generation(
    connection: sqlite3.Connection,
    schema: Schema,
    number: int,
    entries: Sequence[tuple[int, Record]],
    arrays: Mapping[str, Array],
    *,
    keep: int | None,
) -> bytes:
    """Write a generation beside those that are there, make it the current one, drop all others but `keep`.

    What was written is read back before the caller commits: a damaged list of free pages must not spoil a good state.
    Returns the root digest.
    """
    views = {name: pieces(array) for name, array in arrays.items()}
    first = number * BLOCKS_PER_GENERATION
    blocks = [view for name in arrays for view in views[name]]
    with digesting(blocks) as digests:  # by other threads, while SQLite takes the blocks in
        connection.executemany("INSERT INTO block VALUES (?, ?)", enumerate(blocks, first))
        manifest = canonical(
            {"arrays": [[name, arrays[name].shape, [next(digests) for _ in views[name]]] for name in arrays]}
        )
    stored = [(generation, record.to_bytes()) for generation, record in entries]
    root = root_of(schema.to_bytes(), number, manifest, stored)
    rows = [
        (record.sequence, generation, blob) for (generation, record), (_, blob) in zip(entries, stored, strict=True)
    ]
    connection.executemany("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?)", _changed(connection, rows))
    connection.execute("INSERT INTO generation VALUES (?, ?, ?)", (number, manifest, root))
    connection.execute("UPDATE head SET current = ?", (number,))
    old = first if keep is None else keep * BLOCKS_PER_GENERATION
    connection.execute("DELETE FROM block WHERE id < ?", (old,))
    connection.execute("DELETE FROM generation WHERE number < ?", (number if keep is None else keep,))
    if keep is None:
        connection.execute("PRAGMA incremental_vacuum").fetchall()
    _read_back(connection, first, blocks, rows, (number, manifest, root))
    return root


def write_state(path: Path, schema: Schema, entries: Sequence[tuple[int, Record]], arrays: Mapping[str, Array]) -> None:
    """Make a state file, which must not exist yet, of a ledger and a state."""
    write_new(path, lambda connection: fill_with(connection, schema, entries, arrays, FIRST))


def fill_with(
    connection: sqlite3.Connection,
    schema: Schema,
    entries: Sequence[tuple[int, Record]],
    arrays: Mapping[str, Array],
    number: int,
) -> None:
    """Write the head and the only generation of a new file."""
    connection.execute("INSERT INTO head VALUES (0, ?, 0)", (schema.to_bytes(),))
    write_generation(connection, schema, number, entries, arrays, keep=None)


def _changed(connection: sqlite3.Connection, rows: list[tuple[int, int, bytes]]) -> list[tuple[int, int, bytes]]:
    """Return the rows of the ledger that are new or not as they were."""
    there = set(connection.execute("SELECT sequence, generation, record FROM ledger"))
    return [row for row in rows if row not in there]


def _read_back(
    connection: sqlite3.Connection, first: int, blocks: list[memoryview], rows: list[Any], line: tuple[Any, ...]
) -> None:
    """Raise where the file does not hold what was just written to it."""
    written = connection.execute("SELECT data FROM block WHERE id >= ? ORDER BY id", (first,))
    same = all(row is not None and row[0] == bytes(view or b"") for view, row in zip_longest(blocks, written))
    same = same and connection.execute("SELECT * FROM ledger ORDER BY sequence").fetchall() == rows
    same = same and connection.execute("SELECT * FROM generation WHERE number = ?", (line[0],)).fetchall() == [line]
    if not same:
        raise DamagedStoreError(f"the state file did not keep what was written to it; nothing was committed. {RESTORE}")


def open_generation(connection: sqlite3.Connection, path: Path) -> Generation:
    """Return the current generation of a file of today's format, after all checks that need no blocks."""
    version = check_format(connection, path)
    if version != FORMAT:
        raise StoreVersionError(f"{path} has format {version}, an older one. Open it anew, which migrates it.")
    check_tables(connection, path)
    return read_generation(connection, path)


def check_previous(connection: sqlite3.Connection, path: Path) -> int | None:
    """Return the number of the previous generation after a check of all that belongs to it; None if none is kept."""
    if connection.execute("SELECT count(*) FROM generation").fetchone()[0] == 1:
        return None
    try:
        previous = read_generation(connection, path, previous=True)
        read_arrays(connection, previous, path)
    except DamagedStoreError as error:
        raise DamagedStoreError(
            f"the current generation is in order, the one before is not ({error}) It goes with the next task."
        ) from error
    return previous.number


def _damaged(path: Path, what: str) -> DamagedStoreError:
    return DamagedStoreError(f"{path} is damaged: {what}. {RESTORE}")
