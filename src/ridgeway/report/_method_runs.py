"""Run every method on the same tasks: in the requested order, in others, and on tasks that do not differ."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.catalogue import Method
from ridgeway.data import Progress
from ridgeway.errors import InvalidDataError
from ridgeway.metrics import backward_transfer
from ridgeway.report._learning import LearningRun, learn_in_order
from ridgeway.report._method_result import MethodResult
from ridgeway.report._targets import TargetColumn
from ridgeway.report._tasks import Tasks

N_ORDERS = 5
"""Number of random orders in addition to the requested one."""
N_CONTROLS = 19
"""Number of times that the rows are assigned to the tasks at random."""
FEW_CONTROLS = 5
"""The same if there are many rows: chance matters less, and each run takes longer."""
SAME = 1e-6
"""Predictions that differ by less, in standard deviations of the target, count as those of the pooled answer."""
MOST_DEALS = 100
"""How often rows are assigned at random until a likelihood can learn every task first."""


@dataclass(frozen=True, eq=False)
class Trials:
    """What every method goes through.

    Attributes
    ----------
    tasks : Tasks
    target : TargetColumn
    unit : float
        What losses are multiplied by, so that they are in the unit of the target.
    orders : list of ndarray
        The requested order of the tasks, then random ones.
    n_averaged : int
        The number of orders over which forgetting is averaged.
    dealt : list of Tasks
        Tasks that do not differ.
    step : callable
        Counts tasks that a method learned or skipped.
    """

    tasks: Tasks
    target: TargetColumn
    unit: float
    orders: list[NDArray[np.int64]]
    n_averaged: int
    dealt: list[Tasks]
    step: Callable[..., None]

    def first(self, method: Method) -> LearningRun:
        """Run a method in the requested order."""
        return learn_in_order(method, self.tasks, self.orders[0], probabilities=True, step=self.step)

    def result(self, method: Method, main: LearningRun, pooled: LearningRun) -> MethodResult:
        """Run a method in the other orders and, unless it is the pooled answer, on tasks that do not differ."""
        tasks, unit, n_averaged = self.tasks, self.unit, self.n_averaged
        distance = self._distance(main, pooled)
        is_pooled = distance <= SAME
        others = [
            learn_in_order(method, tasks, order, every=not is_pooled, step=self.step) for order in self.orders[1:]
        ]
        controls = [] if is_pooled else [self._mean_forgetting(method, other) for other in self.dealt]
        self.step(len(self.dealt) * n_averaged * len(tasks.names) if is_pooled else 0)
        return MethodResult(
            method=method,
            family=self.target.family,
            losses=unit * main.losses,
            log_losses=main.log_losses,
            baseline=unit * self._baseline(),
            distance=distance,
            n_bytes=main.n_bytes,
            seconds=main.seconds,
            order_losses=unit * np.array([each.losses[-1].mean() for each in (main, *others)]),
            order_distance=max(self._distance(each, main) for each in others),
            order_forgetting=unit * np.array([_forgetting(each) for each in (main, *others)[:n_averaged]]),
            controls=unit * np.array(controls),
            pooled_forgetting=unit * _forgetting(pooled),
            warned=main.warned,
        )

    def _learned(self) -> Array:
        return np.concatenate([self.tasks.y[part] for part in self.tasks.train])

    def _distance(self, one: LearningRun, two: LearningRun) -> float:
        spread = 1.0 if self.target.family == "gaussian" else float(self._learned().std())
        return self.tasks.measure.distance(one.predictions, two.predictions, spread)

    def _baseline(self) -> Array:
        """Return the loss on each task of the best prediction that is the same for all rows."""
        held, starts = self.tasks.held_out()
        constant = np.full(len(held), self.tasks.measure.constant(self._learned()))
        return self.tasks.measure.task_losses(self.tasks.y[held], constant, starts)

    def _mean_forgetting(self, method: Method, tasks: Tasks) -> float:
        runs = (learn_in_order(method, tasks, order, step=self.step) for order in self.orders[: self.n_averaged])
        return float(np.mean([_forgetting(run) for run in runs]))


def run_methods(
    methods: list[Method],
    tasks: Tasks,
    target: TargetColumn,
    unit: float,
    rng: np.random.Generator,
    progress: Progress,
) -> list[MethodResult]:
    """Run every method in the given order, in random orders, and on tasks that do not differ."""
    n_tasks, n_averaged = len(tasks.names), _n_averaged(tasks)
    orders = [np.arange(n_tasks), *(rng.permutation(n_tasks) for _ in range(N_ORDERS))]
    dealt = [_dealt(tasks, target, rng) for _ in range(N_CONTROLS if n_averaged > 1 else FEW_CONTROLS)]
    total, done = len(methods) * n_tasks * (len(orders) + len(dealt) * n_averaged), 0

    def step(count: int = 1) -> None:
        nonlocal done
        done += count
        progress(done, total)

    trials = Trials(tasks, target, unit, orders, n_averaged, dealt, step)
    runs = [trials.first(method) for method in methods]
    pooled = next(main for method, main in zip(methods, runs, strict=True) if method.key == "oracle")
    return [trials.result(method, main, pooled) for method, main in zip(methods, runs, strict=True)]


def _dealt(tasks: Tasks, target: TargetColumn, rng: np.random.Generator) -> Tasks:
    """Return tasks that do not differ, each of which can be learned first."""
    for _ in range(MOST_DEALS):
        dealt = tasks.shuffled(rng)
        if target.poor(dealt.train) is None:
            return dealt
    raise InvalidDataError(
        "the tasks have too few rows of the rarer class, or counts above 0: rows assigned at random leave some task "
        "without any. Choose another task column with fewer values, or another family."
    )


def _n_averaged(tasks: Tasks) -> int:
    """Return the number of orders over which forgetting is averaged: more if there are few rows."""
    cost = len(tasks.names) + len(tasks.y) / 500
    return int(np.clip(150 // cost, 1, 1 + N_ORDERS))


def _forgetting(run: LearningRun) -> float:
    return -float(backward_transfer(run.losses)[-1])
