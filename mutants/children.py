"""Jobs in forked processes, a few at a time, each with a time limit."""

import contextlib
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

MEMORY = 8 * 2**30
"""Bytes that a job may ask for: a mutant may ask for any amount."""

_fork = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Job:
    """A call in a process of its own.

    Attributes
    ----------
    function, arguments
        What to call. Its answer is pickled.
    seconds : float
        The time limit.
    late : object
        The answer if the process takes longer, or dies without one.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    seconds: float
    late: Any


def answers(jobs: Iterable[Job], lanes: int) -> Iterator[tuple[Job, Any]]:
    """Yield each job with its answer, as they come, with at most `lanes` processes at a time; raise its exception."""
    waiting, running = iter(jobs), dict[Connection, tuple[Job, Any, float]]()
    while True:
        while len(running) < lanes and (job := next(waiting, None)):
            here, there = _fork.Pipe(duplex=False)
            process = _fork.Process(target=_work, args=(job, there))
            process.start()
            there.close()
            running[here] = job, process, time.monotonic() + job.seconds
        if not running:
            return
        ready = wait(running, timeout=1.0)
        for here, (job, process, end) in list(running.items()):
            if here in ready or time.monotonic() > end:
                del running[here]
                try:
                    answer = here.recv() if here in ready else job.late
                except EOFError:
                    answer = job.late
                process.kill()
                process.join()
                here.close()
                if isinstance(answer, Exception):
                    raise answer
                yield job, answer


def _work(job: Job, there: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.dont_write_bytecode = True
    with open(os.devnull, "w") as silence:
        for stream in (1, 2):
            os.dup2(silence.fileno(), stream)
        with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
            try:
                answer = job.function(*job.arguments)
            except Exception as error:
                answer = error
            there.send(answer)
