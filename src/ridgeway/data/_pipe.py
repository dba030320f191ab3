"""The bytes of a pipe, which can be read only once; the first of them can be looked at before."""

from typing import Any, BinaryIO

from ridgeway.data._tables import read_already


class PipeBytes:
    """A binary file that can be read once, from its beginning to its end.

    Attributes
    ----------
    tail : bytes
        The last 8 bytes that were read.
    """

    closed = False

    def __init__(self, file: BinaryIO, source: str) -> None:
        self._file, self._source = file, source
        self._kept, self._opened = b"", False
        self.tail = b""

    def head(self, size: int) -> bytes:
        """Return the first bytes, which will be read again; raise if the pipe was opened before."""
        if self._opened:
            raise read_already(self._source)
        return self._next(size)

    def open(self) -> Any:
        """Return the pipe, open for pyarrow; raise if it was opened before."""
        import pyarrow as pa

        if self._opened:
            raise read_already(self._source)
        self._opened = True
        return pa.PythonFile(self, mode="r")

    def read(self, size: int) -> bytes:
        """Return the next bytes: fewer than `size` only at the end."""
        found = self._next(size)
        self._kept = self._kept[size:]
        self.tail = (self.tail + found[-8:])[-8:]
        return found

    def _next(self, size: int) -> bytes:
        parts, missing = [self._kept], size - len(self._kept)
        while missing > 0 and (part := self._file.read(missing)):
            parts.append(part)
            missing -= len(part)
        self._kept = b"".join(parts)
        return self._kept[:size]

    def close(self) -> None:
        """Leave the file open: it belongs to the caller."""
