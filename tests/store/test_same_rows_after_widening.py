"""The same rows count once, also after a widening or a merge, and other rows are never taken for them.

Only files, rows and what is promised about them appear here, not how a digest is made.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from runner import CliRunner
from store.tables import written

from ridgeway import store
from ridgeway.cli._commands import commands
from ridgeway.data import CsvFormat, _schema, rows_in_memory
from ridgeway.errors import DuplicateTaskError, MergeError
from ridgeway.store import PartialTask, PartLearner, _digests

N_ROWS = 50
PAST = {"z": 2.5, "late": 0.0}
"""What the columns that are added later had in every past row."""
PLACES = [0, 4, 5, 15, 16, 47, 48, N_ROWS - 1]
"""Rows at the ends of blocks and of chunks."""


@pytest.fixture(autouse=True, scope="module")
def short_blocks():
    """Let 50 rows be ten blocks and four chunks, which would otherwise take 30,000 rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_schema, "BLOCK_ENTRIES", 1)
        patch.setattr(_schema, "FEWEST_ROWS", 5)
        patch.setattr(_digests, "CHUNK_ROWS", 16, raising=False)
        patch.setattr(_digests, "TILE_ROWS", 3, raising=False)
        yield


WEIGHTS = {
    "all 1": np.ones(N_ROWS),
    "all 2": np.full(N_ROWS, 2.0),
    "from row 20": np.where(np.arange(N_ROWS) < 20, 1.0, 0.5),
    "in the last row": np.where(np.arange(N_ROWS) < N_ROWS - 1, 1.0, 3.0),
    "in the last row, smaller": np.where(np.arange(N_ROWS) < N_ROWS - 1, 1.0, 0.25),
    "in the first row": np.where(np.arange(N_ROWS) > 0, 1.0, 3.0),
    "up to row 20": np.where(np.arange(N_ROWS) < 20, 0.5, 1.0),
    "in one chunk": np.where(np.arange(N_ROWS) // 16 == 1, 4.0, 1.0),
    "in the next chunk": np.where(np.arange(N_ROWS) // 16 == 2, 4.0, 1.0),
}


def table(n_rows=N_ROWS, weights="from row 20", seed=0):
    """Return rows with the columns that a file has from the start; all sums of weights are exact."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.normal(size=N_ROWS) for name in ("größe", "x", "y")}
    return pd.DataFrame({**columns, "w": WEIGHTS[weights]})[:n_rows]


def later(rows):
    """Return rows with the columns that are added later, as they are in every past row."""
    return rows.assign(**PAST)


def created(folder, name="north", features=("größe", "x"), targets=("y",)):
    path = folder / f"{name}.rw"
    return store.create(path, features=features, target=targets, weight_column="w")


def widened(file, columns=("z", "late")):
    for name in columns:
        file.widen(**{"features" if name == "z" else "targets": {name: PAST[name]}})
    return file


# Ways to absorb -------------------------------------------------------------------------------------------------------


def in_memory(file, rows, task_id):
    columns = [list(file.schema.features), list(file.schema.targets)]
    return file.absorb(task_id, rows[columns[0]], rows[columns[1]], rows["w"])


def as_arrays(file, rows, task_id):
    columns = [list(file.schema.features), list(file.schema.targets)]
    X, y = (np.asfortranarray(rows[names].to_numpy()) for names in columns)
    return file.absorb(task_id, X, y, rows["w"].to_numpy())


def as_table(file, rows, task_id):
    return file.absorb_table(rows[[*rows.columns[::-1]]], task_id=task_id)[0]


def other_task(rows):
    """Return three rows of a task that is always the same."""
    return rows.iloc[[0] * 3].assign(größe=7.0, x=[1.0, 2.0, 3.0], y=0.5, w=1.0)


def by_column(file, rows, task_id):
    """The rows of another task stand between them."""
    other = other_task(rows)
    cut = [rows[:3], other[:1], rows[3:21], other[1:2], rows[21:40], other[2:], rows[40:]]
    both = pd.concat(part.assign(task="other" if number % 2 else task_id) for number, part in enumerate(cut))
    return {found.record.task_id: found for found in file.absorb_table(both, task_column="task")}[task_id]


def in_parts(file, rows, task_id):
    """As workers would: each learns some rows, and what it leaves travels as arrays."""
    schema, whole = file.schema, None
    for cut in (rows[:16], rows[16:48], rows[48:]):
        if len(cut):
            learner = PartLearner(schema)
            X, y = cut[list(schema.features)], cut[list(schema.targets)]
            for block in rows_in_memory(schema, X, y, cut["w"]):
                learner.add(block)
            part = PartialTask.from_arrays(schema, learner.finish().to_arrays())
            whole = part if whole is None else whole.followed_by(part)
    return file.absorb_partial(task_id, whole, before=schema)


def from_file(suffix):
    return lambda file, rows, task_id: file.absorb_table(written(rows, file.path.with_suffix(suffix)), task_id=task_id)[
        0
    ]


FORMATS = {
    "German": (".csv", CsvFormat(";", ",", "latin-1")),
    "UTF-16": (".tsv", CsvFormat("\t", ".", "utf-16")),
    "bars": (".csv", CsvFormat("|", ",", "cp1252")),
}


def written_as(rows, path, csv):
    rows.to_csv(path, index=False, sep=csv.delimiter, decimal=csv.decimal, encoding=csv.charset)
    return path


def in_format(name):
    suffix, csv = FORMATS[name]
    return lambda file, rows, task_id: file.absorb_table(
        written_as(rows, file.path.with_suffix(suffix), csv), task_id=task_id, csv=csv
    )[0]


WAYS = {
    "in memory": in_memory,
    "as arrays": as_arrays,
    "as a table": as_table,
    "by column": by_column,
    "in parts": in_parts,
    "CSV": from_file(".csv"),
    "Parquet": from_file(".parquet"),
    **{name: in_format(name) for name in FORMATS},
}


def assert_known(file, rows, task_id, absorb=in_memory):
    """The rows are those of a task of the file: under its id they count once, under another one they are refused."""
    before = file.path.read_bytes()
    assert absorb(file, rows, task_id).already
    with pytest.raises(DuplicateTaskError, match=rf"are those of task '{task_id}' "):
        absorb(file, rows, f"{task_id} again")
    assert file.path.read_bytes() == before


def assert_other(file, rows, task_id, absorb=in_memory):
    """The rows are not those of the task."""
    before = file.path.read_bytes()
    with pytest.raises(DuplicateTaskError, match=rf"task '{task_id}' is in the state file with other content"):
        absorb(file, rows, task_id)
    assert file.path.read_bytes() == before


# One file -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", WAYS)
def test_rows_are_recognised_in_whatever_way_they_come_again(tmp_path, first):
    file, rows = created(tmp_path), table()
    as_table(file, other_task(rows), "other")
    record = WAYS[first](file, rows, "May").record
    assert (record.n_samples, record.total_weight) == (N_ROWS, rows["w"].sum())
    widened(file)
    for absorb in WAYS.values():
        assert absorb(file, later(rows), "May").already
    assert_known(file, later(rows), "May", WAYS[first])
    assert_other(file, later(rows[::-1]), "May", WAYS[first])


@pytest.mark.parametrize("absorb", [in_memory, in_parts])
@pytest.mark.parametrize("n_rows", [1, 5, 15, 16, 17, 32, 33, N_ROWS])
def test_a_new_column_is_constant_over_any_number_of_rows(tmp_path, n_rows, absorb):
    file, rows = created(tmp_path), table(n_rows)
    assert absorb(file, rows, "May").record.n_samples == n_rows
    widened(file)
    assert_known(file, later(rows), "May", absorb)
    for name in PAST:
        for place in {0, min(16, n_rows - 1), n_rows - 1}:
            other = later(rows)
            other.loc[place, name] += 0.5
            assert_other(file, other, "May", absorb)
    assert_other(file, later(rows).assign(z=PAST["z"] + 1e-12), "May", absorb)


CONSTANTS = {
    "number": ("z", -3.5, 3.5),
    "minus zero": ("z", -0.0, 1e-300),
    "square": ("z^2", 3.0, -3.0),
    "category": ("z", "north", "south"),
    "day": ("month(z)", np.datetime64("2013-05-01"), np.datetime64("2013-05-02")),
}


@pytest.mark.parametrize("case", CONSTANTS)
def test_a_new_column_of_any_kind(tmp_path, case):
    term, past, other = CONSTANTS[case]
    file, rows = created(tmp_path, features=store.encoding_of(table()[["größe", "x"]])), table()
    as_table(file, rows, "May")
    file.widen(features={term: str(past) if case == "day" else past})
    if case == "category":
        file.widen(categories={"z": [other]})
    assert_known(file, rows.assign(z=past), "May", as_table)
    for place in PLACES:
        z = [past] * N_ROWS
        z[place] = other
        assert_other(file, rows.assign(z=z), "May", as_table)
    assert_other(file, rows.assign(z=other), "May", as_table)


@pytest.mark.parametrize("absorb", [in_memory, in_parts])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_weights_belong_to_the_rows(tmp_path, weights, absorb):
    file, rows = created(tmp_path), table(weights=weights)
    assert absorb(file, rows, "May").record.total_weight == WEIGHTS[weights].sum()
    widened(file)
    assert_known(file, later(rows), "May", absorb)
    for name in WEIGHTS.keys() - {weights}:
        assert_other(file, later(table(weights=name)), "May", absorb)


def test_weights_of_1_are_no_weights(tmp_path):
    rows = table(weights="all 1")
    file = store.create(tmp_path / "plain.rw", features=["größe", "x"], target=["y"])
    file.absorb("May", rows[["größe", "x"]], rows[["y"]])
    file.widen(features={"z": 2.5})
    X, y = later(rows)[["größe", "x", "z"]], rows[["y"]]
    assert file.absorb("May", X, y, np.ones(N_ROWS)).already
    for place in PLACES:
        weight = np.ones(N_ROWS)
        weight[place] = 2.0
        with pytest.raises(DuplicateTaskError, match="other content"):
            file.absorb("May", X, y, weight)
    file.absorb("June", X, y, WEIGHTS["from row 20"])
    assert file.absorb("June", X, y, WEIGHTS["from row 20"]).already


def changes(rows):
    """Yield other rows: one value changed, or the same values in other places."""
    for place in PLACES:
        for name in rows.columns:
            other = rows.copy()
            other.loc[place, name] += 0.5
            yield other
    orders = {
        "two rows of a block": [1, 0, *range(2, N_ROWS)],
        "rows of two chunks": [16, *range(1, 16), 0, *range(17, N_ROWS)],
        "two chunks": [*range(16, 32), *range(16), *range(32, N_ROWS)],
        "reversed": range(N_ROWS)[::-1],
        "without the first": range(1, N_ROWS),
        "without the last": range(N_ROWS - 1),
        "without the last chunk": range(48),
        "without the first chunk": range(16, N_ROWS),
        "the last row twice": [*range(N_ROWS), N_ROWS - 1],
        "a chunk twice": [*range(32), *range(16, N_ROWS)],
    }
    for order in orders.values():
        yield rows.iloc[list(order)].reset_index(drop=True)
    for one, two in (("größe", "x"), ("x", "y"), ("y", "w"), ("z", "late"), ("x", "z")):
        swapped = rows.rename(columns={one: two, two: one})
        yield swapped.assign(w=swapped["w"].abs() + 0.25)
    yield rows.assign(w=rows["w"][::-1].to_numpy())
    yield rows.assign(w=1.0)


@pytest.mark.parametrize("absorb", [in_memory, in_parts])
def test_other_rows_are_never_recognised(tmp_path, absorb):
    file, rows = created(tmp_path), table()
    absorb(file, rows, "May")
    widened(file)
    for other in changes(later(rows)):
        assert_other(file, other, "May", absorb)
    assert_known(file, later(rows), "May", absorb)


def test_other_rows_are_learned_as_another_task(tmp_path):
    """Three that are like the first in all but one value, or in all but their order."""
    file, rows = created(tmp_path), later(table())
    in_memory(file, table(), "May")
    widened(file)
    others = {
        "June": rows.assign(z=[*rows["z"][1:], 3.0]),
        "July": rows[::-1],
        "August": rows.assign(w=rows["w"].to_numpy()[::-1]),
    }
    for task_id, other in others.items():
        found = in_parts(file, other, task_id)
        assert (found.already, found.record.total_weight) == (False, other["w"].sum())
    for task_id, other in {"May": rows, **others}.items():
        assert_known(file, other, task_id)


# Two files ------------------------------------------------------------------------------------------------------------


def learned_first(file, rows, task_id):
    in_memory(file, rows, task_id)
    widened(file)


def learned_between(file, rows, task_id):
    widened(file, ["z"])
    in_parts(file, later(rows), task_id)
    widened(file, ["late"])


def learned_between_in_another_order(file, rows, task_id):
    widened(file, ["late"])
    in_memory(file, later(rows), task_id)
    widened(file, ["z"])


def learned_last(file, rows, task_id):
    widened(file)
    as_table(file, later(rows), task_id)


HISTORIES = [learned_first, learned_between, learned_between_in_another_order, learned_last, None]


def made(folder, name, history, rows, task_id):
    """Make a file that learns rows before, between or after two widenings; None: it had all columns from the start."""
    if history is None:
        file = created(folder, name, ("x", "z", "größe"), ("late", "y"))
        as_arrays(file, later(rows), task_id)
        return file
    file = created(folder, name)
    history(file, rows, task_id)
    return file


def all_made(folder, name, rows, task_id):
    return [made(folder, f"{name}-{number}", history, rows, task_id) for number, history in enumerate(HISTORIES)]


def test_rows_that_are_in_both_files_are_not_merged(tmp_path):
    """Whatever columns either file had when it learned them."""
    files = [all_made(tmp_path, *names) for names in (("north", table(), "May"), ("south", table(), "Mai"))]
    for one, two in product(*files):
        with pytest.raises(MergeError, match="the same rows are in both, as 'May' and 'Mai'"):
            one.merge(two, tmp_path / "both.rw")
        assert not (tmp_path / "both.rw").exists()


@pytest.mark.parametrize("south", range(len(HISTORIES)))
def test_rows_are_recognised_after_a_merge(tmp_path, south):
    """Those of both files, and other rows are not, whatever columns they were learned with."""
    rows = {"May": table(weights="all 1"), "Mai": table(weights="in the last row")}
    one = made(tmp_path, "north", HISTORIES[south - 1], rows["May"], "May")
    two = made(tmp_path, "south", HISTORIES[south], rows["Mai"], "Mai")
    both = one.merge(two, tmp_path / "both.rw")
    both.widen(features={"q": 1.0})
    for task_id, own in rows.items():
        again = later(own).assign(q=1.0)
        assert_known(both, again, task_id)
        assert_known(both, again, task_id, in_parts)
        for name in again.columns:
            other = again.copy()
            other.loc[N_ROWS - 1, name] += 0.25
            assert_other(both, other, task_id)


def test_the_same_values_in_another_new_column_are_other_rows(tmp_path):
    """One file learned them as z, the other as zz, each before it had the other column."""
    values, files = table(seed=1)["x"], {}
    for name, other in (("z", "zz"), ("zz", "z")):
        file = created(tmp_path, name)
        file.widen(features={name: 2.5})
        in_memory(file, table().assign(**{name: values}), f"as {name}")
        file.widen(features={other: 2.5})
        files[name] = file
    both = files["z"].merge(files["zz"], tmp_path / "both.rw")
    assert_known(both, table().assign(z=values, zz=2.5), "as z")
    assert_known(both, table().assign(z=2.5, zz=values), "as zz")
    assert_other(both, table().assign(z=2.5, zz=values), "as z")


# The command ----------------------------------------------------------------------------------------------------------


def test_the_command_recognises_rows_in_another_format(tmp_path):
    def run(*words):
        done = CliRunner().invoke(commands, [*map(str, words)])
        return done.exit_code, done.stdout, done.stderr

    file, rows = created(tmp_path).path, table()
    german = ("--delimiter", ";", "--decimal", ",", "--charset", "latin-1")
    first = written_as(rows, tmp_path / "first.csv", FORMATS["German"][1])
    again = written_as(later(rows), tmp_path / "again.tsv", CsvFormat("\t", ".", "utf-8"))
    other = written_as(later(rows).assign(late=1.0), tmp_path / "other.csv", FORMATS["German"][1])
    assert run("absorb", file, first, "--task", "May", *german)[0] == 0
    assert run("widen", file, "--feature", "z", "--past-value", "2.5")[0] == 0
    assert run("widen", file, "--target", "late", "--past-value", "-0")[0] == 0
    code, out, _ = run("absorb", file, again, "--task", "May")
    assert (code, "already absorbed" in out) == (0, True)
    code, _, message = run("absorb", file, again, "--task", "June")
    assert (code, "are those of task 'May'" in message) == (2, True)
    code, _, message = run("absorb", file, other, "--task", "May", *german)
    assert (code, "with other content" in message) == (2, True)
    south = made(tmp_path, "south", learned_first, rows, "Mai").path
    code, _, message = run("merge", file, south, "--out", tmp_path / "both.rw")
    assert (code, "the same rows are in both, as 'May' and 'Mai'" in message) == (2, True)
