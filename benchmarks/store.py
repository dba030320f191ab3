"""The state file: absorbing a Parquet file beside a bare loop, a commit beside a plain write, and a wide state.

`python -m benchmarks.store` takes a few minutes and 2 GB of disk; `--rows 500000` is quicker.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bars import ABSORB, ABSORB_BYTES, COMMIT, KINDS, verdict
from benchmarks.tables import number, table
from benchmarks.timing import paired_ratio
from benchmarks.workers import MB, alone, peak_bytes

if TYPE_CHECKING:
    from ridgeway.data import InformationKind

FEATURES = 50
ROWS_SHORT, ROWS_FULL = 1_000_000, 5_000_000
ROWS_AT_ONCE = 250_000
ROUNDS_SHORT, ROUNDS_FULL = 2, 3
COMMIT_FEATURES = 2000
COMMIT_ROUNDS = 7
WIDE = 12_000


@dataclass(frozen=True)
class Measured:
    """A ratio or a number of bytes, and the limit; None if there is no limit."""

    what: str
    value: float
    at_most: float | None
    note: str

    def record(self) -> dict[str, Any]:
        """Return the measurement as plain data."""
        return asdict(self)


def make_file(path: str, rows: int) -> None:
    """Write a Parquet file of random numbers, a row group at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [*(f"x{j}" for j in range(FEATURES)), "y"]
    rng = np.random.default_rng(0)
    with parquet.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as sink:
        for start in range(0, rows, ROWS_AT_ONCE):
            X = rng.standard_normal((FEATURES, min(ROWS_AT_ONCE, rows - start)))
            columns = [*X, X.sum(axis=0) + rng.standard_normal(X.shape[1])]
            sink.write_table(pa.table([pa.array(column) for column in columns], names=names))


def bare_loop(path: str, *, pre_buffer: bool = True) -> tuple[float, float]:
    """Return the seconds of a loop that reads batches and sums up XᵀX, and the peak of its process."""
    from pyarrow import parquet

    begin, total = time.perf_counter(), np.zeros((FEATURES + 1, FEATURES + 1))
    for batch in parquet.ParquetFile(path, pre_buffer=pre_buffer).iter_batches(batch_size=65536):
        X = np.column_stack([column.to_numpy() for column in batch.columns])
        total += X.T @ X
    return time.perf_counter() - begin, peak_bytes()


def absorb(path: str, folder: str, kind: "InformationKind") -> tuple[float, float]:
    """Return the seconds that a state file takes to absorb a Parquet file, and the peak of its process."""
    from pyarrow import parquet

    from ridgeway import store

    names = parquet.ParquetFile(path).schema_arrow.names
    where = Path(folder) / f"{kind}-{os.getpid()}.rw"
    made = store.create(where, features=names[:-1], target=names[-1], information=kind)
    begin = time.perf_counter()
    made.absorb_table(path, task_id="all")
    return time.perf_counter() - begin, peak_bytes()


def commits(folder: str, p: int, rounds: int) -> tuple[list[float], list[float]]:
    """Return the seconds of commits of a state of p features, and of plain writes of the same bytes, in turn."""
    from ridgeway import store
    from ridgeway.store._changes import changing
    from ridgeway.store._ledger import Entry, Record

    rng = np.random.default_rng(0)
    made = store.create(Path(folder) / "commits.rw", features=[f"x{j}" for j in range(p)], target="y")
    for start in range(3):  # a file that has been in use: two generations, and the pages of a third
        made.absorb(str(start), rng.standard_normal((64, p)), rng.standard_normal(64))
    ours, plain = [], []
    for count in range(rounds):
        with changing(made._handle) as change:
            arrays = change.arrays
            record = Record(change.ledger.next_sequence, f"c{count}", f"{count:064}", 0, 0.0, "", 1)
            change.ledger.put(Entry(change.generation.number + 1, record, b""))
            begin = time.perf_counter()
            change.commit(arrays)
            ours.append(time.perf_counter() - begin)
        content = b"".join(array.tobytes() for array in arrays.values())
        begin = time.perf_counter()
        with (Path(folder) / f"plain-{count}").open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        plain.append(time.perf_counter() - begin)
    return ours, plain


