"""The commands about tasks: what a user types, what is printed, JSON, figures, and refusals in one line."""

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from runner import CliRunner

from ridgeway import GeneralizedRidge, retrospect
from ridgeway.cli._commands import commands
from ridgeway.errors import FewClustersWarning

TASKS = [f"2013-{month:02}" for month in range(1, 13)]


@pytest.fixture
def rows(rng):
    """Twelve months of 40 rows; the slope of `hour` changes before July."""
    frame = pd.DataFrame(rng.normal(size=(480, 2)), columns=["hour", "distance"]).assign(month=np.repeat(TASKS, 40))
    slope = np.where(frame["month"] < "2013-07", 1.0, 3.0)
    frame["delay"] = slope * frame["hour"] + rng.normal(size=480)
    return frame


@pytest.fixture
def run(tmp_path, monkeypatch, rows):
    monkeypatch.chdir(tmp_path)
    rows.to_csv("flights.csv", index=False)

    def run(line, code=0):
        result = CliRunner().invoke(commands, line.split())
        assert result.exit_code == code, result.output
        return result.stdout if code == 0 else result.output

    run("init flights.rw --features hour,distance --target delay --keep tasks")
    run("absorb flights.rw flights.csv --task-column month")
    return run


@pytest.fixture
def model(rows):
    columns = ["hour", "distance"]
    return GeneralizedRidge(information="by_task").fit(rows[columns], rows["delay"], tasks=rows["month"])


def test_tasks(run, model):
    shown = run("tasks flights.rw")
    assert all(task in shown for task in TASKS)
    assert "distance" in shown
    found, expected = json.loads(run("tasks flights.rw --json --adjust bh")), retrospect.tasks(model, adjust="bh")
    np.testing.assert_allclose(found["adjusted_p_values"], expected.adjusted_p_values, rtol=1e-6, atol=1e-15)
    np.testing.assert_allclose(found["distance"], retrospect.influence(model).distance, rtol=1e-8)


def test_one_coefficient(run, model):
    shown = run("tasks flights.rw --feature hour --level 0.9 --plot forest.svg")
    expected, place = retrospect.tasks(model, level=0.9), 1
    assert expected.terms[place] == "hour"
    for task, coef, error, ends in zip(TASKS, expected.coef, expected.standard_errors, expected.intervals, strict=True):
        numbers = (coef[place], error[place], *ends[place])
        assert " ".join([task, *(f"{number:.4g}" for number in numbers)]) in " ".join(shown.split())
    assert "[90 %" in shown
    assert "forest.svg: written" in shown
    assert "2013-07" in Path("forest.svg").read_text()
    found = json.loads(run("tasks flights.rw --feature hour --json"))
    np.testing.assert_allclose(np.ravel(found["coef"]), expected.coef[:, place], rtol=1e-9)
    np.testing.assert_allclose(np.ravel(found["standard_errors"]), expected.standard_errors[:, place], rtol=1e-9)
    assert "Name it with --feature" in run("tasks flights.rw --plot forest.svg", 2)
    assert "unknown term 'hours'. Did you mean 'hour'?" in run("tasks flights.rw --feature hours", 2)


def test_path(run, model):
    found = json.loads(run("path flights.rw --window 3 --terms hour --json"))
    expected = retrospect.coefficient_path(model, window=3)
    assert found["terms"] == ["hour"]
    np.testing.assert_allclose(np.ravel(found["coef"]), expected.coef[:, expected.terms.index("hour")], rtol=1e-9)
    assert "path.png: written" in run("path flights.rw --plot path.png")
    assert "unknown term 'speed'" in run("path flights.rw --terms speed", 2)


def test_segments(run):
    found = json.loads(run("segments flights.rw --json --terms hour"))
    assert found["changes"] == ["2013-07"]
    np.testing.assert_allclose(np.ravel(found["coef"]), [1.0, 3.0], atol=0.3)
    assert "1 change in 12 tasks" in run("segments flights.rw --plot segments.svg")


@pytest.mark.parametrize(("errors", "kind"), [("cluster", "CR2"), ("CR1", "CR1"), ("CR3", "CR3")])
def test_errors_of_clusters(run, model, errors, kind):
    found = json.loads(run(f"summary flights.rw --errors {errors} --json"))
    with pytest.warns(FewClustersWarning) if kind == "CR1" else nullcontext():
        expected = retrospect.clustered(model, kind)
    assert found["kind"] == kind
    np.testing.assert_allclose(found["standard_errors"], expected.standard_errors, rtol=1e-8)
    assert f"{kind} errors" in run(f"summary flights.rw --errors {errors} --features hour")


