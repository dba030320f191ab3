"""Tables at 80 columns with names that fit: no line is longer, and every value that --json gives is there."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from runner import CliRunner

from ridgeway.cli._commands import commands

NAMES = ["age of the respondent in completed years", "years_of_formal_education_including_training", "tenure"]
TASKS = [f"survey-{year}-northern" for year in (2019, 2020, 2021)]
REASON = "late returns of households that had moved"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made, rng = tmp_path_factory.mktemp("wide"), np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(120, 4)), columns=[*NAMES, "log of the hourly wage"])
    rows.assign(task=np.repeat(TASKS, 40)).to_csv(made / "all.csv", index=False)
    rows[:40].to_csv(made / "again.csv", index=False)
    wide(made, "init", "w.rw", "--from", "again.csv", "--target", "log of the hourly wage", "--keep", "tasks")
    wide(made, "absorb", "w.rw", "all.csv", "--task-column", "task")
    wide(made, "absorb", "w.rw", "again.csv", "--task", "again", "--force", REASON)
    return made


def wide(folder, *arguments):
    """Run a command at 80 columns in a pipe."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = CliRunner().invoke(commands, [*arguments], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.stdout


def tables(text):
    """Return the lines of tables, from the first rule of each to its last."""
    lines = text.splitlines()
    rules = [number for number, line in enumerate(lines) if line and set(line) == {"-"}]
    assert rules
    return lines[rules[0] : rules[-1] + 1]


def missing(values, text):
    """Return the values that no cell of a table shows."""
    lines = tables(text)
    assert max(map(len, lines)) <= 80
    cells = {cell for line in lines for cell in re.split("  +", line.strip())}
    cells |= {part for cell in cells for part in cell.split()}  # an estimate and its standard error share a cell
    return [value for value in values if value not in cells]


def formatted(values, kind=".4g"):
    return [format(value, kind) for value in np.ravel(values)]


def test_summary(folder):
    terms = json.loads(wide(folder, "summary", "w.rw", "--json"))["targets"]["log of the hourly wage"]["terms"]
    values = [format(v, ".3f" if name == "p_value" else ".4g") for row in terms.values() for name, v in row.items()]
    text = wide(folder, "summary", "w.rw")
    assert missing([*NAMES, *values], text) == []
    assert missing(["1.2345"], text) == ["1.2345"]  # the control


def test_history(folder):
    records = json.loads(wide(folder, "history", "w.rw", "--json"))
    values = [v for r in records for v in (str(r["sequence"]), r["task_id"], str(r["n_samples"]), r["digest"][:12])]
    text = wide(folder, "history", "w.rw")
    assert missing([*values, *(record["absorbed_at"] for record in records), REASON], text) == []


def test_tasks(folder):
    found = json.loads(wide(folder, "tasks", "w.rw", "--json"))
    names = ("noise_variance", "f", "p_values", "adjusted_p_values", "distance")
    values = [text for name in names for text in formatted(found[name])]
    assert missing([*TASKS, *values], wide(folder, "tasks", "w.rw")) == []
    one = json.loads(wide(folder, "tasks", "w.rw", "--feature", NAMES[0], "--json"))
    values = [text for name in ("coef", "standard_errors", "intervals") for text in formatted(one[name])]
    assert missing([*TASKS, *values], wide(folder, "tasks", "w.rw", "--feature", NAMES[0])) == []


@pytest.mark.parametrize("command", ["path", "segments"])
def test_over_time(folder, command):
    found = json.loads(wide(folder, command, "w.rw", "--json"))
    errors = [f"({text})" for text in formatted(found["standard_errors"], ".2g")]
    names = [*NAMES, *(TASKS if command == "path" else [])]
    assert missing([*names, *formatted(found["coef"]), *errors], wide(folder, command, "w.rw")) == []


def test_verify():
    names = ["oracle", "early-stopping-any-matrix", "min-norm-limit"]
    found = {result["name"]: result for result in json.loads(wide(".", "verify", *names, "--json"))}
    text = wide(".", "verify", *names)
    values = [v for result in found.values() for v in (result["name"], result["verdict"], str(result["instances"]))]
    assert missing([*values, *(result["where"] for result in found.values())], text) == []


def test_compare(folder, blank_figures):
    names = ("--task-column", "task", "--methods", "mn,gr", "--out", "r")
    text = wide(folder, "compare", "all.csv", "--target", "log of the hourly wage", *names)
    found = pd.read_csv(folder / "r" / "summary.csv")
    values = [
        *found["name"],
        *found["average_loss"].map("{:.4g}".format),
        *found["bytes_remembered"].map("{:,}".format),
    ]
    assert missing(values, text) == []
