"""One method through one sequence of tasks: what it knows of every task after every task."""

import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ridgeway.catalogue import Method
from ridgeway.errors import InvalidDataError, InvalidParameterError
from ridgeway.report._tasks import Tasks

__all__ = ["Play", "play"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Play:
    """What one run through the tasks left.

    Attributes
    ----------
    losses : ndarray of shape (n_tasks, n_tasks)
        R[t, τ], the root mean squared error on the held-out rows of task τ after task t, both counted in the order
        played; only the last row is filled, the others NaN, if only the end was asked for.
    predictions : ndarray of shape (n_held_out,)
        After the last task, for the held-out rows of all tasks in the order of `Tasks`.
    n_bytes : int
        Length of the pickled model after the last task: what it had to remember.
    seconds : ndarray of shape (n_tasks,)
        Time to learn each task and to answer once.
    warned : tuple of str
        What the method warned of.
    """

    losses: Array
    predictions: Array
    n_bytes: int
    seconds: Array
    warned: tuple[str, ...]


def play(
    method: Method,
    tasks: Tasks,
    order: NDArray[np.int64],
    *,
    every: bool = True,
    step: Callable[[], None] = lambda: None,
) -> Play:
    """Learn the tasks in an order; predict what is held out after every one of them, or only at the end."""
    held = np.concatenate(tasks.test)
    starts = np.cumsum([0, *(len(part) for part in tasks.test)])[:-1]
    counts = np.array([len(part) for part in tasks.test])
    X_held, y_held = tasks.X[held], tasks.y[held]
    losses = np.full((len(order), len(order)), np.nan)
    seconds = np.zeros(len(order))
    if method.make is None:
        raise InvalidParameterError(f"method {method.key!r} has no estimator, so it cannot be compared on a table.")
    model = method.make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t, number in enumerate(order):
            X, y = tasks.X[tasks.train[number]], tasks.y[tasks.train[number]]
            started = perf_counter()
            model.partial_fit(X, y)
            if every or t == len(order) - 1:
                model.predict(X[:1])
                seconds[t] = perf_counter() - started
                predictions = np.asarray(model.predict(X_held), dtype=np.float64)
                if predictions.shape != y_held.shape:
                    raise InvalidDataError(
                        f"{method.name} predicts an array of shape {predictions.shape} for {len(y_held)} rows. Its "
                        "predict must return one number per row."
                    )
                squares = np.add.reduceat(np.square(predictions - y_held), starts) / counts
                losses[t] = np.sqrt(squares)[order]
            step()
    warned = tuple(dict.fromkeys(str(w.message) for w in caught))
    return Play(losses, predictions, len(pickle.dumps(model)), seconds, warned)
