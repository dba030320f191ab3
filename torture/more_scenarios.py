"""Calls on stores with other settings, on data files, and by the command."""

import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np

from ridgeway import store
from ridgeway.cli import _commands
from ridgeway.errors import RidgewayError, UncertainStoreError
from torture.scenarios import Scenario, filled
from torture.tasks import FEATURES, TARGET, name, rows

HOURS, WEIGHT, TASK = "hours", "weight", "task"
"""Another target, the weights, and the ids of tasks."""


class RefusedError(RidgewayError):
    """The command ended with an exit code."""


def table(path: Path, numbers: range, *more: str) -> None:
    """Write the rows of tasks to a CSV file, with more columns: another target, weights, the ids of the tasks."""
    lines = [",".join([*FEATURES, TARGET, *more])]
    for number in numbers:
        X, y = rows(number)
        others = {HOURS: y - X[:, 0], WEIGHT: 1.0 + np.arange(len(y)) % 3, TASK: [name(number)] * len(y)}
        columns = [*X.T.tolist(), y.tolist(), *(np.asarray(others[column]).tolist() for column in more)]
        lines += [",".join(map(str, line)) for line in zip(*columns, strict=True)]
    path.write_text("\n".join(lines) + "\n")


def _one(folder: Path) -> None:
    filled(folder / "a.rw", range(3))
    table(folder / "new.csv", range(4, 5))
    table(folder / "both.csv", range(4, 6), TASK)
    table(folder / "old.csv", range(1, 2))


def _other_settings(folder: Path) -> None:
    """Make a store of moments, with a prior, weights and two targets, that has absorbed tasks."""
    made = store.create(
        folder / "a.rw",
        features=FEATURES,
        target=[TARGET, HOURS],
        weight_column=WEIGHT,
        prior=0.5,
        information="moments",
    )
    for number in range(3):
        table(folder / "old.csv", range(number, number + 1), HOURS, WEIGHT)
        made.absorb_table(folder / "old.csv", task_id=name(number))
    table(folder / "new.csv", range(4, 5), HOURS, WEIGHT)
    table(folder / "old.csv", range(1, 2), HOURS, WEIGHT)


def _absorb_table(folder: Path) -> None:
    store.open(folder / "a.rw").absorb_table(folder / "new.csv", task_id=name(4))


def _by_column(folder: Path) -> None:
    store.open(folder / "a.rw").absorb_table(folder / "both.csv", task_column=TASK)


def _remove_table(folder: Path) -> None:
    store.open(folder / "a.rw").remove_table(folder / "old.csv", task_id=name(1))


def _exported(folder: Path) -> None:
    filled(folder / "a.rw", range(3)).export(folder / "a.safetensors")


def command(*arguments: str) -> Callable[[Path], None]:
    """Return a call of the command; names with a dot are files of the folder."""

    def operate(folder: Path) -> None:
        given = [str(folder / argument) if "." in argument else argument for argument in arguments]
        said = io.StringIO()
        try:
            with redirect_stdout(said), redirect_stderr(said):
                _commands.commands.main(given, prog_name="ridgeway")
        except SystemExit as end:
            if "it is not known whether" in said.getvalue():
                raise UncertainStoreError(said.getvalue()) from None
            if end.code:
                raise RefusedError(f"exit code {end.code}: {said.getvalue()}") from None

    return operate


ABSORB = ("absorb", "a.rw", "new.csv", "--task", name(4))
MORE_SCENARIOS = (
    Scenario("absorb a file", _one, _absorb_table),
    Scenario("absorb by column", _one, _by_column),
    Scenario("remove a file", _one, _remove_table),
    Scenario("absorb, other settings", _other_settings, _absorb_table),
    Scenario("remove, other settings", _other_settings, _remove_table),
    Scenario("init (command)", _one, command("init", "b.rw", "--features", ",".join(FEATURES), "--target", TARGET)),
    Scenario("absorb (command)", _one, command(*ABSORB)),
    Scenario("remove (command)", _one, command("remove", "a.rw", "old.csv", "--task", name(1))),
    Scenario("export (command)", _one, command("export", "a.rw", "out.safetensors")),
    Scenario("import (command)", _exported, command("import", "a.safetensors", "b.rw")),
    Scenario("predict (command)", _one, command("predict", "a.rw", "new.csv", "--out", "predicted.csv")),
    Scenario("check (command)", _one, command("check", "a.rw")),
)
"""The first five learn from files; the rest is what a user types."""
