"""Reference levels: which of them no row has, and how a state file changes to others, exactly."""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from ridgeway._checks import Array
from ridgeway.data import MISSING, OTHER, Schema, rebased
from ridgeway.errors import InvalidParameterError
from ridgeway.store._changes import Handle, changing
from ridgeway.store._digests import schema_from
from ridgeway.store._forget import ROUNDING, SHARE_OF_ROUNDING
from ridgeway.store._part_tree import NewParts
from ridgeway.store._state import checked_arrays, read_state
from ridgeway.store._widen import next_schemas


class RemovedRows(NamedTuple):
    """Sums over rows that are about to be removed: Σ w·x of each feature, and Σ w."""

    sums: Array
    weight: float


def level_weights(state: Any, schema: Schema, key: str, removed: RemovedRows | None = None) -> dict[str, float]:
    """Return the weight of the rows of each level of a category, 0 if it cannot be told from rounding.

    The reference has what the other levels leave of all rows. With `removed`, the weights are those of the other rows.
    """
    held, encoding = state.information, schema.encoding
    place_of = {name: place for place, name in enumerate(schema.features)}
    places = [place_of[name] for name in encoding.features_of(key).values()]
    total = held.total_weight
    sums = total * (held.mean[places] + held.mean_low[places])
    reference = total * fsum([1.0, *-held.mean[places], *-held.mean_low[places]])
    weights = np.array([reference, *sums])
    roundings = SHARE_OF_ROUNDING * np.sqrt(total * held.peak[places])
    bounds = np.array([roundings.sum(), *roundings])

    if removed is not None:
        gone = np.array([removed.weight - fsum(removed.sums[places]), *removed.sums[places]])
        weights = weights - gone
        bounds = bounds + ROUNDING * gone

    with_rows = np.where(weights > bounds, weights, 0.0)
    return dict(zip(encoding.levels[key], with_rows.tolist(), strict=True))


def empty_references(state: Any, schema: Schema, removed: RemovedRows | None = None) -> list[str]:
    """Return the categories whose reference level no row has, as far as the state knows.

    It knows the levels of categories that are terms of their own, unless the rows are those of a likelihood. Without an
    intercept a reference level needs no rows.
    """
    is_likelihood = schema.family is not None and schema.family.memory is not None
    if schema.raw is None or not schema.fit_intercept or is_likelihood or state.n_samples == 0:
        return []
    single = {str(term.factors[0]) for term in schema.raw.terms if len(term.factors) == 1}
    found = []
    for key in schema.raw.levels:
        if key in single:
            weights = level_weights(state, schema, key, removed)
            if weights[schema.raw.levels[key][0]] == 0.0 and any(weights.values()):
                found.append(key)
    return found


def obstacle(state: Any, schema: Schema) -> str | None:
    """Return why reference levels cannot be changed without changing the model; None if they can."""
    if schema.family is not None and schema.family.memory is not None:
        return f"a file of family {schema.family.name} keeps an expansion of its likelihood for the old one"
    if not schema.fit_intercept:
        return "without an intercept another reference level is another model"
    if state.prior is None or state.prior.any() or state.origin.coef.any():
        return "the prior is about differences from it"
    if schema.keeps_fourth_moments:
        return "fourth moments cannot be changed from one reference level to another"
    return None


def lost_references(before: Any, schema: Schema, after: Any, removed: RemovedRows | None = None) -> list[str]:
    """Return the categories whose reference level loses its last row in a removal.

    `after` is the state then; or it is the state before, and `removed` are the rows that will go.
    """
    never = empty_references(before, schema)
    return [key for key in empty_references(after, schema, removed) if key not in never]


def substitutes(state: Any, schema: Schema, keys: Sequence[str], removed: RemovedRows | None = None) -> dict[str, str]:
    """Return the first level with rows of each of some categories, if it can become the reference level."""
    if obstacle(state, schema) is not None:
        return {}
    found = {}
    for key in keys:
        weights = level_weights(state, schema, key, removed)
        levels = [level for level, weight in weights.items() if weight > 0.0 and level not in (OTHER, MISSING)]
        if levels and key not in schema.encoding.multiplied:
            found[key] = levels[0]
    return found


def empty_note(state: Any, schema: Schema, key: str) -> str:
    """Return that no row has a reference level, and what can be done about it."""
    name = f"{key}={schema.encoding.levels[key][0]}"
    return f"no row has {name}, which is a reference level. {remedy(state, schema, key)}"


def remedy(state: Any, schema: Schema, key: str) -> str:
    """Return what can be done about a reference level that no row has."""
    reason = obstacle(state, schema)
    if reason is None and key in schema.encoding.multiplied:
        reason = f"{key!r} is part of a product"
    if reason is None:
        return "`ridgeway reference` chooses another, unless rows with this one are still to come."
    return f"It stays the reference, because {reason}."


def change_references(handle: Handle, references: Mapping[str, str]) -> Schema:
    """Give categories of a state file other reference levels, or raise; return the new schema."""
    with changing(handle) as change:
        now, ledger = change.generation, change.ledger
        state = read_state(now.schema, change.arrays)
        if not references:
            raise InvalidParameterError("no reference level was named. Name a category and its new reference level.")
        rebasing = rebased(now.schema, references)
        reason = obstacle(state, now.schema)
        if reason is not None:
            raise InvalidParameterError(
                f"the reference level cannot be changed, because {reason}. Start a new file with --reference."
            )
        for key, level in references.items():
            if state.n_samples and not level_weights(state, now.schema, key)[level]:
                raise InvalidParameterError(
                    f"no row has {key}={level}, and differences from it could not be estimated. Choose a level with "
                    "rows."
                )

        schemas = next_schemas(now.schemas, rebasing.after)
        schema = schema_from(schemas[-1])
        state = state.mapped(rebasing.matrix, rebasing.shift)
        parts: NewParts | None = None
        if now.parts is not None:
            tree = change.tree(schemas)
            tree.renew_root()
            state = tree.total(state)
            parts = tree.change(keep_previous=True)
        arrays = checked_arrays(schema, state, ledger.n_tasks, ledger.n_samples)
        change.commit(arrays, schemas=schemas, parts=parts)
    return schema
