"""The same numbers on any number of workers, and a folder with all of them or none."""

import os
import resource
import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from ridgeway import MinimumNorm, catalogue
from ridgeway.catalogue import _registry
from ridgeway.errors import InvalidParameterError, RunFolderError
from ridgeway.research import simulation
from ridgeway.research.simulation import PooledMethod, Results, Setting, Update

SMALL = Setting(3, 5, 8, (1.0, 2.0))
NAMES = "mn,crr:best,gr,oracle"
SIMULATED = [name for name in catalogue.known() if name not in ("sgd", "river")]


def same(one, two):
    """Bitwise."""
    return all(
        getattr(one, name).tobytes() == getattr(two, name).tobytes()
        for name in ("errors", "direction_errors", "information")
    )


@pytest.fixture(scope="module")
def reference():
    return simulation.run(SMALL, NAMES, 9, seed=4)


@pytest.mark.parametrize("averaging", ["exact", "drawn"])
def test_one_worker_and_two_are_bitwise_the_same(averaging):
    setting = Setting(4, [30, 60, 90, 120], 60, (1.0, 5.0), shift="paper", rotate=True)
    names = [*SIMULATED, "crr:1/2/3/4", "es:5", "gr:2"]
    if averaging == "exact":
        names.remove("gr:evidence")
    one, two = (simulation.run(setting, names, 5, seed=2, workers=count, averaging=averaging) for count in (1, 2))
    assert same(one, two)
    other = simulation.run(setting, names, 5, seed=3, averaging=averaging)
    assert not same(one, other)


def test_more_repetitions_begin_with_the_same(reference):
    more = simulation.run(SMALL, NAMES, 12, seed=4)
    np.testing.assert_array_equal(more.errors[:9], reference.errors)


def test_folder(tmp_path, reference):
    seen = []
    found = simulation.run(SMALL, NAMES, 9, seed=4, out=tmp_path / "a" / "b", progress=lambda *now: seen.append(now))
    assert same(found, reference)
    assert seen[0] == (0, 9)
    assert seen[-1] == (9, 9)
    assert seen == sorted(seen)
    assert sorted(entry.name for entry in (tmp_path / "a" / "b").iterdir()) == [
        "directions.parquet", "results.parquet",
    ]  # fmt: skip
    assert same(Results.load(tmp_path / "a" / "b"), reference)


def test_an_interrupted_run_leaves_an_empty_folder_which_the_next_one_fills(tmp_path, reference):
    def stop(done, total):
        if done >= 4:
            raise KeyboardInterrupt

    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        simulation.run(SMALL, NAMES, 9, seed=4, out=folder, progress=stop)
    assert not list(folder.iterdir())
    assert same(simulation.run(SMALL, NAMES, 9, seed=4, out=folder), reference)
    assert same(Results.load(folder), reference)


def test_folders_that_will_not_do(tmp_path, monkeypatch):
    def run(folder):
        return simulation.run(SMALL, "gr", 2, out=folder)

    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(RunFolderError, match=r"other already contains thesis\.tex\. Choose a new or empty folder"):
        run(tmp_path / "other")
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match=r"cannot write to .*file: Not a directory\. Choose another"):
        run(tmp_path / "file")
    with pytest.raises(RunFolderError, match="Not a directory"):
        run(tmp_path / "file" / "below")
    run(tmp_path / "run")
    with pytest.raises(RunFolderError, match=r"run already contains directions\.parquet"):
        run(tmp_path / "run")
    monkeypatch.setattr("ridgeway.research.simulation._folder.tempfile.TemporaryFile", _full)
    monkeypatch.setattr("ridgeway.research.simulation._runner._repetition", None)  # nothing runs
    with pytest.raises(RunFolderError, match=r"cannot write to .*deep: No space left on device"):
        run(tmp_path / "new" / "deep")


def _full(**options):
    raise OSError(28, "No space left on device")


