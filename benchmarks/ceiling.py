"""How much 1, 2, 4, … cores can do at best: `python -m benchmarks.ceiling` prints the table.

Processes of one thread each learn tasks of their own at the same time. They share no lock, no memory and no work, so
threads that share one task cannot be expected to do better. A speed-up of k processes is k times the time of a task
alone, relative to its time beside the others.
"""

import time
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack

import numpy as np

from benchmarks.cores import KINDS, counts, seconds_per_task
from benchmarks.tables import number, table
from benchmarks.workers import worker
from ridgeway.data import InformationKind

SIZES = ((50_000, 100), (200_000, 10))
ROUNDS, HEAD_START = 3, 1.0


def measure(size: tuple[int, int], kind: InformationKind, start: float) -> float:
    """Return the time per task in this process, which begins at the same moment as the others."""
    n, p = size
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, p)), rng.standard_normal(n)
    time.sleep(max(start - time.time(), 0.0))
    return seconds_per_task(kind, X, y)


def together(pools: list[ProcessPoolExecutor], size: tuple[int, int], kind: InformationKind) -> float:
    """Return the median time per task while every process learns."""
    start = time.time() + HEAD_START
    running: list[Future[float]] = [pool.submit(measure, size, kind, start) for pool in pools]
    return float(np.median([one.result() for one in running]))


def main() -> None:
    """Print the table."""
    rows = []
    with ExitStack() as stack:
        pools = [stack.enter_context(worker(1, pinned=False)) for _ in range(counts()[-1])]
        for size in SIZES:
            for kind in KINDS:
                rounds = [[together(pools[:k], size, kind) for k in counts()] for _ in range(ROUNDS)]
                alone, *rest = np.median(rounds, axis=0)
                cells = [
                    f"{number(1e3 * t)} ({number(k * alone / t)}×)" for k, t in zip(counts()[1:], rest, strict=True)
                ]
                rows.append([str(size), kind, number(1e3 * alone), *cells])
    print("\n".join(table(["(n, p)", "information", *(f"{k} process(es), ms" for k in counts())], rows)))


if __name__ == "__main__":
    main()
