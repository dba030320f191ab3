"""How predictions are judged: the error of numbers, the accuracy of classes, the deviance of counts.

A loss is smaller if it is better; what a report shows of it may be larger, as an accuracy is.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.data import FamilyName
from ridgeway.errors import InvalidDataError

Index = NDArray[np.int64]

MATTERS = 0.05
"""A smaller relative rise of an error, or a smaller fall of an accuracy, is not called forgetting."""
TINY = float(np.finfo(np.float64).eps)
"""Probabilities below this count as this in a log-loss, as they do in scikit-learn's."""


class Measure(ABC):
    """What the losses of a comparison are, and how they are shown.

    Attributes
    ----------
    name, plural : str
        What is shown: "error", "accuracy" or "deviance".
    unit : str
        Its unit, for the axes of figures.
    rises : bool
        Whether more is better.
    words, nothing, away : str
        What the losses are, what they are compared with before a task is learned, and what `distance` returns.
    """

    name: ClassVar[str]
    plural: ClassVar[str]
    unit: ClassVar[str]
    rises: ClassVar[bool] = False
    words: ClassVar[str]
    nothing: ClassVar[str] = "the mean of the target"
    away: ClassVar[str] = "difference from the pooled predictions, in standard deviations of the target"

    def value(self, loss: Array) -> Array:
        """Return what is shown of a loss."""
        return loss

    def shown(self, loss: float) -> str:
        """Return a loss as text."""
        return short(loss)

    def shown_change(self, change: float) -> str:
        """Return the difference of two losses as text; > 0 means worse."""
        return short(change)

    def relative(self, change: float, learned: float) -> float:
        """Return what a rise of the loss is compared by, from one method to another."""
        return change / learned if learned else 0.0

    def mark(self, change: float, learned: float) -> str:
        """Return a rise of the loss in short, for tables and figures."""
        return f"{self.relative(change, learned):+.0%}".replace("-", "−")

    def rise(self, change: float, learned: float) -> str:
        """Return a rise of the loss in words."""
        return f"an increase of {self.relative(change, learned):.1%}"

    @abstractmethod
    def task_losses(self, y: Array, predicted: Array, starts: Index) -> Array:
        """Return the loss of each task, whose rows start at `starts`, or raise if predictions cannot be judged."""

    def constant(self, y: Array) -> float:
        """Return the one prediction for all rows that is best for these rows to learn from."""
        return float(y.mean())

    def matters(self, change: float, pooled: float, learned: float) -> bool:
        """Return whether the loss rose by enough more than that of the pooled answer to be called forgetting."""
        return change - pooled > MATTERS * learned

    def close(self, pooled: float, learned: float) -> str:
        """Return in words that the loss rose little more than that of the pooled answer."""
        return f"at most 5% above the pooled answer's {pooled / learned:.1%}"

    def distance(self, predicted: Array, pooled: Array, spread: float) -> float:
        """Return how far predictions are from the pooled ones."""
        return float(np.sqrt(np.mean(np.square(predicted - pooled)))) / spread

    def shown_distance(self, distance: float) -> str:
        """Return the distance from the pooled predictions as text."""
        return f"{distance:.1g}"

    def compared(self, distance: float, is_pooled: bool) -> str:
        """Return in words how far predictions are from the pooled ones."""
        if is_pooled:
            return f"is still the pooled answer (to {distance:.0e})"
        return f"differs from the pooled answer by {distance:.1g} standard deviations of the target"


class RootMeanSquare(Measure):
    """The root mean squared error of numbers."""

    name, plural = "error", "errors"
    unit = "error, in the unit of the target"
    words = "Errors are root mean squared errors on held-out rows, in the unit of {target}."

    def task_losses(self, y: Array, predicted: Array, starts: Index) -> Array:
        """Return the root of the mean of the squares."""
        return np.sqrt(_means(np.square(predicted - y), starts))

    def constant(self, y: Array) -> float:
        """Return 0: the target is standardised, and 0 is the mean that was recorded."""
        return 0.0


