"""Work on a cluster: submitted in order, a bounded amount at a time, until a piece of it fails or no worker is left."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from ridgeway._checks import positive
from ridgeway._optional import require
from ridgeway.errors import RidgewayError, WorkError

PARTS_PER_THREAD = 2
"""Parts in flight for each thread of the cluster: one is learned while the next one waits."""
PATIENCE = 60.0
"""Seconds without any worker after which a job ends, if the caller does not say."""
POLL, CHECK = 0.01, 0.5
"""Seconds between two looks for finished work, and between two questions whether there are workers."""


class Cluster(NamedTuple):
    """A cluster that has workers: its client, how many parts may be in flight, and the seconds it may lack workers."""

    client: Any
    at_once: int
    patience: float

    @property
    def has_workers(self) -> bool:
        """Whether the scheduler answers and has a worker."""
        try:
            return bool(self.client.nthreads())
        except Exception:
            return False


def require_dask() -> None:
    """Raise if Dask is not installed."""
    require("dask", "distributed", "pyarrow", extra="dask")


def connected(client: Any, patience: float) -> Cluster:
    """Return the cluster of a client, once it has a worker."""
    require_dask()
    seconds = positive(patience, "patience")
    try:
        client.wait_for_workers(1, timeout=seconds)
        return Cluster(client, PARTS_PER_THREAD * int(sum(client.nthreads().values())), seconds)
    except Exception as error:
        raise _lost(client, seconds, "Nothing was submitted") from error


def completed(
    cluster: Cluster, submit: Callable[[int], Any], names: Sequence[str], numbers: Sequence[int], done: str
) -> Iterator[tuple[int, Any]]:
    """Yield the number and the result of each piece of work, in the order in which they finish.

    After a failure nothing more is submitted. What is in flight is waited for and yielded; then `WorkError` is raised.
    It is raised at once if the cluster has had no workers for too long.

    Parameters
    ----------
    cluster : Cluster
    submit : callable
        Submits the work with a number; returns its future.
    names : sequence of str
        How the message about each begins if it fails, by number.
    numbers : sequence of int
        The work to do, in the order in which it is submitted.
    done : str
        What finished work is called, such as "parts were finished".
    """
    from distributed import as_completed

    waiting, running = iter(numbers), dict[str, tuple[int, Any]]()
    ready, failures = as_completed(loop=cluster.client.loop), dict[int, Exception]()
    n_done = len(names) - len(numbers)
    try:
        while True:
            for number in islice(waiting, 0 if failures else cluster.at_once - len(running)):
                future = submit(number)
                running[future.key] = number, future
                ready.add(future)
            if not running:
                break
            try:
                _wait(cluster, ready.has_ready)
                number, future = running.pop(next(ready).key)
                result = _result(cluster, future)
            except _NoWorkersError as error:
                reason = f"{n_done} of {len(names)} {done}; nothing was committed"
                raise _lost(cluster.client, cluster.patience, reason) from error
            except Exception as error:
                failures[number] = error
                continue
            n_done += 1
            yield number, result
    finally:
        with suppress(Exception):  # of a cluster that was lost
            cluster.client.cancel([future for _, future in running.values()], force=True)
    if failures:
        first = min(failures)
        raise WorkError(
            f"{names[first]}: {_reason(failures[first])} Nothing was committed. Repeat the call when the reason "
            "is gone: parts of files that were finished are not done again."
        ) from failures[first]


class _NoWorkersError(Exception):
    """The cluster has had no workers for too long."""


def _wait(cluster: Cluster, ready: Callable[[], bool]) -> None:
    """Wait until something is ready, or raise."""
    seen = checked = time.monotonic()
    while not ready():
        time.sleep(POLL)
        if time.monotonic() - checked < CHECK:
            continue
        found, checked = cluster.has_workers, time.monotonic()
        if found:
            seen = checked
        elif checked - seen > cluster.patience:
            raise _NoWorkersError


def _result(cluster: Cluster, future: Any) -> Any:
    """Return the result of a finished future. If the worker that has it is gone, another one computes it again."""
    seconds = cluster.patience
    while True:
        try:
            return future.result(timeout=seconds)
        except TimeoutError:
            if future.status == "error":  # the work itself raised it
                raise
        _wait(cluster, future.done)
        seconds *= 2  # a large state on a slow network


def _lost(client: Any, patience: float, what: str) -> WorkError:
    address = getattr(client.scheduler, "address", "?")
    return WorkError(
        f"the cluster at {address} has had no workers for {patience:g} s, or was lost. {what}. Start workers, and "
        "repeat the call: parts of files that were finished are not done again."
    )


def _reason(error: Exception) -> str:
    """Return what an error says, with the kind of those that are not ours."""
    said = str(error).strip().split("\n")[0]
    if isinstance(error, RidgewayError):
        return said
    return f"{type(error).__name__}: {said.rstrip('.')}."
