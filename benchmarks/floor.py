"""The machine's floor: what its BLAS, LAPACK and memory do, measured in the same run as the contenders."""

import sys
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.linalg.blas import dgemm, dsyrk
from scipy.linalg.lapack import dpotrf

from benchmarks.tables import number, table
from benchmarks.timing import clock
from benchmarks.workers import alone

SIZE, TALL, REPEATS = 2000, (50_000, 100), 5
COPIED_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Floor:
    """Rates in GFLOP/s (a multiplication and an addition are two) and the copy bandwidth in GB/s, the best of a few."""

    threads: int
    syrk: float
    tall_syrk: float
    gemm: float
    potrf: float
    copy: float

    def seconds(self, n_samples: int, n_features: int, *, tasks: int, solves: int) -> float:
        """Return what XᵀX of every task and a Cholesky factor for every solve take at these rates."""
        rate = self.tall_syrk if n_samples >= 10 * n_features else self.syrk
        products = tasks * n_samples * n_features**2 / rate
        factors = solves * n_features**3 / 3 / self.potrf
        return (products + factors) / 1e9

    def record(self) -> dict[str, Any]:
        """Return the rates as plain data."""
        return asdict(self)


def measure(threads: int) -> Floor:
    """Measure the floor in this process, which is to have so many cores."""
    rng = np.random.default_rng(0)
    A = np.asfortranarray(rng.standard_normal((SIZE, SIZE)))
    tall = rng.standard_normal(TALL).T
    definite = dsyrk(1.0, A, trans=1) + SIZE * np.eye(SIZE)
    source, target = np.ones(COPIED_BYTES // 8), np.ones(COPIED_BYTES // 8)

    def rate(operations: float, action: Any) -> float:
        action()
        return operations / min(clock(action) for _ in range(REPEATS)) / 1e9

    return Floor(
        threads=threads,
        syrk=rate(SIZE**3, lambda: dsyrk(1.0, A, trans=1)),
        tall_syrk=rate(TALL[0] * TALL[1] ** 2, lambda: dsyrk(1.0, tall)),
        gemm=rate(2 * SIZE**3, lambda: dgemm(1.0, A, A)),
        potrf=rate(SIZE**3 / 3, lambda: dpotrf(definite)),
        copy=rate(2 * COPIED_BYTES, lambda: np.copyto(target, source)),
    )


def measured(threads: int) -> Floor:
    """Measure the floor in a process of its own."""
    print(f"floor: {threads} threads", file=sys.stderr, flush=True)
    return alone(threads, measure, threads)


def floor_table(floors: list[Floor]) -> list[str]:
    """Return the table of rates."""
    header = ["threads", "dsyrk", f"dsyrk {TALL}", "dgemm", "dpotrf", "copy (GB/s)"]
    rows = [
        [str(f.threads), *(number(rate) for rate in (f.syrk, f.tall_syrk, f.gemm, f.potrf, f.copy))] for f in floors
    ]
    return table(header, rows)
