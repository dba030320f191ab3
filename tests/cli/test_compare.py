"""`ridgeway compare`: what it prints, what it writes, and one clear line for everything that it cannot use."""

import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet
from report.tables import shifted
from runner import CliRunner

from ridgeway import report
from ridgeway.cli._commands import commands


def invoke(*arguments):
    return CliRunner().invoke(commands, ["compare", *map(str, arguments)])


@pytest.fixture
def run(blank_figures):
    return invoke


@pytest.fixture
def table(rng, tmp_path):
    path = tmp_path / "in" / "my.csv"
    path.parent.mkdir()
    shifted(rng).to_csv(path, index=False)
    return path


SITES = ("--target", "y", "--task-column", "site", "--methods", "gr")


def test_penguins(tmp_path):
    out = tmp_path / "report"
    result = invoke("penguins", "--target", "body_mass_g", "--task-column", "island,year", "--out", out)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert "GeneralizedRidge has thrown away every row and is still the pooled answer" in result.stdout
    assert "for MinimumNorm" in result.stdout
    assert "for SGDRegressor" in result.stdout
    assert "11 of 344 rows were left out" in result.stdout
    assert result.stdout.endswith(f"The report is in {out / 'index.html'}\n")
    assert (out / "index.html").stat().st_size > 100_000
    again = invoke(
        "penguins", "--out", out, "--methods", "gr", "--methods", "gr:1"
    )  # the data set knows its own columns
    assert again.exit_code == 0, again.output
    assert "SGDRegressor" not in again.stdout


def test_formats_give_the_same_numbers(table, tmp_path):
    nullable = csv.ConvertOptions(strings_can_be_null=True)
    frame = csv.read_csv(table, convert_options=nullable).to_pandas()  # pandas 2 does not read every digit
    paths = [tmp_path / f"same.{suffix}" for suffix in ("tsv", "parquet", "arrow", "feather")]
    frame.to_csv(paths[0], index=False, sep="\t")
    frame.to_parquet(paths[1])
    frame.to_feather(paths[2])
    frame.to_feather(paths[3])
    options = {"target": "y", "task_column": "site", "methods": ["gr"]}
    expected = report.compare(table, **options)["gr"].losses
    for path in paths:
        np.testing.assert_array_equal(report.compare(path, **options)["gr"].losses, expected)


