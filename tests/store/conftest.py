"""State files to test, and what must not change them."""

import pandas as pd
import pytest
from runner import CliRunner

from ridgeway import store
from ridgeway.cli._commands import commands

FEATURES = ["age", "tenure"]


@pytest.fixture(params=["square_root", "moments"])
def kind(request):
    return request.param


@pytest.fixture
def made(tmp_path, kind):
    return store.create(tmp_path / "made.rw", features=["a", "b", "c"], target="y", information=kind)


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(40, 3)), columns=["age", "tenure", "wage"])


@pytest.fixture
def wages(tmp_path, frame):
    made = store.create(tmp_path / "wages.rw", features=FEATURES, target="wage")
    made.absorb("first", frame[FEATURES], frame["wage"])
    return made


@pytest.fixture
def refused(wages, tmp_path):
    """Absorb a data file in Python and by the command: the same error, one line, exit code 2, nothing changed."""

    def check(path, error, match, **options):
        before = wages.path.read_bytes()
        options = options or {"task_id": "new"}
        with pytest.raises(error, match=match) as caught:
            wages.absorb_table(path, **options)
        names = {"task_id": "--task", "task_column": "--task-column"}
        flags = [word for name, value in options.items() for word in (names[name], value)]
        done = CliRunner().invoke(commands, ["absorb", str(wages.path), str(path), *flags])
        assert done.exit_code == 2
        assert done.stdout == ""
        assert done.stderr == f"ridgeway absorb: {' '.join(str(caught.value).split())}\n"
        assert wages.path.read_bytes() == before
        assert not list(tmp_path.glob("*-journal"))

    return check
