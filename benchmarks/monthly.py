"""A raw table: absorbing text and numbers beside a bare loop that only reads and casts the columns.

`python -m benchmarks.monthly` takes about a minute and 1 GB of disk; `--rows 200000` is quicker.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.bars import KINDS
from benchmarks.tables import number, table
from benchmarks.timing import paired_ratio
from benchmarks.workers import MB, alone, peak_bytes
from ridgeway.data import InformationKind

ROWS, ROUNDS = 1_000_000, 3
NUMBERS, TEXTS, CATEGORIES = 47, 3, 20
ROWS_AT_ONCE = 250_000
BATCH = 65536
MOST, MOST_BYTES = 2.5, 900 * MB
"""The limits for `moments`: time relative to the bare loop, and peak memory."""


def make_file(path: str, rows: int) -> None:
    """Write a Parquet file of numbers and text."""
    import pyarrow as pa
    from pyarrow import parquet

    rng, sink = np.random.default_rng(0), None
    words = np.array([f"category {chr(ord('a') + j)}" for j in range(CATEGORIES)])
    for start in range(0, rows, ROWS_AT_ONCE):
        n = min(ROWS_AT_ONCE, rows - start)
        columns = {f"x{j}": pa.array(rng.standard_normal(n)) for j in range(NUMBERS)}
        columns |= {f"c{j}": pa.array(words[rng.integers(0, CATEGORIES, n)]) for j in range(TEXTS)}
        part = pa.table(columns | {"y": pa.array(rng.standard_normal(n))})
        sink = sink or parquet.ParquetWriter(path, part.schema)
        sink.write_table(part)
    if sink is not None:
        sink.close()


def bare(path: str) -> float:
    """Return the seconds of a loop that reads the columns, and casts numbers to float64 and text to a dictionary."""
    import pyarrow as pa
    from pyarrow import parquet

    start = time.perf_counter()
    for batch in parquet.ParquetFile(path).iter_batches(batch_size=BATCH):
        for column in batch.columns:
            if pa.types.is_string(column.type):
                column.dictionary_encode()
            else:
                np.asarray(column.cast(pa.float64()))
    return time.perf_counter() - start


def absorbed(path: str, kind: InformationKind) -> tuple[float, float]:
    """Return the seconds that absorbing takes, and the peak memory of the process."""
    from ridgeway import store

    with tempfile.TemporaryDirectory() as folder:
        encoding = store.encoding_of(path, leave_out=["y"])
        opened = store.create(Path(folder) / "table.rw", features=encoding, target="y", information=kind)
        start = time.perf_counter()
        opened.absorb_table(path, task_id="all")
        return time.perf_counter() - start, peak_bytes()


def main() -> None:
    """Measure in turns, each in a process of its own, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.monthly", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/table.parquet"
        alone(2, make_file, path, rows)
        loops: list[float] = []
        runs: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
        for _ in range(ROUNDS):
            loops.append(alone(2, bare, path))
            for kind in KINDS:
                runs[kind].append(alone(2, absorbed, path, kind))
    lines = [["bare loop", f"{np.median(loops):.2f} s", "1", "", ""]]
    for name, found in runs.items():
        seconds, peaks = zip(*found, strict=True)
        limit = f"{MOST}, {MOST_BYTES / MB:.0f} MB" if name == "moments" else ""
        ratio = paired_ratio(seconds, loops)
        lines.append([name, f"{np.median(seconds):.2f} s", number(ratio), f"{max(peaks) / MB:.0f} MB", limit])
    print(f"{rows:,} rows, {NUMBERS} numbers and {TEXTS} text columns of {CATEGORIES} categories")
    print("\n".join(table(["", "time", "relative to the loop", "peak memory", "limit"], lines)))


if __name__ == "__main__":
    main()
