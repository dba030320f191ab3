"""Where independent pieces of work run: in this process, in others of this machine, or on a Dask cluster."""

import os
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, final
from uuid import uuid4

from joblib import Parallel, delayed

from ridgeway._checks import whole
from ridgeway._optional import require
from ridgeway.errors import InvalidParameterError, RidgewayError, WorkError
from ridgeway.kernels import single_threaded

if TYPE_CHECKING:
    from distributed import Client, Future

Item = TypeVar("Item")
Result = TypeVar("Result")

PATIENCE = 1.0
"""Seconds between two checks of a worker process that its parent is alive."""

AHEAD = 2
"""Pieces of work that are submitted per thread of a cluster: one runs, the others wait beside it."""


class Executor(ABC):
    """Calls a function for each of many items, in any order and in any process.

    Every call computes with one BLAS thread. If the result of the function depends only on the item, it is therefore
    bitwise the same on every executor, given the same kind of CPU and the same libraries.

    Examples
    --------
    >>> from ridgeway.distributed import Executor, Processes
    >>> isinstance(Processes(2), Executor)
    True
    >>> list(Processes(1).map(len, {"first": "abc", "second": "de"}))  # in this order
    [3, 2]
    """

    @abstractmethod
    def as_finished(
        self, function: Callable[[Item], Result], items: Mapping[str, Item]
    ) -> Iterator[tuple[str, Result]]:
        """Yield the name of each item with the result of its call, as they finish.

        The first failure ends the work.

        Parameters
        ----------
        function : callable of one item
            Functions, items and results travel to other processes, by cloudpickle.
        items : mapping of names to items

        Raises
        ------
        RidgewayError
            If a call raises one. The message begins with the name of the item.
        WorkError
            If a call raises anything else, or a worker ends before its result is there.
        """

    def map(self, function: Callable[[Item], Result], items: Mapping[str, Item]) -> Iterator[Result]:
        """Yield the results in the order of the items.

        Examples
        --------
        >>> from ridgeway.distributed import Processes
        >>> list(Processes(1).map(abs, {"first": -1, "second": -2}))
        [1, 2]
        """
        early: dict[str, Result] = {}
        left = iter(items)
        expected = next(left, None)
        for name, result in self.as_finished(function, items):
            early[name] = result
            while expected in early:
                yield early.pop(expected)
                expected = next(left, None)


@final
@dataclass(frozen=True)
class Processes(Executor):
    """Processes of this machine.

    Parameters
    ----------
    count : int, default -1
        How many; -1 for one per core, -2 for one less, and so on. With 1, the work is done in this process.

    Examples
    --------
    >>> from ridgeway.distributed import Processes
    >>> dict(Processes(1).as_finished(abs, {"first": -1, "second": -2}))
    {'first': 1, 'second': 2}
    """

    count: int = -1

    def __post_init__(self) -> None:
        if not (type(self.count) is int and self.count < 0):
            whole(self.count, "workers")

    def as_finished(
        self, function: Callable[[Item], Result], items: Mapping[str, Item]
    ) -> Iterator[tuple[str, Result]]:
        """Yield the name of each item with the result of its call, as they finish."""
        parallel = Parallel(n_jobs=self.count, backend="loky", return_as="generator_unordered", batch_size=1)
        try:
            yield from parallel(delayed(_attached)(os.getpid(), function, *item) for item in items.items())
        except BrokenProcessPool as error:
            raise WorkError(
                f"a worker process ended before its work was done. {error} Use fewer workers, or run it again."
            ) from error


