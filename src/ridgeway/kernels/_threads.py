"""Threads: how many BLAS gets, and our own, which share out the blocks of a tall task."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache, wraps
from itertools import count, product
from queue import SimpleQueue
from threading import Lock, RLock, Thread, local
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np

from ridgeway._checks import Array

P = ParamSpec("P")
T = TypeVar("T")

WIDE = 512
"""With fewer columns than this, one BLAS thread is as fast as several, and much faster on a busy machine."""

FEW = 3 * 2**14
"""With fewer multiplications than this, BLAS uses one thread for a product, so a limit would only cost time."""


class _Limits:
    """The limits on BLAS that are in force. They are the process's, so the last to leave lifts them."""

    def __init__(self) -> None:
        self._lock = RLock()  # a signal handler may learn, too
        self._inside: set[int] = set()
        self._before: list[tuple[_Blas, int]] = []
        self._spare = 1

    def enter(self, limit: int) -> int:
        """Give BLAS one thread. Return how many it had before, no more than there are cores."""
        with self._lock:
            first = not self._inside
            self._inside.add(limit)
            if first:
                self._lift()  # what a parent process may have left
                had = [(blas, blas.threads() or 1) for blas in _libraries()]
                self._spare = min(max((threads for _, threads in had), default=1), _cores())
                self._before = [(blas, threads) for blas, threads in had if threads > 1]
                for blas, _ in self._before:
                    blas.set_threads(1)
            return self._spare

    def leave(self, limit: int) -> None:
        """End a limit, if it has not ended yet."""
        with self._lock:
            self._inside.discard(limit)
            if not self._inside:
                self._lift()

    def _lift(self) -> None:
        for blas, threads in self._before:
            blas.set_threads(threads)
        self._before = []

    def restart(self) -> None:
        """Forget the threads of the parent process, which may have held the lock, or been inside."""
        self._lock, self._inside = RLock(), set()


_limits = _Limits()


class OneThread:
    """A context in which BLAS has one thread. Threads that BLAS has just used keep a core busy for a while.

    An interrupt may come between any two steps, and skip the exit. The limit then ends when the context is deleted.
    """

    def __enter__(self) -> int:
        return _limits.enter(id(self))

    def __exit__(self, *_: object) -> None:
        _limits.leave(id(self))

    def __del__(self) -> None:
        _limits.leave(id(self))


_THREAD = local()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Return a context in which this thread computes with one thread: the same bits on any number of cores.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.kernels import product, single_threaded
    >>> with single_threaded():
    ...     product(np.eye(2), np.array([[3.0], [4.0]]))
    array([[3.], [4.]])
    """
    before = getattr(_THREAD, "alone", False)
    with OneThread():
        _THREAD.alone = True
        try:
            yield
        finally:
            _THREAD.alone = before


def threads_for(n_columns: int, multiplications: float) -> AbstractContextManager[int | None]:
    """Return a context in which BLAS has the threads that a computation of this size can use."""
    return OneThread() if n_columns < WIDE and multiplications >= FEW else nullcontext()


def few_threads(kernel: Callable[Concatenate[Array, P], T]) -> Callable[Concatenate[Array, P], T]:
    """Return a function of a matrix that gives BLAS the threads that the size of the matrix can use."""

    @wraps(kernel)
    def limited(matrix: Array, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with threads_for(min(matrix.shape), matrix.size * min(matrix.shape)):
            return kernel(matrix, *args, **kwargs)

    return limited


def in_parallel(worker: Callable[[], Callable[[int], None]], n_parts: int) -> None:
    """Call what `worker` returns with 0, …, n_parts − 1: every thread makes one worker and takes the next free part.

    BLAS has one thread meanwhile. The first error is raised once all threads have stopped.
    """
    with OneThread() as spare:
        wanted = 1 if getattr(_THREAD, "alone", False) else min(spare, n_parts)
        helpers = _helpers.ready(wanted, spare) if wanted > 1 else []  # spare ones serve callers beside this one
        parts, ended, failures = count(), count(1), list[BaseException]()
        working, asked, finished = Lock(), False, list[bool]()
        working.acquire()

        def take() -> None:
            try:
                work = worker()
                for part in parts:
                    if part >= n_parts or failures:
                        return
                    work(part)
            except BaseException as failure:
                failures.append(failure)
            finally:
                if next(ended) >= len(helpers):
                    finished.append(True)
                    working.release()

        try:
            # The caller only waits: Linux often wakes a helper on the caller's core, although another core is idle.
            for helper in helpers:
                helper.call(take)
            if not helpers:
                take()
            asked = True
            working.acquire()
        except BaseException as failure:  # an interrupt, after which the helpers take no more parts
            failures.append(failure)
            if asked and not finished:
                working.acquire()
        if failures:
            raise failures[0]


class _Helper(Thread):
    """A thread that waits for calls. It is kept, because starting one takes as long as a small task.

    It has a queue of its own: of several threads at one queue only the first wakes up, and then wakes the next.
    """

    def __init__(self, number: int) -> None:
        super().__init__(name=f"ridgeway-{number}", daemon=True)
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.busy = False

    def call(self, function: Callable[[], None]) -> None:
        """Ask for a call, which is made after those that were asked for before."""
        self.busy = True
        self._calls.put(function)

    def run(self) -> None:
        """Serve calls until the process ends."""
        _THREAD.alone = True  # a helper that asked for helpers could wait for itself
        np.seterr(over="ignore", invalid="ignore")  # as in the kernels that call helpers
        while True:
            self._calls.get()()
            self.busy = False


class _Helpers:
    """The helpers of this process."""

    def __init__(self) -> None:
        self._started: list[_Helper] = []
        self._lock = RLock()

    def ready(self, wanted: int, most: int) -> list[_Helper]:
        """Return some of the helpers, idle ones first. While the interpreter ends, no more can be started."""
        if most > len(self._started):
            with self._lock, suppress(RuntimeError):
                while len(self._started) < most:
                    helper = _Helper(len(self._started))
                    helper.start()
                    self._started.append(helper)
        return sorted(self._started, key=lambda helper: helper.busy)[:wanted]


_helpers = _Helpers()


def _after_fork() -> None:
    """Start again without threads: a forked process has none of its parent's."""
    global _helpers
    _helpers = _Helpers()
    _limits.restart()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Blas(NamedTuple):
    """A loaded BLAS: what returns its number of threads, and what sets it."""

    threads: Callable[[], int | None]
    set_threads: Callable[[int], object]


@cache
def _libraries() -> list[_Blas]:
    from threadpoolctl import ThreadpoolController  # scikit-learn brings it; finding the libraries takes a while

    controller: Any = ThreadpoolController()
    return [
        _Blas(found.get_num_threads, _setter(found)) for found in controller.select(user_api="blas").lib_controllers
    ]


def _setter(library: Any) -> Callable[[int], object]:
    """Return what sets the threads of a BLAS: for OpenBLAS, its own function.

    Since threadpoolctl 3.8, calls from all Python threads but one are ignored, and calls take several microseconds.
    """
    if library.internal_api == "openblas" and library.threading_layer != "openmp":
        for prefix, suffix in product(("", "scipy_"), ("", "64_", "_64")):
            own = getattr(library.dynlib, f"{prefix}openblas_set_num_threads{suffix}", None)
            if own is not None:
                return cast(Callable[[int], object], own)
    return cast(Callable[[int], object], library.set_num_threads)
