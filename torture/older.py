"""A state file of format 0, written out by hand."""

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from ridgeway import store
from ridgeway.store._format0 import TABLES

APPLICATION, PAGE_BYTES = 0x52647779, 65536


def write_format_0(path: Path, today: store.Store) -> None:
    """Write what a state file of today holds as format 0 had it. No task may have been removed."""
    schema = today.schema.to_bytes()
    records = [record.to_bytes() for record in today.history()]
    arrays = today.model().to_arrays()
    state = [
        (name, json.dumps(array.shape).encode(), np.ravel(array, order="F").astype("<f8").tobytes())
        for name, array in sorted(arrays.items())
    ]
    parts: list[Any] = [
        schema,
        *records,
        *(part for name, shape, data in state for part in (name.encode(), shape, data)),
    ]
    root = hashlib.sha256(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).digest()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("BEGIN")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        for sql in TABLES:
            connection.execute(sql)
        connection.execute("INSERT INTO head VALUES (0, ?, ?)", (schema, root))
        connection.executemany("INSERT INTO ledger VALUES (?, ?)", list(enumerate(records, 1)))
        connection.executemany("INSERT INTO state (name, shape, data) VALUES (?, ?, ?)", state)
        connection.execute("COMMIT")
