"""The full check of a state file, and the way back to its previous generation if the current one is damaged."""

import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ridgeway.errors import DamagedStoreError, StoreError, UncertainStoreError
from ridgeway.store._changes import Contents, Handle, check_after, was_committed
from ridgeway.store._connection import check_pages, connect_new, inode_of, link_of, set_link, transaction, typed_errors
from ridgeway.store._digests import Array
from ridgeway.store._generations import Generation, check_ledger, read_arrays, read_generation, read_ledger
from ridgeway.store._new_file import fill_file, temporary_file, write_new
from ridgeway.store._state import check_state
from ridgeway.store._whole_tree import Seen, check_parts, shelf_of


@dataclass(frozen=True)
class Health:
    """What `Store.check` found.

    Attributes
    ----------
    generation : number of the current generation
    previous : number of the one before, if it is kept
    n_tasks, n_samples : tasks and rows, which ledger and state agree on
    n_bytes : bytes of the state's arrays
    n_nodes : nodes of the tree of parts, if tasks are kept

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = store.create(f"{folder}/state.rw", features=["x"], target="y")
    ...     _ = state.absorb("May", [[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    ...     found = state.check()
    >>> found.n_tasks, found.n_samples, found.generation, found.previous
    (1, 3, 2, 1)
    """

    generation: int
    previous: int | None
    n_tasks: int
    n_samples: int
    n_bytes: int
    n_nodes: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the findings as plain data."""
        return asdict(self)


def full_check(handle: Handle) -> Health:
    """Check every digest and every invariant of a file; raise `DamagedStoreError` if one does not hold."""
    with transaction(handle.path, write=False, timeout=handle.timeout) as connection:
        now = handle.check(read_generation(connection, handle.path))
        check_ledger(connection, now, handle.path)
        arrays = _sound_arrays(connection, now, handle.path)
        parts = check_parts(connection, now, handle.path, arrays)
        previous = _check_previous(connection, handle.path, parts)
        check_pages(connection, handle.path)
    n_bytes = sum(array.nbytes for array in arrays.values())
    return Health(now.number, previous, now.n_tasks, now.n_samples, n_bytes, len(parts))


def _check_previous(connection: sqlite3.Connection, path: Path, parts: Seen) -> int | None:
    """Return the number of the previous generation after a full check of it; None if none is kept."""
    if connection.execute("SELECT count(*) FROM generations").fetchone()[0] == 1:
        return None
    try:
        previous = read_generation(connection, path, previous=True)
        check_ledger(connection, previous, path)
        check_parts(connection, previous, path, read_arrays(connection, previous, path), parts)
    except DamagedStoreError as error:
        raise DamagedStoreError(
            f"the current generation is intact, but the previous one is not ({str(error).removesuffix('.')}). The next "
            "task will replace it."
        ) from error
    return previous.number


def back_up(handle: Handle, path: Path) -> Health:
    """Copy a file as it is at one moment to a new one, and check the copy in full before it gets its name."""
    found: list[Health] = []

    def fill(temporary: Path) -> None:
        with (
            transaction(handle.path, write=False, timeout=handle.timeout) as connection,
            closing(connect_new(temporary)) as copy,
        ):
            handle.check(read_generation(connection, handle.path))
            with typed_errors(path, handle.timeout):
                connection.backup(copy)
                set_link(copy, link_of(connection))
        found.append(full_check(replace(handle, path=temporary, inode=inode_of(temporary))))

    write_new(path, fill)
    return found[0]


def restore(path: Path, timeout: float) -> Handle:
    """Make the previous generation the current one, if the current one is damaged and the previous one is not.

    A copy is made and checked in full, and then takes the file's place in one transaction.
    """
    restored: list[Generation] = []
    inode = inode_of(path)
    try:
        _restore(path, timeout, restored)
    except StoreError:
        if not restored or not _took(path, timeout, restored[0].root):
            raise
    check_after(path, inode)
    return Handle(path, inode, restored[0].file_id, timeout)


def _restore(path: Path, timeout: float, restored: list[Generation]) -> None:
    """Restore; append the generation that the file will have when it is about to be changed."""
    with transaction(path, write=True, timeout=timeout, alone=True) as connection:
        if _is_intact(connection, path):
            raise StoreError(f"the current generation of {path} is intact: there is nothing to restore.")
        previous = read_generation(connection, path, previous=True)
        ledger, arrays = read_ledger(connection, previous, path), _sound_arrays(connection, previous, path)
        kept = None if previous.parts is None else previous.parts.root
        tree = shelf_of(connection, previous, path).root(kept)
        with temporary_file(path) as temporary:
            contents, link = Contents(previous.schemas, ledger, arrays, tree), link_of(connection)
            fill_file(temporary, previous.file_id, previous.number + 2, contents, link)
            with transaction(temporary, write=False, timeout=0.0) as copy:
                restored.append(_checked_copy(copy, temporary, arrays))
                connection.execute("COMMIT")
                copy.backup(connection)


def _took(path: Path, timeout: float, root: bytes) -> bool:
    """Return whether a restoration that reported an error was made."""
    try:
        return was_committed(path, timeout, root)
    except UncertainStoreError as error:
        if isinstance(error.__cause__, DamagedStoreError):
            return False  # as damaged as before
        raise


def _is_intact(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether the current generation is intact, or raise if it cannot be read: then nobody knows."""
    try:
        with typed_errors(path, 0.0):
            generation = read_generation(connection, path)
            check_ledger(connection, generation, path)
            check_parts(connection, generation, path, _sound_arrays(connection, generation, path))
    except DamagedStoreError:
        return False
    return True


def _sound_arrays(connection: sqlite3.Connection, generation: Generation, path: Path) -> dict[str, Array]:
    arrays = read_arrays(connection, generation, path)
    check_state(generation.schema, arrays, generation.n_tasks, generation.n_samples)
    return arrays


def _checked_copy(copy: sqlite3.Connection, path: Path, arrays: dict[str, Array]) -> Generation:
    """Return the generation of the copy if it holds what was written to it."""
    generation = read_generation(copy, path)
    check_ledger(copy, generation, path)
    read = read_arrays(copy, generation, path)
    check_parts(copy, generation, path, read)
    if list(read) != list(arrays) or any(read[name].tobytes() != arrays[name].tobytes() for name in arrays):
        raise DamagedStoreError("the copy differs from what was written; the file is left as it was.")
    return generation
