"""What each tuning buys: `python -m benchmarks.tunings` prints the table.

A tuning is switched off by setting its constant to what a plain version would have, on the same rows and in turn. One
that buys less than 15 % here is dropped.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import Process
from typing import Any, NamedTuple

import numpy as np

from benchmarks.tables import number, table
from benchmarks.timing import Plan, clock, interleave, paired_ratio
from benchmarks.workers import alone
from ridgeway import GeneralizedRidge
from ridgeway.data import Task
from ridgeway.information import SquareRoot
from ridgeway.kernels import Mean, _lapack, _reference, _routines, _tall, _threads, _tridiagonal
from ridgeway.linalg import _penalized
from ridgeway.weights import Accumulated

THREADS = 2
TASKS = 3
PLAN = Plan(seconds=4.0, fewest=5, most=200)
WORTH = 1.15


class Tuning(NamedTuple):
    """A tuning: what it is, the kernel and the size (n, p) that show it, and the constant that switches it off.

    `busy` says that it is about a machine whose cores have other work too.
    """

    what: str
    kernel: str
    size: tuple[int, int]
    module: Any
    constant: str
    off: Any
    busy: bool = False


TUNINGS = (
    Tuning("blocks that fit into the cache, and threads", "comoment_update", (50_000, 100), _tall, "ENTRIES", 2**40),
    Tuning("blocks that fit into the cache, and threads", "factor_update", (50_000, 100), _tall, "ENTRIES", 2**40),
    Tuning("many wide blocks twice as large", "factor_update", (50_000, 200), _tall, "FEW_BLOCKS", 2**40),
    Tuning("one pass over the rows", "comoment_update", (6000, 20), _lapack, "ONE_PASS", 2**40),
    Tuning("reflectors put together, narrow", "factor_update", (2000, 200), _routines, "TOGETHER", 1),
    Tuning(
        "four reflectors put together, few columns", "factor_update", (200_000, 10), _lapack, "NARROW_REFLECTORS", 1
    ),
    Tuning("panels and strips", "factor_update", (500, 1500), _lapack, "PANEL", 10**6),
    Tuning("one BLAS thread for few columns, idle cores", "a model", (150, 200), _threads, "WIDE", 0),
    Tuning("one BLAS thread for few columns, busy cores", "a model", (150, 200), _threads, "WIDE", 0, busy=True),
    Tuning("tridiagonal instead of eigenvalues", "reduce_symmetric", (0, 300), _tridiagonal, "TridiagonalForm", None),
    Tuning("a weak prior as a correction", "with_prior", (450, 200), _penalized, "SHRINKS", np.inf),
    Tuning("a weak prior as a correction", "with_prior", (4000, 2000), _penalized, "SHRINKS", np.inf),
)


def run(kernel: str, arguments: tuple[Any, ...]) -> None:
    """Call a kernel, or let a model learn and solve."""
    if kernel == "a model":
        _ = GeneralizedRidge(Accumulated(prior=1.0), information="moments").partial_fit(*arguments).coef_
    elif kernel == "with_prior":
        arguments[0].with_prior(*arguments[1:]).solve()
    elif kernel == "reduce_symmetric":
        _tridiagonal.reduce_symmetric(*arguments)
    else:
        getattr(_lapack, kernel)(*arguments, None, centered=True)


def several(kernel: str, arguments: tuple[Any, ...]) -> None:
    """Call a kernel for tasks that follow each other."""
    for _ in range(TASKS):
        run(kernel, arguments)


def given(kernel: str, n: int, p: int) -> tuple[Any, ...]:
    """Return what a kernel is called with."""
    rng = np.random.default_rng(0)
    if n == 0:
        return (np.asfortranarray(np.cov(rng.standard_normal((p, 2 * p)))),)
    X, y = rng.standard_normal((n, p)), rng.standard_normal((n, 1))
    if kernel == "a model":
        return X, y
    if kernel == "with_prior":
        held = SquareRoot.empty(p, 1, centered=True).add(Task.of(X, y))
        return (held, np.ones(p), np.zeros((p, 1)))
    start = np.asfortranarray(np.eye(p + 1))
    return (start, Mean(float(n), np.zeros(p + 1), np.zeros(p + 1)), X, y)


@contextmanager
def without(tuning: Tuning) -> Iterator[None]:
    """Switch a tuning off."""
    before = getattr(tuning.module, tuning.constant)
    off = (lambda A: _reference.EigenForm(*_reference.eigen(A))) if tuning.off is None else tuning.off
    setattr(tuning.module, tuning.constant, off)
    try:
        yield
    finally:
        setattr(tuning.module, tuning.constant, before)


def measured(number_of: int) -> float:
    """Return the time without a tuning relative to the time with it."""
    tuning = TUNINGS[number_of]
    arguments = given(tuning.kernel, *tuning.size)

    def on() -> float:
        return clock(lambda: several(tuning.kernel, arguments))

    def off() -> float:
        with without(tuning):
            return clock(lambda: several(tuning.kernel, arguments))

    on(), off()
    others = [Process(target=spin, daemon=True) for _ in range(THREADS if tuning.busy else 0)]
    for other in others:
        other.start()
    seconds = interleave({"on": on, "off": off}, PLAN)
    for other in others:
        other.kill()
    return paired_ratio(seconds["off"], seconds["on"])


def spin() -> None:
    """Keep a core busy."""
    while True:
        pass


def main() -> None:
    """Print the table."""
    rows = []
    for index, tuning in enumerate(TUNINGS):
        ratio = alone(THREADS, measured, index)
        kept = "kept" if ratio >= WORTH else "NOT WORTH IT"
        rows.append([tuning.what, f"{tuning.kernel} {tuning.size}", number(ratio), kept])
    print("\n".join(table(["tuning", "shown by", "time without it", "verdict"], rows)))


if __name__ == "__main__":
    main()
