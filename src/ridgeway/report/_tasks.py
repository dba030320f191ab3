"""Rows grouped into tasks, a part of each held out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array, fraction
from ridgeway.data import Categories
from ridgeway.errors import InvalidDataError
from ridgeway.report._measures import Measure, RootMeanSquare

Index = NDArray[np.int64]

SEPARATOR = " / "
RMSE = RootMeanSquare()


@dataclass(frozen=True, eq=False)
class Tasks:
    """Rows grouped into tasks, with those to learn from and those held out.

    Attributes
    ----------
    names : list of str
    X, y : ndarrays of shape (n_rows, n_features) and (n_rows,)
    train, test : list of ndarray of int
        Row numbers, one array per task.
    measure : Measure
        How predictions of y are judged.
    n_classes : int
        0 if y has numbers or counts; otherwise its values are 0, …, n_classes − 1.
    """

    names: list[str]
    X: Array
    y: Array
    train: list[Index]
    test: list[Index]
    measure: Measure = RMSE
    n_classes: int = 0

    @classmethod
    def split(cls, names: list[str], numbers: Index, holdout: float, rng: np.random.Generator) -> "Tasks":
        """Hold out a random share of each task's rows, at least one. The rows themselves are filled in later."""
        fraction(holdout, "holdout", "Pass 0.2 to hold out a fifth of the rows.")
        if len(names) < 2:
            raise InvalidDataError(
                f"there is only one task ({names[0]!r}), so nothing can be forgotten. Choose a task column with more "
                "values."
            )
        train, test = [], []
        for number, name in enumerate(names):
            rows = np.flatnonzero(numbers == number)
            if len(rows) < 2:
                raise InvalidDataError(
                    f"task {name!r} has only one row, so none can be held out. Drop that row, or choose a task column "
                    "with fewer values."
                )
            shuffled = rng.permutation(rows)
            held = min(max(round(holdout * len(rows)), 1), len(rows) - 1)
            test.append(np.sort(shuffled[:held]))
            train.append(np.sort(shuffled[held:]))
        return cls(names, np.empty((0, 0)), np.empty(0), train, test)

    def filled(self, rows: Array, measure: Measure, n_classes: int) -> "Tasks":
        """Return the tasks with their rows: the features, then the target."""
        X, y = np.ascontiguousarray(rows[:, :-1]), rows[:, -1].copy()
        return replace(self, X=X, y=y, measure=measure, n_classes=n_classes)

    def held_out(self) -> tuple[Index, Index]:
        """Return the numbers of all held-out rows, task by task, and where each task starts among them."""
        return np.concatenate(self.test), np.cumsum([0, *map(len, self.test)])[:-1]

    def shuffled(self, rng: np.random.Generator) -> "Tasks":
        """Assign the rows to the tasks at random, keeping the sizes: tasks that do not differ."""

        def deal(parts: list[Index]) -> list[Index]:
            dealt = rng.permutation(np.concatenate(parts))
            return np.split(dealt, np.cumsum([len(part) for part in parts])[:-1])

        return replace(self, train=deal(self.train), test=deal(self.test))


def label_rows(
    labels: Sequence[Categories], kept: NDArray[np.bool_], order: str, rng: np.random.Generator
) -> tuple[list[str], Index]:
    """Return the names of the tasks in order (of first appearance, sorted or random) and the task of each row kept."""
    codes = np.stack([part.codes[kept] for part in labels], axis=1)
    found, first, inverse = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    ranks = [_ranks(part.names) for part in labels]
    keys = [tuple(rank[code] for rank, code in zip(ranks, row, strict=True)) for row in found]
    orders = {"file": first.tolist(), "sorted": keys, "random": rng.permutation(len(found)).tolist()}
    ranked = sorted(range(len(found)), key=orders[order].__getitem__)
    place = np.empty(len(found), dtype=np.int64)
    place[np.array(ranked)] = np.arange(len(found))
    names = [SEPARATOR.join(part.names[code] for part, code in zip(labels, found[i], strict=True)) for i in ranked]
    return names, place[inverse.ravel()]


def _ranks(labels: Sequence[str]) -> list[int]:
    """Return the place of each label in sorted order: by number if all are integers, else as text."""
    whole = all(label.removeprefix("-").isdecimal() for label in labels)
    places = {label: place for place, label in enumerate(sorted(labels, key=int if whole else str))}
    return [places[label] for label in labels]


def lost_tasks(labels: Sequence[Categories], kept: NDArray[np.bool_]) -> list[str]:
    """Return the names of the tasks without any rows left, in the order of the file."""
    named = ~np.any([part.missing for part in labels], axis=0)
    names, numbers = label_rows(labels, named, "file", np.random.default_rng(0))
    left = set(numbers[kept[named]].tolist())
    return [name for number, name in enumerate(names) if number not in left]


def running_constants(rows: Array, train: list[Index]) -> tuple[Array, Array]:
    """Return the mean and standard deviation of each column over the rows to learn from, task by task.

    Only a count, a mean and a sum of squares per column are kept from one task to the next. A constant column has
    scale 1.
    """
    count = 0
    mean, squares = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for part in train:
        block = rows[part]
        n, block_mean = len(block), block.mean(axis=0)
        shift = block_mean - mean
        squares += np.square(block - block_mean).sum(axis=0) + np.square(shift) * (count * n / (count + n))
        mean += shift * (n / (count + n))
        count += n
    deviation = np.sqrt(squares / count)
    flat = deviation <= 1e-12 * np.abs(mean)
    return mean, np.where(flat, 1.0, deviation)
