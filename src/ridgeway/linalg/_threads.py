"""How many BLAS threads a computation gets: a small one must not pay for threads that wait for each other."""

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from threading import Lock, local, main_thread
from typing import Any, TypeVar

T = TypeVar("T")

SMALL = 512
"""With fewer features than this one BLAS thread is as fast as several, and much faster on a busy machine."""


class _OneThread:
    """Limits BLAS to one thread while anyone is inside: the limit is the process's, so the last to leave lifts it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None
        self.lifted = 1

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self.lifted = max((library.num_threads or 1 for library in _blas().lib_controllers), default=1)
                self._limit = _blas().limit(limits=1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_ONE_THREAD = _OneThread()
_THREAD = local()


def threads_for(n_features: int) -> AbstractContextManager[None]:
    """Return a context in which BLAS has the threads that a system of this width can use."""
    return _ONE_THREAD if n_features < SMALL else nullcontext()


def one_thread() -> AbstractContextManager[None]:
    """Return a context in which BLAS has one thread, whatever the size: the same bits on any number of cores."""
    return _ONE_THREAD


def threads_to_spare() -> int:
    """Return how many threads BLAS had before it was limited to one; for use inside the limit."""
    return min(_ONE_THREAD.lifted, _cores())


def side_by_side(*calls: Callable[[], T]) -> tuple[T, ...]:
    """Return what the calls return: inside a limit of one thread, at the same time where there are threads to spare.

    BLAS has more to gain from two halves of the rows, one thread each, than from two threads on one narrow product.
    A helper has no helpers, or it would wait for itself; nor is there any once the main thread has ended.
    """
    if threads_to_spare() < 2 or getattr(_THREAD, "helps", False) or not main_thread().is_alive():
        return tuple(call() for call in calls)
    waiting = [_helpers().submit(call) for call in calls[1:]]
    try:
        return (*(call() for call in calls[:1]), *(other.result() for other in waiting))
    finally:
        wait(waiting)


def share_out(call: Callable[..., None], parts: Iterable[tuple[Any, ...]], threads: int) -> None:
    """Call with every part, in their order, so many threads taking the next whenever they are free."""
    left = deque(parts)

    def take() -> None:
        while True:
            try:
                part = left.popleft()
            except IndexError:
                return
            call(*part)

    side_by_side(*[take] * threads)


@cache
def _helpers() -> ThreadPoolExecutor:
    """Return the other threads, kept: a new one takes as long as a small task. A forked process starts its own."""
    return ThreadPoolExecutor(max(_cores() - 1, 1), "ridgeway", partial(setattr, _THREAD, "helps", True))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController  # scikit-learn brings it; finding the libraries takes a while

    controller: Any = ThreadpoolController()
    return controller.select(user_api="blas")