def test_a_disk_that_fills_up_is_explained(tmp_path):
    """With a real limit on the size of files, in a process of its own."""
    script = (
        "import sys; from ridgeway.cli import main;"
        "sys.argv = ['ridgeway', 'simulate', '--n-tasks', '3', '--n-samples', '5', '--n-features', '8',"
        f"'--noise-variance', '1,2', '--methods', {NAMES!r}, '--repetitions', '9', '--seed', '4', '--workers', '1',"
        f"'--out', {str(tmp_path / 'run')!r}]; main()"
    )

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

    found = subprocess.run(
        [sys.executable, "-B", "-c", script],
        capture_output=True, text=True, preexec_fn=limit,
        env=os.environ | {"COVERAGE_PROCESS_START": "", "COVERAGE_PROCESS_CONFIG": ""},
    )  # fmt: skip
    assert found.returncode == 2, found.stderr
    assert found.stderr.count("\n") == 1
    assert "File too large. Choose another folder." in found.stderr
    assert not list((tmp_path / "run").iterdir())


def ridge(name, prior):
    """Generalized ridge with a prior, as a form."""

    def applied(task, noise_variance):
        return lambda gradient: task.pooled_solve(prior, gradient)

    return Update(name, applied)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("averaging", ["exact", "drawn"])
def test_forms_are_passed_or_registered_and_go_to_the_workers(monkeypatch, averaging, workers):
    monkeypatch.setattr(_registry, "ENTRIES", dict(_registry.ENTRIES))
    catalogue.register("named", ridge("any", 2.0))
    methods = ["gr:2", ridge("passed", 2.0), "named", "gr"]
    found = simulation.run(SMALL, methods, 3, workers=workers, averaging=averaging)
    assert found.description.methods == ("gr:2", "passed", "named", "gr")
    for name in ("passed", "named"):
        np.testing.assert_array_equal(found.of(name), found.of("gr:2"))
    assert not np.allclose(found.of("named"), found.of("gr"))


def test_what_cannot_be_simulated_is_explained():
    for method in ("sgd", LinearRegression().fit, 3.0, MinimumNorm):
        with pytest.raises(InvalidParameterError, match=r"cannot be simulated|cannot use .* as a method"):
            simulation.run(SMALL, [method], 2)


def test_nonlinear_methods_are_drawn_only():
    """Ridge with a prior from the size of the targets."""

    def estimate(task, mix):
        prior = float(mix[:, 0] @ task.pooled.squares @ mix[:, 0]) / task.pooled.n_samples
        return task.pooled_solve(prior, task.pooled.moment @ mix)

    mine = PooledMethod("mine", estimate, uses_noise=True)
    found = simulation.run(SMALL, ["gr", mine], 3, averaging="drawn")
    assert not np.allclose(found.of("mine"), found.of("gr"))
    with pytest.raises(InvalidParameterError, match="mine: not linear in the targets"):
        simulation.run(SMALL, ["gr", mine], 3)
    assert simulation.expectation(found, methods=["gr", mine]).description.methods == ("gr",)
    assert simulation.expectation(found, methods=[mine]) is None


def test_expected_errors_are_never_negative():
    """Without noise they are 0 after a few tasks, and rounding goes both ways."""
    found = simulation.run(Setting(3, 5, 2, noise_variance=0.0), "mn,crr:best,es,gr,oracle", repetitions=4)
    assert found.errors.min() == 0.0
    assert found.direction_errors.min() >= 0.0


BAD = {
    "unknown method 'grr:best'. Did you mean crr:best": {"methods": "grr:best"},
    "unknown method ''": {"methods": ""},
    "each one once; got gr, gr": {"methods": ["gr", "gr"]},
    "at least one method": {"methods": []},
    "has 2 penalties; pass one, or one per task, 3": {"methods": "crr:1/2"},
    "method 'crr:-1' needs numbers": {"methods": "crr:-1"},
    "method 'crr:bset' needs numbers": {"methods": "crr:bset"},
    "method 'es:0' needs a number": {"methods": "es:0"},
    "gr:evidence needs two rows in the first task": {
        "setting": Setting(n_tasks=2, n_samples=[1, 5], n_features=3),
        "methods": "gr,gr:evidence",
        "averaging": "drawn",
    },
    "repetitions must be": {"repetitions": 0},
    "seed must be": {"seed": -1},
    "workers must be": {"workers": 0},
    "averaging must be one of exact, drawn": {"averaging": "both"},
    "setting must be a simulation.Setting": {"setting": "paper"},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_runs_write_nothing(tmp_path, message):
    with pytest.raises(InvalidParameterError, match=message):
        simulation.run(**({"setting": SMALL, "methods": "gr"} | BAD[message]), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
