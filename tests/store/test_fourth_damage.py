"""Damaged fourth moments: whatever reads them notices it, and so does `check`."""

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file
from store.kept import made_of, rows_of, sql

from ridgeway import retrospect, store
from ridgeway.errors import DamagedStoreError, StoreError
from ridgeway.information import FourthMoments
from ridgeway.store import _changes, _exchange, _generations, _nodes, _part_arrays, _whole_tree

FOURTH = ("tasks", "fourth-moments")
COUNT = FourthMoments.count(3, 1, centered=True)


def leaves_of(made):
    found = sql(made, ("SELECT id, data FROM parts WHERE task IS NOT NULL",))[0]
    return dict(found)


def test_only_parts_have_them(tmp_path):
    made = made_of(tmp_path / "a.rw", range(5), keep=FOURTH)
    for data in leaves_of(made).values():
        fields, numbers = _nodes.split(data[16:])
        assert fields["fourth"] == COUNT
        assert len(numbers) == 8 * (COUNT + 10 + 3 * 4)
    for (data,) in sql(made, ("SELECT data FROM parts WHERE task IS NULL",))[0]:
        fields, numbers = _nodes.split(data[16:])
        assert "fourth" not in fields
        assert len(numbers) == 8 * (10 + 3 * 4)
    plain = made_of(tmp_path / "b.rw", range(5))
    assert all("fourth" not in _nodes.split(data[16:])[0] for data in leaves_of(plain).values())


def test_a_damaged_byte_is_noticed(tmp_path):
    """At every fourth of them, in every part."""
    made = made_of(tmp_path / "a.rw", range(4), keep=FOURTH)
    original, expected = made.path.read_bytes(), retrospect.heteroscedastic(made.model_by_task()).covariance
    for number, data in leaves_of(made).items():
        for place in range(len(data) - 8 * COUNT, len(data), 2 * COUNT):
            changed = bytearray(data)
            changed[place] ^= 1
            sql(made, ("UPDATE parts SET data = ? WHERE id = ?", (bytes(changed), number)))
            opened = store.open(made.path)
            assert opened.model().n_samples_seen_ == 80  # the total does not depend on it
            for call in (
                opened.check,
                opened.model_by_task,
                lambda opened=opened: opened.export(tmp_path / "a.safetensors"),
            ):
                with pytest.raises(DamagedStoreError, match="a part is not what was committed"):
                    call()
            made.path.write_bytes(original)
    np.testing.assert_array_equal(retrospect.heteroscedastic(made.model_by_task()).covariance, expected)


class Trusting(_nodes.Shelf):
    """Reads nodes without comparing their digests."""

    @staticmethod
    def agrees(body, digest):
        return True


def test_without_digests_damage_is_not_noticed(tmp_path, monkeypatch):
    made = made_of(tmp_path / "a.rw", range(4), keep=FOURTH)
    expected = retrospect.heteroscedastic(made.model_by_task()).covariance
    number, data = next(iter(leaves_of(made).items()))
    changed = bytearray(data)
    changed[-1] ^= 1
    sql(made, ("UPDATE parts SET data = ? WHERE id = ?", (bytes(changed), number)))
    for module in (_changes, _whole_tree):
        monkeypatch.setattr(module, "Shelf", Trusting)
    made.check()
    assert not np.array_equal(retrospect.heteroscedastic(made.model_by_task()).covariance, expected)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (lambda fields, numbers: (fields, numbers[:-8]), "numbers instead of"),
        (lambda fields, numbers: (fields | {"fourth": COUNT + 1}, numbers), "numbers instead of"),
        (lambda fields, numbers: (fields | {"fourth": True}, numbers), "invalid header"),
        (lambda fields, numbers: ({k: v for k, v in fields.items() if k != "fourth"}, numbers), "invalid header"),
        (lambda fields, numbers: (fields, numbers[:-8] + np.array([-1.0]).tobytes()), "cannot be those of rows"),
        (lambda fields, numbers: (fields, numbers[:-8] + np.array([np.inf]).tobytes()), "do not fit its columns"),
    ],
)
def test_a_part_that_was_written_wrongly_is_noticed(tmp_path, monkeypatch, wrong, match):
    """Its digest is right."""
    made, packed = made_of(tmp_path / "a.rw", (), keep=FOURTH), _nodes.packed

    def forged(node, refs, version):
        fields, numbers = _nodes.split(packed(node, refs, version))
        fields, numbers = wrong(fields, bytes(numbers))
        header = _nodes.canonical(fields)
        return _nodes.LENGTH.pack(len(header)) + header + numbers

    monkeypatch.setattr(_nodes, "packed", forged)
    made.absorb("t0", *rows_of(0))
    for call in (made.check, lambda: made.model_by_task().information_.fourth()):
        with pytest.raises(DamagedStoreError, match=match):
            call()


@pytest.mark.parametrize("change", ["fewer", "more", "twice", "short", "negative", "missing", "plain"])
def test_an_export_that_was_written_wrongly_is_noticed(tmp_path, change):
    made = made_of(tmp_path / "a.rw", range(3), keep=FOURTH)
    made.export(tmp_path / "a.safetensors")
    with safe_open(tmp_path / "a.safetensors", framework="numpy") as file:
        names, notes = file.keys(), file.metadata()
        arrays = {name: file.get_tensor(name) for name in names}
    manifest, sums = notes["ridgeway"], arrays.pop("parts.fourth")
    assert '"format":4' in manifest
    assert sums.shape == (3, COUNT)
    changed = {
        "fewer": sums[:2],
        "more": np.vstack([sums, sums[:1]]),
        "twice": np.hstack([sums, sums]),
        "short": sums[:, :-1],
        "negative": sums * -1.0,
        "plain": sums,
    }
    if change in changed:
        arrays["parts.fourth"] = np.ascontiguousarray(changed[change])
    if change == "plain":
        manifest = manifest.replace('"format":4', '"format":3')
    notes = {"ridgeway": manifest, "digest": _exchange._digest(manifest.encode(), arrays)}
    save_file(arrays, tmp_path / "b.safetensors", metadata=notes)
    with pytest.raises(DamagedStoreError):
        store.import_arrays(tmp_path / "b.safetensors", tmp_path / "b.rw")
    assert not (tmp_path / "b.rw").exists()


def test_memory_is_counted(tmp_path, monkeypatch):
    made = made_of(tmp_path / "a.rw", range(4), keep=FOURTH)
    before = made.path.read_bytes()
    monkeypatch.setattr(_generations, "MEMORY_BUDGET", 3 * 8 * (4**2 + COUNT) - 1)
    with pytest.raises(StoreError, match=r"the new parts of .* Absorb fewer tasks at once"):
        made.absorb("t9", *rows_of(9))
    monkeypatch.setattr(_generations, "MEMORY_BUDGET", 15_000)
    with pytest.raises(StoreError, match="the parts of"):
        made.model_by_task()
    assert made.path.read_bytes() == before
    monkeypatch.setattr(_generations, "MEMORY_BUDGET", 2**20)
    made.absorb("t9", *rows_of(9))


def test_the_bytes_of_a_part(tmp_path):
    made = made_of(tmp_path / "a.rw", range(2), keep=FOURTH)
    for data in leaves_of(made).values():
        assert len(data) <= _part_arrays.part_bytes(made.schema) + _part_arrays.NAME_BYTES
        assert len(data) > _part_arrays.part_bytes(made.schema)
