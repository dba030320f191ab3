"""Migration and restoration: made as a copy, checked in full, and only then put in place, in one transaction."""

import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import Schema
from ridgeway.errors import DamagedStoreError, StoreError
from ridgeway.store import _format0
from ridgeway.store._connection import (
    FORMAT,
    check_format,
    check_tables,
    drop,
    fill_file,
    transaction,
    uncertain,
)
from ridgeway.store._generations import (
    FIRST,
    fill_with,
    open_generation,
    read_arrays,
    read_generation,
)
from ridgeway.store._records import Record, live, totals
from ridgeway.store._state import check_state

Array = NDArray[np.float64]


def migrate(path: Path, timeout: float) -> None:
    """Bring a file of an older format to today's; a file of today's format is not touched."""
    if _is_of_today(path, timeout):
        return
    try:
        with transaction(path, write=True, timeout=timeout, alone=True) as connection:
            if check_format(connection, path) == FORMAT:  # another process was faster
                return
            schema, entries, arrays = _format0.read(connection, path)
            _replace(connection, path, schema, FIRST, entries, arrays)
    except StoreError:
        try:
            took = _is_of_today(path, timeout)
        except StoreError as error:
            raise uncertain(path, error) from error
        if not took:
            raise


def _is_of_today(path: Path, timeout: float) -> bool:
    with transaction(path, write=False, timeout=timeout) as connection:
        return check_format(connection, path) == FORMAT


def restore(path: Path, timeout: float) -> None:
    """Make the previous generation the current one, if that is damaged and the previous one is not."""
    with transaction(path, write=True, timeout=timeout, alone=True) as connection:
        check_format(connection, path)
        check_tables(connection, path)
        if _in_order(connection, path):
            raise StoreError(f"the current generation of {path} is in order: there is nothing to restore.")
        previous = read_generation(connection, path, previous=True)
        arrays = read_arrays(connection, previous, path)
        _replace(connection, path, previous.schema, previous.number + 2, previous.entries, arrays)


def _in_order(connection: sqlite3.Connection, path: Path) -> bool:
    try:
        generation = open_generation(connection, path)
        arrays = read_arrays(connection, generation, path)
        check_state(generation.schema, arrays, *totals(live(generation.ledger)))
    except (DamagedStoreError, sqlite3.DatabaseError):
        return False
    return True


def _replace(
    connection: sqlite3.Connection,
    path: Path,
    schema: Schema,
    number: int,
    entries: Sequence[tuple[int, Record]],
    arrays: Mapping[str, Array],
) -> None:
    """Put a new content in place of the file's, in one transaction; the file stays the same file to all who use it."""
    check_state(schema, arrays, *totals(live([record for _, record in entries])))
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.new")
    try:
        fill_file(temporary, lambda copy: fill_with(copy, schema, entries, arrays, number))
        with transaction(temporary, write=False, timeout=0.0) as copy:
            _check_copy(copy, temporary, arrays)
            connection.execute("COMMIT")
            copy.backup(connection)
    finally:
        drop(temporary)


def _check_copy(copy: sqlite3.Connection, path: Path, arrays: Mapping[str, Array]) -> None:
    generation = open_generation(copy, path)
    read = read_arrays(copy, generation, path)
    if list(read) != list(arrays) or any(read[name].tobytes() != arrays[name].tobytes() for name in arrays):
        raise DamagedStoreError("the copy does not hold what was written to it; the file is left as it was.")
