"""Each call that changes files, with the files that are there before it."""

import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from ridgeway import store
from ridgeway.errors import DamagedStoreError, RidgewayError
from ridgeway.store import _connection, _digests, _generations
from torture.tasks import FEATURES, TARGET, Answers, answers, name, rows

WIDE = 100
"""Features of the wider store: its state takes several pages, and several blocks of `small_blocks`."""
MADE = ("out.*", "predicted.*")
"""Files that calls make beside stores."""


def small_blocks() -> AbstractContextManager[object]:
    """Return a context in which a state is stored in small blocks, so that it has many."""
    stack = ExitStack()
    for module in (_digests, _generations):
        stack.enter_context(mock.patch.object(module, "BLOCK_BYTES", 2**14))
    return stack


@dataclass(frozen=True)
class Scenario:
    """A call and the files that it starts with.

    Attributes
    ----------
    prepare : makes the files that are there before, in a folder
    operate : makes the call
    """

    name: str
    prepare: Callable[[Path], None]
    operate: Callable[[Path], None]


def filled(
    path: Path, numbers: range, n_features: int = len(FEATURES), keep: str | tuple[str, ...] | None = None
) -> store.Store:
    """Make a store that has absorbed some tasks."""
    features = FEATURES if n_features == len(FEATURES) else [f"x{j}" for j in range(n_features)]
    made = store.create(path, features=features, target=TARGET, keep=keep)
    for number in numbers:
        made.absorb(name(number), *rows(number, n_features))
    return made


def _nothing(_: Path) -> None:
    pass


def _create(folder: Path) -> None:
    store.create(folder / "a.rw", features=FEATURES, target=TARGET)


def _one(folder: Path) -> None:
    filled(folder / "a.rw", range(4))


def _absorb(folder: Path) -> None:
    store.open(folder / "a.rw").absorb(name(4), *rows(4))


def _remove(folder: Path) -> None:
    store.open(folder / "a.rw").remove(name(1), *rows(1))


def _wide(folder: Path) -> None:
    filled(folder / "a.rw", range(3), WIDE)


def _absorb_wide(folder: Path) -> None:
    store.open(folder / "a.rw").absorb(name(4), *rows(4, WIDE))


def _remove_wide(folder: Path) -> None:
    store.open(folder / "a.rw").remove(name(1), *rows(1, WIDE))


def _absorb_spilling(folder: Path) -> None:
    """Absorb with a cache of two pages: SQLite writes to the file long before the commit, as for a large state."""
    with mock.patch.dict(_connection.SETTINGS, cache_size=-128):
        _absorb_wide(folder)


def _two(folder: Path) -> None:
    filled(folder / "a.rw", range(3))
    filled(folder / "b.rw", range(3, 6))


def _merge(folder: Path) -> None:
    store.open(folder / "a.rw").merge(folder / "b.rw", folder / "both.rw")


def _damaged(folder: Path) -> None:
    """Make a store whose current state is damaged and whose previous one is not."""
    filled(folder / "a.rw", range(4))
    with closing(sqlite3.connect(folder / "a.rw", isolation_level=None)) as connection:
        connection.execute("UPDATE blocks SET data = x'' WHERE id >= (SELECT max(number) FROM generations) << 20")


def _restore(folder: Path) -> None:
    """Restore the previous generation, unless that was done before."""
    try:
        store.open(folder / "a.rw")
    except DamagedStoreError:
        store.restore_previous(folder / "a.rw")


SCENARIOS = (
    Scenario("create", _nothing, _create),
    Scenario("absorb", _one, _absorb),
    Scenario("absorb, several pages", _wide, _absorb_wide),
    Scenario("absorb, small cache", _wide, _absorb_spilling),
    Scenario("remove", _one, _remove),
    Scenario("remove, several pages", _wide, _remove_wide),
    Scenario("merge", _two, _merge),
    Scenario("restore", _damaged, _restore),
)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def settle(folder: Path) -> None:
    """Let SQLite roll back what was interrupted, as it does whenever a file is opened."""
    for path in folder.glob("*.rw"):
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True)) as connection:
            connection.execute("PRAGMA schema_version").fetchall()


def view(folder: Path) -> dict[str, str]:
    """Return what the stores of a folder answer: the tasks and a digest of everything but times, or the error.

    Of other files that a call makes it returns a digest.
    """
    made = [path for pattern in MADE for path in sorted(folder.glob(pattern))]
    said = {path.name: _content(path) for path in made}
    for path in sorted(folder.glob("*.rw")):
        try:
            said[path.name] = summary(answers(path))
        except RidgewayError as error:
            said[path.name] = f"{type(error).__name__}: {error}"
    return said


def _content(path: Path) -> str:
    """Return a digest of a file; the header of an export is in no order."""
    content = path.read_bytes()
    if path.suffix == ".safetensors":
        length = 8 + int.from_bytes(content[:8], "little")
        content = json.dumps(json.loads(content[8:length]), sort_keys=True).encode() + content[length:]
    return hashlib.sha256(content).hexdigest()


def summary(said: Answers) -> str:
    """Return the tasks of a store and a digest of all its answers but times."""
    ledger = [{**record.as_dict(), "absorbed_at": ""} for record in said.ledger]
    digest = hashlib.sha256(repr((said.schema, ledger, said.state)).encode()).hexdigest()
    return f"{', '.join(said.ids)}: {digest[:16]}"
