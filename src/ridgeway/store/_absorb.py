"""Absorb and remove: rows come in blocks, are hashed while the model learns them, and count at most once."""

import unicodedata
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from ridgeway.data import Block, Schema, rebased
from ridgeway.errors import DuplicateTaskError, InvalidDataError, InvalidParameterError, RemovalError
from ridgeway.store._changes import Change, Handle, changing
from ridgeway.store._digests import Content, ContentDigest, schema_from
from ridgeway.store._forget import Forgetting, class_sums
from ridgeway.store._gathered_tasks import GatheredTasks
from ridgeway.store._ledger import Entry, Ledger, Record
from ridgeway.store._new_tasks import NewTasks
from ridgeway.store._part_tree import NewParts
from ridgeway.store._references import RemovedRows, empty_note, lost_references, substitutes
from ridgeway.store._state import checked_arrays, emptied, read_state, task_of
from ridgeway.store._widen import known_digests, new_names, next_schemas, widened
from ridgeway.weights import Retained

Blocks = Generator[tuple[str, Block], None, None]
Source = Callable[[Schema], Blocks]
"""Returns the rows of one or more tasks in blocks, each with its task id, as the schema orders them; the same rows each
time it is called."""

LONGEST_ID = 200
LONGEST_REASON = 1000


class Absorbed(NamedTuple):
    """The result of absorbing a task: its record in the ledger, and whether it was there already.

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = store.create(f"{folder}/state.rw", features=["x"], target="y")
    ...     found = [state.absorb("May", [[0.0], [1.0]], [1.0, 2.0]) for _ in range(2)]
    >>> [each.already for each in found], found[0].record == found[1].record
    ([False, True], True)
    """

    record: Record
    already: bool


class Removed(NamedTuple):
    """The result of removing a task: its record, marked as removed, and the decimal digits that may be lost.

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = store.create(f"{folder}/state.rw", features=["x"], target="y")
    ...     _ = state.absorb("May", [[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    ...     _ = state.absorb("June", [[3.0]], [5.0])
    ...     found = state.remove("June", [[3.0]], [5.0])
    >>> found.record.task_id, found.digits_lost < 2.0
    ('June', True)
    """

    record: Record
    digits_lost: float


def absorb(handle: Handle, source: Source, force: str | None, added: list[str] | None = None) -> list[Absorbed]:
    """Add the tasks of `source` to a state file, all of them or none, each at most once; `added` gets new names."""
    with changing(handle) as change:
        first = schema = change.generation.schema
        ledger, known, state = change.ledger, {}, read_state(schema, change.arrays)
        kept = None if schema.keep is None else NewTasks(handle.path, schema)
        gathered = None if schema.family is None or schema.family.memory is None else GatheredTasks(handle.path)

        def learn(task_id: str, block: Block) -> None:
            nonlocal state, schema
            if block.schema is not schema:
                state, schema = widened(state, schema, block.schema), block.schema
            if task_id not in known:
                known[task_id] = bool(ledger.find("task_id", checked_id(task_id)))
            apart = kept or gathered
            if not known[task_id] and apart is not None:
                apart.add(task_id, block)
            elif not known[task_id]:
                state = state.after(task_of(schema, block))

        found = _read(source(schema), first, learn)
        if not found:
            raise InvalidDataError(
                "there are no rows to learn. If the table has rows, all of them have weight 0 or a missing value. "
                "Leave out an empty task."
            )
        schemas = change.generation.schemas if schema == first else next_schemas(change.generation.schemas, schema)
        outcomes = [enter(change, schemas, task_id, content, force) for task_id, content in found.items()]
        new = [task.record for task in outcomes if not task.already]
        forced = {record.task_id for record in new if known[record.task_id]}
        if forced:  # so far their rows have only been hashed
            known = dict.fromkeys(found, True) | dict.fromkeys(forced, False)
            again = _read(source(schema), schema, learn)
            if any(again.get(task_id) != found[task_id] for task_id in forced):
                raise InvalidDataError("the rows changed while they were read. Absorb a file that nobody writes to.")
        if not new:
            change.confirm()
        elif kept is None:
            state = state if gathered is None else gathered.learned(state, schema)
            change.commit(checked_arrays(schema, state, ledger.n_tasks, ledger.n_samples), schemas=schemas)
        else:
            tree = change.tree(schemas)
            kept.grow(tree, schema, [(record, record.task_id in forced) for record in new])
            arrays = checked_arrays(schema, tree.total(state), ledger.n_tasks, ledger.n_samples)
            change.commit(arrays, schemas=schemas, parts=tree.change(keep_previous=True))
    if added is not None:
        added += new_names(first, schema)
    return outcomes


