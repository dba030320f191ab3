"""Time per task with 1, 2, 4, … threads: `python -m benchmarks.cores` prints the table.

Each number of threads has a process of its own, which may use all cores. It needs nothing but NumPy, SciPy and
scikit-learn. A speed-up is relative to one thread.
"""

import os
import time
from typing import Any

import numpy as np

from benchmarks.tables import number, table
from benchmarks.workers import worker
from ridgeway import GeneralizedRidge
from ridgeway.data import InformationKind

Times = dict[tuple[int, int, str], float]

SIZES = ((50_000, 100), (200_000, 10), (27_000, 20), (2000, 20), (100, 20), (1000, 2000), (200, 4000))
KINDS: tuple[InformationKind, ...] = ("moments", "square_root")
FEWEST, MOST, SECONDS = 5, 200, 2.0
"""Tasks of a size: as many as fit into the seconds, between these two."""


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


def measure() -> Times:
    """Measure all sizes in this process."""
    rng = np.random.default_rng(0)
    found: Times = {}
    for n, p in SIZES:
        X, y = rng.standard_normal((n, p)), rng.standard_normal(n)
        found |= {(n, p, kind): seconds_per_task(kind, X, y) for kind in KINDS}
    return found


def main() -> None:
    """Print the table."""
    results = {}
    for threads in counts():
        with worker(threads, pinned=False) as pool:
            results[threads] = pool.submit(measure).result()
    rows = []
    for (n, p, kind), one in results[1].items():
        times = [found[n, p, kind] for found in results.values()]
        rows.append([f"({n}, {p})", kind, *(f"{number(1e3 * own)} ({number(one / own)}×)" for own in times)])
    print("\n".join(table(["(n, p)", "information", *(f"{threads} thread(s), ms" for threads in results)], rows)))


if __name__ == "__main__":
    main()
