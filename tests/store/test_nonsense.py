"""Files whose digests are right and whose content is not: what a forger, or a bug, could write."""

import numpy as np
import pytest

from ridgeway import store
from ridgeway.data import Schema
from ridgeway.errors import DamagedStoreError, InvalidParameterError, InvalidStateError, StoreError
from ridgeway.store import _generations, _state
from ridgeway.store._notes import canonical, parsed, schema_from
from ridgeway.store._records import Record, checked_id

SCHEMA = Schema(("a", "b"), ("y",), True, None, True, "moments")
RECORD = Record(1, "one", "00", 4, 4.0, "now")


def test_notes():
    assert Schema.from_bytes(SCHEMA.to_bytes()) == SCHEMA
    assert Record.from_bytes(RECORD.to_bytes()) == RECORD
    for stored in (b"", b"\xff", b"[" * 100_000, b"7", b"[1]"):
        with pytest.raises(DamagedStoreError):
            parsed(stored)
    changes: tuple[dict[str, object], ...] = (
        {"features": 3},
        {"features": []},
        {"targets": []},
        {"information": "both"},
        {"weight_kind": "count"},
        {"version": 2},
        {"version": True},
        {"more": 1},
    )
    for change in changes:
        stored = canonical({**parsed(SCHEMA.to_bytes()), **change})
        with pytest.raises(InvalidStateError, match="stored schema"):
            Schema.from_bytes(stored)
        with pytest.raises(DamagedStoreError, match=r"stored schema.*restore-previous"):
            schema_from(stored)
    for change in ({"sequence": "x"}, {"more": 1}, {"digest": None}):
        with pytest.raises(DamagedStoreError, match="record"):
            Record.from_bytes(canonical({**RECORD.as_dict(), **change}))
    with pytest.raises(InvalidParameterError, match="201 letters"):
        checked_id("x" * 201)


@pytest.mark.parametrize(
    "arrays",
    [
        None,
        7,
        [],
        [["prior", [2]]],
        [["prior", ["x"], ["00"]]],
        [["prior", [0], ["00"]]],
        [["prior", [-2], []]],
        [["prior", [2], ["00", "00"]]],
        [["prior", [], ["00"]]],
        [["prior", [2], ["00"]], ["prior", [2], ["00"]]],
        [["prior", [2**40], ["00"]]],
    ],
)
def test_tables_of_contents(tmp_path, monkeypatch, arrays):
    made = store.create(tmp_path / "x.rw", features=["a", "b"], target="y")
    stored = canonical({"arrays": arrays})
    with pytest.raises(StoreError, match=r"makes no sense|beyond the budget"):
        _generations._parsed_manifest(stored, made.path)


def test_states_that_are_not_the_ledgers(tmp_path, rng):
    made = store.create(tmp_path / "x.rw", features=["a", "b"], target="y", information="moments")
    made.absorb("one", rng.normal(size=(9, 2)), rng.normal(size=9))
    _, arrays = made.snapshot()
    _state.check_state(SCHEMA, arrays, 1, 9)
    for counts in ((2, 9), (1, 8), (0, 0)):
        with pytest.raises(DamagedStoreError, match="ledger"):
            _state.check_state(SCHEMA, arrays, *counts)
    other = Schema(("a", "b", "c"), ("y",), True, None, True, "moments")
    with pytest.raises(DamagedStoreError, match=r"not those of its schema|3 features"):
        _state.model_of(other, arrays, named=False)
    crooked = {**arrays, "matrix": arrays["matrix"].copy()}
    crooked["matrix"][1] = 1e6 * np.abs(arrays["matrix"]).max()
    with pytest.raises(DamagedStoreError, match="indefinite"):
        _state.check_state(SCHEMA, crooked, 1, 9)


def test_a_state_of_several_blocks(tmp_path, rng):
    """More than 4 MiB of state: blocks are hashed by threads, and one of them is damaged."""
    p = 1100
    made = store.create(tmp_path / "x.rw", features=[f"x{j}" for j in range(p)], target="y", prior=1.0)
    made.absorb("one", rng.normal(size=(20, p)), rng.normal(size=20))
    generation, arrays = made.snapshot()
    assert [len(piece.digests) for piece in generation.manifest if piece.name == "matrix"] == [2]
    content = made.path.read_bytes()
    values = arrays["matrix"]
    assert content.count(values[-1101:-1091].tobytes()) == 1  # of the column of the target, which is not zero
    place = content.index(values[-1101:-1091].tobytes()) + 3
    made.path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    with pytest.raises(DamagedStoreError, match="a block of 'matrix' is not what was committed"):
        store.open(made.path)


def test_how_a_store_is_shown(tmp_path):
    made = store.create(tmp_path / "x.rw", features=["a", "b"], target="y")
    assert repr(made) == f"<Store {str(made.path)!r}: 2 features, 1 target(s)>"
