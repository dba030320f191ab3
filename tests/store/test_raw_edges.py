"""Raw tables at their edges: odd values, odd names, and rows that must be recognised. Each of these once went wrong."""

import json
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from store.tables import written

from ridgeway import store
from ridgeway.data import Schema, _csv_tables
from ridgeway.errors import (
    DuplicateTaskError,
    FeatureMismatchError,
    InvalidDataError,
    InvalidDataTypeError,
    InvalidParameterError,
    InvalidStateError,
    MergeError,
    RemovalError,
)


def table(seed=0, n=40, categories="abc", **columns):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"c": rng.choice(list(categories), n), "x": rng.normal(size=n), "y": rng.normal(size=n)})
    return frame.astype({"c": object}).assign(**columns)


@pytest.fixture
def made(tmp_path):
    numbers = iter(range(99))

    def make(frame, features=None, weight_column=None, fit_intercept=True, **rules):
        leave_out = [name for name in ("y", weight_column) if name]
        encoding = store.encoding_of(frame, features=features, leave_out=leave_out, **rules)
        path = tmp_path / f"{next(numbers)}.rw"
        return store.create(
            path, features=encoding, target="y", weight_column=weight_column, fit_intercept=fit_intercept
        )

    return make


@pytest.mark.parametrize("value", ["inf", "9007199254740993", "1e300"])
def test_a_category_of_numbers_has_no_number_that_is_rounded(made, tmp_path, value):
    found = made(table(k=np.arange(40) % 3), features="category(k)")
    path = tmp_path / "odd.csv"
    path.write_text(f"k,y\n1,2.0\n{value},3.0\n")
    with pytest.raises(InvalidDataError):
        found.absorb_table(path, task_id="t")
    with pytest.raises(InvalidDataError, match="below 2⁵³"):
        store.encoding_of(path, features="category(k)")


def test_a_category_of_thousands_of_digits(made):
    with pytest.raises(InvalidParameterError, match="characters long"):
        made(table(c=["1" * 5000, "2"] * 20))
    assert made(table(c=["10", "9", "1" * 150, "2"] * 10)).schema.encoding.levels["c"] == ("2", "9", "10", "1" * 150)


def test_text_that_is_not_unicode(made):
    with pytest.raises(InvalidDataError, match="not UTF-8"):
        made(table()).absorb_table({"c": ["\ud800"], "x": [1.0], "y": [1.0]}, task_id="t")


@pytest.mark.parametrize("level", ["a\x1b[31m", "a\ud800", "a" * 300])
def test_the_reference_level_is_checked_too(made, level):
    stored = made(table()).schema.to_bytes()
    altered = stored.replace(b'"levels":{"c":["a"', b'"levels":{"c":[' + json.dumps(level).encode())
    assert altered != stored
    with pytest.raises(InvalidStateError):
        Schema.from_bytes(altered)


@pytest.mark.parametrize("levels", [b"null", b"[]", b"1", b'"x"'])
def test_levels_that_are_not_a_mapping(made, levels):
    stored = made(table()).schema.to_bytes()
    start, end = stored.index(b'"levels":') + 9, stored.index(b',"missing"')
    with pytest.raises(InvalidStateError):
        Schema.from_bytes(stored[:start] + levels + stored[end:])


def test_the_command_in_a_message_is_safe_to_paste(made):
    with pytest.raises(InvalidDataError, match=r"--category 'c=\$\(reboot\)'$"):
        made(table()).absorb_table(table(c="$(reboot)"), task_id="t")


