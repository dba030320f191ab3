"""Memory for large states. What is new to the process can cost more than the work on it, so it is used again."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeway.linalg._threads import one_thread, side_by_side, threads_to_spare

Array = NDArray[np.float64]

MANY = 2**20
"""Numbers whose copying takes longer than to wake a thread."""


class _Loan:
    """Memory of one state. With its last view it goes to `spare`, for the next state that is made from it.

    Only the states of one line know their `spare`, at most one, which goes with the last of them.
    """

    def __init__(self, memory: Array, spare: list[Array]) -> None:
        self.memory, self.spare = memory, spare
        self.__array_interface__: Any = memory.__array_interface__

    def __del__(self) -> None:
        self.spare[:] = [self.memory]


def room_for(array: Array) -> Array:
    """Return an array of the size of a flat one, without values; for a large one where an earlier state was."""
    if array.size < MANY:
        return np.empty_like(array)
    lender: object = array.base
    while isinstance(lender, np.ndarray):
        lender = lender.base
    size, spare = (lender.memory.size, lender.spare) if isinstance(lender, _Loan) else (array.size, [])
    try:
        memory = spare.pop()
    except IndexError:
        memory = np.empty(size)
    return np.asarray(_Loan(memory, spare))[: array.size]


def copied(array: Array) -> Array:
    """Return a copy of a flat array, a large one made by all threads."""
    if array.size < MANY:
        return array.copy()
    copy = room_for(array)
    with one_thread():
        parts = (np.array_split(whole, threads_to_spare()) for whole in (copy, array))
        side_by_side(*(partial(np.copyto, *part) for part in zip(*parts, strict=True)))
    return copy
