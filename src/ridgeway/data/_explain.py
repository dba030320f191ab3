"""Explain why a table was refused: which column, and how many rows. Called only after an error."""

from collections.abc import Iterator, Sequence
from typing import Any

from ridgeway.data._columns import is_numeric, is_text, value_type
from ridgeway.data._tables import Table
from ridgeway.errors import InvalidDataError

ROWS = 65536
NUMBER = r"^[+-]?((\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|inf|infinity|nan|Inf|Infinity|NaN|INF|INFINITY|NAN)$"
INFINITE = r"^[+-]?([iI][nN]|[nN][aA])"
BOOLEAN = r"^(true|True|TRUE|false|False|FALSE)$"


def explain(table: Table, columns: Sequence[str]) -> None:
    """Raise `InvalidDataError` for the first column that has text, nulls or infinities; return if there is none."""
    import pyarrow as pa

    found = {name: {"nulls": 0, "text": 0, "NaN or infinity": 0} for name in columns}
    kinds: dict[str, str] = {}
    n_rows = 0
    try:
        for batch in table.batches(columns, rows=ROWS, text=columns):
            n_rows += len(batch)
            for name in columns:
                column = batch.column(name)
                kinds[name] = str(column.type)
                for what, count in zip(found[name], _counted(column), strict=True):
                    found[name][what] += count
    except (InvalidDataError, pa.ArrowException):
        return  # the table cannot be read at all, which the first error says already
    for name, counts in found.items():
        for what, count in counts.items():
            if count:
                words = f"{kinds[name]} values" if what == "text" and kinds[name] != "string" else what
                raise InvalidDataError(
                    f"{table.source}: column {name!r} has {words} in {count} of {n_rows} rows. Drop those rows, or "
                    "fill or encode the values first."
                )


def _counted(column: Any) -> Iterator[int]:
    """Yield how many values are null, not numeric, and not finite."""
    import pyarrow as pa
    from pyarrow import compute as pc

    kind = value_type(column)
    if kind is not column.type:
        column = column.dictionary_decode()
    yield column.null_count
    values = column.drop_null()
    if is_text(kind):
        values = pc.utf8_trim_whitespace(values)
        words = len(values) - _matching(values, NUMBER)
        yield 0 if words == _matching(values, BOOLEAN) == len(values) else words
        yield _matching(values, INFINITE)
    elif pa.types.is_floating(kind):
        yield 0
        yield len(values) - (pc.sum(pc.is_finite(values)).as_py() or 0)
    else:
        yield 0 if is_numeric(kind) else len(values)
        yield 0


def _matching(values: Any, pattern: str) -> int:
    from pyarrow import compute as pc

    return int(pc.sum(pc.match_substring_regex(values, pattern)).as_py() or 0)