def test_a_row_without_a_value_does_not_move_the_predictions(made):
    found = made(table(), missing="drop")
    found.absorb_table(table(), task_id="t")
    rows = table(1, n=6).drop(columns="y")
    rows.loc[2, "x"] = np.nan
    with pytest.raises(InvalidDataError, match="no value in 'x'"):
        found.model().predict(rows)
    assert found.predict(rows)["predicted_y"].is_null().to_pylist() == [False, False, True, False, False, False]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda y: y.sample(frac=1.0, random_state=0), InvalidDataError),
        (lambda y: y.astype(str).tolist(), InvalidDataTypeError),
        (lambda y: np.ma.masked_array(y, mask=np.arange(40) < 5), InvalidDataTypeError),
        (lambda y: y.to_numpy() + 1j, InvalidDataError),
        (lambda y: [2**60 + 1] * 40, InvalidDataError),
        (lambda y: y.to_numpy()[:, None, None], InvalidDataError),
        (lambda y: y[:39], InvalidDataError),
        (lambda y: 1.0, InvalidDataTypeError),
    ],
    ids=["index", "text", "mask", "complex", "rounded", "axes", "short", "scalar"],
)
@pytest.mark.parametrize("weighted", [False, True], ids=["y", "weight"])
def test_targets_and_weights_in_memory(made, change, error, weighted):
    rows = table(w=np.linspace(1.0, 2.0, 40))
    found = made(rows, weight_column="w" if weighted else None, features="c,x")
    X, wrong = rows[["c", "x"]], change(rows["w" if weighted else "y"])
    with pytest.raises(error):
        found.absorb("t", X, rows["y"] if weighted else wrong, wrong if weighted else None)
    assert not found.history()


def test_targets_in_memory_are_matched_by_name(tmp_path):
    rows = table(z=np.arange(40.0))
    encoding = store.encoding_of(rows, leave_out=["y", "z"])
    found = store.create(tmp_path / "two.rw", features=encoding, target=["y", "z"])
    with pytest.raises(FeatureMismatchError, match="duplicate column names: 'y', 'z'"):
        found.absorb("t", rows, rows[["y", "z"]])
    found.absorb("t", rows[["c", "x"]], rows[["z", "y"]])
    assert found.absorb_table(rows, task_id="t")[0].already


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("late", [True, False], ids=["widened", "from the beginning"])
def test_merge_recognises_rows_that_were_absorbed_before_a_column_was_added(made, order, late):
    short, long = made(table()), made(table() if late else table(h=np.arange(40.0)))
    short.absorb_table(table(), task_id="short")
    for found in (short, long)[: 1 + late]:
        found.widen(features={"h": 0.0})
    long.absorb_table(table(h=0.0), task_id="long")
    one, two = ((short, long)[place] for place in order)
    with pytest.raises(MergeError, match="the same rows are in both"):
        one.merge(two, one.path.with_name("both.rw"))
    other = made(table() if late else table(h=np.arange(40.0)))
    if late:
        other.widen(features={"h": 0.0})
    other.absorb_table(table(h=1.0), task_id="other")
    both = short.merge(other, one.path.with_name("both.rw"))
    with pytest.raises(DuplicateTaskError):
        both.absorb_table(table(h=0.0), task_id="again")


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_light_row_keeps_its_category_if_heavy_ones_are_removed(made, fit_intercept):
    light, heavy = table(w=1.0), table(1, w=1e10)
    found, expected = (made(light, weight_column="w", fit_intercept=fit_intercept) for _ in range(2))
    for rows, name in ((light, "light"), (heavy, "heavy")):
        found.absorb_table(rows, task_id=name)
    expected.absorb_table(light, task_id="light")
    found.remove_table(heavy, task_id="heavy")
    with pytest.warns(UserWarning, match="digits"):
        coef = found.model().coef_
    np.testing.assert_allclose(coef, expected.model().coef_, rtol=1e-3)


def test_columns_of_predictions_have_one_name_each(made, tmp_path):
    found = made(table())
    found.absorb_table(table(), task_id="t")
    path = written(table(1), tmp_path / "t.csv")
    with pytest.raises(InvalidParameterError, match="two columns 'c'"):
        found.predict(path, ids=["c"], column="c")
    found.widen(targets={"y_lower": 0.0})
    with pytest.raises(InvalidParameterError, match="two columns 'predicted_y_lower'"):
        found.predict(path, interval=0.9)


