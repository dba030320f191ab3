"""The state file, and every way to change it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import Any

from ridgeway.data import (
    Block,
    CsvFormat,
    Encoding,
    FamilyName,
    InformationKind,
    Label,
    MemoryKind,
    Progress,
    Schema,
    WeightKind,
    checked_family,
    checked_keep,
    checked_offset_column,
    checked_schema,
    open_table,
    rows_in_memory,
    tasks_in,
    widened_schema,
)
from ridgeway.errors import InvalidDataError, InvalidParameterError
from ridgeway.store._absorb import Absorbed, Removed, absorb, checked_id, checked_reason, one_task, remove
from ridgeway.store._changes import Contents, Handle
from ridgeway.store._connection import as_path, check_mount, checked_timeout, inode_of, transaction
from ridgeway.store._generations import MEMORY_BUDGET, read_arrays, read_generation
from ridgeway.store._merge import merged, renamed, total_alone
from ridgeway.store._new_file import write_state
from ridgeway.store._part_arrays import check_part_size
from ridgeway.store._partial_task import PartialTask, absorb_partial
from ridgeway.store._reader import StoreReader
from ridgeway.store._references import change_references
from ridgeway.store._state import empty_arrays
from ridgeway.store._widen import widen
from ridgeway.weights import PriorValue

TIMEOUT = 60.0


class Store(StoreReader):
    """A state file on disk. Make one with `create`, open one with `open`.

    Every call reads the file again, in one transaction, and checks what it reads; nothing is kept open between calls.
    So several processes and threads can use the same file. If another file takes its name, calls fail.

    Attributes
    ----------
    path : Path
    file_id : str
        Id of the file, chosen at random when it was made.

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = store.create(f"{folder}/state.rw", features=["x"], target="y")
    ...     _ = state.absorb("May", [[0.0], [1.0]], [1.0, 3.0])
    ...     _ = state.absorb("June", [[2.0], [3.0]], [5.0, 7.0])
    ...     print(state.model().coef_)  # of all rows; none of them is in the file
    [2.]
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self.path, self.file_id = handle.path, handle.file_id

    def __repr__(self) -> str:
        return f"<Store {str(self.path)!r}>"

    def absorb(
        self,
        task_id: str,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        clusters: Any = None,
        offset: Any = None,
        exposure: Any = None,
        force: str | None = None,
    ) -> Absorbed:
        """Learn a task. When this returns, the task survives a power loss.

        The same id with the same content counts once, however often it is absorbed.

        Parameters
        ----------
        task_id : str
        X : array with columns in the schema's order, or DataFrame, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
        clusters : labels of shape (n_samples,), optional
            The clusters that the rows belong to, if the file has a column for them; it may also be a column of `X`.
        offset, exposure : array of shape (n_samples,), optional
            The values of the offset or of the exposure column, if the file has one; it may also be a column of `X`.
        force : str, optional
            A reason to absorb rows whose id has other content, or whose content has another id. The ledger keeps it if
            it was needed.
        """
        named = checked_id(task_id)

        def rows(schema: Schema) -> Iterator[Block]:
            values = _offset_values(schema, offset=offset, exposure=exposure)
            return rows_in_memory(schema, X, y, sample_weight, clusters, offset_values=values)

        (outcome,) = absorb(self._handle, one_task(named, rows), checked_reason(force))
        return outcome

    def remove(self, task_id: str, X: Any = None, y: Any = None, sample_weight: Any = None) -> Removed:
        """Remove a task, as if it had never been absorbed, or raise `RemovalError` and change nothing.

        If the file keeps its tasks, the id is enough, any task can be removed, and no digits are lost. If rows were
        forced in under the same id, the last are removed first. Otherwise exactly the rows of the task must be passed.
        If a reference level loses its last row, the first level with rows takes its place, as in `change_references`.
        The previous generation is dropped, and what is freed is overwritten.
        """
        known = checked_id(task_id)
        if X is None and y is None:
            return remove(self._handle, known, None)
        return remove(
            self._handle,
            known,
            one_task(known, lambda schema: rows_in_memory(schema, X, y, sample_weight, absent=schema.labels)),
        )

    def absorb_table(
        self,
        table: Any,
        *,
        task_id: str | None = None,
        task_column: str | None = None,
        force: str | None = None,
        csv: CsvFormat | None = None,
        progress: Progress | None = None,
        dropped: Counter[tuple[str, ...]] | None = None,
        added: list[str] | None = None,
    ) -> list[Absorbed]:
        """Learn a table, whole or not at all: as one task, or as one per value of a column.

        The table is read in blocks, so memory stays at a few blocks plus the state. Other writers wait.

        Parameters
        ----------
        table : path of a CSV, Parquet or Arrow file, DataFrame, or any object with `__arrow_c_stream__`
            With the columns of the schema in any order.
        task_id : the id of the task; or
        task_column : the column that says which task a row belongs to
        force : as for `absorb`
        csv : how a CSV file is written, if not with commas, points and UTF-8
        progress : called with the number of rows read so far and, if known, of the table
        dropped : counts rows that are left out, by the columns that have no value
        added : gets the names of features that unknown categories or missing values have added, and new classes (y=cat)
        """
        if (task_id is None) == (task_column is None):
            got = "neither" if task_id is None else "both"
            raise InvalidParameterError(f"name either a task or a task column; got {got}.")
        opened, known = open_table(table, csv=csv), None if task_id is None else checked_id(task_id)
        return absorb(
            self._handle,
            lambda schema: tasks_in(opened, schema, known, task_column, progress, dropped),
            checked_reason(force),
            added,
        )

    def absorb_partial(
        self,
        task_id: str,
        partial: PartialTask,
        *,
        before: Schema,
        force: str | None = None,
        added: list[str] | None = None,
    ) -> Absorbed:
        """Learn a task from what its rows have left elsewhere: see `ridgeway.distributed`.

        Parameters
        ----------
        task_id, force, added : as for `absorb_table`
        partial : PartialTask
            That of all rows. Its digest is the one that the rows would have.
        before : Schema
            That of the file when the rows were learned; if it has changed since, `StoreError` is raised.
        """
        return absorb_partial(self._handle, task_id, before, partial, force, added)

    def remove_table(
        self,
        table: Any,
        *,
        task_id: str,
        task_column: str | None = None,
        csv: CsvFormat | None = None,
        progress: Progress | None = None,
    ) -> Removed:
        """Remove a task, as `remove` does: the rows of a table, or those with the id in the task column.

        Columns that were added after the task was learned may be missing.
        """
        opened, known = open_table(table, csv=csv), checked_id(task_id)

        def source(schema: Schema) -> Any:
            absent = [name for name in (*schema.past, *schema.labels) if name not in opened.columns]
            tasks = tasks_in(opened, schema, task_id, task_column, progress, absent=absent)
            return (task for task in tasks if task[0] == known)

        return remove(self._handle, known, source)

    def widen(
        self,
        *,
        categories: Mapping[str, Iterable[str]] | None = None,
        features: Mapping[str, float | str] | None = None,
        targets: Mapping[str, float] | None = None,
        prior: Any = None,
    ) -> Schema:
        """Add categories, features or targets, exactly as if they had been there from the beginning.

        Parameters
        ----------
        categories : new categories by column; no past row had them
        features : new features, each a term of a new column, with the value that the column had in every past row
            With an intercept any constant is exact, without one only 0.
        targets : new targets, with the value that they had in every past row
        prior : the prior's entries for the new features; needed if the prior was not a single number
        """
        named = categories or {}, features or {}, targets or {}
        return widen(self._handle, lambda schema: widened_schema(schema, *named), prior)

    def change_references(self, references: Mapping[str, str]) -> Schema:
        """Give categories other reference levels, exactly as if they had been there from the beginning.

        Predictions stay the same; coefficients of categories become differences from the new levels. Raises
        `InvalidParameterError` without an intercept and with a prior, where another reference is another model, and if
        no row has the new level.

        Parameters
        ----------
        references : dict of str to str
            The new reference level of each category, such as {"carrier": "UA"}.
        """
        return change_references(self._handle, references)

    def merge(
        self,
        other: "Store | str | PathLike[str]",
        out: str | PathLike[str],
        *,
        prefixes: tuple[str, str] = ("", ""),
        total_only: bool = False,
    ) -> "Store":
        """Make a new state file, as if one had absorbed the tasks of both, or raise `MergeError` with what differs.

        `prefixes` are put before the ids of the tasks of this file and of the other, so that tasks of the same name can
        be told apart. The same rows are recognised under any name. If both files keep their tasks, so does the new one;
        if only one does, the merge is refused, unless `total_only` says that the new file need not keep them.
        """
        timeout = self._handle.timeout
        others = other if isinstance(other, Store) else open(other, timeout=timeout)
        found = [store.snapshot(parts=not total_only) for store in (self, others)]
        if total_only:
            found = [total_alone(snapshot) for snapshot in found]
        one, two = (renamed(snapshot, prefix) for snapshot, prefix in zip(found, prefixes, strict=True))
        contents = merged(one, two, (self.path.name, others.path.name))
        return Store(write_state(as_path(out), contents, timeout))


