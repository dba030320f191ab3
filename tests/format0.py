"""State files of format 0, as that format was: frozen, so that they can be migrated for as long as it is promised."""

import hashlib
import json
import sqlite3
from contextlib import closing

APPLICATION = 0x52647779
TABLES = (
    "CREATE TABLE head (id INTEGER PRIMARY KEY, schema BLOB NOT NULL, root BLOB NOT NULL)",
    "CREATE TABLE ledger (sequence INTEGER PRIMARY KEY, record BLOB NOT NULL)",
    "CREATE TABLE state (id INTEGER PRIMARY KEY, name TEXT NOT NULL, shape BLOB NOT NULL, data BLOB NOT NULL)",
)


def write_format0(store, path):
    """Write what a store holds as a file of format 0, which knew no removals."""
    generation, arrays = store.snapshot()
    schema = generation.schema.to_bytes()
    records = []
    for record in generation.ledger:
        fields = record.as_dict()
        if fields.pop("removed") is not None or fields.pop("digits_lost") is not None:
            raise ValueError("format 0 knew no removals")
        records.append((record.sequence, json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()))
    state = [
        (name, json.dumps(array.shape).encode(), array.astype("<f8").tobytes(order="F"))
        for name, array in arrays.items()
    ]
    digest = hashlib.sha256()
    parts = [schema, *(record for _, record in records)]
    for name, shape, data in state:
        parts += [name.encode(), shape, data]
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA page_size = 65536")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("BEGIN")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        for sql in TABLES:
            connection.execute(sql)
        connection.execute("INSERT INTO head VALUES (0, ?, ?)", (schema, digest.digest()))
        connection.executemany("INSERT INTO ledger VALUES (?, ?)", records)
        connection.executemany("INSERT INTO state (name, shape, data) VALUES (?, ?, ?)", state)
        connection.execute("COMMIT")
