"""Damaged parts: whatever reads one notices it, and so does `check`."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store.kept import content, made_of, n_nodes, rows_of, sql

from ridgeway import store
from ridgeway.errors import DamagedStoreError, RidgewayError, StoreError
from ridgeway.information import Leaf
from ridgeway.store import _changes, _connection, _generations, _nodes, _part_arrays, _part_tree, _whole_tree


def nodes_of(made):
    return {number: (task, data) for number, task, data in sql(made, ("SELECT * FROM parts",))[0]}


def test_a_damaged_node_is_noticed(tmp_path):
    """Every node of the current tree, at every kind of place."""
    made = made_of(tmp_path / "a.rw", range(5))
    original, answers = made.path.read_bytes(), content(made)
    parts = made.snapshot().generation.parts
    current = [number for number in nodes_of(made) if number not in (*parts.replaced, *parts.free)]
    assert len(current) == 9
    for number in current:
        task, data = nodes_of(made)[number]
        places = [16, 30, len(data) // 2, len(data) - 1]
        places += [0, 8] if task is None else []
        for place in places:
            changed = bytearray(data)
            changed[place] ^= 1
            sql(made, ("UPDATE parts SET data = ? WHERE id = ?", (bytes(changed), number)))
            opened = store.open(made.path)
            assert opened.model().n_samples_seen_ == 100  # the total does not depend on it
            with pytest.raises(DamagedStoreError, match="a part"):
                opened.check()
            with pytest.raises(DamagedStoreError, match="a part"):
                opened.model_by_task()
            made.path.write_bytes(original)
    assert content(made) == answers


def test_what_reads_a_damaged_node_changes_nothing(tmp_path):
    made = made_of(tmp_path / "a.rw", range(5))
    root = made.snapshot().generation.parts.root.id
    sql(made, ("DELETE FROM parts WHERE id = ?", (root,)))
    before = made.path.read_bytes()
    for call in (
        lambda: made.absorb("t9", *rows_of(9)),
        lambda: made.remove("t1"),
        lambda: made.export(tmp_path / "a.safetensors"),
        lambda: made.merge(made_of(tmp_path / "b.rw", [7]), tmp_path / "c.rw"),
    ):
        with pytest.raises(DamagedStoreError, match="a part is missing"):
            call()
        assert made.path.read_bytes() == before
    assert not (tmp_path / "c.rw").exists()
    assert made.absorb("t1", *rows_of(1)).already


def test_a_part_that_both_generations_have(tmp_path):
    """There is no way back for it, but the total is not lost."""
    made = made_of(tmp_path / "a.rw", range(5))
    sql(made, ("UPDATE parts SET data = zeroblob(length(data)) WHERE task = 1",))
    before = made.path.read_bytes()
    with pytest.raises(DamagedStoreError):
        store.restore_previous(made.path)
    assert made.path.read_bytes() == before
    made.export(tmp_path / "a.csv")
    empty = made_of(tmp_path / "empty.rw", (), keep=None)
    saved = made.merge(empty, tmp_path / "saved.rw", total_only=True)
    saved.check()
    assert saved.model().coef_.tobytes() == made.model().coef_.tobytes()


@pytest.mark.parametrize(
    ("statement", "match"),
    [
        ("UPDATE parts SET task = 77 WHERE task = 2", "not those of the tasks in the ledger"),
        ("UPDATE parts SET task = NULL WHERE task = 2", "invalid header"),
        ("UPDATE parts SET task = 'x' WHERE task = 2", "invalid header"),
        ("INSERT INTO parts VALUES (999, NULL, x'00')", "parts that its tasks do not have"),
        ("UPDATE parts SET data = CAST(data AS TEXT)", "decode|missing or of another type"),
        ("UPDATE parts SET data = x''", "missing or of another type"),
        ("UPDATE parts SET id = id + 100", "missing or of another type"),
    ],
)
def test_changes_of_the_table(tmp_path, statement, match):
    made = made_of(tmp_path / "a.rw", range(4))
    sql(made, (statement,))
    with pytest.raises(DamagedStoreError, match=match):
        made.check()


def test_the_table_of_a_plain_file_stays_empty(tmp_path):
    made = made_of(tmp_path / "a.rw", range(2), keep=None)
    sql(made, ("INSERT INTO parts VALUES (1, 1, x'00')",))
    with pytest.raises(DamagedStoreError, match="parts that its tasks do not have"):
        store.open(made.path)


class Trusting(_nodes.Shelf):
    """Reads nodes without comparing their digests."""

    @staticmethod
    def agrees(body, digest):
        return True


def test_without_digests_damage_is_not_noticed(tmp_path, monkeypatch):
    made = made_of(tmp_path / "a.rw", range(5))
    (number, data), *_ = [(n, data) for n, (task, data) in nodes_of(made).items() if task == 3]
    changed = data[:-1] + bytes([data[-1] ^ 1])
    sql(made, ("UPDATE parts SET data = ? WHERE id = ?", (changed, number)))
    with pytest.raises(DamagedStoreError, match="not what was committed"):
        made.model_by_task()
    for module in (_changes, _whole_tree):
        monkeypatch.setattr(module, "Shelf", Trusting)
    assert made.model_by_task().information_.part("t2").n_samples == 20


def test_a_removal_that_leaves_the_leaf_is_noticed(tmp_path, monkeypatch):
    made = made_of(tmp_path / "a.rw", range(5))
    monkeypatch.setattr(_changes, "_write_parts", _keeping_all)
    monkeypatch.setattr(_changes, "_read_back", lambda *_: None)
    made.remove("t2")
    assert n_nodes(made) > 7
    with pytest.raises(DamagedStoreError, match="parts that its tasks do not have"):
        made.check()


def _keeping_all(connection, parts):
    moved = [row._replace(id=row.id) for row in parts.rows]
    connection.executemany("INSERT OR REPLACE INTO parts VALUES (?, ?, ?)", moved)


def test_a_total_that_is_not_the_root_is_noticed(tmp_path, monkeypatch):
    made = made_of(tmp_path / "a.rw", range(3))
    total = _part_tree.PartTree.total
    monkeypatch.setattr(_part_tree.PartTree, "total", lambda tree, state: _moved(total(tree, state)))
    made.absorb("t3", *rows_of(3))
    with pytest.raises(DamagedStoreError, match="the state is not the merge of its parts"):
        made.check()


def _moved(state):
    held = state.information
    return replace(state, information=replace(held, mean=np.nextafter(held.mean, np.inf)))


def test_a_join_that_is_not_a_merge_is_noticed(tmp_path, monkeypatch):
    """Its digest is right: whoever wrote it was wrong."""
    made = made_of(tmp_path / "a.rw", range(2))
    monkeypatch.setattr(_nodes, "packed", _shrunk(_nodes.packed))
    made.absorb("t2", *rows_of(2))
    with pytest.raises(DamagedStoreError, match=r"not the merge of those below|not the merge of its parts"):
        made.check()


def _shrunk(packed):
    def wrong(node, refs, version):
        if refs:
            node = Leaf(node.key, node.shared, None, lambda information=node.information: information.scaled(0.5))
        return packed(node, refs, version)

    return wrong


def test_leaves_and_ledger_must_agree(tmp_path, monkeypatch):
    made = made_of(tmp_path / "a.rw", range(3))
    records = [replace_id(record) for record in made.ledger()]
    leaves = made.snapshot().leaves
    _whole_tree.check_leaves(made.path, leaves, made.ledger())
    for wrong in (records, records[:2], made.ledger()[:2]):
        with pytest.raises(DamagedStoreError, match=r"is not that of the ledger|tasks in the ledger"):
            _whole_tree.check_leaves(made.path, leaves, wrong)


def replace_id(record):
    return replace(record, task_id=f"x{record.task_id}")


def test_memory_is_counted(tmp_path, monkeypatch):
    made = made_of(tmp_path / "a.rw", range(4))
    before = made.path.read_bytes()
    monkeypatch.setattr(_generations, "MEMORY_BUDGET", 20_000)
    made.model_by_task()
    monkeypatch.setattr(_whole_tree, "COPIES", 40)
    with pytest.raises(StoreError, match=r"the parts of .* beyond the budget of 20000"):
        made.model_by_task()
    monkeypatch.setattr(_generations, "MEMORY_BUDGET", 700)
    X, y = rows_of(0, n=40)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y, task=np.repeat(["p", "q"], 20))
    with pytest.raises(StoreError, match=r"the new parts of .* Absorb fewer tasks at once"):
        made.absorb_table(frame, task_column="task")
    assert made.path.read_bytes() == before


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_random_damage_gives_the_same_answers_or_an_error(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("damage")
    made = made_of(folder / "a.rw", range(4))
    expected = {name: part.matrix.tobytes() for name, part in made.model_by_task().information_.parts().items()}
    changed = bytearray(made.path.read_bytes())
    place = data.draw(st.integers(0, len(changed) - 1))
    changed[place] ^= 1 << data.draw(st.integers(0, 7))
    made.path.write_bytes(changed)
    try:
        found = store.open(made.path).model_by_task().information_.parts()
    except RidgewayError:
        return
    assert {name: part.matrix.tobytes() for name, part in found.items()} == expected


def test_the_longest_value_is_that_of_the_connection():
    assert _connection.LONGEST_VALUE == _part_arrays.LONGEST_VALUE
