"""`ridgeway simulate` and `reproduce`: what they print, what they write, and how they refuse."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from runner import CliRunner

from ridgeway import catalogue
from ridgeway.cli._commands import commands
from ridgeway.research import simulation
from ridgeway.research.simulation import Results, Setting

SMALL = [
    "--n-tasks",
    "3",
    "--n-samples",
    "5",
    "--n-features",
    "8",
    "--methods",
    "mn,gr,oracle",
    "--repetitions",
    "4",
    "--workers",
    "1",
]


def invoke(*arguments):
    return CliRunner().invoke(commands, [str(argument) for argument in arguments])


def simulate(folder, *options):
    return invoke("simulate", *SMALL, "--out", folder, *options)


def test_simulate_writes_and_summarises(tmp_path):
    result = simulate(tmp_path / "run", "--seed", "7")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    expected = simulation.run(Setting(3, 5, 8), "mn,gr,oracle", 4, seed=7)
    found = Results.load(tmp_path / "run")
    np.testing.assert_array_equal(found.errors, expected.errors)
    assert "Mean error over 4 repetitions" in result.stdout
    assert f"{expected.of('mn')[:, -1].mean():.4g} (" in result.stdout
    rows = json.loads(simulate(tmp_path / "again", "--seed", "7", "--json").stdout)
    assert [row["task"] for row in rows if row["method"] == "mn"] == [1, 2, 3]
    assert rows[2]["mean_error"] == expected.of("mn")[:, -1].mean()


def test_one_repetition_has_no_standard_error(tmp_path):
    result = simulate(tmp_path / "one", "--repetitions", "1")
    assert result.exit_code == 0, result.output
    assert "Error, one repetition" in result.stdout
    assert "nan" not in result.stdout
    assert "(" not in result.stdout


def test_every_option_reaches_the_setting(tmp_path):
    np.save(tmp_path / "sigma.npy", np.linspace(1.0, 2.0, 8))
    result = simulate(
        tmp_path / "run", "--n-samples", "4,9,20", "--noise-variance", "1,5", "--covariance", tmp_path / "sigma.npy",
        "--rotate", "--signal", "sparse:2", "--distance", "0.5", "--order", "1,1,2", "--statistics",
        "--averaging", "drawn",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    found = Results.load(tmp_path / "run").description
    assert found.averaging == "drawn"
    assert found.setting == Setting(
        3, [4, 9, 20], 8, [1.0, 5.0], covariance=np.linspace(1.0, 2.0, 8), rotate=True, signal="sparse:2",
        distance=0.5, order=(1, 1, 2), statistics=True,
    )  # fmt: skip
    assert simulate(tmp_path / "two", "--shift", "paper", "--noise", "t:4", "--order", "repeated:2").exit_code == 0
    assert Results.load(tmp_path / "two").description.setting == Setting(
        3, 5, 8, shift="paper", noise="t:4", order="repeated:2"
    )


SETTING = """
n_tasks = 3
n_samples = [4, 9, 20]
n_features = 8
noise = "t:4"
rotate = true
methods = ["mn", "gr"]
repetitions = 2
workers = 1
"""


def test_options_from_a_file(tmp_path):
    file = tmp_path / "setting.toml"
    file.write_text(SETTING)
    result = invoke("simulate", file, "--noise", "laplace", "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    found = Results.load(tmp_path / "run").description
    assert found.setting == Setting(3, [4, 9, 20], 8, rotate=True, noise="laplace")
    assert (found.methods, found.repetitions) == (("mn", "gr"), 2)


@pytest.mark.parametrize(
    ("text", "message"),
    {
        "n_task = 3": "has an unknown key, 'n_task'",
        "n_tasks = ": "cannot be read: Invalid value",
        "n_tasks = 'many'": "'many' is not a valid integer",
        None: "cannot be read: [Errno 2]",
    }.items(),
)
def test_files_of_options_that_are_refused(tmp_path, text, message):
    if text is not None:
        (tmp_path / "setting.toml").write_text(text)
    result = invoke("simulate", tmp_path / "setting.toml", "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "run").exists()


@pytest.fixture
def place(tmp_path):
    """A folder with a covariance that is none, something else, a file, and a run."""
    np.save(tmp_path / "negative.npy", np.diag([1.0] * 7 + [-1.0]))
    (tmp_path / "text.npy").write_text("no array")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letters.txt").touch()
    (tmp_path / "file").touch()
    assert simulate(tmp_path / "run").exit_code == 0
    return tmp_path


BAD = {
    "no tasks": (["--n-tasks", "0"], "n_tasks must be an integer ≥ 1; got 0."),
    "negative noise": (["--noise-variance", "-1"], "noise_variance must be a finite number ≥ 0; got -1.0."),
    "no number": (
        ["--noise-variance", "loud"],
        "--noise-variance must be a number, or numbers separated by commas; got 'loud'.",
    ),
    "unknown method": (["--methods", "gr,oracel"], "unknown method 'oracel'. Did you mean oracle?"),
    "not PSD": (["--covariance", "{}/negative.npy"], "the covariance is not positive semidefinite"),
    "no array": (["--covariance", "{}/text.npy"], "is not an array in NumPy's .npy format. Write it with numpy.save."),
    "no file": (["--covariance", "{}/none.npy"], "No such file or directory"),
    "unknown shift": (["--shift", "left"], "shift must be one of none, paper, scaled; got 'left'."),
    "a run already": (["--out", "{}/run"], "run already contains directions.parquet. Choose a new or empty folder."),
    "something else": (["--out", "{}/other"], "other already contains letters.txt. Choose a new or empty folder."),
    "a file": (["--out", "{}/file"], "file: Not a directory. Choose another folder."),
    "unwritable": (["--out", "{}/file/below"], "Not a directory"),
    "no name": (["--out", ""], "the name of the folder is empty"),
    "no workers": (["--workers", "0"], "--workers must be 1 or more, or -1 for one per core; got 0."),
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_one_clear_line_and_writes_nothing(place, words):
    options, message = BAD[words]
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    result = simulate(place / "new", *(option.format(place) for option in options))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("ridgeway simulate: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before


def test_plot(tmp_path):
    result = simulate(tmp_path / "run", "--plot")
    assert result.exit_code == 0, result.output
    names = {f"{name}.{kind}" for name in ("error", "forgetting", "directions") for kind in ("png", "svg")}
    assert names < {entry.name for entry in (tmp_path / "run").iterdir()}
    assert {Path(line).name for line in result.stdout.splitlines()[-6:]} == names
    plain = simulate(tmp_path / "plain", "--json")
    assert simulate(tmp_path / "json", "--plot", "--json").stdout == plain.stdout
    assert names < {entry.name for entry in (tmp_path / "json").iterdir()}
    assert not list((tmp_path / "plain").glob("*.svg"))


def test_plot_of_a_single_task_and_drawn_noise(tmp_path):
    assert simulate(tmp_path / "run", "--n-tasks", "1", "--averaging", "drawn", "--plot").exit_code == 0
    assert (tmp_path / "run" / "error.svg").exists()
    assert not (tmp_path / "run" / "forgetting.svg").exists()


def test_without_matplotlib_nothing_is_run(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = simulate(tmp_path / "run", "--plot")
    assert result.exit_code == 2
    assert "matplotlib" in result.stderr
    assert not (tmp_path / "run").exists()


def test_reproduce_refuses(place):
    for options, message in (
        (["--out", place / "other"], "already contains letters.txt"),
        (["--out", place / "new", "--repetitions", "1"], "an integer ≥ 2"),
        (["--out", place / "new", "--workers", "0"], "--workers must be 1 or more"),
    ):
        result = invoke("reproduce", *options)
        assert result.exit_code == 2
        assert message in result.stderr
    assert not (place / "new").exists()


def test_reproduce_prints_verdicts(tmp_path, monkeypatch):
    monkeypatch.setattr("ridgeway.research.simulation._reproduction.REPRODUCED", _few())
    result = invoke("reproduce", "--out", tmp_path / "r", "--repetitions", "2", "--workers", "2")
    assert result.exit_code == 0, result.output
    assert "depends on the unstated" in result.stdout
    assert "Written to" in result.stdout
    again = invoke("reproduce", "--out", tmp_path / "again", "--repetitions", "2", "--workers", "2", "--json")
    assert {"figure", "claim", "verdict"} == set(json.loads(again.stdout)[0])


def _few():
    from ridgeway.research.simulation import REPRODUCED

    return tuple(method for method in REPRODUCED if method not in ("es", "gr:diagonal"))


def test_ctrl_c_ends_a_run_on_two_workers(tmp_path):
    script = (
        "import signal, sys; from ridgeway.cli import main; sys.argv[0] = 'ridgeway'\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it\n"
        "main()"
    )
    options = ["simulate", "--n-tasks", "20", "--n-samples", "60", "--n-features", "80", "--repetitions", "4000"]
    options += ["--methods", "mn,gr", "--workers", "2", "--out", str(tmp_path / "run")]
    process = subprocess.Popen(
        [sys.executable, "-c", script, *options], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "run").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(2.0)  # the workers are starting, or at work
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert errors == "ridgeway simulate: interrupted. Run it again.\n"
    assert not list((tmp_path / "run").iterdir())


@pytest.mark.parametrize("command", ["simulate", "reproduce"])
def test_help_has_examples_and_waits_for_nothing(command):
    script = (
        "import sys\n"
        "from ridgeway.cli import main\n"
        f"sys.argv = ['ridgeway', {command!r}, '--help']\n"
        "try:\n    main()\n"
        "except SystemExit:\n    print([m for m in ('numpy', 'sklearn', 'joblib') if m in sys.modules])\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "Examples:\n" in found.stdout
    assert found.stdout.endswith("[]\n"), found.stdout + found.stderr


def test_help_lists_every_kind_of_method():
    text = invoke("simulate", "--help").stdout
    assert simulation.Setting().n_tasks == 20  # the import that registers its methods
    for name in catalogue.known():
        assert name in text or name in ("sgd", "river")
