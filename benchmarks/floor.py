"""The machine's floor: what its BLAS, LAPACK and memory do, measured in the same run as the contenders."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.linalg.blas import dgemm, dsyrk
from scipy.linalg.lapack import dpotrf

from benchmarks.bars import SPEED
from benchmarks.nist import Array
from benchmarks.tables import number, table
from benchmarks.timing import clock
from benchmarks.workers import alone

GEMM_SIZE = 2000
COPIED_BYTES = 256 * 2**20
SECONDS, REPEATS = 0.3, 10


@dataclass(frozen=True)
class Floor:
    """Rates in GFLOP/s (a multiplication and an addition are two) and the copy bandwidth in GB/s, the best of a few.

    `syrk` is XᵀX at the sizes of the table, the faster of SciPy's dsyrk and NumPy's product; `potrf` is by p.
    """

    threads: int
    syrk: dict[tuple[int, int], float]
    potrf: dict[int, float]
    gemm: float
    copy: float

    def record(self) -> dict[str, Any]:
        """Return the rates as plain data."""
        return asdict(self) | {"syrk": {f"{n}x{p}": rate for (n, p), rate in self.syrk.items()}}


def lowest_seconds(floors: Sequence[Floor], size: tuple[int, int], *, threads: int, tasks: int, solves: int) -> float:
    """Return what XᵀX of every task and a Cholesky factor for every solve take, at the best rate of up to `threads`."""
    n, p = size
    usable = [floor for floor in floors if floor.threads <= threads]
    products = tasks * n * p**2 / max(floor.syrk[size] for floor in usable)
    factors = solves * p**3 / 3 / max(floor.potrf[p] for floor in usable)
    return (products + factors) / 1e9


def measure(threads: int) -> Floor:
    """Measure the floor in this process, which is to have so many cores."""
    rng = np.random.default_rng(0)
    A = np.asfortranarray(rng.standard_normal((GEMM_SIZE, GEMM_SIZE)))
    source, target = np.ones(COPIED_BYTES // 8), np.ones(COPIED_BYTES // 8)
    syrk, potrf = {}, {}
    for n, p in SPEED:
        syrk[n, p] = _product_rate(rng.standard_normal((n, p)))
        potrf[p] = _factor_rate(p)
    return Floor(
        threads=threads,
        syrk=syrk,
        potrf=potrf,
        gemm=_rate(2 * GEMM_SIZE**3, lambda: dgemm(1.0, A, A)),
        copy=_rate(2 * COPIED_BYTES, lambda: np.copyto(target, source)),
    )


def measured(threads: int) -> Floor:
    """Measure the floor in a process of its own."""
    print(f"floor: {threads} threads", file=sys.stderr, flush=True)
    return alone(threads, measure, threads)


def floor_table(floors: Sequence[Floor]) -> list[str]:
    """Return the table of rates."""
    rows = [[f"XᵀX, {size}", *(number(floor.syrk[size]) for floor in floors)] for size in floors[0].syrk]
    rows += [[f"dpotrf, p = {p}", *(number(floor.potrf[p]) for floor in floors)] for p in floors[0].potrf]
    rows += [[f"dgemm, {GEMM_SIZE}", *(number(floor.gemm) for floor in floors)]]
    rows += [["copy (GB/s, read and written)", *(number(floor.copy) for floor in floors)]]
    return table(["GFLOP/s", *(f"threads: {floor.threads}" for floor in floors)], rows)


def _product_rate(X: Array) -> float:
    operations = len(X) * X.shape[1] ** 2
    return max(_rate(operations, lambda: dsyrk(1.0, X.T)), _rate(operations, lambda: X.T @ X))


def _factor_rate(p: int) -> float:
    definite = np.asfortranarray(np.eye(p) + 0.5)
    return _rate(p**3 / 3, lambda: dpotrf(definite))


def _rate(operations: float, action: Callable[[], object]) -> float:
    """Return the best rate in 1e9 a second, after one warm-up."""
    action()
    times: list[float] = []
    while len(times) < REPEATS and sum(times) < SECONDS:
        times.append(clock(action))
    return operations / min(times) / 1e9
