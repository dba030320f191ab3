"""Stores that are broken on purpose: each must be caught by the part of the campaign that it belongs to."""

import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from ridgeway.cli import _cmd_absorb
from ridgeway.data import Schema, Task, widening
from ridgeway.data._widening import Widening
from ridgeway.errors import StoreError
from ridgeway.store import (
    Absorbed,
    _absorb,
    _changes,
    _connection,
    _generations,
    _merge,
    _new_file,
    _state,
    _store,
    _widen,
)
from ridgeway.store._changes import Change
from ridgeway.store._digests import Content, digesting
from ridgeway.store._ledger import Ledger, Record
from ridgeway.weights._states import Pooled
from torture.children import ACKNOWLEDGED

Rewrite = Callable[[str], str]


@dataclass(frozen=True)
class Variant:
    """A store: the sound one, or one with a fault.

    Attributes
    ----------
    name : what is wrong with it
    in_force : a context in which this process has the fault
    shows : pattern of the violations that show the fault; others would catch it by accident
    early : whether calls are acknowledged before they are made
    """

    name: str
    in_force: Callable[[], AbstractContextManager[object]] = nullcontext
    shows: str = ""
    early: bool = False

    def shown_by(self, violation: str) -> bool:
        """Return whether a violation is what this fault must lead to."""
        return re.search(self.shows, violation) is not None

    def run(self, call: Callable[[], None], tell: Callable[[bytes], None]) -> None:
        """Make a call with the fault in force, and acknowledge it."""
        with self.in_force():
            if self.early:
                tell(ACKNOWLEDGED)
            call()
            if not self.early:
                tell(ACKNOWLEDGED)


@contextmanager
def rewriting_sql(rewrite: Rewrite, first: str = "") -> Iterator[None]:
    """Rewrite every statement that this process sends to SQLite, and begin each connection with another one."""

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
            return super().execute(rewrite(sql), parameters)

        def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
            return super().executemany(rewrite(sql), parameters)

    connect = sqlite3.connect

    def rewriting(*args: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*args, factory=Connection, **options)
        sqlite3.Connection.execute(connection, first)
        return connection

    with mock.patch.object(sqlite3, "connect", rewriting):
        yield


def _substitution(*pairs: tuple[str, str], first: str = "") -> Callable[[], AbstractContextManager[object]]:
    """Return a context in which statements that match a pattern are replaced."""

    def rewrite(sql: str) -> str:
        for pattern, instead in pairs:
            if re.match(pattern, sql.strip(), re.IGNORECASE):
                return instead
        return sql

    return lambda: rewriting_sql(rewrite, first)


def _synchronous(level: str) -> Callable[[], AbstractContextManager[object]]:
    return _substitution(
        (r"PRAGMA synchronous\s*=", f"PRAGMA synchronous = {level}"), (r"PRAGMA synchronous$", "SELECT 3")
    )


SOUND = Variant("sound")
LOST = "the ledger has|there is no state file"
"""What was acknowledged is missing, or something is there twice."""
SPOILT = "damaged|does not open|the state is not that|the information is not the sum"
EARLY = Variant("acknowledges before it commits", shows=LOST, early=True)
NOT_SYNCED = Variant("never syncs (synchronous=OFF)", _synchronous("OFF"), f"{LOST}|{SPOILT}")
FOLDER_NOT_SYNCED = Variant("does not sync the folder (synchronous=FULL)", _synchronous("FULL"), LOST)
NO_JOURNAL = Variant(
    "keeps no journal (journal_mode=OFF)",
    _substitution((r"PRAGMA journal_mode", "SELECT 'delete'"), first="PRAGMA journal_mode = OFF"),
    "differ from before",
)
NO_TRANSACTION = Variant(
    "commits each statement by itself",
    _substitution((r"(BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b", "SELECT 1")),
    SPOILT,
)


READS_IN_PIECES = Variant(
    "reads without a transaction", _substitution((r"BEGIN$", "SELECT 1")), f"of no moment|{SPOILT}"
)


NOT_OVERWRITTEN = Variant(
    "removes without overwriting",
    _substitution((r"PRAGMA secure_delete", "PRAGMA secure_delete = OFF")),
    "still has the state that was removed",
)


@contextmanager
def _ignoring_errors() -> Iterator[None]:
    """Treat a failed commit as a success."""
    commit = Change.commit

    def ignoring(change: Change, *args: Any, **options: Any) -> None:
        with suppress(sqlite3.Error, StoreError, MemoryError):
            commit(change, *args, **options)

    with mock.patch.object(Change, "commit", ignoring):
        yield


IGNORES_ERRORS = Variant(
    "takes a failed commit for a good one",
    _ignoring_errors,
    "it succeeded, and left|files were acknowledged that are not",
)


@contextmanager
def _unlocked() -> Iterator[None]:
    """Make SQLite take no locks."""
    connect = sqlite3.connect

    def lockless(database: str, **options: Any) -> Any:
        return connect(f"{database}&vfs=unix-none", **options)

    with mock.patch.object(sqlite3, "connect", lockless):
        yield


UNLOCKED = Variant("takes no locks", _unlocked, f"tasks in the ledger|{SPOILT}")


