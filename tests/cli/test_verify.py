"""The command line: tables, JSON, exit codes, and what it does without its extra."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from research.verify.mutations import mutated
from runner import CliRunner

import ridgeway
from ridgeway import cli
from ridgeway.cli._commands import commands
from ridgeway.errors import MissingPackageError
from ridgeway.research import verify
from ridgeway.research.verify import STATEMENTS, Verdict


@pytest.fixture
def run():
    return lambda *arguments: CliRunner().invoke(commands, ["verify", *arguments])


def test_table(run):
    result = run("oracle", "oracle-proof")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "Lemma (oracle), proof" in result.stdout
    assert "holds as corrected" in result.stdout
    assert "counterexample: σ²=2, e⁽⁰⁾=(1); n=1, γ=(1)" in result.stdout
    assert "All verdicts agree with the recorded ones." in result.stdout


def test_table_of_all_has_no_details(run, monkeypatch):
    monkeypatch.setattr("ridgeway.research.verify._run.STATEMENTS", {"vanilla": STATEMENTS["vanilla"]})
    result = run()
    assert result.exit_code == 0
    assert "holds" in result.stdout
    assert "0 ≤ 0" in result.stdout
    assert "counterexample" not in result.stdout


def test_json(run):
    result = run("oracle", "approx-ratio", "--json", "--seed", "3")
    assert result.exit_code == 0
    one, two = json.loads(result.stdout)
    assert one["verdict"] == "holds"
    assert one["corrected"] is None
    assert two["verdict"] == two["recorded"] == "holds as corrected"
    assert two["printed"]["holds"] is False
    assert two["corrected"]["holds"] is True
    assert two["printed"]["broken"] > 0
    assert one["seconds"] >= 0
    (expected,) = verify.verify(["approx-ratio"], seed=3)
    assert two["counterexample"] == expected.counterexample


def test_unknown_name_is_one_clear_line(run):
    result = run("oracel", "min-norm")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == "ridgeway verify: unknown statement 'oracel'. Did you mean oracle?\n"


def test_differing_verdict_exits_with_1(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setitem(STATEMENTS, "oracle", mutated("oracle", "dropped n_t"))
    result = run("oracle")
    assert result.exit_code == 1
    assert "fails as stated (recorded: holds)" in result.stdout
    assert "differs from the recorded one for: oracle" in result.stdout
    (found,) = json.loads(run("oracle", "--json").stdout)
    assert found["agrees"] is False
    assert Verdict(found["verdict"]) is Verdict.FAILS


def test_the_first_line_says_what_the_exit_status_means(run):
    recorded = "Exit status: 0 if all verdicts are as recorded, else 1."
    assert run("oracle").stdout.splitlines()[0] == recorded
    assert run("oracle", "--against", "recorded").stdout.splitlines()[0] == recorded
    assert run("oracle", "--against", "paper").stdout.splitlines()[0] == (
        "Exit status: 0 if all hold as printed, else 1."
    )
    summary = run("--help").stdout.split("\n\n")
    assert summary[1].strip() == "Test the paper against the recorded verdicts."
    assert summary[2].strip().startswith("Exits with 0 if every verdict is the recorded one")


def test_against_the_paper_a_statement_that_fails_as_printed_exits_with_1(run):
    names = ["oracle", "oracle-proof", "vanilla", "extension-strict", "iteration"]
    assert run(*names).exit_code == 0
    result = run(*names, "--against", "paper")
    assert result.exit_code == 1
    assert "Failing as printed: 3 of 5 statements.\n" in result.stdout
    assert "  holds as corrected: oracle-proof, iteration\n" in result.stdout
    assert "  fails in this reading: extension-strict\n" in result.stdout
    as_json = run("oracle-proof", "--against", "paper", "--json")
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout)[0]["printed"]["holds"] is False


def test_against_the_paper_statements_that_hold_exit_with_0(run, monkeypatch):
    """What is open, or differs from the record, does not count; a printed form that fails does."""
    result = run("oracle", "vanilla", "--against", "paper")
    assert result.exit_code == 0
    assert "None of 2 statements fails as printed." in result.stdout
    statement = replace(STATEMENTS["oracle-proof"], recorded=Verdict.OPEN)
    monkeypatch.setitem(STATEMENTS, "oracle-proof", statement)
    assert run("oracle-proof", "--against", "paper").exit_code == 0
    monkeypatch.setitem(STATEMENTS, "oracle", replace(STATEMENTS["oracle"], recorded=Verdict.CORRECTED))
    assert run("oracle").exit_code == 1
    other = run("oracle", "--against", "paper")
    assert other.exit_code == 0
    assert "differs from the recorded one for: oracle" in other.stdout
    monkeypatch.setitem(STATEMENTS, "vanilla", mutated("vanilla", "equal eigenvalues"))
    assert run("vanilla", "--against", "paper").exit_code == 1


def test_bad_options(run):
    assert run("--budget", "long").exit_code == 2
    assert run("--seed", "-1").exit_code == 2
    assert run("--against", "nature").exit_code == 2


@pytest.mark.parametrize("command", [[], *([name] for name in commands.commands)])
def test_help_has_examples(command):
    result = CliRunner().invoke(commands, [*command, "--help"])
    assert result.exit_code == 0
    assert "Examples:\n" in result.stdout


def test_console_script_and_what_it_imports():
    script = "import sys; sys.argv = ['ridgeway', *sys.argv[1:]]; from ridgeway.cli import main; main()"
    found = subprocess.run([sys.executable, "-c", script, "verify", "order"], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stderr == ""
    assert "All verdicts agree with the recorded ones." in found.stdout


def test_help_waits_for_nothing_heavy():
    script = (
        "import sys\n"
        "from ridgeway.cli import main\n"
        "sys.argv = ['ridgeway', 'verify', '--help']\n"
        "try:\n    main()\n"
        "except SystemExit:\n    print([m for m in ('numpy', 'scipy', 'sklearn') if m in sys.modules])\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout.endswith("[]\n"), found.stdout + found.stderr


def test_library_does_not_import_the_command_line():
    script = "import sys, ridgeway; ridgeway.GeneralizedRidge; print('click' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout == "False\n", found.stderr


def test_without_the_extra_it_names_it(monkeypatch, capsys):
    monkeypatch.setattr("ridgeway._optional.find_spec", lambda package: None)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 2
    assert "click, which is not installed. Run: pip install 'ridgeway[cli]'" in capsys.readouterr().err
    with pytest.raises(MissingPackageError, match="needs there_is_none"):
        ridgeway._optional.require("there_is_none", extra="cli")


def test_lazy_package():
    assert set(ridgeway.__all__) < set(dir(ridgeway))
    assert ridgeway.__version__
    assert all(getattr(ridgeway, name) is not None for name in ridgeway.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = ridgeway.nothing


def test_a_narrow_terminal_keeps_names_and_verdicts_whole(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    output = run("oracle", "extension-strict").output
    assert "extension-strict" in output
    assert "fails in this reading" in output
    assert "instances" in output
    assert max(map(len, output.partition("\n\noracle\n")[0].splitlines())) <= 60
