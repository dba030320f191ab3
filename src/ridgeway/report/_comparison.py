"""`compare`: run every method on the same tasks, and collect the results."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from ridgeway._checks import Array, one_of
from ridgeway._optional import require
from ridgeway.catalogue import COMPARED, Method, find, resolve
from ridgeway.data import FamilyName, MissingRule, Progress, open_table
from ridgeway.datasets import Dataset
from ridgeway.distributed import Executor, executor_of
from ridgeway.errors import InvalidParameterError
from ridgeway.report._encoded_rows import EncodedRows, encode, standardised
from ridgeway.report._measures import measure_of
from ridgeway.report._method_runs import run_methods
from ridgeway.report._result import MethodComparison, TaskInfo
from ridgeway.report._tasks import Tasks, label_rows, lost_tasks, running_constants

Order = Literal["file", "sorted", "random"]
MOST_CUBIC_BY_DEFAULT = 60
"""The most features for which a cubic memory is compared by default: it costs n·p³."""


def compare(
    data: Any,
    *,
    target: str | None = None,
    task_column: str | Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    methods: str | Sequence[Any] | None = None,
    family: FamilyName | None = None,
    order: Order = "file",
    holdout: float = 0.2,
    missing: MissingRule = "drop",
    seed: int = 0,
    workers: int | Executor = 1,
    progress: Progress = lambda done, total: None,
) -> MethodComparison:
    """Run every method on a table, task by task, and find out which ones forget.

    A share of each task's rows is held out. Every method learns the tasks one after another and, after each task,
    predicts the held-out rows of all tasks; R[t, τ] is the loss on task τ after task t: the root mean squared error of
    numbers, the share of wrong classes, or the mean deviance of counts. The tasks are then learned in
    five random orders, to see how much task order matters. Methods that differ from the pooled answer also run on
    tasks whose rows were assigned at random, to see how much they would seem to forget if the tasks did not differ.

    Parameters
    ----------
    data : path, Dataset, DataFrame, pyarrow table or mapping of names to columns
        A path ends in .csv, .tsv, .parquet, .pq, .arrow, .feather or .ipc.
    target : str, optional
        The column to predict. A `Dataset` has a default, as it has for `task_column` and `features`. If it is a class,
        it may name the tasks too: each task then brings one class.
    task_column : str or sequence of str, optional
        The columns whose values together name a task.
    features : sequence of str, optional
        The columns to predict from, and terms such as "log(distance)", "carrier:distance" and "month(date)"; all other
        columns if not given.
    methods : sequence of names, estimators and policies, optional
        Names of the `catalogue`, such as `crr:0.1`; estimators with `partial_fit` and `predict`; policies of `weights`
        or your own. By default all of mn, es, crr, sgd, river, gr that are installed. The oracle is always included.
        `catalogue.known(family)` lists the names for other families.
    family : {"gaussian", "binomial", "poisson", "multiclass"}, optional
        What the target is: numbers, two classes, counts, or classes. "binomial" and "poisson" compare likelihoods,
        "multiclass" least squares on classes. If not given, text, bools and a target that names the tasks are classes
        (two of them binomial if every task has both), and all else is gaussian.
    order : {"file", "sorted", "random"}, default "file"
        The order of the tasks: of first appearance, sorted by value, or random.
    holdout : float, default 0.2
        The share of each task's rows, at least one row, that is never learned from.
    missing : {"drop", "refuse", "indicator"}, default "drop"
        Whether rows with a missing value are left out and counted, or raise an error, or are kept: the value counts as
        0 and is marked in a column of its own. Rows without a target or a task are left out.
    seed : int, default 0
        Seed for everything random: held-out rows, orders and controls.
    workers : int or distributed.Executor, default 1
        Where methods run again, in other orders and on other tasks: the number of processes, -1 for one per core; or
        `distributed.DaskWorkers`. The results are the same.
    progress : callable, optional
        Called with (steps done, steps in total) as methods learn tasks.

    Returns
    -------
    MethodComparison

    Examples
    --------
    >>> from ridgeway import datasets, report
    >>> comparison = report.compare(datasets.load_penguins(), methods=["mn", "gr"])
    >>> [result.method.name for result in comparison.results]
    ['MinimumNorm', 'GeneralizedRidge', 'Oracle']
    >>> # the pooled answer, although every row was thrown away
    >>> comparison["gr"].distance < 1e-8
    True
    >>> comparison["mn"].forgets, comparison["gr"].forgets
    (True, False)
    >>> # the classes arrive one after another
    >>> digits = report.compare(datasets.load_digits(), methods=["mn", "gr"])
    >>> f"{digits['mn'].accuracy:.2f}, {digits['gr'].accuracy:.2f}"
    '0.10, 0.92'
    """
    _check_words(order=(order, Order), missing=(missing, MissingRule))
    _check_words(**({} if family is None else {"family": (family, FamilyName)}))
    target, labels = _target_and_tasks(data, target, task_column)
    if isinstance(data, Dataset) and features is None:
        features = [name for name in data.features if name != target and name not in labels]
    require("pyarrow", extra="report")
    table = open_table(data.columns, source=data.name) if isinstance(data, Dataset) else open_table(data)
    encoded = encode(table, target, labels, features, missing=missing, family=family)
    rng = np.random.default_rng(seed)
    names, numbers = label_rows(encoded.labels, encoded.kept, order, rng)
    split = Tasks.split(names, numbers, holdout, rng)
    column = encoded.target.in_tasks(split.train, names)
    contenders, absent = contenders_of(methods, column.family, len(encoded.encoding.features))
    center, scale = _constants(encoded, split, column.family)
    tasks = split.filled((encoded.rows - center) / scale, measure_of(column.family), len(column.classes))
    results = run_methods(contenders, tasks, column, float(scale[-1]), rng, progress, executor_of(workers))
    return MethodComparison(
        source=data.source if isinstance(data, Dataset) else table.source,
        task_columns=tuple(labels),
        order=order,
        holdout=holdout,
        seed=seed,
        n_rows=len(encoded.kept),
        **column.described(),
        target=target,
        encoding=encoded.encoding,
        constant=encoded.constant,
        center=center,
        scale=scale,
        dropped=encoded.dropped,
        lost_tasks=tuple(lost_tasks(encoded.labels, encoded.kept)),
        absent=tuple(absent),
        tasks=tuple(TaskInfo(n, len(a), len(b)) for n, a, b in zip(names, split.train, split.test, strict=True)),
        results=tuple(results),
    )


def _check_words(**chosen: tuple[Any, Any]) -> None:
    """Raise if a word is not one of those of its type."""
    for name, (word, words) in chosen.items():
        one_of(word, get_args(words), name)


def _constants(encoded: EncodedRows, split: Tasks, family: FamilyName) -> tuple[Array, Array]:
    """Return what is subtracted from each column and, last, the target, and what they are then divided by."""
    mean, deviation = running_constants(encoded.rows, split.train)
    scaled = standardised(encoded.encoding, family)
    return np.where(scaled, mean, 0.0), np.where(scaled, deviation, 1.0)


def _target_and_tasks(data: Any, target: str | None, task_column: str | Sequence[str] | None) -> tuple[str, list[str]]:
    if isinstance(data, Dataset):
        target, task_column = target or data.target, task_column or data.task_columns
    if target is None or not task_column:
        raise InvalidParameterError("name the target and the task columns; one of them is missing.")
    return target, [task_column] if isinstance(task_column, str) else list(dict.fromkeys(task_column))


def contenders_of(
    methods: str | Sequence[Any] | None, family: FamilyName = "gaussian", n_features: int = 0
) -> tuple[list[Method], list[str]]:
    """Return the methods to compare, the oracle among them, and the names of those that are not installed."""
    usual = [key for key in COMPARED[family] if key != "cubic" or n_features <= MOST_CUBIC_BY_DEFAULT]
    found = resolve(usual if methods is None else methods, family)
    absent = [method.key for method in found if not method.is_installed]
    if methods is not None and absent:
        raise InvalidParameterError(f"{', '.join(absent)} is not installed. Install it, or choose other methods.")
    if not any(method.key == "oracle" for method in found):
        found.append(find("oracle", family))
    for method in found:
        if method.is_installed:
            method.estimator()  # raises now, not after other methods have learned
    names = [method.name for method in found]
    return [
        # Two methods of one kind are told apart by their keys.
        method if names.count(method.name) == 1 else replace(method, name=f"{method.name} ({method.key})")
        for method in found
        if method.key not in absent
    ], absent
