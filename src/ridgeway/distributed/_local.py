"""Clusters: one of processes on this machine, or one that is there already."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ridgeway.distributed._window import require_dask
from ridgeway.errors import InvalidParameterError, WorkError

QUIET: dict[str, Any] = {
    "dashboard_address": "127.0.0.1:0",
    "scheduler_kwargs": {"dashboard": False},
    "silence_logs": logging.CRITICAL,
}
"""No dashboard; only this machine reaches what the scheduler says of itself; failures are raised, not logged."""
ENVIRONMENT = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}
"""Workers keep freed memory for the next block. Dask would have them return it, which takes a quarter of their time."""


@contextmanager
def local_client(n_workers: int) -> Iterator[Any]:
    """Yield a client of a cluster on this machine: processes with one thread each, which only this machine can reach.

    Parameters
    ----------
    n_workers : int

    Examples
    --------
    >>> from ridgeway import distributed
    >>> def learn(state, files):  # in a script, call it under `if __name__ == "__main__":`
    ...     with distributed.local_client(4) as client:
    ...         return distributed.absorb(state, files, "May", client=client)
    >>> with distributed.local_client(0) as client:
    ...     pass
    Traceback (most recent call last):
    ridgeway.errors.InvalidParameterError: the number of workers must be 1 or more; got 0.
    """
    require_dask()
    if n_workers < 1:
        raise InvalidParameterError(f"the number of workers must be 1 or more; got {n_workers}.")
    from dask import config
    from distributed import Client, LocalCluster

    with (
        config.set(ENVIRONMENT),
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, host="127.0.0.1", **QUIET) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def remote_client(address: str, *, timeout: float = 30.0) -> Iterator[Any]:
    """Yield a client of the cluster whose scheduler has this address, such as tcp://10.0.0.1:8786.

    Examples
    --------
    >>> from distributed import Client
    >>> from ridgeway import distributed
    >>> with Client(processes=False, n_workers=1, dashboard_address=None) as started:
    ...     with distributed.remote_client(started.scheduler.address) as client:
    ...         print(client.submit(abs, -1).result())
    1
    """
    require_dask()
    from distributed import Client

    try:
        client: Any = Client(address, timeout=timeout)
    except (OSError, ValueError) as error:
        raise WorkError(
            f"there is no scheduler at {address!r} ({error}). Start one with `dask scheduler`, and pass the address "
            "that it prints."
        ) from error
    with client:
        yield client
