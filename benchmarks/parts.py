"""The state file that keeps its tasks: opening it and absorbing one task more, beside a file that keeps few.

`python -m benchmarks.parts` takes a few minutes and 1 GB of memory; `--tasks 1000` is quicker.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.bars import MANY_PARTS, OPEN_SECONDS
from benchmarks.store import Measured, store_table
from benchmarks.timing import paired_ratio
from ridgeway.data import Keep, Schema, Task
from ridgeway.information import KINDS, Information, Node, PartName, with_leaf
from ridgeway.store import Record, Store
from ridgeway.store import open as opened
from ridgeway.store._changes import Contents
from ridgeway.store._ledger import Entry
from ridgeway.store._new_file import FIRST, write_state
from ridgeway.store._nodes import PartLeaf
from ridgeway.store._state import empty_arrays
from ridgeway.weights import from_arrays, to_arrays

FEATURES = 50
ROWS = 60
FEW, MANY = 10, 10_000
ROUNDS = 101
SCHEMA = Schema(tuple(f"x{j}" for j in range(FEATURES)), ("y",), True, None, True, "square_root", keep=Keep())


def rows(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rows of a task."""
    X = np.asfortranarray(rng.standard_normal((ROWS, FEATURES)))
    return X, X.sum(axis=1) + rng.standard_normal(ROWS)


def make_file(path: Path, n_tasks: int) -> Store:
    """Make a state file of many tasks, with digests of nothing: `check` would refuse them."""
    rng = np.random.default_rng(n_tasks)
    blank = KINDS[SCHEMA.information].empty(FEATURES, 1, centered=True)
    tree: Node | None = None
    entries = []
    for number in range(1, n_tasks + 1):
        X, y = rows(rng)
        part = blank.add(Task.of(X, y[:, None]))
        tree = with_leaf(tree, PartLeaf.made(PartName(f"task {number}"), None, number, _known(part)))
        record = Record(number, f"task {number}", rng.bytes(32).hex(), ROWS, float(ROWS), "", 1)
        entries.append(Entry(FIRST, record, rng.bytes(32 * (FEATURES + 1))))
    start = from_arrays(empty_arrays(SCHEMA, 0.0))
    if tree is not None:
        start = replace(start, information=tree.information, n_tasks=n_tasks)
    write_state(path, Contents((SCHEMA.to_bytes(),), entries, to_arrays(start), tree), 1.0)
    return opened(path)


def _known(part: Information) -> Callable[[], Information]:
    return lambda: part


def timed(files: Sequence[Path], rounds: int) -> tuple[list[list[float]], ...]:
    """Return the seconds of opening, absorbing and removing, round by round, for each file in turn.

    The first file is put back as it was before every round, so that it keeps few tasks.
    """
    rng = np.random.default_rng(0)
    found: tuple[list[list[float]], ...] = tuple([[] for _ in files] for _ in range(3))
    few = files[0].read_bytes()
    for number in range(rounds):
        X, y = rows(rng)
        files[0].write_bytes(few)
        for place in np.roll(range(len(files)), number):
            times = [time.perf_counter()]
            file = opened(files[place])
            times.append(time.perf_counter())
            file.absorb(f"new {number}", X, y)
            times.append(time.perf_counter())
            for kind, seconds in zip(found, np.diff(times), strict=False):
                kind[place].append(float(seconds))
    with_one = files[0].read_bytes()
    for number in range(rounds):
        files[0].write_bytes(with_one)
        for place in np.roll(range(len(files)), number):
            file, name = opened(files[place]), f"new {number if place else rounds - 1}"
            begin = time.perf_counter()
            file.remove(name)
            found[2][place].append(time.perf_counter() - begin)
    return found


def measured(n_tasks: int, rounds: int) -> list[Measured]:
    """Compare a file of many tasks with one of few."""
    with tempfile.TemporaryDirectory(dir=Path("build") if Path("build").is_dir() else None) as folder:
        files = [make_file(Path(folder) / f"{size}.rw", size).path for size in (FEW, n_tasks)]
        found = []
        bars = {"open": None, "absorb": MANY_PARTS, "remove": None}
        for (call, bar), (few, many) in zip(bars.items(), timed(files, rounds), strict=True):
            note = f"{1e3 * float(np.median(many)):.2f} ms and {1e3 * float(np.median(few)):.2f} ms"
            what = f"{call} with {n_tasks:,} tasks kept: time against {FEW} tasks, p = {FEATURES}"
            found.append(Measured(what, paired_ratio(many, few), bar, note))
            if call == "open":
                found.append(Measured("seconds to open it", max(many), OPEN_SECONDS, "the longest"))
        return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parts", description=__doc__)
    parser.add_argument("--tasks", type=int, default=MANY, help="tasks of the large file")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="tasks to absorb into each file")
    arguments = parser.parse_args()
    print("\n".join(store_table(measured(arguments.tasks, arguments.rounds))))
