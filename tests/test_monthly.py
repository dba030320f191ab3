"""The guide for monthly tables, from its first line to its last: every command and every snippet, in one folder."""

import doctest
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from runner import CliRunner

from ridgeway import store
from ridgeway.cli._commands import commands

PAGE = (Path(__file__).parents[1] / "docs" / "monthly.md").read_text(encoding="utf-8")
CODES = {"exit code 3": 3, "refused": 2}


def run_command(line):
    """Run a line of shell, which may begin with `cat FILE |`, and check its exit code against its comment."""
    line, _, comment = line.partition("  #")
    source, _, piped = line.rpartition(" | ")
    shown = Path(source.removeprefix("cat ")).read_bytes() if source else None
    program, *arguments = shlex.split(piped)
    assert program == "ridgeway"
    result = CliRunner().invoke(commands, arguments, input=shown)
    expected = next((code for words, code in CODES.items() if comment.strip().startswith(words)), 0)
    assert result.exit_code == expected, (line, result.output)
    return result.output


def run_snippet(text, names):
    test = doctest.DocTestParser().get_doctest(text, names, "monthly.md", None, 0)
    assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
    names.update(test.globs)


def run_page(page):
    """Run the blocks of a page in their order; return what each command printed."""
    names, said = {}, {}
    for language, text in re.findall(r"^```([^\n]*)\n(.*?)^```", page, flags=re.M | re.S):
        if language == "python":
            run_snippet(text, names)
        else:
            lines = [line for line in re.sub(r"\\\n *", "", text).splitlines() if not line.startswith("#")]
            said |= {line.partition("  #")[0].strip(): run_command(line) for line in lines}
    return said


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_runs(folder):
    said = run_page(PAGE)
    again = said["ridgeway absorb flights.rw 'flights-2013-0[1-4].parquet' --task-from-name"]
    assert again.count("already absorbed, 59 rows") == 2
    assert again.count(": absorbed, 59 rows") == 2
    assert "4 files: 2 absorbed, 2 already absorbed, 0 failed" in again
    assert "1 row with missing values was left out: dep_delay (1)" in again
    assert "4 tasks, 236 rows" in said["ridgeway history flights.rw"]
    assert "60 predictions" in next(text for line, text in said.items() if " predict " in line)
    records = store.open("flights.rw").history()
    assert [record.task_id for record in records] == [f"flights-2013-{number:02}" for number in (2, 3, 4, 5, 6)]
    assert sum(record.n_samples for record in store.open("both.rw").history()) == 118


def test_a_wrong_number_is_noticed(folder, capsys):
    """The controls: a task counted twice, and a command that is refused."""
    twice = (
        "ridgeway absorb flights.rw flights-2013-04.parquet --task again --force 'twice'\nridgeway history flights.rw"
    )
    with pytest.raises(AssertionError):
        run_page(PAGE.replace("ridgeway history flights.rw", twice))
    Path("flights.rw").unlink()
    with pytest.raises(AssertionError, match="carrier"):
        run_page(PAGE.replace("# exit code 3", "# all of them"))


def test_what_is_missing_in_the_first_month_is_said(folder):
    """The message about March names the category, the rows and the remedy."""
    blocks = PAGE.split("```bash\nridgeway widen")[0]
    said = run_page(blocks)
    (text,) = (text for line, text in said.items() if " absorb " in line)
    rows = int((pd.read_parquet("flights-2013-03.parquet")["carrier"] == "DL").sum())
    assert "'DL'" in text
    assert str(rows) in text
    assert "ridgeway widen" in text
