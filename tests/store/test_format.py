"""The format in docs/reference/file-format.md: what later versions must be able to rely on."""

import hashlib
import os
import re
import runpy
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from store.tables import task

from ridgeway import store
from ridgeway.data import _schema
from ridgeway.errors import DamagedStoreError, StoreError
from ridgeway.store import _connection, _digests, _generations, _ledger
from ridgeway.store._changes import changing

FEATURES = ["a", "b", "c"]
PAGE = 65536
DATA = Path(__file__).with_name("data")
FORMAT_1 = runpy.run_path(str(DATA / "make_format_1.py"))
MARK = re.compile(rb"/\* ridgeway format 1 file ([0-9a-f]{32}) \*/")


def first_page(content):
    """Return the id and the number of the generation in a raw first page."""
    (found,) = MARK.findall(content[:PAGE])
    return found.decode(), *struct.unpack_from(">I", content, 60)


def journal(path):
    """Return the pages in a rollback journal, in order: (number, content)."""
    content = path.with_name(f"{path.name}-journal").read_bytes()
    sector, page = struct.unpack_from(">II", content, 20)
    assert page == PAGE
    places = range(sector, len(content) - page - 7, page + 8)
    return [(struct.unpack_from(">I", content, place)[0], content[place + 4 : place + 4 + page]) for place in places]


def rows(path, sql):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


# The id ---------------------------------------------------------------------------------------------------------------


def test_the_id_is_in_the_raw_first_page_and_stays(made, tmp_path, rng):
    tasks = [task(rng) for _ in range(3)]
    assert first_page(made.path.read_bytes()) == (made.file_id, 1)
    for number, rows_of_task in enumerate(tasks):
        made.absorb(str(number), *rows_of_task)
    made.remove("1", *tasks[1])
    assert first_page(made.path.read_bytes()) == (made.file_id, 5)
    assert store.file_id(made.path) == store.open(made.path).file_id == made.file_id
    other = store.create(tmp_path / "other.rw", features=FEATURES, target="y", information=made.schema.information)
    both = made.merge(other, tmp_path / "both.rw")
    assert len({made.file_id, other.file_id, both.file_id}) == 3
    with pytest.raises(StoreError, match="no state file"):
        store.file_id(tmp_path / "none.rw")
    with closing(sqlite3.connect(tmp_path / "x.rw")) as connection:
        connection.execute("CREATE TABLE x (y)")
    with pytest.raises(StoreError, match="no file id"):
        store.file_id(tmp_path / "x.rw")


def test_every_journal_begins_with_the_first_page_as_it_was(made, rng, monkeypatch):
    """With a small cache, pages are written to the file before the commit: the journal must name the file by then."""
    made.absorb("one", *task(rng))
    seen = []

    class Watched(sqlite3.Connection):
        def execute(self, sql, *values):
            if sql.startswith(("COMMIT", "DELETE FROM generations")):
                seen.append((sql, journal(made.path)))
            return super().execute(sql, *values)

    monkeypatch.setitem(_connection.SETTINGS, "cache_size", 1)
    with monkeypatch.context() as patch:
        connect = sqlite3.connect
        patch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, factory=Watched, **options))
        made.absorb("two", *task(rng))
    assert [sql.split()[0] for sql, _ in seen] == ["DELETE", "COMMIT"]
    for _, pages in seen:
        number, content = pages[0]
        assert number == 1
        assert first_page(content) == (made.file_id, 2)
    assert first_page(made.path.read_bytes()) == (made.file_id, 3)


KILLED = """
import os, signal, sqlite3, sys
import numpy as np
from ridgeway import store
from ridgeway.store import _changes, _connection

_connection.SETTINGS["cache_size"] = 1
_changes._read_back = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
store.open(sys.argv[1]).absorb("two", np.arange(300.0).reshape(100, 3) ** 2 % 97, np.arange(100.0))
"""


def test_the_journal_of_a_killed_transaction_names_its_file(made, rng):
    made.absorb("one", *task(rng))
    history = made.history()
    subprocess.run([sys.executable, "-c", KILLED, str(made.path)], check=False)
    number, content = journal(made.path)[0]
    assert (number, first_page(content)) == (1, (made.file_id, 2))
    file_id, generation = first_page(made.path.read_bytes())
    assert (file_id, generation in (2, 3)) == (made.file_id, True)
    assert store.file_id(made.path) == made.file_id
    assert made.history() == history


