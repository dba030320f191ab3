"""One process, two processes, a Dask cluster: the same bits, and errors that name the piece of work."""

import json
import os
import signal
import time
from argparse import Namespace

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster
from runner import CliRunner

from benchmarks.retrospect import covered
from benchmarks.sweep import sweep
from ridgeway import datasets, report
from ridgeway.cli._commands import commands
from ridgeway.distributed import DaskWorkers, Executor, Processes, executor_of
from ridgeway.distributed._local import QUIET
from ridgeway.errors import InvalidDataError, InvalidParameterError, MissingPackageError, WorkError
from ridgeway.research import simulation, verify
from ridgeway.research.simulation import Results, Setting, Update

SMALL = Setting(3, 5, 8, (1.0, 2.0), shift="paper")
METHODS = "mn,crr:best,gr,oracle"
STATEMENTS = ["forgetting", "ridge", "same-order", "heterogeneity"]


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two worker processes, on loopback."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(2, threads_per_worker=1, host="127.0.0.1", **QUIET) as started,
    ):
        yield started.scheduler_address


@pytest.fixture(scope="module")
def dask_workers(cluster):
    with DaskWorkers(cluster) as opened:
        yield opened


@pytest.fixture(params=["one", "two", "dask"])
def executor(request):
    """Every executor in turn; a test that needs no cluster does not start one."""
    numbers = {"one": 1, "two": 2}
    return Processes(numbers[request.param]) if request.param in numbers else request.getfixturevalue("dask_workers")


def bits(found):
    """The bytes of the tables of a simulation."""
    return [getattr(found, name).tobytes() for name in ("errors", "direction_errors", "information")]


def evidence(results):
    """All that was found about statements, except the time."""
    return [{**result.as_dict(), "seconds": None} for result in results]


def test_simulations_are_bitwise_the_same(executor, tmp_path):
    found = simulation.run(SMALL, METHODS, 5, seed=4, workers=executor, averaging="drawn", out=tmp_path / "run")
    expected = simulation.run(SMALL, METHODS, 5, seed=4, averaging="drawn")
    assert bits(found) == bits(Results.load(tmp_path / "run")) == bits(expected)
    assert bits(found) != bits(simulation.run(SMALL, METHODS, 5, seed=5, averaging="drawn"))


def test_penalties_are_searched_on_every_executor(executor, monkeypatch):
    monkeypatch.setattr("ridgeway.research.simulation._runner._BEST", {})
    found = simulation.run(SMALL, "crr:best", 2, seed=6, workers=executor)
    monkeypatch.setattr("ridgeway.research.simulation._runner._BEST", {})
    assert bits(found) == bits(simulation.run(SMALL, "crr:best", 2, seed=6))


def test_statements_are_judged_the_same(executor):
    expected = evidence(verify.verify(STATEMENTS, seed=3))
    assert evidence(verify.verify(STATEMENTS, seed=3, workers=executor)) == expected
    assert evidence(verify.verify(STATEMENTS, seed=4, workers=executor)) != expected


def test_comparisons_are_the_same(executor, monkeypatch):
    monkeypatch.setattr("ridgeway.report._method_runs.N_CONTROLS", 2)
    one, two = (
        report.compare(datasets.load_penguins(), methods=["mn", "crr", "gr"], workers=workers)
        for workers in (1, executor)
    )
    for name in ("mn", "crr", "gr", "oracle"):
        for field in ("losses", "order_losses", "order_forgetting", "controls", "pooled_forgetting"):
            np.testing.assert_array_equal(getattr(two[name], field), getattr(one[name], field))
    assert len(one["mn"].controls) == 2
    assert not np.array_equal(one["mn"].controls, one["crr"].controls)


def test_every_item_has_its_result(executor):
    items = {f"item {number}": number for number in range(30)}
    assert dict(executor.as_finished(lambda item: np.full(2, item).tolist(), items)) == {
        name: [number, number] for name, number in items.items()
    }
    assert list(executor.map(lambda item: item + 1, items)) == list(range(1, 31))
    assert list(executor.map(abs, {})) == []


class Shuffled(Executor):
    """Finishes in another order, and says what it did."""

    def __init__(self, order):
        self.order, self.finished = order, []

    def as_finished(self, function, items):
        for place in self.order:
            name = list(items)[place]
            self.finished.append(name)
            yield name, function(items[name])


def test_results_come_in_the_order_of_the_items_as_soon_as_they_can():
    shuffled = Shuffled([1, 0, 3, 2])
    results = shuffled.map(str.upper, {name: name for name in "abcd"})
    assert (next(results), shuffled.finished) == ("A", ["b", "a"])
    assert (next(results), shuffled.finished) == ("B", ["b", "a"])
    assert list(results) == ["C", "D"]
    found = simulation.run(SMALL, "mn,gr,oracle", 8, seed=4, workers=Shuffled([2, 0, 7, 3, 5, 1, 6, 4]))
    assert bits(found) == bits(simulation.run(SMALL, "mn,gr,oracle", 8, seed=4))


