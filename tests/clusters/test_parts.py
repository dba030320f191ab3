"""A task in parts has the digest of the whole table, and learns each row once."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from pyarrow.parquet import ParquetFile
from spread import FEATURES, files_in, made, part_files, rows, spread_out, state_of, write
from statsmodels.api import OLS, add_constant

from ridgeway import distributed
from ridgeway.data import CsvFormat
from ridgeway.distributed import _plan, _window
from ridgeway.distributed._local import QUIET
from ridgeway.distributed._plan import FilePiece, learned, planned, surveyed
from ridgeway.errors import (
    DuplicateTaskError,
    InvalidDataError,
    InvalidParameterError,
    InvalidStateError,
    StoreError,
    WorkError,
)
from ridgeway.store import CHUNK_ROWS, PartialTask, PartLearner, encoding_of, open


def pieces(*sizes):
    return [FilePiece(str(number), "", None, n_rows) for number, n_rows in enumerate(sizes)]


def test_parts_begin_where_chunks_begin_and_cover_every_row_once(rng):
    for _ in range(50):
        sizes = rng.choice([0, 1, 100, CHUNK_ROWS - 1, CHUNK_ROWS, CHUNK_ROWS + 1, 30000], size=12)
        starts = np.cumsum([0, *sizes])
        found = []
        for part in planned(pieces(*sizes.tolist())):
            begin = starts[part.first] + part.skip
            assert begin % CHUNK_ROWS == 0
            assert part.skip < max(1, sizes[part.first])
            assert starts[part.first + len(part.pieces)] >= begin + part.n_rows
            found += [(begin, begin + part.n_rows)]
        ends = [end for _, end in found]
        assert [begin for begin, _ in found] == [0, *ends][: len(found)]
        assert ends == [] if starts[-1] == 0 else ends[-1] == starts[-1]


@pytest.mark.parametrize("kind", ["square_root", "moments"])
def test_the_answer_is_least_squares_on_all_rows(threads, tmp_path, kind):
    files, whole = spread_out(tmp_path)
    wages = made(tmp_path / "wages.rw", information=kind)
    outcome = distributed.absorb(wages, files, "2019", client=threads)
    frame = pd.read_parquet(whole)
    peer = OLS(frame["y"], add_constant(frame[FEATURES])).fit().params
    np.testing.assert_allclose(wages.model().coef_, peer[FEATURES], rtol=1e-9)
    assert outcome.record.n_samples == wages.model().n_samples_seen_ == len(frame)
    assert wages.model().n_tasks_ == 1
    assert not part_files(wages)
    assert not (tmp_path / "wages.rw.parts").exists()


def test_what_was_absorbed_plainly_is_recognised_and_the_other_way_round(threads, tmp_path):
    files, whole = spread_out(tmp_path)
    one, two = (made(tmp_path / name) for name in ("one.rw", "two.rw"))
    (plain,) = one.absorb_table(whole, task_id="2019")
    spread = distributed.absorb(two, files, "2019", client=threads)
    assert plain.record.digest == spread.record.digest
    for absorbed in (one, two):
        before = absorbed.path.read_bytes()
        assert distributed.absorb(absorbed, files, "2019", client=threads).already
        assert distributed.absorb(absorbed, [whole], "2019", client=threads).already
        assert absorbed.absorb_table(whole, task_id="2019")[0].already
        with pytest.raises(DuplicateTaskError, match="the rows of task '2020' are those of task '2019'"):
            distributed.absorb(absorbed, files, "2020", client=threads)
        assert absorbed.path.read_bytes() == before
        assert not part_files(absorbed)
    forced = distributed.absorb(two, files, "2019 again", client=threads, force="a test")
    assert forced.record.reason == "a test"
    assert two.model().n_samples_seen_ == 2 * plain.record.n_samples


def test_row_groups_of_one_file_are_parts(threads, tmp_path, monkeypatch):
    _, whole = spread_out(tmp_path)
    monkeypatch.setattr(_plan, "PART_ENTRIES", 4 * 10_000)
    found = surveyed(str(whole), made(tmp_path / "one.rw").schema, None).pieces
    assert [piece.groups for piece in found] == [(0, 2), (2, 4), (4, 6), (6, 8)]
    assert [piece.n_rows for piece in found] == [14000, 14000, 14000, 12298]
    wages, seen = made(tmp_path / "wages.rw"), []
    distributed.absorb(wages, whole, "2019", client=threads, progress=lambda *rows: seen.append(rows))
    assert len(seen) == 4
    assert wages.absorb_table(whole, task_id="2019")[0].already


def test_the_order_in_which_files_are_named_does_not_matter(threads, tmp_path, rng):
    files, _ = spread_out(tmp_path)
    named = sorted((tmp_path / "data").glob("part-*"))
    one, two = (made(tmp_path / name) for name in ("one.rw", "two.rw"))
    distributed.absorb(one, files, "2019", client=threads)
    distributed.absorb(two, [*reversed(named), named[3]], "2019", client=threads)
    assert state_of(one) == state_of(two)


def test_a_later_task_adds_to_the_state(threads, tmp_path, rng):
    first, second = rows(rng, 500), rows(rng, 20000)
    files, _ = files_in(tmp_path / "data", [second[:9000], second[9000:]])
    wages = made(tmp_path / "wages.rw")
    wages.absorb("2018", first[FEATURES], first["y"])
    distributed.absorb(wages, files, "2019", client=threads)
    peer = OLS(*(lambda t: (t["y"], add_constant(t[FEATURES])))(pd.concat([first, second]))).fit().params
    np.testing.assert_allclose(wages.model().coef_, peer[FEATURES], rtol=1e-9)
    removed = wages.remove_table(write(second, tmp_path / "second.parquet"), task_id="2019")
    assert removed.record.n_samples == 20000


def test_rows_of_weight_zero_do_not_count(threads, tmp_path, rng):
    frames = [rows(rng, n).assign(w=rng.integers(0, 3, size=n).astype(float)) for n in (9000, 15000, 3000)]
    files, whole = files_in(tmp_path / "data", frames)
    one, two = (made(tmp_path / f"{n}.rw", weight_column="w", weight_kind="frequency") for n in (1, 2))
    (plain,) = one.absorb_table(whole, task_id="2019")
    spread = distributed.absorb(two, files, "2019", client=threads)
    assert plain.record == spread.record.__class__(**vars(spread.record) | {"absorbed_at": plain.record.absorbed_at})
    assert spread.record.n_samples == sum(int((frame["w"] > 0).sum()) for frame in frames)
    np.testing.assert_allclose(two.model().coef_, one.model().coef_, rtol=1e-10)
    assert two.model().n_samples_seen_ == sum(int(frame["w"].sum()) for frame in frames)


@pytest.mark.parametrize("missing", ["drop", "indicator"])
def test_gaps_and_new_categories_are_those_of_the_whole_table(threads, tmp_path, rng, missing):
    frames = []
    for number, n_rows in enumerate((9000, 12000, 4000)):
        frame = rows(rng, n_rows).assign(region=rng.choice(["north", "south", f"new {9 - number}"], size=n_rows))
        frame.loc[rng.choice(n_rows, size=50 * number), "b"] = np.nan
        frames.append(frame)
    files, whole = files_in(tmp_path / "data", frames)
    rules = encoding_of(frames[0], features=[*FEATURES, "region"], leave_out=["y"], missing=missing, unknown="widen")
    one, two = (made(tmp_path / f"{n}.rw", features=rules) for n in (1, 2))
    dropped, expected, added = Counter(), Counter(), []
    (plain,) = one.absorb_table(whole, task_id="2019", dropped=expected)
    spread = distributed.absorb(two, files, "2019", client=threads, dropped=dropped, added=added)
    assert spread.record.digest == plain.record.digest
    assert two.schema == one.schema
    assert dropped == expected
    assert {"region=new 8", "region=new 7"} <= {*added}
    np.testing.assert_allclose(two.model().coef_, one.model().coef_, rtol=1e-9)


def test_kept_tasks_have_the_parts_of_their_clusters(threads, tmp_path, rng):
    frames = [rows(rng, n).assign(school=rng.choice(["x", "y", "z"], size=n)) for n in (9000, 10000)]
    files, whole = files_in(tmp_path / "data", frames)
    one, two = (made(tmp_path / f"{n}.rw", keep="tasks", cluster_column="school") for n in (1, 2))
    (plain,) = one.absorb_table(whole, task_id="2019")
    assert distributed.absorb(two, files, "2019", client=threads).record.digest == plain.record.digest
    np.testing.assert_allclose(two.model().coef_, one.model().coef_, rtol=1e-10)
    two.absorb_table(write(rows(rng, 99).assign(school="x"), tmp_path / "next.parquet"), task_id="2020")
    assert two.remove("2019").digits_lost == 0.0
    assert two.check().n_tasks == 1


def test_csv_files_are_parts_too(threads, tmp_path, rng):
    frames = [rows(rng, 9000), rows(rng, 50)]
    (tmp_path / "data").mkdir()
    for number, frame in enumerate(frames):
        frame.to_csv(tmp_path / "data" / f"{number}.csv", index=False, sep=";")
    style = CsvFormat(delimiter=";")
    wages = made(tmp_path / "wages.rw")
    spread = distributed.absorb(wages, str(tmp_path / "data" / "*.csv"), "2019", client=threads, csv=style)
    assert wages.absorb_table(pd.concat(frames), task_id="2019")[0].already
    assert spread.record.n_samples == 9050


def test_files_are_found_by_address(threads, tmp_path):
    files, whole = spread_out(tmp_path)
    wages = made(tmp_path / "wages.rw")
    distributed.absorb(wages, f"file://{files}", "2019", client=threads)
    assert wages.absorb_table(f"file://{whole}", task_id="2019")[0].already
    with pytest.raises(InvalidDataError, match="no file matches"):
        distributed.absorb(wages, f"file://{tmp_path}/none-*.parquet", "2020", client=threads)
    with pytest.raises(InvalidDataError, match="only Parquet files are read from one"):
        wages.absorb_table(f"file://{tmp_path}/none.csv", task_id="2020")
    with pytest.raises(InvalidDataError, match="nonsense"):
        wages.absorb_table("nonsense://none.parquet", task_id="2020")


def broken_value(folder):
    frame = pd.read_parquet(folder / "part-2.parquet")
    frame.loc[12345, "b"] = np.inf
    write(frame, folder / "part-2.parquet")


def broken_bytes(folder):
    path = folder / "part-2.parquet"
    place = ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
    content = bytearray(path.read_bytes())
    content[place : place + 100] = bytes(100)
    path.write_bytes(content)


def cut_off(folder):
    path = folder / "part-2.parquet"
    path.write_bytes(path.read_bytes()[:5000])


def other_columns(folder):
    write(pd.read_parquet(folder / "part-2.parquet").rename(columns={"b": "B"}), folder / "part-2.parquet")


DAMAGE = {
    broken_value: r"begins in .* failed: .*part-2.parquet: column 'b' has NaN or infinity",
    broken_bytes: r"begins in .*part-0.parquet, row groups 0–1 failed: .*part-2.parquet cannot be read",
    cut_off: r"part-2.parquet cannot be counted: .*cannot be read",
    other_columns: r"part-2.parquet cannot be counted: .*'b'",
}
"""What is said. RowRange 0 reads on into file 2, to the end of a chunk."""


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_named_and_the_second_run_does_what_is_missing(threads, tmp_path, damage):
    files, whole = spread_out(tmp_path)
    good = (tmp_path / "data" / "part-2.parquet").read_bytes()
    damage(tmp_path / "data")
    wages, once = made(tmp_path / "wages.rw"), made(tmp_path / "once.rw")
    before = wages.path.read_bytes()
    with pytest.raises(WorkError, match=DAMAGE[damage]) as caught:
        distributed.absorb(wages, files, "2019", client=threads)
    assert "Nothing was committed" in str(caught.value)
    assert wages.path.read_bytes() == before
    kept = part_files(wages)
    assert bool(kept) == (damage in (broken_value, broken_bytes))
    (tmp_path / "data" / "part-2.parquet").write_bytes(good)
    seen = []
    outcome = distributed.absorb(wages, files, "2019", client=threads, progress=lambda *n: seen.append(n))
    assert not outcome.already
    assert seen[-1] == (54298, 54298)
    if kept:
        assert seen[0][0] > 9000  # what other parts have left was there
    distributed.absorb(once, files, "2019", client=threads)
    assert state_of(wages) == state_of(once)
    assert not part_files(wages)
    assert wages.absorb_table(whole, task_id="2019")[0].already


def test_a_file_that_changes_meanwhile_is_refused(tmp_path):
    _, whole = spread_out(tmp_path, (9000, 50))
    schema = made(tmp_path / "wages.rw").schema
    (part,) = planned(surveyed(str(whole), schema, None).pieces)
    assert learned(part, schema, None)["header"].size
    write(pd.read_parquet(whole)[:9000], whole)
    with pytest.raises(InvalidDataError, match="the rows changed while they were read"):
        learned(part, schema, None)


def test_bad_requests(threads, tmp_path, rng):
    files, _ = spread_out(tmp_path, (100, 50))
    wages = made(tmp_path / "wages.rw")
    with pytest.raises(InvalidDataError, match="no file matches"):
        distributed.absorb(wages, str(tmp_path / "none-*.parquet"), "2019", client=threads)
    with pytest.raises(InvalidParameterError, match="a task id must be"):
        distributed.absorb(wages, files, " 2019", client=threads)
    empty = write(rows(rng, 0), tmp_path / "empty.parquet")
    with pytest.raises(InvalidDataError, match="there are no rows to learn"):
        distributed.absorb(wages, empty, "2019", client=threads)
    fourth = made(tmp_path / "fourth.rw", keep=["tasks", "fourth-moments"])
    with pytest.raises(InvalidParameterError, match="fourth moments"):
        distributed.absorb(fourth, files, "2019", client=threads)
    counts = made(tmp_path / "counts.rw", family="poisson")
    with pytest.raises(InvalidParameterError, match="tasks of family poisson are not learned in parts"):
        distributed.absorb(counts, files, "2019", client=threads)


def test_a_part_that_cannot_be_read_back(tmp_path, rng):
    wages = made(tmp_path / "wages.rw")
    with pytest.raises(InvalidStateError, match="a part of a task cannot be read"):
        PartialTask.from_arrays(wages.schema, {"header": np.frombuffer(b"{}", np.uint8)})
    with pytest.raises(InvalidDataError, match="Leave out an empty part"):
        PartLearner(wages.schema).finish()


def test_writers_at_the_same_time_lose_nothing_and_count_nothing_twice(threads, tmp_path, rng):
    frames = {f"{2015 + number}": [rows(rng, 9000), rows(rng, 700)] for number in range(3)}
    files = {task: files_in(tmp_path / task, parts)[0] for task, parts in frames.items()}
    wages = made(tmp_path / "wages.rw")
    with ThreadPoolExecutor(6) as pool:
        writers = [
            (task, pool.submit(distributed.absorb, open(wages.path), files[task], task, client=threads))
            for task in [*files, *files]
        ]
        found = [(task, writer.result().already) for task, writer in writers]
    assert sorted(found) == sorted((task, already) for task in files for already in (False, True))
    assert {record.task_id: record.n_samples for record in wages.history()} == dict.fromkeys(files, 9700)
    whole = pd.concat([frame for parts in frames.values() for frame in parts])
    peer = OLS(whole["y"], add_constant(whole[FEATURES])).fit().params
    np.testing.assert_allclose(wages.model().coef_, peer[FEATURES], rtol=1e-9)
    assert wages.check().n_tasks == 3


def test_a_cluster_without_workers(tmp_path):
    files, _ = spread_out(tmp_path, (100, 50))
    wages = made(tmp_path / "wages.rw")
    with LocalCluster(n_workers=0, processes=False, **QUIET) as cluster, Client(cluster) as client:
        with pytest.raises(WorkError, match=r"has had no workers for 0.01 s, or was lost. Nothing was submitted"):
            distributed.absorb(wages, files, "2019", client=client, patience=0.01)
        with pytest.raises(InvalidParameterError, match=r"patience must be a finite number > 0; got 0"):
            distributed.absorb(wages, files, "2019", client=client, patience=0)


def test_a_result_that_was_lost_with_the_last_worker():
    """It was finished, so it was asked for; nobody computes it again. Work that raises the same error is a failure."""

    class Lost:
        status = "lost"

        def result(self, timeout):
            raise TimeoutError(timeout)

        def done(self):
            return False

    cluster = _window.Cluster(SimpleNamespace(nthreads=dict), 1, 0.01)
    with pytest.raises(_window._NoWorkersError):
        _window._result(cluster, Lost())
    Lost.status = "error"
    with pytest.raises(TimeoutError, match=r"0\.01"):
        _window._result(cluster, Lost())


def test_columns_that_change_meanwhile_are_noticed(threads, tmp_path):
    files, _ = spread_out(tmp_path, (100, 50))
    wages = made(tmp_path / "wages.rw")
    with pytest.raises(StoreError, match="were changed while task '2019' was learned"):
        distributed.absorb(
            wages, files, "2019", client=threads, progress=lambda *_: open(wages.path).widen(features={"d": 0.0})
        )
