"""A small ext4 file system in a file, whose power can be cut."""

import fcntl
import os
import shutil
import struct
import subprocess
from pathlib import Path

SIZE = 96 << 20
EXT4_IOC_SHUTDOWN = 0x8004587D
NO_LOG_FLUSH = struct.pack("I", 2)
"""Stop at once: nothing more reaches the device, not even the journal."""


class Disk:
    """A mounted loop device; a context manager."""

    def __init__(self, folder: Path) -> None:
        self._image, self.path = folder / "disk", folder / "mounted"
        self.path.mkdir()
        with self._image.open("wb") as image:
            image.truncate(SIZE)
        _run("mkfs.ext4", "-q", str(self._image))

    def __enter__(self) -> "Disk":
        self._mount()
        return self

    def __exit__(self, *_: object) -> None:
        _run("umount", str(self.path))

    def cut_power(self) -> None:
        """Lose all that has not been synced. From now on, processes see errors."""
        folder = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, EXT4_IOC_SHUTDOWN, NO_LOG_FLUSH)
        finally:
            os.close(folder)

    def restart(self) -> None:
        """Mount again; no process may have a file open."""
        _run("umount", str(self.path))
        self._mount()

    def _mount(self) -> None:
        _run("mount", "-o", "loop", str(self._image), str(self.path))


def missing(folder: Path) -> str:
    """Return why a disk cannot be mounted here, or an empty string."""
    if os.geteuid() != 0:
        return "needs root, to mount a loop device"
    for tool in ("mkfs.ext4", "mount", "umount"):
        if shutil.which(tool) is None:
            return f"needs {tool}"
    try:
        with Disk(folder) as disk:
            disk.cut_power()
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no loop-mounted ext4 that can be shut down: {error}"
    return ""


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