@pytest.mark.parametrize("errors", ["CR0", "CR1", "CR2", "CR3"])
def test_a_term_that_one_task_alone_decides_has_no_error(tmp_path, monkeypatch, rng, errors):
    monkeypatch.chdir(tmp_path)
    tasks = np.repeat(np.arange(12), 10)
    strike = np.where(tasks == 3, np.arange(120) % 2, 0)
    frame = pd.DataFrame({"x": rng.normal(size=120), "strike": strike, "y": rng.normal(size=120), "t": tasks})
    frame.to_csv("d.csv", index=False)
    runner = CliRunner()
    for line in (
        "init a.rw --features x,strike --target y --keep tasks",
        "absorb a.rw d.csv --task-column t",
    ):
        assert runner.invoke(commands, line.split()).exit_code == 0
    line = ["summary", "a.rw", "--errors", errors]
    found = json.loads(runner.invoke(commands, [*line, "--json"]).stdout)
    assert found["not_estimable"] == ["strike"]
    assert np.isfinite(found["standard_errors"][:2]).all()
    assert found["standard_errors"][2] is None
    shown = runner.invoke(commands, line).stdout
    assert "Not determined: strike." in shown
    assert "One of the 12 clusters alone decides these terms: strike." in " ".join(shown.split())


def test_a_task_of_few_rows_is_not_tested(tmp_path, monkeypatch, rng):
    """It has 3 rows, and 10 times the noise of the others."""
    monkeypatch.chdir(tmp_path)
    tasks = np.repeat(["a", "b", "c", "few"], [20, 20, 20, 3])
    X = rng.normal(size=(63, 3))
    y = X.sum(axis=1) + rng.normal(size=63) * np.where(tasks == "few", 10.0, 1.0)
    frame = pd.DataFrame(X, columns=["u", "v", "w"]).assign(y=y, t=tasks)
    frame.to_csv("all.csv", index=False)
    frame[:60].to_csv("past.csv", index=False)
    frame[60:].drop(columns="t").to_csv("few.csv", index=False)
    runner = CliRunner()
    for line in (
        "init a.rw --features u,v,w --target y --keep tasks --min-rows 3",
        "absorb a.rw all.csv --task-column t",
        "init past.rw --features u,v,w --target y --keep tasks",
        "absorb past.rw past.csv --task-column t",
    ):
        assert runner.invoke(commands, line.split()).exit_code == 0
    shown = runner.invoke(commands, ["tasks", "a.rw"]).stdout
    assert "Not tested: few. Too few rows to tell other coefficients from more noise." in " ".join(shown.split())
    found = json.loads(runner.invoke(commands, ["tasks", "a.rw", "--json"]).stdout)
    assert found["untested"] == ["few"]
    assert found["p_values"][3] is found["adjusted_p_values"][3] is None
    assert None not in found["p_values"][:3]

    asked = ["compare-task", "past.rw", "few.csv"]
    shown = " ".join(runner.invoke(commands, asked).stdout.split())
    assert shown.startswith("Absorb and watch: the relation seems to differ by ")
    assert "Perhaps only the noise differs: too few rows to tell." in shown
    assert json.loads(runner.invoke(commands, [*asked, "--json"]).stdout)["advice"] == "absorb and watch"
    assert json.loads(runner.invoke(commands, [*asked, "--equal-noise", "--json"]).stdout)["advice"] == "keep apart"


def test_many_terms_are_chosen_by_how_well_they_are_known(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    X = rng.normal(size=(200, 8))
    names = [f"x{j}" for j in range(8)]
    frame = pd.DataFrame(X, columns=names).assign(y=X[:, 6] * 5 + rng.normal(size=200), t=np.repeat([1, 2, 3, 4], 50))
    frame.to_csv("d.csv", index=False)
    for line in (
        f"init a.rw --features {','.join(names)} --target y --keep tasks",
        "absorb a.rw d.csv --task-column t",
    ):
        assert CliRunner().invoke(commands, line.split()).exit_code == 0
    found = json.loads(CliRunner().invoke(commands, ["path", "a.rw", "--json"]).stdout)
    assert len(found["terms"]) == 5
    assert "x6" in found["terms"]


def test_a_feature_that_no_task_determines_has_no_estimate(run, rows):
    """A feature that is new, or constant within each task: the table of tasks is printed all the same."""
    run("widen flights.rw --feature prices --past-value 0")
    assert all(task in run("tasks flights.rw") for task in TASKS)
    assert "2013-01 – inf – –" in " ".join(run("tasks flights.rw --feature prices --plot prices.svg").split())
    assert json.loads(run("tasks flights.rw --feature prices --json"))["coef"] == [[None]] * 12


@pytest.mark.parametrize("command", ["tasks", "path", "segments", "summary --errors cluster"])
def test_a_file_that_keeps_no_tasks_is_refused(run, command):
    run("init total.rw --features hour,distance --target delay")
    run("absorb total.rw flights.csv --task-column month")
    name, *options = command.split()
    said = run(" ".join([name, "total.rw", *options]), 2)
    assert "does not keep its tasks" in said
    assert "--keep tasks" in said
