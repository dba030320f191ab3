"""With a key, a state file shows forgery; without one, its digests show accidents only."""

import pytest
from store.tables import task
from store.test_strangers import forge

from ridgeway import store
from ridgeway.errors import DamagedStoreError, StoreError


@pytest.fixture
def key(tmp_path, monkeypatch):
    path = tmp_path / "key"
    path.write_bytes(bytes(range(32)))
    monkeypatch.setenv("RIDGEWAY_KEY", str(path))
    return path


def test_a_signed_file_is_used_like_any_other(key, tmp_path, rng):
    made = store.create(tmp_path / "x.rw", features=["a", "b", "c"], target="y")
    tasks = [task(rng) for _ in range(3)]
    for number, (X, y) in enumerate(tasks):
        assert not made.absorb(str(number), X, y).already
    made.remove("1", *tasks[1])
    made.export(tmp_path / "x.safetensors")
    store.import_arrays(tmp_path / "x.safetensors", tmp_path / "y.rw").check()
    assert store.open(made.path).check().n_tasks == 2


def test_forgery_shows_with_a_key_and_only_then(key, tmp_path, rng, monkeypatch):
    other = tmp_path / "other"
    other.write_bytes(bytes(32))
    for signed in (True, False):
        with monkeypatch.context() as patch:
            if not signed:
                patch.delenv("RIDGEWAY_KEY")
            made = store.create(tmp_path / f"{signed}.rw", features=["a", "b", "c"], target="y")
            made.absorb("one", *task(rng))
            patch.setenv("RIDGEWAY_KEY", str(other if signed else ""))
            forge(made.path, 1, {"task_id": "two"})
        if signed:
            with pytest.raises(DamagedStoreError, match="signed with a key other than"):
                store.open(made.path)
        else:
            monkeypatch.delenv("RIDGEWAY_KEY")
            assert store.open(made.path).history()[0].task_id == "two"


def test_a_signature_cannot_be_dropped_or_left_out(key, tmp_path, rng, monkeypatch):
    signed = store.create(tmp_path / "signed.rw", features=["a", "b", "c"], target="y")
    monkeypatch.delenv("RIDGEWAY_KEY")
    before = signed.path.read_bytes()
    for call in (lambda: store.open(signed.path), lambda: signed.absorb("one", *task(rng)), signed.check):
        with pytest.raises(StoreError, match="was signed with a key"):
            call()
    assert signed.path.read_bytes() == before
    plain = store.create(tmp_path / "plain.rw", features=["a", "b", "c"], target="y")
    monkeypatch.setenv("RIDGEWAY_KEY", str(key))
    with pytest.raises(StoreError, match="was not signed"):
        plain.absorb("one", *task(rng))


@pytest.mark.parametrize("content", [None, b"", b"short", bytes(65537)])
def test_keys_that_are_none(key, tmp_path, content):
    key.unlink() if content is None else key.write_bytes(content)
    with pytest.raises(StoreError, match="the key"):
        store.create(tmp_path / "x.rw", features=["a"], target="y")
    assert not (tmp_path / "x.rw").exists()


def test_a_key_without_an_end(tmp_path, monkeypatch):
    monkeypatch.setenv("RIDGEWAY_KEY", "/dev/zero")
    with pytest.raises(StoreError, match="the key"):
        store.create(tmp_path / "x.rw", features=["a"], target="y")
