"""What the columns of a user's table are: numbers written as text, and the index that pandas writes along."""

import json
import re
from collections.abc import Mapping, Sequence

__all__ = ["index_columns", "is_number"]

UNNAMED = ("", "Unnamed: 0")
"""The first column that pandas' `to_csv` writes, and what `read_csv` calls it."""
LEVEL = re.compile(r"__index_level_\d+__")
"""What pandas calls an index without a name in a Parquet or Arrow file."""


def is_number(text: str) -> bool:
    """Say whether a text is a number.

    Examples
    --------
    >>> is_number("1e-3"), is_number("n/k")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


def index_columns(names: Sequence[str], metadata: Mapping[bytes, bytes] | None = None) -> list[str]:
    """Return the columns that are the index of a pandas DataFrame, which numbers or names the rows.

    Parameters
    ----------
    names : the columns of a table, in order
    metadata : of its Arrow schema; there pandas says which columns are the index, also where that has a name

    Examples
    --------
    >>> index_columns(["Unnamed: 0", "age", "__index_level_0__"])
    ['Unnamed: 0', '__index_level_0__']
    >>> index_columns(["age", "person"], {b"pandas": b'{"index_columns": ["person"]}'})
    ['person']
    """
    try:
        notes = json.loads((metadata or {}).get(b"pandas", b"{}"))
        said = [name for name in notes["index_columns"] if isinstance(name, str)]
    except (ValueError, KeyError, TypeError, RecursionError):
        said = []
    return [
        name
        for place, name in enumerate(names)
        if name in said or LEVEL.fullmatch(name) or (place == 0 and name in UNNAMED)
    ]
