"""Ways to alter a file: flipped bits, cuts, splices, and changes that SQLite itself makes."""

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from string import Template

import numpy as np

PAGE_BYTES = 65536
HEADER_BYTES = 100
CELLS = [
    (table, column)
    for table, columns in {
        "generations": "number manifest buckets root",
        "schemas": "version schema",
        "ledger": "sequence generation record columns",
        "buckets": "number entries",
        "blocks": "id data",
        "parts": "id task data",
    }.items()
    for column in columns.split()
]
READ = Template("SELECT rowid, $column FROM $table")
WRITE = Template("UPDATE $table SET $column = ? WHERE rowid = ?")
STATEMENTS = (
    "UPDATE schemas SET schema = replace(schema, 'age', 'aged')",
    "INSERT INTO schemas SELECT version + 1, schema FROM schemas",
    "DELETE FROM ledger WHERE sequence = (SELECT max(sequence) FROM ledger)",
    "DELETE FROM ledger WHERE sequence = 1",
    "UPDATE ledger SET sequence = sequence + 10",
    "UPDATE ledger SET record = replace(record, 'task-1', 'task-7')",
    "INSERT INTO ledger SELECT sequence + 100, generation, record, columns FROM ledger",
    "UPDATE ledger SET columns = zeroblob(length(columns))",
    "DELETE FROM buckets",
    "UPDATE buckets SET entries = zeroblob(length(entries))",
    "UPDATE buckets SET entries = x''",
    "INSERT INTO parts VALUES (1, 1, x'00')",
    "UPDATE parts SET data = zeroblob(length(data))",
    "UPDATE parts SET data = (SELECT other.data FROM parts other WHERE other.id > parts.id)",
    "UPDATE parts SET task = task + 1",
    "DELETE FROM parts WHERE task IS NULL",
    "DELETE FROM parts WHERE id = (SELECT max(id) FROM parts)",
    "DELETE FROM generations WHERE number = (SELECT max(number) FROM generations)",
    "UPDATE generations SET number = number + 1",
    "UPDATE blocks SET data = zeroblob(length(data))",
    "UPDATE blocks SET data = (SELECT b.data FROM blocks b WHERE b.id > blocks.id)",
    "DELETE FROM blocks WHERE id = (SELECT max(id) FROM blocks)",
    "UPDATE blocks SET data = CAST(data AS TEXT)",
    "CREATE TRIGGER t AFTER INSERT ON ledger BEGIN DELETE FROM ledger; END",
    "CREATE VIEW v AS SELECT * FROM ledger",
    "CREATE TABLE more (x)",
    "CREATE INDEX i ON ledger (generation)",
    "DROP TABLE blocks",
    "ALTER TABLE ledger ADD COLUMN x",
    "PRAGMA user_version = 2",
    "PRAGMA user_version = 0",
    "PRAGMA application_id = 1",
    "PRAGMA journal_mode = WAL",
    "PRAGMA auto_vacuum = 0",
    "VACUUM",
    "REINDEX",
)

Mutation = Callable[[bytearray, bytes, np.random.Generator], None]


