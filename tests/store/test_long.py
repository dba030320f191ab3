"""Promise 11 of docs/store.md: what opening, absorbing and reading cost after many tasks, in steps and in memory."""

import sqlite3
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from ridgeway import store
from ridgeway.errors import StoreError
from ridgeway.store import _generations

FEW, MANY = 300, 3600
"""Few are as many as fit on a page: rows beside a new one are read back with it."""
PEAKS = {
    "square_root": {"open": 1.5, "absorb": 4.0, "check": 2.5},
    "moments": {"open": 1.5, "absorb": 6.5, "check": 5.0},
}
"""The largest peaks, in units of a full matrix."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two state files: of few tasks, and of many."""
    folder, rng = tmp_path_factory.mktemp("long"), np.random.default_rng(0)
    made = []
    for size in (FEW, MANY):
        frame = pd.DataFrame(rng.normal(size=(2 * size, 3)), columns=["a", "b", "y"]).assign(t=np.arange(2 * size) // 2)
        frame.to_parquet(folder / "d.parquet")
        made.append(store.create(folder / f"{size}.rw", features=["a", "b"], target="y"))
        made[-1].absorb_table(folder / "d.parquet", task_column="t")
    return made


@contextmanager
def counted(monkeypatch):
    """Yield a list that gets an entry for every step of SQLite's machine."""
    steps = []
    connect = sqlite3.connect

    def counting(*args, **options):
        connection = connect(*args, **options)
        connection.set_progress_handler(lambda: steps.append(1), 1)
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", counting)
        yield steps


def test_opening_and_absorbing_take_the_same_steps_after_many_tasks(files, rng, monkeypatch):
    X, y = rng.normal(size=(9, 2)), rng.normal(size=9)
    calls = {
        "open": lambda file: store.open(file.path),
        "absorb": lambda file: file.absorb("new", X, y),
        "again": lambda file: file.absorb("new", X, y),
        "model": lambda file: file.model(),
        "history": lambda file: file.history(),
    }
    ratios = {}
    for name, call in calls.items():
        found = []
        for file in files:
            with counted(monkeypatch) as steps:
                call(file)
            found.append(len(steps))
        ratios[name] = found[1] / found[0]
    assert max(ratios[name] for name in ("open", "absorb", "again", "model")) < 1.2
    assert ratios["history"] > 10.0  # the control: this reads every record


def peak_of(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_budget_is_above_the_peak_and_near_it(files, tmp_path, monkeypatch):
    file = files[1]
    with sqlite3.connect(file.path) as connection:
        (size,) = connection.execute("SELECT sum(length(record) + length(columns)) FROM ledger").fetchone()
    connection.close()
    budget = _generations.RECORD_BYTES * len(file.ledger()) + 2 * size
    peaks = {name: peak_of(getattr(file, name)) for name in ("check", "ledger", "snapshot")}
    peaks["export"] = peak_of(lambda: file.export(tmp_path / "x.safetensors"))
    assert budget / 4 < max(peaks.values()) < budget
    assert peaks["check"] < peaks["snapshot"] / 2  # it keeps no records
    monkeypatch.setattr(_generations, "MEMORY_BUDGET", budget - 1)
    assert store.open(file.path).model().coef_.shape == (2,)
    for call in (file.check, file.ledger, file.snapshot):
        with pytest.raises(StoreError, match=f"the ledger of .* takes {budget} bytes of memory, beyond the budget"):
            call()


@pytest.mark.parametrize("kind", PEAKS)
def test_peak_memory_by_the_number_of_features(tmp_path, rng, kind):
    """docs/store.md states the peaks in units of a full matrix, 8·p² bytes."""
    p = 600
    made = store.create(
        tmp_path / "x.rw", features=[f"x{j}" for j in range(p)], target="y", prior=1.0, information=kind
    )
    X, y = rng.normal(size=(20, p)), rng.normal(size=20)
    made.absorb("first", X, y)
    calls = {
        "open": lambda: store.open(made.path),
        "absorb": lambda: made.absorb("one", X + 1, y),
        "check": made.check,
    }
    for name, most in PEAKS[kind].items():
        assert most / 2 < peak_of(calls[name]) / (8 * p**2) < most
