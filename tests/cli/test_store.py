"""The commands on state files: what a user types, JSON, exit codes, errors in one line, progress."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from runner import CliRunner

from ridgeway import store
from ridgeway.cli import _output
from ridgeway.cli._commands import SECTIONS, commands
from ridgeway.data import open_table
from ridgeway.errors import InvalidDataError, StoreError


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(line, code=0):
        result = CliRunner().invoke(commands, line.split())
        assert result.exit_code == code, result.output
        return result

    return run


@pytest.fixture
def survey(tmp_path, rng):
    X = rng.normal(size=(90, 3))
    frame = pd.DataFrame(X, columns=["age", "education", "tenure"])
    frame["log_wage"] = X @ [1.0, 2.0, 3.0] + rng.normal(size=90)
    frame["year"] = np.tile([2018, 2019, 2020], 30)
    frame.to_parquet(tmp_path / "all.parquet")
    for year in (2018, 2019, 2020):
        part = frame[frame["year"] == year].drop(columns="year")
        part.to_parquet(tmp_path / f"survey-{year}.parquet", index=False)
    frame.drop(columns=["log_wage", "year"]).to_csv(tmp_path / "new.csv", index=False)
    return frame


INIT = "init wages.rw --features age,education,tenure --target log_wage"


def test_a_story(run, survey, tmp_path):
    assert "3 features" in run(INIT).stdout
    assert run("absorb wages.rw survey-2019.parquet --task 2019").stdout.startswith("2019: absorbed, 30 rows, digest")
    assert "2019: already absorbed" in run("absorb wages.rw survey-2019.parquet --task 2019").stdout
    run("absorb wages.rw all.parquet --task-column year")
    shown = run("history wages.rw").stdout
    assert "2020" in shown
    assert "3 tasks, 90 rows" in shown
    shown = run("show wages.rw").stdout
    assert "(intercept)" in shown
    assert "rank 3 of 3" in shown
    assert "90 predictions" in run("predict wages.rw new.csv --out predictions.parquet").stdout
    assert len(pd.read_parquet("predictions.parquet")) == 90
    assert "2019: removed, 30 rows; up to" in run("remove wages.rw survey-2019.parquet --task 2019").stdout
    assert "removed at #4" in run("history wages.rw").stdout
    run(INIT.replace("wages", "south"))
    run("absorb south.rw survey-2019.parquet --task 2019")
    assert "3 tasks, 90 rows" in run("merge wages.rw south.rw --out both.rw").stdout
    assert "intact. 3 tasks, 90 rows" in run("check both.rw").stdout
    run("export both.rw model.safetensors")
    assert "3 tasks, 90 rows" in run("import model.safetensors back.rw").stdout
    run("export both.rw coefficients.csv")
    assert len(pd.read_csv("coefficients.csv")) == 4
    coef = store.open("back.rw").model().coef_
    assert coef.tobytes() == store.open("both.rw").model().coef_.tobytes()


def test_json(run, survey):
    assert json.loads(run(f"{INIT} --json").stdout)["features"] == ["age", "education", "tenure"]
    (outcome,) = json.loads(run("absorb wages.rw survey-2019.parquet --task 2019 --json").stdout)
    assert (outcome["task_id"], outcome["n_samples"], outcome["already"]) == ("2019", 30, False)
    run("absorb wages.rw survey-2018.parquet --task 2018")
    (record, _) = json.loads(run("history wages.rw --json").stdout)
    assert record["digest"] == outcome["digest"]
    shown = json.loads(run("show wages.rw --json").stdout)
    assert shown["rank"] == 3
    assert list(shown["coefficients"]["log_wage"]) == ["age", "education", "tenure"]
    assert json.loads(run("check wages.rw --json").stdout)["in_order"] is True
    assert json.loads(run("predict wages.rw new.csv --out p.csv --json").stdout)["n_samples"] == 90
    assert json.loads(run("remove wages.rw survey-2018.parquet --task 2018 --json").stdout)["removed"] == 3
    run(INIT.replace("wages", "empty"))
    assert json.loads(run("merge wages.rw empty.rw --out both.rw --json").stdout)["n_tasks"] == 1
    assert json.loads(run("export wages.rw m.safetensors --json").stdout)["out"] == "m.safetensors"
    assert json.loads(run("import m.safetensors back.rw --json").stdout)["n_samples"] == 30


def test_a_force_that_was_not_needed_is_said_to_be(run, survey):
    note = "; --force was not needed, so the reason was not kept\n"
    run(INIT)
    assert run("absorb wages.rw survey-2019.parquet --task 2019 --force late").stdout.endswith(note)
    assert run("absorb wages.rw survey-2019.parquet --task 2019 --force late").stdout.endswith(note)
    assert note not in run("absorb wages.rw survey-2018.parquet --task 2019 --force late").stdout
    assert note not in run("absorb wages.rw survey-2018.parquet --task 2019 --force late").stdout
    line = "absorb wages.rw all.parquet --task-column year --force late --json"
    outcomes = {outcome["task_id"]: outcome for outcome in json.loads(run(line).stdout)}
    found = {name: (outcome["already"], outcome["forced"]) for name, outcome in outcomes.items()}
    assert found == {"2018": (False, True), "2019": (True, False), "2020": (False, False)}
    assert [record.reason for record in store.open("wages.rw").history()] == [None, "late", "late", None]


def test_schema_from_a_file(run, survey):
    run("init a.rw --from all.parquet --target log_wage --leave-out year --weight-column tenure")
    assert store.open("a.rw").schema.columns == ("age", "education", "log_wage", "tenure")
    run("init b.rw --from all.parquet --target log_wage,tenure --prior 2 --no-intercept --information moments")
    schema = store.open("b.rw").schema
    assert schema.targets == ("log_wage", "tenure")
    assert (schema.fit_intercept, schema.information, schema.single_target) == (False, "moments", False)
    assert store.open("b.rw").snapshot().arrays["prior"].tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("init wages.rw --features a --target b", "exists already"),
        ("init x.rw --target b", "--features, or a first data file with --from"),
        ("init x.rw --features a,b --target b", "duplicate column names: 'b'"),
        ("absorb none.rw survey-2019.parquet --task 2019", "there is no state file none.rw"),
        ("absorb wages.rw none.parquet --task 2019", "none.parquet does not exist. Check the path."),
        ("absorb wages.rw survey-2019.parquet", "either a task or a task column; got neither"),
        ("absorb wages.rw survey-2018.parquet --task 2019", "is in the state file with other content"),
        ("remove wages.rw survey-2018.parquet --task 2018", "there is no task '2018'"),
        ("show empty.rw", "has not learned anything yet"),
        ("history all.parquet", "is not a state file"),
        ("predict wages.rw survey-2019.parquet --out p.txt", "a data file ends in"),
        ("predict wages.rw new.csv --out all.parquet", "all.parquet exists already. Choose another name, or remove"),
        ("export wages.rw new.csv", "new.csv exists already. Choose another name, or remove the file first."),
        ("import model.safetensors wages.rw", "wages.rw exists already. Choose another name"),
        ("merge wages.rw other.rw --out all.parquet", "all.parquet exists already. Choose another name"),
        ("merge wages.rw wages.rw --out w.rw", "both have the task '2019'"),
        ("export wages.rw wages.txt", "exports end with"),
        ("import all.parquet new.rw", "not an intact safetensors"),
        ("check none.rw", "there is no state file"),
        ("check all.parquet", "is not a state file"),
        ("check nothing.rw", "is empty, so it is not a state file"),
    ],
)
def test_what_is_refused_is_one_line_and_exit_code_2(run, survey, line, words, tmp_path):
    run(INIT)
    run("init empty.rw --features a --target b")
    run("absorb wages.rw survey-2019.parquet --task 2019")
    (tmp_path / "nothing.rw").touch()
    run("export wages.rw model.safetensors")
    run(INIT.replace("wages", "other"))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    result = run(line, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith(f"ridgeway {line.split()[0]}: ")
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_damaged_file_is_found_by_check_and_restored_on_demand(run, survey, tmp_path):
    run(INIT)
    run("absorb wages.rw survey-2018.parquet --task 2018")
    run("absorb wages.rw survey-2019.parquet --task 2019")
    assert "there is nothing to restore" in run("check wages.rw --restore-previous", code=2).stderr
    matrix = store.open("wages.rw").snapshot().arrays["matrix"].tobytes()
    content = (tmp_path / "wages.rw").read_bytes()
    (tmp_path / "wages.rw").write_bytes(content.replace(matrix, bytes(len(matrix))))
    result = run("check wages.rw", code=1)
    assert "is not what was committed" in result.stderr
    assert json.loads(run("check wages.rw --json", code=1).stdout)["in_order"] is False
    assert "is not what was committed" in run("show wages.rw", code=2).stderr
    assert "was restored" in run("check wages.rw --restore-previous").stdout
    assert "1 task, 30 rows" in run("history wages.rw").stdout
    assert "intact" in run("check wages.rw").stdout
    (tmp_path / "wages.rw").write_bytes(content[:16] + bytes(84) + content[100:])
    assert "is damaged (file is not a database)" in run("check wages.rw", code=1).stderr


def test_warnings_are_one_line(run, survey):
    survey.assign(education=survey["age"]).drop(columns="year").to_parquet("same.parquet")
    run(INIT)
    run("absorb wages.rw same.parquet --task a")
    result = run("show wages.rw")
    assert "rank 2 of 3" in result.stdout
    run("init other.rw --information moments --features age,education,tenure --target log_wage")
    run("absorb other.rw same.parquet --task a")
    result = run("show other.rw")
    assert result.stderr.startswith("ridgeway show: warning: ")
    assert result.stderr.count("\n") == result.stderr.count("warning")
    assert "condition infinite" in result.stdout


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (PermissionError(13, "Permission denied", "wages\n.rw"), 2, "Permission denied (wages .rw)."),
        (MemoryError(), 2, "not enough memory. Use less data at a time."),
        (MemoryError("of 3 GB"), 2, "not enough memory (of 3 GB). Use less data at a time."),
        (KeyboardInterrupt(), 130, "interrupted. Run it again."),
    ],
)
def test_what_the_system_refuses_is_one_line_too(run, monkeypatch, error, code, line):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(store, "open", fail)
    for command in ("history wages.rw", "compare-task wages.rw new.csv"):
        assert run(command, code=code).stderr == f"ridgeway {command.split()[0]}: {line}\n"


@pytest.mark.parametrize("as_json", ["", " --json"])
def test_a_result_that_cannot_be_printed_is_not_a_refusal(run, survey, monkeypatch, as_json):
    run(INIT)
    echo, full = click.echo, {False}

    def fail(*arguments, err=False):
        if err in full:
            raise OSError(28, "No space left on device")
        echo(*arguments, err=err)

    monkeypatch.setattr(click, "echo", fail)
    done = run(f"absorb wages.rw all.parquet --task-column year{as_json}", code=1)
    assert done.stderr == "ridgeway absorb: done, but the result cannot be printed: No space left on device.\n"
    assert len(store.open("wages.rw").history()) == 3
    full.add(True)
    run("absorb wages.rw new.csv --task new", code=2)


@pytest.mark.parametrize("as_json", ["", " --json"])
def test_results_that_cannot_be_printed_do_not_stop_the_files(run, survey, monkeypatch, as_json):
    run(INIT)
    echo = click.echo

    def fail(*arguments, err=False):
        if not err:
            raise OSError(28, "No space left on device")
        echo(*arguments, err=err)

    monkeypatch.setattr(click, "echo", fail)
    line = f"absorb wages.rw survey-*.parquet --task-from-name{as_json}"
    assert "done, but the result cannot be printed" in run(line, code=1).stderr
    assert len(store.open("wages.rw").history()) == 3
    assert "none.csv does not exist" in run(f"{line} none.csv", code=3).stderr


def test_memory_that_runs_out_in_one_of_several_files(run, survey, monkeypatch):
    run(INIT)
    absorb_table = store.Store.absorb_table

    def fail(self, table, **options):
        if options["task_id"] == "survey-2019":
            raise MemoryError
        return absorb_table(self, table, **options)

    monkeypatch.setattr(store.Store, "absorb_table", fail)
    said = run("absorb wages.rw survey-*.parquet --task-from-name", code=3).stderr
    assert said == "ridgeway absorb: survey-2019.parquet: not enough memory. Use less data at a time.\n"
    assert len(store.open("wages.rw").history()) == 2


@pytest.mark.parametrize("options", ["", "--family poisson --exposure tenure"])
def test_init_does_not_fail_once_the_file_is_made(run, survey, monkeypatch, options):
    """What is printed is known from the options: a disk that fails now cannot take the file back."""

    def fail(self):
        raise StoreError("reading failed")

    monkeypatch.setattr(store.Store, "schema", property(fail))
    columns = "--features age,education" if options else "--features age,education,tenure"
    said = run(f"init new.rw {columns} --target log_wage {options}").stdout
    assert said.endswith("Next, absorb a task.\n")
    assert "exposure tenure" in said or not options


def test_remove_does_not_fail_once_the_task_is_gone(run, survey, monkeypatch):
    run(INIT)
    run("absorb wages.rw survey-2019.parquet survey-2020.parquet --task-from-name")

    def fail(self):
        raise StoreError("reading failed")

    monkeypatch.setattr(store.Store, "empty_references", fail)
    said = run("remove wages.rw survey-2019.parquet --task survey-2019").stdout
    assert "survey-2019: removed" in said
    assert "could not be read back (reading failed)" in said
    assert [record.task_id for record in store.open("wages.rw").history()] == ["survey-2020"]


def test_names_are_shown_as_they_are(run, survey, tmp_path):
    survey.drop(columns="year").rename(columns={"age": "[red]age"}).to_parquet("odd.parquet")
    run("init odd.rw --from odd.parquet --target log_wage")
    run("absorb odd.rw odd.parquet --task [bold]2019")
    assert "[red]age" in run("show odd.rw").stdout
    assert "[bold]2019" in run("history odd.rw").stdout


def test_progress_appears_past_two_seconds_on_a_terminal(monkeypatch, capsys):
    with _output.progress_bar("absorbing") as progress:
        progress(1, 10)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_output, "PATIENCE", 0.0)
    with _output.progress_bar("absorbing") as progress:
        progress(1, 10)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with _output.progress_bar("absorbing") as progress:
        progress(1, None)
        progress(4, 10)
        progress(10, 10)
    drawn = capsys.readouterr().err
    assert "absorbing  [" in drawn
    assert re.findall(r"\]  (\S+)", drawn.replace("\x1b", " ")) == ["0", "1", "4/10", "10/10"]


def test_help_of_every_command_waits_for_nothing_heavy():
    script = (
        "import sys\n"
        "from ridgeway.cli import main\n"
        "sys.argv = ['ridgeway', 'absorb', '--help']\n"
        "try:\n    main()\n"
        "except SystemExit:\n    print([m for m in ('numpy', 'pyarrow', 'scipy') if m in sys.modules])\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout.endswith("[]\n"), found.stdout + found.stderr
    for command in (*SECTIONS["State file"], *SECTIONS["Questions about a state file"]):
        text = " ".join(CliRunner().invoke(commands, [command.name, "--help"]).stdout.split())
        assert "with 2" in text
        assert "--json Print the result as JSON." in text


HEAVY = ("sklearn", "pandas", "pyarrow", "matplotlib", "joblib", "ridgeway.retrospect", "ridgeway.estimators")
HEAVY += ("scipy.sparse", "scipy.optimize", "scipy.special", "scipy.stats")


@pytest.mark.parametrize(
    ("command", "imported"),
    [("history", set()), ("show", set()), ("summary", {"sklearn", "ridgeway.retrospect"})],
)
def test_reading_a_state_waits_for_nothing_heavy(run, survey, command, imported):
    """`summary`, which needs some of it, is the negative control. What scipy.linalg imports itself does not count."""
    run(INIT)
    run("absorb wages.rw survey-2019.parquet --task 2019")
    script = (
        "import sys\n"
        "import scipy.linalg\n"
        "before = {*sys.modules}\n"
        "from ridgeway.cli import main\n"
        f"sys.argv = ['ridgeway', {command!r}, 'wages.rw']\n"
        f"try:\n    main()\nexcept SystemExit:\n    print(*({{*sys.modules}} & {{*{HEAVY}}} - before))\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy = set(found.stdout.splitlines()[-1].split())
    assert imported <= heavy
    assert imported or not heavy


@pytest.mark.parametrize("command", ["merge a.rw b.rw --out c.rw", "import a.safetensors c.rw"])
def test_a_file_that_was_made_and_cannot_be_read_back_is_no_failure(run, rng, monkeypatch, command):
    for name in ("a", "b"):
        made = store.create(f"{name}.rw", features=["x"], target="y")
        made.absorb(name, rng.normal(size=(9, 1)), rng.normal(size=9))
    store.open("a.rw").export("a.safetensors")

    def unreadable(self):
        raise StoreError("the disk is gone.")

    with monkeypatch.context() as patch:
        patch.setattr(store.Store, "history", unreadable)
        result = run(command)
    assert "made, but it could not be read back (the disk is gone.)" in result.stdout
    assert store.open("c.rw").check().n_tasks == (2 if "merge" in command else 1)


def test_a_reader_that_has_seen_enough_is_no_failure(run, survey):
    """As with `ridgeway show wages.rw | head -n 1`: nothing is written to a pipe that nobody reads."""
    run(INIT)
    run("absorb wages.rw survey-2018.parquet --task 2018")
    reader, pipe = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", "from ridgeway.cli import main; main()", "show", "wages.rw"]
    shown = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    os.close(pipe)
    assert (shown.returncode, shown.stderr) == (1, "")


def test_predictions_are_not_made_for_a_file_that_exists(run, survey, monkeypatch):
    run(INIT)
    run("absorb wages.rw survey-2018.parquet --task 2018")
    Path("out.csv").write_text("mine")
    monkeypatch.setattr(type(open_table("new.csv")), "batches", None)  # nothing is read
    assert "out.csv exists already" in run("predict wages.rw new.csv --out out.csv", code=2).stderr
    assert Path("out.csv").read_text() == "mine"


def test_missing_values_are_counted_in_every_column(run, tmp_path):
    frame = pd.DataFrame({"sex": ["f", "m"] * 10, "mass": np.arange(20.0), "y": np.arange(20.0) % 7})
    gaps = frame.copy()
    gaps.loc[:6, "sex"] = None
    gaps.loc[6:7, "mass"] = np.nan
    gaps.loc[9, "y"] = np.nan
    gaps.to_csv(tmp_path / "gaps.csv", index=False)
    frame.to_csv(tmp_path / "first.csv", index=False)
    run("init a.rw --from first.csv --target y --missing drop")
    said = run("absorb a.rw gaps.csv --task t").stdout
    assert "gaps.csv: 9 rows with missing values were left out: sex (7), mass (2), y (1)" in said
    counts = Counter()
    store.open("a.rw").absorb_table(gaps.iloc[::-1], task_id="u", dropped=counts, force="to count")
    assert counts == {("sex",): 6, ("sex", "mass"): 1, ("mass",): 1, ("y",): 1}
    with pytest.raises(InvalidDataError, match=r"8 rows of X have no value in '(mass' or 'sex|sex' or 'mass)'"):
        store.open("a.rw").model().predict(gaps[["sex", "mass"]])
