"""Columns to features: held to pandas and NumPy, and to what must be refused."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from report.tables import shifted

from ridgeway.data import ReportEncoding, TypedTable, encode, open_table
from ridgeway.data._report_encoding import MOST_CATEGORIES
from ridgeway.errors import InvalidDataError, InvalidDataTypeError, InvalidParameterError
from ridgeway.report._tasks import Tasks, label_rows, running_constants


@pytest.fixture
def frame(rng):
    return shifted(rng)


def read_table(data):
    return TypedTable(open_table(data))


def design(data, **options):
    return encode(read_table(data), "y", ["site"], None, **options)


def test_one_hot_is_that_of_pandas(frame):
    found = design(frame)
    whole = frame.dropna()
    expected = pd.get_dummies(
        whole[["x1", "x2", "kind"]], columns=["kind"], drop_first=True, prefix_sep="=", dtype=float
    )
    assert found.encoding.columns == list(expected)
    np.testing.assert_array_equal(found.rows, np.column_stack([expected, whole["y"]]))
    assert found.encoding.features == {"x1": None, "x2": None, "kind": ("a", "b", "c")}


def test_missing_rows_are_counted_at_the_first_column_that_has_one(frame):
    frame.loc[5, "y"] = np.nan
    found = design(frame)
    assert found.dropped == {"y": 1, "x1": 1, "kind": 1}
    np.testing.assert_array_equal(found.kept, frame.notna().all(axis=1))
    with pytest.raises(InvalidDataError, match=r"missing values in: 'y' \(1\), 'x1' \(1\), 'kind' \(1\)"):
        design(frame, missing="refuse")


@pytest.mark.parametrize(
    "convert", [pl.from_pandas, pa.Table.from_pandas, lambda f: pl.from_pandas(f).to_dict(), lambda f: f]
)
def test_any_container_is_the_same_table(frame, convert):
    np.testing.assert_array_equal(design(convert(frame)).rows, design(frame).rows)


def test_kinds_of_columns(frame):
    whole = frame.dropna().reset_index(drop=True)
    kinds = whole.assign(
        flag=np.arange(len(whole)) % 3 == 0,
        small=np.arange(len(whole), dtype=np.int8) % 7,
        kind=whole["kind"].astype("category"),
    )
    found = design(kinds)
    assert found.encoding.columns == ["x1", "x2", "kind=b", "kind=c", "flag", "small"]
    np.testing.assert_array_equal(found.rows[:, 4], kinds["flag"])
    with pytest.raises(InvalidDataTypeError, match="'when' has type timestamp"):
        design(whole.assign(when=pd.Timestamp("2024-01-01")))
    with pytest.raises(InvalidDataError, match=f"'name' is text with {len(whole)} distinct values"):
        design(whole.assign(name=[f"n{i}" for i in range(len(whole))]))
    assert len(whole) > MOST_CATEGORIES


@pytest.mark.parametrize("values", [["1", "2"], ["1", "1", "1", "1", "G"]])
def test_text_of_digits_is_a_category(frame, values):
    """All of it numbers, or not nearly all: both are text on purpose."""
    found = design(frame.assign(kind=np.resize(values, len(frame))))
    assert found.encoding.features["kind"] == tuple(sorted(set(values)))


def test_constant_columns_are_left_out_and_said(frame):
    found = design(frame.assign(one=1.0, word="w"))
    assert found.encoding.constant == ("one", "word")
    assert found.encoding.columns == design(frame).encoding.columns
    with pytest.raises(InvalidDataError, match="no features are left"):
        design(frame.assign(x1=0.0, x2=1.0, kind="a"))


def test_an_encoding_is_written_and_read_and_encodes_alike(frame, tmp_path):
    table = read_table(frame)
    found = design(frame)
    names, numbers = label_rows(table, ["site"], found.kept, "file", np.random.default_rng(0))
    tasks = Tasks.split(names, numbers, 0.2, np.random.default_rng(0))
    encoding = found.encoding.with_constants(*running_constants(found.rows, tasks.train))
    path = tmp_path / "encoding.json"
    path.write_text(encoding.as_json())
    assert ReportEncoding.read(path) == encoding
    part = frame.loc[frame["kind"] != "c"].iloc[::-1]
    again = design(part, encoding=ReportEncoding.read(path))
    assert again.encoding.columns == encoding.columns  # a category that this file does not have keeps its column
    assert not again.rows[:, encoding.columns.index("kind=c")].any()
    flags = [name == "kind=b" or name == "kind=c" for name in encoding.columns]
    np.testing.assert_array_equal(encoding.constants[1][:-1][flags], 1.0)  # zeros and ones stay zeros and ones


def test_a_category_that_was_never_seen(frame, tmp_path):
    known = design(frame).encoding.with_constants(np.zeros(5), np.ones(5))
    new = frame.copy()
    new.loc[[10, 11], "kind"] = "d"
    with pytest.raises(InvalidDataError, match=r"'kind' has a category .* 'd' \(2 such rows in all\)"):
        design(new, encoding=known)
    found = design(new, encoding=known, unknown="ignore")
    assert found.unknown == {"kind": 2}
    np.testing.assert_array_equal(found.rows, design(frame.drop(index=[10, 11])).rows)
    with pytest.raises(InvalidDataError, match="every row has a category"):
        design(new.assign(kind="z"), encoding=known, unknown="ignore")
    with pytest.raises(InvalidDataTypeError, match="'kind' is numeric, but the encoding has it as text"):
        design(new.assign(kind=1.0), encoding=known)
    with pytest.raises(InvalidParameterError, match="for the target 'y'; got 'x1'"):
        encode(read_table(frame), "x1", ["site"], None, encoding=known)
    with pytest.raises(InvalidParameterError, match="has its own features"):
        encode(read_table(frame), "y", ["site"], ["x1"], encoding=known)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "not json",
        lambda text: "[]",
        lambda text: json.dumps({**json.loads(text), "scale": None}),
        lambda text: json.dumps({**json.loads(text), "features": ["x1"]}),
        lambda text: json.dumps({**json.loads(text), "center": {"x1": 0.0}}),
        lambda text: text.replace('"x1": 1.0', '"x1": 0.0'),
        lambda text: text.replace('"x1": 1.0', '"x1": NaN'),
    ],
)
def test_a_broken_encoding_is_refused(frame, tmp_path, change):
    path = tmp_path / "encoding.json"
    text = design(frame).encoding.with_constants(np.zeros(5), np.ones(5)).as_json()
    path.write_text(text)
    assert ReportEncoding.read(path)
    path.write_text(change(text))
    with pytest.raises(InvalidParameterError, match="is not an encoding"):
        ReportEncoding.read(path)
    with pytest.raises(InvalidParameterError, match="is not an encoding"):
        ReportEncoding.read(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{}", "it has no 'features'"),
        ('{"features": 7}', "its values have the wrong types"),
        ("[]", "its values have the wrong types"),
        ("site,y", "it is not JSON"),
        ("[" * 10**5, "its values have the wrong types"),
    ],
)
def test_why_a_file_is_no_encoding(tmp_path, content, reason):
    (tmp_path / "encoding.json").write_text(content)
    with pytest.raises(InvalidParameterError, match=f"not an encoding: {reason}. Pass the encoding.json of a report"):
        ReportEncoding.read(tmp_path / "encoding.json")


def test_running_constants_are_those_of_all_rows(rng):
    rows = rng.normal(size=(500, 3)) * [1.0, 1e-6, 50.0] + [0.0, 1e3, -7.0]
    rows = np.column_stack([rows, np.full(500, 0.1)])
    parts = np.split(rng.permutation(500)[:450], [3, 100, 101, 300])
    mean, scale = running_constants(rows, parts)
    used = rows[np.concatenate(parts)]
    np.testing.assert_allclose(mean, used.mean(axis=0), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(scale[:3], used.std(axis=0)[:3], rtol=1e-6)
    assert scale[3] == 1.0


def test_tasks_are_named_and_ordered(frame, rng):
    frame = frame.assign(year=np.tile([2010.0, 2009.0, 99.0], len(frame) // 3))
    table, kept = read_table(frame), np.ones(len(frame), dtype=bool)
    names, numbers = label_rows(table, ["site", "year"], kept, "file", rng)
    assert names[:4] == ["s0 / 2010", "s0 / 2009", "s0 / 99", "s1 / 2010"]
    expected = frame["site"] + " / " + frame["year"].map("{:g}".format)
    assert [names[number] for number in numbers] == list(expected)
    by_value, _ = label_rows(table, ["year", "site"], kept, "sorted", rng)
    assert by_value[:2] == ["99 / s0", "99 / s1"]
    assert by_value[-1] == "2010 / s4"
    drawn, numbers = label_rows(table, ["site", "year"], kept, "random", rng)
    assert sorted(drawn) == sorted(names) != drawn != names
    assert [drawn[number] for number in numbers] == list(expected)


def test_minus_zero_is_zero_as_a_task(frame, rng):
    table = read_table(frame.assign(site=np.tile([-0.0, -0.0, 1.0], len(frame) // 3)))
    names, _ = label_rows(table, ["site"], np.ones(len(frame), dtype=bool), "file", rng)
    assert names == ["0", "1"]


def test_what_is_held_out_is_never_learned_from(rng):
    numbers = np.repeat([0, 1, 2], [2, 10, 88])
    tasks = Tasks.split(["a", "b", "c"], numbers, 0.3, rng)
    assert [len(part) for part in tasks.test] == [1, 3, 26]
    for number, (train, test) in enumerate(zip(tasks.train, tasks.test, strict=True)):
        np.testing.assert_array_equal(np.sort([*train, *test]), np.flatnonzero(numbers == number))
    dealt = tasks.shuffled(rng)
    assert [len(part) for part in dealt.train] == [len(part) for part in tasks.train]
    assert set(np.concatenate(dealt.train)) == set(np.concatenate(tasks.train))
    assert set(np.concatenate(dealt.test)) == set(np.concatenate(tasks.test))
    for holdout in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(InvalidParameterError, match="holdout must lie between"):
            Tasks.split(["a", "b", "c"], numbers, holdout, rng)


def test_tables_that_cannot_be_read(frame):
    with pytest.raises(InvalidDataTypeError, match="cannot read a table from int"):
        read_table(3)
    with pytest.raises(InvalidDataTypeError, match="cannot be read"):
        read_table({"a": [1, "x"], "b": [1, 2]})
    with pytest.raises(InvalidDataError, match="duplicate column names"):
        read_table(pd.concat([frame, frame], axis=1))
    with pytest.raises(InvalidDataError, match="duplicate column names: 'a'"):
        read_table(pa.table([[1], [2]], names=["a", "a"]))
    with pytest.raises(InvalidDataError, match="has no rows"):
        read_table({"a": []})
    table = read_table({f"c{i}": [1.0] for i in range(20)})
    with pytest.raises(InvalidDataError, match=r"no column 'y'. .* … \(20 in all\)"):
        table.column("y")
    opened = open_table(frame)
    assert open_table(opened) is opened
