"""Bits and failures on real processes: whoever works, finishes first or is killed, the state is the same."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from distributed import Client
from spread import made, part_files, spread_out, state_of

from ridgeway import distributed
from ridgeway.data import part_names
from ridgeway.distributed._fixed_tree import FixedTree, Place
from ridgeway.distributed._plan import learned, planned, surveyed
from ridgeway.errors import WorkError
from ridgeway.store import PartialTask

SIZES = (9000, 100, 30000, 8192, 5, 41000, 1, 20000, 12345)


@pytest.fixture(scope="module")
def spread(tmp_path_factory, processes):
    """The files, all rows in one file, and the state that one worker makes of them."""
    folder = tmp_path_factory.mktemp("spread")
    files, whole = spread_out(folder, SIZES)
    one = made(folder / "one.rw")
    with Client(processes) as client:
        distributed.absorb(one, files, "2019", client=client)
    return files, whole, state_of(one)


def test_any_number_of_workers_gives_the_same_bits(processes, spread, tmp_path):
    files, whole, expected = spread
    for n_workers in (2, 3, 5):
        processes.scale(n_workers)
        wages = made(tmp_path / f"{n_workers}.rw")
        with Client(processes) as client:
            client.wait_for_workers(n_workers)
            distributed.absorb(wages, files, "2019", client=client)
        assert state_of(wages) == expected
        assert wages.absorb_table(whole, task_id="2019")[0].already


def test_parts_that_are_repeated_and_arrive_in_any_order_give_the_same_bits(processes, spread, tmp_path, rng):
    """The control: merged in the order of arrival, the bits differ."""
    files, _, expected = spread
    wages = made(tmp_path / "wages.rw")
    schema = wages.schema
    parts = planned([piece for name in part_names([files]) for piece in surveyed(name, schema, None).pieces])
    with Client(processes) as client:
        twice = client.gather([client.submit(learned, part, schema, None, pure=False) for part in parts * 2])
    partials = [PartialTask.from_arrays(schema, arrays) for arrays in twice]
    arrived = [(number % len(parts), partials[number]) for number in rng.permutation(len(partials))]
    tree, seen, in_order = FixedTree(len(parts), PartialTask.followed_by), set(), None
    for number, partial in arrived:
        tree.put(Place(0, number), partial)
        if number not in seen:
            seen.add(number)
            in_order = partial if in_order is None else in_order.followed_by(partial)
    wages.absorb_partial("2019", tree.root, before=schema)
    assert state_of(wages) == expected
    other = made(tmp_path / "other.rw")
    other.absorb_partial("2019", in_order, before=schema)
    assert state_of(other) != expected
    assert other.history()[0].digest != wages.history()[0].digest


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_worker_that_is_killed_leaves_no_trace(spread, tmp_path, seed):
    """It is killed after a random number of parts, so always in the middle of the work. Dask may not replace it."""
    files, whole, expected = spread
    chance, wages, finished = np.random.default_rng(seed), made(tmp_path / "wages.rw"), []
    when = chance.integers(1, 4)
    with distributed.local_client(2) as client:
        victim = int(chance.choice([nanny.pid for nanny in client.cluster.workers.values()]))

        def killed(done, total):
            finished.append(done)
            if len(finished) == when:
                assert done < total
                os.kill(victim, signal.SIGKILL)

        distributed.absorb(wages, files, "2019", client=client, progress=killed)
    assert len(finished) > when
    assert state_of(wages) == expected
    assert wages.history()[0].n_samples == sum(SIZES)
    assert wages.absorb_table(whole, task_id="2019")[0].already


def test_a_job_ends_if_all_workers_are_gone_and_the_next_one_does_what_is_missing(machines, spread, tmp_path):
    """The control: with more patience, the job waits for a new worker and is completed."""
    files, _, expected = spread
    worker, wages, seen = machines.worker(), made(tmp_path / "wages.rw"), []
    before = wages.path.read_bytes()

    def killed(done, _):
        seen.append(done)
        if len(seen) == 2:
            worker.kill()

    def replaced(*_):
        if len(machines.running) == 3:
            machines.running[2].kill()
            machines.worker()

    with distributed.remote_client(machines.address) as client:
        client.wait_for_workers(1, timeout=30)
        with pytest.raises(
            WorkError, match=r"no workers for 1.5 s, or was lost. [23] of 6 parts were finished"
        ) as caught:
            distributed.absorb(wages, files, "2019", client=client, progress=killed, patience=1.5)
        assert "parts of files that were finished are not done again" in str(caught.value)
        assert wages.path.read_bytes() == before
        machines.worker()
        distributed.absorb(wages, files, "2019", client=client, progress=lambda done, _: seen.append(done))
        assert len(seen) == 6
        assert state_of(wages) == expected
        patient = made(tmp_path / "patient.rw")
        distributed.absorb(patient, files, "2019", client=client, progress=replaced)
        assert len(machines.running) == 4
    assert state_of(patient) == expected


def test_workers_keep_memory_for_the_next_block():
    """In a process that has not started workers of Dask before: their settings stay in its environment."""
    code = (
        "import os; from ridgeway import distributed\n"
        "with distributed.local_client(1) as client:\n"
        "    print(client.run(os.environ.get, 'MALLOC_TRIM_THRESHOLD_'))\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith(": None}")


class Machines:
    """A scheduler and workers as separate commands, each in a folder of its own."""

    def __init__(self, folder):
        self.folder, self.running = folder, []
        told = folder / "scheduler.json"
        self.start("scheduler", "--port", "0", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(told))
        while not told.exists() or not told.read_text().endswith("\n}"):  # the end of the outermost object
            assert self.running[0].poll() is None
            time.sleep(0.02)
        self.address = json.loads(told.read_text())["address"]

    def start(self, kind, *options):
        own = self.folder / f"{kind}-{len(self.running)}"
        own.mkdir()
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--host", "127.0.0.1", *options]
        with (own / "log.txt").open("w") as log:
            self.running.append(subprocess.Popen(command, cwd=own, stdout=log, stderr=log))
        return self.running[-1]

    def worker(self):
        return self.start("worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard")

    def stop(self):
        for process in reversed(self.running):
            process.kill()
            process.wait()


@pytest.fixture
def machines(tmp_path):
    made = Machines(tmp_path)
    yield made
    made.stop()


def test_workers_in_folders_of_their_own_and_a_scheduler_that_is_lost(machines, spread, tmp_path):
    files, _, expected = spread
    machines.worker(), machines.worker()
    wages, other = made(tmp_path / "wages.rw"), made(tmp_path / "other.rw")
    with distributed.remote_client(machines.address) as client:
        client.wait_for_workers(2, timeout=30)
        distributed.absorb(wages, files, "2019", client=client)
        assert state_of(wages) == expected
        before = other.path.read_bytes()
        with pytest.raises(WorkError, match="failed"):
            distributed.absorb(other, files, "2019", client=client, progress=lambda *_: machines.running[0].kill())
    assert other.path.read_bytes() == before
    assert part_files(other)
