"""Explain why a table was refused: which column, and how many rows. Called only after an error."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ridgeway._text import counted
from ridgeway.data._columns import as_text, is_numeric, is_text, value_type
from ridgeway.data._encoder import unknown_category
from ridgeway.data._schema import Schema
from ridgeway.data._tables import Table
from ridgeway.errors import InvalidDataError, InvalidDataTypeError, UnknownCategoryError

ROWS = 65536
OTHERWISE = "Drop those rows, or fill or encode the values first."
REMEDIES = {
    "nulls": "Drop those rows, fill the values, or create the state file with --missing drop or --missing indicator.",
    "text": OTHERWISE,
    "NaN or infinity": OTHERWISE,
}
"""What to do about values that were refused."""
NUMBER = r"^[+-]?((\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|inf|infinity|nan|Inf|Infinity|NaN|INF|INFINITY|NAN)$"
INFINITE = r"^[+-]?([iI][nN]|[nN][aA])"
BOOLEAN = r"^(true|True|TRUE|false|False|FALSE)$"


def explain(table: Table, schema: Schema, error: Exception) -> None:
    """Raise `InvalidDataError` for the first column whose values were refused, with the number of rows, if found.

    That is a column of numbers with text, infinities or, unless gaps are allowed, nulls; or an unknown category.
    """
    import pyarrow as pa

    explain = _strange_categories if isinstance(error, UnknownCategoryError) else _strange_numbers
    try:
        found = explain(table, schema)
    except (InvalidDataError, InvalidDataTypeError, pa.ArrowException):
        return  # the table cannot be read again, or not at all, which the first error says already
    if found is not None:
        raise found


def _strange_numbers(table: Table, schema: Schema) -> InvalidDataError | None:
    import pyarrow as pa

    kinds: dict[str, str] = dict(schema.encoding.kinds)
    if schema.family is not None and schema.family.has_classes:
        kinds |= dict.fromkeys(schema.targets, "class")
    columns = [name for name in schema.columns if kinds.get(name, "number") == "number" and name in table.columns]
    found = {name: dict.fromkeys(REMEDIES, 0) for name in columns}
    types: dict[str, str] = {}
    n_rows = 0
    for batch in table.batches(columns, rows=ROWS, kinds=dict.fromkeys(columns, pa.string())):
        n_rows += len(batch)
        for name in columns:
            column = batch.column(name)
            types[name] = "text" if is_text(value_type(column)) else f"{column.type} values"
            for what, count in zip(found[name], _counted(column, table.decimal), strict=True):
                found[name][what] += count
    for name, counts in found.items():
        for what, count in counts.items():
            if count and not (what == "nulls" and schema.encoding.missing != "refuse"):
                words = types[name] if what == "text" else what
                return InvalidDataError(
                    f"{table.source}: column {name!r} has {words} in {count:,} of {counted(n_rows, 'row')}. "
                    f"{REMEDIES[what]}"
                )
    return None


def _strange_categories(table: Table, schema: Schema) -> InvalidDataError | None:
    import pyarrow as pa

    encoding = schema.encoding
    texts = {key: factor.column for key, factor in encoding.categories.items() if not factor.calls}
    counts = {key: Counter[str]() for key in texts}
    names = list(dict.fromkeys(texts.values()))
    for batch in table.batches(names, rows=ROWS, kinds=dict.fromkeys(names, pa.string())):
        for key, name in texts.items():
            column = as_text(batch.column(name), name, table.source)
            rows = np.bincount(column.codes[~column.missing], minlength=len(column.names))
            for level, count in zip(column.names, rows.tolist(), strict=True):
                counts[key][level] += count if level not in encoding.levels[key] else 0
    for key, found in counts.items():
        if found.total():
            unknown = sorted(level for level, count in found.items() if count)
            return unknown_category(table.source, key, unknown, found.total())
    return None


def _counted(column: Any, decimal: str) -> Iterator[int]:
    """Yield how many values are null, not numeric, and not finite."""
    import pyarrow as pa
    from pyarrow import compute as pc

    kind = value_type(column)
    if kind is not column.type:
        column = column.dictionary_decode()
    yield column.null_count
    values = column.drop_null()
    if is_text(kind):
        values = pc.replace_substring(pc.utf8_trim_whitespace(values), decimal, ".")
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