def _read(blocks: Blocks, schema: Schema, act: Callable[[str, Block], None]) -> dict[str, Content]:
    """Do something with each block of rows, and return the contents of the tasks."""
    digests: dict[str, ContentDigest] = {}
    # The pool hashes, in order, while this thread does the linear algebra. Blocks may have a thread of their own: they
    # are closed here, so that the garbage collector does not do it in the middle of something else.
    with closing(blocks), ThreadPoolExecutor(1) as pool:
        for task_id, block in blocks:
            columns = block.X if block.sources is None else block.sources
            digest = digests.setdefault(task_id, ContentDigest())
            hashing = pool.submit(digest.add, columns, block.y, block.sample_weight, block.offset_values)
            act(task_id, block)
            hashing.result()
    return {task_id: digest.finish(schema.sources) for task_id, digest in digests.items()}


def enter(change: Change, schemas: Sequence[bytes], task_id: str, content: Content, force: str | None) -> Absorbed:
    """Enter a task into the ledger, unless it is there; raise if it would be counted twice and is not forced."""
    ledger = change.ledger
    digests = [content.digest] if len(schemas) == 1 else known_digests(content, schemas)
    same_id = ledger.find("task_id", task_id)
    same_content = [entry for digest in digests for entry in ledger.find("digest", digest)]
    for entry in same_id:
        if entry.record.digest in digests:
            return Absorbed(entry.record, True)
    if force is None and (same_id or same_content):
        raise _duplicate(task_id, content.digest, same_id, same_content)
    record = Record(
        sequence=ledger.next_sequence,
        task_id=task_id,
        digest=content.digest,
        n_samples=content.n_samples,
        total_weight=content.total_weight,
        absorbed_at=datetime.now(UTC).isoformat(timespec="seconds"),
        schema=len(schemas),
        reason=force if same_id or same_content else None,
    )
    ledger.put(Entry(change.generation.number + 1, record, content.columns))
    return Absorbed(record, False)


def _duplicate(task_id: str, digest: str, same_id: list[Entry], same_content: list[Entry]) -> DuplicateTaskError:
    if same_id:
        return DuplicateTaskError(
            f"task {task_id!r} is in the state file with other content (the new digest is {digest[:12]}…). Give the "
            "new rows an id of their own, or force them in with a reason."
        )
    return DuplicateTaskError(
        f"the rows of task {task_id!r} are those of task {same_content[0].record.task_id!r} (digest {digest[:12]}…). "
        "Absorbing them again would count them twice. If you mean that, force them in with a reason."
    )


def remove(handle: Handle, task_id: str, source: Source | None) -> Removed:
    """Remove a task from a state file, exactly, or raise `RemovalError`; what is freed is overwritten.

    If the file keeps its tasks, no source of rows is needed; if there is one, its rows must be those of the task.
    """
    with changing(handle, wipe=True) as change:
        ledger, schema = change.ledger, change.generation.schema
        if schema.family is not None and schema.family.memory is not None:
            raise RemovalError(
                f"tasks cannot be removed from a file of family {schema.family.name}: what was added of their rows was "
                "an expansion about an estimate that is gone. Start a new file without them."
            )
        if source is None or schema.keep is not None:
            entry = _last(ledger, task_id) if source is None else _matching(change, task_id, source)
            return _remove_parts(change, entry)
        return _remove_rows(change, task_id, source)


