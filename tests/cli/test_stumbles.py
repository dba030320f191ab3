"""Small mistakes and surprises: names that are nearly right, rows without a prediction, reference categories."""

import json

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

    def run(line, code=0):
        result = CliRunner().invoke(commands, line.split())
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
