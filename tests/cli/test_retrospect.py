"""`ridgeway summary` and `ridgeway compare-task`."""

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from runner import CliRunner

from ridgeway import store
from ridgeway.cli._commands import commands

NAMES = ["age", "tenure", "hours"]


def ask(*arguments):
    return CliRunner().invoke(commands, list(map(str, arguments)))


@pytest.fixture
def table(rng):
    rows = pd.DataFrame(rng.normal(size=(80, 3)), columns=NAMES)
    rows["wage"] = rows @ [1.0, 2.0, 0.0] + rng.normal(size=80)
    return rows


@pytest.fixture
def state(tmp_path, table):
    opened = store.create(tmp_path / "wages.rw", features=NAMES, target="wage")
    opened.absorb("first", table[NAMES][:30], table["wage"][:30])
    opened.absorb("second", table[NAMES][30:60], table["wage"][30:60])
    return opened.path


def test_summary(state, table):
    said = ask("summary", state, "--level", 0.9)
    assert said.exit_code == 0
    fit = sm.OLS(table["wage"][:60], sm.add_constant(table[NAMES][:60])).fit()
    line = next(line for line in said.stdout.splitlines() if line.startswith("tenure"))
    bounds = fit.conf_int(0.1).loc["tenure"]
    expected = [fit.params["tenure"], fit.bse["tenure"], fit.tvalues["tenure"], fit.pvalues["tenure"], *bounds]
    np.testing.assert_allclose([float(word) for word in line.split()[1:]], expected, rtol=1e-3, atol=5e-4)
    assert "60 rows of 2 tasks" in said.stdout


def test_summary_of_some_features(state, table):
    said = ask("summary", state, "--features", "hours, age")
    fit = sm.OLS(table["wage"][:60], sm.add_constant(table[["hours", "age"]][:60])).fit()
    assert f"R² {fit.rsquared:.4g}" in said.stdout
    assert "tenure" not in said.stdout


def test_summary_as_json(state, table):
    said = json.loads(ask("summary", state, "--level", 0.9, "--json").stdout)
    fit = sm.OLS(table["wage"][:60], sm.add_constant(table[NAMES][:60])).fit()
    assert (said["n_tasks"], said["n_samples"], said["degrees_of_freedom"], said["level"]) == (2, 60, 56, 0.9)
    found = said["targets"]["wage"]
    np.testing.assert_allclose([found["r_squared"], found["log_likelihood"]], [fit.rsquared, fit.llf], rtol=1e-10)
    assert list(found["terms"]) == ["intercept", *NAMES]
    bounds = fit.conf_int(0.1).loc["tenure"]
    expected = [fit.params["tenure"], fit.bse["tenure"], fit.tvalues["tenure"], fit.pvalues["tenure"], *bounds]
    np.testing.assert_allclose(list(found["terms"]["tenure"].values()), expected, rtol=1e-8)
    assert list(found["terms"]["tenure"]) == ["coef", "standard_error", "t", "p_value", "lower", "upper"]


def test_what_is_infinite_or_undefined_is_null_in_json(tmp_path, table):
    opened = store.create(tmp_path / "c.rw", features=NAMES, target=["wage", "none"])
    rows = table.assign(none=1.0, hours=table["age"])
    opened.absorb("first", rows[NAMES][:30], rows[["wage", "none"]][:30])
    said = json.loads(ask("summary", opened.path, "--json").stdout)
    assert said["not_estimable"] == ["age", "hours"]
    assert said["targets"]["wage"]["terms"]["age"]["standard_error"] is None
    assert said["targets"]["wage"]["r_squared"] > 0.0
    assert said["targets"]["none"]["r_squared"] is None
    rows[32:34].to_csv(tmp_path / "few.csv", index=False)
    said = json.loads(ask("compare-task", opened.path, tmp_path / "few.csv", "--json").stdout)
    assert said["targets"]["wage"]["gain_for_task"] is None
    said = ask("compare-task", opened.path, tmp_path / "few.csv").stdout
    assert "none: Absorb: one relation fits all rows of past and task exactly.\n" in said
    assert "nan" not in said


