"""Small mistakes and surprises: names that are nearly right, rows without a prediction, reference categories."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from ridgeway.cli._commands import commands


@pytest.fixture
def run(tmp_path, monkeypatch, rng):
    """Return a function that runs a command, in a folder with a state file that keeps two tasks."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(rng.normal(size=(40, 2)), columns=["age", "tenure"])
    frame["sector"] = np.tile(["farm", "office", "shop", "shop"], 10)
    frame["wage"] = frame["age"] + rng.normal(size=40)
    for year, part in (("2019", frame[:20]), ("2020", frame[20:])):
        part.to_csv(f"wages-{year}.csv", index=False)
    frame = frame.drop(columns="wage")
    frame.loc[::10, "age"] = np.nan
    frame.to_csv("new.csv", index_label="person")
    frame[:1].to_csv("none.csv", index_label="person")

    def run(line, code=0, stdin=None):
        result = CliRunner().invoke(commands, line.split(), input=stdin)
        assert result.exit_code == code, result.output
        return result

    run("init wages.rw --from wages-2019.csv --target wage --missing drop --keep tasks")
    run("absorb wages.rw wages-2019.csv --task survey-2019")
    run("absorb wages.rw wages-2020.csv --task survey-2020")
    return run


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("init x.rw --from wages-2019.csv --target wgae", "no column 'wgae'. Did you mean 'wage'? It has:"),
        ("init x.rw --from wages-2019.csv --target wage --leave-out tenur", "Did you mean 'tenure'?"),
        ("init x.rw --from wages-2019.csv --target wage --features age,tenur", "Did you mean 'tenure'?"),
        ("init x.rw --from wages-2019.csv --target wage --reference sector=ofice", "Did you mean 'office'?"),
        ("init x.rw --from wages-2019.csv --target wage --reference secto=shop", "Did you mean 'sector'?"),
        ("remove wages.rw --task survy-2019", "no task 'survy-2019' in the state file. Did you mean 'survey-20"),
        ("remove wages.rw wages-2019.csv --task survey2019", "Did you mean 'survey-2019'?"),
        ("tasks wages.rw --feature tenur", "Did you mean 'tenure'?"),
        ("summary wages.rw --features tenur", "Did you mean 'tenure'?"),
        ("path wages.rw --terms tenur", "Did you mean 'tenure'?"),
        ("widen wages.rw --category sectors=mine", "Did you mean 'sector'?"),
        ("predict wages.rw new.csv --id persno --out p.csv", "Did you mean 'person'?"),
    ],
)
def test_a_close_name_is_suggested(run, line, words):
    assert words in run(line, 2).stderr


@pytest.mark.parametrize(
    "line",
    [
        "init x.rw --from wages-2019.csv --target wage --reference sector=shop --reference sector=office",
        "reference wages.rw sector=shop sector=office",
    ],
)
def test_two_levels_for_one_reference_are_refused(run, line):
    assert "of 'sector' was given as 'shop' and as 'office'. Give one of them." in run(line, 2).stderr


def test_an_exposure_is_one_column_even_with_a_comma(run):
    line = "init x.rw --from wages-2019.csv --target wage --family poisson --exposure age,tenure"
    assert "no column 'age,tenure'" in run(line, 2).stderr
    assert run(line.replace("age,tenure", "age")).exit_code == 0


@pytest.mark.parametrize(
    "line",
    [
        "init x.rw --from wages-2019.csv --target humidity",
        "remove wages.rw --task 7",
        "tasks wages.rw --feature humidity",
        "widen wages.rw --category humidity=low",
    ],
)
def test_no_name_is_suggested_if_none_is_close(run, line):
    assert "Did you mean" not in run(line, 2).stderr