def wide(folder: str) -> tuple[float, float]:
    """Return the seconds to absorb a task of very many features, and the peak of the process."""
    from ridgeway import store

    rng = np.random.default_rng(0)
    made = store.create(Path(folder) / "wide.rw", features=[f"x{j}" for j in range(WIDE)], target="y", prior=1.0)
    begin = time.perf_counter()
    made.absorb("one", rng.standard_normal((100, WIDE)), rng.standard_normal(100))
    seconds = time.perf_counter() - begin
    if store.open(made.path).history()[0].n_samples != 100:
        raise RuntimeError("the wide state file lost its task.")
    return seconds, peak_bytes()


def absorbed(folder: str, rows: int, rounds: int) -> list[Measured]:
    """Measure absorbing a file with the given number of rows, each run in its own process, in turns."""
    path = str(Path(folder) / "rows.parquet")
    alone(2, make_file, path, rows)
    times: dict[str, list[float]] = {"bare": [], "lean": [], **{kind: [] for kind in KINDS}}
    peaks: dict[str, float] = {}
    for _ in range(rounds):
        for name, samples in times.items():
            print(f"state file: {rows} rows, {name}", file=sys.stderr, flush=True)
            if name in KINDS:
                seconds, peaks[name] = alone(2, absorb, path, folder, name)
            else:
                seconds, peaks[name] = alone(2, bare_loop, path, pre_buffer=name == "bare")
            samples.append(seconds)
    found = []
    for kind in KINDS:
        ratio = paired_ratio(times[kind], times["bare"])
        lean = paired_ratio(times[kind], times["lean"])
        note = f"{min(times[kind]):.1f} s; {lean:.2f} against the loop with pre_buffer=False"
        found.append(Measured(f"absorb {rows} × {FEATURES}, {kind}: time against a bare loop", ratio, ABSORB, note))
        note = f"the loop: {peaks['bare'] / MB:.0f}, with pre_buffer=False {peaks['lean'] / MB:.0f}"
        what = f"absorb {rows} × {FEATURES}, {kind}: peak (MB)"
        found.append(Measured(what, peaks[kind] / MB, ABSORB_BYTES / MB, note))
    return found


def measured(*, full: bool, rows: int | None = None) -> list[Measured]:
    """Measure everything; the short version absorbs fewer rows and leaves out the wide state."""
    with tempfile.TemporaryDirectory(dir=Path("build") if Path("build").is_dir() else None) as folder:
        size, rounds = (ROWS_FULL, ROUNDS_FULL) if full else (ROWS_SHORT, ROUNDS_SHORT)
        found = absorbed(folder, rows or size, rounds)
        ours, plain = alone(2, commits, folder, COMMIT_FEATURES, COMMIT_ROUNDS)
        note = f"{1e3 * float(np.median(ours)):.0f} ms, plain {1e3 * float(np.median(plain)):.0f} ms"
        what = f"a commit at p = {COMMIT_FEATURES}: time against writing and syncing the same bytes"
        found.append(Measured(what, paired_ratio(ours, plain), COMMIT, note))
        if full:
            seconds, peak = alone(2, wide, folder)
            found.append(Measured(f"p = {WIDE}: peak of absorbing 100 rows (MB)", peak / MB, None, f"{seconds:.0f} s"))
    return found


def store_table(found: Sequence[Measured]) -> list[str]:
    """Return the table of measurements beside their bars."""
    rows = [
        [
            it.what,
            number(it.value),
            *(("–", "–") if it.at_most is None else (number(it.at_most), verdict(it.value, it.at_most))),
            it.note,
        ]
        for it in found
    ]
    return table(["what", "value", "bar", "verdict", "note"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.store", description=__doc__)
    parser.add_argument("--full", action="store_true", help="5,000,000 rows, and a state of 12,000 features")
    parser.add_argument("--rows", type=int, help="rows of the file")
    arguments = parser.parse_args()
    print("\n".join(store_table(measured(full=arguments.full, rows=arguments.rows))))
