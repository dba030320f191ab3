"""Columns to features: held to pandas and NumPy, and to what must be refused."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from report.tables import shifted

from ridgeway.data import as_labels, open_table
from ridgeway.data._inferred import MOST_CATEGORIES
from ridgeway.errors import InvalidDataError, InvalidDataTypeError, InvalidParameterError
from ridgeway.report import StandardizedEncoding
from ridgeway.report._encoded_rows import encode
from ridgeway.report._tasks import Tasks, label_rows, running_constants


@pytest.fixture
def frame(rng):
    return shifted(rng)


def design(data, features=None, **options):
    return encode(open_table(data), "y", ["site"], features, **options)


def standardized(found):
    """Return the encoding with constants that change nothing."""
    width = found.rows.shape[1]
    return StandardizedEncoding.of(found.encoding, "y", found.constant, np.zeros(width), np.ones(width))


def labels_in(data, *names):
    return [as_labels(open_table(data).read([name], text=[name]).column(0)) for name in names]


def test_one_hot_is_that_of_pandas(frame):
    found = design(frame)
    whole = frame.dropna()
    expected = pd.get_dummies(
        whole[["x1", "x2", "kind"]], columns=["kind"], drop_first=True, prefix_sep="=", dtype=float
    )
    assert list(found.encoding.features) == list(expected)
    np.testing.assert_array_equal(found.rows, np.column_stack([expected, whole["y"]]))
    assert found.encoding.levels == {"kind": ("a", "b", "c")}


def test_missing_values_are_counted_in_every_column(frame):
    frame.loc[5, "y"] = np.nan
    found = design(frame)
    assert found.dropped == {"y": 1, "x1": 1, "kind": 2}  # row 5 lacks both y and kind
    np.testing.assert_array_equal(found.kept, frame.notna().all(axis=1))
    with pytest.raises(InvalidDataError, match=r"missing values in: 'y' \(1\), 'x1' \(1\), 'kind' \(2\)"):
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
    assert found.encoding.features == ("x1", "x2", "kind=b", "kind=c", "flag", "small")
    np.testing.assert_array_equal(found.rows[:, 4], kinds["flag"])
    with pytest.raises(InvalidDataTypeError, match=r"'when' is a date. Say how to use it, for example month\(when\)"):
        design(whole.assign(when=pd.Timestamp("2024-01-01")))
    with pytest.raises(InvalidDataError, match=f"'name' has {len(whole)} distinct values"):
        design(whole.assign(name=[f"n{i}" for i in range(len(whole))]))
    assert len(whole) > MOST_CATEGORIES


def test_terms_are_functions_and_products_of_columns(frame):
    whole = frame.dropna().reset_index(drop=True)
    days = pd.date_range("2024-11-20", periods=len(whole), freq="D")
    table = whole.assign(size=np.exp(whole["x1"]), when=days).rename(columns={"x2": "x (2)"})
    found = design(table, ["x (2)", "log(size)", "kind:size", "month(when)", "x1^2"])
    expected = {
        "x (2)": whole["x2"],
        "log(size)": whole["x1"],
        "kind=b:size": (whole["kind"] == "b") * table["size"],
        "kind=c:size": (whole["kind"] == "c") * table["size"],
        "month(when)": days.month,
        "x1^2": whole["x1"] ** 2,
    }
    assert list(found.encoding.features) == list(expected)
    np.testing.assert_allclose(found.rows, np.column_stack([*expected.values(), whole["y"]]), rtol=1e-13)
    assert found.encoding.ignored == ("site",)
    assert found.encoding.columns == ("x (2)", "size", "kind", "when", "x1")
    scale = StandardizedEncoding.of(found.encoding, "y", (), np.full(7, 5.0), np.full(7, 2.0)).scale
    assert set(scale.values()) == {2.0}  # a product of zeros and ones with a number is a number
    with pytest.raises(InvalidDataError, match=r"column 'x1': \d+ values? (is|are) 0 or negative"):
        design(frame, ["log(x1)"])
    with pytest.raises(InvalidParameterError, match=r"cannot read the term 'sqrt\(x1\)': 'sqrt' is not a function"):
        design(frame, ["sqrt(x1)"])


def test_missing_values_can_be_marked(frame):
    frame.loc[7, "y"] = np.nan
    found = design(frame, missing="indicator")
    rest = frame.drop(index=7)
    assert found.dropped == {"y": 1}
    expected = {
        "x1": rest["x1"].fillna(0.0),
        "x2": rest["x2"],
        "kind=b": rest["kind"] == "b",
        "kind=c": rest["kind"] == "c",
        "kind=(missing)": rest["kind"].isna(),
        "x1 is missing": rest["x1"].isna(),
    }
    assert list(found.encoding.features) == list(expected)
    np.testing.assert_array_equal(found.rows, np.column_stack([*expected.values(), rest["y"]]))
    known = standardized(found)
    assert (known.center["x1 is missing"], known.scale["kind=(missing)"]) == (0.0, 1.0)
    again = design(frame, known=known)  # marks them too: the columns are there for that
    np.testing.assert_array_equal(again.rows, found.rows)
    with pytest.raises(InvalidDataError, match="missing values in 'x2', which the model has not learned"):
        design(frame.assign(x2=frame["x2"].where(frame.index > 0)), known=known)


def test_rows_that_are_left_out_give_no_categories_and_are_checked(frame):
    frame.loc[[10, 11], ["kind", "x1"]] = ["d", np.nan]
    assert design(frame).encoding.levels == {"kind": ("a", "b", "c")}
    few = frame.assign(x2=np.resize(["1", "2"], len(frame)))
    assert design(few).encoding.levels["x2"] == ("1", "2")
    few.loc[10, "x2"] = "n/k"
    with pytest.raises(InvalidDataError, match=r"1 of 300 values of 'x2' is text \('n/k'\)"):
        design(few)


@pytest.mark.parametrize("values", [["1", "2"], ["1", "1", "1", "1", "G"]])
def test_text_of_digits_is_a_category(frame, values):
    """All of it numbers, or not nearly all: both are text on purpose."""
    found = design(frame.assign(kind=np.resize(values, len(frame))))
    assert found.encoding.levels["kind"] == tuple(sorted(set(values)))


def test_constant_columns_are_left_out_and_said(frame):
    found = design(frame.assign(one=1.0, word="w"))
    assert found.constant == ("one", "word")
    assert found.encoding.features == design(frame).encoding.features
    np.testing.assert_array_equal(found.rows, design(frame).rows)
    assert found.encoding.ignored == ("site", "one", "word")
    with pytest.raises(InvalidDataError, match="no features are left"):
        design(frame.assign(x1=0.0, x2=1.0, kind="a"))


def test_an_encoding_is_written_and_read_and_encodes_alike(frame, tmp_path):
    found = design(frame)
    names, numbers = label_rows(found.labels, found.kept, "file", np.random.default_rng(0))
    tasks = Tasks.split(names, numbers, 0.2, np.random.default_rng(0))
    constants = running_constants(found.rows, tasks.train)
    encoding = StandardizedEncoding.of(found.encoding, "y", found.constant, *constants)
    path = tmp_path / "encoding.json"
    path.write_text(encoding.as_json())
    assert StandardizedEncoding.read(path) == encoding
    part = frame.loc[frame["kind"] != "c"].iloc[::-1]
    again = design(part, known=StandardizedEncoding.read(path))
    assert again.encoding == encoding.encoding  # a category that this file does not have keeps its column
    assert not again.rows[:, encoding.columns.index("kind=c")].any()
    flags = np.array([name in ("kind=b", "kind=c") for name in encoding.columns])
    center, scale = encoding.constants
    np.testing.assert_array_equal(scale[flags], 1.0)  # zeros and ones stay zeros and ones
    np.testing.assert_array_equal(center[flags], 0.0)
    np.testing.assert_array_equal([center[~flags], scale[~flags]], np.array(constants)[:, ~flags])


def test_a_category_that_was_never_seen(frame, tmp_path):
    known = standardized(design(frame))
    new = frame.copy()
    new.loc[[10, 11], "kind"] = "d"
    with pytest.raises(InvalidDataError, match=r"'kind' has a category .* 'd' \(2 such rows in all\)"):
        design(new, known=known)
    found = design(new, known=known, unknown="ignore")
    assert found.unknown == {"kind": 2}
    np.testing.assert_array_equal(found.rows, design(frame.drop(index=[10, 11])).rows)
    with pytest.raises(InvalidDataError, match="every row has a category"):
        design(new.assign(kind="z"), known=known, unknown="ignore")
    with pytest.raises(InvalidDataTypeError, match="'kind' has type double; the model knows it as text"):
        design(new.assign(kind=1.0), known=known)
    with pytest.raises(InvalidDataTypeError, match=r"'x1' has type \w+, which is not numeric"):
        design(frame.assign(x1="a"), known=known)
    with pytest.raises(InvalidParameterError, match="for the target 'y'; got 'x1'"):
        encode(open_table(frame), "x1", ["site"], None, known=known)
    with pytest.raises(InvalidParameterError, match="has its own features"):
        design(frame, ["x1"], known=known)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "not json",
        lambda text: "[]",
        lambda text: json.dumps({**json.loads(text), "scale": None}),
        lambda text: json.dumps({**json.loads(text), "family": "other"}),
        lambda text: json.dumps({**json.loads(text), "encoding": 7}),
        lambda text: text.replace('"kind",\n        "text"', '"kind",\n        "date"'),
        lambda text: text.replace('"b"', '"d"'),
        lambda text: json.dumps({**json.loads(text), "center": {"x1": 0.0}}),
        lambda text: text.replace('"x1": 1.0', '"x1": 0.0'),
        lambda text: text.replace('"x1": 1.0', '"x1": NaN'),
    ],
)
def test_a_broken_encoding_is_refused(frame, tmp_path, change):
    path = tmp_path / "encoding.json"
    text = standardized(design(frame)).as_json()
    path.write_text(text)
    assert StandardizedEncoding.read(path)
    assert change(text) != text
    path.write_text(change(text))
    with pytest.raises(InvalidParameterError, match="is not an encoding"):
        StandardizedEncoding.read(path)
    with pytest.raises(InvalidParameterError, match="is not an encoding"):
        StandardizedEncoding.read(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{}", "it has no 'encoding'"),
        ('{"encoding": 7}', "its values have the wrong types"),
        ("[]", "its values have the wrong types"),
        ("site,y", "it is not JSON"),
        ("[" * 10**5, "its values have the wrong types"),
    ],
)
def test_why_a_file_is_no_encoding(tmp_path, content, reason):
    (tmp_path / "encoding.json").write_text(content)
    with pytest.raises(InvalidParameterError, match=f"not an encoding: {reason}. Pass the encoding.json of a report"):
        StandardizedEncoding.read(tmp_path / "encoding.json")


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
    labels, kept = labels_in(frame, "site", "year"), np.ones(len(frame), dtype=bool)
    names, numbers = label_rows(labels, kept, "file", rng)
    assert names[:4] == ["s0 / 2010", "s0 / 2009", "s0 / 99", "s1 / 2010"]
    expected = frame["site"] + " / " + frame["year"].map("{:g}".format)
    assert [names[number] for number in numbers] == list(expected)
    by_value, _ = label_rows(labels[::-1], kept, "sorted", rng)
    assert by_value[:2] == ["99 / s0", "99 / s1"]
    assert by_value[-1] == "2010 / s4"
    drawn, numbers = label_rows(labels, kept, "random", rng)
    assert sorted(drawn) == sorted(names) != drawn != names
    assert [drawn[number] for number in numbers] == list(expected)


def test_minus_zero_is_zero_as_a_task(frame, rng):
    labels = labels_in(frame.assign(site=np.tile([-0.0, -0.0, 1.0], len(frame) // 3)), "site")
    names, _ = label_rows(labels, np.ones(len(frame), dtype=bool), "file", rng)
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
        design(3)
    with pytest.raises(InvalidDataTypeError, match="cannot be read"):
        design({"a": [1, "x"], "b": [1, 2]})
    with pytest.raises(InvalidDataError, match="duplicate column names"):
        design(pd.concat([frame, frame], axis=1))
    with pytest.raises(InvalidDataError, match="duplicate column names: 'a'"):
        design(pa.table([[1], [2]], names=["a", "a"]))
    with pytest.raises(InvalidDataError, match="has no rows"):
        design({"site": [], "x": [], "y": []})
    with pytest.raises(InvalidDataError, match=r"no column 'y', 'site'. It has: 'c0', .* … \(20 in all\)"):
        design({f"c{i}": [1.0] for i in range(20)})
    opened = open_table(frame)
    assert open_table(opened) is opened
