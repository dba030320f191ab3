"""State files that are made again: from exported arrays, or from the previous generation."""

from os import PathLike

from ridgeway.store._connection import as_path, check_mount, checked_timeout
from ridgeway.store._exchange import imported
from ridgeway.store._new_file import write_state
from ridgeway.store._recovery import restore
from ridgeway.store._store import TIMEOUT, Store


def restore_previous(path: str | PathLike[str], *, timeout: float = TIMEOUT) -> Store:
    """Go back to the previous generation of a file whose current one is damaged; nothing else ever does.

    What was absorbed last is lost and must be absorbed again. An intact file is refused.

    Examples
    --------
    >>> import sqlite3, tempfile
    >>> from contextlib import closing
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = store.create(f"{folder}/state.rw", features=["x"], target="y")
    ...     for task, y in ("May", 1.0), ("June", 2.0):
    ...         _ = state.absorb(task, [[0.0], [1.0]], [y, 3.0])
    ...     with closing(sqlite3.connect(state.path, isolation_level=None)) as damaging:
    ...         _ = damaging.execute("UPDATE generations SET root = x'' WHERE number = 3")
    ...     restored = store.restore_previous(state.path)
    ...     print([record.task_id for record in restored.history()])
    ['May']
    """
    where, seconds = as_path(path), checked_timeout(timeout)
    check_mount(where)
    return Store(restore(where, seconds))


def import_arrays(source: str | PathLike[str], path: str | PathLike[str], *, timeout: float = TIMEOUT) -> Store:
    """Make a state file, which must not exist yet, from what `Store.export` wrote.

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = store.create(f"{folder}/state.rw", features=["x"], target="y")
    ...     _ = state.absorb("May", [[0.0], [1.0]], [1.0, 2.0])
    ...     state.export(f"{folder}/state.safetensors")
    ...     copy = store.import_arrays(f"{folder}/state.safetensors", f"{folder}/copy.rw")
    ...     print(copy.history() == state.history())
    True
    """
    return Store(write_state(as_path(path), imported(as_path(source)), checked_timeout(timeout)))
