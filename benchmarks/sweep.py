"""The cells of a table on several workers: the same numbers on any of them."""

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import TypeVar

from ridgeway.distributed import DaskWorkers, Executor, Processes

T = TypeVar("T")


def add_worker_options(parser: ArgumentParser) -> None:
    """Add the options that say where the cells are measured."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, default=-1, help="number of processes; -1 for one per core (default)")
    where.add_argument("--scheduler", help="address of a Dask scheduler, whose workers can import this package")


def sweep(cells: Mapping[str, Callable[[], T]], options: Namespace) -> Iterator[tuple[str, T]]:
    """Yield the name and the result of each cell as it finishes, and print how long it took."""
    with ExitStack() as stack:
        scheduler = options.scheduler
        executor: Executor = (
            stack.enter_context(DaskWorkers(scheduler)) if scheduler is not None else Processes(options.workers)
        )
        for name, (seconds, result) in executor.as_finished(_timed, cells):
            print(f"{name}: {seconds:.0f} s", flush=True)
            yield name, result


def _timed(cell: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    result = cell()
    return time.perf_counter() - began, result