def _remove_parts(change: Change, entry: Entry) -> Removed:
    """Remove the parts of a task that is kept."""
    schema = change.generation.schema
    schemas: Sequence[bytes] = change.generation.schemas
    before: Any = read_state(schema, change.arrays)
    tree = change.tree(schemas)
    tree.remove(entry.record.task_id, entry.record.digest)
    state: Any = tree.total(before)

    references = substitutes(state, schema, lost_references(before, schema, state))
    if references:
        schemas = next_schemas(schemas, rebased(schema, references).after)
        tree = change.tree(schemas)
        tree.remove(entry.record.task_id, entry.record.digest)
        tree.renew_root()
        state = tree.total(before)
    return _commit_removal(change, entry, state, schemas, tree.change(keep_previous=False))


def _remove_rows(change: Change, task_id: str, source: Source) -> Removed:
    """Remove the rows of a task from the total. They are read twice: first it is checked that they are the task's."""
    ledger, schema = change.ledger, change.generation.schema
    schemas: Sequence[bytes] = change.generation.schemas
    sums, by_class = np.zeros(len(schema.features)), dict.fromkeys(schema.target_columns, 0.0)

    def count(_: str, block: Block) -> None:
        nonlocal sums
        X = _narrowed(schema, block).X
        sums = sums + (X.sum(axis=0) if block.sample_weight is None else block.sample_weight @ X)
        for label, weight in class_sums(block).items():
            by_class[label] = by_class.get(label, 0.0) + weight

    content = _read(source(schema), schema, count).get(task_id)
    entry = _recorded(ledger, task_id, known_digests(content, schemas) if content else [""])
    state: Any = read_state(schema, change.arrays)
    if content is None or ledger.n_tasks == 1:
        return _commit_removal(change, entry, emptied(state), schemas, None)

    # A reference level that loses its last row is changed first: then its rows are ones in a column.
    removed = RemovedRows(sums, content.total_weight)
    lost = lost_references(state, schema, state, removed)
    references = substitutes(state, schema, lost, removed)
    stuck = [empty_note(state, schema, key) for key in lost if key not in references]
    if references:
        rebasing = rebased(schema, references)
        schemas = next_schemas(schemas, rebasing.after)
        schema = schema_from(schemas[-1])
        state = state.mapped(rebasing.matrix, rebasing.shift)
        sums = sums @ rebasing.matrix + removed.weight * rebasing.shift

    left = Forgetting(state, schema, sums, by_class)
    try:
        again = _read(source(schema), schema, lambda _, block: left.remove(task_of(schema, _narrowed(schema, block))))
    except RemovalError as error:
        if stuck:
            raise RemovalError(f"{error} After the removal: {' '.join(stuck)}") from error
        raise
    if again.get(task_id) != content:
        raise RemovalError("the rows changed while they were read. Remove with a file that nobody writes to.")
    return _commit_removal(change, entry, left.state(), schemas, None)


def _commit_removal(
    change: Change, entry: Entry, state: Retained, schemas: Sequence[bytes], parts: NewParts | None
) -> Removed:
    """Commit the state and the parts without a task, and mark it as removed in the ledger."""
    ledger, digits = change.ledger, float(state.information.digits_lost)
    gone = replace(entry.record, digest="", removed=ledger.next_sequence, digits_lost=digits)
    ledger.put(Entry(entry.generation, gone, b""), entry)
    arrays = checked_arrays(schema_from(schemas[-1]), state, ledger.n_tasks, ledger.n_samples)
    change.commit(arrays, schemas=schemas, keep_previous=False, parts=parts)
    return Removed(gone, digits)


