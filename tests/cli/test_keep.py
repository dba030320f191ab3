"""Commands on state files that keep their tasks."""

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from runner import CliRunner

from ridgeway import store
from ridgeway.cli._commands import commands

NAMES = ["age", "tenure"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    for year in (2018, 2019, 2020):
        frame = pd.DataFrame(rng.normal(size=(24, 3)), columns=[*NAMES, "wage"])
        frame.assign(firm=["x", "y"] * 12).to_csv(f"{year}.csv", index=False)
        frame.to_csv(f"plain-{year}.csv", index=False)

    def call(*arguments, code=0):
        done = CliRunner().invoke(commands, list(arguments))
        assert done.exit_code == code, done.output
        return done

    return call


def start(run, *options, years=(2018, 2019, 2020), prefix="plain-"):
    made = run("init", "a.rw", "--features", "age,tenure", "--target", "wage", "--keep", "tasks", *options)
    for year in years:
        run("absorb", "a.rw", f"{prefix}{year}.csv", "--task", str(year))
    return made


def test_remove_without_rows(run):
    said = start(run).stdout
    assert "What is kept of a small task gives away more than a total" in said
    done = run("remove", "a.rw", "--task", "2019")
    assert done.stdout == "2019: removed, 24 rows; no digits were lost\n"
    assert [record.task_id for record in store.open("a.rw").history()] == ["2018", "2020"]
    assert "3 parts and merged parts" in run("check", "a.rw").stdout
    assert json.loads(run("check", "a.rw", "--json").stdout)["n_nodes"] == 3
    assert "no task '2019'" in run("remove", "a.rw", "--task", "2019", code=2).stderr
    assert "Leave out the options" in run("remove", "a.rw", "--task", "2018", "--task-column", "x", code=2).stderr
    run("remove", "a.rw", "plain-2018.csv", "--task", "2018")
    assert json.loads(run("show", "a.rw", "--json").stdout)["keep"] == {
        "tasks": {"cluster_column": None, "min_rows": None}
    }


def test_a_plain_file_needs_the_rows(run):
    said = run("init", "b.rw", "--features", "age,tenure", "--target", "wage").stdout
    assert "gives away more" not in said
    run("absorb", "b.rw", "plain-2018.csv", "--task", "2018")
    assert "does not keep its tasks. Pass the rows." in run("remove", "b.rw", "--task", "2018", code=2).stderr


def test_min_rows(run):
    start(run, years=())
    pd.read_csv("plain-2018.csv").head(5).to_csv("small.csv", index=False)
    refused = run("absorb", "a.rw", "small.csv", "--task", "small", code=2).stderr
    assert "task 'small' has 5 rows; this file keeps parts of 10 or more" in refused
    assert "--min-rows 5" in refused
    run("init", "c.rw", "--features", "age,tenure", "--target", "wage", "--keep", "tasks", "--min-rows", "5")
    run("absorb", "c.rw", "small.csv", "--task", "small")
    assert "--keep" not in run("init", "d.rw", "--features", "x", "--target", "y", "--min-rows", "5", code=2).stdout


def test_clusters(run):
    start(run, "--cluster-column", "firm", prefix="")
    assert [*store.open("a.rw").model_by_task().information_.clusters()] == ["x", "y"]
    options = ("--from", "2018.csv", "--target", "wage", "--keep", "tasks", "--cluster-column", "firm")
    run("init", "e.rw", *options)
    run("absorb", "e.rw", "2018.csv", "--task", "2018")
    opened = store.open("e.rw")
    assert opened.schema.features == (*NAMES,)
    assert opened.schema.raw.ignored == ()


def test_merge(run):
    start(run)
    run("init", "b.rw", "--features", "age,tenure", "--target", "wage")
    assert "--total-only" in run("merge", "a.rw", "b.rw", "--out", "c.rw", code=2).stderr
    run("merge", "a.rw", "b.rw", "--total-only", "--out", "c.rw")
    assert store.open("c.rw").schema.keep is None


def test_what_cannot_be_kept(run):
    for keep in ("fourth-moments", "tasks,rows"):
        refused = run("init", "b.rw", "--features", "x", "--target", "y", "--keep", keep, code=2).stderr
        assert "a state file can keep 'tasks', or 'tasks' and 'fourth-moments', or the total alone" in refused


@pytest.mark.parametrize("errors", ["hc0", "HC0", "hc1", "HC1"])
def test_errors_for_unequal_variances(run, errors):
    said = run("init", "a.rw", "--from", "plain-2018.csv", "--target", "wage", "--keep", "tasks,fourth-moments").stdout
    assert "What is kept of a small task gives away more than a total" in said
    assert "Fourth moments give more away than the part alone" in said
    run("absorb", "a.rw", "plain-2018.csv", "plain-2019.csv", "plain-2020.csv", "--task-from-name")
    run("remove", "a.rw", "--task", "plain-2019")
    rows = pd.concat([pd.read_csv(f"plain-{year}.csv") for year in (2018, 2020)])
    for features in (NAMES, NAMES[:1]):
        chosen = ("--features", ",".join(features), "--errors", errors)
        expected = sm.OLS(rows["wage"], sm.add_constant(rows[features])).fit(cov_type=errors.upper())
        found = json.loads(run("summary", "a.rw", *chosen, "--json").stdout)
        np.testing.assert_allclose(found["standard_errors"], expected.bse, rtol=1e-8)
        assert f"{errors.upper()} errors" in run("summary", "a.rw", *chosen).stdout
    assert "kept besides the total: tasks, fourth-moments" in run("show", "a.rw").stdout
    assert json.loads(run("show", "a.rw", "--json").stdout)["keep"]["fourth-moments"] == {}
    assert "3 parts and merged parts" in run("check", "a.rw").stdout


def test_errors_are_named_in_either_case(run):
    start(run)
    upper, lower = (run("summary", "a.rw", "--errors", kind, "--json").stdout for kind in ("CR1", "cr1"))
    assert upper == lower
    assert "'CR3', 'HC0', 'HC1'" in run("summary", "a.rw", "--errors", "hc9", code=2).stderr.replace("\n", "")


def test_fourth_moments_must_have_been_kept(run):
    said = start(run).stdout
    assert "Fourth moments" not in said
    assert "--keep tasks,fourth-moments" in run("summary", "a.rw", "--errors", "hc1", code=2).stderr
    assert "kept besides the total: tasks\n" in run("show", "a.rw").stdout
    run("init", "b.rw", "--features", "age,tenure", "--target", "wage", "--keep", "tasks,fourth-moments")
    assert "only b.rw keeps fourth moments" in run("merge", "a.rw", "b.rw", "--out", "c.rw", code=2).stderr
    run("init", "t.rw", "--features", "age,tenure", "--target", "wage")
    run("absorb", "t.rw", "plain-2018.csv", "--task", "2018")
    assert "kept besides" not in run("show", "t.rw").stdout
