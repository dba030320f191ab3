"""Bad data files, one test each: the message says what to do, and the state file is byte for byte as it was."""

import csv
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from store.tables import written

from ridgeway import store
from ridgeway.data import _csv_tables
from ridgeway.errors import (
    FeatureMismatchError,
    InvalidDataError,
    InvalidDataTypeError,
    InvalidParameterError,
)

FEATURES = ["age", "tenure"]


kinds = pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])


@kinds
def test_missing_column(frame, tmp_path, refused, kind):
    refused(written(frame.drop(columns="age"), tmp_path / f"d.{kind}"), FeatureMismatchError, "has no column 'age'")


@kinds
def test_extra_column(frame, tmp_path, refused, kind):
    path = written(frame.assign(height=1.0), tmp_path / f"d.{kind}")
    refused(path, FeatureMismatchError, "unknown columns: 'height'")


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
    assert wages.absorb_table(path, task_id="first")[0].already


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("csv", InvalidDataError, "column 'age' has 'unknown', which is not a number"),
        ("parquet", InvalidDataTypeError, "column 'age' has type (large_)?string, which is not numeric"),
    ],
)
def test_text_column(frame, tmp_path, refused, kind, error, message):
    words = frame["age"].map("{:.3f}".format)
    words[[3, 7]] = "unknown"
    path = written(frame.assign(age=words), tmp_path / f"d.{kind}")
    refused(path, error, message)


@kinds
def test_column_with_nulls(frame, tmp_path, refused, kind):
    frame.loc[[1, 5, 9], "tenure"] = None
    path = written(frame, tmp_path / f"d.{kind}")
    refused(path, InvalidDataError, "column 'tenure' has nulls. Drop those rows, fill the values, or create")


@kinds
def test_column_with_infinity(frame, tmp_path, refused, kind):
    frame.loc[[1, 5], "tenure"] = np.inf
    path = written(frame, tmp_path / f"d.{kind}")
    refused(path, InvalidDataError, "column 'tenure' has NaN or infinity")


def test_column_of_dates(frame, tmp_path, refused):
    path = written(frame.assign(age=pd.Timestamp("2020-01-01")), tmp_path / "d.parquet")
    refused(path, InvalidDataTypeError, r"column 'age' has type timestamp\[.*\], which is not numeric")


def test_whole_numbers_beyond_float64(frame, tmp_path, refused):
    path = written(frame.assign(age=2**53 + 1), tmp_path / "d.parquet")
    refused(path, InvalidDataError, "column 'age' has integers beyond 2⁵³")


def test_parquet_whose_columns_change_midway(frame, tmp_path, refused):
    path = tmp_path / "d.parquet"
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with parquet.ParquetWriter(path, table.schema) as sink:
        sink.write_table(table)
        sink.write_table(table)
    content = path.read_bytes()
    places = [i for i in range(len(content)) if content.startswith(b"\x03age", i)]
    group = places[-1]  # the footer names each column once for the file and once for each row group
    path.write_bytes(content[:group] + b"\x03agf" + content[group + 4 :])
    refused(path, FeatureMismatchError, "change in row group 2 of 2")


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


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_csv_that_is_not_utf_8(frame, tmp_path, refused, wages, encoding):
    """In the names or in the task column; a column that is not read may be anything."""
    path = tmp_path / "d.csv"
    frame.rename(columns={"age": "Größe"}).to_csv(path, index=False, encoding=encoding)
    refused(path, InvalidDataError, r"is not UTF-8 text\. Save it as UTF-8, or pass")
    frame.assign(where="Köln").to_csv(path, index=False, encoding=encoding)
    refused(path, InvalidDataError, r"is not UTF-8 text\. Save it as UTF-8, or pass", task_column="where")
    if encoding == "latin-1":
        assert wages.predict_file(path, tmp_path / "p.csv") == (40, 0)


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
    refused(path, InvalidDataError, "the task column 'where' is empty in 1 or more rows", task_column="where")
    path = written(frame.assign(where=0.5), tmp_path / "d.parquet")
    refused(path, InvalidDataError, "cannot name a task", task_column="where")
    path = written(frame, tmp_path / "d.csv")
    refused(path, FeatureMismatchError, "has no column 'where'", task_column="where")
    refused(path, FeatureMismatchError, "is also a column of the model", task_column="age")


