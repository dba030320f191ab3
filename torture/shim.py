"""The library that makes I/O calls fail, compiled here and loaded before everything else."""

import ctypes
import errno
import os
import shutil
import subprocess
from enum import Enum
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")
VARIABLE = "LD_PRELOAD"


class Fault(Enum):
    """What happens at a call: the shim's action and an errno."""

    KILL_BEFORE = (1, 0)
    HALF_THEN_KILL = (2, 0)
    KILL_AFTER = (3, 0)
    NO_SPACE = (4, errno.ENOSPC)
    IO_ERROR = (4, errno.EIO)
    INTERRUPTED = (4, errno.EINTR)
    NO_LOCKS = (4, errno.ENOLCK)
    SHORT_WRITE = (6, 0)
    DISK_FULL = (5, errno.ENOSPC)
    DISK_GONE = (5, errno.EIO)

    @property
    def kills(self) -> bool:
        """Whether the process ends."""
        return self in (Fault.KILL_BEFORE, Fault.HALF_THEN_KILL, Fault.KILL_AFTER)

    @property
    def lasts(self) -> bool:
        """Whether all later calls fail too: those that need disk space, or all."""
        return self in (Fault.DISK_FULL, Fault.DISK_GONE)

    def applies(self, kind: str) -> bool:
        """Whether a call of a kind can meet this fault."""
        if self is Fault.NO_LOCKS:
            return kind == "l"
        return kind == "w" if self in (Fault.HALF_THEN_KILL, Fault.SHORT_WRITE) else kind != "l" or not self.kills


def missing() -> str:
    """Return why the shim cannot be used here, or an empty string."""
    if os.uname().sysname != "Linux":
        return "needs Linux, to load a library before libc"
    return "" if _compiler() else "needs a C compiler, cc"


def compiled(folder: Path) -> Path:
    """Compile the shim into a folder."""
    library = folder / "shim.so"
    subprocess.run([_compiler(), "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, SOURCE], check=True)
    return library


def _compiler() -> str:
    return shutil.which("cc") or ""


class Shim:
    """The library, with which this process must have been started."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(os.environ[VARIABLE])
        self._library.torture_arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int]
        self._library.torture_record.argtypes = [ctypes.c_char_p]
        self._library.torture_disarm.restype = ctypes.c_long
        self._library.torture_kinds.restype = ctypes.c_char_p

    def arm(self, folder: Path, call: int = 0, fault: Fault | None = None) -> None:
        """Start to count the calls on a folder; make one of them, counted from 1, meet a fault."""
        action, number = (0, 0) if fault is None else fault.value
        self._library.torture_arm(os.fsencode(folder), call, action, number)

    def record(self, file: Path) -> None:
        """Start to record every change of the folder in a file."""
        self._library.torture_record(os.fsencode(file))

    def disarm(self) -> str:
        """Stop counting; return one character for each call."""
        n_calls = self._library.torture_disarm()
        kinds: bytes = self._library.torture_kinds()
        return kinds[:n_calls].decode()
