"""What a state file keeps beside the total."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ridgeway.errors import InvalidParameterError

FEWEST_ROWS_OF_A_PART = 10
TASKS, FOURTH_MOMENTS = "tasks", "fourth-moments"


@dataclass(frozen=True)
class Keep:
    """What a state file keeps of each task, so that the task can be removed, or asked about, without its rows.

    Parameters
    ----------
    min_rows : int, optional
        The fewest rows of a part; smaller ones are refused. If not given, p + 1 for p features, and at least 10.
    cluster_column : str, optional
        The column that divides the rows of a task into smaller parts.
    fourth_moments : bool, default False
        Whether each part also keeps products of up to four columns, for errors under unequal variances.

    Examples
    --------
    >>> Keep().fewest(30), Keep(min_rows=2).fewest(30)
    (31, 2)
    """

    min_rows: int | None = None
    cluster_column: str | None = None
    fourth_moments: bool = False

    def fewest(self, n_features: int) -> int:
        """Return the fewest rows that a part may have."""
        return max(n_features + 1, FEWEST_ROWS_OF_A_PART) if self.min_rows is None else self.min_rows

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, by what is kept."""
        tasks = {"min_rows": self.min_rows, "cluster_column": self.cluster_column}
        return {TASKS: tasks} | ({FOURTH_MOMENTS: {}} if self.fourth_moments else {})

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "Keep":
        """Return what `as_dict` wrote, or raise if it names something unknown."""
        if set(fields) - {FOURTH_MOMENTS} != {TASKS}:
            kept = ", ".join(map(repr, [name for name in fields if name not in (TASKS, FOURTH_MOMENTS)] or fields))
            raise InvalidParameterError(
                f"the state file keeps {kept}, which this version does not know. Upgrade Ridgeway."
            )
        return cls(**fields[TASKS], fourth_moments=FOURTH_MOMENTS in fields)

    def check(self) -> None:
        """Raise `InvalidParameterError` if a value is not one of its kind."""
        fewest: Any = self.min_rows
        if fewest is not None and (type(fewest) is not int or fewest < 1):
            raise InvalidParameterError(f"min_rows must be a whole number ≥ 1; got {fewest!r}.")


def checked_keep(keep: Any, min_rows: int | None, cluster_column: str | None) -> Keep | None:
    """Return what is kept, or None for the total alone; raise `InvalidParameterError` if that is not known.

    Parameters
    ----------
    keep : {None, "tasks"}, or a list: ["tasks"], ["tasks", "fourth-moments"]
    min_rows, cluster_column : as for `Keep`

    Examples
    --------
    >>> from ridgeway.data import checked_keep
    >>> checked_keep("tasks", min_rows=5, cluster_column=None).fewest(30)
    5
    >>> checked_keep(None, None, None) is None  # the total alone
    True
    """
    words = [] if keep is None else [keep] if isinstance(keep, str) else list(keep)
    if sorted(map(str, words)) not in ([], [TASKS], [FOURTH_MOMENTS, TASKS]):
        raise InvalidParameterError(
            f"a state file can keep {TASKS!r}, or {TASKS!r} and {FOURTH_MOMENTS!r}, or the total alone; got {keep!r}."
        )
    if words:
        return Keep(min_rows, cluster_column, FOURTH_MOMENTS in words)
    if min_rows is not None or cluster_column is not None:
        raise InvalidParameterError(
            "min_rows and cluster_column are about the parts of tasks, which this file does not keep. Add "
            f"keep={TASKS!r}, or leave them out."
        )
    return None
