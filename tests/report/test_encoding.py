"""Columns to features: held to pandas and NumPy, and to what must be refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from report.tables import shifted

from ridgeway.data import as_labels, open_table
from ridgeway.data._inferred import MOST_CATEGORIES
from ridgeway.errors import InvalidDataError, InvalidDataTypeError, InvalidParameterError
from ridgeway.report._encoded_rows import encode, standardised
from ridgeway.report._tasks import Tasks, label_rows, running_constants


@pytest.fixture
def frame(rng):
    return shifted(rng)


def design(data, features=None, **options):
    return encode(open_table(data), "y", ["site"], features, **options)


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
    assert standardised(found.encoding, "gaussian").all()  # a product of zeros and ones with a number is a number
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
