"""The results of a comparison, and the sentence that sums them up."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtrit

from ridgeway import metrics
from ridgeway._checks import Array
from ridgeway.catalogue import Method
from ridgeway.estimators import GeneralizedRidge
from ridgeway.report._differences import TaskDifferences
from ridgeway.report._standardized import StandardizedEncoding

CONFIDENCE = 0.99
"""Confidence that no forgetting is due to chance, jointly for the four methods that can forget."""
FORGETFUL = 4
MATTERS = 0.05
"""A smaller relative rise of the error is not called forgetting, however certain it is."""
ORDER_FREE = 1e-6
"""A method whose loss varies by a smaller share over task orders treats all tasks alike: it does not forget."""
POOLED = 1e-8
"""Predictions this close to the pooled ones, in standard deviations of the target, are the pooled answer."""


@dataclass(frozen=True)
class TaskInfo:
    """The name of a task, and how many of its rows were learned from and held out."""

    name: str
    n_train: int
    n_test: int


@dataclass(frozen=True, eq=False)
class MethodResult:
    """The results of one method. Losses are root mean squared errors on held-out rows, in the unit of the target.

    Attributes
    ----------
    method : Method
    losses : ndarray of shape (n_tasks, n_tasks)
        R[t, τ], the loss on task τ after learning task t.
    baseline : ndarray of shape (n_tasks,)
        The loss of a model that always predicts the recorded mean of the target.
    distance : float
        Root mean squared difference from the pooled predictions, in standard deviations of the target.
    n_bytes : int
        What it must remember between tasks: the size of the pickled model.
    seconds : ndarray of shape (n_tasks,)
        Time to learn each task and make one prediction.
    order_losses : ndarray of shape (n_orders,)
        The average loss after the last task, for the requested order and then for random orders.
    order_forgetting : ndarray of shape (n_averaged,)
        The forgetting in the first few of these orders; NaN if the method is the pooled answer.
    controls : ndarray of shape (n_controls,)
        The forgetting, averaged over the same orders, on tasks that do not differ; empty for the pooled answer.
    pooled_forgetting : float
        The forgetting of the pooled answer: the cost of one model for all tasks.
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
        """The average loss over all tasks after the last one."""
        return float(metrics.average_loss(self.losses)[-1])

    @property
    def learned_loss(self) -> float:
        """The average loss on each task but the last, just after it was learned."""
        return float(np.diag(self.losses)[:-1].mean())

    @property
    def kept_loss(self) -> float:
        """The average loss on each task but the last, after the last task."""
        return float(self.losses[-1, :-1].mean())

    @property
    def backward_transfer(self) -> float:
        """How much later tasks improved earlier ones; negative values mean forgetting."""
        return float(metrics.backward_transfer(self.losses)[-1])

    @property
    def forgetting(self) -> float:
        """How much the loss on earlier tasks rose after they were learned: minus the backward transfer."""
        return -self.backward_transfer

    @property
    def rise(self) -> float:
        """The forgetting relative to the loss when learned."""
        return self.forgetting / self.learned_loss if self.learned_loss else 0.0

    @property
    def forward_transfer(self) -> float:
        """How much better a task was predicted before it was learned than by the mean of the target."""
        return float(metrics.forward_transfer(self.losses, self.baseline)[-1])

    @property
    def spread(self) -> float:
        """The largest minus the smallest of `order_losses`: how much task order matters."""
        return float(np.ptp(self.order_losses))

    @property
    def chance(self) -> float:
        """Upper limit of the forgetting that chance alone would show; NaN without controls."""
        n = len(self.controls)
        if n == 0:
            return float("nan")
        quantile = float(stdtrit(n - 1, 1.0 - (1.0 - CONFIDENCE) / FORGETFUL)) * np.sqrt(1.0 + 1.0 / n)
        return float(self.controls.mean() + quantile * self.controls.std(ddof=1))

    @property
    def forgets(self) -> bool:
        """Whether it forgets: beyond chance, by 5 % more than the pooled answer, and depending on task order."""
        return not self.spared_by

    @property
    def spared_by(self) -> str:
        """Why it does not count as forgetting; empty if it does."""
        rose, pooled = f"an increase of {self.rise:.1%}", max(self.pooled_forgetting, 0.0)
        if self.forgetting <= 0.0:
            return "no increase"
        if self.spread <= ORDER_FREE * self.average_loss:
            return f"{rose}, the same in any task order"
        if not self.order_forgetting.mean() > self.chance:
            return f"{rose}, within chance"
        if self.forgetting - pooled > MATTERS * self.learned_loss:
            return ""
        return f"{rose}, at most 5% above the pooled answer's {pooled / self.learned_loss:.1%}"

    def as_dict(self) -> dict[str, Any]:
        """Return one row of the summary as plain data."""
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
    """What `compare` returns: the results, and how they were obtained.

    `task_model` keeps each task apart, in the units of the table, for the questions of `retrospect` about tasks; it is
    a sentence that says why if there are too many tasks or features.
    """

    source: str
    task_columns: tuple[str, ...]
    order: str
    holdout: float
    seed: int
    n_rows: int
    encoding: StandardizedEncoding
    dropped: dict[str, int]
    unknown: dict[str, int]
    lost_tasks: tuple[str, ...]
    absent: tuple[str, ...]
    tasks: tuple[TaskInfo, ...]
    results: tuple[MethodResult, ...]
    task_model: GeneralizedRidge | str

    @cached_property
    def differences(self) -> TaskDifferences:
        """How the tasks differ; takes a few seconds at most."""
        return TaskDifferences.of(self.task_model, self.order)

    def __getitem__(self, key: str) -> MethodResult:
        """Return the result of a method by its key, such as "gr"."""
        return {result.method.key: result for result in self.results}[key]

    def settings(self) -> dict[str, Any]:
        """Return the settings of the comparison as plain data."""
        return {
            "source": self.source,
            "target": self.encoding.target,
            "features": list(map(str, self.encoding.encoding.terms)),
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

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        return " ".join([*(self._exact(r) for r in self.results if r.method.rule.startswith("gr")), self._forgotten()])

    def _exact(self, result: MethodResult) -> str:
        said = (
            f"is still the pooled answer (to {result.distance:.0e})"
            if result.distance <= POOLED
            else f"differs from the pooled answer by {result.distance:.1g} standard deviations of the target"
        )
        return (
            f"After {len(self.tasks)} tasks, {result.method.name} has thrown away every row and {said}, with an error "
            f"of {short(result.average_loss)} on held-out rows."
        )

    def _forgotten(self) -> str:
        others = sorted((r for r in self.results if len(r.controls)), key=lambda r: -r.rise)
        rises = {
            f"{r.method.name} ({short(r.learned_loss)} → {short(r.kept_loss)})": r.rise for r in others if r.forgets
        }
        rest = {r.method.name: r.spared_by for r in others if not r.forgets}
        if rises:
            spared = f" {joined(list(rest))} {'does' if len(rest) == 1 else 'do'} not." if rest else ""
            they = "it forgets" if len(rises) == 1 else "they forget"
            forgot = joined([f"by {rise:.0%} for {name}" for name, rise in rises.items()])
            return f"The error on earlier tasks rose {forgot}: {they}.{spared}"
        if rest:
            return f"No method forgets: {joined([f'{name} ({reason})' for name, reason in rest.items()])}."
        return "No method that can forget was compared."


def joined(names: list[str]) -> str:
    """Return names as words: "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def short(value: float) -> str:
    """Return a number with at most four significant digits.

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