@pytest.mark.parametrize("options", ["", "--id person --interval 0.9"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_without_a_prediction_are_counted(run, options, kind):
    said = run(f"predict wages.rw new.csv --out p.{kind} {options}").stdout
    assert said == f"p.{kind}: 36 predictions; 4 of 40 rows have none, because they have missing values\n"
    found = json.loads(run(f"predict wages.rw none.csv --out q.{kind} {options} --json").stdout)
    assert found == {"out": f"q.{kind}", "n_samples": 1, "n_missing": 1}
    assert run(f"predict wages.rw wages-2019.csv --out r.{kind}").stdout == f"r.{kind}: 20 predictions\n"


@pytest.mark.parametrize("errors", ["classical", "CR1"])
def test_a_summary_names_the_reference_categories(run, errors):
    words = "Coefficients of categories are differences from a reference: sector=farm."
    line = f"summary wages.rw --errors {errors}"
    assert run(line).stdout.splitlines()[-1] == words
    assert "reference" not in run(f"{line} --features age,tenure").stdout
    assert json.loads(run(f"{line} --json").stdout)["references"] == ["sector=farm"]
    assert json.loads(run(f"{line} --features age --json").stdout)["references"] == []


@pytest.mark.parametrize("options", ["--id person", "--id person --interval 0.9"])
def test_predictions_for_standard_input_are_those_for_the_file(run, options):
    run(f"predict wages.rw - --out piped.csv {options}", stdin=Path("new.csv").read_bytes())
    run(f"predict wages.rw new.csv --out read.csv {options}")
    assert Path("piped.csv").read_bytes() == Path("read.csv").read_bytes()
    assert "standard input is empty" in run("predict wages.rw - --out none.csv", 2).stderr


DATES = ("%d.%m.%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%y %H:%M")


@pytest.mark.parametrize("form", [*DATES, "%Y-%m-%d"])
def test_dates_in_text_do_not_become_categories(run, form):
    days = pd.date_range("2024-01-14", periods=30)
    frame = pd.DataFrame({"day": days.strftime(form), "wage": np.arange(30.0)})
    frame.loc[:13, "day"] = "unknown"  # fewer than half
    frame.to_parquet("days.parquet")
    said = run("init days.rw --from days.parquet --target wage", 2).stderr
    assert "16 of 30 values of column 'day' look like dates" in said
    assert ("Write them as 2024-01-14, and say which features" in said) == (form in DATES)
    run("init days.rw --from days.parquet --target wage --features category(day)")
    frame.loc[:14, "day"] = "unknown"
    frame.to_parquet("days.parquet")
    run("init half.rw --from days.parquet --target wage")


@pytest.mark.parametrize("text", ["99.99.2024", "14.01/2024", "1.2.3", "20-45-7", "14.01.2024x", "room 14.01.2024"])
def test_what_only_resembles_a_date_is_a_category(run, text):
    pd.DataFrame({"code": [text, "b"] * 5, "wage": np.arange(10.0)}).to_parquet("codes.parquet")
    assert "code: 2 categories" in run("init codes.rw --from codes.parquet --target wage").stdout


@pytest.mark.parametrize("family", ["gaussian", "multiclass", "poisson"])
@pytest.mark.parametrize("intercept", ["", "--no-intercept"])
def test_predictions_say_what_no_row_determines(run, family, intercept):
    """A category that was only added, and a feature that had one value so far; until rows with them are learned."""
    frame = pd.read_csv("wages-2019.csv").assign(wage=np.arange(20) % 3)
    frame.to_csv("wages.csv", index=False)
    run(f"init a.rw --from wages.csv --target wage --family {family} --prior 0.1 {intercept}")
    run("absorb a.rw wages.csv --task 1")
    assert run("predict a.rw wages.csv --out before.csv").stderr == ""
    run("widen a.rw --category sector=mine")
    run(f"widen a.rw --feature rain --past-value {0 if intercept else 0.1}")
    frame["rain"] = 0.0 if intercept else 0.1
    frame.to_csv("same.csv", index=False)
    assert run("predict a.rw same.csv --out same-out.csv").stderr == ""
    frame.loc[:2, "sector"], frame.loc[2:4, "rain"] = "mine", 7.0
    frame.to_csv("later.csv", index=False)
    frame[3:].to_csv("rain.csv", index=False)
    said = run("predict a.rw later.csv --out later-out.csv").stderr
    assert said.startswith("ridgeway predict: warning: ")
    assert said.count("\n") == 1
    assert {"'sector=mine'", "'rain'"} == {word.strip(",.") for word in said.split() if word.startswith("'")}
    assert "5 of 20 predictions depend on" in said
    assert (
        "2 of 17 predictions depend on features that did not vary in the rows learned: 'rain'."
        in run("predict a.rw rain.csv --out rain-out.csv").stderr
    )
    run("absorb a.rw later.csv --task 2")
    assert run("predict a.rw later.csv --out after.csv").stderr == ""
