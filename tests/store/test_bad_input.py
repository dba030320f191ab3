"""Bad input, one row each: the message says what to do, and the state file is byte for byte as it was."""

import csv
import os
import pickle
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from ridgeway import store
from ridgeway.cli._commands import commands
from ridgeway.errors import (
    DamagedStoreError,
    FeatureMismatchError,
    InvalidDataError,
    InvalidParameterError,
    StoreError,
)
from ridgeway.store import _generations, _tables

FEATURES = ["age", "tenure"]


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(40, 3)), columns=["age", "tenure", "wage"])


@pytest.fixture
def wages(tmp_path, frame):
    made = store.create(tmp_path / "wages.rw", features=FEATURES, target="wage")
    made.absorb("first", frame[FEATURES], frame["wage"])
    return made


@pytest.fixture
def refused(wages, tmp_path):
    """Absorb a data file in Python and by the command: the same error, one line, exit code 2, nothing changed."""

    def check(path, error, match, **options):
        before = wages.path.read_bytes()
        options = options or {"task_id": "new"}
        with pytest.raises(error, match=match) as caught:
            wages.absorb_file(path, **options)
        names = {"task_id": "--task", "task_column": "--task-column"}
        flags = [word for name, value in options.items() for word in (names[name], value)]
        done = CliRunner().invoke(commands, ["absorb", str(wages.path), str(path), *flags])
        assert done.exit_code == 2
        assert done.stdout == ""
        assert done.stderr == f"ridgeway absorb: {' '.join(str(caught.value).split())}\n"
        assert wages.path.read_bytes() == before
        assert not list(tmp_path.glob("*-journal"))

    return check


def written(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        with pa.ipc.new_file(str(path), pa.Table.from_pandas(frame, preserve_index=False).schema) as sink:
            sink.write_table(pa.Table.from_pandas(frame, preserve_index=False))
    return path


kinds = pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])


@kinds
def test_missing_column(frame, tmp_path, refused, kind):
    refused(written(frame.drop(columns="age"), tmp_path / f"d.{kind}"), FeatureMismatchError, "has no column 'age'")


@kinds
def test_extra_column(frame, tmp_path, refused, kind):
    path = written(frame.assign(height=1.0), tmp_path / f"d.{kind}")
    refused(path, FeatureMismatchError, "columns that the state file does not know: 'height'")


def test_duplicate_column(frame, tmp_path, refused):
    path = tmp_path / "d.csv"
    path.write_text("age,tenure,age,wage\n1,2,3,4\n")
    refused(path, FeatureMismatchError, "duplicate column names: 'age'")
    twice = pa.table([pa.array([1.0])] * 4, names=["age", "tenure", "age", "wage"])
    parquet.write_table(twice, tmp_path / "d.parquet")
    refused(tmp_path / "d.parquet", FeatureMismatchError, "duplicate column names: 'age'")


@kinds
def test_reordered_columns_are_taken_by_name(frame, tmp_path, wages, kind):
    path = written(frame[["wage", "tenure", "age"]], tmp_path / f"d.{kind}")
    assert wages.absorb_file(path, task_id="first")[0].already


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_text_column(frame, tmp_path, refused, kind):
    words = frame["age"].map("{:.3f}".format)
    words[[3, 7]] = "unknown"
    path = written(frame.assign(age=words), tmp_path / f"d.{kind}")
    refused(path, InvalidDataError, "column 'age' has (text|large_string values) in 2 of 40 rows")


@kinds
def test_column_with_nulls(frame, tmp_path, refused, kind):
    frame.loc[[1, 5, 9], "tenure"] = None
    path = written(frame, tmp_path / f"d.{kind}")
    refused(path, InvalidDataError, "column 'tenure' has nulls in 3 of 40 rows")


@kinds
def test_column_with_infinity(frame, tmp_path, refused, kind):
    frame.loc[[1, 5], "tenure"] = np.inf
    path = written(frame, tmp_path / f"d.{kind}")
    refused(path, InvalidDataError, "column 'tenure' has NaN or infinity in 2 of 40 rows")


def test_column_of_dates(frame, tmp_path, refused):
    path = written(frame.assign(age=pd.Timestamp("2020-01-01")), tmp_path / "d.parquet")
    refused(path, InvalidDataError, r"column 'age' has timestamp\[.*\] values in 40 of 40 rows")


def test_whole_numbers_beyond_float64(frame, tmp_path, refused):
    path = written(frame.assign(age=2**53 + 1), tmp_path / "d.parquet")
    refused(path, InvalidDataError, "column 'age' has whole numbers beyond 2⁵³")