@final
class DaskWorkers(Executor):
    """The workers of a Dask cluster.

    Parameters
    ----------
    scheduler : str or distributed.Client
        An address such as "tcp://10.0.0.1:8786", or a client, which stays open.
    timeout : float, default 10.0
        Seconds to wait for the scheduler.

    Notes
    -----
    Close it, or use it in a `with` statement, if you passed an address.

    Examples
    --------
    >>> from distributed import Client
    >>> from ridgeway.distributed import DaskWorkers
    >>> with Client(processes=False, n_workers=1, dashboard_address=None) as client:
    ...     print(list(DaskWorkers(client).map(abs, {"first": -1, "second": -2})))
    [1, 2]
    """

    def __init__(self, scheduler: "str | Client", *, timeout: float = 10.0) -> None:
        require("distributed", extra="dask")
        from distributed import Client

        self._owns = not isinstance(scheduler, Client)
        if isinstance(scheduler, Client):
            self._client = scheduler
            return
        try:
            self._client = Client(scheduler, timeout=timeout, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InvalidParameterError(
                f"no Dask scheduler answers at {scheduler!r} ({error}). Start one with `dask scheduler`, and pass the "
                "address that it prints."
            ) from error

    def __enter__(self) -> "DaskWorkers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, unless the client was passed. The cluster goes on."""
        if self._owns:
            self._client.close()

    def as_finished(
        self, function: Callable[[Item], Result], items: Mapping[str, Item]
    ) -> Iterator[tuple[str, Result]]:
        """Yield the name of each item with the result of its call, as they finish."""
        from distributed import as_completed

        owner = os.getpid()
        run, waiting, names = uuid4().hex, iter(items), dict["Future", str]()
        held = self._client.submit(_same, function, key=f"ridgeway-{run}")  # sent once, and again if it was lost

        def submitted(count: int) -> Iterator["Future"]:
            for name in islice(waiting, count):
                future = self._client.submit(_called, held, name, items[name], key=f"ridgeway-{run}-{name}")
                names[future] = name
                yield future

        try:
            window = AHEAD * max(sum(self._client.nthreads().values()), 1)
            completed = as_completed(list(submitted(window)), loop=self._client.loop)
            for future in completed:
                result = _received(future, names[future])
                del names[future]
                completed.update(list(submitted(1)))
                yield result
        finally:
            if os.getpid() == owner:  # a forked process has no thread that could speak to the cluster
                with suppress(OSError):
                    self._client.cancel([held, *names])


def executor_of(workers: int | Executor) -> Executor:
    """Return an executor as it is, or that many processes.

    Raises
    ------
    InvalidParameterError
        If it is neither.

    Examples
    --------
    >>> from ridgeway.distributed import Processes, executor_of
    >>> executor_of(2)
    Processes(count=2)
    >>> executor_of(Processes(2)) == executor_of(2)
    True
    """
    return workers if isinstance(workers, Executor) else Processes(workers)


def _same(function: Callable[[Item], Result]) -> Callable[[Item], Result]:
    return function


def _called(function: Callable[[Item], Result], name: str, item: Item) -> tuple[str, Result]:
    """Call the function with one thread; this runs in a worker. An error names the item."""
    try:
        with single_threaded():
            return name, function(item)
    except RidgewayError as error:
        raise type(error)(f"{name}: {error}") from error
    except Exception as error:
        raise WorkError(f"{name}: {type(error).__name__}: {error}") from error


def _received(future: "Future", name: str) -> Any:
    try:
        return future.result()
    except RidgewayError:
        raise
    except Exception as error:  # of Dask: a worker that was killed, a scheduler that is gone
        raise WorkError(
            f"{name}: lost on the cluster ({type(error).__name__}: {error}). Check its scheduler and its workers."
        ) from error


def _attached(parent: int, function: Callable[[Item], Result], name: str, item: Item) -> tuple[str, Result]:
    """Call the function; in a worker process, first make sure that the worker ends with its parent and not before."""
    if os.getpid() != parent:
        _attach(parent)
    return _called(function, name, item)


@cache
def _attach(parent: int) -> None:
    """Leave Ctrl-C to the parent, which ends its workers itself; end if the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.getppid() == parent:  # otherwise a worker of a worker
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PATIENCE)
    os._exit(1)