@pytest.mark.parametrize("value", [None, 7, np.array(3), np.array([]), []], ids=repr)
@pytest.mark.parametrize("name", ["features", "target", "weight_kind", "information"])
def test_settings_of_the_wrong_type(tmp_path, name, value):
    settings = {"features": ["a"], "target": "y"} | {name: value}
    with pytest.raises(InvalidParameterError):
        store.create(tmp_path / "x.rw", **settings)
    assert not (tmp_path / "x.rw").exists()


def test_a_refused_file_leaves_no_thread_behind(frame, tmp_path, wages):
    """The thread that reads ahead ends with the call, even if the error is kept."""
    frame.loc[7, "age"] = np.inf
    path = written(frame, tmp_path / "d.parquet")
    with pytest.raises(InvalidDataError) as caught:
        wages.absorb_table(path, task_id="new")
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPoolExecutor")]
    assert caught.value.__traceback__ is not None


def test_neither_or_both_ways_to_name_the_task(frame, tmp_path, refused):
    path = written(frame, tmp_path / "d.csv")
    refused(
        path,
        InvalidParameterError,
        "either a task or a task column; got both",
        task_id="a",
        task_column="b",
    )


def test_unknown_kind_of_data_file(tmp_path, refused):
    refused(tmp_path / "d.xlsx", InvalidDataError, "a data file ends in .csv, .tsv, .parquet")
    refused(tmp_path / "none.csv", InvalidDataError, "does not exist")


def test_a_line_of_csv_larger_than_is_parsed_at_a_time(tmp_path, refused, monkeypatch):
    monkeypatch.setattr(_csv_tables, "CSV_BYTES", 1000)
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
        made.absorb_table(path, task_id="a")
    path = written(frame.assign(w=[5e-324, *[1.0] * 39]), tmp_path / "d.csv")
    with pytest.raises(InvalidDataError, match="weight column has 1 value below 1e-150"):
        made.absorb_table(path, task_id="a")
    path = written(frame.assign(w=0.0), tmp_path / "d.csv")
    with pytest.raises(InvalidDataError, match="no rows"):
        made.absorb_table(path, task_id="a")
    with pytest.raises(InvalidDataError, match="has a weight column, 'w'"):
        made.absorb("a", frame[FEATURES], frame["wage"])
    assert made.path.read_bytes() == before


@pytest.mark.parametrize("name", ["d.csv", "d.parquet"])
def test_the_index_of_a_data_frame_is_no_feature(frame, tmp_path, refused, name):
    frame = frame[frame["age"] > 0.0]
    if name == "d.csv":
        frame.to_csv(tmp_path / name)
    else:
        frame.to_parquet(tmp_path / name)
    with pytest.raises(FeatureMismatchError, match=r"index of a pandas DataFrame. Write the file with index=False."):
        store.encoding_of(tmp_path / name, leave_out=["wage"])
    refused(tmp_path / name, FeatureMismatchError, r"index of a pandas DataFrame. Write the file with index=False.")


def test_nor_is_one_with_a_name_or_one_that_went_through_csv(frame, tmp_path, refused):
    frame.assign(person=frame.index**2).set_index("person").to_parquet(tmp_path / "d.parquet")
    frame.to_csv(tmp_path / "d.csv")
    pd.read_csv(tmp_path / "d.csv").to_csv(tmp_path / "d.csv", index=False)
    for name, index in (("d.parquet", "person"), ("d.csv", "Unnamed: 0")):
        with pytest.raises(FeatureMismatchError, match=f"column '{index}', which looks like the index of a pandas"):
            store.encoding_of(tmp_path / name, leave_out=["wage"])
    refused(tmp_path / "d.csv", FeatureMismatchError, "'Unnamed: 0', which looks like the index")
