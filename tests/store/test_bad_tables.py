"""Tables that a state file must not learn: one line that says what is wrong and what to do, and not a byte changes."""

import io
import shlex

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from runner import CliRunner
from store.tables import written

from ridgeway import store
from ridgeway.cli._commands import commands
from ridgeway.errors import InvalidDataError, UnknownCategoryError

TERMS = "carrier, distance, month(day), category(gate)"


def flights(rng, n=40, carriers=("AA", "UA")):
    return pd.DataFrame(
        {
            "flight": np.arange(n),
            "carrier": rng.choice(list(carriers), n),
            "distance": rng.uniform(200.0, 900.0, n).round(1),
            "day": pd.date_range("2013-01-01", periods=n).strftime("%Y-%m-%d"),
            "gate": rng.integers(1, 4, n),
            "delay": rng.normal(size=n).round(3),
        }
    )


@pytest.fixture
def january(rng, tmp_path, monkeypatch):
    """Make a state file that has learned one month; all paths are relative to it."""
    monkeypatch.chdir(tmp_path)
    rows = flights(rng)
    rows.to_csv("january.csv", index=False)
    started("state.rw")
    call("absorb state.rw january.csv --task january")
    return rows


def call(line, code=0, sent=None):
    result = CliRunner().invoke(commands, shlex.split(line), input=sent)
    assert result.exit_code == code, result.output
    return result


def started(path, options="", terms=TERMS):
    call(f"init {path} --from january.csv --target delay --features '{terms}' --leave-out flight {options}")


def refused(line, match, state="state.rw", sent=None):
    """Exit code 2, one line, nothing changed and nothing left behind."""
    before = {path: path.read_bytes() for path in store.open(state).path.absolute().parent.iterdir()}
    result = call(line, 2, sent)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert match in result.stderr, result.stderr
    assert {path: path.read_bytes() for path in store.open(state).path.absolute().parent.iterdir()} == before


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
def test_an_unknown_category(january, rng, tmp_path, ending):
    """Which ones, in how many rows at least, and what to type."""
    new = flights(rng, carriers=("AA", "B6", "WN"))
    path = written(new, tmp_path / f"new{ending}").name
    n = (new["carrier"] != "AA").sum()
    refused(
        f"absorb state.rw {path} --task new",
        f"column 'carrier' has unknown categories: 'B6', 'WN', in at least {n} rows. Correct them, or add them first: "
        "ridgeway widen FILE.rw --category carrier=B6",
    )
    refused(f"predict state.rw {path} --out out.csv", "column 'carrier' has unknown categories: 'B6', 'WN'")
    call("widen state.rw --category carrier=B6 --category carrier=WN")
    call(f"absorb state.rw {path} --task new")


def test_an_unknown_number_of_a_category(january, tmp_path):
    written(january.assign(gate=[1, 7] * 20), tmp_path / "new.parquet")
    refused(
        "absorb state.rw new.parquet --task new", "column 'category(gate)' has unknown categories: '7', in at least 20"
    )
    call("widen state.rw --category 'category(gate)=7'")
    call("absorb state.rw new.parquet --task new")