def make_odd():
    """A function that fails for 3 and 5."""

    def odd(item):
        if item == 3:
            raise ZeroDivisionError("three")
        if item == 5:
            raise InvalidDataError("five is odd.")
        return item

    return odd


@pytest.mark.parametrize(
    ("first", "kind", "message"),
    [(3, WorkError, "^number 3: ZeroDivisionError: three$"), (5, InvalidDataError, r"^number 5: five is odd\.$")],
)
def test_a_failure_names_the_item(executor, first, kind, message):
    with pytest.raises(kind, match=message):
        list(executor.map(make_odd(), {f"number {item}": item for item in (0, 1, first, 7, 8)}))
    assert list(executor.map(make_odd(), {"zero": 0})) == [0]  # the executor still works


def test_a_simulation_that_fails_writes_no_tables(executor, tmp_path):
    def failing(task, noise_variance):
        raise RuntimeError("too loud")

    folder = tmp_path / "run"
    with pytest.raises(WorkError, match=r"^repetition \d: RuntimeError: too loud"):
        simulation.run(SMALL, ["gr", Update("mine", failing)], 5, workers=executor, out=folder)
    assert not list(folder.iterdir())


def make_dying(folder):
    """A function that ends its worker until it has done so a number of times."""

    def dying(times):
        if len(list(folder.iterdir())) < times:
            (folder / str(time.monotonic_ns())).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return "alive"

    return dying


def test_a_worker_process_that_ends_is_reported(tmp_path):
    with pytest.raises(WorkError, match="a worker process ended before its work was done"):
        list(Processes(2).map(make_dying(tmp_path), {"one": 9, "two": 9}))
    assert list(Processes(2).map(make_odd(), {"zero": 0, "one": 1})) == [0, 1]


def test_a_cluster_repeats_the_work_of_a_lost_worker(dask_workers, tmp_path):
    assert list(dask_workers.map(make_dying(tmp_path), {"one": 1, "two": 0})) == ["alive", "alive"]
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(WorkError, match=r"^one: lost on the cluster \(KilledWorker"):
        list(dask_workers.map(make_dying(tmp_path), {"one": 9}))


def test_a_client_that_is_passed_stays_open(cluster):
    with Client(cluster, set_as_default=False) as client:
        with DaskWorkers(client) as workers:
            assert list(workers.map(abs, {"a": -1})) == [1]
        assert client.status == "running"


def test_what_is_no_executor_is_refused():
    for wrong in (0, True, 1.5, "two", None):
        with pytest.raises(InvalidParameterError, match="workers must be an integer ≥ 1"):
            executor_of(wrong)
    assert executor_of(-1) == Processes()
    assert executor_of(Processes(3)) == Processes(3)


def test_no_scheduler_and_no_package(monkeypatch):
    with pytest.raises(InvalidParameterError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        DaskWorkers("tcp://127.0.0.1:9", timeout=0.2)
    monkeypatch.setattr("ridgeway._optional.find_spec", lambda package: None)
    with pytest.raises(MissingPackageError, match=r"ridgeway\[dask\]"):
        DaskWorkers("tcp://127.0.0.1:9")


def test_cells_of_a_benchmark(cluster, capsys):
    cells = {f"seed {seed}": lambda seed=seed: covered(np.random.default_rng(seed), 2).tolist() for seed in range(3)}
    one, two, three = (
        dict(sweep(cells, Namespace(workers=count, scheduler=address)))
        for count, address in ((1, None), (2, None), (-1, cluster))
    )
    assert one == two == three
    assert capsys.readouterr().out.count(" s\n") == 3 * len(cells)


def invoke(*arguments):
    return CliRunner().invoke(commands, [str(argument) for argument in arguments])


def test_commands_use_the_cluster(cluster, tmp_path):
    options = "--n-tasks", "3", "--n-samples", "5", "--n-features", "8", "--methods", "mn,gr", "--repetitions", "4"
    for place, where in {"dask": ("--scheduler", cluster), "here": ("--workers", "1")}.items():
        result = invoke("simulate", *options, *where, "--out", tmp_path / place)
        assert result.exit_code == 0, result.output
    assert bits(Results.load(tmp_path / "dask")) == bits(Results.load(tmp_path / "here"))
    one, two = (
        json.loads(invoke("verify", *STATEMENTS, "--json", *where).stdout)
        for where in (("--scheduler", cluster), ("--workers", "2"))
    )
    assert [{**found, "seconds": 0} for found in one] == [{**found, "seconds": 0} for found in two]
    result = invoke("verify", "order", "--scheduler", cluster, "--workers", "2")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Pass only one of them." in result.stderr
