"""Processes with one or two cores to themselves, and one that is only measured.

The number of threads is set from outside: a worker sees that many cores, and the environment tells BLAS, OpenMP and
oneDAL the same. So no contender can be given more threads than another.
"""

import multiprocessing
import os
import resource
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

COUNTS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
# OpenMP threads that wait in a loop would take a core from the contender that comes next.
WAITING = {"OMP_WAIT_POLICY": "PASSIVE"}
MB = 1e6


@contextmanager
def worker(threads: int) -> Iterator[ProcessPoolExecutor]:
    """Yield an executor of one fresh process that has this many cores and threads."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        with _confined(threads):
            pool.submit(os.getpid).result()
        yield pool


def alone(threads: int, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `function` returns in a fresh process that has `threads` cores."""
    with worker(threads) as pool:
        return pool.submit(function, *args, **kwargs).result()


def peak_bytes() -> float:
    """Return the most memory that this process has had resident."""
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


@contextmanager
def _confined(threads: int) -> Iterator[None]:
    """Let the processes that are started inside inherit this many cores and threads."""
    wanted = dict.fromkeys(COUNTS, str(threads)) | WAITING
    before = {name: os.environ.get(name) for name in wanted}
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    os.environ.update(wanted)
    if cores is not None:
        os.sched_setaffinity(0, sorted(cores)[:threads])
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        if cores is not None:
            os.sched_setaffinity(0, cores)
