"""Promises 6 and 8 of docs/store.md: no altered file answers, and unsound state is never committed."""

import sqlite3
from contextlib import closing

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


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE head SET current = current - 1",
        "UPDATE head SET current = 'x'",
        "UPDATE head SET current = current + 1",
        "UPDATE head SET id = 1",
        "UPDATE head SET schema = CAST(replace(schema, '\"a\"', '\"d\"') AS BLOB)",
        "DELETE FROM head",
        "DELETE FROM generation WHERE number = (SELECT max(number) FROM generation)",
        "DELETE FROM ledger WHERE sequence = 2",
        "UPDATE ledger SET record = CAST(replace(record, 'two', 'too') AS BLOB)",
        "UPDATE ledger SET generation = generation + 1",
        "UPDATE ledger SET record = 5 WHERE sequence = 1",
        "INSERT INTO ledger VALUES (9, 9, x'00')",
        "INSERT INTO generation VALUES (99, x'00', x'00')",
        "UPDATE generation SET manifest = CAST(replace(manifest, '[3', '[4') AS BLOB)",
        "UPDATE block SET data = data || x'00'",
        "DELETE FROM block WHERE id = (SELECT max(id) FROM block WHERE length(data) > 999)",
        "UPDATE block SET data = zeroblob(length(data)) WHERE id = (SELECT max(id) FROM block WHERE length(data)>999)",
        "CREATE TABLE more (x)",
        "CREATE VIEW more AS SELECT * FROM head",
        "CREATE TRIGGER more AFTER INSERT ON ledger BEGIN DELETE FROM block; END",
        "PRAGMA application_id = 1",
        "PRAGMA user_version = 7",
        "PRAGMA journal_mode = WAL",
    ],
)
def test_alterations_are_found_out(made, rng, sql):
    X, y = task(rng)
    made.absorb("one", X, y)
    made.absorb("two", X + 1, y)
    with closing(sqlite3.connect(made.path, isolation_level=None)) as connection:
        connection.execute(sql)
    with pytest.raises(StoreError):
        store.open(made.path)
    with pytest.raises(StoreError):
        made.absorb("three", X + 2, y)


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


def test_another_file_in_the_same_place(made, tmp_path):
    other = store.create(tmp_path / "other.rw", features=["d"], target="y")
    other.path.replace(made.path)
    with pytest.raises(StoreError, match="another state file than the one that was opened"):
        made.history()


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
        arrays["matrix"][1] = 1e6 * arrays["matrix"].max()

    changes = [
        lambda arrays: arrays["matrix"].__setitem__(0, np.nan),
        lambda arrays: arrays["mean"].__setitem__(0, np.inf),
        lambda arrays: arrays["header"].__setitem__(0, 0),
    ]
    if kind == "moments":
        changes += [negative, indefinite]
    for change in changes:
        monkeypatch.setattr(_state, "to_arrays", spoiled(change))
        with pytest.raises((InvalidDataError, InvalidStateError), match="unsound"):
            made.absorb("two", X + 1, y)
        assert made.path.read_bytes() == before
    monkeypatch.undo()
    made.absorb("two", X + 1, y)


def test_damage_of_free_pages_does_not_spoil_what_is_written(made, rng, monkeypatch):
    made.absorb("one", *task(rng))
    before = made.path.read_bytes()
    monkeypatch.setattr("ridgeway.store._generations.enumerate", lambda blocks, first: [(first, b"")], raising=False)
    with pytest.raises(DamagedStoreError, match="did not keep what was written"):
        made.absorb("two", *task(rng))
    assert made.path.read_bytes() == before
