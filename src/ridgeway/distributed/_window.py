"""Work on a cluster: submitted in order, a bounded amount at a time, until one piece of it fails."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from ridgeway._optional import require
from ridgeway.errors import RidgewayError, WorkError

PARTS_PER_THREAD = 2
"""Parts in flight for each thread of the cluster: one is learned while the next one waits."""
PATIENCE = "60s"
"""How long to wait for the first worker."""


def require_dask() -> None:
    """Raise if Dask is not installed."""
    require("dask", "distributed", "pyarrow", extra="dask")


def in_flight(client: Any) -> int:
    """Return how many parts may be in flight, once the cluster has a worker."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
        return PARTS_PER_THREAD * int(sum(client.nthreads().values()))
    except Exception as error:
        address = getattr(client.scheduler, "address", "?")
        raise WorkError(
            f"the cluster at {address} has no workers or was lost ({_reason(error)}). Start workers, and repeat the "
            "call: parts that were finished before are not done again."
        ) from error


def completed(
    client: Any, submit: Callable[[int], Any], names: Sequence[str], numbers: Sequence[int], at_once: int
) -> Iterator[tuple[int, Any]]:
    """Yield the number and the result of each piece of work, in the order in which they finish.

    After a failure nothing more is submitted. What is in flight is waited for and yielded; then `WorkError` is raised.

    Parameters
    ----------
    client : distributed.Client
    submit : callable
        Submits the work with a number; returns its future.
    names : sequence of str
        How the message about each begins if it fails, by number.
    numbers : sequence of int
        The work to do, in the order in which it is submitted.
    at_once : int
        How much of it may be in flight.
    """
    from distributed import as_completed

    waiting, running = iter(numbers), dict[str, tuple[int, Any]]()
    done, failures = as_completed(loop=client.loop), dict[int, Exception]()
    try:
        while True:
            for number in islice(waiting, 0 if failures else at_once - len(running)):
                future = submit(number)
                running[future.key] = number, future
                done.add(future)
            if not running:
                break
            future = next(done)
            number, _ = running.pop(future.key)
            try:
                result = future.result()
            except Exception as error:
                failures[number] = error
                continue
            yield number, result
    finally:
        with suppress(Exception):  # of a cluster that was lost
            client.cancel([future for _, future in running.values()], force=True)
    if failures:
        first = min(failures)
        raise WorkError(
            f"{names[first]}: {_reason(failures[first])} Nothing was committed. Repeat the call when the reason "
            "is gone: parts of files that were finished are not done again."
        ) from failures[first]


def _reason(error: Exception) -> str:
    """Return what an error says, with the kind of those that are not ours."""
    said = str(error).strip().split("\n")[0]
    if isinstance(error, RidgewayError):
        return said
    return f"{type(error).__name__}: {said.rstrip('.')}."
