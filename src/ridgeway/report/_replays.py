"""A method again, in other orders and on other tasks: the part of `compare` that workers share."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ridgeway.catalogue import Method
from ridgeway.distributed import Executor
from ridgeway.report._learning import LearningRun, learn_in_order
from ridgeway.report._tasks import Index, Tasks


class Replay(NamedTuple):
    """One method on one set of tasks, in some orders; predictions after every task, or only after the last."""

    method: Method
    number: int
    orders: Sequence[Index]
    every: bool = True


def replayed(
    executor: Executor, sets: Sequence[Tasks], replays: Mapping[str, Replay], step: Callable[[int], None]
) -> dict[str, list[LearningRun]]:
    """Return the runs of each replay, in the order of `replays`.

    Parameters
    ----------
    executor : Executor
    sets : sequence of Tasks
        A replay has the number of one of them.
    replays : mapping of names to Replay
    step : callable
        Called with the number of tasks that were learned, after each replay.
    """
    found = {}
    for name, runs in executor.as_finished(partial(_replay, sets), replays):
        found[name] = runs
        step(sum(len(order) for order in replays[name].orders))
    return {name: found[name] for name in replays}


def _replay(sets: Sequence[Tasks], replay: Replay) -> list[LearningRun]:
    tasks = sets[replay.number]
    return [learn_in_order(replay.method, tasks, order, every=replay.every) for order in replay.orders]