def test_compare_task_as_json(tmp_path, rng):
    rows = pd.DataFrame(rng.normal(size=(50, 5)), columns=[*NAMES, "wage", "bonus"])
    opened = store.create(tmp_path / "two.rw", features=NAMES, target=["wage", "bonus"])
    opened.absorb("first", rows[NAMES][:30], rows[["wage", "bonus"]][:30])
    rows[30:].to_csv(tmp_path / "new.csv", index=False)
    asked = "compare-task", opened.path, tmp_path / "new.csv"
    said = json.loads(ask(*asked, "--equal-noise", "--json").stdout)
    halves = [sm.OLS(part["bonus"], sm.add_constant(part[NAMES])).fit() for part in (rows, rows[:30], rows[30:])]
    whole, past, task = (fit.ssr for fit in halves)
    assert said["targets"]["bonus"]["degrees_of_freedom"] == [4, 42]
    assert said["equal_noise"]
    chow = (whole - past - task) / 4 / ((past + task) / 42)
    found = said["targets"]["bonus"]
    np.testing.assert_allclose([found["f"], np.square(found["statistics"]).mean()], chow, rtol=1e-9)
    assert np.shape(said["directions"]) == (4, len(said["terms"]))
    change = (halves[2].params - halves[1].params)["age"]
    np.testing.assert_allclose(found["coefficients"]["age"]["difference"], change, rtol=1e-9)
    assert found["coefficients"]["age"]["lower"] < change < found["coefficients"]["age"]["upper"]
    assert (said["advice"], said["absorbed"]) == ("absorb", False)
    assert said["recommendation"].splitlines() == [part["recommendation"] for part in said["targets"].values()]
    assert {"difference", "relative_difference", "standardized_difference", "prediction_gain_for_past"} <= set(found)
    assert list(said["targets"]) == ["wage", "bonus"]
    assert "Chow's test: F(4, 42)" in ask(*asked, "--equal-noise").stdout
    said = json.loads(ask(*asked, "--json").stdout)
    assert (said["equal_noise"], said["assumption"]) == (False, "each side has its own noise variance")
    np.testing.assert_allclose(said["targets"]["bonus"]["task_noise_variance"], halves[2].mse_resid, rtol=1e-9)
    assert "assuming that each side has its own noise variance\n" in ask(*asked).stdout


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_compare_task(state, table, tmp_path, ending):
    same, other = table[60:], table[60:].assign(wage=lambda rows: rows["wage"] + 5.0 * rows["hours"])
    for rows, words in ((same, "Absorb: no difference"), (other, "Keep apart: the relation differs by")):
        path = tmp_path / f"new.{ending}"
        rows.to_parquet(path, index=False) if ending == "parquet" else rows.to_csv(path, index=False)
        before = state.read_bytes()
        said = ask("compare-task", state, path)
        assert said.exit_code == 0, said.output
        assert said.stdout.startswith(words)
        assert state.read_bytes() == before
        assert all(len(line) <= 80 for line in said.stdout.splitlines() if str(path) not in line)
    past, task = (sm.OLS(part["wage"], sm.add_constant(part[NAMES])).fit().params for part in (table[:60], other))
    first = said.stdout.partition("intervals:\n")[2].splitlines()[0]
    assert first.startswith(f"    hours: {task['hours'] - past['hours']:+.4g} [")
    assert "absorbing raises the mean squared error for the past by about" in said.stdout
    places = [said.stdout.index(words) for words in ("Keep apart", ": difference ", "    hours:", "Wald's test")]
    assert places == sorted(places)


def test_compare_task_with_few_rows_weights_and_two_targets(tmp_path, rng):
    rows = pd.DataFrame(rng.normal(size=(34, 6)), columns=[*NAMES, "wage", "bonus", "weight"]).abs()
    opened = store.create(tmp_path / "two.rw", features=NAMES, target=["wage", "bonus"], weight_column="weight")
    opened.absorb("first", rows[NAMES][:30], rows[["wage", "bonus"]][:30], rows["weight"][:30])
    rows[32:].to_csv(tmp_path / "new.csv", index=False)
    said = ask("compare-task", opened.path, tmp_path / "new.csv")
    assert said.exit_code == 0, said.output
    assert "bonus: Absorb: no difference" in said.stdout
    assert "in the direction" in said.stdout  # two rows determine no coefficient


def test_what_goes_wrong_is_one_line(state, table, tmp_path):
    table.drop(columns="age").to_csv(tmp_path / "less.csv", index=False)
    table[:0].to_csv(tmp_path / "empty.csv", index=False)
    few = store.create(tmp_path / "few.rw", features=NAMES, target="wage")
    few.absorb("only", table[NAMES][:3], table["wage"][:3])
    for arguments, words in [
        (("summary", tmp_path / "none.rw"), "none.rw"),
        (("summary", state, "--features", "age,agee"), "'agee'"),
        (("summary", state, "--features", "age,age"), "more than once"),
        (("summary", state, "--level", 95), "0.95"),
        (("summary", few.path), "degrees of freedom"),
        (("compare-task", state, tmp_path / "less.csv"), "age"),
        (("compare-task", state, tmp_path / "empty.csv"), "no rows"),
        (("compare-task", state, tmp_path / "none.csv"), "none.csv"),
    ]:
        said = ask(*arguments)
        assert said.exit_code == 2, (arguments, said.output)
        assert words in said.stderr
        assert len(said.stderr.strip().splitlines()) == 1
        assert not said.stdout
