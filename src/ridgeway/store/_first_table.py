"""The columns of a state file, from a first table."""

from collections.abc import Iterable, Mapping
from typing import Any

from ridgeway.data import CsvFormat, Encoding, MissingRule, UnknownRule, inferred, open_table, parse_terms


def encoding_of(
    table: Any,
    *,
    features: str | Iterable[str] | None = None,
    target: str | Iterable[str] | None = None,
    weight_column: str | None = None,
    leave_out: Iterable[str] = (),
    missing: MissingRule = "refuse",
    unknown: UnknownRule = "refuse",
    references: Mapping[str, str] | None = None,
    ignore_extra: bool = False,
    csv: CsvFormat | None = None,
) -> Encoding:
    """Return how the columns of a first table become features: `create` takes it as `features`. The table is read once.

    Numbers and booleans are used as they are; text becomes a category with the values that the table has. Of a date, a
    term says what is used.

    Parameters
    ----------
    table : path, DataFrame, or any object with `__arrow_c_stream__`
    features : terms, such as ["hour", "log(distance)", "carrier:distance", "month(date)"], optional
        All columns if not given, except the target, the weights and those in `leave_out`.
    target, weight_column : the name of the target or a list of names, and the column of the weights, optional
        They are no features. A row without a target or with weight 0 will not be learned, so its category is not chosen
        as the reference level.
    leave_out : other columns that are not features: those that tables have but models ignore
    missing : {"refuse", "drop", "indicator"}, default "refuse"
        What to do with rows that have missing values: stop; leave them out; or count the value as 0 and mark it in a
        column of its own.
    unknown : {"refuse", "other", "widen"}, default "refuse"
        What to do with a category that the first table does not have: stop; count it as "(other)"; or add it.
    references : reference levels of categories, optional
        If not given, the first in sorted order that has a row which will be learned.
    ignore_extra : bool, default False
        Whether later tables may have other columns too.
    csv : how a CSV file is written, if not with commas, points and UTF-8

    Examples
    --------
    >>> import pandas as pd
    >>> from ridgeway import store
    >>> first = pd.DataFrame({"site": ["b", "a", "c"], "age": [40, 30, 50], "y": [3, 2, 4]})
    >>> encoding = store.encoding_of(first, target="y", references={"site": "b"})
    >>> encoding.features  # the reference has no column
    ('site=a', 'site=c', 'age')
    """
    terms = None if features is None else parse_terms(features)
    targets = [target] if isinstance(target, str) else [*(target or ())]
    weights = [] if weight_column is None else [weight_column]
    return inferred(
        open_table(table, csv=csv),
        terms,
        leave_out=list(dict.fromkeys([*targets, *leave_out, *weights])),
        missing=missing,
        unknown=unknown,
        references=references,
        ignore_extra=ignore_extra,
        targets=targets,
        weight_column=weight_column,
    )
