"""Stores of classes and of likelihoods that are broken on purpose."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

from ridgeway.data import Schema
from ridgeway.store import _absorb
from ridgeway.store._digests import schema_from
from ridgeway.store._gathered_tasks import GatheredTasks
from ridgeway.store._widen import next_schemas
from torture.broken import Variant


def _without_new_classes(schemas: Sequence[bytes], schema: Schema) -> list[bytes]:
    return next_schemas(schemas, replace(schema, family=schema_from(schemas[-1]).family))


FORGETS_CLASSES = Variant(
    "forgets the list of classes",
    lambda: mock.patch.object(_absorb, "next_schemas", _without_new_classes),
    "the arrays of the state are not those of its schema",
)


@contextmanager
def _twice() -> Iterator[None]:
    learned = GatheredTasks.learned

    def doubled(tasks: GatheredTasks, state: Any, schema: Schema) -> Any:
        after = learned(tasks, state, schema)
        own = after.past.plus(state.past.scaled(-1.0))
        return replace(after, past=after.past.plus(own))

    with mock.patch.object(GatheredTasks, "learned", doubled):
        yield


ADDS_TWICE = Variant(
    "adds the polynomial of a task twice", _twice, "the state is not that of|the state is not the estimator's"
)