BUSY = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0.0, isolation_level=None).execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    print(error)
"""


def test_reading_the_id_keeps_the_locks_of_other_threads(made):
    """A file that is opened and closed loses the locks that its process holds; SQLite knows about that."""
    command = [sys.executable, "-c", BUSY, str(made.path)]
    with _connection.transaction(made.path, write=True, timeout=1.0):
        assert store.file_id(made.path) == made.file_id
        assert "locked" in subprocess.run(command, capture_output=True, text=True).stdout
        os.close(os.open(made.path, os.O_RDONLY))
        assert subprocess.run(command, capture_output=True, text=True).stdout == ""


def test_restoring_keeps_the_id(made, rng):
    made.absorb("one", *task(rng))
    made.absorb("two", *task(rng))
    with closing(sqlite3.connect(made.path, isolation_level=None)) as connection:
        connection.execute("UPDATE blocks SET data = x'' WHERE id >= (SELECT max(number) FROM generations) << 20")
    assert store.restore_previous(made.path).file_id == made.file_id
    assert first_page(made.path.read_bytes()) == (made.file_id, 4)
    made.check()


# The digest of a task -------------------------------------------------------------------------------------------------


def expected_column(values, chunk):
    """Return the digest of a column: of the digests of its chunks."""
    leaves = [
        hashlib.sha256(values[start : start + chunk].astype("<f8").tobytes()) for start in range(0, len(values), chunk)
    ]
    return hashlib.sha256(b"".join(leaf.digest() for leaf in leaves)).digest()


def expected_digest(columns, n_rows, weight=None):
    """Return the digest of a task from those of its columns, by name."""
    parts = [f"ridgeway task of {n_rows} rows".encode()]
    for name in sorted(columns):
        parts += [name.encode(), columns[name]]
    parts += [] if weight is None else [weight]
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).hexdigest()


@pytest.mark.parametrize("n_rows", [1, 8191, 8192, 8193, 20000])
def test_the_digest_is_a_tree_over_chunks_of_each_column(tmp_path, rng, n_rows):
    X, y = rng.normal(size=(n_rows, 3)), rng.normal(size=n_rows)
    made = store.create(tmp_path / "x.rw", features=["b", "a", "c"], target="y")
    record = made.absorb("t", X, y).record
    columns = {name: expected_column(values, 8192) for name, values in zip("bacy", [*X.T, y], strict=True)}
    assert record.digest == expected_digest(columns, n_rows)
    (entry,) = made.snapshot().ledger
    assert entry.columns == b"".join(columns[name] for name in "bacy")
    weighted = made.absorb("w", X, y, np.full(n_rows, 2.0))
    assert weighted.record.digest == expected_digest(columns, n_rows, expected_column(np.full(n_rows, 2.0), 8192))


def test_the_digest_does_not_depend_on_blocks_files_or_tiles(tmp_path, rng, monkeypatch):
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    frame = pd.DataFrame(X, columns=FEATURES).assign(y=y)
    frame.to_parquet(tmp_path / "d.parquet", row_group_size=13)
    monkeypatch.setattr(_digests, "CHUNK_ROWS", 16)
    monkeypatch.setattr(_schema, "BLOCK_ENTRIES", 1)
    digests = set()
    for number, (block, tile) in enumerate([(1, 1024), (7, 3), (16, 16), (33, 5), (1000, 1000)]):
        monkeypatch.setattr(_schema, "FEWEST_ROWS", block)
        monkeypatch.setattr(_digests, "TILE_ROWS", tile)
        made = store.create(tmp_path / f"{number}.rw", features=FEATURES, target="y")
        digests.add(made.absorb_table(tmp_path / "d.parquet", task_id="t")[0].record.digest)
        assert made.absorb("t", X, y).already
    columns = {name: expected_column(values, 16) for name, values in zip("abcy", [*X.T, y], strict=True)}
    assert digests == {expected_digest(columns, 100)}


def test_the_digest_goes_by_name_and_its_columns_survive_a_wider_schema(tmp_path, rng):
    X, y = task(rng)
    one = store.create(tmp_path / "one.rw", features=["a", "b", "c"], target="y")
    two = store.create(tmp_path / "two.rw", features=["c", "a", "b"], target="y")
    wide = store.create(tmp_path / "wide.rw", features=["a", "b", "c", "d"], target="y")
    assert one.absorb("t", X, y).record.digest == two.absorb("t", X[:, [2, 0, 1]], y).record.digest
    assert wide.absorb("t", np.column_stack([X, np.ones(20)]), y).record.digest != one.history()[0].digest
    narrow, wider = (made.snapshot().ledger[0].columns for made in (one, wide))
    assert wider[: 3 * 32] == narrow[: 3 * 32]
    assert wider[4 * 32 :] == narrow[3 * 32 :]
    swapped = store.create(tmp_path / "swapped.rw", features=["b", "a", "c"], target="y")
    assert swapped.absorb("t", X, y).record.digest != one.history()[0].digest


# The file that is kept ------------------------------------------------------------------------------------------------


def test_a_file_of_the_first_format_opens_answers_and_goes_on(tmp_path):
    """`data/format-1.rw` was written when the format was settled. Whatever changes, this test does not."""
    path = tmp_path / "copy.rw"
    path.write_bytes((DATA / "format-1.rw").read_bytes())
    opened = store.open(path)
    health = opened.check()
    assert (health.generation, health.previous, health.n_tasks, health.n_samples) == (5, None, 2, 24)
    assert opened.schema.features == tuple(FORMAT_1["FEATURES"])
    assert (opened.schema.version, opened.schema.weight_kind, opened.schema.information) == (
        1,
        "precision",
        "square_root",
    )
    found = [(record.sequence, record.task_id, record.n_samples, record.removed) for record in opened.ledger()]
    assert found == [(1, "2019", 12, None), (2, "2020", 12, 4), (3, "2021", 12, None)]
    assert [record.digest[:16] for record in opened.history()] == ["2a496d547b34fb7c", "13cd8690c419fcf3"]
    new = pd.DataFrame([[30.0, 2.0, 5.0], [45.0, 7.0, 0.0], [60.0, 0.0, 12.0]], columns=opened.schema.features)
    expected = [1.9451165227583251, 2.5503608531309485, 2.6169774894191407]
    assert np.allclose(opened.model().predict(new), expected, rtol=1e-12)
    X, y = FORMAT_1["rows"](0)
    assert opened.absorb("2019", X, y).already
    assert not opened.absorb("2022", *FORMAT_1["rows"](3)).already
    assert opened.check().n_tasks == 3
    assert opened.remove("2022", *FORMAT_1["rows"](3)).digits_lost < 3.0
    assert np.allclose(opened.model().predict(new), expected, rtol=1e-10)


def test_the_file_that_is_kept_is_what_its_script_makes(tmp_path):
    FORMAT_1["main"](tmp_path / "new.rw")
    kept, new = (store.open(path).snapshot() for path in (copied(tmp_path), tmp_path / "new.rw"))
    assert [record.digest for record in kept.tasks] == [record.digest for record in new.tasks]
    assert [entry.columns for entry in kept.ledger] == [entry.columns for entry in new.ledger]
    assert kept.generation.schemas == new.generation.schemas
    assert list(kept.arrays) == list(new.arrays)


def copied(folder):
    path = folder / "kept.rw"
    path.write_bytes((DATA / "format-1.rw").read_bytes())
    return path


# Schemas, parts, and the ledger's index -------------------------------------------------------------------------------


def test_schemas_have_versions_and_tasks_say_which(made, rng):
    made.absorb("one", *task(rng))
    assert rows(made.path, "SELECT version, schema FROM schemas") == [(1, made.schema.to_bytes())]
    assert made.schema.version == made.history()[0].schema == 1
    assert made.schema.weight_kind == "precision"


def test_there_is_a_table_of_parts_and_it_is_empty(made):
    assert rows(made.path, "SELECT id, task, data FROM parts") == []
    with closing(sqlite3.connect(made.path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO parts VALUES (1048576, 1, x'00')")
    with pytest.raises(DamagedStoreError, match="parts"):
        store.open(made.path)


def test_opening_and_absorbing_do_not_read_the_whole_ledger(made, rng, monkeypatch):
    tasks = {f"t{number}": task(rng, rows=4) for number in range(12)}
    for name, rows_of_task in tasks.items():
        made.absorb(name, *rows_of_task)
    read = []
    real = _ledger.Ledger._stored
    monkeypatch.setattr(_ledger.Ledger, "_stored", lambda self, place: read.append(place) or real(self, place))
    monkeypatch.setattr(_generations, "_rows", _few(_generations._rows))
    opened = store.open(made.path)
    assert not opened.absorb("new", *task(rng)).already
    assert opened.absorb("t7", *tasks["t7"]).already
    assert set(read) == {8}
    assert opened.remove("t7", *tasks["t7"]).record.removed == 14
    monkeypatch.undo()
    made.check()


def _few(real):
    def few(connection, query, kinds):
        assert "ledger" not in query
        return real(connection, query, kinds)

    return few


def test_the_index_finds_what_a_scan_finds(tmp_path, rng):
    """Many tasks, some of them in the same bucket, some forced in, some removed."""
    made = store.create(tmp_path / "x.rw", features=["a"], target="y")
    frame = pd.DataFrame({"a": rng.normal(size=1500), "y": rng.normal(size=1500), "t": np.arange(1500) // 3})
    frame.to_parquet(tmp_path / "d.parquet")
    made.absorb_table(tmp_path / "d.parquet", task_column="t")
    one = frame[frame["t"] == 7]
    made.absorb("7 again", one[["a"]], one["y"], force="twice")
    made.absorb("7", one[["a"]] + 1.0, one["y"], force="corrected")
    made.remove("7", one[["a"]], one["y"])
    made.check()
    records = made.history()
    with changing(made._handle) as change:
        for record in records:
            for found, name in (
                (change.ledger.find("task_id", record.task_id), "task_id"),
                (change.ledger.find("digest", record.digest), "digest"),
            ):
                expected = [other for other in records if getattr(other, name) == getattr(record, name)]
                assert [entry.record for entry in found] == expected
        assert change.ledger.find("task_id", "none") == change.ledger.find("digest", "") == []
    sizes = [size for (size,) in rows(made.path, "SELECT length(entries) FROM buckets")]
    assert max(sizes) > 56
    assert sum(sizes) == 56 * (2 * len(records) + 1)
