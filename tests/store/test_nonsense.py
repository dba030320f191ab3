"""Files whose digests are right and whose content is not: what a forger, or a bug, could write."""

import numpy as np
import pytest

from ridgeway import store
from ridgeway.data import Schema
from ridgeway.errors import DamagedStoreError, InvalidParameterError, InvalidStateError, StoreError
from ridgeway.store import _changes, _generations, _new_file, _state
from ridgeway.store._absorb import checked_id
from ridgeway.store._digests import BLOCK_BYTES, canonical, parsed, schema_from
from ridgeway.store._ledger import Record

SCHEMA = Schema(("a", "b"), ("y",), True, None, True, "moments")
MANIFEST = {"arrays": [["prior", "<f8", [2], ["00"]]], "next": 1, "parts": None, "rows": 0, "schema": 1, "tasks": 0}
RECORD = Record(1, "one", 32 * "00", 4, 4.0, "now", 1)


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
        {"version": 0},
        {"version": True},
        {"past": {"z": 0.0}},
        {"encoding": {}},
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
    with pytest.raises(InvalidParameterError, match="201 characters"):
        checked_id("x" * 201)


@pytest.mark.parametrize(
    "arrays",
    [
        None,
        7,
        [],
        [["prior", "<f8", [2]]],
        [["prior", "<f8", ["x"], ["00"]]],
        [["prior", "<f8", [0], ["00"]]],
        [["prior", "<f8", [-2], []]],
        [["prior", "<f8", [2], ["00", "00"]]],
        [["prior", "<f8", [], ["00"]]],
        [["prior", "<f8", [2], ["00"]], ["prior", "<f8", [2], ["00"]]],
        [["prior", "<f8", [2**40], ["00"]]],
        [["prior", "|O", [2], ["00"]]],
    ],
)
def test_manifests_with_other_arrays(tmp_path, arrays):
    with pytest.raises(StoreError, match=r"manifest is invalid|beyond the budget"):
        _generations._parsed_manifest(canonical({**MANIFEST, "arrays": arrays}), tmp_path)


@pytest.mark.parametrize("change", [{"tasks": -1}, {"rows": 1.0}, {"next": None}, {"parts": 1}, {"more": 1}])
def test_manifests_with_other_counts(tmp_path, change):
    assert _generations._parsed_manifest(canonical(MANIFEST), tmp_path)[0]["next"] == 1
    with pytest.raises(DamagedStoreError, match="manifest is invalid"):
        _generations._parsed_manifest(canonical({**MANIFEST, **change}), tmp_path)


def test_states_that_are_not_the_ledgers(tmp_path, rng):
    made = store.create(tmp_path / "x.rw", features=["a", "b"], target="y", information="moments")
    made.absorb("one", rng.normal(size=(9, 2)), rng.normal(size=9))
    arrays = made.snapshot().arrays
    _state.check_state(SCHEMA, arrays, 1, 9)
    for counts in ((2, 9), (1, 8), (0, 0)):
        with pytest.raises(DamagedStoreError, match="ledger"):
            _state.check_state(SCHEMA, arrays, *counts)
    other = Schema(("a", "b", "c"), ("y",), True, None, True, "moments")
    with pytest.raises(DamagedStoreError, match=r"not those of its schema|3 features"):
        _state.model_of(other, arrays, named=False)
    crooked = {**arrays, "matrix": arrays["matrix"].copy()}
    crooked["matrix"][1] = 1.5 * np.sqrt(arrays["matrix"][0] * arrays["matrix"][2])
    with pytest.raises(DamagedStoreError, match="indefinite"):
        _state.check_state(SCHEMA, crooked, 1, 9)


def test_a_state_of_several_blocks(tmp_path, rng):
    """More than 4 MiB of state: blocks are hashed by threads, and one of them is damaged."""
    p = 1100
    made = store.create(tmp_path / "x.rw", features=[f"x{j}" for j in range(p)], target="y", prior=1.0)
    made.absorb("one", rng.normal(size=(20, p)), rng.normal(size=20))
    generation, _, arrays, _ = made.snapshot()
    assert [len(piece.digests) for piece in generation.pieces if piece.name == "matrix"] > [1]
    content = made.path.read_bytes()
    last = arrays["matrix"].reshape(-1)[BLOCK_BYTES // 8 :]
    values, counts = np.unique(last, return_counts=True)
    some = values[counts == 1][:1].tobytes()
    assert content.count(some) == 1
    place = content.index(some) + 3
    made.path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    with pytest.raises(DamagedStoreError, match="a block of 'matrix' is not what was committed"):
        store.open(made.path)


def test_how_a_store_is_shown(tmp_path):
    made = store.create(tmp_path / "x.rw", features=["a", "b"], target="y")
    assert repr(made) == f"<Store {str(made.path)!r}>"


def test_the_last_generation(tmp_path, rng):
    last = tmp_path / "last.rw"
    contents = _changes.Contents((SCHEMA.to_bytes(),), (), _state.empty_arrays(SCHEMA, 0.0))
    _new_file.fill_file(last, 32 * "0", _generations.LARGEST_GENERATION, contents)
    made, before = store.open(last), last.read_bytes()
    with pytest.raises(StoreError, match="is the highest possible"):
        made.absorb("one", rng.normal(size=(4, 2)), rng.normal(size=4))
    assert last.read_bytes() == before
    made.check()
