"""Files from strangers: their digests are right, and what they say is not. Each is refused with a typed error."""

import json
import resource
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from runner import CliRunner
from safetensors import safe_open
from safetensors.numpy import save_file

from ridgeway import store
from ridgeway.cli._commands import commands
from ridgeway.errors import DamagedStoreError, InvalidParameterError, StoreError
from ridgeway.store import _exchange
from ridgeway.store._digests import canonical, parsed
from ridgeway.store._generations import root_of
from ridgeway.store._ledger import Entry, Ledger, Record

DATA = Path(__file__).with_name("data")
ESCAPE = "\x1b[31mred"


@pytest.fixture
def filled(tmp_path, rng):
    """A state file of three tasks, the second of which was removed."""
    made = store.create(tmp_path / "filled.rw", features=["a", "b"], target="y")
    tasks = [(rng.normal(size=(9, 2)), rng.normal(size=9)) for _ in range(3)]
    for number, (X, y) in enumerate(tasks, 1):
        made.absorb(f"task {number}", X, y)
    made.remove("task 2", *tasks[1])
    return made


RECORDS = {
    "an escape in the id": (1, {"task_id": ESCAPE}),
    "a bell in the reason": (1, {"reason": "\a"}),
    "an escape in the time": (1, {"absorbed_at": ESCAPE}),
    "a direction mark in the id": (1, {"task_id": "a\u202eb"}),
    "no id": (1, {"task_id": ""}),
    "fewer rows than none": (1, {"n_samples": -1}),
    "true rows": (1, {"n_samples": True}),
    "very many rows": (1, {"n_samples": 2**60}),
    "a negative weight": (1, {"total_weight": -1.0}),
    "a whole weight": (1, {"total_weight": 9}),
    "no schema": (1, {"schema": 0}),
    "a schema that is not there": (1, {"schema": 2}),
    "a digest of two characters": (1, {"digest": "00"}),
    "a digest in capitals": (1, {"digest": "AA" * 32}),
    "digits lost without a removal": (1, {"digits_lost": 1.0}),
    "removed before it was absorbed": (3, {"removed": 2, "digest": "", "digits_lost": 0.0}),
    "removed with a digest": (2, {"digest": "00" * 32}),
    "removed without the digits": (2, {"digits_lost": None}),
    "removed at minus infinity": (2, {"removed": -4}),
    "two events of one number": (2, {"removed": 3}),
    "an event in the far future": (2, {"removed": 2**62}),
    "the id of another task": (3, {"task_id": "task 1"}),
}