class _AnyText(str):
    """A digest that is equal to every other."""

    __slots__ = ()

    def __eq__(self, _: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class _AnyBytes(bytes):
    """A root digest that never differs from another."""

    __slots__ = ()

    def __ne__(self, _: object) -> bool:
        return False


@contextmanager
def _trusting() -> Iterator[None]:
    """Accept every digest that is read."""
    root_of = _generations.root_of

    def root(*args: Any) -> bytes:
        return _AnyBytes(root_of(*args))

    @contextmanager
    def digests(views: list[memoryview]) -> Iterator[Iterator[str]]:
        with digesting(views) as found:
            yield map(_AnyText, found)

    with mock.patch.multiple(_generations, root_of=root, digesting=digests):
        yield


@contextmanager
def _as_they_are(*_: object) -> Iterator[None]:
    yield


TRUSTING = Variant("does not compare digests", _trusting, "other answers")
UNTYPED = Variant(
    "lets SQLite's errors through",
    lambda: mock.patch.object(_connection, "typed_errors", _as_they_are),
    "(Operational|Database)Error",
)


def _accepting(*_: object) -> None:
    """Refuse nothing."""


def _kept(state: Pooled, task: Task) -> Pooled:
    """Return a state that counts the rows of a task no more, but still has what they said."""
    held = replace(state.information, n_samples=state.information.n_samples - task.n_samples)
    return replace(state, n_tasks=max(state.n_tasks - 1, 1), information=held)


@contextmanager
def _forcing() -> Iterator[None]:
    """Enter every task as if it were forced in."""
    enter = _absorb.enter

    def forced(change: Change, schemas: Sequence[bytes], task_id: str, content: Content, force: str | None) -> Absorbed:
        return enter(change, schemas, task_id, content, force or "")

    with mock.patch.object(_absorb, "enter", forced):
        yield


COUNTS_TWICE = Variant("takes the same rows under another id", _forcing, "DuplicateTaskError should refuse")
UNCONFIRMED = Variant(
    "says 'already absorbed' without a sync", lambda: mock.patch.object(Change, "confirm", _accepting), LOST
)
NOT_READ_BACK = Variant(
    "does not read back what it wrote", lambda: mock.patch.object(_changes, "_read_back", _accepting), "then "
)
UNCHECKED = Variant(
    "does not check a state before it is committed",
    lambda: mock.patch.object(_state, "check_state", _accepting),
    "InvalidDataError should refuse",
)
KEEPS_WHAT_IS_REMOVED = Variant(
    "removes from the counts alone",
    lambda: mock.patch.object(Pooled, "remove", _kept),
    "still has the state that was removed",
)


@contextmanager
def _forgetful() -> Iterator[None]:
    """Enter a task without looking whether it is there."""
    enter = _absorb.enter

    def blind(*args: Any) -> Absorbed:
        with mock.patch.object(Ledger, "find", return_value=[]):
            return enter(*args)

    with mock.patch.object(_absorb, "enter", blind):
        yield


@contextmanager
def _schema_first() -> Iterator[None]:
    """Commit a new schema before what belongs to it."""
    commit = Change.commit

    def split(change: Change, *args: Any, schemas: Sequence[bytes] | None = None, **options: Any) -> None:
        known = change.generation.schemas
        for version, schema in enumerate((schemas or ())[len(known) :], len(known) + 1):
            change.connection.execute("INSERT INTO schemas VALUES (?, ?)", (version, schema))
            change.connection.execute("COMMIT")
            change.connection.execute("BEGIN IMMEDIATE")
        commit(change, *args, schemas=schemas, **options)

    with mock.patch.object(Change, "commit", split):
        yield


SCHEMA_FIRST = Variant(
    "commits a wider schema in a transaction of its own", _schema_first, "damaged: schema, ledger or state"
)


FORGETS_VERSIONS = Variant(
    "forgets the version of the schema that a task was learned with",
    lambda: mock.patch.object(_absorb, "Record", lambda **fields: Record(**{**fields, "schema": 1})),
    "the ledger has versions|the columns of task .* are not those of its digest",
)
KNOWS_NOTHING_OLD = Variant(
    "does not recognise a task that was learned with fewer columns",
    lambda: mock.patch.object(_absorb, "known_digests", lambda content, _: [content.digest]),
    "DuplicateTaskError: task .* with other content|DuplicateTaskError should|RemovalError: these are not the rows",
)
MERGES_TWICE = Variant(
    "merges rows twice if they were learned with different columns",
    lambda: mock.patch.object(_merge, "shortest_digest", lambda entry, *_: entry.record.digest),
    "MergeError should refuse",
)
PAST_IS_ZERO = Variant(
    "takes every new column for 0 in the past",
    lambda: mock.patch.object(_widen, "widening", _from_zero),
    "the information is not the sum",
)


def _from_zero(old: Schema, new: Schema) -> Widening:
    found = widening(old, new)
    return found._replace(past=np.zeros_like(found.past))


SAYS_ALL = Variant(
    "exits with 0 if some files were not absorbed",
    lambda: mock.patch.object(_cmd_absorb, "SOME", 0),
    "the exit code is 0",
)
DOUBLING = Variant("counts a task again when it is repeated", _forgetful, "the ledger has")
ANY_JOURNAL = Variant(
    "rolls back any journal", lambda: mock.patch.object(_connection, "check_journal", _accepting), ", not "
)


@contextmanager
def _by_name() -> Iterator[None]:
    """Take every file for the one that had the name before."""
    with ExitStack() as stack:
        for module in (_connection, _changes, _new_file, _store):
            stack.enter_context(mock.patch.object(module, "inode_of", return_value=(0, 0)))
        for module in (_changes, _new_file):
            stack.enter_context(mock.patch.object(module, "check_after", _accepting))
        yield


BY_NAME = Variant(
    "does not look which file has the name", _by_name, "though the file was replaced|the other file was changed"
)


def _as_if_alone(_: Path, found: os.stat_result) -> os.stat_result:
    return os.stat_result((*found[:3], 1, *found[4:]))


TWO_NAMES = Variant(
    "accepts a file with two names",
    lambda: mock.patch.object(_connection, "_finish_linking", _as_if_alone),
    "acknowledged under one name",
)
