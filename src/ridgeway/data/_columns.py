"""Single columns: which are an index, which values are numbers, and what a task is called. One rule for all tables."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway.errors import InvalidDataError, InvalidDataTypeError

Kind = Literal["number", "boolean", "text", "date"]
"""What a column holds."""
LabelKind = Literal["task", "cluster"]
"""What a label names."""
UNNAMED = ("", "Unnamed: 0")
"""The first column that pandas' `to_csv` writes, and what `read_csv` calls it."""
LEVEL = re.compile(r"__index_level_\d+__")
"""What pandas calls an index without a name in a Parquet or Arrow file."""
FRACTION = re.compile(r"(?ai)[+-]?(\d{1,99}\.\d{0,99}|\.\d{1,99}|\d{1,99}(?=e[+-]))(e[+-]?\d{1,3})?")
"""A number with a decimal point or an exponent."""
MOMENT = re.compile(r"(?ai)(?P<day>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d.*)")
ZONE = r"(:\d\d(?:\.\d+)?) ?(?:Z|[+-]\d\d(?::?\d\d)?)$"
"""The time zone at the end of a time that is written as text."""
NOT_FINITE = ("nan", "inf", "-inf")
EXACT = 2**53
"""Beyond this, float64 does not represent every integer."""
ID_BITS = 52
"""Bits of a text's id in a digest: float64 represents it exactly."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers; missing values are NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Numbers
    >>> Numbers(np.array([1.0, np.nan])).missing
    array([False,  True])
    """

    values: Array

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        return np.isnan(self.values)

    def take(self, places: NDArray[np.intp]) -> "Numbers":
        """Return some of the rows."""
        return Numbers(self.values[places])


@dataclass(frozen=True, eq=False)
class Times:
    """A column of dates or times, as datetime64[us]; missing values are NaT."""

    values: NDArray[Any]

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        return np.asarray(np.isnat(self.values))

    def take(self, places: NDArray[np.intp]) -> "Times":
        """Return some of the rows."""
        return Times(self.values[places])


@dataclass(frozen=True, eq=False)
class Categories:
    """A column of text or of task labels: `codes` into `names`, −1 for a missing value.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.data import Categories
    >>> column = Categories(np.array([1, -1, 0]), ("north", "south"))
    >>> column.missing, [column.names[code] for code in column.take(np.array([0, 2])).codes]
    (array([False,  True, False]), ['south', 'north'])
    """

    codes: NDArray[np.int64]
    names: tuple[str, ...]

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        return self.codes < 0

    def take(self, places: NDArray[np.intp]) -> "Categories":
        """Return some of the rows."""
        return Categories(self.codes[places], self.names)


def is_number(text: str) -> bool:
    """Return whether a text is a number.

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
    """Return the columns that are the index of a pandas DataFrame.

    Parameters
    ----------
    names : the columns of a table, in order
    metadata : of its Arrow schema, in which pandas records the columns of the index

    Examples
    --------
    >>> index_columns(["Unnamed: 0", "age", "__index_level_0__"])
    ['Unnamed: 0', '__index_level_0__']
    >>> index_columns(["age", "person"], {b"pandas": b'{"index_columns": ["person"]}'})
    ['person']
    """
    try:
        notes = json.loads((metadata or {}).get(b"pandas", b"{}"))
        recorded = {name for name in notes["index_columns"] if isinstance(name, str)}
    except (ValueError, KeyError, TypeError, RecursionError):
        recorded = set()
    return [
        name
        for place, name in enumerate(names)
        if name in recorded or LEVEL.fullmatch(name) or (place == 0 and name in UNNAMED)
    ]


def value_type(column: Any) -> Any:
    """Return the Arrow type of a column's values, also if they are stored in a dictionary."""
    import pyarrow as pa

    return column.type.value_type if pa.types.is_dictionary(column.type) else column.type


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type is text."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_numeric(kind: Any) -> bool:
    """Return whether an Arrow type counts as numbers: integers, floats, decimals, and booleans as 0 and 1."""
    import pyarrow as pa

    tests = (pa.types.is_floating, pa.types.is_integer, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(test(kind) for test in tests)


def as_numbers(column: Any, name: str, source: str) -> Array:
    """Return an Arrow column as float64, False and True as 0 and 1, nulls as NaN; raise if it is not numeric.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ridgeway.data import as_numbers
    >>> as_numbers(pa.array([True, False, None]), "smokes", "the table")
    array([ 1.,  0., nan])
    """
    import pyarrow as pa

    kind = value_type(column)
    if column.type == pa.float64() and hasattr(column, "__dlpack__") and not column.null_count:
        # `to_numpy` imports pyarrow.compute and pandas, which takes as long as learning 400,000 rows of 50 features.
        return np.asarray(np.from_dlpack(column), dtype=np.float64)
    if not is_numeric(kind):
        raise InvalidDataTypeError(
            f"{source}: column {name!r} has type {kind}, which is not numeric. Convert it, or leave it out."
        )
    try:
        if kind is not column.type:
            column = column.cast(kind)
        if pa.types.is_boolean(kind):
            column = column.cast(pa.int8())
        values = np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
        exact = not pa.types.is_decimal(kind) or not (np.abs(values) >= EXACT).any()
    except pa.ArrowInvalid:
        exact = False
    except pa.ArrowNotImplementedError as error:
        raise InvalidDataTypeError(
            f"{source}: column {name!r} has type {kind}, which pyarrow cannot convert. Convert it to float64."
        ) from error
    if not exact:
        what = "decimals" if pa.types.is_decimal(kind) else "integers"
        raise InvalidDataError(
            f"{source}: column {name!r} has {what} beyond 2⁵³, which float64 cannot represent. Change its unit."
        )
    return values


def kind_of(kind: Any) -> Kind | None:
    """Return what an Arrow type holds; None if it cannot be used.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ridgeway.data import kind_of
    >>> kind_of(pa.int8()), kind_of(pa.string()), kind_of(pa.date32()), kind_of(pa.binary())
    ('number', 'text', 'date', None)
    """
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind):
        return "boolean"
    if is_numeric(kind):
        return "number"
    if is_text(kind):
        return "text"
    return "date" if pa.types.is_date(kind) or pa.types.is_timestamp(kind) else None