def _matching(change: Change, task_id: str, source: Source) -> Entry:
    """Return the entry of the task that some rows are, or raise."""
    schema, schemas = change.generation.schema, change.generation.schemas
    content = _read(source(schema), schema, lambda *_: None).get(task_id)
    return _recorded(change.ledger, task_id, known_digests(content, schemas) if content else [""])


def _last(ledger: Ledger, task_id: str) -> Entry:
    """Return the entry of a task, or the last one if rows were forced in under the same id."""
    entries = ledger.find("task_id", task_id)
    if not entries:
        raise unknown_task(task_id)
    return max(entries, key=lambda entry: entry.record.sequence)


def _narrowed(schema: Schema, block: Block) -> Block:
    """Return a block with the features of the state: those that rows of other tasks have added are 0 in a task."""
    if block.schema is schema:
        return block
    places = [block.schema.features.index(name) for name in schema.features]
    return block._replace(X=np.asfortranarray(block.X[:, places]), schema=schema)


def _recorded(ledger: Ledger, task_id: str, digests: list[str]) -> Entry:
    """Return the entry of a task, or raise if there is none or its rows are different."""
    entries = ledger.find("task_id", task_id)
    if not entries:
        raise unknown_task(task_id)
    for entry in entries:
        if entry.record.digest in digests:
            return entry
    raise RemovalError(
        f"these are not the rows that were absorbed as task {task_id!r}: their digest is {digests[0][:12]}…, the "
        f"ledger has {', '.join(entry.record.digest[:12] + '…' for entry in entries)}. Pass exactly those rows."
    )


def unknown_task(task_id: str) -> RemovalError:
    """Return the error for a task that is not in the ledger."""
    return RemovalError(f"there is no task {task_id!r} in the state file. `ridgeway history` lists the tasks.")


def one_task(task_id: str, blocks: Callable[[Schema], Iterator[Block]]) -> Source:
    """Return a source of one task."""
    return lambda schema: ((task_id, block) for block in blocks(schema))


def checked_id(task_id: Any) -> str:
    """Return a task id that is safe to print, to type again and to name a file after, or raise.

    Examples
    --------
    >>> from ridgeway import store
    >>> store.checked_id("May 2024")
    'May 2024'
    >>> store.checked_id("../May")
    Traceback (most recent call last):
    ridgeway.errors.InvalidParameterError: the task id '../May' contains path or control ...
    """
    if not isinstance(task_id, str) or not task_id or task_id != task_id.strip():
        raise InvalidParameterError(
            f"a task id must be a string that does not begin or end with a space; got {task_id!r}. Pass one like "
            "'2019'."
        )
    if len(task_id) > LONGEST_ID:
        raise InvalidParameterError(
            f"the task id {task_id[:20]!r}… is {len(task_id)} characters long; the limit is {LONGEST_ID}. Shorten it."
        )
    if task_id in (".", "..") or any(c in "/\\" or unicodedata.category(c)[0] == "C" for c in task_id):
        raise InvalidParameterError(
            f"the task id {task_id!a} contains path or control characters. Use letters, digits, '-', '_' and the like."
        )
    if not unicodedata.is_normalized("NFC", task_id):
        raise InvalidParameterError(
            f"the task id {task_id!a} is not in Unicode's normal form NFC. "
            f"Pass {unicodedata.normalize('NFC', task_id)!a}, which looks the same."
        )
    return task_id


def checked_reason(reason: Any) -> str | None:
    """Return the reason why a task is forced in, or None if it is not forced."""
    if reason is None:
        return None
    if not isinstance(reason, str) or not reason.strip() or len(reason) > LONGEST_REASON:
        raise InvalidParameterError(
            f"force needs a reason of 1 to {LONGEST_REASON} characters, which the ledger keeps; got {reason!r}."
        )
    if any(unicodedata.category(c)[0] == "C" for c in reason):
        raise InvalidParameterError("the reason contains control characters. Write it in one line.")
    return reason
