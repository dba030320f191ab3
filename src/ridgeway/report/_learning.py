"""Run one method on one sequence of tasks: its error on every task after every task."""

import io
import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from time import perf_counter
from types import FunctionType
from typing import Any

import numpy as np

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.catalogue import Method
from ridgeway.errors import InvalidDataError, MaskedClassWarning
from ridgeway.report._measures import mean_log_losses
from ridgeway.report._tasks import Index, Tasks


@dataclass(frozen=True, eq=False)
class LearningRun:
    """What one method did on one order of the tasks.

    Attributes
    ----------
    losses : ndarray of shape (n_tasks, n_tasks)
        R[t, τ], the loss on the held-out rows of task τ after task t, both numbered in the order learned. If only the
        end was asked for, all rows but the last are NaN.
    log_losses : ndarray of shape (n_tasks, n_tasks)
        The same of the log-loss, if it was asked for and the method has probabilities of classes; NaN otherwise.
    predictions : ndarray of shape (n_held_out,)
        For the held-out rows of all tasks, in the order of `Tasks`, after the last task.
    n_bytes : int
        Size of the pickled model after the last task.
    seconds : ndarray of shape (n_tasks,)
        Time to learn each task and make one prediction.
    warned : tuple of str
        The warnings that the method gave.
    """

    losses: Array
    log_losses: Array
    predictions: Array
    n_bytes: int
    seconds: Array
    warned: tuple[str, ...]


def learn_in_order(
    method: Method,
    tasks: Tasks,
    order: Index,
    *,
    every: bool = True,
    probabilities: bool = False,
    step: Callable[[], None] = lambda: None,
) -> LearningRun:
    """Learn the tasks in this order; predict the held-out rows after every task, or only after the last one.

    If there are classes, their `probabilities` may be asked for as well.
    """
    held, starts = tasks.held_out()
    X_held, y_held = tasks.X[held], tasks.y[held]
    losses, log_losses = np.full((2, len(order), len(order)), np.nan)
    seconds = np.zeros(len(order))
    model: Any = method.estimator()
    labels = np.arange(float(tasks.n_classes))
    declared = {"classes": labels} if tasks.n_classes and _takes_classes(model) else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", MaskedClassWarning)  # a comparison shows what each method recognises
        for t, number in enumerate(order):
            X, y = tasks.X[tasks.train[number]], tasks.y[tasks.train[number]]
            started = perf_counter()
            model.partial_fit(X, y, **declared)
            if every or t == len(order) - 1:
                model.predict(X[:1])
                seconds[t] = perf_counter() - started
                predictions = np.asarray(model.predict(X_held), dtype=np.float64)
                if predictions.shape != y_held.shape or not np.isfinite(predictions).all():
                    raise InvalidDataError(
                        f"{method.name} predicts an array of shape {predictions.shape} for "
                        f"{counted(len(y_held), 'row')}, or "
                        "values that are not finite. Its predict must return one finite number per row."
                    )
                losses[t] = _judged(method, tasks, y_held, predictions, starts)[order]
                if probabilities and tasks.n_classes and hasattr(model, "predict_proba"):
                    classes = getattr(model, "classes_", labels)
                    log_losses[t] = mean_log_losses(y_held, model.predict_proba(X_held), classes, starts)[order]
            step()
    warned = tuple(dict.fromkeys(str(w.message) for w in caught))
    return LearningRun(losses, log_losses, predictions, _n_bytes(model), seconds, warned)


def _takes_classes(model: Any) -> bool:
    """Return whether `partial_fit` is told all classes, as scikit-learn's classifiers are."""
    return "classes" in signature(model.partial_fit).parameters


def _judged(method: Method, tasks: Tasks, y: Array, predictions: Array, starts: Index) -> Array:
    try:
        return tasks.measure.task_losses(y, predictions, starts)
    except InvalidDataError as error:
        raise InvalidDataError(f"{method.name}: {error}") from error


MAIN = "__main__"
"""The module of scripts and notebooks, which worker processes cannot import."""


class _Sizer(pickle.Pickler):
    """A pickler for sizes alone: classes and functions that cannot be imported count by name."""

    def reducer_override(self, obj: Any) -> Any:
        """Return the name in place of a class or function of a script, a notebook cell or a function."""
        is_global = not isinstance(obj, type | FunctionType) or ("<" not in obj.__qualname__ and obj.__module__ != MAIN)
        return NotImplemented if is_global else (str, (obj.__qualname__,))


def _n_bytes(model: Any) -> int:
    """Return the length of the pickled model."""
    buffer = io.BytesIO()
    _Sizer(buffer).dump(model)
    return buffer.tell()