DAMAGED = {
    "number for text": ("new.parquet", {"carrier": 7}, "column 'carrier' has type int64; the model knows it as text"),
    "number for text in a CSV file": (
        "new.csv",
        {"carrier": 7},
        "'carrier' has unknown categories: '7', in at least 40 rows",
    ),
    "text for a number": ("new.csv", {"distance": "far"}, "column 'distance' has 'far', which is not a number"),
    "text for a number in Parquet": (
        "new.parquet",
        {"distance": "far"},
        "'distance' has type large_string, which",
    ),
    "date": ("new.csv", {"day": "31.12.2013"}, "column 'day' has a date that cannot be read"),
    "date in Parquet": ("new.parquet", {"day": "2013-02-30"}, "column 'day' has a date that cannot be read"),
    "number for a date": ("new.parquet", {"day": 20130101}, "'day' has type int64; the model knows it as a date"),
    "number for a date in a CSV file": ("new.csv", {"day": 20130101}, "column 'day' has a date that cannot be read"),
    "decimal comma": ("new.csv", {"distance": "217,5"}, "looks like a number with a decimal comma. Pass --decimal ','"),
    "gap": (
        "new.csv",
        {"distance": None},
        "column 'distance' has at least 40 missing values. Fill them, or create",
    ),
    "gap in text": ("new.csv", {"carrier": None}, "column 'carrier' has at least 40 missing values"),
    "empty text": ("new.parquet", {"carrier": ""}, "column 'carrier' has at least 40 missing values"),
    "gap in a date": ("new.csv", {"day": None}, "column 'day' has at least 40 missing values"),
    "other": ("new.csv", {"carrier": "(other)"}, "'(other)', which is reserved. Rename it"),
    "missing": ("new.parquet", {"carrier": "(missing)"}, "'(missing)', which is reserved. Rename it"),
    "fraction": ("new.csv", {"gate": 1.5}, "category(gate) needs integers below 2⁵³; got 1.5"),
    "infinity": ("new.parquet", {"distance": np.inf}, "column 'distance' has NaN or infinity"),
    "infinite category": ("new.parquet", {"gate": np.inf}, "category(gate) needs integers below 2⁵³; got inf"),
    "huge category": ("new.parquet", {"gate": 1e300}, "category(gate) needs integers below 2⁵³; got 1e+300"),
    "extra": ("new.csv", {"humidity": 1.0}, "unknown columns: 'humidity'"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_column(january, case, tmp_path):
    name, columns, match = DAMAGED[case]
    written(january.assign(**columns), tmp_path / name)
    refused(f"absorb state.rw {name} --task new", match)
    started("wide.rw", "--unknown widen")
    if "unknown categories" not in match:
        refused(f"absorb wide.rw {name} --task new", match, "wide.rw")


@pytest.mark.parametrize("rule", ["refuse", "other", "widen"])
def test_reserved_names_are_refused_from_the_start(january, rule, tmp_path):
    for name in ("(other)", "(missing)"):
        written(january.assign(carrier=["AA", name] * 20), tmp_path / "new.csv")
        line = f"init none.rw --from new.csv --target delay --features carrier --unknown {rule} --ignore-extra"
        refused(line, f"column 'carrier' has the value '{name}', which is reserved. Rename it.")
        (tmp_path / "new.csv").unlink()
    started("other.rw", f"--unknown {rule} --missing indicator")
    written(january.assign(carrier="(other)"), tmp_path / "new.parquet")
    refused("absorb other.rw new.parquet --task new", "which is reserved", "other.rw")


def test_a_name_that_exists(january):
    refused("widen state.rw --feature distance --past-value 0", "the model has the feature 'distance' already")
    refused("widen state.rw --category carrier=AA", "'carrier' has the category 'AA' already")
    refused("widen state.rw --target delay --past-value 0", "there is a column 'delay' already")
    refused("widen state.rw --feature carrier=UA --past-value 0", "duplicate column names: 'carrier=UA'")


def test_what_a_widening_needs(january):
    started("bare.rw", "--no-intercept")
    refused("widen bare.rw --feature humidity --past-value 50", "without an intercept", "bare.rw")
    refused("widen bare.rw --target arrival --past-value 1", "without an intercept", "bare.rw")
    refused("widen state.rw --feature humidity", "with the value that it had in every past row (--past-value)")
    refused("widen state.rw --past-value 1", "--past-value needs --feature or --target")
    refused("widen state.rw", "nothing to add")
    refused("widen state.rw --category carrier", "--category must have the form NAME=VALUE")
    encoding = store.encoding_of(january[["carrier", "distance"]])
    store.create("prior.rw", features=encoding, target="delay", prior=[1.0, 2.0])
    refused("widen prior.rw --category carrier=B6", "needs an entry for each of the 1 new ones", "prior.rw")
    refused("widen prior.rw --category carrier=B6 --prior word", "--prior must be a number, or numbers", "prior.rw")
    call("widen prior.rw --category carrier=B6 --prior 3")


def test_others_cannot_be_told_apart(january, rng, tmp_path):
    started("other.rw", "--unknown other")
    written(flights(rng, carriers=("AA", "WN")), tmp_path / "new.csv")
    call("absorb other.rw new.csv --task new")
    refused("widen other.rw --category carrier=WN", "were pooled", "other.rw")


def test_a_stream_that_breaks(january, rng):
    """Nothing is learned from a stream that ends too early or changes on the way."""
    text = flights(rng).to_csv(index=False)
    refused("absorb state.rw - --task new", "standard input", sent=text[: text.rindex(",")])
    refused("absorb state.rw - --task new", "cannot be read", sent=text + "1,2\n")
    table, sink = pa.Table.from_pandas(flights(rng), preserve_index=False), io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as out:
        for batch in table.to_batches(max_chunksize=10):
            out.write_batch(batch)
    whole = sink.getvalue()
    for cut in (len(whole) - 8, len(whole) // 2, 20):
        refused("absorb state.rw - --task new", "standard input", sent=whole[:cut])
    refused("absorb state.rw - --task new", "standard input is empty", sent=b"")
    refused("absorb state.rw - --task-from-name", "standard input has no name", sent=whole)
    assert "40 rows" in call("absorb state.rw - --task new", sent=whole).stdout


def test_a_reader_that_fails(january, rng):
    table = pa.Table.from_pandas(flights(rng), preserve_index=False)

    def batches():
        yield from table.to_batches(max_chunksize=10)
        raise OSError("the connection was lost")

    opened = store.open("state.rw")
    before = opened.path.read_bytes()
    with pytest.raises(InvalidDataError, match="the connection was lost"):
        opened.absorb_table(pa.RecordBatchReader.from_batches(table.schema, batches()), task_id="new")
    assert opened.path.read_bytes() == before


def test_one_damaged_file_among_many(january, rng, tmp_path):
    """The others are absorbed, and the exit code says so."""
    for month in (1, 2, 10):
        written(flights(rng), tmp_path / f"2013-{month}.parquet")
    damaged = (tmp_path / "2013-2.parquet").read_bytes()
    (tmp_path / "2013-2.parquet").write_bytes(damaged[:-20])
    result = call("absorb state.rw '2013-*.parquet' --task-from-name", 3)
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == ["2013-1", "2013-10", "3 files"]
    assert result.stdout.endswith("3 files: 2 absorbed, 1 failed\n")
    assert result.stderr.count("\n") == 1
    assert "2013-2.parquet" in result.stderr
    assert [record.task_id for record in store.open("state.rw").history()] == ["january", "2013-1", "2013-10"]
    before = (tmp_path / "state.rw").read_bytes()
    result = call("absorb state.rw 2013-2.parquet 2013-1.parquet --task-from-name --stop-on-error", 2)
    assert "2 files: 0 absorbed, 1 failed, 1 not tried" in result.stdout
    assert (tmp_path / "state.rw").read_bytes() == before
    refused("absorb state.rw '2014-*.parquet' --task-from-name", "no file matches '2014-*.parquet'")
    refused("absorb state.rw 2013-1.parquet 2013-10.parquet --task new", "--task names one task; got 2 files")


def test_ids_of_predictions(january, tmp_path):
    refused("predict state.rw january.csv --id tailnum --out out.csv", "january.csv has no column 'tailnum'")
    refused("predict state.rw january.csv --id flight --column flight --out out.csv", "two columns 'flight'")
    refused("predict state.rw january.csv --interval 1.5 --out out.csv", "1.5")
    for ending in (".csv", ".parquet"):
        call(f"predict state.rw january.csv --id flight,flight,gate,day,distance --out out{ending}")
    found = pd.read_csv("out.csv")
    assert list(found) == ["flight", "gate", "day", "distance", "predicted_delay"]
    pd.testing.assert_frame_equal(found[["flight", "gate", "distance"]], january[["flight", "gate", "distance"]])
    assert found["day"].tolist() == january["day"].tolist()


@pytest.mark.parametrize(
    ("terms", "match"),
    [
        ("log(carrier)", "applies log to a category; it needs a number"),
        ("month(distance)", "applies month to a number; it needs a date"),
        ("day", "column 'day' is a date. Say how to use it"),
        ("log(day)", "applies log to a date; it needs a number"),
        ("spline(distance, 3, 2, 1)", "knots in ascending order"),
        ("spline(distance, 1, 2, 3)^2", "applies ^ to several columns"),
        ("distance^10", "needs a whole power from 2 to 9"),
        ("exp(distance)", "'exp' is not a function"),
        ("days(day)", "needs a date to count from"),
        ("days(day, May)", "needs a date to count from"),
        ("log(distance", "a ')' is missing"),
        ("price", "no column 'price'"),
        ("carrier,,distance", "',' is not a column"),
        ("delay, distance", "duplicate column names: 'delay'"),
        ("category(distance)", "needs integers"),
    ],
)
def test_a_term_that_does_not_fit(january, terms, match):
    refused(f"init none.rw --from january.csv --target delay --features '{terms}' --ignore-extra", match)


def test_a_logarithm_that_does_not_exist(january, tmp_path):
    started("log.rw", terms="log(distance)", options="--ignore-extra")
    written(january.assign(distance=[0.0, 1.0] * 20), tmp_path / "new.csv")
    refused("absorb log.rw new.csv --task new", "column 'distance': 20 values are 0 or negative", "log.rw")


def test_counts_of_one_are_singular(tmp_path):
    rows = pd.DataFrame({"site": ["a", "b", "a", "b"], "y": [1.0, 2.0, 3.0, 5.0]})
    state = store.create(tmp_path / "a.rw", features=store.encoding_of(rows, leave_out=["y"]), target="y")
    new = rows.assign(site=["a", "b", "c", "b"])
    with pytest.raises(UnknownCategoryError, match=r"unknown categories: 'c', in at least 1 row\. Correct"):
        state.absorb_table(new, task_id="new")