def test_a_pipe_with_the_name_of_a_file(made, tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(InvalidDataError, match="is a pipe or a device, not a file"):
        made(table()).absorb_table(tmp_path / "t.csv", task_id="t")


def test_a_model_without_a_schema(made):
    found = made(table())
    found.absorb_table(table(), task_id="t")
    model, rows = found.model(), table(1)[["c", "x"]]
    with pytest.raises(NotFittedError):
        clone(model).predict(rows)
    with pytest.raises(InvalidDataTypeError):
        type(model).from_arrays(model.to_arrays()).predict(rows)


@pytest.mark.parametrize("odd", [{"c": "new"}, {"x": np.nan}], ids=["category", "gap"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_remove_a_task_from_a_table_with_rows_that_the_model_has_not_learned(made, odd, fit_intercept):
    rules = {"unknown": "widen", "missing": "indicator", "fit_intercept": fit_intercept}
    found, expected = made(table(), **rules), made(table(), **rules)
    for number in range(3):
        found.absorb_table(table(number), task_id=str(number))
        if number != 1:
            expected.absorb_table(table(number), task_id=str(number))
    before = found.path.read_bytes()
    with pytest.raises(RemovalError, match="not the rows"):
        found.remove_table(table(1).assign(**odd), task_id="1")
    assert found.path.read_bytes() == before
    later = table(4).assign(**odd)
    later = pd.concat([later.assign(task=4), *(table(number).assign(task=number) for number in range(3))])
    found.remove_table(later, task_id="1", task_column="task")
    assert found.schema == expected.schema
    np.testing.assert_allclose(found.model().coef_, expected.model().coef_, rtol=1e-10)


def test_a_column_of_text_without_any_value(made, tmp_path):
    rows = table(1).assign(c=None)
    digests = set()
    for path in (written(rows, tmp_path / "t.csv"), pa.Table.from_pandas(rows, preserve_index=False)):
        found = made(table(), missing="indicator")
        digests.add(found.absorb_table(path, task_id="t")[0].record.digest)
        assert found.schema.features == ("c=b", "c=c", "c=(missing)", "x")
    assert len(digests) == 1


def test_a_task_column_without_any_value(made):
    rows = pa.Table.from_pandas(table(task=None), preserve_index=False)
    with pytest.raises(InvalidDataError, match="the task column 'task' is empty in 40 or more rows"):
        made(table()).absorb_table(rows, task_column="task")


def test_rows_that_are_all_left_out(made):
    with pytest.raises(InvalidDataError, match="all of them have weight 0 or a missing value"):
        made(table(), missing="drop").absorb_table(table(x=np.nan), task_id="t")


def test_ids_of_predictions_are_kept_as_they_are_written(made, tmp_path, monkeypatch):
    found = made(table(c=["007", "010", "1A", "12"] * 10))
    found.absorb_table(table(c=["007", "010", "1A", "12"] * 10), task_id="t")
    path = tmp_path / "new.csv"
    path.write_text("id,c,x,when\n007,007,1,2013-07-01T05:00:00+02:00\n1e5,010,2,2013-07-02T05:00:00+02:00\n")
    rows = found.predict(path, ids=["id", "c", "x", "when"]).drop_columns("predicted_y").to_pylist()
    assert [tuple(map(str, row.values())) for row in rows] == [
        tuple(line.split(",")) for line in path.read_text().splitlines()[1:]
    ]
    monkeypatch.setattr(_csv_tables, "CSV_BYTES", 64)
    path.write_text("c,x\n" + "007,1\n" * 20 + "1A,1.5\n")
    assert found.predict(path, ids=["c"]).num_rows == 21
    with pytest.raises(InvalidDataError, match="Leave that column out of the ids"):
        found.predict(path, ids=["x"])
