"""Format 0, read only: one generation, one value per array, no removals. Frozen; nothing here may change."""

import hashlib
import json
import sqlite3
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import Schema
from ridgeway.errors import DamagedStoreError
from ridgeway.store._connection import check_tables
from ridgeway.store._generations import FIRST
from ridgeway.store._notes import RESTORE, canonical, parsed, schema_from
from ridgeway.store._records import Record

Array = NDArray[np.float64]

TABLES = (
    "CREATE TABLE head (id INTEGER PRIMARY KEY, schema BLOB NOT NULL, root BLOB NOT NULL)",
    "CREATE TABLE ledger (sequence INTEGER PRIMARY KEY, record BLOB NOT NULL)",
    "CREATE TABLE state (id INTEGER PRIMARY KEY, name TEXT NOT NULL, shape BLOB NOT NULL, data BLOB NOT NULL)",
)


def read(connection: sqlite3.Connection, path: Path) -> tuple[Schema, list[tuple[int, Record]], dict[str, Array]]:
    """Return schema, ledger and arrays of a file of format 0, its digest checked."""
    check_tables(connection, path, TABLES)
    heads = connection.execute("SELECT schema, root FROM head").fetchall()
    records = [row[0] for row in connection.execute("SELECT record FROM ledger ORDER BY sequence")]
    state = connection.execute("SELECT name, shape, data FROM state ORDER BY id").fetchall()
    if len(heads) != 1 or root_of(heads[0][0], records, state) != heads[0][1]:
        raise DamagedStoreError(f"{path} is damaged: it is not what was committed. {RESTORE}")
    arrays = {}
    for name, shape, data in state:
        sizes = tuple(map(int, json.loads(shape)))
        if 8 * prod(sizes) != len(data):
            raise DamagedStoreError(f"{path} is damaged: the array {name!r} is not of its shape. {RESTORE}")
        arrays[str(name)] = np.frombuffer(data, dtype="<f8").reshape(sizes, order="F").astype(np.float64, order="F")
    return _schema(heads[0][0]), [(FIRST, _record(stored)) for stored in records], arrays


def root_of(schema: bytes, records: list[bytes], state: list[tuple[Any, Any, Any]]) -> bytes:
    """Return the SHA-256 over everything in the file, each part behind its length."""
    digest = hashlib.sha256()
    try:
        parts = [schema, *records, *(part for name, shape, data in state for part in (name.encode(), shape, data))]
        for part in parts:
            digest.update(len(part).to_bytes(8, "little") + part)
    except (AttributeError, TypeError) as error:
        raise DamagedStoreError(f"the state file holds a value of the wrong kind. {RESTORE}") from error
    return digest.digest()


def _schema(stored: bytes) -> Schema:
    return schema_from(canonical({"version": 1, "weight_kind": "precision", **parsed(stored)}))


def _record(stored: bytes) -> Record:
    try:
        return Record(**parsed(stored))
    except TypeError as error:
        raise DamagedStoreError(f"a record of the ledger makes no sense. {RESTORE}") from error