class MeanDeviance(Measure):
    """The mean deviance of counts: twice the log-likelihood that is missing from a perfect prediction, per row."""

    name, plural = "deviance", "deviances"
    unit = "deviance per row"
    words = "Deviances are Poisson deviances on held-out rows, per row; 0 is a perfect prediction."

    def task_losses(self, y: Array, predicted: Array, starts: Index) -> Array:
        """Return the mean of 2·(y·log(y/μ) − (y − μ))."""
        if not (predicted > 0.0).all():
            raise InvalidDataError(f"a count is predicted as {predicted.min():g}. Expected counts must be positive.")
        rows = 2.0 * (scipy.special.xlogy(y, y / predicted) - (y - predicted))
        return _means(rows, starts)


class Accuracy(Measure):
    """The share of rows whose class is predicted; the loss is the share of the others."""

    name, plural = "accuracy", "accuracies"
    unit = "accuracy"
    rises = True
    words = "Accuracies are shares of held-out rows whose class was predicted. A point is a hundredth of them."
    nothing = "always predicting the most frequent class"
    away = "share of held-out rows that are predicted otherwise than by the pooled answer"

    def value(self, loss: Array) -> Array:
        """Return the accuracy."""
        return 1.0 - loss

    def shown(self, loss: float) -> str:
        """Return the accuracy in percent."""
        return f"{100.0 * (1.0 - loss):.1f} %"

    def shown_change(self, change: float) -> str:
        """Return a fall of the accuracy in points."""
        return f"{100.0 * change:.1f}"

    def relative(self, change: float, learned: float) -> float:
        """Return the fall of the accuracy itself."""
        return change

    def mark(self, change: float, learned: float) -> str:
        """Return the change of the accuracy in points."""
        return f"{-100.0 * change:+.0f} points".replace("-", "−")

    def rise(self, change: float, learned: float) -> str:
        """Return the fall of the accuracy in words."""
        return f"a fall of {100.0 * change:.1f} points"

    def matters(self, change: float, pooled: float, learned: float) -> bool:
        """Return whether the accuracy fell by five points more than that of the pooled answer."""
        return change - pooled > MATTERS

    def task_losses(self, y: Array, predicted: Array, starts: Index) -> Array:
        """Return the share of rows whose class is not the predicted one."""
        if not (predicted == np.round(predicted)).all() or predicted.min() < 0.0:
            raise InvalidDataError("the predictions are not classes. Pass classifiers, or family='gaussian'.")
        return _means((predicted != y).astype(np.float64), starts)

    def constant(self, y: Array) -> float:
        """Return the most frequent class."""
        return float(np.bincount(y.astype(np.intp)).argmax())

    def close(self, pooled: float, learned: float) -> str:
        """Return in words that the accuracy fell little more than that of the pooled answer."""
        return f"at most 5 points more than the pooled answer's {100.0 * pooled:.1f}"

    def distance(self, predicted: Array, pooled: Array, spread: float) -> float:
        """Return the share of rows that are predicted otherwise."""
        return float(np.mean(predicted != pooled))

    def shown_distance(self, distance: float) -> str:
        """Return the share of rows that are predicted otherwise, in percent."""
        return f"{100.0 * distance:.3g} %"

    def compared(self, distance: float, is_pooled: bool) -> str:
        """Return in words how many rows are predicted otherwise."""
        if is_pooled:
            return "predicts every held-out row as the pooled answer does"
        return f"predicts {self.shown_distance(distance)} of held-out rows otherwise than the pooled answer"


MEASURES: dict[FamilyName, type[Measure]] = {
    "gaussian": RootMeanSquare,
    "binomial": Accuracy,
    "poisson": MeanDeviance,
    "multiclass": Accuracy,
}


def measure_of(family: FamilyName) -> Measure:
    """Return how predictions of a family are judged."""
    return MEASURES[family]()


def mean_log_losses(y: Array, shares: Array, classes: Array, starts: Index) -> Array:
    """Return the mean of −log p of each task, from probabilities (n_rows, n_classes) of the classes of a model."""
    places = np.searchsorted(classes, y)
    known = np.take(classes, np.minimum(places, len(classes) - 1)) == y
    chances = np.where(known, shares[np.arange(len(y)), np.minimum(places, len(classes) - 1)], 0.0)
    return _means(-np.log(np.clip(chances, TINY, 1.0)), starts)


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


def _means(rows: Array, starts: Index) -> Array:
    """Return the mean of the rows of each task."""
    counts = np.diff(np.append(starts, len(rows)))
    return np.asarray(np.add.reduceat(rows, starts) / counts)