def forge(path, place, change, **counts):
    """Write other values into a record, or other counts into the manifest, and make every digest fit."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        number, manifest = connection.execute(
            "SELECT number, manifest FROM generations ORDER BY number DESC LIMIT 1"
        ).fetchone()
        (schema,) = connection.execute("SELECT schema FROM schemas").fetchone()
        ledger = Ledger(None, path)
        for sequence, generation, stored, columns in connection.execute("SELECT * FROM ledger").fetchall():
            record = Record(**parsed(stored) | (change if sequence == place else {}))
            ledger.count(Entry(generation, record, columns))
            connection.execute("UPDATE ledger SET record = ? WHERE sequence = ?", (record.to_bytes(), sequence))
        manifest = canonical(parsed(manifest) | {"rows": ledger.n_samples, "tasks": ledger.n_tasks} | counts)
        buckets, digests = ledger.packed()
        root = root_of(store.file_id(path), number, [schema], manifest, digests)
        connection.execute("DELETE FROM buckets")
        connection.executemany("INSERT INTO buckets VALUES (?, ?)", buckets)
        connection.execute(
            "UPDATE generations SET manifest = ?, buckets = ?, root = ? WHERE number = ?",
            (manifest, digests, root, number),
        )


def test_a_forgery_that_says_the_truth_is_accepted(filled):
    before = filled.ledger()
    forge(filled.path, 1, {})
    assert filled.ledger() == before
    filled.check()
    forge(filled.path, 3, {"task_id": "task 1", "reason": "there are two"})
    filled.check()


@pytest.mark.parametrize(("place", "change"), RECORDS.values(), ids=RECORDS.keys())
def test_records_are_validated_when_they_are_read(filled, tmp_path, place, change):
    forge(filled.path, place, change)
    for call in (filled.ledger, filled.history, filled.check, filled.snapshot):
        with pytest.raises(DamagedStoreError):
            call()
    done = CliRunner().invoke(commands, ["history", str(filled.path)])
    assert done.exit_code == 2
    assert "\x1b" not in done.output


@pytest.mark.parametrize("counts", [{"next": 2}, {"next": 9}, {"tasks": 1}, {"rows": 19}, {"tasks": 3, "rows": 27}])
def test_counts_are_those_of_the_records(filled, counts):
    forge(filled.path, 1, {}, **counts)
    with pytest.raises(DamagedStoreError, match=r"not what was committed|sequence number"):
        filled.ledger()


def test_a_record_is_never_overwritten_by_the_next(filled, rng):
    """The manifest says that the next event is number 3, which is there already."""
    forge(filled.path, 1, {}, next=3)
    before = filled.path.read_bytes()
    for call in (lambda: store.open(filled.path), lambda: filled.absorb("new", rng.normal(size=(9, 2)), np.ones(9))):
        with pytest.raises(DamagedStoreError, match="sequence number"):
            call()
    assert filled.path.read_bytes() == before


# Exports --------------------------------------------------------------------------------------------------------------


def taken_apart(path):
    """Return the header and the data of a safetensors file."""
    content = path.read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def put_together(path, header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def refused(source, out):
    with pytest.raises(StoreError) as caught:
        store.import_arrays(source, out)
    assert not out.exists()
    return str(caught.value)


def test_tensors_of_every_type(filled, tmp_path):
    filled.export(tmp_path / "m.safetensors")
    header, data = taken_apart(tmp_path / "m.safetensors")
    sizes = {"F8_E4M3": 1, "F8_E5M2": 1, "F8_E8M0": 1, "BF16": 2, "F16": 2, "F32": 4, "I64": 8, "BOOL": 1, "C64": 8}
    for kind, size in [*sizes.items(), ("F4", 1), ("X", 1), (None, 1), (7, 1)]:
        for name in header.keys() - {"__metadata__"}:
            changed = json.loads(json.dumps(header))
            begin, end = changed[name]["data_offsets"]
            for shape in ([(end - begin) // size], changed[name]["shape"]):
                changed[name] |= {"dtype": kind, "shape": shape}
                put_together(tmp_path / "x.safetensors", changed, data)
                refused(tmp_path / "x.safetensors", tmp_path / "back.rw")


def test_headers_of_every_kind(filled, tmp_path):
    filled.export(tmp_path / "m.safetensors")
    header, data = taken_apart(tmp_path / "m.safetensors")
    others = [b"", b"{}", b"null", b"[]", b"7", b"{" * 1000, b"[" * 100_000, b"\xff", b"NaN", b'{"a":{"dtype":"F64"}}']
    others += [{**header, "__metadata__": value} for value in (None, 7, [], {}, {"ridgeway": 7}, {"ridgeway": None})]
    for name in header:
        others.append({key: value for key, value in header.items() if key != name})
        others += [{**header, name: value} for value in (None, 7, [], {}, "text")]
    for other in others:
        put_together(tmp_path / "x.safetensors", other, data)
        refused(tmp_path / "x.safetensors", tmp_path / "back.rw")
    for content in (b"", b"x", b"\xff" * 8, b"\xff" * 100):
        (tmp_path / "x.safetensors").write_bytes(content)
        refused(tmp_path / "x.safetensors", tmp_path / "back.rw")


def rewritten(source, out, manifest, ledger=None):
    """Write an export with another manifest or ledger, and a digest that fits."""
    with safe_open(source, framework="numpy") as file:
        fields, names = json.loads(file.metadata()["ridgeway"]), file.keys()
        arrays = {name: file.get_tensor(name) for name in names}
    if ledger is not None:
        arrays["ledger"] = np.frombuffer(ledger(arrays["ledger"].tobytes()), np.uint8)
    text = manifest if isinstance(manifest, bytes) else canonical({**fields, **manifest})
    notes = {"ridgeway": text.decode(), "digest": _exchange._digest(text, arrays)}
    save_file(arrays, out, metadata=notes)


WRONG = [None, 7, "x", {}, [None], [1], [[]], ["{}"], [["{}", "00"]], [["{}", None]], [[None, "00"]], [["{}", "zz"]]]


def test_manifests_of_every_kind(filled, tmp_path):
    path = tmp_path / "m.safetensors"
    filled.export(path)
    changes = [{name: value} for name in ("schemas", "format") for value in WRONG]
    changes += [{"schemas": []}, {"format": True}, {"format": 0}, {"format": 1}, {"format": 3}]
    for change in [*changes, b"null", b"[]", b"7", b"{", b"{}", b"[" * 100_000]:
        rewritten(path, tmp_path / "x.safetensors", change)
        refused(tmp_path / "x.safetensors", tmp_path / "back.rw")


@pytest.mark.parametrize(("place", "change"), RECORDS.values(), ids=RECORDS.keys())
def test_records_are_validated_when_they_are_imported(filled, tmp_path, place, change):
    filled.export(tmp_path / "m.safetensors")

    def other(lines):
        split = [line.rpartition(b" ") for line in lines.splitlines()]
        records = [parsed(record) | (change if number == place else {}) for number, (record, *_) in enumerate(split, 1)]
        return b"".join(
            b"%b %b\n" % (canonical(record), columns) for record, (*_, columns) in zip(records, split, strict=True)
        )

    rewritten(tmp_path / "m.safetensors", tmp_path / "x.safetensors", {}, other)
    refused(tmp_path / "x.safetensors", tmp_path / "back.rw")


def test_lines_that_are_no_records_are_not_imported(filled, tmp_path):
    filled.export(tmp_path / "m.safetensors")
    weight = b'"total_weight":'
    for old, new in [
        *((weight + b"9.0", weight + value) for value in (b"NaN", b"Infinity", b"1e999", b"-0.5", b"9" * 5000)),
        (b"task 1", b"\\ud800"),
        (b"\n", b" \n"),
        (b"\n", b"0\n"),
        (b"\n", b""),
        (b"{", b"["),
        (b"task 1", b"\xff"),
    ]:
        rewritten(
            tmp_path / "m.safetensors",
            tmp_path / "x.safetensors",
            {},
            lambda lines, old=old, new=new: lines.replace(old, new),
        )
        refused(tmp_path / "x.safetensors", tmp_path / "back.rw")


def test_an_export_that_is_kept_is_what_is_written_and_read(tmp_path):
    """`data/export-2.safetensors` is an export of `data/format-1.rw`. Whatever changes, this test does not."""
    (tmp_path / "kept.rw").write_bytes((DATA / "format-1.rw").read_bytes())
    kept = store.open(tmp_path / "kept.rw")
    kept.export(tmp_path / "new.safetensors")
    assert taken_apart(tmp_path / "new.safetensors") == taken_apart(DATA / "export-2.safetensors")
    back = store.import_arrays(DATA / "export-2.safetensors", tmp_path / "back.rw")
    assert back.ledger() == kept.ledger()
    assert back.model().coef_.tobytes() == kept.model().coef_.tobytes()
    back.check()


def test_the_ledger_is_not_in_the_header_of_an_export(filled, tmp_path):
    """A header of safetensors has at most 100 MB, and the ledger of 100,000 tasks has more."""
    filled.export(tmp_path / "m.safetensors")
    header, _ = taken_apart(tmp_path / "m.safetensors")
    assert "task 1" not in json.dumps(header["__metadata__"])


@pytest.mark.parametrize("suffix", ["safetensors", "csv"])
def test_a_full_disk_leaves_no_export(filled, tmp_path, suffix):
    """Files may not grow beyond a few bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = sorted(tmp_path.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(StoreError, match=r"cannot be written: .*\. Nothing was written\."):
            filled.export(tmp_path / f"m.{suffix}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert sorted(tmp_path.iterdir()) == before


# Parameters -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("timeout", ["x", None, -1, np.nan, np.inf, [], True, b"1", 1j])
def test_timeouts_are_numbers_of_seconds(filled, tmp_path, timeout):
    filled.export(tmp_path / "m.safetensors")
    for call in (
        lambda: store.open(filled.path, timeout=timeout),
        lambda: store.create(tmp_path / "new.rw", features=["a"], target="y", timeout=timeout),
        lambda: store.import_arrays(tmp_path / "m.safetensors", tmp_path / "new.rw", timeout=timeout),
        lambda: store.restore_previous(filled.path, timeout=timeout),
    ):
        with pytest.raises(InvalidParameterError, match="timeout must be"):
            call()
    assert not (tmp_path / "new.rw").exists()
    for fine in (np.float64(0.5), 1e9):
        assert store.open(filled.path, timeout=fine).check().n_tasks == 2
