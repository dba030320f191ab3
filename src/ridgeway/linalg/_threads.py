"""How many BLAS threads a computation gets: a small one must not pay for threads that wait for each other."""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

SMALL = 512
"""With fewer features than this one BLAS thread is as fast as several, and much faster on a busy machine."""


class _OneThread:
    """Limits BLAS to one thread while anyone is inside: the limit is the process's, so the last to leave lifts it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_ONE_THREAD = _OneThread()


def threads_for(n_features: int) -> AbstractContextManager[None]:
    """Return a context in which BLAS has the threads that a system of this width can use."""
    return _ONE_THREAD if n_features < SMALL else nullcontext()


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # scikit-learn brings it; finding the libraries takes a while

    return ThreadpoolController()