def _place(content: bytearray, rng: np.random.Generator) -> int:
    """Return a random position, often in the first bytes of a page or where something is written."""
    kind = rng.integers(4)
    if kind == 0:
        return int(rng.integers(len(content)))
    if kind == 1:
        return int(rng.integers(HEADER_BYTES))
    page = int(rng.integers(max(len(content) // PAGE_BYTES, 1))) * PAGE_BYTES
    if kind == 2:
        return min(page + int(rng.integers(HEADER_BYTES)), len(content) - 1)
    used = np.flatnonzero(np.frombuffer(content, np.uint8)[page : page + PAGE_BYTES])
    return page + int(rng.choice(used)) if len(used) else page


def _flip(content: bytearray, _: bytes, rng: np.random.Generator) -> None:
    for _turn in range(int(rng.integers(1, 4))):
        content[_place(content, rng)] ^= 1 << int(rng.integers(8))


def _overwrite(content: bytearray, _: bytes, rng: np.random.Generator) -> None:
    begin, length = _place(content, rng), int(2 ** rng.uniform(0, 12))
    end = min(begin + length, len(content))
    content[begin:end] = bytes(end - begin) if rng.integers(2) else rng.bytes(end - begin)


def _cut(content: bytearray, _: bytes, rng: np.random.Generator) -> None:
    size = int(rng.integers(len(content)))
    del content[size - size % PAGE_BYTES if rng.integers(2) else size :]


def _grow(content: bytearray, _: bytes, rng: np.random.Generator) -> None:
    size = PAGE_BYTES if rng.integers(2) else int(rng.integers(1, PAGE_BYTES))
    content += bytes(size) if rng.integers(2) else rng.bytes(size)


def _move(content: bytearray, _: bytes, rng: np.random.Generator) -> None:
    """Copy, delete or insert a piece of the file; half of the time whole pages."""
    unit = PAGE_BYTES if rng.integers(2) else 1
    places = rng.integers(0, len(content) // unit + 1, size=3) * unit
    begin, end, to = int(min(places[:2])), int(max(places[:2])), int(places[2])
    piece = content[begin:end]
    kind = rng.integers(3)
    if kind == 0:
        content[to : to + len(piece)] = piece[: len(content) - to]
    elif kind == 1:
        del content[begin:end]
    else:
        content[to:to] = piece


def _splice(content: bytearray, donor: bytes, rng: np.random.Generator) -> None:
    """Replace a page, or a piece of one, by that of another file."""
    page = int(rng.integers(min(len(content), len(donor)) // PAGE_BYTES)) * PAGE_BYTES
    begin = page + int(rng.integers(PAGE_BYTES)) * int(rng.integers(2))
    content[begin : page + PAGE_BYTES] = donor[begin : page + PAGE_BYTES]


def _free_twice(content: bytearray, _: bytes, rng: np.random.Generator) -> None:
    """List a page as free that is in use, in a list that is well formed: SQLite will write over it."""
    last = len(content) // PAGE_BYTES + 1
    in_use = int(rng.integers(3, last))
    content += b"".join(number.to_bytes(4, "big") for number in (0, 1, in_use)) + bytes(PAGE_BYTES - 12)
    content[28:40] = b"".join(number.to_bytes(4, "big") for number in (last, last, 2))


BYTEWISE: dict[str, Mutation] = {
    "bits flipped": _flip,
    "bytes overwritten": _overwrite,
    "cut short": _cut,
    "grown": _grow,
    "pieces moved": _move,
    "spliced": _splice,
    "a page in use listed as free": _free_twice,
}
BY_SQL = "changed through SQLite"


def mutate(path: Path, original: bytes, donor: bytes, rng: np.random.Generator) -> str:
    """Write an altered copy of a file; return how it was altered."""
    kind = str(rng.choice([*BYTEWISE, "bits flipped", BY_SQL]))
    if kind == BY_SQL:
        path.write_bytes(original)
        _by_sql(path, rng)
        return kind
    content = bytearray(original)
    BYTEWISE[kind](content, donor, rng)
    path.write_bytes(content)
    return kind


def _by_sql(path: Path, rng: np.random.Generator) -> None:
    """Change a random value, or run a statement of the list."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        if rng.integers(3) == 0:
            connection.execute(str(rng.choice(STATEMENTS)))
            return
        table, column = CELLS[int(rng.integers(len(CELLS)))]
        cells = connection.execute(READ.substitute(table=table, column=column)).fetchall()
        if not cells:
            return
        place, value = cells[int(rng.integers(len(cells)))]
        connection.execute(WRITE.substitute(table=table, column=column), (_other(value, rng), place))


def _other(value: object, rng: np.random.Generator) -> object:
    """Return another value, of the same type or not."""
    if isinstance(value, int):
        return value + int(rng.choice([-1, 1, 2**20, 2**62])) if rng.integers(4) else str(value)
    if isinstance(value, bytes) and value and rng.integers(4):
        changed = bytearray(value)
        changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
        return bytes(changed)
    return rng.bytes(8)