def test_terms_and_columns_as_they_are(run, table, tmp_path):
    pd.read_csv(table).rename(columns={"x2": "x (2)"}).to_csv(table, index=False)
    terms = ("--features", "x (2),x1", "--features", "spline(x1, -1, 0, 1), kind:x1")
    result = run(table, *SITES, *terms, "--missing", "indicator", "--out", tmp_path / "r", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["features"] == ["`x (2)`", "x1", "spline(x1, -1, 0, 1)", "kind:x1"]
    assert json.loads(result.stdout)["missing_values"] == {}
    page = (tmp_path / "r" / "index.html").read_text()
    for name in ("x (2)", "spline(x1, -1, 0, 1).2", "kind=(missing):x1", "x1 is missing"):
        assert f"<td>{name}</td>" in page
    assert "Missing values count as 0 and are marked in a column of their own: x1." in page


def test_a_task_that_loses_all_its_rows_is_named(run, table, tmp_path):
    frame = pd.read_csv(table).replace({"site": {"s1": "[b]<i>"}})
    frame.loc[frame["site"] == "[b]<i>", "x2"] = np.nan
    frame.to_csv(table, index=False)
    result = run(table, *SITES, "--out", tmp_path / "r")
    assert result.exit_code == 0, result.output
    assert "Not compared, because no rows are left: [b]<i>.\n" in result.stdout
    assert "Tasks left out because no rows remained: [b]&lt;i&gt;." in (tmp_path / "r" / "index.html").read_text()
    assert json.loads((tmp_path / "r" / "comparison.json").read_text())["tasks_left_out"] == ["[b]<i>"]


def test_column_names_with_commas(run, table, tmp_path):
    pd.read_csv(table).rename(columns={"site": "site,year"}).to_csv(table, index=False)
    result = run(table, "--target", "y", "--task-column", "site,year", "--methods", "gr", "--out", tmp_path / "r")
    assert result.exit_code == 0, result.output


def test_a_narrow_terminal_and_peers_that_are_missing(run, table, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("ridgeway.catalogue._method.find_spec", lambda package: None)
    output = run("penguins", "--out", tmp_path / "r").output
    assert "GeneralizedRidge" in output
    assert "bytes" in output
    assert max(map(len, output.partition("\n11 of")[0].splitlines())) <= 60
    assert "Not compared, because not installed: river." in output


def test_json(run, table, tmp_path):
    found = json.loads(run(table, *SITES, "--out", tmp_path / "r", "--json").stdout)
    assert found["page"] == str(tmp_path / "r" / "index.html")
    assert [result["method"] for result in found["results"]] == ["gr", "oracle"]
    assert found["results"][0]["forgetting_by_chance"] is None
    assert len(found["tasks"]) == 5


def changed(**columns):
    return lambda frame: frame.assign(**columns)


def stray(name, count):
    """Return a change that puts a text in place of some numbers."""
    return lambda frame: frame.assign(**{name: frame[name].astype(object).where(frame.index >= count, "n/k")})


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (None, ("--target", "z"), " has no column 'z'. It has: 'site', "),
        (None, ("--task-column", "zone"), " has no column 'zone'. It has: 'site', "),
        (
            None,
            ("--target", "kind", "--family", "gaussian"),
            "the target 'kind' is text ('a', 'b', 'c'); this family needs numbers.",
        ),
        (changed(site="a"), (), "there is only one task ('a'), so nothing can be forgotten."),
        (changed(site=["b"] + ["a"] * 299), (), "task 'b' has only one row, so none can be held out."),
        (changed(y=1.0), (), "the target 'y' is 1 in every row: there is nothing to learn."),
        (stray("x1", 1), (), "1 of 299 values of 'x1' is text ('n/k') and the others are numbers. Correct or"),
        (stray("x2", 30), (), "30 of 300 values of 'x2' are text ('n/k') and the others are numbers."),
        (stray("y", 2), (), "2 of 300 values of 'y' are text ('n/k') and the others are numbers."),
        (lambda f: f.rename(columns={"x2": "x1"}), (), "has duplicate column names: 'x1'."),
        (None, ("--methods", "svm"), "unknown method 'svm'."),
        (None, ("--missing", "refuse"), "rows have missing values in: 'x1' (1), 'kind' (2)."),
        (None, ("--holdout", "1.5"), "holdout must lie between 0 and 1; got 1.5."),
    ],
)
def test_bad_input_is_one_clear_line(run, table, tmp_path, change, arguments, message):
    if change:
        change(pd.read_csv(table)).to_csv(table, index=False)
    result = run(table, *SITES, *arguments, "--out", tmp_path / "r")
    assert_refused(result, message, tmp_path)


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "read and written again"])
def test_the_index_of_pandas_is_no_feature(run, table, tmp_path, form):
    frame = pd.read_csv(table).sample(frac=1.0, random_state=0)  # an index that Parquet must store
    path = table.with_suffix(".csv" if " " in form else f".{form}")
    if form == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, sep="\t" if form == "tsv" else ",")
    if " " in form:
        pd.read_csv(path).to_csv(path, index=False)
    result = run(path, *SITES, "--out", tmp_path / "r")
    assert_refused(result, "the index of a pandas DataFrame, which is not a feature. Write the table with", tmp_path)
    assert "index=False, or name the features (--features)." in result.stderr
    named = run(path, *SITES, "--features", "x1,x2", "--out", tmp_path / "r")
    assert named.exit_code == 0, named.output


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_an_index_with_a_name_is_no_feature_either(run, table, tmp_path, form):
    """A CSV file does not say that the column was one."""
    frame, path = pd.read_csv(table), table.with_suffix(f".{form}")
    written = pa.Table.from_pandas(frame.assign(person=frame.index**2).set_index("person"))
    parquet.write_table(written, path) if form == "parquet" else feather.write_feather(written, path)
    result = run(path, *SITES, "--out", tmp_path / "r")
    assert_refused(result, "has column 'person': the index of a pandas DataFrame, which is not a feature.", tmp_path)
    parquet.write_table(pa.Table.from_pandas(frame.set_index("site")), table.with_suffix(".parquet"))
    tasks = run(table.with_suffix(".parquet"), *SITES, "--out", tmp_path / "r")
    assert tasks.exit_code == 0, tasks.output


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("no.csv", None, "no.csv does not exist. Check the path."),
        ("pengiuns", None, "no data set of that name. Data sets: penguins, digits, flights, wages, exams."),
        ("a.txt", b"site,y\na,1\n", "ends in '.txt'; a data file ends in .csv, .tsv"),
        ("a.parquet", b"site,y\na,1\n", "cannot be read: "),
        ("a.csv", b"", "a.csv is empty."),
        ("a.csv", b"site,x,y\na,1,2,3\n", "cannot be read: "),
        ("a.csv", b"\x00\xff\xfe\x00PNG\x80\x81", "is not UTF-8 text. Save it as UTF-8, or pass"),
        ("a.csv", "site,größe,y\na,1,2\n".encode("latin-1"), "is not UTF-8 text. Save it as UTF-8, or pass"),
        ("a.csv", "site,x,y\nKöln,1,2\n".encode("latin-1"), "is not UTF-8 text. Save it as UTF-8, or pass"),
        ("a.arrow", b"\x89PNG", "cannot be read: "),
        ("folder.csv", "folder", "is a folder, not a file. Check the path."),
    ],
)
def test_a_file_that_is_not_a_table(run, tmp_path, name, content, message):
    path = tmp_path / "in" / name
    path.parent.mkdir()
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    assert_refused(run(path if content or "." in name else name, *SITES, "--out", tmp_path / "r"), message, tmp_path)


def test_a_folder_that_is_not_ours(run, table, tmp_path):
    result = run(table, *SITES, "--out", tmp_path / "in")
    assert_refused(result, "exists and is not a report (it contains 'my.csv').", tmp_path)


def test_a_disk_that_is_full(run, table, tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ridgeway.report._write.make_page", fail)
    assert_refused(run(table, *SITES, "--out", tmp_path / "r"), "No space left on device.", tmp_path)
    result = run(table, *SITES, "--out", table / "below")
    assert_refused(result, "cannot write to", tmp_path)


def assert_refused(result, message, folder):
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.startswith("ridgeway compare: ")
    assert result.stderr.count("\n") == 1
    assert {path.name for path in folder.iterdir()} <= {"in"}


def test_progress_on_a_terminal(monkeypatch, table, tmp_path, run):
    monkeypatch.setattr("ridgeway.cli._output.PATIENCE", 0.0)
    assert run(table, *SITES, "--out", tmp_path / "r").stderr == ""  # not a terminal
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: True)
    drawn = run(table, *SITES, "--out", tmp_path / "r").stderr
    done, total = re.findall(r"(\d+)/(\d+)", drawn)[-1]
    assert int(done) == int(total) > 0