def test_parquet_whose_columns_change_midway(frame, tmp_path, refused):
    path = tmp_path / "d.parquet"
    table = pa.Table.from_pandas(frame.rename(columns={"tenure": "agf"}), preserve_index=False)
    with parquet.ParquetWriter(path, table.schema) as sink:
        sink.write_table(table)
        sink.write_table(table)
    content = path.read_bytes()
    places = [i for i in range(len(content)) if content.startswith(b"\x03agf", i)]
    group = places[-1]  # the footer names each column once for the file and once for each row group
    path.write_bytes(content[:group] + b"\x03age" + content[group + 4 :])
    with pytest.raises(FeatureMismatchError, match="changes its columns midway, in row group 2 of 2"):
        store.features_of(path)
    refused(path, FeatureMismatchError, "changes its columns midway, in row group 2 of 2")


@kinds
def test_truncated_file(frame, tmp_path, refused, kind):
    path = written(frame, tmp_path / f"d.{kind}")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3].rstrip(b"0123456789.-"))
    refused(path, InvalidDataError, r"cannot be read|has nulls in 1 of")


@kinds
def test_empty_file(frame, tmp_path, refused, kind):
    (tmp_path / f"d.{kind}").write_bytes(b"")
    refused(tmp_path / f"d.{kind}", InvalidDataError, "is empty")


@kinds
def test_file_without_rows(frame, tmp_path, refused, kind):
    refused(written(frame[:0], tmp_path / f"d.{kind}"), InvalidDataError, "no rows")


def test_csv_with_a_ragged_line(tmp_path, refused):
    path = tmp_path / "d.csv"
    path.write_text("age,tenure,wage\n1,2,3\n4,5\n6,7,8\n")
    refused(path, InvalidDataError, "Expected 3 columns, got 2")


def test_names_that_look_alike(frame, tmp_path, refused):
    path = written(frame.rename(columns={"age": "\u0430ge"}), tmp_path / "d.csv")
    refused(path, FeatureMismatchError, r"'\\u0430ge' is not 'age', though they look alike")
    for other in ("\u0430ge", "ag\uff45"):
        with pytest.raises(InvalidParameterError, match="look alike"):
            store.create(tmp_path / "x.rw", features=["age", other], target="y")
    with pytest.raises(InvalidParameterError, match="look alike"):
        store.create(tmp_path / "x.rw", features=["caf\u00e9"], target="cafe\u0301")
    assert not (tmp_path / "x.rw").exists()


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "a\\b", "a\nb", "a\x00b", "\u202eevil", ".", "..", "", " a", "a\x1b[31m", "cafe\u0301"]
)
def test_task_ids_with_path_or_control_characters(frame, tmp_path, refused, name):
    refused(written(frame, tmp_path / "d.csv"), InvalidParameterError, "the task id|a task id", task_id=name)


def test_task_ids_in_a_column(frame, tmp_path, refused):
    path = written(frame.assign(where="north/south"), tmp_path / "d.csv")
    refused(path, InvalidParameterError, "path or control characters", task_column="where")
    path = written(frame.assign(where=[None, *["a"] * 39]), tmp_path / "d.csv")
    refused(path, InvalidDataError, "the task column 'where' has no value in 1 or more rows", task_column="where")
    path = written(frame.assign(where=0.5), tmp_path / "d.parquet")
    refused(path, InvalidDataError, "makes no task id", task_column="where")
    path = written(frame, tmp_path / "d.csv")
    refused(path, FeatureMismatchError, "has no column 'where'", task_column="where")
    refused(path, FeatureMismatchError, "is a column of the model", task_column="age")


def test_neither_or_both_ways_to_name_the_task(frame, tmp_path, refused):
    path = written(frame, tmp_path / "d.csv")
    refused(
        path,
        InvalidParameterError,
        "either the task or the column of the tasks; got both",
        task_id="a",
        task_column="b",
    )


def test_unknown_kind_of_data_file(tmp_path, refused):
    refused(tmp_path / "d.xlsx", InvalidDataError, "data files end with .csv, .parquet")
    refused(tmp_path / "none.csv", InvalidDataError, "there is no data file")


AS_ANOTHER_USER = """
import os, sys, tempfile, numpy as np
from ridgeway import store
from ridgeway.errors import StoreError

def absorb(path):
    store.open(path).absorb("new", np.eye(3)[:, :2], np.ones(3))

with tempfile.TemporaryDirectory() as folder:  # all that is imported late is imported before the rights are gone
    store.create(f"{folder}/x.rw", features=["a", "b"], target="c")
    absorb(f"{folder}/x.rw")
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    print(store.open(sys.argv[1]).history())
    absorb(sys.argv[1])
except StoreError as error:
    print("refused:", error)
"""


