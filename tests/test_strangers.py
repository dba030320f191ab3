"""Data files from strangers: whatever their bytes, a typed error or an answer, never the end of the process."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
import strangers
from runner import CliRunner

from ridgeway import MinimumNorm, report, store
from ridgeway.cli._commands import commands
from ridgeway.data import as_labels, inferred, open_table
from ridgeway.errors import InvalidDataError, InvalidDataTypeError

FLIPS = {"file": 2000, "stream": 200, "compressed": 200, "parquet": 300, "csv": 100}
N_ROWS = 40


def altered(folder, *arguments):
    command = [sys.executable, strangers.__file__, str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_altered_bytes_are_read_or_refused(tmp_path):
    result = altered(tmp_path, *(f"{kind}={count}" for kind, count in FLIPS.items()))
    assert result.returncode == 0, result.stderr
    for kind, found in json.loads(result.stdout).items():
        assert set(found) == {f"{read}: {what}" for read in ("absorb", "compare") for what in ("read", "refused")}
        assert sum(found.values()) == 2 * FLIPS[kind]


def test_without_validation_altered_bytes_end_the_process(tmp_path):
    assert altered(tmp_path, "file=300", "unchecked").returncode < 0


OFFSETS, INDICES = (np.arange(N_ROWS + 1, dtype=np.int32) * 2, np.arange(N_ROWS, dtype=np.int32) % 8)


def damaged(path, kind):
    """Write an Arrow file whose column `site` has one wrong offset (text) or one wrong index (dictionary)."""
    site = (
        pa.array(["ab", "cd"] * (N_ROWS // 2))
        if kind == "text"
        else pa.DictionaryArray.from_arrays(INDICES, [*"abcdefgh"])
    )
    right = OFFSETS if kind == "text" else INDICES
    wrong = np.where(np.arange(len(right)) == 5, np.int32(2**30), right)
    table = pa.table({"x": np.arange(1.0 * N_ROWS), "y": np.arange(1.0 * N_ROWS) % 3, "site": site})
    with pa.ipc.new_file(str(path), table.schema) as sink:
        sink.write_table(table)
    content = path.read_bytes()
    assert content.count(right.tobytes()) == 1
    path.write_bytes(content.replace(right.tobytes(), wrong.tobytes()))
    return path


@pytest.mark.parametrize("kind", ["text", "dictionary"])
def test_commands_refuse_a_damaged_file(kind, tmp_path):
    """A wrong offset was the end of the process, a wrong index a traceback."""
    data, state = damaged(tmp_path / "d.arrow", kind), tmp_path / "s.rw"
    store.create(state, features=["x"], target="y")
    before = state.read_bytes()
    for arguments in (
        ("absorb", state, data, "--task-column", "site"),
        ("compare", data, "--target", "y", "--task-column", "site", "--out", tmp_path / "out"),
    ):
        result = CliRunner().invoke(commands, [*map(str, arguments)])
        assert (result.exit_code, result.stdout) == (2, "")
        assert "d.arrow cannot be read: " in result.stderr
        assert result.stderr.count("\n") == 1
    assert state.read_bytes() == before
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["text", "dictionary"])
def test_damaged_tables_in_memory_are_refused(kind, tmp_path):
    """Read by someone else, who did not validate them."""
    content = damaged(tmp_path / "d.arrow", kind).read_bytes()
    table = pa.ipc.open_file(pa.BufferReader(content)).read_all()
    columns = [np.arange(1.0 * N_ROWS)[:, None], np.ones(N_ROWS)]
    for call in (
        lambda: open_table(table),
        lambda: report.compare(table, target="y", task_column=["site"]),
        lambda: MinimumNorm().fit(table, columns[1]),
        lambda: MinimumNorm().fit(*columns, tasks=table["site"]),
        lambda: MinimumNorm().fit(columns[0], table["site"]),
    ):
        with pytest.raises(InvalidDataError, match="cannot be read"):
            call()


ODD = {
    "list": pa.array([[1], [2]]),
    "struct": pa.array([{"a": 1}] * 2),
    "date beyond the calendar": pa.array([2**30] * 2, pa.date32()),
    "time span beyond the calendar": pa.array([2**62] * 2, pa.duration("s")),
    "unknown time zone": pa.array([5, 6], pa.timestamp("ns", tz="Nowhere")),
    "dictionary of lists": pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array([[1]])),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array([1.5])),
    "bytes": pa.array([b"\xff", b"a"]),
}


@pytest.mark.parametrize("kind", ODD)
def test_columns_of_odd_types_are_refused(kind):
    """pyarrow can hold them, but not convert them."""
    table = open_table({"c": ODD[kind], "y": [1.0, 2.0]})
    with pytest.raises((InvalidDataError, InvalidDataTypeError)):
        inferred(table, None, leave_out=["y"])
    with pytest.raises((InvalidDataError, InvalidDataTypeError)):
        as_labels(table.read(["c"]).column(0))
    with pytest.raises((InvalidDataError, InvalidDataTypeError)):
        MinimumNorm().fit(pa.table({"c": ODD[kind]}), [1.0, 2.0])
