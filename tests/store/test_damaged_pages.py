"""A damaged page that still reads well: SQLite would write into its other rows, and nothing may be lost that way."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from store.kept import made_of, rows_of, sql

from ridgeway import store
from ridgeway.errors import DamagedStoreError
from ridgeway.store import _changes, _part_tree

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


def free_space_and_fragments(content, page):
    """Move the end of the free space of a page by one byte, and count bytes between its cells as free."""
    end = int.from_bytes(content[page + 5 : page + 7], "big") + 1
    content[page + 5 : page + 8] = *end.to_bytes(2, "big"), 105


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


def lost_with_a_generation(made, rows):
    """Return whether a change is lost, the page of the generations being damaged, and not refused."""
    content, page = bytearray(made.path.read_bytes()), page_of(made.path, "generations")
    free_space_and_fragments(content, page)
    made.path.write_bytes(content)
    history, _ = told(made.path)
    try:
        made.absorb("new", *rows)
    except DamagedStoreError:
        assert made.path.read_bytes() == content
        return False
    try:
        return told(made.path)[0][:-1] != history
    except DamagedStoreError:
        return True


@pytest.mark.parametrize("checked", [True, False])
def test_a_damaged_page_of_generations_is_not_written(made, rows, tmp_path, monkeypatch, checked):
    """Where SQLite puts a row depends on the bytes of the file, so that some are lost without the check, not all."""
    if not checked:
        monkeypatch.setattr(_changes, "SOUND", ())
    results = []
    while len(results) < (10 if checked else 60) and not any(results):
        made.absorb(f"again-{len(results)}", rows[0] + 1.0 + len(results), rows[1])
        copied = tmp_path / f"{len(results)}.rw"
        copied.write_bytes(made.path.read_bytes())
        results.append(lost_with_a_generation(store.open(copied), rows))
    assert any(results) != checked


def test_many_tasks_at_once(tmp_path, rng):
    """The rows beside are those of the file, not those that are written."""
    made = store.create(tmp_path / "a.rw", features=["a"], target="y")
    for start in (0, 500):
        frame = pd.DataFrame(rng.normal(size=(1000, 2)), columns=["a", "y"]).assign(t=start + np.arange(1000) // 2)
        made.absorb_table(frame, task_column="t")
    assert made.check().n_tasks == 1000


def varint(content, place):
    """Return a number of SQLite's, seven bits a byte, and where it ends."""
    number = 0
    while content[place] > 127:
        number, place = number << 7 | content[place] & 127, place + 1
    return number << 7 | content[place], place + 1


def keys_by_page(content, page):
    """Return the keys on each leaf of the tree that begins at a page, from the bytes of the file."""
    kind, n_cells = content[page], int.from_bytes(content[page + 3 : page + 5], "big")
    first = page + (8 if kind == 13 else 12)
    cells = [page + int.from_bytes(content[at : at + 2], "big") for at in range(first, first + 2 * n_cells, 2)]
    if kind == 13:
        return [[varint(content, varint(content, cell)[1])[0] for cell in cells]]
    below = [int.from_bytes(content[at : at + 4], "big") for at in (*cells, page + 8)]
    return [keys for number in below for keys in keys_by_page(content, (number - 1) * PAGE)]


@pytest.mark.parametrize("p", [50, 130])
def test_whatever_shares_a_page_with_a_part_that_is_written_is_compared(tmp_path, monkeypatch, p):
    """Rows far from all of them are not: what refuses the others is the comparison with what was there before."""
    monkeypatch.setattr(_part_tree, "MOST_FREE", 4)  # so that new nodes are not all side by side
    made = made_of(tmp_path / "a.rw", (), features=[f"x{j}" for j in range(p)])
    for number in range(24):
        made.absorb(f"t{number}", *rows_of(number, n=p + 10, p=p))
    before, write, touched, spoilt = made.path.read_bytes(), _changes._write_parts, set(), []
    pages = keys_by_page(before, page_of(made.path, "parts"))
    assert [key for page in pages for key in page] == [key for (key,) in sql(made, ("SELECT id FROM parts",))[0]]

    def writing(connection, parts):
        touched.update((row.id for row in parts.rows), parts.dropped)
        write(connection, parts)
        connection.executemany("UPDATE parts SET data = zeroblob(length(data)) WHERE id = ?", spoilt)

    def absorb(*keys):
        spoilt[:] = [(key,) for key in keys]
        made.path.write_bytes(before)
        made.absorb("new", *rows_of(24, n=p + 10, p=p))

    monkeypatch.setattr(_changes, "_write_parts", writing)
    absorb()
    shared = [page for page in pages if touched & {*page}]
    near = {key for page in shared for key in page} - touched
    assert near
    assert len(shared) > 1
    for key in near:
        with pytest.raises(DamagedStoreError, match="did not keep what was written"):
            absorb(key)
        assert made.path.read_bytes() == before
    keys = [key for page in pages for key in page]
    far = [key for at, key in enumerate(keys) if not touched & {*keys[max(at - 12, 0) : at + 13]}]
    assert far
    absorb(*far)
