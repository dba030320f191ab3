"""What a comparison found, and the sentences that say it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ridgeway import metrics
from ridgeway.catalogue import Method
from ridgeway.data import Encoding

__all__ = ["MethodComparison", "MethodResult", "TaskInfo", "short"]

Array = NDArray[np.float64]

CONFIDENCE = 0.99
"""That nothing is called forgetting which is chance, over the four methods that can forget taken together."""
FORGETFUL = 4
MATTERS = 0.05
"""A rise of the error by less than this share is not called forgetting, however certain it is."""
ORDER_FREE = 1e-6
"""A method whose loss differs by less than this share from order to order holds all tasks alike: it forgets none."""
POOLED = 1e-8
"""Predictions this near to the pooled ones, in standard deviations of the target, are the pooled answer."""


@dataclass(frozen=True)
class TaskInfo:
    """A task's name, and how many of its rows were learned from and held out."""

    name: str
    n_train: int
    n_test: int


@dataclass(frozen=True, eq=False)
class MethodResult:
    """How one method fared. Losses are root mean squared errors on held-out rows, in the unit of the target.

    Attributes
    ----------
    method : Method
    losses : ndarray of shape (n_tasks, n_tasks)
        R[t, τ], the loss on task τ after learning task t.
    baseline : ndarray of shape (n_tasks,)
        The loss of a model that has learned nothing and answers with the recorded mean of the target.
    distance : float
        Root mean squared difference from the predictions of the pooled answer, in standard deviations of the target.
    n_bytes : int
        What it had to remember between tasks: the length of the pickled model.
    seconds : ndarray of shape (n_tasks,)
        Time to learn each task and to answer once.
    order_losses : ndarray of shape (n_orders,)
        The average loss after the last task, for the order played and then for random ones.
    order_forgetting : ndarray of shape (n_averaged,)
        The forgetting in the first few of these orders; NaN where a method is the pooled answer and was not asked.
    controls : ndarray of shape (n_controls,)
        The forgetting, averaged over the same orders, on tasks that do not differ; empty for the pooled answer.
    pooled_forgetting : float
        The forgetting of the pooled answer: what it costs that one model serves all tasks.
    warned : tuple of str
    """

    method: Method
    losses: Array
    baseline: Array
    distance: float
    n_bytes: int
    seconds: Array
    order_losses: Array
    order_forgetting: Array
    controls: Array
    pooled_forgetting: float
    warned: tuple[str, ...]

    @property
    def average_loss(self) -> float:
        """The loss over all tasks after the last one."""
        return float(metrics.average_loss(self.losses)[-1])

    @property
    def learned_loss(self) -> float:
        """The loss on each task but the last, when just learned, averaged."""
        return float(np.diag(self.losses)[:-1].mean())

    @property
    def kept_loss(self) -> float:
        """The loss on each task but the last, after the last one, averaged."""
        return float(self.losses[-1, :-1].mean())

    @property
    def backward_transfer(self) -> float:
        """How much later tasks improved earlier ones; below 0 is forgetting."""
        return float(metrics.backward_transfer(self.losses)[-1])

    @property
    def forgetting(self) -> float:
        """How much the loss on earlier tasks rose since each was learned: minus the backward transfer."""
        return -self.backward_transfer

    @property
    def rise(self) -> float:
        """The forgetting as a share of the loss when learned."""
        return self.forgetting / self.learned_loss if self.learned_loss else 0.0

    @property
    def forward_transfer(self) -> float:
        """How much better a task was predicted before it was learned than by a model that had learned nothing."""
        return float(metrics.forward_transfer(self.losses, self.baseline)[-1])

    @property
    def spread(self) -> float:
        """The largest minus the smallest of `order_losses`: what the order of the tasks is worth."""
        return float(np.ptp(self.order_losses))

    @property
    def chance(self) -> float:
        """The most forgetting that tasks which do not differ would show, with confidence; NaN without controls."""
        n = len(self.controls)
        if n == 0:
            return float("nan")
        quantile = float(stdtrit(n - 1, 1.0 - (1.0 - CONFIDENCE) / FORGETFUL)) * np.sqrt(1.0 + 1.0 / n)
        return float(self.controls.mean() + quantile * self.controls.std(ddof=1))

    @property
    def forgets(self) -> bool:
        """Whether it forgets: beyond chance, beyond what one model for all tasks costs, and by more than 5 %."""
        if self.spread <= ORDER_FREE * self.average_loss:
            return False
        excess = self.forgetting - max(self.pooled_forgetting, 0.0)
        return bool(self.order_forgetting.mean() > self.chance and excess > MATTERS * self.learned_loss)

    @property
    def spared_by(self) -> str:
        """Why it is not said to forget, where it is not."""
        if self.forgetting <= 0.0:
            return "no rise"
        rose = f"a rise of {self.rise:.1%}"
        if self.spread <= ORDER_FREE * self.average_loss:
            return f"{rose}, the same in any order of the tasks"
        if self.order_forgetting.mean() <= self.chance:
            return f"{rose}, no more than chance"
        pooled = max(self.pooled_forgetting, 0.0) / self.learned_loss
        return f"{rose}, at most 5% above the {pooled:.1%} of the pooled answer"

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers of one row of the summary."""
        return {
            "method": self.method.key,
            "name": self.method.name,
            "average_loss": self.average_loss,
            "loss_when_learned": self.learned_loss,
            "loss_at_the_end": self.kept_loss,
            "forgetting": self.forgetting,
            "forgetting_by_chance": None if len(self.controls) == 0 else self.chance,
            "forgets": self.forgets,
            "backward_transfer": self.backward_transfer,
            "forward_transfer": self.forward_transfer,
            "distance_to_pooled": self.distance,
            "bytes_remembered": self.n_bytes,
            "seconds_per_task": float(np.median(self.seconds)),
            "order_spread": self.spread,
        }


@dataclass(frozen=True, eq=False)
class MethodComparison:
    """What `compare` returns: the results, and all that must be said about how they came about."""

    source: str
    task_columns: tuple[str, ...]
    order: str
    holdout: float
    seed: int
    n_rows: int
    encoding: Encoding
    dropped: dict[str, int]
    unknown: dict[str, int]
    lost_tasks: tuple[str, ...]
    absent: tuple[str, ...]
    tasks: tuple[TaskInfo, ...]
    results: tuple[MethodResult, ...]

    def __getitem__(self, key: str) -> MethodResult:
        """Return the result of a method by its key, such as "gr"."""
        return self._by_key[key]

    def settings(self) -> dict[str, Any]:
        """Return how the comparison was made, for a program to read."""
        return {
            "source": self.source,
            "target": self.encoding.target,
            "features": list(self.encoding.features),
            "task_columns": list(self.task_columns),
            "methods": [result.method.key for result in self.results],
            "not_installed": list(self.absent),
            "order": self.order,
            "holdout": self.holdout,
            "seed": self.seed,
            "rows": self.n_rows,
            "rows_left_out_missing": self.dropped,
            "rows_left_out_unknown": self.unknown,
            "tasks_left_out": list(self.lost_tasks),
            "tasks": [vars(task) for task in self.tasks],
        }

    @cached_property
    def _by_key(self) -> dict[str, MethodResult]:
        return {result.method.key: result for result in self.results}

    @property
    def sentence(self) -> str:
        """What happened, made from the numbers."""
        return " ".join([*(self._exact(r) for r in self.results if r.method.rule.startswith("gr")), self._forgotten()])

    def _exact(self, result: MethodResult) -> str:
        said = (
            f"is still the pooled answer (to {result.distance:.0e})"
            if result.distance <= POOLED
            else f"differs from the pooled answer by {result.distance:.1g} standard deviations of the target"
        )
        return (
            f"After {len(self.tasks)} tasks {result.method.name} has thrown every row away and {said}, with an error "
            f"of {short(result.average_loss)} on held-out rows."
        )

    def _forgotten(self) -> str:
        others = sorted((r for r in self.results if len(r.controls)), key=lambda r: -r.rise)
        forgot = [
            f"by {r.rise:.0%} for {r.method.name} ({short(r.learned_loss)} → {short(r.kept_loss)})"
            for r in others
            if r.forgets
        ]
        spared_by = {r.method.name: r.spared_by for r in others if not r.forgets}
        rest = list(spared_by)
        if forgot:
            spared = f" {_joined(rest)} {'does' if len(rest) == 1 else 'do'} not." if rest else ""
            they = "it forgets" if len(forgot) == 1 else "they forget"
            return f"The error on earlier tasks rose {_joined(forgot)}: {they}.{spared}"
        if rest:
            reasons = [f"{name} ({reason})" for name, reason in spared_by.items()]
            return f"No forgetting is seen in the error on earlier tasks: {_joined(reasons)}."
        return "No method that could forget was compared."


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def short(value: float) -> str:
    """Return a number in four digits at most, as a person would write it.

    Examples
    --------
    >>> short(1234.5), short(0.012345), short(0.0)
    ('1,234', '0.01234', '0')
    """
    if value == 0.0 or not np.isfinite(value):
        return f"{value:g}"
    if abs(value) >= 1000.0:
        return f"{value:,.0f}"
    return f"{value:.4g}"
