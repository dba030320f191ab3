"""Rows cut into tasks, each with a part held out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import fraction
from ridgeway.errors import InvalidDataError
from ridgeway.report._table import Table

__all__ = ["Tasks", "label_rows", "lost_tasks", "running_constants"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SEPARATOR = " / "


@dataclass(frozen=True, eq=False)
class Tasks:
    """Rows in tasks: which are learned from, which are held out.

    Attributes
    ----------
    names : list of str
    X, y : ndarrays of shape (n_rows, n_features) and (n_rows,)
    train, test : list of ndarray of int
        Row numbers, one array a task.
    """

    names: list[str]
    X: Array
    y: Array
    train: list[Index]
    test: list[Index]

    @classmethod
    def split(cls, names: list[str], numbers: Index, holdout: float, rng: np.random.Generator) -> "Tasks":
        """Hold out a share of each task's rows, at least one, drawn at random. The rows are filled in later."""
        fraction(holdout, "holdout", "Pass 0.2 to hold out a fifth of the rows.")
        if len(names) < 2:
            raise InvalidDataError(
                f"there is one task only ({names[0]!r}), and nothing to forget. Choose a task column with more values."
            )
        train, test = [], []
        for number, name in enumerate(names):
            rows = np.flatnonzero(numbers == number)
            if len(rows) < 2:
                raise InvalidDataError(
                    f"task {name!r} has one row, and none could be held out. Drop that row, or choose a coarser task "
                    "column."
                )
            shuffled = rng.permutation(rows)
            held = min(max(round(holdout * len(rows)), 1), len(rows) - 1)
            test.append(np.sort(shuffled[:held]))
            train.append(np.sort(shuffled[held:]))
        return cls(names, np.empty((0, 0)), np.empty(0), train, test)

    def filled(self, rows: Array) -> "Tasks":
        """Return the tasks with their rows, features first and the target last."""
        return Tasks(self.names, np.ascontiguousarray(rows[:, :-1]), rows[:, -1].copy(), self.train, self.test)

    def shuffled(self, rng: np.random.Generator) -> "Tasks":
        """Deal the rows out to the tasks anew: as many learned from and held out in each, but no task differs."""

        def deal(parts: list[Index]) -> list[Index]:
            dealt = rng.permutation(np.concatenate(parts))
            return np.split(dealt, np.cumsum([len(part) for part in parts])[:-1])

        return Tasks(self.names, self.X, self.y, deal(self.train), deal(self.test))


def label_rows(
    table: Table, task_columns: Sequence[str], kept: NDArray[np.bool_], order: str, rng: np.random.Generator
) -> tuple[list[str], Index]:
    """Return the names of the tasks in order (of first row in the file, sorted, random) and the task of each row."""
    parts = [table.column(name).labels() for name in task_columns]
    codes = np.stack([codes[kept] for codes, _, _ in parts], axis=1)
    found, first, inverse = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    keys = [tuple(part[2][code] for part, code in zip(parts, row, strict=True)) for row in found]
    orders = {"file": first.tolist(), "sorted": keys, "random": rng.permutation(len(found)).tolist()}
    ranked = sorted(range(len(found)), key=orders[order].__getitem__)
    place = np.empty(len(found), dtype=np.int64)
    place[np.array(ranked)] = np.arange(len(found))
    names = [SEPARATOR.join(part[1][code] for part, code in zip(parts, found[i], strict=True)) for i in ranked]
    return names, place[inverse.ravel()]


def lost_tasks(table: Table, task_columns: Sequence[str], kept: NDArray[np.bool_]) -> list[str]:
    """Return the names of the tasks of which no row was kept, in the order of the file."""
    named = ~np.any([table.column(name).missing for name in task_columns], axis=0)
    names, numbers = label_rows(table, task_columns, named, "file", np.random.default_rng(0))
    left = set(numbers[kept[named]].tolist())
    return [name for number, name in enumerate(names) if number not in left]


def running_constants(rows: Array, train: list[Index]) -> tuple[Array, Array]:
    """Return mean and standard deviation of each column over the rows learned from, summed up task by task.

    What is kept from one task to the next is a count, a mean and a sum of squares per column, never a row. A column
    that does not vary has the scale 1.
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
