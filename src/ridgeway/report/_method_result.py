"""The result of one method: its losses, and whether it forgets."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from ridgeway import metrics
from ridgeway._checks import Array
from ridgeway.catalogue import Method
from ridgeway.data import FamilyName
from ridgeway.report._measures import Measure, measure_of, short

CONFIDENCE = 0.99
"""Confidence that no forgetting is due to chance, jointly for the four methods that can forget."""
FORGETFUL = 4
ORDER_FREE = 1e-6
"""A method whose loss varies by a smaller share over task orders treats all tasks alike: it does not forget."""


@dataclass(frozen=True, eq=False)
class MethodResult:
    """The results of one method. Losses are of held-out rows, and smaller is better.

    They are root mean squared errors in the unit of the target; shares of rows whose class was not predicted, if the
    target has classes; or mean deviances, if it has counts.

    Attributes
    ----------
    method : Method
    family : {"gaussian", "binomial", "poisson", "multiclass"}
        What the target is.
    losses : ndarray of shape (n_tasks, n_tasks)
        R[t, τ], the loss on task τ after learning task t.
    log_losses : ndarray of shape (n_tasks, n_tasks)
        The same of the log-loss, if the method has probabilities of classes; NaN otherwise.
    baseline : ndarray of shape (n_tasks,)
        The loss of a model that always predicts the recorded mean of the target, or the most frequent class.
    distance : float
        Root mean squared difference from the pooled predictions, in standard deviations of the target; for classes,
        the share of rows that are predicted otherwise.
    n_bytes : int
        What it must remember between tasks: the size of the pickled model.
    seconds : ndarray of shape (n_tasks,)
        Time to learn each task and make one prediction.
    order_losses : ndarray of shape (n_orders,)
        The average loss after the last task, for the requested order and then for random orders.
    order_distance : float
        The largest distance of the last predictions in a random order from those in the requested one, as `distance`.
    order_forgetting : ndarray of shape (n_averaged,)
        The forgetting in the first few of these orders; NaN if the method is the pooled answer.
    controls : ndarray of shape (n_controls,)
        The forgetting, averaged over the same orders, on tasks that do not differ; empty for the pooled answer.
    pooled_forgetting : float
        The forgetting of the pooled answer: the cost of one model for all tasks.
    warned : tuple of str

    Examples
    --------
    >>> from ridgeway import report
    >>> table = {"site": list("aaaabbbb"), "x": range(8), "y": [1, 2, 3, 4, 4, 3, 2, 1]}
    >>> found = report.compare(table, target="y", task_column="site", methods=["mn", "gr"])
    >>> first_learned, first_kept = found["mn"].losses[:, 0]  # the loss on the first task
    >>> bool(first_kept > first_learned), bool(first_kept > found["gr"].losses[1, 0])
    (True, True)
    """

    method: Method
    family: FamilyName
    losses: Array
    log_losses: Array
    baseline: Array
    distance: float
    n_bytes: int
    seconds: Array
    order_losses: Array
    order_distance: float
    order_forgetting: Array
    controls: Array
    pooled_forgetting: float
    warned: tuple[str, ...]

    @property
    def measure(self) -> Measure:
        """How predictions are judged, and how that is shown."""
        return measure_of(self.family)

    @property
    def accuracy(self) -> float:
        """The share of held-out rows whose class is predicted after the last task, averaged over tasks; or NaN."""
        return 1.0 - self.average_loss if self.measure.rises else float("nan")

    @property
    def log_loss(self) -> float:
        """The average log-loss over all tasks after the last one; NaN if the method has no probabilities."""
        return float(self.log_losses[-1].mean())

    @property
    def log_loss_forgetting(self) -> float:
        """How much the log-loss on earlier tasks rose after they were learned; NaN if there are no probabilities."""
        return float((self.log_losses[-1] - np.diag(self.log_losses))[:-1].mean())

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
        """The forgetting relative to the loss when learned; for classes, the fall of the accuracy itself."""
        return self.measure.relative(self.forgetting, self.learned_loss)

    @property
    def forward_transfer(self) -> float:
        """How much better a task was predicted before it was learned than by `baseline`."""
        return float(metrics.forward_transfer(self.losses, self.baseline)[-1])

    @property
    def spread(self) -> float:
        """The largest minus the smallest of `order_losses`: how much task order matters."""
        return float(np.ptp(self.order_losses))

    @property
    def order_free(self) -> bool:
        """Whether the answer is the same in every task order; for classes, on every held-out row."""
        return self.order_distance == 0.0 if self.measure.rises else self.spread <= ORDER_FREE * self.average_loss

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
        """Whether it forgets: beyond chance, by 5 % (or points) more than the pooled answer, and depending on order."""
        return not self.spared_by

    @property
    def spared_by(self) -> str:
        """Why it does not count as forgetting; empty if it does."""
        measure, learned, pooled = self.measure, self.learned_loss, max(self.pooled_forgetting, 0.0)
        rose = measure.rise(self.forgetting, learned)
        if self.forgetting <= 0.0:
            return "no fall" if measure.rises else "no increase"
        if self.order_free:
            return f"{rose}, the same in any task order"
        if not self.order_forgetting.mean() > self.chance:
            return f"{rose}, within chance"
        if measure.matters(self.forgetting, pooled, learned):
            return ""
        return f"{rose}, {measure.close(pooled, learned)}"

    def cells(self) -> dict[str, str]:
        """Return the row of the table of methods, as text by heading."""
        measure, forgetting = self.measure, self.measure.shown_change(self.forgetting)
        mark = "points" if measure.rises else f"({self.rise:+.0%})"
        log_loss = {"log-loss": "–" if np.isnan(self.log_loss) else short(self.log_loss)} if measure.rises else {}
        return {
            "method": self.method.name,
            measure.name: measure.shown(self.average_loss),
            **log_loss,
            "forgetting": f"{forgetting} {mark}" if self.forgets else forgetting,
            "forward transfer": measure.shown_change(self.forward_transfer),
            "from pooled": measure.shown_distance(self.distance),
            "order spread": measure.shown_change(self.spread) if measure.rises else f"{self.spread:.2g}",
            "bytes kept": f"{self.n_bytes:,}",
            "ms per task": f"{1e3 * float(np.median(self.seconds)):.2f}",
        }

    def as_dict(self) -> dict[str, Any]:
        """Return one row of the summary as plain data."""
        return {
            "method": self.method.key,
            "name": self.method.name,
            **self._losses_by_name(),
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

    def _losses_by_name(self) -> dict[str, float | None]:
        """Return the losses as they are called in tables: accuracies if the target has classes."""
        if not self.measure.rises:
            names = ("average_loss", "loss_when_learned", "loss_at_the_end")
            return dict(zip(names, (self.average_loss, self.learned_loss, self.kept_loss), strict=True))
        has = np.isfinite(self.log_loss)
        found: dict[str, float | None] = {
            "average_accuracy": self.accuracy,
            "accuracy_when_learned": 1.0 - self.learned_loss,
            "accuracy_at_the_end": 1.0 - self.kept_loss,
            "log_loss": self.log_loss if has else None,
            "log_loss_forgetting": self.log_loss_forgetting if has else None,
        }
        if self.family == "binomial":
            found["deviance"] = 2.0 * self.log_loss if has else None
            found["deviance_forgetting"] = 2.0 * self.log_loss_forgetting if has else None
        return found
