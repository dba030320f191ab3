"""The one reader of tables: the same columns, numbers and labels from every kind of file and container."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ridgeway.data import (
    Encoder,
    Schema,
    as_labels,
    as_numbers,
    checked_schema,
    index_columns,
    inferred,
    open_table,
    tasks_in,
)
from ridgeway.errors import InvalidDataError, InvalidDataTypeError

FILES = ("t.csv", "t.tsv", "t.parquet", "t.arrow", "t.ipc")
SCHEMA = Schema(("x", "flag"), ("y",), True, None, True, "moments")


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "x": [1.5, -0.0, 3.0, 4.0],
            "flag": [True, False, True, True],
            "y": [1, 2, 3, 4],
            "word": ["b", None, "a", "b"],
            "site": [2019, 2020, 2019, 7],
        }
    )


def written(frame, path):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if path.suffix in (".csv", ".tsv"):
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        kind = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
        with kind(str(path), table.schema) as sink:
            sink.write_table(table)
    return path


def labels_in(table, name="site"):
    return as_labels(table.read([name], text=[name]).column(0))


def seen(table):
    encoding = inferred(table, None, leave_out=["y", "site"], missing="indicator")
    schema = checked_schema(encoding, "y", weight_column=None, fit_intercept=True, information="moments")
    rows = Encoder(schema, "the table").rows(table.read(schema.columns))
    site = labels_in(table)
    columns = dict(zip(schema.features, rows.X.T.tolist(), strict=True))
    return columns, rows.y.tolist(), (site.names, site.codes.tolist())


def test_every_file_and_container_is_the_same_table(frame, tmp_path):
    expected = (
        {
            "x": [1.5, 0.0, 3.0, 4.0],
            "flag": [1.0, 0.0, 1.0, 1.0],
            "word=b": [1.0, 0.0, 0.0, 1.0],
            "word=(missing)": [0.0, 1.0, 0.0, 0.0],
        },
        [[1.0], [2.0], [3.0], [4.0]],
        (("2019", "2020", "7"), [0, 1, 0, 2]),
    )
    containers = [frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), dict(pl.from_pandas(frame).to_dict())]
    for data in [*containers, *(written(frame, tmp_path / name) for name in FILES)]:
        assert seen(open_table(data)) == expected


def test_blocks_and_typed_columns_agree_also_on_booleans(frame, tmp_path):
    for name in FILES:
        path = written(frame[["y", "flag", "x"]], tmp_path / name)
        ((_, block),) = tasks_in(open_table(path), SCHEMA, "")
        np.testing.assert_array_equal(block.X, [[1.5, 1.0], [0.0, 0.0], [3.0, 1.0], [4.0, 1.0]])
        np.testing.assert_array_equal(block.y, [[1.0], [2.0], [3.0], [4.0]])


@pytest.mark.parametrize("values", [["true", "no", "false"], ["true", "2", "false"]])
def test_booleans_mixed_with_something_else_are_text(tmp_path, values):
    pd.DataFrame({"x": 1.0, "flag": values, "y": 1.0}).to_csv(tmp_path / "t.csv", index=False)
    table = open_table(tmp_path / "t.csv")
    with pytest.raises(InvalidDataError, match="column 'flag' has 'true', which is not a number"):
        list(tasks_in(table, SCHEMA, ""))


def test_a_batch_of_which_no_row_is_left():
    encoding = inferred(open_table({"x": [1.0], "y": [1.0]}), None, leave_out=["y"], missing="drop")
    schema = checked_schema(encoding, "y", weight_column=None, fit_intercept=True, information="moments")
    table = open_table({"x": pa.array([None, None], pa.float64()), "y": [1.0, 2.0]})
    dropped = Counter()
    assert list(tasks_in(table, schema, "task", dropped=dropped)) == []
    assert dropped == {("x",): 2}


@pytest.mark.parametrize("name", FILES)
def test_labels_keep_their_zeros_and_lose_their_fractions(tmp_path, name):
    text = pd.DataFrame({"site": ["007", "TRUE", "2019.0", "2020-01-01 00:00:00"], "x": 1.0})
    found = labels_in(open_table(written(text, tmp_path / name)))
    assert found.names == ("007", "true", "2019", "2020-01-01")
    numbers = pd.DataFrame({"site": [2019.0, np.nan, -0.0, 2019.0], "x": 1.0})
    found = labels_in(open_table(written(numbers, tmp_path / name)))
    assert (found.names, found.codes.tolist()) == (("2019", "0"), [0, -1, 1, 0])


def test_nan_and_empty_text_name_no_task():
    table = open_table(pa.table({"a": [np.nan, 1.0], "b": ["", "x"]}))
    for name, label in (("a", "1"), ("b", "x")):
        found = labels_in(table, name)
        assert (found.names, found.codes.tolist()) == ((label,), [-1, 0])


def test_batches_of_a_table_in_memory():
    table = open_table({"a": np.arange(10.0), "b": [str(i) for i in range(10)]})
    batches = list(table.batches(["b", "a"], rows=4))
    assert [len(batch) for batch in batches] == [4, 4, 2]
    assert batches[0].schema.names == ["b", "a"]
    assert table.n_rows == 10


def test_columns_that_are_neither_numbers_nor_text():
    table = open_table({"when": pd.to_datetime(["2020-01-01"]), "big": [2**53 + 1], "raw": [b"\xff"]})
    with pytest.raises(InvalidDataTypeError, match=r"'when' is a date. Say how to use it, for example month\(when\)"):
        inferred(table, None, leave_out=["big", "raw"])
    with pytest.raises(InvalidDataError, match="'big' has integers beyond 2⁵³"):
        as_numbers(table.read(["big"]).column(0), "big", "the table")
    with pytest.raises(InvalidDataTypeError, match="'raw' has type binary: neither numbers, text nor dates"):
        inferred(table, None, leave_out=["when", "big"])


def test_a_csv_file_that_is_not_utf_8_is_refused_whoever_reads_it(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("x,word\n1,Köln\n".encode("latin-1"))
    for read in (
        lambda table: table.read(["x", "word"]),
        lambda table: table.types(["word"]),
        lambda table: labels_in(table, "word"),
    ):
        with pytest.raises(InvalidDataError, match="is not UTF-8 text"):
            read(open_table(path))
    assert open_table(path).read(["x"]).num_rows == 1


def test_the_index_is_what_pandas_itself_takes_back():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [5.0, 6.0]})
    for kept in (["a"], ["c", "a"], []):
        table = pa.Table.from_pandas(frame.set_index(kept) if kept else frame)
        assert sorted(index_columns(table.column_names, table.schema.metadata)) == sorted(kept)
        assert not kept or sorted(table.to_pandas().index.names) == sorted(kept)


@pytest.mark.parametrize(
    "notes",
    [b"", b"no json", b"\xff", b"[]", b"7", b"{}", b'{"index_columns": 7}', b'{"index_columns": [7]}', b"[" * 10**5],
)
def test_metadata_that_say_nothing_are_no_harm(notes):
    assert index_columns(["a", "b"], {b"pandas": notes}) == []
    assert index_columns(["", "b", "__index_level_12__"], {b"pandas": notes}) == ["", "__index_level_12__"]
    assert index_columns(["b", "Unnamed: 0", "index_level"]) == []


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", ["\udcff", "file:", "s3:", "a b%20?#"], ids=ascii)
def test_unusual_names(frame, tmp_path, monkeypatch, kind, name):
    monkeypatch.chdir(tmp_path)
    written(frame, tmp_path / kind).rename(f"{name}{kind}")
    table = open_table(f"{name}{kind}")
    assert table.read(["y"]).column("y").to_pylist() == [1, 2, 3, 4]
    assert [value for batch in table.batches(["x"], rows=2) for value in batch["x"].to_pylist()] == [1.5, 0.0, 3.0, 4.0]
