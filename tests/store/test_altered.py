"""Promises 6 and 8 of docs/store.md: no altered file answers, and unsound state is never committed."""

import sqlite3
from contextlib import closing, suppress

import numpy as np
import pytest
from store.tables import same, task

from ridgeway import store
from ridgeway.errors import (
    DamagedStoreError,
    InvalidDataError,
    InvalidStateError,
    StoreError,
)
from ridgeway.store import _state
from ridgeway.store._digests import canonical, parsed


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM generations WHERE number = (SELECT max(number) FROM generations)",
        "UPDATE generations SET manifest = CAST(replace(manifest, '[3', '[4') AS BLOB)",
        "UPDATE generations SET buckets = zeroblob(length(buckets))",
        "UPDATE generations SET buckets = x''",
        "INSERT INTO generations VALUES (99, x'00', x'00', x'00')",
        "UPDATE schemas SET schema = CAST(replace(schema, '\"a\"', '\"d\"') AS BLOB)",
        "UPDATE schemas SET version = 2",
        "INSERT INTO schemas SELECT 2, schema FROM schemas",
        "DELETE FROM schemas",
        "DELETE FROM ledger WHERE sequence = 2",
        "UPDATE ledger SET record = CAST(replace(record, 'two', 'too') AS BLOB)",
        "UPDATE ledger SET record = CAST(record || ' ' AS BLOB)",
        "UPDATE ledger SET generation = generation + 1",
        "UPDATE ledger SET generation = 'x' WHERE sequence = 2",
        "UPDATE ledger SET record = 5 WHERE sequence = 1",
        "UPDATE ledger SET columns = zeroblob(length(columns))",
        "UPDATE ledger SET columns = x''",
        "INSERT INTO ledger VALUES (9, 9, x'00', x'00')",
        "INSERT INTO ledger SELECT sequence + 2, generation, record, columns FROM ledger",
        "UPDATE buckets SET entries = zeroblob(length(entries))",
        "UPDATE buckets SET entries = 'x'",
        "DELETE FROM buckets",
        "INSERT INTO buckets VALUES (1000, x'00')",
        "INSERT INTO parts VALUES (1, 1, x'00')",
        "UPDATE blocks SET data = data || x'00'",
        "DELETE FROM blocks WHERE id = (SELECT max(id) FROM blocks)",
        "UPDATE blocks SET data = zeroblob(length(data)) WHERE id >> 20 = (SELECT max(number) FROM generations)",
        "CREATE TABLE more (x)",
        "CREATE VIEW more AS SELECT * FROM ledger",
        "CREATE TRIGGER more AFTER INSERT ON ledger BEGIN DELETE FROM blocks; END",
        "PRAGMA application_id = 1",
        "PRAGMA user_version = 2",
        "PRAGMA user_version = 4",
        "PRAGMA journal_mode = WAL",
    ],
)
def test_alterations_are_found_out(made, rng, sql):
    """A full check finds each of them; other calls answer as before or raise, and nothing is counted twice."""
    X, y = task(rng)
    made.absorb("one", X, y)
    made.absorb("two", X + 1, y)
    history, coef = made.history(), made.model().coef_
    with closing(sqlite3.connect(made.path, isolation_level=None)) as connection:
        connection.execute(sql)
    with pytest.raises(StoreError):
        made.check()
    for call, expected in [
        (made.history, history),
        (lambda: store.open(made.path).model().coef_.tolist(), coef.tolist()),
        (lambda: made.absorb("two", X + 1, y).already, True),
        (lambda: made.absorb("one", X, y).already, True),
    ]:
        with suppress(StoreError):
            assert call() == expected


def test_every_flipped_bit_of_the_first_pages_and_of_the_state(made, rng):
    X, y = task(rng)
    made.absorb("one", X, y)
    content = bytearray(made.path.read_bytes())
    expected, history = made.model(), made.history()
    used = [i for i in range(len(content)) if content[i]]
    found = 0
    for place in [*range(100), *rng.choice(used, size=300)]:
        content[place] ^= 1 << int(rng.integers(8))
        flipped = made.path.with_name("flipped.rw")
        flipped.write_bytes(content)
        content[:] = made.path.read_bytes()
        try:
            opened = store.open(flipped, timeout=0.1)
            assert same(opened.model(), expected)
            assert opened.history() == history
        except StoreError:
            found += 1
    assert found > 100


def test_another_file_in_the_same_place(made, tmp_path, rng):
    """Another file is noticed by its id, even if it has the same columns."""
    other = store.create(
        tmp_path / "other.rw", features=["a", "b", "c"], target="y", information=made.schema.information
    )
    other.path.replace(made.path)
    before = made.path.read_bytes()
    for call in (made.history, made.model, made.check, lambda: made.absorb("one", *task(rng))):
        with pytest.raises(StoreError, match="not the state file that was opened"):
            call()
    assert made.path.read_bytes() == before


def test_unsound_state_is_never_committed(made, kind, rng, monkeypatch):
    X, y = task(rng)
    made.absorb("one", X, y)
    before = made.path.read_bytes()
    real = _state.to_arrays

    def spoiled(change):
        def arrays(state):
            result = {name: array.copy() for name, array in real(state).items()}
            change(result)
            return result

        return arrays

    def negative(arrays):
        arrays["matrix"][[0, 2, 5, 9]] *= -1.0

    def indefinite(arrays):
        arrays["matrix"][1] = 1.5 * np.sqrt(arrays["matrix"][0] * arrays["matrix"][2])

    def header(**fields):
        def change(arrays):
            text = canonical({**parsed(arrays["header"].tobytes()), **fields})
            arrays["header"] = np.frombuffer(text, dtype=np.uint8)

        return change

    changes = [
        lambda arrays: arrays["matrix"].__setitem__(0, np.nan),
        lambda arrays: arrays["mean"].__setitem__(0, np.inf),
        lambda arrays: arrays["header"].__setitem__(0, 0),
        header(n_samples=7),
        header(n_tasks=1),
        header(state="fading", decay=0.5),
        header(single_target=False),
    ]
    if kind == "moments":
        changes += [negative, indefinite]
    for change in changes:
        monkeypatch.setattr(_state, "to_arrays", spoiled(change))
        with pytest.raises((InvalidDataError, InvalidStateError), match="would be invalid"):
            made.absorb("two", X + 1, y)
        assert made.path.read_bytes() == before
    monkeypatch.undo()
    made.absorb("two", X + 1, y)


def test_damage_of_free_pages_does_not_spoil_what_is_written(made, rng, monkeypatch):
    made.absorb("one", *task(rng))
    before = made.path.read_bytes()
    monkeypatch.setattr("ridgeway.store._changes.enumerate", lambda blocks, first: [(first, b"")], raising=False)
    with pytest.raises(DamagedStoreError, match="did not keep what was written"):
        made.absorb("two", *task(rng))
    assert made.path.read_bytes() == before
