"""Time per task with 1, 2, 4, … threads: `python -m benchmarks.cores` prints the table.

Each number of threads has a process of its own, which may use all cores, and they take turns. It needs nothing but
NumPy, SciPy and scikit-learn. A speed-up is relative to one thread.
"""

import os
import time
from contextlib import ExitStack
from typing import Any

import numpy as np

from benchmarks.tables import number, table
from benchmarks.workers import worker
from ridgeway import GeneralizedRidge
from ridgeway.data import InformationKind

SIZES = ((50_000, 100), (200_000, 10), (27_000, 20), (2000, 20), (100, 20), (1000, 2000), (200, 4000))
KINDS: tuple[InformationKind, ...] = ("moments", "square_root")
ROUNDS, FEWEST, MOST, SECONDS = 5, 5, 200, 0.4
"""Rounds, and tasks in each: as many as fit into the seconds, between these two."""


def counts() -> list[int]:
    """Return 1, 2, 4, … and the number of cores."""
    most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return sorted({2**i for i in range(most.bit_length())} | {most})


def seconds_per_task(kind: InformationKind, X: Any, y: Any) -> float:
    """Return the median time in which a model that has learned two tasks learns another."""
    model = GeneralizedRidge(information=kind).partial_fit(X, y).partial_fit(X, y)
    times: list[float] = []
    while len(times) < FEWEST or (sum(times) < SECONDS and len(times) < MOST):
        start = time.perf_counter()
        model.partial_fit(X, y)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def measure(n: int, p: int, kind: InformationKind) -> float:
    """Return the time per task of one size in this process."""
    rng = np.random.default_rng(0)
    return seconds_per_task(kind, rng.standard_normal((n, p)), rng.standard_normal(n))


def main() -> None:
    """Print the table."""
    rows = []
    with ExitStack() as stack:
        pools = [stack.enter_context(worker(threads, pinned=False)) for threads in counts()]
        for n, p in SIZES:
            for kind in KINDS:
                rounds = [[pool.submit(measure, n, p, kind).result() for pool in pools] for _ in range(ROUNDS)]
                times = np.median(rounds, axis=0)
                cells = [f"{number(1e3 * own)} ({number(times[0] / own)}×)" for own in times]
                rows.append([f"({n}, {p})", kind, *cells])
    print("\n".join(table(["(n, p)", "information", *(f"{threads} thread(s), ms" for threads in counts())], rows)))


if __name__ == "__main__":
    main()
