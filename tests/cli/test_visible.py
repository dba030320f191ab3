"""Names from data and files can contain anything; what is printed contains no control character."""

import csv
import dataclasses
import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from runner import CliRunner

from ridgeway import store
from ridgeway.cli import _output
from ridgeway.cli._commands import commands

EVIL = "a\x1b[31mb\x07\x9b2Jc\u202ed\x7f"
SHOWN = r"a\x1b[31mb\x07\x9b2Jc\u202ed\x7f"
STATE, DATA = f"{EVIL}.rw", f"{EVIL}.csv"
SITES = [f"={EVIL}", "-2", EVIL]


def hidden(text):
    """Return the characters of a text that a terminal would obey rather than show, apart from line breaks."""
    return sorted({c for c in text if not c.isprintable() and c != "\n"})


def run(*arguments):
    result = CliRunner().invoke(commands, [str(argument) for argument in arguments])
    assert hidden(result.stdout + result.stderr) == [], arguments
    assert "Traceback" not in result.stderr
    return result


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with files that have evil names, and tables with evil columns, tasks and categories."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 3)), columns=["x", "z", "y"])
    frame.to_csv(DATA, index=False)
    (frame + 1.0).to_csv(f"new{DATA}", index=False)
    store.create(STATE, features=["x", "z"], target="y").absorb_table(DATA, task_id="one")
    words = [f"{EVIL}{word}" for word in "abc"]
    evil = frame.rename(columns={"x": EVIL}).assign(site=np.repeat(SITES, 10), word=np.tile(words, 10))
    evil.to_parquet("evil.parquet", index=False)
    return tmp_path


COMPARE = ("compare", "evil.parquet", "--target", "y", "--task-column", "site", "--methods", "mn,gr")
DONE = {
    "init": ("init", f"2{STATE}", "--features", "x", "--target", "y"),
    "init --from": ("init", f"2{STATE}", "--from", DATA, "--target", "y"),
    "absorb": ("absorb", STATE, DATA, "--task", "two", "--force", "again"),
    "backup": ("backup", STATE, f"2{STATE}"),
    "check": ("check", STATE),
    "history": ("history", STATE),
    "show": ("show", STATE),
    "summary": ("summary", STATE),
    "compare-task": ("compare-task", STATE, f"new{DATA}"),
    "predict": ("predict", STATE, DATA, "--out", f"out{DATA}"),
    "export": ("export", STATE, f"out{DATA}"),
}
REFUSED = {
    "unknown command": (EVIL,),
    "unknown option": ("show", STATE, f"--{EVIL}"),
    "unexpected argument": ("show", STATE, EVIL),
    "unknown choice": (*COMPARE, "--out", "r", "--order", EVIL),
    "not a number": (*COMPARE, "--out", "r", "--seed", EVIL),
    "missing state file": ("show", EVIL),
    "not a state file": ("check", DATA),
    "missing data file": ("absorb", STATE, f"missing{DATA}", "--task", "t"),
    "column name": ("init", "new.rw", "--features", EVIL, "--target", "y"),
    "column names of a file": ("init", "new.rw", "--from", "evil.parquet", "--target", "y"),
    "columns that do not match": ("absorb", STATE, "evil.parquet", "--task", "t"),
    "task name": ("absorb", STATE, DATA, "--task", EVIL),
    "reason": ("absorb", STATE, DATA, "--task", "one", "--force", EVIL),
    "target": (*COMPARE[:3], EVIL[:-1], *COMPARE[4:], "--out", "r"),
    "text target": (*COMPARE[:3], "word", *COMPARE[4:], "--family", "gaussian", "--out", "r"),
    "method": (*COMPARE[:-1], EVIL, "--out", "r"),
    "source": ("compare", EVIL, "--out", "r"),
    "folder": ("simulate", "--out", DATA),
    "removed twice": ("remove", STATE, DATA, "--task", EVIL),
}


@pytest.mark.parametrize("as_json", [False, True], ids=["", "json"])
@pytest.mark.parametrize("name", DONE)
def test_what_is_done(place, name, as_json):
    result = run(*DONE[name], *(["--json"] if as_json else []))
    assert result.exit_code == 0, result.output
    if as_json:
        assert json.loads(result.stdout) is not None


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(place, name):
    result = run(*REFUSED[name])
    assert result.exit_code == 2
    assert result.stderr


def test_json_keeps_every_character(place):
    found = json.loads(run("init", f"3{STATE}", "--features", "x", "--target", "y", "--json").stdout)
    assert found["file"].endswith(f"3{STATE}")


def test_names_are_shown_as_escapes(place):
    assert run("check", STATE).stdout.startswith(f"{SHOWN}.rw: intact.")
    assert SHOWN in run("show", EVIL).stderr


@pytest.mark.parametrize("as_json", [False, True], ids=["", "json"])
def test_a_ledger_with_escapes(place, monkeypatch, as_json):
    """Should a state file let them through, the command does not."""
    (record,) = store.open(STATE).ledger()
    crafted = dataclasses.replace(record, task_id=EVIL, reason=f"{EVIL}\r\n0 tasks", absorbed_at=EVIL)
    monkeypatch.setattr(store.Store, "ledger", lambda opened: [crafted])
    result = run("history", STATE, *(["--json"] if as_json else []))
    assert result.exit_code == 0
    assert as_json or r"\x1b[31mb" in result.stdout


def test_warnings(place, monkeypatch):
    def describe(opened):
        warnings.warn(f"{EVIL}\nlooks odd", UserWarning, stacklevel=1)
        raise ValueError

    monkeypatch.setattr(store.Store, "describe", describe)
    result = CliRunner().invoke(commands, ["show", STATE])
    assert result.stderr == f"ridgeway show: warning: {SHOWN} looks odd\n"


def test_reports(place):
    """The page shows escapes, and the CSV files quote what a spreadsheet would run."""
    folder = place / f"report{EVIL}"
    found = json.loads(run(*COMPARE, "--out", folder, "--json").stdout)
    assert found["page"] == str(folder / "index.html")
    assert SHOWN in run(*COMPARE, "--out", folder).stdout
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert hidden(page) == []
    assert SHOWN in page
    with (folder / "losses.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["on_task"] for row in rows[:3]] == [f"'={EVIL}", "'-2", EVIL]
    assert all(float(row["loss"]) > 0.0 for row in rows)


def test_the_progress_bar(monkeypatch, capsys):
    monkeypatch.setattr(_output, "PATIENCE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with _output.progress_bar(f"absorbing {EVIL}[red]") as progress:
        progress(1, 2)
    drawn = capsys.readouterr().err
    assert f"absorbing {SHOWN}[red]" in drawn
    assert "\x07" not in drawn


def test_nothing_else_prints():
    """click's functions are called in one file only."""
    printing = re.compile(r"click\.s?echo|\bprint\(")
    folder = Path(_output.__file__).parent
    found = {path.name for path in folder.glob("*.py") if printing.search(path.read_text(encoding="utf-8"))}
    assert found == {"__init__.py", "_output.py"}  # the first says that click is not installed
