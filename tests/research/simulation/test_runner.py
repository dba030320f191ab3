"""The same numbers on any number of workers, and after any interruption."""

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
from ridgeway.research.simulation import PooledMethod, Results, Setting, Update, _runner

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
        "directions.parquet", "results.parquet", "run.json",
    ]  # fmt: skip
    assert same(Results.load(tmp_path / "a" / "b"), reference)


def interrupted(tmp_path, after):
    """A run that stopped after some of its batches."""

    def stop(done, total):
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulation.run(SMALL, NAMES, 9, seed=4, out=tmp_path / "run", progress=stop)
    return tmp_path / "run"


def test_resume_does_only_what_is_missing(tmp_path, reference, monkeypatch):
    folder = interrupted(tmp_path, after=4)
    assert len(list((folder / "parts").iterdir())) == 2
    (folder / "parts" / "000001.npz").write_bytes(b"torn")
    (folder / ".ridgeway-results.parquet").write_bytes(b"left by a kill")
    done = []
    original = _runner._batch
    monkeypatch.setattr(_runner, "_batch", lambda *given: done.append(given[-1]) or original(*given))
    found = simulation.run(SMALL, NAMES, 9, seed=4, out=folder, resume=True)
    assert same(found, reference)
    assert done == [1, 2, 3, 4]
    assert sorted(entry.name for entry in folder.iterdir()) == ["directions.parquet", "results.parquet", "run.json"]
    done.clear()
    (folder / "parts").mkdir()
    assert same(simulation.run(SMALL, NAMES, 9, seed=4, out=folder, resume=True), reference)
    assert not done
    assert not (folder / "parts").exists()


def test_resume_of_a_folder_that_is_not_there_begins(tmp_path, reference):
    assert same(simulation.run(SMALL, NAMES, 9, seed=4, out=tmp_path / "new", resume=True), reference)


OTHERS = {
    "seed was 4 and is now 5": {"seed": 5},
    "repetitions was 9 and is now 8": {"repetitions": 8},
    "averaging was 'exact' and is now 'drawn'": {"averaging": "drawn"},
    "methods was": {"methods": "mn"},
    "shift was 'none' and is now 'paper'": {"setting": Setting(3, 5, 8, (1.0, 2.0), shift="paper")},
    r"covariance\. Use the old": {"setting": Setting(3, 5, 8, (1.0, 2.0), covariance=np.ones(8))},
}


@pytest.mark.parametrize("message", OTHERS)
def test_resume_into_another_setting_is_refused(tmp_path, message):
    folder = interrupted(tmp_path, after=4)
    before = sorted(folder.rglob("*"))
    given = {"setting": SMALL, "methods": NAMES, "repetitions": 9, "seed": 4} | OTHERS[message]
    with pytest.raises(RunFolderError, match=message):
        simulation.run(**given, out=folder, resume=True)
    assert sorted(folder.rglob("*")) == before


def test_folders_that_will_not_do(tmp_path, monkeypatch):
    def run(folder, **options):
        return simulation.run(SMALL, "gr", 2, out=folder, **options)

    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    for options in ({}, {"resume": True}):
        with pytest.raises(RunFolderError, match=r"contains something else \(thesis.tex\)"):
            run(tmp_path / "other", **options)
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match="cannot be used as a folder: Not a directory"):
        run(tmp_path / "file")
    with pytest.raises(RunFolderError, match="Not a directory"):
        run(tmp_path / "file" / "below")
    run(tmp_path / "run")
    with pytest.raises(RunFolderError, match=r"already contains a run\. Continue it with --resume"):
        run(tmp_path / "run")
    (tmp_path / "run" / "run.json").write_text("{")
    with pytest.raises(RunFolderError, match="cannot be read"):
        run(tmp_path / "run", resume=True)
    monkeypatch.setattr("ridgeway.research.simulation._folder.atomic_file", _full)
    with pytest.raises(RunFolderError, match=r"cannot write to .*deep: No space left on device"):
        run(tmp_path / "new" / "deep")
    assert not (tmp_path / "new").exists()


def _full(path):
    raise OSError(28, "No space left on device")


def test_a_disk_that_fills_up_keeps_what_is_done(tmp_path, reference):
    """With a real limit on the size of files, in a process of its own: the tables do not fit, the batches do."""
    script = (
        "import sys; from ridgeway.cli import main;"
        "sys.argv = ['ridgeway', 'simulate', '--n-tasks', '3', '--n-samples', '5', '--n-features', '8',"
        f"'--noise-variance', '1,2', '--methods', {NAMES!r}, '--repetitions', '9', '--seed', '4', '--workers', '1',"
        "'--resume',"
        f"'--out', {str(tmp_path / 'run')!r}]; main()"
    )

    def limited(most):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        return subprocess.run(
            [sys.executable, "-B", "-c", script],
            capture_output=True, text=True, preexec_fn=limit,
            env=os.environ | {"COVERAGE_PROCESS_START": "", "COVERAGE_PROCESS_CONFIG": ""},
        )  # fmt: skip

    found = limited(4000)
    assert found.returncode == 2, found.stderr
    assert found.stderr.count("\n") == 1
    assert "File too large. Finished batches are kept: continue with --resume." in found.stderr
    names = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert names == ["parts", "run.json"]
    assert same(simulation.run(SMALL, NAMES, 9, seed=4, out=tmp_path / "run", resume=True), reference)


def test_killed_at_random_moments(tmp_path, reference, rng):
    """SIGKILL, up to three times; the tables are bitwise those of a run without. `kill.py` does it twenty times."""
    from research.simulation.kill import killed_and_resumed

    arguments = [
        "--n-tasks",
        "3",
        "--n-samples",
        "5",
        "--n-features",
        "8",
        "--noise-variance",
        "1,2",
        "--methods",
        NAMES,
    ]
    arguments += ["--repetitions", "9", "--seed", "4", "--workers", "2"]
    kills = killed_and_resumed(tmp_path / "run", arguments, delays=[0.3, *rng.uniform(1.0, 2.5, 2)])
    assert kills >= 1
    assert same(Results.load(tmp_path / "run"), reference)


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
