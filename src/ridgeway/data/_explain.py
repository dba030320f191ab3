"""What is wrong with a data file: which column, and in how many rows. Read only after something failed."""

from collections.abc import Iterator, Sequence
from typing import Any

from ridgeway.data._tables import Table
from ridgeway.errors import InvalidDataError

ROWS = 65536
NUMBER = r"^[+-]?((\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|inf|infinity|nan|Inf|Infinity|NaN|INF|INFINITY|NAN)$"
INFINITE = r"^[+-]?([iI][nN]|[nN][aA])"


def explain(table: Table, columns: Sequence[str]) -> None:
    """Raise `InvalidDataError` for the first column that has text, nulls or infinities; return where none has."""
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
    except InvalidDataError:
        return  # not to be read at all, which has been said already
    for name, counts in found.items():
        for what, count in counts.items():
            if count:
                words = f"{kinds[name]} values" if what == "text" and kinds[name] != "string" else what
                raise InvalidDataError(
                    f"{table.path}: column {name!r} has {words} in {count} of {n_rows} rows. Drop those rows, fill or "
                    "encode the values first."
                )


def _counted(column: Any) -> Iterator[int]:
    """Yield how many values are null, not numbers, and not finite."""
    import pyarrow as pa
    from pyarrow import compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    yield column.null_count
    values = column.drop_null()
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = pc.utf8_trim_whitespace(values)
        yield len(values) - _matching(values, NUMBER)
        yield _matching(values, INFINITE)
    elif pa.types.is_floating(values.type):
        yield 0
        yield len(values) - (pc.sum(pc.is_finite(values)).as_py() or 0)
    else:
        plain = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_decimal)
        yield 0 if any(is_kind(values.type) for is_kind in plain) else len(values)
        yield 0


def _matching(values: Any, pattern: str) -> int:
    from pyarrow import compute as pc

    return int(pc.sum(pc.match_substring_regex(values, pattern)).as_py() or 0)
