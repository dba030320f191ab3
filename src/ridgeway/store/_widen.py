"""A wider schema for a state file: more categories, features or targets, exactly as if they had always been there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ridgeway.data import OTHER, Schema, source_value, widening
from ridgeway.errors import InvalidParameterError
from ridgeway.store._changes import Handle, changing
from ridgeway.store._digests import Content, constant_digest, schema_from, split_digests, task_digest
from ridgeway.store._ledger import Entry
from ridgeway.store._part_arrays import check_part_size
from ridgeway.store._state import checked_arrays, read_state


def widened(state: Any, old: Schema, new: Schema, prior: Any = None) -> Any:
    """Return a state with the columns of a wider schema; `prior` has the entries of new features, if needed."""
    if new.family is not None:
        if new.family.known_classes != state.origin.classes and new.family.known_classes is not None:
            state = state.with_classes(new.family.known_classes)
        old = replace(old, family=new.family)
        if old.features == new.features:
            return state
    features, targets, past = widening(old, new)
    for key, levels in new.encoding.levels.items():
        before = old.encoding.levels.get(key, levels)
        if OTHER in before and len(levels) > len(before) and _is_used(state, old, key):
            raise InvalidParameterError(
                f"rows of other categories of {key!r} were pooled, so it cannot be known how many of them had the new "
                "one. Start a new state file."
            )
    if new.family is not None and new.family.memory is not None:
        return state.widened(features, past[: len(features)], prior)
    return state.widened(features, targets, past, prior)


def _is_used(state: Any, schema: Schema, key: str) -> bool:
    """Return whether a row of an unknown category was ever learned."""
    place = schema.features.index(schema.encoding.feature_of(key, OTHER))
    if schema.family is not None and schema.family.memory is not None:
        return bool(state.past.curvature[place, place] or state.past.gradient[place])
    held = state.information
    return bool(held.peak[place] or held.mean[place])


def next_schemas(schemas: Sequence[bytes], schema: Schema) -> list[bytes]:
    """Return the schemas of a file, followed by a new one."""
    return [*schemas, replace(schema, version=len(schemas) + 1).to_bytes()]


def new_names(old: Schema, new: Schema) -> list[str]:
    """Return the features that a wider schema adds, and its new classes, written as target=class."""
    features = [name for name in new.features if name not in old.features]
    if old.family is None or new.family is None:
        return features
    return features + [f"{new.targets[0]}={label}" for label in new.family.classes if label not in old.family.classes]


def widen(handle: Handle, wider: Callable[[Schema], Schema], prior: Any) -> Schema:
    """Widen a state file by a function of its schema; return the new schema."""
    with changing(handle) as change:
        now, ledger = change.generation, change.ledger
        schemas = next_schemas(now.schemas, wider(now.schema))
        schema = schema_from(schemas[-1])
        check_part_size(schema)
        state = widened(read_state(now.schema, change.arrays), now.schema, schema, prior)
        change.commit(checked_arrays(schema, state, ledger.n_tasks, ledger.n_samples), schemas=schemas)
    return schema


def known_digests(content: Content, schemas: Sequence[bytes]) -> list[str]:
    """Return the digests that a task has, or had before columns were added that are constant in it.

    A new column must have its past value in every row: then the task may be one that was learned without it.
    """
    *older, schema = map(schema_from, schemas)
    columns, weights = split_digests(schema.sources, content.columns)
    constant = _constant(schema, columns, content.n_samples)
    found = [content.digest]
    for earlier in {one.sources for one in older if one.sources != schema.sources}:
        if {*schema.sources} - {*earlier} <= constant and {*earlier} <= {*schema.sources}:
            joined = b"".join(columns[name] for name in earlier) + weights
            found.append(task_digest(earlier, content.n_samples, joined))
    return found


def shortest_digest(entry: Entry, learned: Schema, schema: Schema) -> str:
    """Return the digest that a task has without the columns of `schema` that have their past value in every row.

    It does not depend on how many of them there were when the task was learned.
    """
    if not schema.past:
        return entry.record.digest
    columns, weights = split_digests(learned.sources, entry.columns)
    constant = _constant(schema, columns, entry.record.n_samples)
    names = [name for name in learned.sources if name not in constant]
    return task_digest(names, entry.record.n_samples, b"".join(columns[name] for name in names) + weights)


def _constant(schema: Schema, columns: Mapping[str, bytes], n_samples: int) -> set[str]:
    """Return the columns of a task that were added later and have their past value in every row."""
    kinds: Mapping[str, Any] = schema.encoding.kinds
    return {
        name
        for name, value in schema.past.items()
        if columns.get(name) == constant_digest(source_value(kinds.get(name, "number"), name, value), n_samples)
    }
