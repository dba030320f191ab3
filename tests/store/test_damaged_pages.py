"""A damaged page that still reads well: SQLite would write into its other rows, and nothing may be lost that way."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from ridgeway import store
from ridgeway.errors import DamagedStoreError
from ridgeway.store import _changes

PAGE = 65536


@pytest.fixture
def rows(rng):
    return rng.normal(size=(9, 2)), rng.normal(size=9)


@pytest.fixture
def made(tmp_path, rng):
    made = store.create(tmp_path / "a.rw", features=["a", "b"], target="y")
    for number in range(6):
        made.absorb(f"task-{number}", rng.normal(size=(9, 2)), rng.normal(size=9))
    return made


def page_of(path, table):
    """Return where the page begins that all rows of a table are on."""
    with closing(sqlite3.connect(path)) as connection:
        (number,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    return (number - 1) * PAGE


def first_free_byte(content, page):
    """Move the end of the free space of a page by one byte, into its last cell."""
    content[page + 6] ^= 1


def pointer(number):
    """Return a change of the pointer to a cell, as if one bit had flipped."""

    def change(content, page):
        content[page + 8 + 2 * number + 1] ^= 32

    return change


DAMAGES = {
    "ledger, free space": ("ledger", first_free_byte),
    "buckets, free space": ("buckets", first_free_byte),
    "blocks, free space": ("blocks", first_free_byte),
    "blocks, a cell that goes": ("blocks", pointer(6)),
    "blocks, a cell that stays": ("blocks", pointer(9)),
    "ledger, a cell": ("ledger", pointer(2)),
}


def damaged(made, name):
    table, change = DAMAGES[name]
    content, page = bytearray(made.path.read_bytes()), page_of(made.path, table)
    change(content, page)
    made.path.write_bytes(content)
    return bytes(content)


def told(path):
    opened = store.open(path)
    return [record.as_dict() for record in opened.history()], opened.model().coef_.tolist()


def check_all(path, history):
    assert told(path)[0][:-1] == history
    store.open(path).check()


@pytest.mark.parametrize("name", DAMAGES)
def test_a_change_is_made_whole_or_refused(made, rows, name):
    """Either the new task is there and everything else is as it was, or nothing was changed."""
    before = damaged(made, name)
    try:
        history, _ = told(made.path)
        made.absorb("new", *rows)
    except DamagedStoreError:
        assert made.path.read_bytes() == before
    else:
        assert told(made.path)[0][:-1] == history


@pytest.mark.parametrize("name", [name for name in DAMAGES if "free space" in name or "goes" in name])
def test_without_reading_back_something_is_lost(made, rows, name, monkeypatch):
    damaged(made, name)
    history, _ = told(made.path)
    monkeypatch.setattr(_changes, "_beside", lambda *_: [[]])
    monkeypatch.setattr(_changes, "_read_back", lambda *_: None)
    made.absorb("new", *rows)
    with pytest.raises((DamagedStoreError, AssertionError)):
        check_all(made.path, history)


def test_many_tasks_at_once(tmp_path, rng):
    """The rows beside are those of the file, not those that are written."""
    made = store.create(tmp_path / "a.rw", features=["a"], target="y")
    for start in (0, 500):
        frame = pd.DataFrame(rng.normal(size=(1000, 2)), columns=["a", "y"]).assign(t=start + np.arange(1000) // 2)
        made.absorb_table(frame, task_column="t")
    assert made.check().n_tasks == 1000
