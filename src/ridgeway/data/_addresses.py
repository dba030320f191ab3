"""Data files by path or by address, such as s3://bucket/file.parquet: open, list, and tell whether one has changed."""

import re
from os import fsencode
from pathlib import Path
from typing import Any, TypeGuard

from ridgeway._optional import require
from ridgeway.data._tables import reading

ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://")
"""How an address begins; anything else is a path."""


def is_address(path: Any) -> TypeGuard[str]:
    """Return whether a file is named by an address.

    Examples
    --------
    >>> is_address("s3://bucket/2019.parquet"), is_address("2019.parquet")
    (True, False)
    """
    return isinstance(path, str) and ADDRESS.match(path) is not None


def _located(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it. Needs fsspec, and the package of the file system."""
    require("fsspec", extra="dask")
    from fsspec.core import url_to_fs

    try:
        found: tuple[Any, str] = url_to_fs(address)
    except (ImportError, ValueError) as error:  # such as s3fs, which the message of fsspec names
        raise OSError(str(error)) from error
    return found


def opened_bytes(path: Path | str) -> Any:
    """Return an open file that pyarrow reads. It takes some names for addresses, and cannot encode others."""
    import pyarrow as pa

    if is_address(path):
        system, inside = _located(path)
        return pa.PythonFile(system.open(inside, "rb"), mode="r")
    return pa.OSFile(fsencode(path))


def matching_addresses(pattern: str) -> list[str]:
    """Return the addresses that a pattern stands for."""
    with reading(pattern):
        system, inside = _located(pattern)
        return [system.unstrip_protocol(name) for name in system.glob(inside)]


def stamp_of(path: str) -> str:
    """Return what changes when a file changes: its size and time, or what its file system says about it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ridgeway.data import stamp_of
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "x.csv")
    ...     _ = path.write_text("x")
    ...     before = stamp_of(str(path))
    ...     _ = path.write_text("x,y")
    ...     stamp_of(str(path)) == before
    False
    """
    with reading(path):
        if is_address(path):
            system, inside = _located(path)
            return str(system.ukey(inside))
        found = Path(path).stat()
        return f"{found.st_size} {found.st_mtime_ns}"
