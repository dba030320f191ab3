"""The state file after many tasks: opening it, and absorbing one task more, beside a file with few.

`python -m benchmarks.ledger` takes about a minute; `--tasks 1000000` shows how it goes on.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.bars import LONG_LEDGER
from benchmarks.store import Measured, store_table
from benchmarks.timing import paired_ratio
from ridgeway import GeneralizedRidge
from ridgeway.data import Schema
from ridgeway.store import Record, Store
from ridgeway.store import open as opened
from ridgeway.store._changes import Contents
from ridgeway.store._ledger import Entry
from ridgeway.store._new_file import FIRST, write_state
from ridgeway.weights import from_arrays, to_arrays

FEATURES = 10
FEW, MANY = 10, 100_000
ROUNDS = 201
SCHEMA = Schema(tuple(f"x{j}" for j in range(FEATURES)), ("y",), True, None, True, "square_root")


def make_file(path: Path, n_tasks: int) -> Store:
    """Make a state file of tasks of one row each, with digests of nothing: `check` would refuse them."""
    rng = np.random.default_rng(n_tasks)
    X = rng.standard_normal((n_tasks, FEATURES))
    learned = from_arrays(GeneralizedRidge().fit(X, X.sum(axis=1)).to_arrays())
    arrays = to_arrays(replace(learned, n_tasks=n_tasks))
    entries = [
        Entry(
            FIRST, Record(number, f"task {number}", rng.bytes(32).hex(), 1, 1.0, "", 1), rng.bytes(32 * (FEATURES + 1))
        )
        for number in range(1, n_tasks + 1)
    ]
    write_state(path, Contents((SCHEMA.to_bytes(),), entries, arrays), 1.0)
    return opened(path)


def timed(files: Sequence[Store], rounds: int) -> tuple[list[list[float]], list[list[float]]]:
    """Return the seconds of opening and of absorbing, round by round, for each file in turn."""
    rng = np.random.default_rng(0)
    opening: list[list[float]] = [[] for _ in files]
    absorbing: list[list[float]] = [[] for _ in files]
    for number in range(rounds):
        X = rng.standard_normal((20, FEATURES))
        for place in np.roll(range(len(files)), number):
            begin = time.perf_counter()
            file = opened(files[place].path)
            middle = time.perf_counter()
            file.absorb(f"new {number}", X, X.sum(axis=1))
            absorbing[place].append(time.perf_counter() - middle)
            opening[place].append(middle - begin)
    return opening, absorbing


def measured(n_tasks: int, rounds: int) -> list[Measured]:
    """Compare a file of many tasks with one of few."""
    with tempfile.TemporaryDirectory(dir=Path("build") if Path("build").is_dir() else None) as folder:
        files = [make_file(Path(folder) / f"{size}.rw", size) for size in (FEW, n_tasks)]
        found = []
        for call, (few, many) in zip(("open", "absorb"), timed(files, rounds), strict=True):
            note = f"{1e3 * float(np.median(many)):.2f} ms and {1e3 * float(np.median(few)):.2f} ms"
            what = f"{call} after {n_tasks:,} tasks: time against {FEW} tasks, p = {FEATURES}"
            found.append(Measured(what, paired_ratio(many, few), LONG_LEDGER, note))
        return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ledger", description=__doc__)
    parser.add_argument("--tasks", type=int, default=MANY, help="tasks of the long ledger")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="tasks to absorb into each file")
    arguments = parser.parse_args()
    print("\n".join(store_table(measured(arguments.tasks, arguments.rounds))))
