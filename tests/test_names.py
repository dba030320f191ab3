"""A command's option has the name of the Python parameter, or a reason; docs/names.md has the table."""

import inspect
from pathlib import Path

import pytest

from ridgeway import report, retrospect, store
from ridgeway.cli._commands import commands
from ridgeway.data import CsvFormat
from ridgeway.research import simulation
from ridgeway.research.verify import verify

PAGE = Path(__file__).parents[1] / "docs" / "names.md"

PYTHON = {
    "absorb": {"Store.absorb_table": store.Store.absorb_table},
    "backup": {"Store.backup": store.Store.backup},
    "check": {"Store.check": store.Store.check},
    "compare": {"report.compare": report.compare, "report.write_report": report.write_report},
    "compare-task": {"Store.compare_task": store.Store.compare_task},
    "export": {"Store.export": store.Store.export},
    "history": {"Store.ledger": store.Store.ledger},
    "import": {"store.import_arrays": store.import_arrays},
    "init": {"store.create": store.create, "store.encoding_of": store.encoding_of},
    "merge": {"Store.merge": store.Store.merge},
    "path": {"retrospect.coefficient_path": retrospect.coefficient_path},
    "predict": {"Store.predict_file": store.Store.predict_file},
    "reference": {"Store.change_references": store.Store.change_references},
    "remove": {"Store.remove_table": store.Store.remove_table},
    "reproduce": {"simulation.reproduce": simulation.reproduce},
    "segments": {"retrospect.segments": retrospect.segments},
    "show": {"Store.describe": store.Store.describe},
    "simulate": {"simulation.Setting": simulation.Setting, "simulation.run": simulation.run},
    "summary": {"Store.summary": store.Store.summary},
    "tasks": {"retrospect.tasks": retrospect.tasks, "TaskTable.plot": retrospect.TaskTable.plot},
    "verify": {"verify": verify},
    "widen": {"Store.widen": store.Store.widen},
}
"""What each command calls."""

CSV = ("delimiter", "decimal", "charset")
"""Options of one parameter, `csv`: they are the fields of `CsvFormat`."""

REASONS = {
    ("absorb", "--patience"): "`patience` of `distributed.absorb`",
    ("absorb", "--scheduler"): "`distributed.absorb`, with the client of `distributed.remote_client`",
    ("absorb", "--stop-on-error"): "several files are a loop in Python",
    ("absorb", "--task"): "`task_id`",
    ("absorb", "--task-from-name"): "`task_id=path.stem`",
    ("absorb", "--workers"): "`distributed.absorb`, with the client of `distributed.local_client`",
    ("check", "--restore-previous"): "`store.restore_previous`",
    ("compare", "--scheduler"): "`workers=distributed.DaskWorkers(…)`",
    ("init", "--from"): "`table`, because `from` is a keyword",
    ("init", "--no-intercept"): "`fit_intercept=False`",
    ("init", "--reference"): "`references`, one entry each",
    ("path", "--plot"): "a figure of your own, of `coef` and `intervals`",
    ("path", "--terms"): "the columns of `coef`, by `terms`",
    ("predict", "--id"): "`ids`",
    ("remove", "--task"): "`task_id`",
    ("reproduce", "--scheduler"): "`workers=distributed.DaskWorkers(…)`",
    ("segments", "--plot"): "a figure of your own, of `coef` and `standard_errors`",
    ("segments", "--terms"): "the columns of `coef`, by `terms`",
    ("simulate", "--plot"): "`simulation.figures`",
    ("simulate", "--scheduler"): "`workers=distributed.DaskWorkers(…)`",
    ("summary", "--errors"): "`retrospect.clustered` or `retrospect.heteroscedastic`, its `kind`",
    ("tasks", "--plot"): "a file for the figure of `TaskTable.plot`",
    ("verify", "--against"): "`StatementResult.agrees`, or its `printed.holds`",
    ("verify", "--scheduler"): "`workers=distributed.DaskWorkers(…)`",
    ("widen", "--category"): "`categories`, one entry each",
    ("widen", "--feature"): "`features`, one entry",
    ("widen", "--past-value"): "the value of that entry",
    ("widen", "--target"): "`targets`, one entry",
}
"""Options without a parameter of the same name."""


def options_of(command):
    """Return the options of a command, except --json, which all have."""
    return sorted({param.opts[0] for param in command.params if param.param_type_name == "option"} - {"--json"})


def unmatched(command):
    """Return the options whose names are not those of a parameter."""
    known = {name for call in PYTHON[command.name].values() for name in inspect.signature(call).parameters}
    known |= {*CSV} if "csv" in known else set()
    return [option for option in options_of(command) if option[2:].replace("-", "_") not in known]


def table():
    """Yield the rows of the page."""
    for name, command in sorted(commands.commands.items()):
        others = {option: why for (of, option), why in REASONS.items() if of == name}
        same = ", ".join(f"`{option}`" for option in options_of(command) if option not in others)
        calls = ", ".join(f"`{call}`" for call in PYTHON[name])
        yield f"| `{name}` | {calls} | {same} | {'; '.join(f'`{option}`: {why}' for option, why in others.items())} |"


@pytest.mark.parametrize("name", sorted(commands.commands))
def test_an_option_has_the_name_of_a_parameter_or_a_reason(name):
    assert unmatched(commands.commands[name]) == [option for of, option in REASONS if of == name]


def test_the_format_of_csv_files_has_the_same_names():
    assert tuple(inspect.signature(CsvFormat).parameters) == CSV


def test_the_page_has_the_table():
    rows = list(table())
    assert len(rows) == len(PYTHON)
    text = PAGE.read_text(encoding="utf-8")
    assert [row for row in rows if row not in text.splitlines()] == []


def test_another_name_is_noticed(monkeypatch):
    """The control: one option with its old name."""
    params = commands.commands["simulate"].params
    option = next(param for param in params if param.name == "averaging")
    monkeypatch.setattr(option, "opts", ["--average"])
    assert unmatched(commands.commands["simulate"]) == ["--average", "--plot", "--scheduler"]
    assert [row for row in table() if "`--averaging`" in row] == []
