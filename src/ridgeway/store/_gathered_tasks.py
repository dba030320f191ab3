"""Tasks of a likelihood: their rows are gathered, because each task is learned in one step that needs all of them."""

from pathlib import Path
from typing import Any

import numpy as np

from ridgeway.data import Block, Schema, widening
from ridgeway.errors import SeparationError
from ridgeway.store._generations import check_budget
from ridgeway.store._state import task_of
from ridgeway.weights import Accumulated, with_likelihood

COPIES = 3
"""How often the rows of a task are in memory while it is learned, at most."""


class GatheredTasks:
    """The rows of the tasks of one call.

    Parameters
    ----------
    path : Path
        The file, for messages.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._n_bytes = path, 0
        self._blocks: dict[str, list[Block]] = {}

    def add(self, task_id: str, block: Block) -> None:
        """Add some rows of a task, or raise if they would take too much memory."""
        self._n_bytes += COPIES * block.X.nbytes
        check_budget(self._path, self._n_bytes, "next task", "Absorb fewer rows at once.")
        self._blocks.setdefault(task_id, []).append(block)

    def learned(self, state: Any, schema: Schema) -> Any:
        """Return the state after all tasks, in their order."""
        memory: Any = None if schema.family is None else schema.family.memory
        policy = with_likelihood(Accumulated(state.prior, state.decay), state.likelihood, memory)
        for task_id, blocks in self._blocks.items():
            try:
                state = policy.step(state, task_of(schema, _joined(blocks, schema)))
            except SeparationError as error:
                raise SeparationError(
                    f"task {task_id!r}: {error} The prior of a state file is set when the file is created: --prior 1."
                ) from error
        return state


def _joined(blocks: list[Block], schema: Schema) -> Block:
    """Return blocks as one, with the columns of a schema that may have grown since."""
    X = [
        block.X if block.schema.features == schema.features else widening(block.schema, schema).rows(block.X)
        for block in blocks
    ]
    if len(blocks) == 1:
        return blocks[0]._replace(X=np.asfortranarray(X[0]), schema=schema)
    return blocks[0]._replace(
        X=np.asfortranarray(np.concatenate(X)),
        y=np.asfortranarray(np.concatenate([block.y for block in blocks])),
        sample_weight=_concatenated([block.sample_weight for block in blocks]),
        schema=schema,
        offset_values=_concatenated([block.offset_values for block in blocks]),
    )


def _concatenated(parts: list[Any]) -> Any:
    """Return the values of all blocks; None if there are none."""
    return None if parts[0] is None else np.concatenate(parts)