def as_text(column: Any, name: str, source: str) -> Categories:
    """Return an Arrow column of text; raise if it is something else. Empty text is missing, as in a CSV file."""
    kind = value_type(column)
    if not (is_text(kind) or str(kind) == "null"):
        raise InvalidDataTypeError(
            f"{source}: column {name!r} has type {kind}; the model knows it as text. Convert it to text."
        )
    codes, found = _encoded(column)
    return Categories(np.where(codes == found.index(""), -1, codes) if "" in found else codes, tuple(found))


def as_times(column: Any, name: str, source: str) -> Times:
    """Return an Arrow column of dates or times, as the clock of its time zone showed them; or raise."""
    import pyarrow as pa
    from pyarrow import compute as pc

    kind = value_type(column)
    try:
        if kind is not column.type:
            column = column.cast(kind)
        if is_text(kind):
            column = pc.replace_substring_regex(column, ZONE, r"\1")
        elif pa.types.is_timestamp(kind) and kind.tz is not None:
            column = pc.local_timestamp(column)
        elif not (pa.types.is_timestamp(kind) or pa.types.is_date(kind) or str(kind) == "null"):
            raise InvalidDataTypeError(
                f"{source}: column {name!r} has type {kind}; the model knows it as a date. Convert it to a date."
            )
        values = column.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid as error:
        what = str(error).strip().split("\n")[0].rstrip(".")
        raise InvalidDataError(
            f"{source}: column {name!r} has a date that cannot be read: {what}. Write dates as 2013-07-01 or "
            "2013-07-01T05:00:00."
        ) from error
    return Times(np.asarray(values, dtype="M8[us]"))


def as_labels(column: Any, what: LabelKind = "task") -> Categories:
    """Return an Arrow column of task or cluster labels in order of first appearance, as `label_of` spells them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ridgeway.data import as_labels
    >>> labels = as_labels(pa.array([2020.0, 2019.0, 2020.0]))
    >>> labels.names, labels.codes
    (('2020', '2019'), array([0, 1, 0]))
    """
    codes, found = _encoded(column)
    spelled = ["" if isinstance(value, float) and value != value else label_of(value, what) for value in found]
    places = {label: place for place, label in enumerate(dict.fromkeys(filter(None, spelled)))}
    rank = np.array([*(places.get(label, -1) for label in spelled), -1], dtype=np.int64)
    return Categories(rank[codes], tuple(places))


def _encoded(column: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """Return a code per row, −1 for nulls, and the distinct values."""
    import pyarrow as pa

    try:
        if hasattr(column, "combine_chunks"):
            column = column.combine_chunks()
        if pa.types.is_dictionary(column.type):
            if pa.types.is_string_view(column.type.value_type):  # pyarrow cannot take from views of text
                column = pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(pa.string()))
            column = column.dictionary_decode()
        if pa.types.is_null(column.type):
            column = column.cast(pa.string())
        encoded = column.dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return np.array(codes, dtype=np.int64), encoded.dictionary.to_pylist()
    except (pa.ArrowException, OverflowError) as error:
        raise InvalidDataTypeError(
            f"a column of type {column.type} cannot be read as text or as labels: {error}. Convert it to text or to "
            "integers."
        ) from error


def label_of(value: Any, what: LabelKind = "task") -> str:
    """Return a value of a task column, or of a cluster column, as an id, the same from every kind of file.

    2019, 2019.0 and '2019.0' are '2019', and -0.0 is '0'; True and 'TRUE' are 'true'; midnight of a day is the day.
    Other fractions, infinities and other times of day can be spelled in several ways and are refused, also as text.

    Examples
    --------
    >>> from ridgeway.data import label_of
    >>> label_of(2019.0), label_of("2019.0"), label_of("2019-07-01 00:00:00")
    ('2019', '2019', '2019-07-01')
    """
    text = str(value)
    known = isinstance(value, str | int | float | Decimal | date)
    if known and text.lower() in ("true", "false"):
        return text.lower()
    if known and FRACTION.fullmatch(text):
        number = Decimal(text)
        if number == number.to_integral_value():
            return str(int(number))
    elif known and (moment := MOMENT.fullmatch(text)):
        if not moment["time"].strip("0:."):
            return moment["day"]
    elif known and text.lower() not in NOT_FINITE:
        return "0" if text == "-0" else text
    raise InvalidDataError(
        f"the {what} column contains {text!r}, which cannot name a {what}: the same value can be written in several "
        "ways. Use words, integers or dates."
    )


@cache
def text_id(text: str) -> float:
    """Return the number that stands for a category or a class in digests: the first bits of its SHA-256."""
    return float(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> (64 - ID_BITS)) + 1.0