def _offset_values(schema: Schema, *, offset: Any, exposure: Any) -> Any:
    """Return the values of the offset column that were passed, or raise if they are called otherwise in the file."""
    column = schema.offset
    if offset is not None and exposure is not None:
        raise InvalidDataError("an exposure is an offset, its logarithm, and both were passed. Pass one of them.")
    if column is not None and column.is_exposure and offset is not None:
        raise InvalidDataError(f"{column.name!r} is an exposure. Pass its values as exposure, not their logarithms.")
    if column is not None and not column.is_exposure and exposure is not None:
        raise InvalidDataError(f"{column.name!r} is an offset. Pass its values as offset, such as log exposures.")
    return exposure if offset is None else offset


def create(
    path: str | PathLike[str],
    *,
    features: Iterable[str] | Encoding,
    target: str | Iterable[str],
    weight_column: str | None = None,
    weight_kind: WeightKind = "precision",
    prior: PriorValue = 0.0,
    fit_intercept: bool = True,
    information: InformationKind = "square_root",
    keep: str | Iterable[str] | None = None,
    min_rows: int | None = None,
    cluster_column: str | None = None,
    family: FamilyName = "gaussian",
    memory: MemoryKind | None = None,
    classes: Iterable[Label] | None = None,
    offset: str | None = None,
    exposure: str | None = None,
    timeout: float = TIMEOUT,
) -> Store:
    """Make a state file, which must not exist yet.

    Parameters
    ----------
    path : where
    features : names of the features, columns of numbers; or an encoding, such as `encoding_of` makes from a table
    target : name of the target, or names of several
    weight_column : the column of a data file that holds the weights of the rows, optional
    weight_kind, prior, fit_intercept, information : as for `weights.Accumulated` and `GeneralizedRidge`
    keep : {None, "tasks", ("tasks", "fourth-moments")}, default None
        "tasks" keeps the information of each task beside the total: a task can then be removed without its rows, and
        asked about when they are gone. A part has (p + k)²/2 numbers. The part of a small task gives more away than
        a total: with n ≤ p rows it determines the space that the rows span, and with one row the row itself.
        "fourth-moments" keeps products of up to four columns as well, which `retrospect.heteroscedastic` needs: about
        (p + 1)⁴/24 numbers per task, for at most 100 features. They give more away than the part alone.
    min_rows : int, optional
        The fewest rows of a part, if tasks are kept. If not given, p + 1 for p features, and at least 10.
    cluster_column : str, optional
        The column that divides the rows of a task into smaller parts, if tasks are kept.
    family : {"gaussian", "binomial", "poisson", "multiclass"}, default "gaussian"
        What the target is: a number; one of two classes, as for `GeneralizedLogistic`; a count, as for
        `GeneralizedPoisson`; or a class among any number, as for `GeneralizedRidgeClassifier`.
    memory : {"quadratic", "cubic"}, optional
        How the past of a "binomial" or "poisson" target is kept; "quadratic" if not given.
    classes : list of labels, optional
        Classes that are known beforehand. A "binomial" target needs them if the first task has one class only.
    offset : str, optional
        The column that is added to the linear predictor of a "binomial" or "poisson" target.
    exposure : str, optional
        The column that says how long, or among how many, the counts of a "poisson" target were made, above 0. Its
        logarithm is the offset.
    timeout : the longest wait for other processes, in seconds

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = store.create(f"{folder}/state.rw", features=["age"], target="wage")
    ...     print(state.schema.columns, len(state.history()))  # no tasks yet
    ('age', 'wage') 0
    """
    schema = checked_schema(
        features,
        target,
        weight_column=weight_column,
        fit_intercept=fit_intercept,
        information=information,
        weight_kind=weight_kind,
        keep=checked_keep(keep, min_rows, cluster_column),
        family=checked_family(family, memory, classes),
        offset=checked_offset_column(offset, exposure),
    )
    check_part_size(schema)
    n_bytes = 8 * schema.width**2
    if n_bytes > MEMORY_BUDGET:
        raise InvalidParameterError(
            f"the state of {schema.width} columns would have {n_bytes} bytes, beyond the budget of {MEMORY_BUDGET}. "
            "Name fewer features."
        )
    contents = Contents((schema.to_bytes(),), (), empty_arrays(schema, prior))
    return Store(write_state(as_path(path), contents, checked_timeout(timeout)))


def open(path: str | PathLike[str], *, timeout: float = TIMEOUT) -> Store:
    """Open a state file, after a check of the digests of its state.

    Parameters
    ----------
    path : the file
    timeout : the longest wait for other processes, in seconds

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = store.create(f"{folder}/state.rw", features=["x"], target="y")
    ...     print(store.open(made.path).file_id == made.file_id)
    True
    """
    where, seconds = as_path(path), checked_timeout(timeout)
    check_mount(where)
    with transaction(where, write=False, timeout=seconds) as connection:
        now = read_generation(connection, where)
        read_arrays(connection, now, where)
        return Store(Handle(where, inode_of(where), now.file_id, seconds))
