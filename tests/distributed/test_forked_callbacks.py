"""A progress callback may fork the process: a child that raises there ends, and its parent goes on."""

import subprocess
import sys
from pathlib import Path

import pytest

CALLBACK = """
import os, subprocess, sys, time

calls = 0
children = []


def progress(done, total):
    global calls
    calls += 1
    if calls == 1:
        child = os.fork()
        if child == 0:
            raise RuntimeError("raised in the child")
        children.append(child)


def wait():
    [child] = children
    for _ in range(300):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            print("the child ended with", os.waitstatus_to_exitcode(status), flush=True)
            return
        time.sleep(0.1)
    os.kill(child, 9)
    print("the child goes on", flush=True)
"""

ABSORB = """
import numpy as np
import pandas as pd
from ridgeway import store

rng = np.random.default_rng(0)
rows = pd.DataFrame(rng.normal(size=(300_000, 2)), columns=["x", "y"])
state = store.create("state.rw", features=["x"], target="y")
state.absorb_table(rows, task_id="one", progress=progress)
assert store.open("state.rw").model().n_samples_seen_ == len(rows)
wait()
"""

REMOVE = """
import numpy as np
import pandas as pd
from ridgeway import store

rng = np.random.default_rng(0)
rows = pd.DataFrame(rng.normal(size=(300_000, 2)), columns=["x", "y"])
state = store.create("state.rw", features=["x"], target="y")
state.absorb_table(rows[:1000], task_id="one")
state.absorb_table(rows, task_id="two")
state.remove_table(rows, task_id="two", progress=progress)
assert store.open("state.rw").model().n_samples_seen_ == 1000
wait()
"""

DASK = """
from distributed import Client
from ridgeway.distributed import DaskWorkers

tool = [sys.executable, "-m", "distributed.cli.dask_"]
shared = ["--scheduler-file", "cluster.json"]
local = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0"]
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
scheduler = subprocess.Popen([*tool[:2], tool[2] + "scheduler", *shared, *local], **quiet)
worker = subprocess.Popen([*tool[:2], tool[2] + "worker", *shared, "--no-dashboard", "--no-nanny"], **quiet)
parent = os.getpid()
try:
    executor = DaskWorkers(Client(scheduler_file="cluster.json", set_as_default=False))
    done = 0
    for name, result in executor.as_finished(abs, {str(number): number for number in range(10)}):
        done += 1
        progress(done, 10)
    assert done == 10
    wait()
finally:
    if os.getpid() == parent:
        worker.kill()
        scheduler.kill()
"""


@pytest.mark.parametrize(
    "work",
    [pytest.param(ABSORB, id="absorb"), pytest.param(REMOVE, id="remove"), pytest.param(DASK, id="dask")],
)
def test_a_child_that_raises_in_a_callback_ends(work, tmp_path):
    script = Path(tmp_path, "script.py")
    script.write_text(CALLBACK + work)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert (run.returncode, run.stdout) == (0, "the child ended with 1\n"), run.stderr
    assert "RuntimeError: raised in the child" in run.stderr