def test_read_only_folder(wages):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "wages.rw"
        path.write_bytes(wages.path.read_bytes())
        before = path.read_bytes()
        for mode, words in ((0o666, "folder may not be read or written to"), (0o444, "may not be written to")):
            path.chmod(mode)
            folder.chmod(0o555)
            command = [sys.executable, "-c", AS_ANOTHER_USER, str(path)]
            done = subprocess.run(command, capture_output=True, text=True)
            assert "task_id='first'" in done.stdout, done.stderr
            assert "refused:" in done.stdout, done.stderr
            assert words in done.stdout
            assert path.read_bytes() == before
            folder.chmod(0o755)


FILL = """
import sys, numpy as np
from ridgeway import store
from ridgeway.errors import StoreError

opened = store.open(sys.argv[1])
try:
    for i in range(500):
        opened.absorb("x" * 190 + str(i), i + np.eye(3)[:, :2], np.ones(3))
        print("absorbed")
except StoreError as error:
    print("refused:", error)
"""


def test_full_disk(wages):
    """A limit on the size of files stands in for the disk: a write fails midway all the same."""
    before = wages.path.read_bytes()

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before), len(before)))

    command = [sys.executable, "-c", FILL, str(wages.path)]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    assert "refused:" in done.stdout, done.stdout + done.stderr
    assert "Nothing was changed" in done.stdout
    assert len(store.open(wages.path).history()) == 1 + done.stdout.count("absorbed\n")
    wages.check()


def test_symlink(wages, tmp_path):
    link = tmp_path / "link.rw"
    link.symlink_to(wages.path)
    before = wages.path.read_bytes()
    for call in (
        lambda: store.open(link),
        lambda: store.restore_previous(link),
        lambda: store.create(link, features=["a"], target="b"),
    ):
        with pytest.raises(StoreError, match=r"symbolic link|exists already"):
            call()
    (tmp_path / "wages.rw-journal").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match=r"wages\.rw-journal is a symbolic link"):
        wages.history()
    assert wages.path.read_bytes() == before
    assert not (tmp_path / "elsewhere").exists()


