"""Processes that are forked from a warm parent, report what they did, and are killed."""

import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

ACKNOWLEDGED = b"\x06"
LONGEST_WAIT = 60.0

Tell = Callable[[bytes], None]


@dataclass
class Child:
    """A child process and the pipe through which it reports."""

    pid: int
    pipe: int
    told: bytes = b""
    status: int | None = None

    def listen(self, acknowledged: int) -> None:
        """Read until the given number of acknowledgements has come, or the child has ended."""
        limit = time.monotonic() + LONGEST_WAIT
        while self.told.count(ACKNOWLEDGED) < acknowledged:
            ready, _, _ = select.select([self.pipe], [], [], max(limit - time.monotonic(), 0.0))
            heard = os.read(self.pipe, 65536) if ready else b""
            if not heard:
                return
            self.told += heard

    def so_far(self) -> bytes:
        """Return what the child has reported, without waiting."""
        while select.select([self.pipe], [], [], 0.0)[0] and (heard := os.read(self.pipe, 65536)):
            self.told += heard
        return self.told

    def line(self, seconds: float) -> str:
        """Return the next line that the child reports, or an empty string if none comes in time."""
        limit = time.monotonic() + seconds
        while b"\n" not in self.told:
            ready, _, _ = select.select([self.pipe], [], [], max(limit - time.monotonic(), 0.0))
            heard = os.read(self.pipe, 65536) if ready else b""
            if not heard:
                return ""
            self.told += heard
        line, _, self.told = self.told.partition(b"\n")
        return line.decode()

    def kill(self) -> None:
        """Send SIGKILL."""
        os.kill(self.pid, signal.SIGKILL)

    def end(self) -> bytes:
        """Kill the child, wait for its end, and return all that it reported."""
        if self.status is None:
            self.kill()
            self._reap()
        return self.told

    def finish(self, seconds: float = LONGEST_WAIT) -> bytes:
        """Wait for the child to end, killing it after `seconds`; return all that it reported."""
        limit = time.monotonic() + seconds
        while select.select([self.pipe], [], [], max(limit - time.monotonic(), 0.0))[0]:
            heard = os.read(self.pipe, 65536)
            if not heard:
                self._reap()
                return self.told
            self.told += heard
        self.told += b"!no end"
        return self.end()

    def _reap(self) -> None:
        while heard := os.read(self.pipe, 65536):
            self.told += heard
        os.close(self.pipe)
        _, self.status = os.waitpid(self.pid, 0)


def fork(work: Callable[[Tell], None]) -> Child:
    """Run `work` in a child process; an exception that escapes is reported after an exclamation mark."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid:
        os.close(theirs)
        return Child(pid, ours)
    try:
        os.close(ours)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

        def tell(what: bytes) -> None:
            os.write(theirs, what)

        try:
            work(tell)
        except BaseException as error:
            tell(f"!{type(error).__name__}: {error}".encode())
    finally:
        os._exit(0)


def end_as_at_the_keyboard() -> None:
    """Make SIGTERM end this process as Ctrl-C does, so that children are ended and disks unmounted."""

    def interrupted(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupted)
