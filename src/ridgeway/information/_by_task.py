"""One memory per task: the information of each by its id, and their merge."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array, flag
from ridgeway._text import counted, did_you_mean
from ridgeway.data import Task, label_of, listed
from ridgeway.errors import InvalidDataError, InvalidParameterError, InvalidStateError, MergeError, RemovalError
from ridgeway.information._base import Information
from ridgeway.information._fourth import MOST_FEATURES, FourthMoments
from ridgeway.information._moments import Moments
from ridgeway.information._parts import ARRAYS
from ridgeway.information._square_root import SquareRoot
from ridgeway.information._tree import HALF, Leaf, Node, PartName, changed_now, found, task_key, with_leaf, without
from ridgeway.information._with_fourth import FOURTH, WITH_FOURTH

COLUMNS = ("n_features", "n_targets", "centered")
WIDEST = 2**15
"""The most columns of a state without parts that is read: they say how many columns there are."""
BASES: dict[str, type[Information]] = {kind.name: kind for kind in (SquareRoot, Moments)}


@dataclass(frozen=True)
class ByTask:
    """What each task leaves behind, kept apart, so that questions about tasks can be answered when the rows are gone.

    Questions about all rows are answered by the total, the merge of all parts. Parts are merged in a tree that depends
    on their names alone: the total is bit for bit the same in whatever order the tasks arrived, and after a removal it
    is as if the task had never been learned.

    A part has (p + k)²/2 numbers. The part of a small task gives more away than a total: with n ≤ p rows it
    determines the space that the rows span, and with one row the row itself.

    Parameters
    ----------
    kind : {SquareRoot, Moments}, default SquareRoot
        How each part is kept.
    fourth_moments : bool, default False
        Whether each part also keeps products of up to four columns, which `retrospect.heteroscedastic` needs: about
        (p + 1)⁴/24 numbers, for at most 100 features. They give more away than the part alone.

    Attributes
    ----------
    ids : tuple of str
        The tasks, in the order in which they were learned.
    total : Information

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge
    >>> model = GeneralizedRidge(information="by_task")
    >>> model = model.partial_fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0], task="north")
    >>> model = model.partial_fit([[0.0], [1.0], [3.0]], [2.0, 2.0, 2.0], task="south")
    >>> model.remove(task="south").predict([[10.0]])
    array([21.])
    """

    kind: type[Information] = SquareRoot
    blank: Information | None = None
    tree: Node | None = None
    ids: tuple[str, ...] = ()
    fourth_moments: bool = field(default=False, kw_only=True)

    name = "by_task"

    def __post_init__(self) -> None:
        if self.kind not in BASES.values():
            raise InvalidParameterError(f"ByTask takes SquareRoot or Moments; got {self.kind!r}.")
        flag(self.fourth_moments, "fourth_moments")

    def __getattr__(self, name: str) -> Any:
        """Answer about all rows: by the total."""
        if name.startswith("_") or self.blank is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.total, name)

    def __repr__(self) -> str:
        """Return how it is asked for, and the number of tasks."""
        fourth = ", fourth_moments=True" if self.fourth_moments else ""
        return f"ByTask({self.kind.__name__}{fourth})" + (f" of {counted(len(self.ids), 'task')}" if self.ids else "")

    @property
    def setting(self) -> Any:
        """How such information is asked for."""
        setting = ByTask(self.kind, fourth_moments=self.fourth_moments)
        return self.name if setting == ByTask() else setting

    @property
    def part_kind(self) -> type[Information]:
        """The kind of each part: with fourth moments if they are kept, which a merge of parts does not have."""
        return WITH_FOURTH[self.kind] if self.fourth_moments else self.kind

    def empty(self, n_features: int, n_targets: int, *, centered: bool) -> "ByTask":
        """Return the information of no rows."""
        blank = self.part_kind.empty(n_features, n_targets, centered=centered)
        return replace(self, blank=blank, tree=None, ids=())

    @cached_property
    def total(self) -> Information:
        """The information of all rows."""
        return (self._blank if self.tree is None else self.tree.information).plain

    def fourth(self) -> list[FourthMoments]:
        """Return the fourth moments of each part, or raise if they are not kept."""
        if not self.fourth_moments:
            raise InvalidParameterError(
                "this model does not keep fourth moments. Learn with information=ByTask(fourth_moments=True) "
                "(from ridgeway.information), or with `ridgeway init --keep tasks,fourth-moments`."
            )
        parts: list[Any] = [leaf.information for leaf in self._leaves()]
        return [sums for part in parts for sums in part.fourth]

    def part(self, task: str) -> Information:
        """Return the information of one task, or raise."""
        return self._node(task, InvalidParameterError).information.plain

    def parts(self) -> dict[str, Information]:
        """Return the information of each task, in the order in which they were learned."""
        return {task: self.part(task) for task in self.ids}

    def clusters(self) -> dict[str, Information]:
        """Return the information of each cluster over all tasks; a task without clusters is itself one."""
        trees: dict[str, Node] = {}
        for leaf in self._leaves():
            label = leaf.name.task if leaf.name.cluster is None else leaf.name.cluster
            trees[label] = with_leaf(trees.get(label), leaf)
        return {label: trees[label].information.plain for label in sorted(trees)}

    @property
    def is_clustered(self) -> bool:
        """Whether the tasks are divided into clusters; False if none or only some are."""
        return self.tree is not None and all(leaf.name.cluster is not None for leaf in self._leaves())

    def add(self, task: Task) -> "ByTask":
        """Return the information with a task's rows added: to the task of the same id, if there is one.

        A task without an id gets the smallest number that is free.
        """
        name = self._free() if task.task_id is None else _spelled(task.task_id)
        tree = self.tree
        for cluster, rows in _divided(task):
            part = PartName(name, cluster)
            before = found(tree, part.key)
            past = self._blank if before is None else before.information
            tree = with_leaf(tree, Leaf.of(part, past.add(rows)))
        return replace(self, tree=tree, ids=self.ids if name in self.ids else (*self.ids, name))

    def merge(self, other: "ByTask") -> "ByTask":
        """Return the information of the tasks of both, or raise if a task is in both."""
        if self.setting != other.setting:
            raise MergeError("cannot merge information of different kinds. Learn both with the same kind.")
        self._blank.merge(other._blank)
        both = [task for task in self.ids if task in other.ids]
        if both:
            raise MergeError(
                f"both have the tasks {', '.join(map(repr, both[:6]))}{' …' if len(both) > 6 else ''}. Give the tasks "
                "of one model other ids."
            )
        tree = self.tree
        for leaf in other._leaves():
            tree = with_leaf(tree, leaf)
        return replace(self, tree=tree, ids=self.ids + other.ids)

    def without(self, task: str) -> "ByTask":
        """Return the information as if a task had never been learned, or raise `RemovalError`. No digits are lost."""
        self._node(task, RemovalError)
        if self.tree is None or len(self.ids) == 1:
            raise RemovalError(f"{task!r} is the only task: nothing would remain. Start a new model.")
        ids = tuple(name for name in self.ids if name != task)
        return replace(self, tree=without(self.tree, task_key(task), HALF), ids=ids)

    def remove(self, task: Task) -> "ByTask":
        """Raise: a task is removed by its id."""
        raise RemovalError("this model keeps its tasks apart, and removes them without rows. Pass the id as task=.")

    def reweighted(self, weights: Mapping[str, float], *, counted: bool = False) -> "ByTask":
        """Return the information with the rows of each task multiplied by its weight, without those of weight 0.

        If `counted`, the weights are whole numbers and say how often the rows of a task were observed.
        """
        kept = {task: weight for task, weight in weights.items() if weight > 0.0}
        tree: Node | None = None
        for leaf in self._leaves():
            if leaf.name.task in kept:
                part = leaf.information
                weight = kept[leaf.name.task]
                changed = part.thinned(weight) if counted else part.scaled(weight)
                tree = with_leaf(tree, leaf if weight == 1.0 else Leaf.of(leaf.name, changed))
        return replace(self, tree=tree, ids=tuple(task for task in self.ids if task in kept))

    def balanced(self) -> "ByTask":
        """Return the information with the rows of each cluster weighted alike, so that all clusters weigh the same."""
        weights: dict[str | None, float] = {}
        for leaf in self._leaves():
            weights[leaf.name.cluster] = weights.get(leaf.name.cluster, 0.0) + leaf.information.total_weight
        mean = sum(weights.values()) / len(weights)
        tree: Node | None = None
        for leaf in self._leaves():
            scaled = leaf.information.scaled(mean / weights[leaf.name.cluster])
            tree = with_leaf(tree, Leaf.of(leaf.name, scaled))
        return replace(self, tree=tree)

    def without_cluster(self, cluster: str) -> "ByTask":
        """Return the information as if no row of a cluster had been learned. No digits are lost."""
        tree = self.tree
        for leaf in self._leaves():
            if leaf.name.cluster == cluster and tree is not None:
                tree = without(tree, leaf.name.key)
        left = set() if tree is None else {leaf.name.task for leaf in tree.leaves()}
        return replace(self, tree=tree, ids=tuple(task for task in self.ids if task in left))

    def select(self, columns: NDArray[np.intp]) -> "ByTask":
        """Return the information of the same rows with fewer features."""
        return self._changed(lambda part: part.select(columns))

    def widened(self, features: NDArray[np.intp], targets: NDArray[np.intp], past: Array) -> "ByTask":
        """Return the information of the same rows with more columns, which were constant."""
        return self._changed(lambda part: part.widened(features, targets, past))

    def with_targets(self, targets: NDArray[np.intp]) -> "ByTask":
        """Return the information of the same rows with other targets: the old ones at these places, 0 for −1."""
        tree = None if self.tree is None else changed_now(self.tree, lambda part: part.with_targets(targets))
        return replace(self, blank=self._blank.with_targets(targets), tree=tree)

    def mapped(self, matrix: Array, shift: Array) -> "ByTask":
        """Return the information of the same rows, the features being x·matrix + shift instead of x."""
        return self._changed(lambda part: part.mapped(matrix, shift))

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return counts and arrays, both by name: `from_parts` restores the same, bit for bit."""
        listed: list[dict[str, Any]] = []
        arrays: dict[str, Array] = {}
        for number, leaf in enumerate(self._leaves()):
            counts, held = leaf.information.to_parts()
            listed.append({"task": leaf.name.task, "cluster": leaf.name.cluster, **counts})
            arrays |= {f"part{number}.{name}": array for name, array in held.items()}
        columns = {name: getattr(self._blank, name) for name in COLUMNS}
        fourth = {"fourth_moments": True} if self.fourth_moments else {}
        return {**columns, **fourth, "kind": self.kind.name, "ids": list(self.ids), "parts": listed}, arrays

    def from_parts(self, counts: Mapping[str, Any], arrays: Mapping[str, Array]) -> "ByTask":
        """Return the information that `to_parts` took apart, or raise `InvalidStateError`."""
        damaged = InvalidStateError("the parts of a state do not fit together. Read an intact copy.")
        kind, listed, ids = (counts.get(name) for name in ("kind", "parts", "ids"))
        fourth = counts.get("fourth_moments", False)
        columns: list[Any] = [counts.get(name) for name in COLUMNS]
        if str(kind) not in BASES or [type(value) for value in columns] != [int, int, bool] or min(columns[:2]) < 1:
            raise damaged
        if sum(columns[:2]) > (np.size(arrays.get("part0.mean", ())) or WIDEST):
            raise damaged
        if type(fourth) is not bool or (fourth and columns[0] > MOST_FEATURES):
            raise damaged
        made = ByTask(BASES[str(kind)], fourth_moments=fourth).empty(columns[0], columns[1], centered=columns[2])
        if not isinstance(listed, list) or not isinstance(ids, list):
            raise damaged
        tree: Node | None = None
        for number, part in enumerate(listed):
            name = PartName(part.get("task", ""), part.get("cluster")) if isinstance(part, dict) else PartName("")
            if type(name.task) is not str or not name.task or type(name.cluster) not in (str, type(None)):
                raise damaged
            names = [array for array in (*ARRAYS, FOURTH) if f"part{number}.{array}" in arrays]
            information = made.part_kind.from_parts(part, {array: arrays[f"part{number}.{array}"] for array in names})
            fits = information.n_samples > 0 and [getattr(information, column) for column in COLUMNS] == columns
            if not fits or found(tree, name.key) is not None:
                raise damaged
            tree = with_leaf(tree, Leaf.of(name, information))
        if not all(type(task) is str for task in ids) or sorted(ids) != sorted({part["task"] for part in listed}):
            raise damaged
        return replace(made, tree=tree, ids=tuple(ids))

    def _changed(self, change: Callable[[Information], Information]) -> "ByTask":
        tree = None if self.tree is None else self.tree.changed(change)
        return replace(self, blank=change(self._blank), tree=tree)

    @property
    def _blank(self) -> Information:
        if self.blank is None:
            raise InvalidStateError("this is a setting, without columns or rows. Learn a task with it first.")
        return self.blank

    def _leaves(self) -> Iterator[Leaf]:
        return iter(()) if self.tree is None else self.tree.leaves()

    def _node(self, task: str, error: type[ValueError]) -> Node:
        node = found(self.tree, task_key(task), HALF)
        if node is None:
            raise error(f"there is no task {task!r}.{did_you_mean(task, self.ids)} The tasks are {listed(self.ids)}.")
        return node

    def _free(self) -> str:
        number = len(self.ids) + 1
        while str(number) in self.ids:
            number += 1
        return str(number)


def _spelled(label: Any, what: Literal["task", "cluster"] = "task") -> str:
    """Return a label as text, as the tables of a state file spell it; or raise."""
    text = label_of(label.item() if isinstance(label, np.generic) else label, what)
    if not text:
        raise InvalidDataError(f"a {what} has an empty name. Pass one like '2019'.")
    return text


def _divided(task: Task) -> Iterator[tuple[str | None, Task]]:
    """Yield the clusters of a task and their rows."""
    if task.clusters is None:
        yield None, task
        return
    spelled = {label: _spelled(label, "cluster") for label in dict.fromkeys(task.clusters)}
    labels, numbers = np.unique([spelled[label] for label in task.clusters], return_inverse=True)
    for number, label in enumerate(labels):
        rows = numbers == number
        weight = None if task.sample_weight is None else task.sample_weight[rows]
        part = Task.of(task.X[rows], task.y[rows], weight)
        yield str(label), replace(part, is_finite=task.is_finite) if task.n_samples == len(task.y) else part.counted()