def test_a_pickle_a_zip_and_another_database_named_rw(tmp_path):
    marker = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return (os.mkdir, (str(marker),))

    (tmp_path / "pickle.rw").write_bytes(pickle.dumps(Evil()) + bytes(4096))
    with zipfile.ZipFile(tmp_path / "zip.rw", "w") as archive:
        archive.writestr("state", "x" * 4096)
    for name in ("pickle.rw", "zip.rw"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(StoreError, match="is no state file") as caught:
            store.open(tmp_path / name)
        assert not isinstance(caught.value, DamagedStoreError)
        assert (tmp_path / name).read_bytes() == before
    assert not marker.exists()
    with closing(sqlite3.connect(tmp_path / "other.rw")) as connection:
        connection.execute("CREATE TABLE head (x)")
    with pytest.raises(StoreError, match="no Ridgeway state file"):
        store.open(tmp_path / "other.rw")


def test_not_a_file(tmp_path):
    with pytest.raises(StoreError, match="no plain file"):
        store.open(tmp_path)
    with pytest.raises(StoreError, match="there is no state file"):
        store.open(tmp_path / "none.rw")
    (tmp_path / "empty.rw").touch()
    with pytest.raises(StoreError, match="is empty"):
        store.open(tmp_path / "empty.rw")
    for path in ("", "a\0b", 7, None):
        with pytest.raises(StoreError, match="is no path of a file"):
            store.open(path)
    with pytest.raises(StoreError, match="does not exist"):
        store.create(tmp_path / "none" / "x.rw", features=["a"], target="b")
    with pytest.raises(StoreError, match="cannot be reached"):
        store.open(tmp_path / ("x" * 300))


def test_a_state_beyond_the_memory_budget(wages, monkeypatch, tmp_path):
    before = wages.path.read_bytes()
    monkeypatch.setattr(_generations, "MEMORY_BUDGET", 50)
    with pytest.raises(StoreError, match="bytes, beyond the budget of 50"):
        store.open(wages.path)
    with pytest.raises(StoreError, match="bytes, beyond the budget of 50"):
        wages.absorb("new", np.eye(2), np.ones(2))
    monkeypatch.undo()
    assert wages.path.read_bytes() == before
    with pytest.raises(InvalidParameterError, match="beyond the budget"):
        store.create(tmp_path / "wide.rw", features=map(str, range(30_000)), target="y")
    assert not (tmp_path / "wide.rw").exists()


def test_a_line_of_csv_larger_than_is_parsed_at_a_time(tmp_path, refused, monkeypatch):
    monkeypatch.setattr(_tables, "CSV_BYTES", 1000)
    path = tmp_path / "d.csv"
    path.write_text(f"age,tenure,wage\n1,2,3\n{'1' * 5000},2,3\n")
    refused(path, InvalidDataError, "cannot be read: straddling object")


def test_a_cell_that_a_spreadsheet_would_run_is_quoted(tmp_path, rng):
    names = ["=cmd|'/c calc'!A0", "+1", "-2", "@sum", "plain"]
    made = store.create(tmp_path / "x.rw", features=names, target="=1+1")
    X = rng.normal(size=(30, 5))
    made.absorb("a", X, rng.normal(size=30))
    made.export(tmp_path / "c.csv")
    with (tmp_path / "c.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert [row[1] for row in rows[2:]] == ["'=cmd|'/c calc'!A0", "'+1", "'-2", "'@sum", "plain"]
    assert {row[0] for row in rows[1:]} == {"'=1+1"}
    assert [float(row[2]) for row in rows[2:]] == made.model().coef_.tolist()
    written(pd.DataFrame(X, columns=names), tmp_path / "new.csv")
    made.predict_file(tmp_path / "new.csv", tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text().splitlines()[0] == '"predicted_=1+1"'


def test_weights(tmp_path, frame):
    made = store.create(tmp_path / "w.rw", features=FEATURES, target="wage", weight_column="w")
    before = made.path.read_bytes()
    path = written(frame.assign(w=[-1.0, *[1.0] * 39]), tmp_path / "d.csv")
    with pytest.raises(InvalidDataError, match="1 negative value"):
        made.absorb_file(path, task_id="a")
    path = written(frame.assign(w=0.0), tmp_path / "d.csv")
    with pytest.raises(InvalidDataError, match="no rows"):
        made.absorb_file(path, task_id="a")
    with pytest.raises(InvalidDataError, match="has a weight column, 'w'"):
        made.absorb("a", frame[FEATURES], frame["wage"])
    assert made.path.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"features": "age", "target": "y"}, "list of names"),
        ({"features": [], "target": "y"}, "at least one feature"),
        ({"features": ["a"], "target": []}, "at least one feature and one target"),
        ({"features": ["a", "a"], "target": "y"}, "duplicate column names: 'a'"),
        ({"features": ["a"], "target": "a"}, "duplicate column names: 'a'"),
        ({"features": ["a"], "target": "y", "weight_column": "y"}, "duplicate column names: 'y'"),
        ({"features": ["a\n"], "target": "y"}, "control characters"),
        ({"features": [""], "target": "y"}, "needs a name"),
        ({"features": [3], "target": "y"}, "needs a name"),
        ({"features": ["a"], "target": "y", "information": "both"}, "information must be one of"),
        ({"features": ["a"], "target": "y", "fit_intercept": 1}, "must be True or False"),
        ({"features": ["a"], "target": "y", "prior": -1.0}, "prior"),
    ],
)
def test_settings(tmp_path, options, match):
    with pytest.raises(InvalidParameterError, match=match):
        store.create(tmp_path / "x.rw", **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["d.csv", "d.parquet"])
def test_the_index_of_a_data_frame_is_no_feature(frame, tmp_path, refused, name):
    frame = frame[frame["age"] > 0.0]
    if name == "d.csv":
        frame.to_csv(tmp_path / name)
    else:
        frame.to_parquet(tmp_path / name)
    with pytest.raises(FeatureMismatchError, match=r"index of a pandas DataFrame. Write the file with index=False."):
        store.features_of(tmp_path / name, leave_out=["wage"])
    refused(tmp_path / name, FeatureMismatchError, r"index of a pandas DataFrame. Write the file with index=False.")


def test_nor_is_one_with_a_name_or_one_that_went_through_csv(frame, tmp_path, refused):
    frame.assign(person=frame.index**2).set_index("person").to_parquet(tmp_path / "d.parquet")
    frame.to_csv(tmp_path / "d.csv")
    pd.read_csv(tmp_path / "d.csv").to_csv(tmp_path / "d.csv", index=False)
    for name, index in (("d.parquet", "person"), ("d.csv", "Unnamed: 0")):
        with pytest.raises(FeatureMismatchError, match=f"column '{index}', which looks like the index of a pandas"):
            store.features_of(tmp_path / name, leave_out=["wage"])
    refused(tmp_path / "d.csv", FeatureMismatchError, "'Unnamed: 0', which looks like the index")
